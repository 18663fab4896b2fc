"""What kind of turn a text is: the traits that the episodic tier stores and that ranking reads."""

from __future__ import annotations

from enum import IntFlag

from mneme.episodic.internal.v1.episodic_internal_pb2 import TurnTrait


class Trait(IntFlag):
    """The flags of `TurnTrait`, which says what each of them means."""

    QUESTION = TurnTrait.TURN_TRAIT_QUESTION
    ASSISTANT = TurnTrait.TURN_TRAIT_ASSISTANT
    REACTION = TurnTrait.TURN_TRAIT_REACTION
    FIRST_PERSON = TurnTrait.TURN_TRAIT_FIRST_PERSON
    CAPTION = TurnTrait.TURN_TRAIT_CAPTION
    PAST = TurnTrait.TURN_TRAIT_PAST
    TIME_EXPRESSION = TurnTrait.TURN_TRAIT_TIME_EXPRESSION
    NUMBER = TurnTrait.TURN_TRAIT_NUMBER
    QUOTE = TurnTrait.TURN_TRAIT_QUOTE
    NAMES = TurnTrait.TURN_TRAIT_NAMES
    INSTRUCTION = TurnTrait.TURN_TRAIT_INSTRUCTION
    LIST = TurnTrait.TURN_TRAIT_LIST
    ENDS_ASKING = TurnTrait.TURN_TRAIT_ENDS_ASKING
    MOSTLY_ASKING = TurnTrait.TURN_TRAIT_MOSTLY_ASKING
    PREFERENCE = TurnTrait.TURN_TRAIT_PREFERENCE
