"""What else bears a name that somebody has: places, works, bands, makes, streets, companies. Pure functions.

"My ex Tyler" is neither "Tyler, Texas" nor "Tyler, the Creator". Where a query says who somebody is, these stay; where
it is only a name, they stay if another text shows that somebody is meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from services.common.values.words.lexicon import AUXILIARIES, KIN, MONTHS, PRONOUNS, VERBS, WEEKDAYS
from services.common.values.words.nouns import TIMES
from services.common.values.words.tokens import lemma
from services.gateway.erasure.relations import canonical
from services.gateway.erasure.word_names import ADVERBS, adjacent, does_something, is_opening, is_role
from services.gateway.erasure.wording import (
    ARTICLES,
    DETERMINERS,
    FIRST,
    HONOURED,
    LINKS,
    OFFICES,
    ROLES,
    TITLES,
    Word,
)

_REGIONS: Final = frozenset(
    """
    alabama alaska arizona arkansas california colorado connecticut delaware florida georgia hawaii idaho
    illinois indiana iowa kansas kentucky louisiana maine maryland massachusetts michigan minnesota mississippi
    missouri montana nebraska nevada new-hampshire new-jersey new-mexico new-york north-carolina north-dakota
    ohio oklahoma oregon pennsylvania rhode-island south-carolina south-dakota tennessee texas utah vermont
    virginia washington west-virginia wisconsin wyoming ontario quebec alberta manitoba saskatchewan
    british-columbia nova-scotia victoria queensland tasmania england scotland wales ireland northern-ireland
    france germany italy spain portugal austria switzerland belgium netherlands denmark sweden norway finland
    iceland poland hungary romania greece turkey russia ukraine croatia serbia canada mexico brazil argentina
    chile peru colombia india china japan korea australia new-zealand south-africa egypt morocco kenya nigeria
    ghana israel lebanon usa uk us united-states united-kingdom
    """.split()  # noqa: SIM905 - words
)
_STATE_CODES: Final = frozenset(
    "al ak az ar ca co ct de fl ga hi id il ia ks ky la me md ma mi mn ms mo mt ne nv nh nj nm ny nc nd oh ok or pa ri sc sd tn tx ut vt va wa wv wi wy dc".split()  # noqa: SIM905, E501 - words
)
"""Behind a comma, in capitals."""
_MADE: Final = frozenset(
    "album song track single record film movie novel book poem painting series show playlist hit tune musical".split()  # noqa: SIM905
)
"""Before "by" and a name they are somebody's works."""
_NOT_IN: Final = frozenset(
    {"believe", "trust", "confide", "interest", "interested", "faith", "disappointed", "confidence"}
)
"""Before "in" and a name they make it nobody's place."""
_MOTION: Final = frozenset(
    "fly flight train trip travel move emigrate relocate ferry bus coach tour journey road".split()  # noqa: SIM905
)
"""Before "to" and a name they make it a place."""
_SET_OUT: Final = frozenset({"fly", "flight", "train", "ferry"})
"""The same before "from"."""
_ONWARD: Final = frozenset({"back", "home", "over", "out", "up", "down", "again", "straight", "on"})
_STREETS: Final = frozenset(
    """
    street road avenue lane square park bridge hall beach island airport station university college school
    hospital church hotel bank ltd inc gmbh plc llc group corp company foundation award prize boulevard drive
    close terrace gardens hill lake river bay county valley theatre museum stadium
    """.split()  # noqa: SIM905 - words
)
"""With a capital behind a name they are streets, places and companies."""
_OF_PERSONS: Final = frozenset(
    """
    family appointment case matter meeting story affair thing account file dinner visit business twins kids girl
    boy guy lady man woman couple party letter birthday wedding estate house call interview
    """.split()  # noqa: SIM905 - words
)
"""Behind a name these are matters of somebody: "the Roland affair"."""
_OWNERS: Final = frozenset({"my", "our", "his", "her", "their", "this", "that"})
_BEFORE_FIRST: Final = frozenset(
    """
    poor dear old young little big both even only just again once then finally meanwhile yes no hi hello hey
    thanks thank oh ok okay well maybe perhaps sometimes because since while when if although though unless
    until as like so but nor good great sweet dearest lovely saint another today tomorrow yesterday tonight next
    last every
    """.split()  # noqa: SIM905 - words
)
"""With a capital at the beginning and before a name these are no first names."""
_SIR: Final = frozenset({"mr"})
_MADAM: Final = frozenset({"mrs", "ms", "miss"})
_TELLS: Final = frozenset("told asked met called rang texted phoned emailed saw invited helped thanked paid".split())  # noqa: SIM905
_OF_SOMEBODY: Final = frozenset(
    "say tell ask think want owe know love hate like ring text promise lend borrow marry sing teach write hope feel cry laugh".split()  # noqa: SIM905, E501 - words
)
"""What people do, and places and companies hardly."""


