"""What a piece of an episode looks like in a vector index, whichever engine holds it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final
from uuid import UUID

from qdrant_edge import Bm25, Bm25Config

from services.episodic.comparison_store import IndexedEpisode
from services.episodic.index_config import TextSettings
from services.episodic.model import EpisodeKey, Owner, TenantId, UserId, place
from services.episodic.store import IndexedPiece

DENSE: Final = "dense"
LEXICAL: Final = "bm25"
PIECE_BITS: Final = 16
"""Of a point's id, behind its episode's key."""
OWNER_FIELDS: Final = ("tenant", "user")
"""Of the payload, which say whose a point is."""
_BEFORE_SCOPE: Final = "\x1e"
_ID_MAX: Final = 2**128 - 1

PointReader = Callable[[UUID, int], Awaitable[Iterable[tuple[UUID, Mapping[str, Any]]]]]
"""Reads so many points from an id on, by id, with their `OWNER_FIELDS`; fewer only where there are no more."""


def create_bm25(text: TextSettings) -> Bm25:
    """What makes terms of texts."""
    return Bm25(Bm25Config(k=text.bm25_k, b=text.bm25_b, avg_len=text.bm25_avg_terms, language=text.bm25_language))


def point_id(key: EpisodeKey, number: int) -> UUID:
    """The id of a piece: the same piece has the same id, so that it is replaced when it comes again."""
    return UUID(int=key << PIECE_BITS | number)


def episode_key(identifier: UUID) -> EpisodeKey:
    """The episode that a point belongs to."""
    return EpisodeKey(identifier.int >> PIECE_BITS)


def visibility(owner: Owner, scope_key: str) -> str:
    """Owner and scope as one value: each further condition of a filter costs time."""
    return f"{owner.key}{_BEFORE_SCOPE}{scope_key}"


def scope_key_of(visibility_value: str) -> str:
    """The scope of a point, by what `visibility` made of it."""
    return visibility_value.rpartition(_BEFORE_SCOPE)[2]


def payload_of(piece: IndexedPiece) -> dict[str, Any]:
    """What searches filter by."""
    owner = piece.owner
    return {
        "owner": owner.key,
        "visibility": visibility(owner, piece.scope_key),
        "turn": place(piece.key),
        "tenant": str(owner.tenant_id),
        "user": str(owner.user_id),
        "time": piece.time.timestamp(),
    }


def id_behind(identifier: UUID) -> UUID | None:
    """The next id that a point may have; None behind the last one."""
    return UUID(int=identifier.int + 1) if identifier.int < _ID_MAX else None


async def scan_episodes(read: PointReader, *, after: EpisodeKey | None, limit: int) -> list[IndexedEpisode]:
    """See `EpisodeIndex.scan`. An episode of which there may be more points is left to the next call."""
    start = UUID(int=0) if after is None else id_behind(point_id(after, 2**PIECE_BITS - 1))
    found: dict[EpisodeKey, tuple[Owner, int]] = {}
    while start is not None:
        points = list(await read(start, limit))
        for identifier, payload in points:
            key = episode_key(identifier)
            owner, count = found.get(key) or (Owner(TenantId(payload["tenant"]), UserId(payload["user"])), 0)
            found[key] = owner, count + 1
        if len(points) < limit:
            break
        if len(found) > 1:
            found.popitem()
            break
        start = id_behind(points[-1][0])
    return [IndexedEpisode(owner=owner, key=key, piece_count=count) for key, (owner, count) in found.items()]
