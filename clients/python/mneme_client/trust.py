"""Whose words a memory rests on."""

from __future__ import annotations

from mneme_client.enums import WireEnum


class SourceTrust(WireEnum):
    """Whose words a memory rests on, the most trusted first."""

    UNSPECIFIED = 0  # not known
    CALLER = 1
    USER = 2
    APPLICATION = 3
    NAMED_SPEAKER = 4
    ASSISTANT = 5
    TOOL = 6
