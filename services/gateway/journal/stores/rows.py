"""Between rows of the journal's tables and its model."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

import asyncpg

from services.common.encryption.cipher import Cipher
from services.common.encryption.postgres import DataKeys
from services.common.encryption.rows import Form, Row, SealedTable, opened_rows
from services.common.errors import NotFound
from services.common.idempotency.model import request_id_reused
from services.common.postgres.types import Connection
from services.common.scope import Scope
from services.common.turns import Attachment, MessageRole, Turn
from services.gateway.grants.model import MemoryKind
from services.gateway.journal.gate import GateReason, Verdict
from services.gateway.journal.model import (
    Appended,
    Feedback,
    Interaction,
    RecallRecord,
    SequenceSpan,
    Tier,
    TierBacklog,
)

INTERACTIONS: Final = SealedTable(
    "interactions", ("interaction_id",), {"content": Form.TEXT, "speaker": Form.NAME, "extra": Form.JSON}
)
SPEAKERS: Final = SealedTable("speakers", (), {"speaker": Form.NAME})
RECALLS: Final = SealedTable("recalls", ("recall_id",), {"query": Form.TEXT})
DELIVERIES: Final = SealedTable("deliveries", ("subject_id",), {"payload": Form.BYTES})
DOCUMENTS: Final = SealedTable(
    "documents", ("namespace", "key"), {"value": Form.TEXT, "search_texts": Form.JSON}, has_text_key=True
)
SEALED_TABLES: Final = (INTERACTIONS, SPEAKERS, RECALLS, DELIVERIES, DOCUMENTS)
"""What of the journal is encrypted, where encryption is on; responses to requests are sealed by who stores them."""

INTERACTION_COLUMNS: Final = (
    "i.tenant_id, i.interaction_id, i.user_id, i.conversation_id, i.position, i.role, i.speaker, i.content,"
    " i.said_time, i.extra, i.scope_key, i.gate_reason, i.gate_detail, i.create_time"
)

BACKLOG: Final = (
    "SELECT tier, count(*) FILTER (WHERE given_up_time IS NULL), count(*) FILTER (WHERE given_up_time IS NOT NULL),"
    " min(create_time) FILTER (WHERE given_up_time IS NULL) FROM gateway.deliveries"
)

_SPEAKERS_OF: Final = """
    SELECT tenant_id, user_id, interaction_id, role, speaker FROM gateway.interactions
    WHERE tenant_id = $1 AND user_id = $2 AND interaction_id = ANY($3)
"""

_KNOWN: Final = """
    SELECT interaction_id FROM gateway.interactions WHERE tenant_id = $1 AND interaction_id = ANY($2)
    UNION ALL
    SELECT interaction_id FROM gateway.tombstones WHERE tenant_id = $1 AND interaction_id = ANY($3)
