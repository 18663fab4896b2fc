"""What one speaker said once: the unit that every tier takes in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum
from typing import Final

from services.common.settings_types import Count, CountOrNone


class MessageRole(IntEnum):
    """Who speaks; the numbers are those of the wire format."""

    USER = 1
    ASSISTANT = 2
    SYSTEM = 3
    TOOL = 4


@dataclass(frozen=True, slots=True)
class Attachment:
    """An image, a sound or a file by reference."""

    uri: str = ""
    mime_type: str = ""
    caption: str = ""  # what it shows, in words; searched with the text


TURNS_APART: Final = timedelta(microseconds=1)
"""Between turns of one request that have no time: what is said later may take back what was said before."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What was said, with speaker and time."""

    role: MessageRole
    content: str
    time: datetime  # aware, UTC
    speaker: str = ""  # distinguishes people of one conversation; may be empty
    attachments: tuple[Attachment, ...] = ()
    confidence: float | None = None  # in [0, 1], where stated
    importance: float | None = None  # in [0, 1], where the caller states it
    sources: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)

    @property
    def searchable_text(self) -> str:
        """The content with the captions of its attachments: what is embedded and indexed."""
        return searchable_text(self.content, self.attachments)


def searchable_text(content: str, attachments: tuple[Attachment, ...]) -> str:
    """Joins a content and the captions of its attachments into the text that is embedded and indexed."""
    captions = [f"[photo: {a.caption}]" for a in attachments if a.caption]
    return " ".join([content, *captions]) if content else " ".join(captions)


@dataclass(frozen=True, slots=True)
class TurnLimits:
    """Bounds of one turn."""

    content_chars_max: Count = 32_768  # a long document belongs into an attachment
    speaker_chars_max: CountOrNone = 128  # a speaker's name
    attachments_max: CountOrNone = 16  # images, sounds and files of one turn
    uri_chars_max: Count = 2_048  # where an attachment is
    mime_type_chars_max: Count = 255  # 127 for each half is what registries allow
    caption_chars_max: CountOrNone = 4_000  # what an attachment shows, in words
    sources_max: CountOrNone = 64  # sources that a turn names
    source_chars_max: Count = 512  # one of them
    metadata_entries_max: CountOrNone = 32  # entries of a turn's metadata
    metadata_key_chars_max: Count = 64  # a key
    metadata_value_chars_max: Count = 1_024  # a value
    payload_chars_max: Count = 65_536  # of all texts together: responses hold many turns in one message
