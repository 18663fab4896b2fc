"""Pending episodes that one worker has claimed, in PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from services.common.encryption.postgres import DataKeys
from services.common.postgres.types import Connection
from services.episodic.retention_store import FadingRule
from services.episodic.store import UNASSESSED, Assessment, PendingEpisode
from services.episodic.stores import postgres_rows as rows
from services.episodic.stores.postgres_tokens import put_tokens
from services.episodic.token_format import PackedTokens
from services.episodic.token_store import EpisodeName


class PostgresPendingBatch:
    """Rows locked by a transaction."""

    def __init__(
        self,
        connection: Connection,
        episodes: Sequence[PendingEpisode],
        model: str,
        keys: DataKeys,
        fading: FadingRule,
    ) -> None:
        """Wrap the transaction's connection and what it locked."""
        self._fading = fading
        self._connection = connection
        self._keys = keys
        self._model = model
        self.episodes = episodes

    async def mark_active(
        self,
        episodes: Sequence[PendingEpisode],
        piece_counts: Sequence[int],
        tokens: Mapping[EpisodeName, PackedTokens] | None = None,
        assessments: Sequence[Assessment] = (),
    ) -> None:
        """See `PendingBatch.mark_active`."""
        found = assessments or [UNASSESSED] * len(episodes)
        summaries = await self._sealed(episodes, [assessment.summary for assessment in found])
        await self._connection.execute(
            "SELECT episodic.mark_active($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            [str(episode.owner.tenant_id) for episode in episodes],
            [str(episode.owner.user_id) for episode in episodes],
            [episode.episode_id for episode in episodes],
            list(piece_counts),
            self._model,
            [assessment.importance for assessment in found],
            summaries,
            self._fading.scale_days,
            self._fading.strength_min,
        )
        if tokens:
            await put_tokens(self._connection, tokens.items())

    async def _sealed(self, episodes: Sequence[PendingEpisode], summaries: Sequence[str]) -> list[str]:
        """Summaries as they are stored; most are empty."""
        if not self._keys.is_on or not any(summaries):
            return list(summaries)
        await self._connection.execute("SELECT set_config('mneme.worker', 'on', true)")  # keys of several tenants
        users: dict[str, set[str]] = {}
        for episode in episodes:
            users.setdefault(str(episode.owner.tenant_id), set()).add(str(episode.owner.user_id))
        ciphers = {
            tenant_id: await self._keys.for_writing(self._connection, tenant_id, of_tenant)
            for tenant_id, of_tenant in sorted(users.items())
        }
        return [
            ciphers[str(episode.owner.tenant_id)]
            .of(str(episode.owner.tenant_id), str(episode.owner.user_id))
            .seal(str(episode.episode_id), rows.EPISODES.field("summary"), summary)
            for episode, summary in zip(episodes, summaries, strict=True)
        ]

    async def defer(self, episode: PendingEpisode, *, until: datetime) -> None:
        """See `PendingBatch.defer`."""
        await self._connection.execute(
            "SELECT episodic.defer_pending($1, $2, $3, $4)",
            episode.owner.tenant_id,
            episode.owner.user_id,
            episode.episode_id,
            until,
        )
