"""Whose words a memory rests on. Pure functions; see `SourceTrust` in recall.proto."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Final

from services.common.turns import MessageRole


class SourceTrust(IntEnum):
    """Whose words a memory rests on, the most trusted first; the numbers are those of the wire format."""

    UNSPECIFIED = 0
    CALLER = 1
    USER = 2
    APPLICATION = 3
    NAMED_SPEAKER = 4
    ASSISTANT = 5
    TOOL = 6


_BY_ROLE: Final[Mapping[int, SourceTrust]] = {
    MessageRole.SYSTEM: SourceTrust.APPLICATION,
    MessageRole.ASSISTANT: SourceTrust.ASSISTANT,
    MessageRole.TOOL: SourceTrust.TOOL,
}


def trust_of_turn(role: int, speaker: str, user_id: str) -> SourceTrust:
    """Whose words a turn holds; UNSPECIFIED for a role that this version does not know."""
    if role == MessageRole.USER:
        name = speaker.strip().casefold()
        return SourceTrust.NAMED_SPEAKER if name and name != user_id.casefold() else SourceTrust.USER
    return _BY_ROLE.get(role, SourceTrust.UNSPECIFIED)


def trust_of_derived(derived_from: Sequence[str], turns: Mapping[str, SourceTrust]) -> SourceTrust:
    """That of the least trusted turn behind a fact or a note: CALLER without any, UNSPECIFIED where one is unknown."""
    if not derived_from:
        return SourceTrust.CALLER
    found = [turns.get(source, SourceTrust.UNSPECIFIED) for source in derived_from]
    return SourceTrust.UNSPECIFIED if SourceTrust.UNSPECIFIED in found else max(found)
