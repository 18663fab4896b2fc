"""Phrases of partings that mean something else in their sentence: keys that are lent, "dead good". Pure functions."""

from __future__ import annotations

import re
from typing import Final

_OBJECT: Final = re.compile(r" (?:her|his|their|the|my|a|an|some) ", re.IGNORECASE)
_FROM_WHAT: Final = re.compile(
    r" (?:the|my|our|his|her|their|a|an|sick|work|school|to|for|on|till|until) ", re.IGNORECASE
)
_LENT: Final = re.compile(
    r"\sto\s(?:(?:the|my|our|a|an|some)\s)?(?:[\w-]{1,20}\s)??"
    r"(?:valet|mechanic|garage|attendant|porter|concierge|receptionist|reception|babysitter|sitter|cleaner|plumber|"
    r"electrician|builders?|decorators?|painters?|neighbours?|neighbors?|guests?|bellboy|doorman|instructor|cloakroom|"
    r"caretaker|janitor|movers?)\s",
    re.IGNORECASE,
)
"""To these keys are given for a while."""
_FOR_THAT: Final = re.compile(
    r"\s(?:so\s(?:he|she|they|that)|while\s(?:i|we)|in\scase|for\s(?:a|the)\s\w{1,20}|"
    r"to\s(?:water|feed|park|wash|look|mind|check|let|fetch|collect|borrow))\s",
    re.IGNORECASE,
)
"""What keys are lent for."""
_CLAUSE_ENDS: Final = re.compile(r" (?:[.,;:!?]|and|now|since|because|for|as|but|so|after|thanks) ", re.IGNORECASE)
_FOR_A_TIME: Final = re.compile(
    r" for (?:a|an|the|about|some|two|three|four|five|six|ten|several|half|\d{1,3}) |"
    r" (?:again|for now|this morning|today|all (?:day|morning|night)) ",
    re.IGNORECASE,
)
_DOWN_FOR: Final = re.compile(
    r" (?:shut|shuts|closed|closes)(?: \S{1,40}){1,8}? for (?!good|ever|the last) ?\S", re.IGNORECASE
)
_SOMEWHERE: Final = re.compile(r" (?:to|out|home|into|shopping) ", re.IGNORECASE)


def means_something_else(said: str, match: re.Match[str], phrase: str) -> bool:
    """Returns whether a phrase that stands in a sentence does not say there that something is gone.

    Args:
        said: The sentence, as `spoken` gives it.
        match: Where the phrase stands in it.
        phrase: The phrase.
    """
    rest = said[match.end() :]
    if phrase.endswith("back") and _OBJECT.match(rest) is not None:
        return True  # "gave Mrs Pohl back her umbrella"
    if match[0].endswith(" off") and _FROM_WHAT.match(rest) is not None:
        return True  # "Ivo is off the rota"
    if match[0].endswith(" dead") and _CLAUSE_ENDS.match(rest) is None:
        return True  # "games night is dead good"
    if match[0].endswith((" dead", " gone", " bust")) and _FOR_A_TIME.match(rest) is not None:
        return True  # "Zendesk was dead for an hour"
    if match[0].endswith(" gone") and _SOMEWHERE.match(rest) is not None:
        return True  # "Lena is gone to the office"
    if "down" in phrase.split() and _DOWN_FOR.search(said[match.start() :]) is not None:
        return True  # "they shut the gas down for the repair"
    said_of_keys = said[match.start() :] if " key" in match[0] else ""
    return _LENT.search(said_of_keys) is not None or _FOR_THAT.search(said_of_keys) is not None
