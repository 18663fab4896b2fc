"""Between rows of `episodic.episodes` and the models. Pure functions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from services.common.turns import Attachment, MessageRole
from services.episodic.model import (
    Episode,
    EpisodeId,
    EpisodeKey,
    EpisodeStatus,
    NewEpisode,
    Owner,
    TenantId,
    UserId,
    episode_text,
    traits,
)
from services.episodic.store import EpisodeColumns, PendingEpisode

if TYPE_CHECKING:
    from asyncpg import Record


def insert_arguments(episodes: Sequence[NewEpisode], *, now: datetime) -> list[Any]:
    """Arguments of `postgres_sql.INSERT`: one list per column, then the time of creation."""
    values = [
        (
            e.owner.tenant_id,
            e.owner.user_id,
            e.episode_id,
            e.key,
            e.session_id,
            e.position,
            int(e.role),
            e.speaker,
            e.query,
            e.response,
            _details_json(e),
            e.confidence,
            e.importance,
            e.time,
            e.scope_key,
            int(traits(e.role, query=e.query, response=e.response, attachments=e.attachments)),
            len(e.text),
        )
        for e in episodes
    ]
    return [*(list(column) for column in zip(*values, strict=True)), now]


def episode(row: Record) -> Episode:
    """The episode of a row with the fields that `postgres_sql` reads."""
    details = row["details"]
    return Episode(
        content=NewEpisode(
            episode_id=EpisodeId(row["episode_id"]),
            owner=Owner(TenantId(row["tenant_id"]), UserId(row["user_id"])),
            session_id=row["session_id"],
            position=row["position"],
            role=MessageRole(row["role"]),
            time=row["time"],
            speaker=row["speaker"],
            query=row["query"],
            response=row["response"],
            attachments=_attachments(details),
            sources=tuple(details.get("sources", ())),
            confidence=row["confidence"],
            importance=row["importance"],
            scope_key=row["scope_key"],
            metadata=details.get("metadata", {}),
        ),
        feedback=row["feedback"],
        access_count=row["access_count"],
        last_access_time=row["last_access_time"],
        create_time=row["create_time"],
        status=EpisodeStatus(row["status"]),
    )


def pending(row: Record) -> PendingEpisode:
    """The episode of a row of `claim_pending`."""
    return PendingEpisode(
        owner=Owner(TenantId(row["tenant_id"]), UserId(row["user_id"])),
        episode_id=EpisodeId(row["episode_id"]),
        key=EpisodeKey(row["episode_key"]),
        scope_key=row["scope_key"],
        text=episode_text(row["query"], row["response"], _attachments(row["details"])),
        time=row["event_time"],
        attempts=row["index_attempts"],
    )


def columns(rows: Sequence[Record]) -> EpisodeColumns:
    """Rows turned into columns. Rows may have further fields behind the ten of the columns."""
    if not rows:
        return EpisodeColumns(
            keys=[],
            episode_ids=[],
            session_ids=[],
            positions=[],
            speakers=[],
            times=[],
            lengths=[],
            traits=[],
            feedbacks=[],
            importances=[],
        )
    lists = [list(column) for column in zip(*rows, strict=True)]
    return EpisodeColumns(
        keys=lists[0],
        episode_ids=lists[1],
        session_ids=lists[2],
        positions=lists[3],
        speakers=lists[4],
        times=lists[5],
        lengths=lists[6],
        traits=lists[7],
        feedbacks=lists[8],
        importances=lists[9],
    )


def _details_json(e: NewEpisode) -> str:
    details: dict[str, Any] = {}
    if e.attachments:
        details["attachments"] = [[a.uri, a.mime_type, a.caption] for a in e.attachments]
    if e.sources:
        details["sources"] = e.sources
    if e.metadata:
        details["metadata"] = dict(e.metadata)
    return json.dumps(details, ensure_ascii=False)


def _attachments(details: dict[str, Any]) -> tuple[Attachment, ...]:
    return tuple(Attachment(*values) for values in details.get("attachments", ()))
