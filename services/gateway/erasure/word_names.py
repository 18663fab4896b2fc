"""Names that are words of the language too: "Mark rang" is of somebody, "Mark the day" is not. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from services.common.values.words.lexicon import AUXILIARIES, MONTHS, PRONOUNS, VERBS, WEEKDAYS
from services.common.values.words.tokens import lemma
from services.gateway.erasure.relations import canonical
from services.gateway.erasure.wording import DETERMINERS, FIRST, LINKS, ROLES, TITLES, Word

ALSO_WORDS: Final = frozenset(
    """
    rose will ivy bill mark grace hope joy faith dawn april june may august summer autumn winter daisy lily violet olive
    heather hazel holly jasmine poppy pearl ruby amber rob bob pat sue frank ernest rich guy art dean drew grant jack
    miles pierce robin rusty sandy victor ward wade basil reed dale cliff glen heath forest brook sky star angel iris
    penny sunny melody harmony chase hunter mason skip trip buddy charity cherry clay crystal dot fern ginger gale honey
    jade jewel lane laurel mercy merry misty opal patience peg pepper piper porter rocky rowan saffron sage stone storm
    willow woody wren earl carol gene ray
    """.split()  # noqa: SIM905 - words
)
"""Names that are words of the language too."""
_MODAL: Final = frozenset({"will", "may"})
"""At the beginning these ask or wish: "Will you come?", "May it rain"."""
_BASE: Final = frozenset({"be", "have", "do"})
_BEFORE_NAMES: Final = frozenset(
    {"with", "to", "from", "for", "called", "named", "and", "by", "than", "met", "told", "asked"}
)
ADVERBS: Final = frozenset("also still never always just even only often usually now already".split())  # noqa: SIM905
"""Between who does something and the verb."""
_REACHES: Final = frozenset({"text", "message", "phone", "email"})
"""What somebody does who gets in touch; else these are nouns."""
_WHO: Final = frozenset({"from", "who", "whose", "whom", "next", "upstairs", "downstairs", "opposite", "and", "or"})
"""Behind a name at the beginning they say who it is, or name somebody else as well."""
_AT: Final = frozenset({"in", "at", "on"})
_OBJECTS: Final = frozenset({"to", "that", "it", "him", "them", "me", "us", "about", "on", "at", "for", "in", "off"})
_PASTS: Final = frozenset(
    "told felt lent brought caught fought sought meant dealt bent swore tore threw stuck hung shook struck spun crept fled".split()  # noqa: SIM905, E501 - words
)
"""Past forms that the lexicon has no verb for."""
_PLACED_MAX: Final = 4
"""How far behind a name at the beginning its verb stands: "Mark in our accounts department owes me"."""


def stands_as_a_name(words: Sequence[Word], place: int) -> bool:
    """Returns whether a word in small letters that may be another one is a name: "ivy can do fridays", "with rose"."""
    after = next((word for word in words[place + 1 :] if word.lower not in ADVERBS), None)
    if place == 0:
        does = after is not None and (
            after.bare in AUXILIARIES or lemma(after.bare) in VERBS | _REACHES or _is_past(after)
        )
        is_asked = words[0].bare in _MODAL and after is not None and _is_base(after)
        return (does and not is_asked) or (after is not None and words[0].is_possessive)
    before = words[place - 1]
    if after is not None and (after.lower in {"chapter", "verse"} or after.lower[0].isdigit()):
        return False  # "the reading is from mark, chapter 4"
    if before.lower == "to" and after is not None and after.lower in DETERMINERS | FIRST | PRONOUNS:
        return False  # "they tried to rob the bank"
    return before.index == words[place].index - 1 and (before.bare in _BEFORE_NAMES or is_role(words, place - 1))


def opens_as_a_word(words: Sequence[Word], place: int) -> bool:
    """Returns whether a word with a capital that opens a sentence is no name: "Mark the day", "Grace period".

    A name goes on with what somebody does or is, or with who that is.
    """
    word = words[place]
    if word.bare not in ALSO_WORDS or word.lower != word.bare or not is_opening(words, place):
        return False
    behind = adjacent(words, place)
    if not behind:
        return False
    after = next((one for one in behind if one.lower not in ADVERBS), None)
    if after is None:
        return False
    if after.is_capital and after.lower not in FIRST:
        return after.bare in TITLES | WEEKDAYS | set(MONTHS)  # "Mark Friday as free"; else a surname
    if after is not behind[0]:
        return after.lower in DETERMINERS | FIRST | PRONOUNS
    if word.bare in _MODAL and _is_base(after):
        return True
    return not (after.lower in _WHO or does_something(behind) or _is_placed(behind))


def does_something(behind: Sequence[Word]) -> bool:
    """Returns whether words begin with what somebody does or is: "is off", "sings", "rang", "reckons that we ..."."""
    if not behind:
        return False
    verb, after = behind[0], behind[1] if len(behind) > 1 else None
    if verb.bare in AUXILIARIES or verb.lower in {"isn't", "wasn't", "hasn't", "doesn't", "didn't", "won't", "can't"}:
        return True
    if verb.lower.endswith(("n't", "'ll", "'d")) or _is_past(verb):
        return True
    base = lemma(verb.bare)
    if base in VERBS | _REACHES and base != verb.bare and not verb.bare.endswith("ing"):
        return True
    is_third = verb.bare.endswith("s") and not verb.bare.endswith("ss") and verb.lower not in LINKS
    # A noun in the plural goes on with a verb: "Rose bushes need water".
    return is_third and after is not None and after.lower in DETERMINERS | FIRST | PRONOUNS | _OBJECTS


def is_opening(words: Sequence[Word], place: int) -> bool:
    """Returns whether a word is the first one of a text or stands behind a mark."""
    return place == 0 or words[place - 1].index != words[place].index - 1


def adjacent(words: Sequence[Word], place: int) -> list[Word]:
    """Returns the words behind a word up to the next mark."""
    found: list[Word] = []
    for word in words[place + 1 :]:
        if word.index != words[place].index + len(found) + 1:
            break
        found.append(word)
    return found


def is_role(words: Sequence[Word], place: int) -> bool:
    """Returns whether a word says who somebody is to the speaker, also in parts: "brother in law"."""
    if words[place].lower in ROLES or canonical(words[place].lower):
        return True
    return place > 1 and "-".join(word.lower for word in words[place - 2 : place + 1]) in ROLES


def _is_past(word: Word) -> bool:
    is_irregular = word.bare != lemma(word.bare) and lemma(word.bare) in VERBS and not word.bare.endswith("ing")
    return word.bare.endswith("ed") or is_irregular or word.bare in _PASTS


def _is_base(word: Word) -> bool:
    """Whether a word follows "will" and "may" where these are no names: "you", "the", "be", "come"."""
    is_verb = word.bare in _BASE or (word.bare in VERBS and lemma(word.bare) == word.bare)
    return is_verb or word.lower in DETERMINERS | FIRST | PRONOUNS


def _is_placed(behind: Sequence[Word]) -> bool:
    """Whether words say where somebody is, and then what they do: "in accounts owes me"."""
    if behind[0].lower not in _AT or (behind[0].lower == "on" and behind[1:] and behind[1].is_capital):
        return False  # "Ruby on Rails"
    return any(does_something(behind[place:]) for place in range(2, min(len(behind), _PLACED_MAX + 1)))
