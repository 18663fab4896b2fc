"""Stage fetch: reads the text of the best candidates, and checks once more who may see it."""

from __future__ import annotations

from collections.abc import Sequence

from mneme.episodic.v1 import episodic_pb2
from services.common.auth import Principal
from services.common.scope import Scope
from services.gateway.recall.model import RankedEpisode
from services.gateway.recall.quarantine import is_visible
from services.gateway.upstream import Upstream


class Fetch:
    """Reads episodes."""

    def __init__(self, upstream: Upstream) -> None:
        """Asks the episodic tier."""
        self._upstream = upstream

    async def __call__(
        self,
        principal: Principal,
        user_id: str,
        ranked: Sequence[RankedEpisode],
        *,
        reader: Scope,
        timeout_seconds: float,
    ) -> list[tuple[RankedEpisode, episodic_pb2.Episode]]:
        """Returns the ranked episodes with their content, without those that are gone or out of scope.

        Raises:
            MnemeError: The tier did not answer.
        """
        if not ranked:
            return []
        response = await self._upstream.episodic.batch_get(
            principal,
            episodic_pb2.BatchGetEpisodesRequest(
                user_id=user_id, episode_ids=[candidate.episode_id for candidate in ranked]
            ),
            timeout_seconds=timeout_seconds,
        )
        episodes = {episode.episode_id: episode for episode in response.episodes}
        found = [(candidate, episodes.get(candidate.episode_id)) for candidate in ranked]
        return [
            (candidate, episode)
            for candidate, episode in found
            if episode is not None and is_visible(episode.scope, episode.HasField("scope"), reader)
        ]