def is_elsewhere(words: Sequence[Word], place: int, names: Sequence[str]) -> bool:
    """Returns whether a name in a text is that of a place, a work, a band, a street or a company.

    Args:
        words: The text.
        place: Where the name stands in it.
        names: Words of the name that is asked for, in lower case.
    """
    is_one = _is_place(words, place) or _is_work(words, place) or _is_street(words, place, names)
    return words[place].is_capital and is_one


def is_of_other_bearer(words: Sequence[Word], place: int, names: Sequence[str]) -> bool:
    """Returns as `is_elsewhere`, or whether a name is that of a make or of somebody else: "Anne Frank", for "Frank"."""
    is_other = (
        is_of_a_make(words, place)
        or _is_make_of(words, place, names)
        or _is_surname(words, place, names)
        or _is_of_spouse(words, place, names)
    )
    return is_elsewhere(words, place, names) or (words[place].is_capital and is_other)


def is_somebody(words: Sequence[Word], place: int) -> bool:
    """Returns whether a text shows that a name is somebody's: "my ex Tyler", "I told Tyler", "Tyler owes me 20"."""
    before = _before(words, place)
    if before is not None and (before.bare in _TELLS or before.bare in TITLES or canonical(before.bare)):
        return True
    if _is_explained(words, place):
        return True
    behind = [word for word in adjacent(words, place) if word.lower not in ADVERBS]
    return bool(behind) and behind[0].bare != lemma(behind[0].bare) and lemma(behind[0].bare) in _OF_SOMEBODY


def _is_explained(words: Sequence[Word], place: int) -> bool:
    """Whether a comma and who it is stand behind a name: "Joy, the girl who helped us", "Joy, who cooks"."""
    behind = [word.lower for word in words[place + 1 : place + 5]]
    if not behind or words[place + 1].index != words[place].index + 2:
        return False
    is_known = behind[0] in {"the", "a", "my", "our"} and len(behind) > 2 and behind[2] == "who"
    return behind[0] in {"who", "whose"} or is_known


def is_of_a_make(words: Sequence[Word], place: int) -> bool:
    """Returns whether a name between "the" or "my" and a noun says of which make something is: "the Roland keyboard".

    Where a person is meant. The name of a project stands so as well: "the Heron budget".
    """
    before = _before(words, place)
    after = next(iter(adjacent(words, place)), None)
    if before is None or words[place].is_possessive or not words[place].is_capital:
        return False
    is_known = before.lower == "the"
    if not is_known and before.lower not in _OWNERS | ARTICLES:
        return False
    if after is None:
        return is_known  # "I sold the Roland"
    if after.is_capital or not after.text.isalpha() or after.lower in DETERMINERS | _OF_PERSONS:
        return False
    is_verb = after.bare in AUXILIARIES or lemma(after.bare) in VERBS or after.lower in LINKS | FIRST | PRONOUNS
    if is_verb:
        return is_known and does_something([after])  # "the Roland needs tuning"
    return after.text.islower() and after.bare not in ROLES


def _is_make_of(words: Sequence[Word], place: int, names: Sequence[str]) -> bool:
    """Whether a surname with "my" before it is a make: "my Levi's jeans", where Mr Levi is meant."""
    before = _before(words, place)
    return words[place].is_possessive and before is not None and before.lower in _OWNERS and bool(TITLES & set(names))


