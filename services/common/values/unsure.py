"""Words with which a statement is not sure, or not told as a fact."""

from __future__ import annotations

import re
from typing import Final

from services.common.values.patterns import CachedPattern

UNSURE: Final = CachedPattern(
    r"\b(?:if|might|maybe|perhaps|probably|would|wish|dream\w*|imagin\w*|thinking\s+(?:of|about)|considering|hope|"
    r"planning|nearly|almost|whether|supposedly|apparently|unless|yeah\s+right|rumou?r|(?<!got\s)(?<!get\s)used\s+to|believes?|claims?|pretend\w*|as\s+if)\b|\?",
    re.IGNORECASE,
)
