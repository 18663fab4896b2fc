"""Stage fetch: reads the text of the best candidates, and checks once more who may see it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mneme.episodic.v1 import episodic_pb2
from services.common.auth import Principal
from services.common.paging import fitting
from services.common.scope import Reader
from services.gateway.recall.model import RankedEpisode
from services.gateway.recall.settings import RecallSettings
from services.gateway.recall.stages.quarantine import is_visible
from services.gateway.upstream import Upstream

TOO_LONG: Final = "the texts of the lowest ranks would have made the response too long"


@dataclass(frozen=True, slots=True)
class Fetched:
    """Ranked episodes with their content."""

    found: tuple[tuple[RankedEpisode, episodic_pb2.Episode], ...]
    reason: str = ""  # why some were not read; empty where all were


class Fetch:
    """Reads episodes."""

    def __init__(self, upstream: Upstream, settings: RecallSettings) -> None:
        """Asks the episodic tier for no more texts than the settings allow for one response."""
        self._upstream = upstream
        self._text_chars_max = settings.text_chars_max
        self._bytes_max = settings.response_bytes_max

    async def __call__(
        self,
        principal: Principal,
        user_id: str,
        ranked: Sequence[RankedEpisode],
        *,
        reader: Reader,
        timeout_seconds: float,
    ) -> Fetched:
        """Returns the ranked episodes with their content, without those that are gone or out of scope.

        Where all of them together are too long for one response, those of the lowest ranks are left out.

        Args:
            principal: On whose behalf.
            user_id: Whose memories.
            ranked: Which of them, best first.
            reader: What it may see.
            timeout_seconds: For all of it.

        Raises:
            MnemeError: The tier did not respond.
        """
        if not ranked:
            return Fetched(())
        fitting_ranks = self._that_fit(ranked)
        wanted = [candidate.episode_id for candidate in fitting_ranks]
        read, is_cut = await self._read(principal, user_id, wanted, timeout_seconds=timeout_seconds)
        episodes = {episode.episode_id: episode for episode in read}
        found = [(candidate, episodes.get(candidate.episode_id)) for candidate in fitting_ranks]
        return Fetched(
            tuple(
                (candidate, episode)
                for candidate, episode in found
                if episode is not None and is_visible(episode.scope, episode.HasField("scope"), reader)
            ),
            reason=TOO_LONG if is_cut or len(fitting_ranks) < len(ranked) else "",
        )

    async def _read(
        self, principal: Principal, user_id: str, wanted: Sequence[str], *, timeout_seconds: float
    ) -> tuple[Sequence[episodic_pb2.Episode], bool]:
        """The episodes that exist, in order, in parts where the tier responds in parts, until a response is full.

        Returns:
            The episodes, and whether there are more.
        """
        ends = time.monotonic() + timeout_seconds
        read: list[episodic_pb2.Episode] = []
        while wanted:
            response = await self._upstream.episodic.batch_get(
                principal,
                episodic_pb2.BatchGetEpisodesRequest(user_id=user_id, episode_ids=wanted),
                timeout_seconds=max(0.0, ends - time.monotonic()),
            )
            read += response.episodes
            count = fitting(read, bytes_max=self._bytes_max)
            if count < len(read):
                return read[:count], True
            wanted = response.omitted_episode_ids if response.episodes else ()
        return read, False

    def _that_fit(self, ranked: Sequence[RankedEpisode]) -> Sequence[RankedEpisode]:
        """The best ones whose texts fit together; the best one in any case."""
        chars = 0
        for count, candidate in enumerate(ranked):
            chars += candidate.text_chars
            if chars > self._text_chars_max:
                return ranked[: max(count, 1)]
        return ranked
