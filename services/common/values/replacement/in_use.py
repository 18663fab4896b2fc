"""What the speaker has or uses, told without a verb of coming: "typing this on an iPhone". Pure functions."""

from __future__ import annotations

import re
from typing import Final

_THERE_IS: Final = re.compile(r"(?:^|\s)there\s(?:is|are)(?:\snow)?\s(?:an?|my|our|two)(?:\snew)?$")
_HERE: Final = re.compile(
    r"^\s?(?:now\s)?(?:in|on|outside|under|by)\s(?:the|my|our)\s(?:drive|driveway|garage|carport|yard|kitchen|desk|cellar|basement|hall|"
    r"pocket|bag|lap|wall|roof|loft|bathroom|bedroom|laundry|study|shed)\b"
)
"""Before and behind a value that stands at the speaker's: "there is a Tesla in the drive"."""
_TYPED: Final = re.compile(
    r"\b(?:typing|writing|sending|posting|dictating|texting)\s(?:you\s)?this\s(?:on|in|from|with|via)(?:\s(?:an?|the|my))?(?:\s(?:new|shiny|very)){0,2}$"
)
"""Before what the speaker has in use: "typing this on an iPhone"."""
_HEADLINE: Final = re.compile(
    r"^\s?(?:with\s(?:a|an|my|the|two|three|ten|\w+ty)\s|all\sthe\sway|for\s(?:everything|everybody|everyone|all)|it\sis)"
)
"""Behind a value that opens a sentence without a verb: "Neovim with forty plugins"."""


def stands_here(before: str, after: str) -> bool:
    """Returns whether what stands before and behind a value says that it is at the speaker's."""
    return _THERE_IS.search(before) is not None and _HERE.match(after) is not None


def is_in_use(before: str, after: str) -> bool:
    """Returns whether what stands before and behind a value says that the speaker uses it.

    Args:
        before: The words of its clause before it, in small letters.
        after: Those behind it.
    """
    return _TYPED.search(before) is not None or (not before and _HEADLINE.match(after) is not None)
