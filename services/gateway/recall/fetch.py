"""Stage fetch: reads the text of the best candidates, and checks once more who may see it."""

from __future__ import annotations

from collections.abc import Sequence

from mneme.episodic.v1 import episodic_pb2
from services.common.auth import Principal
from services.common.scope import Reader
from services.gateway.recall.model import RankedEpisode, RecallSettings
from services.gateway.recall.quarantine import is_visible
from services.gateway.upstream import Upstream


class Fetch:
    """Reads episodes."""

    def __init__(self, upstream: Upstream, *, text_chars_max: int | None = None) -> None:
        """Asks the episodic tier for texts of at most `text_chars_max` characters together; None means the default."""
        self._upstream = upstream
        self._text_chars_max = text_chars_max or RecallSettings().text_chars_max

    async def __call__(
        self,
        principal: Principal,
        user_id: str,
        ranked: Sequence[RankedEpisode],
        *,
        reader: Reader,
        timeout_seconds: float,
    ) -> list[tuple[RankedEpisode, episodic_pb2.Episode]]:
        """Returns the ranked episodes with their content, without those that are gone or out of scope.

        Where the texts of all are too long for one answer, those of the lowest ranks are left out.

        Raises:
            MnemeError: The tier did not answer.
        """
        if not ranked:
            return []
        ranked = self._that_fit(ranked)
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

    def _that_fit(self, ranked: Sequence[RankedEpisode]) -> Sequence[RankedEpisode]:
        """The best ones whose texts fit together; the best one in any case."""
        chars = 0
        for count, candidate in enumerate(ranked):
            chars += candidate.text_chars
            if chars > self._text_chars_max:
                return ranked[: max(count, 1)]
        return ranked
