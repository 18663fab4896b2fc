"""A correction that names its subject in fewer words: "my flight to Oslo is at 8:25", "actually my flight is at 9:25".

Pure functions.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Final

from services.common.values.comparison.compare import relation
from services.common.values.model import Relation

_DAYS_MAX: Final = 2
"""Between the two: later the short name may mean another one."""
_CHARS_MAX: Final = 200
_VERB: Final = r"(?:is|are|was|were|costs?|starts?|begins?|leaves?|ends?|arrives?|takes|opens?|closes?)"
_LONG: Final = re.compile(
    rf"^\W{{0,3}}(?P<head>(?:my|our|the)\s[\w-]+(?:\s[\w-]+)?)\s(?:for|to|of|in|at|from|with|on)\s[^,.;:?!]{{1,60}}?\s"
    rf"(?P<said>{_VERB}\s.+)$",
    re.IGNORECASE | re.DOTALL,
)
_SHORT: Final = re.compile(
    r"^\W{0,3}(?:actually|sorry|correction|scratch that|my mistake|my bad|oops|wait|no wait|no|oh)\b[\s,.:;!-]{1,4}"
    r"(?:(?:actually|sorry|wait|no)\b[\s,.:;!-]{1,4})?"
    rf"(?P<head>(?:my|our|the)\s[\w-]+(?:\s[\w-]+)?)\s(?P<said>{_VERB}\s.+)$",
    re.IGNORECASE | re.DOTALL,
)


def is_corrected_in_short(earlier: str, later: str, *, day: date | None, later_day: date | None) -> bool:
    """Whether the later statement corrects the earlier one and leaves out what described its subject.

    Args:
        earlier: What was said first.
        later: The other one, as it was said.
        day: When the earlier one was said; None where nobody knows.
        later_day: The same of the later one.
    """
    if len(earlier) > _CHARS_MAX or len(later) > _CHARS_MAX:
        return False
    if day is not None and later_day is not None and (later_day - day).days > _DAYS_MAX:
        return False
    long, short = _LONG.match(earlier), _SHORT.match(later)
    if long is None or short is None or _noun(long["head"]) != _noun(short["head"]):
        return False
    found = relation(f"{long['head']} {long['said']}", f"{long['head']} {short['said']}")
    return found in {Relation.UPDATE, Relation.CONTRADICT}


def _noun(head: str) -> str:
    return head.split(maxsplit=1)[1].casefold()
