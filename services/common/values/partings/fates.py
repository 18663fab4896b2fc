"""Events by which something ends, as in "a fox got the hens" (SPEC 3.5). Pure functions.

English has no end of such events, and each rule knows its own few. Here they are put into one of a few plain sentences
("the hens is gone", "I left Kessler", "Olga left me"), which every rule about endings reads. `holding.py` asks for them
where the sentence itself ends nothing.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from functools import lru_cache
from pathlib import Path
from typing import Final

from services.common.text_cache import text_cache
from services.common.values.lives.beginnings import has_happened
from services.common.values.partings.meant import means_something_else
from services.common.values.reading.pieces import read_statement
from services.common.values.reading.splitting import PREPOSITIONS
from services.common.values.reading.whose import RELATIVES, spoken
from services.common.values.words.belongings import PERSONS
from services.common.values.words.lexicon import AUXILIARIES, MONTHS, PRONOUNS, WEEKDAYS
from services.common.values.words.phrases import Phrase, compiled, read_phrases
from services.common.values.words.tokens import lemma

_FILE: Final = Path(__file__).with_name("fates.toml")
_PLAIN: Final = {
    "gone": "{} is gone",
    "left": "I left {}",
    "parted": "{} left me",
    "quit": "{} has left the company",
    "dropped": "I dropped {}",
    "member": "{} is no longer on the list",
    "deed": "{} gave up {}",
    "pursuit": "I gave up {}",
    "harmless": "I'm no longer allergic to {}",
}
"""By list of phrases the sentence that says the same."""
_OF_PEOPLE: Final = frozenset({"parted", "quit", "member"})
_GROUP: Final = re.compile(
    r"\b(?:team|squad|crew|band|quartet|trio|choir|group|rota|roster|reviewers?|committee|board|panel|council|staff|department|jury|cast|project|on-call|office|desk|"
    r"class|club|league|orchestra|ensemble|faculty|admins?|maintainers?|approvers?|testers?|developers?|designers?|players?|members?|line-up|lineup|carpool|shift)\b",
    re.IGNORECASE,
)
"""Groups with lists of members. Somebody who goes to another job or town is no longer in them."""
_SEVERAL: Final = re.compile(r"\w,\s\w|\w\sand\s\w|\w\s&\s\w")
_HARM: Final = re.compile(
    r"\b(?:allerg\w{1,6}|intoleran\w{1,4}|avoid|can't\s(?:eat|have|touch|drink)|cannot\s(?:eat|have|touch))\b",
    re.IGNORECASE,
)
"""What somebody may not eat or touch."""
_NAME_WORDS_MAX: Final = 3
_CHARS_MAX: Final = 250
_STARTS: Final = frozenset({"and", "but", "so", "because", "that", "since", "when", ",", ";", ":", "sadly", "then"})
"""Behind the last of these a subject begins."""
_BEFORE_VERB: Final = frozenset({"has", "have", "just", "now", "finally", "since"})
_QUANTIFIERS: Final = frozenset({"all", "every", "each", "both", "whole", "entire", "of", "last", "final", "remaining"})
_ENDS: Final = (
    WEEKDAYS
    | frozenset(MONTHS)
    | frozenset(
        """
        last this yesterday today on in at for since because and but so now from after with when while as finally too
        before again over by to this week month year
        """.split()  # noqa: SIM905 - words
    )
)
"""With these something else begins behind an object."""
_NOBODY: Final = PRONOUNS | frozenset(
    """
    this that these those one some any who which what nobody nothing everything everyone everybody somebody someone
    something anything
    """.split()  # noqa: SIM905 - words
)
_FOR_A_WHILE: Final = re.compile(
    r"\b(?:for\s(?:now|the\s(?:day|night|week|weekend|moment|summer|winter|holidays?)|a\s(?:\w{1,10}\s)?(?:days?|weeks?|while|months?))|until|till|tonight|temporar\w{1,5}|"
    r"back\s(?:by|on|in|next|tomorrow|soon)|almost|nearly)\b",
    re.IGNORECASE,
)
_AGAIN: Final = re.compile(r"\bagain\b", re.IGNORECASE)


@lru_cache(maxsize=1)
def _phrases() -> dict[str, list[tuple[Phrase, str]]]:
    by_word: dict[str, list[tuple[Phrase, str]]] = defaultdict(list)
    for kind, lines in tomllib.loads(_FILE.read_text("utf-8")).items():
        for phrase in read_phrases(lines):
            for word in phrase.anchors:
                by_word[word].append((phrase, kind))
    return dict(by_word)


@text_cache(8_192)
def fates_told(text: str) -> tuple[str, ...]:
    """Returns plain sentences for the events of a sentence: "I left Kessler" for "Kessler showed me the door".

    Args:
        text: A sentence.
    """
    if len(text) > _CHARS_MAX or text.rstrip().endswith("?") or _FOR_A_WHILE.search(text) is not None:
        return ()
    said, by_word = spoken(text), _phrases()
    found: dict[str, None] = {}
    for word in set(said.lower().split()):
        for phrase, kind in by_word.get(word, ()):
            match = compiled(phrase.pattern).search(said)
            if match is None or not has_happened(said, match, phrase):
                continue
            if means_something_else(said, match, phrase.text) or (
                kind != "harmless" and _AGAIN.search(said[match.start() :])
            ):
                continue
            names = [_thing(match.groupdict().get(group) or "") for group in (("v", "x") if kind == "deed" else ("x",))]
            names = names if kind == "deed" or names[0] else [_thing(match.groupdict().get("v") or "")]
            if all(names) and (kind not in _OF_PEOPLE or _is_person(names[0], text)):
                found[_PLAIN[kind].format(*names)] = None
                if kind == "quit":
                    found[_PLAIN["member"].format(*names)] = None
    return tuple(found)


def may_end(earlier: str, told: str) -> bool:
    """Returns whether a plain sentence may say something of a statement.

    It may not where the statement is about other people ("the neighbours have ducks"). A sentence about a member
    needs a statement about a group, and one about an allergy needs a statement about something harmful.

    Args:
        earlier: A statement.
        told: One of `fates_told` of a later statement.
    """
    if told.endswith("on the list"):
        return _GROUP.search(earlier) is not None and _SEVERAL.search(earlier) is not None
    if "allergic" in told:
        return _HARM.search(earlier) is not None
    if (
        " gave up " in told
        and not told.startswith("I ")
        and told.split(maxsplit=1)[0].lower() not in earlier.lower().split()
    ):
        return False
    return not _is_of_other_people(earlier, told)


def _is_of_other_people(earlier: str, told: str) -> bool:
    subject = {
        lemma(word)
        for clause in read_statement(earlier).clauses[:1]
        for item in clause.subject
        for word in str(item).split()
    }
    if subject & RELATIVES and told.endswith("the company"):
        return True  # "my sister Ilse does our taxes"
    return bool(subject & (PERSONS | RELATIVES)) and not subject & {lemma(word.lower()) for word in told.split()}


def _is_person(thing: str, text: str) -> bool:
    """Whether somebody's name stands there alone; a text in small letters has none in capitals."""
    words = thing.split()
    return len(words) <= _NAME_WORDS_MAX and (text.islower() or all(word[:1].isupper() for word in words))


def _thing(text: str) -> str:
    """The words that name what is gone, without what stands before and behind; nothing where it is not named."""
    words = text.split()
    start = max((place + 1 for place, word in enumerate(words) if word.lower() in _STARTS), default=0)
    words = words[start:]
    while words and (words[0].lower() in _QUANTIFIERS):
        words = words[1:]
    while words and words[-1].lower() in _BEFORE_VERB:
        words = words[:-1]
    end = next((place for place, word in enumerate(words) if place and word.lower() in _ENDS), len(words))
    words = words[:end]
    lower = [word.lower() for word in words]
    if not words or _NOBODY & set(lower) - {"my", "our"} or lower[0] in {"his", "her", "their", "its", "a", "an", "no"}:
        return ""
    if lower[0] in PREPOSITIONS or lower[0] in _ENDS or AUXILIARIES & set(lower) or lower[:2] == ["the", "other"]:
        return ""
    if RELATIVES & {*lower, *map(lemma, lower)} or lower[-1] in {"the", "my", "our"}:
        return ""
    return " ".join(words).replace(" 's", "'s")
