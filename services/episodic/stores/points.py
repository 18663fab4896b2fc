"""What a piece of an episode looks like in a vector index, whichever engine holds it."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from qdrant_edge import Bm25, Bm25Config

from services.episodic.config import TextSettings
from services.episodic.model import EpisodeKey, Owner, place
from services.episodic.store import IndexedPiece

DENSE: Final = "dense"
LEXICAL: Final = "bm25"
PIECE_BITS: Final = 16
"""Of a point's id, behind its episode's key."""


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
    return f"{owner.key}\x1e{scope_key}"


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
