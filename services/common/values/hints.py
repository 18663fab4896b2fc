"""States of life that are other ones now, where no phrase says so but several words together hint at it (SPEC 3.5).

"Carried the last boxes up to Harbour Road" names neither the old home nor a move. `data/hints.toml` has, for a field
of life, words of its topic, and words of change that fit any. A statement counts where both stand in it and they
weigh enough together, and where it is about the same person as the earlier one. Pure functions.
"""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from services.common.text_cache import text_cache
from services.common.values.belongings import PERSONS
from services.common.values.lexicon import IRREGULAR
from services.common.values.lives import states_told
from services.common.values.people import FIRST
from services.common.values.tokens import lemma
from services.common.values.whose import RELATIVES, people_in, spoken, turned_to

_FILE: Final = Path(__file__).with_name("data") / "hints.toml"
_CHARS_MAX: Final = 200
_WEIGHT_MIN: Final = 4
_CLEAR_MARKER: Final = 2
_CLEAR_TOPIC: Final = 3
"""One word at least must tell of a change by itself: "new" and "last" are said of much that stays."""
_TOPICS_MIN: Final = 2
_NOT_SO: Final = re.compile(
    r"\b(?:not|never|\w{2,8}n't|no(?!\s(?:more|longer|lift))|if|unless|whether|would|could|should|might|(?-i:may)|must|can|will|shall|want|wants|hope|hopes|plan|plans|"
    r"almost|nearly|maybe|perhaps|probably|dream\w*|wish|nobody|looking\sfor|still|too|also|as\swell|both|besides|second|extra|"
    r"visit\w*|holiday|holidays|vacation|hotel|conference|weekend|guest|guests|borrow\w*|lent|rented\sout|for\s(?:a|the)\s(?:day|night|week|weekend|month|while|summer|winter)|"
    r"until|till|today|tonight|this\s(?:morning|evening|week|month|time)|temporar\w*|meanwhile|yesterday's|novel|film|movie|series|story|"
    r"years\sago|used\sto|back\sthen|when\si\swas|repair\w*|new\stickets?)\b|[?\"“”]",
    re.IGNORECASE,
)
"""It has not come, or not to stay."""
_OF_OTHERS: Final = re.compile(r"\b(?:he|she|they|his|her|their|him|them|you|your)\b", re.IGNORECASE)


class _Hints(NamedTuple):
    markers: tuple[tuple[re.Pattern[str], int], ...]
    topics: dict[str, tuple[tuple[re.Pattern[str], int], ...]]


@lru_cache(maxsize=1)
def _hints() -> _Hints:
    tables = tomllib.loads(_FILE.read_text("utf-8"))
    topics = {name: _read(table["topics"]) for name, table in tables.items() if isinstance(table, dict)}
    return _Hints(_read(tables["markers"]), topics)


def _read(lines: str) -> tuple[tuple[re.Pattern[str], int], ...]:
    found = []
    for line in filter(None, map(str.strip, lines.splitlines())):
        weight, words = (int(line[0]), line[2:]) if line[0].isdigit() else (1, line)
        found.append((re.compile(rf"(?<=\s)(?:{words})(?=\s)"), weight))
    return tuple(found)


def hints_at_another(earlier: str, later: str) -> bool:
    """Returns whether the words of a later statement together hint that a state which the earlier one says is over.

    Args:
        earlier: A statement.
        later: One of the same speaker, of a later day.
    """
    if not (fields := fields_hinted(later)):
        return False
    words = {lemma(word) for word in spoken(later).lower().split()}
    for person in ("", *people_in(earlier)):
        said = spoken(earlier) if not person else turned_to(earlier, person)
        told = [state for state in states_told(said) if state.field in fields]
        if any(not state.value & words for state in told) and _is_about(later, person):
            return True
    return False


@text_cache(8_192)
def fields_hinted(text: str) -> frozenset[str]:
    """Returns the fields of life in which a statement hints at a change. They serve to look statements up."""
    if len(text) > _CHARS_MAX or _NOT_SO.search(text) is not None:
        return frozenset()
    said = spoken(text).lower()
    markers = _weights(_hints().markers, said)
    if not markers:
        return frozenset()
    found = ((field, _weights(topics, said)) for field, topics in _hints().topics.items())
    return frozenset(
        field
        for field, weights in found
        if sum(weights) >= _TOPICS_MIN
        and sum(weights) + sum(markers) >= _WEIGHT_MIN
        and (max(markers) >= _CLEAR_MARKER or max(weights) >= _CLEAR_TOPIC)
    )


def _weights(hints: tuple[tuple[re.Pattern[str], int], ...], said: str) -> list[int]:
    return [weight for pattern, weight in hints if pattern.search(said) is not None]


def _is_about(later: str, person: str) -> bool:
    """Whether a statement is about somebody, or about the speaker where that is empty, and about nobody else."""
    if person:
        others = set(spoken(later).lower().split()) & RELATIVES - {person}
        return bool(turned_to(later, person).strip()) and not others and len(people_in(later)) < 2
    words = spoken(later).lower().split()
    if RELATIVES & set(words) or _OF_OTHERS.search(later) is not None or people_in(later):
        return False
    if words[0] in {"my", "our", "the", "a", "an"} and PERSONS & set(words[1:4]):
        return False  # "my supervisor retired"
    return bool(FIRST.search(later)) or words[0] in IRREGULAR or words[0].endswith("ed")
