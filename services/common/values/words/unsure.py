"""Words with which a statement is not sure, or not told as a fact."""

from __future__ import annotations

import re
from typing import Final

from services.common.values.words.patterns import CachedPattern

UNSURE: Final = CachedPattern(
    r"\b(?:if|might|maybe|perhaps|probably|would|wish|dream\w*|imagin\w*|thinking\s+(?:of|about)|considering|hope|"
    r"(?:toying|flirting)\s+with|in\s+two\s+minds|tempted|mulling|weighing\s+up|debating|"
    r"planning|nearly|almost|whether|supposedly|apparently|unless|yeah\s+right|rumou?r|(?<!got\s)(?<!get\s)used\s+to|believes?|claims?|pretend\w*|as\s+if)\b|\?",
    re.IGNORECASE,
)
REPORTED: Final = CachedPattern(
    r"(?:[A-Z][a-z]{1,20}|[Pp]eople|[Ss]ome(?:body|one)|[Hh]e|[Ss]he|[Tt]hey|"
    r"(?:[Aa]n?|[Tt]he|[Ss]ome|[Oo]ne)\s(?:[a-z]{2,15}\s)?(?:consultant|expert|blogger|article|post|podcast|review|forum|guy|bloke|man|woman|salesman|stranger|recruiter|speaker))"
    r"\s(?:says?|thinks?|claims?|reckons?|believes?)\b(?!\s(?:yes|no|goodbye))"
)
"""Somebody else's claim: "Tom says the bridge is open"."""
HEARSAY: Final = CachedPattern(
    r"\b(?:telling|tells|tell|told)\s(?:everyone|everybody|people|anyone|anybody|all|half|the\swhole)\b|\b(?:goes|going|went)\s(?:about|around|round)\s(?:saying|telling)\b|"
    r"\bkeeps?\s(?:saying|telling|claiming|insisting)\b|\b(?:is|are|was|seems)\s(?:convinced|certain)\sthat\b|\b(?:insists?|swears?|swore|claims?|alleges?|jokes?)\s(?:that|i|my|we|our)\b|"
    r"\b(?:word|rumou?r|gossip|legend)\s(?:is|has\sit)\b|\bthere(?:'s|\sis)\stalk\s(?:of|that)\b",
    re.IGNORECASE,
)
"""What others spread: "she goes about telling the whole quay that my daughter is moving"."""
