"""What kind of turn a text is, as the episodic tier tells it."""

from __future__ import annotations

from enum import IntFlag


class Trait(IntFlag):
    """The bits are those of the wire format: see `SearchCandidatesResponse.traits`."""

    QUESTION = 1
    ASSISTANT = 2
    REACTION = 4
    FIRST_PERSON = 8
    CAPTION = 16
    PAST = 32
    TIME_EXPRESSION = 64
    NUMBER = 128
    QUOTE = 256
    NAMES = 512
    INSTRUCTION = 1024
    LIST = 2048
    ENDS_ASKING = 4096
    MOSTLY_ASKING = 8192
    PREFERENCE = 16384
