"""Episodes as frozen values, and the pure functions over them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum
from typing import Final, NewType, cast
from uuid import UUID

from services.common.owners import Owner, TenantId, UserId
from services.common.text import split_pieces
from services.common.turns import Attachment, MessageRole, searchable_text

__all__ = ["Owner", "TenantId", "UserId"]

EpisodeId = NewType("EpisodeId", UUID)
EpisodeKey = NewType("EpisodeKey", int)
"""An episode's place as a number of 14 bytes: 10 of the session's hash, then 4 of the position.

Keys of neighbouring turns follow from one another without a look-up. The hash takes in tenant and user, so
keys are unique everywhere, except that two of n sessions collide with a chance of about n^2 / 2^81.
"""

POSITION_MAX: Final = 2**31 - 1
EPISODE_KEY_BYTES: Final = 14
_CONVERSATION_HASH_BYTES: Final = 10
_POSITION_BITS: Final = 32
_POSITION_MASK: Final = 2**_POSITION_BITS - 1
_PLACE_SHIFT: Final = EPISODE_KEY_BYTES * 8 - 32
_SEPARATOR: Final = "\x1f"


class EpisodeStatus(IntEnum):
    """Where an episode stands in its life; the numbers are those of the wire format."""

    PENDING_EMBEDDING = 1
    ACTIVE = 2
    ARCHIVED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEpisode:
    """An episode to store, checked and with its defaults filled in."""

    episode_id: EpisodeId
    owner: Owner
    conversation_id: str
    position: int  # in the conversation, from 0
    role: MessageRole
    time: datetime  # when it happened; aware, UTC
    speaker: str = ""
    query: str = ""
    response: str = ""
    attachments: tuple[Attachment, ...] = ()
    sources: tuple[str, ...] = ()
    confidence: float | None = None  # in [0, 1], where known
    importance: float | None = None  # in [0, 1]; None: not stated, and not scored yet
    scope_key: str = "1"  # Scope.key
    metadata: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """What is embedded and indexed."""
        return episode_text(self.query, self.response, self.attachments)

    @property
    def key(self) -> EpisodeKey:
        """Its place."""
        return episode_key(self.owner, self.conversation_id, self.position)


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """A stored episode."""

    content: NewEpisode
    feedback: int  # -1, 0 or 1
    access_count: int
    last_access_time: datetime | None
    create_time: datetime
    status: EpisodeStatus
    summary: str = ""  # of a long text, once it was indexed


def episode_text(query: str, response: str, attachments: tuple[Attachment, ...]) -> str:
    """What was asked, what was answered, and the captions, as the text that is embedded and indexed."""
    return searchable_text("\n".join(part for part in (query, response) if part.strip()), attachments)


def episode_pieces(text: str, *, piece_chars: int, pieces_max: int) -> list[str]:
    """The text in the pieces that are indexed; what lies beyond `pieces_max` is stored but not searched."""
    return split_pieces(text, piece_chars)[:pieces_max]


def conversation_key(owner: Owner, conversation_id: str) -> EpisodeKey:
    """The first place of a session: the others follow it, in the order of their positions."""
    text = f"{owner.key}{_SEPARATOR}{conversation_id}"
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return EpisodeKey(int.from_bytes(digest[:_CONVERSATION_HASH_BYTES], "big") << _POSITION_BITS)


def episode_key(owner: Owner, conversation_id: str, position: int) -> EpisodeKey:
    """The place of an episode."""
    return EpisodeKey(conversation_key(owner, conversation_id) | position)


def neighbour_keys(keys: Iterable[EpisodeKey], radius: int) -> list[EpisodeKey]:
    """Places up to `radius` turns before and after each in the same session, without the place itself.

    They may hold an episode or none.
    """
    steps = [step for step in range(-radius, radius + 1) if step]
    found = [key + step for key in keys for step in steps if 0 <= (key & _POSITION_MASK) + step <= POSITION_MAX]
    return cast("list[EpisodeKey]", found)


def place(key: EpisodeKey) -> int:
    """A key in 63 bits, for engines that filter by integers: parts of the hash and of the position.

    Different keys may share it.
    """
    return key >> _PLACE_SHIFT << 31 | key & _POSITION_MASK


def decay_factor(time: datetime, *, now: datetime, scale_days: float) -> float:
    """Hyperbolic decay 1 / (1 + days / scale), in (0, 1]; what lies in the future has not decayed."""
    days = max(0.0, (now - time).total_seconds() / 86_400)
    return 1.0 / (1.0 + days / scale_days)
