"""Between rows of `episodic.episodes` and the models. Pure functions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from services.common.encryption.cipher import PLAIN, Cipher
from services.common.encryption.postgres import Ciphers
from services.common.encryption.rows import Form, Row, SealedTable
from services.common.loop_budget import LoopBudget
from services.common.turns import Attachment, MessageRole
from services.episodic.columns import EpisodeColumns
from services.episodic.comparison_store import ExpectedEpisode, IndexState
from services.episodic.model import (
    EPISODE_KEY_BYTES,
    Episode,
    EpisodeId,
    EpisodeKey,
    EpisodeStatus,
    NewEpisode,
    Owner,
    TenantId,
    UserId,
    episode_text,
)
from services.episodic.store import ColumnChanges, EpisodeUse, PendingEpisode
from services.episodic.token_store import EpisodeName, UntokenedEpisode
from services.episodic.traits import traits

if TYPE_CHECKING:
    from asyncpg import Record


EPISODES: Final = SealedTable(
    "episodes",
    ("episode_id",),
    {
        "query": Form.TEXT,
        "response": Form.TEXT,
        "summary": Form.TEXT,
        "speaker": Form.NAME,
        "details": Form.JSON,
    },
)
"""What of an episode is encrypted, where encryption is on."""


def key_bytes(key: int) -> bytes:
    """A key as the database orders it."""
    return key.to_bytes(EPISODE_KEY_BYTES, "big")


def key(data: bytes) -> EpisodeKey:
    """The key that `key_bytes` made."""
    return EpisodeKey(int.from_bytes(data, "big"))


async def insert_arguments(episodes: Sequence[NewEpisode], ciphers: Ciphers, *, now: datetime) -> list[Any]:
    """Arguments of `postgres_sql.INSERT`: one list per column, then the time of creation."""
    values = []
    budget = LoopBudget()
    for e in episodes:
        sealed = EPISODES.seal(ciphers.of(e.owner.tenant_id, e.owner.user_id), _content(e))
        values.append(
            (
                e.owner.tenant_id,
                e.owner.user_id,
                e.episode_id,
                key_bytes(e.key),
                e.conversation_id,
                e.position,
                int(e.role),
                sealed["speaker"],
                sealed["query"],
                sealed["response"],
                json.dumps(sealed["details"], ensure_ascii=False),
                e.confidence,
                e.importance,
                e.time,
                e.scope_key,
                int(traits(e.role, query=e.query, response=e.response, attachments=e.attachments)),
                len(e.text),
            )
        )
        await budget.step()
    return [*(list(column) for column in zip(*values, strict=True)), now]


def episode(row: Row) -> Episode:
    """The episode of a row with the fields that `postgres_sql` reads, opened."""
    details = row["details"]
    return Episode(
        content=NewEpisode(
            episode_id=EpisodeId(row["episode_id"]),
            owner=Owner(TenantId(row["tenant_id"]), UserId(row["user_id"])),
            conversation_id=row["conversation_id"],
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
        summary=row["summary"],
    )


def pending(row: Row) -> PendingEpisode:
    """The episode of a row of `claim_pending`, opened."""
    return PendingEpisode(
        owner=Owner(TenantId(row["tenant_id"]), UserId(row["user_id"])),
        episode_id=EpisodeId(row["episode_id"]),
        key=key(row["episode_key"]),
        scope_key=row["scope_key"],
        text=episode_text(row["query"], row["response"], _attachments(row["details"])),
        time=row["event_time"],
        attempts=row["index_attempts"],
        summary=row["summary"],
    )


def name(row: Row) -> EpisodeName:
    """The name of the episode of a row."""
    return EpisodeName(Owner(TenantId(row["tenant_id"]), UserId(row["user_id"])), EpisodeId(row["episode_id"]))


def untokened(row: Row) -> UntokenedEpisode:
    """The episode of a row of `untokened`, opened."""
    text = episode_text(row["query"], row["response"], _attachments(row["details"]))
    return UntokenedEpisode(name=name(row), text=text)


def index_state(row: Record) -> IndexState:
    """The state of a row of `index_states`."""
    owner = Owner(TenantId(row["tenant_id"]), UserId(row["user_id"]))
    return IndexState(owner=owner, other_episodes=row["other_episodes"], piece_count=row["piece_count"])


def expected_episodes(found: Sequence[Record], *, count: int) -> list[ExpectedEpisode | None]:
    """The result of `expected_episodes` for so many places, numbered from 1."""
    expected: list[ExpectedEpisode | None] = [None] * count
    for row in found:
        episode_id = EpisodeId(row["episode_id"])
        expected[row["number"] - 1] = ExpectedEpisode(episode_id=episode_id, piece_count=row["piece_count"])
    return expected


def columns(rows: Sequence[Record], cipher: Cipher = PLAIN) -> EpisodeColumns:
    """Rows of one owner turned into columns. Rows may have further fields behind those of the columns."""
    found = EpisodeColumns.of_rows(rows)
    names = {stored: cipher.open_name("speaker", stored) for stored in set(found.speakers)}
    speakers = [names[stored] for stored in found.speakers]
    return replace(found, keys=[key(row["episode_key"]) for row in rows], speakers=speakers)


def use(row: Record) -> tuple[EpisodeKey, EpisodeUse]:
    """The place and the use in a row of `postgres_sql.USES`."""
    return key(row["episode_key"]), EpisodeUse(row["access_count"], row["last_access_seconds"], row["confidence"])


def changes(found: Sequence[Record], cipher: Cipher = PLAIN, *, since: int, limit: int) -> ColumnChanges:
    """The result of `postgres_sql.CHANGES`."""
    if not found:
        # Nothing of the owner was ever searchable; a reader that thinks otherwise is wrong.
        return ColumnChanges(
            revision=0,
            begins_anew=since > 0,
            columns=columns(()),
            scope_keys=[],
            searchable=[],
            is_complete=True,
        )
    first = found[0]
    changed = () if first["episode_key"] is None else found
    return ColumnChanges(
        revision=first["revision"],
        begins_anew=first["begins_anew"],
        columns=columns(changed, cipher),
        scope_keys=[row["scope_key"] for row in changed],
        searchable=[row["status"] == EpisodeStatus.ACTIVE for row in changed],
        is_complete=len(changed) <= limit,
        indexing_again=first["indexing_again"],
    )


def _content(e: NewEpisode) -> dict[str, Any]:
    """The columns that are encrypted, and what they are bound to."""
    return {
        "episode_id": e.episode_id,
        "speaker": e.speaker,
        "query": e.query,
        "response": e.response,
        "details": _details(e),
    }


def _details(e: NewEpisode) -> dict[str, Any]:
    details: dict[str, Any] = {}
    if e.attachments:
        details["attachments"] = [[a.uri, a.mime_type, a.caption] for a in e.attachments]
    if e.sources:
        details["sources"] = list(e.sources)
    if e.metadata:
        details["metadata"] = dict(e.metadata)
    return details


def _attachments(details: dict[str, Any]) -> tuple[Attachment, ...]:
    return tuple(Attachment(*values) for values in details.get("attachments", ()))
