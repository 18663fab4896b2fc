"""Whose life a sentence tells of: the speaker's, or that of a relative or somebody with a name. Pure functions.

A sentence is written as words in a row. Where it is about somebody else it is turned round, so that the same phrases
read it: "my sister is pregnant" becomes "i is pregnant", and what the speaker says of themselves in it is set aside.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from services.common.text_cache import text_cache
from services.common.values.reading.splitting import DETERMINERS, PREPOSITIONS
from services.common.values.words.lexicon import (
    AUXILIARIES,
    IRREGULAR,
    KIN,
    MONTHS,
    PRONOUNS,
    SMALL_NUMBERS,
    STOP,
    VERBS,
    WEEKDAYS,
)
from services.common.values.words.tokens import PUNCTUATION, lemma, tokenize

_DASH: Final = re.compile(r"\s-{1,3}\s|[–—…()\"“”]|\.\.\.")  # noqa: RUF001
RELATIVES: Final = KIN | frozenset(
    """
    mum mom dad mother father parent parents kids children friend mate neighbour neighbor colleague flatmate roommate
    boyfriend girlfriend fiance fiancee fiancé fiancée boss stepson stepdaughter stepmother stepfather grandson
    granddaughter gran granny nan grandma grandpa grandad in-laws mother-in-law father-in-law ex nan auntie
    """.split()  # noqa: SIM905 - words
)
SAME_KIN: Final = (
    ("mother", "mum", "mom", "mummy"),
    ("father", "dad", "daddy"),
    ("grandmother", "grandma", "gran", "granny", "nan"),
    ("grandfather", "grandpa", "grandad", "granddad"),
)
"""Words for the same relative."""
PARTNERS: Final = frozenset("wife husband partner girlfriend boyfriend fiance fiancee fiancé fiancée".split())  # noqa: SIM905
_OWNERS: Final = frozenset({"my", "our"})
_SPEAKER: Final = {"i": "they", "we": "they", "me": "them", "us": "them", "my": "their", "our": "their", "am": "are"}
_TURNED: Final = {"he": "i", "she": "i", "his": "my", "her": "my", "hers": "mine", "him": "me"}
_NO_NAMES: Final = (
    frozenset({"everything", "everyone", "nothing", "nobody", "somebody"})
    | SMALL_NUMBERS.keys()
    | WEEKDAYS
    | frozenset(MONTHS)
    | PRONOUNS
    | STOP
    | DETERMINERS
    | PREPOSITIONS
    | AUXILIARIES
)
_CONNECTORS: Final = frozenset("and but so because since while when which that as though although".split())  # noqa: SIM905
_LEADS: Final = frozenset(
    """
    now finally just also already officially really well then today yesterday tomorrow actually still even sadly yes
    no oh hey ok okay news update so and but because last next this from of on in at after since for about as
    been be have has had is are was were am 's 've 'm 're do did does not again once big good great only all both
    later soon recently meanwhile guess what long never got get gotten half years year months month week weeks
    morning evening night afternoon until before over by end during ago minute second true fact myself
    """.split()  # noqa: SIM905 - words
)
_GROUPS: Final = frozenset("team company firm office department school family crew band".split())  # noqa: SIM905 - words
"""Whose doing is that of the speaker as well: "the team went over to Linear"."""
PASTS: Final = frozenset(
    """
    threw blew tore swore rang sank shook chose froze rode hid slid lit shot felt wept swept dealt meant bent burnt
    stuck struck dug swung spun told heard laid fell brought caught fought split beat
    """.split()  # noqa: SIM905 - words
)
"""Further verbs in the past: what stands before them may be a name."""
_CHARS_MAX: Final = 400


@text_cache(4_096)
def spoken(text: str) -> str:
    """Returns a sentence as its words and marks, each between spaces; contractions are written out."""
    if len(text) > _CHARS_MAX:
        return " "
    words = [token.text for token in tokenize(_DASH.sub(" ; ", text))]
    if words and words[-1] not in PUNCTUATION:
        words.append(".")
    return f" {' '.join(words)} "


@text_cache(4_096)
def people_in(text: str) -> tuple[str, ...]:
    """Returns who is named in a sentence: "my sister" as "sister", others by their name."""
    words = spoken(text).split()
    found: dict[str, None] = {}
    for number, word in enumerate(words):
        before = words[number - 1].lower() if number else ""
        is_relative = word.lower() in RELATIVES and (before in _OWNERS or _is_after_owner(words, number))
        if is_relative or _is_bare_parent(words, number) or _is_name(words, number):
            found[word.lower()] = None
    return tuple(found)


def _is_after_owner(words: Sequence[str], number: int) -> bool:
    return number > 1 and words[number - 2].lower() in _OWNERS and words[number - 1].isalpha()


def _is_bare_parent(words: Sequence[str], number: int) -> bool:
    return words[number].lower() in {"mum", "mom", "dad", "gran", "granny", "nan", "grandma", "grandpa", "grandad"}


def _is_name(words: Sequence[str], number: int) -> bool:
    word, before = words[number], words[number - 1].lower() if number else ""
    lower = word.lower()
    if not word[:1].isupper() or lower in _NO_NAMES or before in PREPOSITIONS or before in DETERMINERS:
        return False
    after = words[number + 1].lower() if number + 1 < len(words) else ""
    is_subject = after in AUXILIARIES | {"'s"} or lemma(after) in VERBS or after in IRREGULAR or after.endswith("ed")
    is_subject = is_subject or after in PASTS
    return is_subject and (number > 0 or lemma(lower) not in VERBS)


def canonical(word: str) -> str:
    """Returns one word for the same relative: "mother" for "mum"."""
    return next((names[0] for names in SAME_KIN if word in names), word)


@text_cache(8_192)
def turned_to(text: str, person: str) -> str:
    """Returns a sentence as if somebody named in it said it, or a space where it does not name them."""
    words = spoken(text).split()
    turned: list[str] = []
    is_found, is_another, place = False, False, 0
    while place < len(words):
        word, lower = words[place], words[place].lower()
        if canonical(lower) == canonical(person) and (
            place == 0 or words[place - 1].lower() not in {"his", "her", "their", "your"}
        ):
            is_found = True
            while turned and turned[-1] in {"their", "\0"}:
                turned.pop()
            following = words[place + 1] if place + 1 < len(words) else ""
            if person in RELATIVES and following[:1].isupper() and following.lower() not in _NO_NAMES:
                place += 1  # "my brother Tom"
                following = words[place + 1] if place + 1 < len(words) else ""
            turned.append("my" if following == "'s" else "i")
            place += 2 if following == "'s" else 1
            continue
        is_another = is_another or (is_found and _is_person(words, place))
        if lower in _OWNERS and _leads_to(words, place, person):
            turned.append("\0")
        elif is_found and not is_another and lower in _TURNED:
            turned.append(_TURNED[lower])
        else:
            turned.append(_SPEAKER.get(lower, word))
        place += 1
    return f" {' '.join(word for word in turned if word != chr(0))} " if is_found else " "


def _is_person(words: Sequence[str], place: int) -> bool:
    word = words[place]
    return word.lower() in RELATIVES or (word[:1].isupper() and word.lower() not in _NO_NAMES)


def _leads_to(words: Sequence[str], place: int, person: str) -> bool:
    return person in (word.lower() for word in words[place + 1 : place + 3])


def is_subject_speaker(said: str, start: int, *, with_groups: bool = False) -> bool:
    """Returns whether what stands at a place of a spoken sentence has the speaker as its subject.

    Args:
        said: A sentence as `spoken` or `turned_to` gives it.
        start: Where the verb begins.
        with_groups: Whether "the team" is the speaker as well.
    """
    words = said[:start].split()
    place = len(words)
    while place and words[place - 1] not in PUNCTUATION:
        place -= 1
    clause, before = words[place:], words[:place]
    subject = _subject(clause, with_groups=with_groups)
    if subject is None:
        return not before or is_subject_speaker(f" {' '.join(before[:-1])} ", len(said), with_groups=with_groups)
    return subject


def _subject(clause: Sequence[str], *, with_groups: bool) -> bool | None:
    """Whether the subject of a clause up to its verb is the speaker; None where it has none."""
    for place in range(len(clause) - 1, -1, -1):
        word = clause[place].lower()
        if word in {"i", "we"}:
            return True
        before = clause[place - 1].lower() if place else ""
        if word in {"he", "she", "they", "you", "it", "who", "somebody", "someone", "everyone", "everybody", "nobody"}:
            return False
        if word in RELATIVES and before not in PREPOSITIONS:
            return False
        if _is_name(clause, place) or (place == len(clause) - 1 and _is_last_name(clause, place)):
            return False
    rest = _without_lead(clause)
    if with_groups and len(rest) == 1 and rest[0].lower() in _GROUPS:
        return True
    return None if not rest else False


def _is_last_name(clause: Sequence[str], place: int) -> bool:
    word, before = clause[place], clause[place - 1].lower() if place else ""
    return word[:1].isupper() and word.lower() not in _NO_NAMES | _LEADS and before not in PREPOSITIONS


def _without_lead(clause: Sequence[str]) -> list[str]:
    """What of the words before a verb may be a subject: no adverbs, and no phrase behind a preposition."""
    rest: list[str] = []
    is_behind = False
    for word in clause:
        lower = word.lower()
        if lower in PREPOSITIONS or lower in {"after", "since", "until", "before", "as", "because"}:
            is_behind = True
            continue
        if lower in _CONNECTORS:
            is_behind = False
            continue
        if lower in _LEADS or lower in _NO_NAMES or lower.endswith("ly") or lower[:1].isdigit() or is_behind:
            continue
        rest.append(word)
    return rest