"""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def backlog(found: Iterable[asyncpg.Record]) -> Sequence[TierBacklog]:
    """Counts of each tier, from rows of `BACKLOG` grouped by tier."""
    counts = {row[0]: row for row in found}
    empty = (0, 0, 0, None)
    return [TierBacklog(tier, *tuple(counts.get(int(tier), empty))[1:]) for tier in Tier]


def memories(row: Row) -> tuple[tuple[MemoryKind, str], ...]:
    """Kinds and ids of memories, from the columns kinds and memory_ids."""
    return tuple(zip(map(MemoryKind, row["kinds"]), map(str, row["memory_ids"]), strict=True))


def feedback(row: Row) -> Feedback:
    """A judgement from its columns."""
    return Feedback(
        tenant_id=row["tenant_id"],
        feedback_id=str(row["feedback_id"]),
        user_id=row["user_id"],
        memories=memories(row),
        value=row["value"],
        recall=None if row["recall"] is None else recall_of(row["recall"]),
    )


def turn_extra(turn: Turn) -> dict[str, Any] | None:
    """What few turns have, as one document; None where there is nothing of it."""
    extra: dict[str, Any] = {}
    if turn.attachments:
        extra["attachments"] = [[a.uri, a.mime_type, a.caption] for a in turn.attachments]
    if turn.confidence is not None:
        extra["confidence"] = turn.confidence
    if turn.importance is not None:
        extra["importance"] = turn.importance
    if turn.sources:
        extra["sources"] = list(turn.sources)
    if turn.metadata:
        extra["metadata"] = dict(turn.metadata)
    return extra or None


def sealed_turn(cipher: Cipher, interaction_id: UUID, turn: Turn) -> dict[str, Any]:
    """The columns speaker, content and extra of a turn, as they are stored."""
    values = {
        "interaction_id": interaction_id,
        "speaker": turn.speaker,
        "content": turn.content,
        "extra": turn_extra(turn),
    }
    return INTERACTIONS.seal(cipher, values)


def sealed_query(cipher: Cipher, record: RecallRecord) -> str:
    """The query of a recall, as it is stored."""
    sealed: str = RECALLS.seal(cipher, {"recall_id": UUID(record.recall_id), "query": record.query})["query"]
    return sealed


def recall_of(row: Row) -> RecallRecord:
    """A recall from a row of its table, or the same as JSON."""
    created = row["create_time"]
    return RecallRecord(
        tenant_id=row["tenant_id"],
        recall_id=str(row["recall_id"]),
        user_id=row["user_id"],
        memories=memories(row),
        create_time=datetime.fromisoformat(created) if isinstance(created, str) else created,
        query=row["query"],
        scope=Scope.from_key(row["scope_key"]),
        procedure_ids=tuple(map(str, row["procedure_ids"])),
    )


def interaction(row: Row) -> Interaction:
    """An interaction from a row with `INTERACTION_COLUMNS`, opened."""
    extra = row["extra"] or {}
    turn = Turn(
        role=MessageRole(row["role"]),
        content=row["content"],
        time=row["said_time"],
        speaker=row["speaker"],
        attachments=tuple(Attachment(*parts) for parts in extra.get("attachments", ())),
        confidence=extra.get("confidence"),
        importance=extra.get("importance"),
        sources=tuple(extra.get("sources", ())),
        metadata=extra.get("metadata", {}),
    )
    return Interaction(
        tenant_id=row["tenant_id"],
        interaction_id=str(row["interaction_id"]),
        user_id=row["user_id"],
        conversation_id=row["conversation_id"],
        position=row["position"],
        turn=turn,
        scope=Scope.from_key(row["scope_key"]),
        create_time=row["create_time"],
        verdict=Verdict(GateReason(row["gate_reason"]), row["gate_detail"]),
    )


def appended(response: Mapping[str, Any]) -> Appended:
    """Where turns went, from the response to the request that wrote them."""
    return Appended(
        interaction_ids=tuple(response["ids"]),
        first_position=response["position"],
        span=SequenceSpan(response["first"], response["last"]),
        replayed=bool(response.get("replayed")),
        verdicts=tuple(
            Verdict(GateReason(reason), detail)
            for reason, detail in zip(response["reasons"], response["details"], strict=True)
        ),
    )


def to_micros(moment: datetime) -> int:
    """Microseconds since the epoch: the resolution of PostgreSQL's timestamps."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def from_micros(micros: str | float) -> datetime:
    """The inverse of `to_micros`."""
    return _EPOCH + timedelta(microseconds=int(micros))


def uuid_or_none(text: str) -> UUID | None:
    """The UUID, or None where the text is none."""
    try:
        return UUID(text)
    except ValueError:
        return None


def tombstone(tenant_id: str, interaction_id: UUID) -> UUID:
    """What is stored of a removed interaction: a digest of its id, by which nothing else can be joined."""
    key = f"{tenant_id}\x1f{interaction_id}".encode("utf-8", "surrogatepass")
    return UUID(bytes=hashlib.blake2b(key, digest_size=16).digest())


async def known_ids(connection: Connection, tenant_id: str, ids: Sequence[UUID]) -> frozenset[str]:
    """Those of the ids that are in the log, or were and have been removed from it."""
    by_digest = {tombstone(tenant_id, one): one for one in ids}
    found = await connection.fetch(_KNOWN, tenant_id, list(ids), list(by_digest))
    return frozenset(str(by_digest.get(row[0], row[0])) for row in found)


async def turn_speakers(
    keys: DataKeys, connection: Connection, tenant_id: str, user_id: str, ids: Sequence[UUID]
) -> dict[str, tuple[MessageRole, str]]:
    """Role and speaker of those of the ids that are in the user's log."""
    found = await connection.fetch(_SPEAKERS_OF, tenant_id, user_id, list(ids))
    opened = await opened_rows(keys, connection, INTERACTIONS, found)
    return {str(row["interaction_id"]): (MessageRole(row["role"]), row["speaker"]) for row in opened}


def checked(response: dict[str, Any]) -> dict[str, Any]:
    """What a function that claims a request id returned.

    Raises:
        InvalidArgument: The request id was used before with another request.
        NotFound: It was used before, and what the request wrote was removed since.
    """
    if response.get("reused"):
        raise request_id_reused()
    if response.get("erased"):
        raise NotFound("memory", "")
    return response


def affected(status: str) -> int:
    """How many rows a statement changed, from its command tag, such as "DELETE 3"."""
    return int(status.rpartition(" ")[2])
