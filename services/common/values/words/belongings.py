"""What goes with a thing that somebody has, does or plans: the key of a car. Data, and look-ups."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from services.common.text_cache import text_cache
from services.common.values.words.lexicon import MULTIPLE_ROLES
from services.common.values.words.tokens import lemma

GROUPS: Final = (
    (
        "job employer company firm post position employment",
        "office desk badge canteen boss manager colleague team shift commute payslip salary contract rota uniform",
    ),
    (
        "flat house home apartment room bungalow cottage address",
        "landlord rent neighbour neighbourhood balcony garden kitchen cellar street door stairs doorbell heating lease",
    ),
    (
        "dog cat pet horse pony rabbit hamster tortoise parrot",
        "food bowl lead walk pill tablet basket litter kennel stable",
    ),
    (
        "car van motorbike scooter bike bicycle boat camper caravan",
        "key lock tyre tank insurance boot seat battery helmet trailer rack roof licence mooring service",
    ),
    (
        "course class lesson degree study training",
        "homework exam teacher tutor lecture seminar textbook fee certificate assignment exercise",
    ),
    ("school nursery kindergarten", "class teacher homework bus uniform pickup"),
    ("membership club team subscription gym", "card fee locker session trainer captain magazine discount due delivery"),
    (
        "wedding marriage engagement",
        "band caterer photographer cake dress venue guest ring registrar flower honeymoon invitation",
    ),
    ("trip holiday vacation journey cruise tour", "flight hotel ticket suitcase visa itinerary rental cabin passage"),
    ("phone mobile laptop computer tablet camera", "charger case cover screen cable bag adapter stand lens"),
    ("bank", "card account app transfer branch"),
    (
        "plumber electrician dentist doctor vet therapist hairdresser cleaner gardener lawyer accountant mechanic",
        "charge bill invoice appointment price surgery practice hour fee rent order",
    ),
)
"""Things, and what shows in other statements that somebody has them."""
GENERIC_KINDS: Final = frozenset(
    "class course lesson club team group school session meeting practice training".split()  # noqa: SIM905 - words
)
"""Nouns that say little of what they are of: of "the yoga class" people say "yoga"."""
PERSONS: Final = frozenset(
    """
    nephew niece friend neighbour neighbor colleague boss flatmate roommate tutor teacher coach dentist doctor vet nurse
    therapist landlord landlady lawyer manager mentor supervisor trainer client customer supplier cleaner gardener
    classmate coworker in-law brother-in-law sister-in-law mother-in-law father-in-law godson goddaughter stepson
    stepdaughter stepfather stepmother grandson granddaughter gran granny nan nana grandad fiance fiancee
    """.split()  # noqa: SIM905 - words
)
"""Somebody else, besides the relatives of `lexicon.KIN`."""

ROLES: Final = (
    MULTIPLE_ROLES
    - {"son", "daughter", "child", "kid", "hobby", "language", "pet", "ingredient", "tablet", "pill", "goal"}
) | frozenset(
    """
    doctor nurse vet dentist therapist physio teacher coach tutor boss manager landlord lawyer neighbour trainer
    dietician
    """.split()  # noqa: SIM905 - words
)
"""Relations of which a speaker can have several, and people who do something for a speaker."""


_READ: Final = tuple(
    (frozenset(map(lemma, things.split())), frozenset(map(lemma, parts.split()))) for things, parts in GROUPS
)


def goes_with(things: Collection[str]) -> frozenset[str]:
    """Returns what goes with any of these things."""
    return _going(frozenset(things))


@text_cache(1_024)
def _going(things: frozenset[str]) -> frozenset[str]:
    return frozenset().union(*(parts for named, parts in _READ if named & things))
