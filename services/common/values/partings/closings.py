"""Places that are no more: "Meyer's bakery has closed for good" ends "I work at Meyer's bakery" (SPEC 3.5).

Pure functions.

Whoever goes there, works there or buys there, it is over for all of them, so that the earlier statement may be about
anybody. A place that is closed for a day, a while or on some weekday ends nothing.
"""

from __future__ import annotations

import re
from typing import Final

from services.common.values.model import Modality
from services.common.values.reading.clauses import Clause
from services.common.values.reading.pieces import read_statement

_CHARS_MAX: Final = 250
_WORD: Final = r"[\w'&.-]{2,30}"
_CLOSED: Final = re.compile(
    rf"^(?:so\s|and\s|but\s|sadly,?\s|well,?\s|sorry,?\s|(?:after|from|as\sof|since)\s[\w\s-]{{3,40}}?,?\s(?=(?:the|my|our)\s))?(?P<place>{_WORD}(?:\s{_WORD}){{0,4}}?)\s"
    r"(?:(?:has|have|had|is|are|was|were)\s)?(?:(?:now|finally|sadly|been|all)\s){0,2}"
    r"(?:(?:closed|shut|closing|shutting|closes|shuts)\s(?:(?:its|their)\sdoors\s|down\s|up\s)?"
    r"(?:for\sgood|for\sever|forever|permanently|for\sthe\slast\stime)|"
    r"(?:closed|shut)\s(?:down|(?:its|their)\sdoors)(?!\s(?:for|until|till|on|at|over|during|early|this)\b)|"
    r"gone,?\s(?:and\s)?(?:there's|there\sis|it's|it\sis)\s(?:\w{1,20}\s){1,5}(?:now|instead|in\s(?:it|its\splace|there))\b|"
    r"(?:gone|went)\s(?:bust|under|bankrupt|out\sof\sbusiness)|ceased\strading|folded|"
    r"burn(?:ed|t)\sdown|torn\sdown|pulled\sdown|demolished|bulldozed)\b",
    re.IGNORECASE,
)
_ARTICLES: Final = frozenset({"the", "my", "our"})
_NO_PLACES: Final = frozenset(
    "i we it he she they you this that these those one who what there somebody everything all his her their its".split()  # noqa: SIM905
)
_OPEN: Final = re.compile(
    r"\b(?:if|might|may|maybe|perhaps|could|would|almost|nearly|not|never|rumou?r\w*)\b|n't\b|\?", re.IGNORECASE
)
_LASTING: Final = frozenset("know remember love like miss recommend find call name hear think believe".split())  # noqa: SIM905
"""What stays so: "I met Ana at the Crown", "I love the Crown"."""


def is_closed(earlier: str, later: str) -> bool:
    """Returns whether a later statement says that a place is no more with which an earlier one goes.

    Args:
        earlier: A statement.
        later: A later one.
    """
    if len(earlier) > _CHARS_MAX or len(later) > _CHARS_MAX or _OPEN.search(later):
        return False
    match = _CLOSED.match(" ".join(later.split()))
    if match is None:
        return False
    words = match["place"].casefold().split()
    article = words[0] in _ARTICLES
    name = words[1:] if article else words
    if not name or _NO_PLACES & set(name) or not (article or len(name) > 1 or match["place"][:1].isupper()):
        return False
    before = r"(?:the|my|our|at|to|in|from|by)\s" if article and len(name) == 1 else r"(?<![\w'])"
    if re.search(rf"{before}{re.escape(' '.join(name))}(?![\w-])", " ".join(earlier.casefold().split())) is None:
        return False
    return any(_is_so(clause) for clause in read_statement(earlier).clauses)


def _is_so(clause: Clause) -> bool:
    if clause.modality is not Modality.STATED or clause.past or clause.perfect or clause.historic or clause.negated:
        return False
    return bool(clause.verb) and clause.verb not in _LASTING
