"""Word lists of English that several rules use."""

from __future__ import annotations

from typing import Final


def word_list(text: str) -> tuple[str, ...]:
    """The words of a text, in order."""
    return tuple(text.split())


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


RELATIVES: Final = word_list(
    """
    mother mum mom mama father dad papa parents sister brother sibling wife husband spouse partner fiancé
    fiancée fiance fiancee girlfriend boyfriend son daughter child kid baby niece nephew aunt uncle cousin
    grandmother grandma granny gran grandfather grandad granddad grandpa grandson granddaughter stepmother
    stepfather stepson stepdaughter stepsister stepbrother mother-in-law father-in-law sister-in-law
    brother-in-law godmother godfather friend flatmate roommate housemate neighbour neighbor boss manager
    colleague coworker co-worker teacher coach mentor therapist doctor dentist landlord landlady ex ex-wife
    ex-husband
    """
)
PETS: Final = word_list(
    """
    dog cat puppy kitten hamster rabbit bunny parrot budgie horse pony tortoise turtle goldfish snake lizard
    gecko ferret chicken goat guinea-pig
    """
)
NO_NAMES: Final = word_set(
    """
    I It This That There The A An He She They We You What When Where Why How Who Which If And But So Or Not No
    Yes My Our Your His Her Their Its Here Everyone Everybody Someone Somebody Nobody Nothing Something
    Everything One Two Some Any All Each Every Both Most Many Much Another Other Such Same Just Only Also Even
    Still Then Now Today Tomorrow Yesterday Tonight Monday Tuesday Wednesday Thursday Friday Saturday Sunday
    January February March April May June July August September October November December God Life Work Time
    People Man Woman Mum Mom Dad Mother Father
    """
)
"""Capitalised words that name nobody."""