def _is_place(words: Sequence[Word], place: int) -> bool:
    """Whether a name is a place's: "Tyler, Texas", "in Tyler", "the flight to Tyler"."""
    if words[place].is_possessive:
        return False
    behind = words[place + 1 : place + 3]
    if behind and behind[0].index == words[place].index + 2 and _is_region(behind):
        return True
    before = _before(words, place)
    if before is None:
        return False
    back = [lemma(word.bare) for word in words[max(0, place - 3) : place - 1]]
    if before.lower == "from" and words[place].lower in _REGIONS and set(back[-1:]) & {"be", "come"}:
        return True  # "The wine is from Georgia"
    if before.lower == "in":
        return not set(back) & _NOT_IN
    sets_out = {"to": _MOTION, "from": _SET_OUT}.get(before.lower, frozenset[str]())
    return bool(set(back[-1:]) & sets_out) or (set(back[-1:]) <= _ONWARD and bool(set(back) & sets_out))


def _is_region(behind: Sequence[Word]) -> bool:
    two = "-".join(word.lower for word in behind)
    is_code = behind[0].text.isupper() and behind[0].lower in _STATE_CODES
    return behind[0].text[:1].isupper() and (is_code or behind[0].lower in _REGIONS or two in _REGIONS)


def _is_work(words: Sequence[Word], place: int) -> bool:
    """Whether a name is that of an artist or a band: "an album by Tyler", "Tyler, the Creator", "Rose of Tralee"."""
    before = _before(words, place)
    if before is not None and before.lower == "by" and place > 1:
        return any(lemma(word.bare) in _MADE for word in words[max(0, place - 4) : place - 1])
    behind = words[place + 1 : place + 5]
    is_band = bool(behind) and behind[0].lower == "and"
    if is_band:
        behind = behind[1:]
    if len(behind) > 1 and behind[0].lower == "the" and _is_epithet(behind[1]):
        after = behind[2] if len(behind) > 2 and behind[2].index == behind[1].index + 1 else None
        # "Tyler, the German pupil" says who that is.
        return after is None or after.lower in LINKS or does_something([after]) or (is_band and after.bare in VERBS)
    return (
        len(behind) > 1
        and behind[0].lower == "of"
        and behind[0].index == words[place].index + 1
        and _is_epithet(behind[1])
    )


def _is_epithet(word: Word) -> bool:
    is_time = word.bare in WEEKDAYS or word.bare in MONTHS
    return word.is_capital and not is_time and not canonical(word.bare) and word.bare not in OFFICES


def _is_street(words: Sequence[Word], place: int, names: Sequence[str]) -> bool:
    """Whether a name is a part of that of a street or a company: "Madison Avenue", "Chase Bank"."""
    after = next(iter(adjacent(words, place)), None)
    return after is not None and after.is_capital and after.bare in _STREETS - set(names)


def _is_surname(words: Sequence[Word], place: int, names: Sequence[str]) -> bool:
    """Whether a first name before it makes it another one's: "Anne Frank", where "my husband Frank" is meant."""
    before = _before(words, place)
    if before is None and place and words[place - 1].index == words[place].index - 2:
        return words[place - 1].text.isupper() and len(words[place - 1].text) == 1  # "H. G. Wells"
    if (
        before is None
        or not before.is_capital
        or before.is_possessive
        or before.bare in names
        or is_role(words, place - 1)
    ):
        return False
    known = DETERMINERS | FIRST | LINKS | PRONOUNS | OFFICES | HONOURED | KIN | TIMES | AUXILIARIES
    if before.bare in known or canonical(before.bare):
        return False
    is_word = before.bare in _BEFORE_FIRST or before.bare.endswith(("ly", "ing", "ed")) or lemma(before.bare) in VERBS
    return not (is_opening(words, place - 1) and is_word)


def _is_of_spouse(words: Sequence[Word], place: int, names: Sequence[str]) -> bool:
    """Whether the title says that it is a man or a woman, and the query says the other: "Mr Ito", for "Mrs Ito"."""
    before = _before(words, place)
    return before is not None and any(
        before.bare in titles and set(names) & others for titles, others in ((_SIR, _MADAM), (_MADAM, _SIR))
    )


def _before(words: Sequence[Word], place: int) -> Word | None:
    """The word right before another one, with no mark between."""
    return words[place - 1] if place and words[place - 1].index == words[place].index - 1 else None
