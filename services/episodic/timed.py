"""A retriever by time: episodes of the times that a question names, where no other retriever found any (SPEC 5.1).

In a long history few turns of a day are like the question "What did I do on 3 May?". Where some were found, these are
the ones that are like it; only where none was, those of the time become candidates, whatever they say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from services.episodic.candidates import CandidateQuery, Candidates, CandidateSearch
from services.episodic.model import EpisodeId, EpisodeStatus
from services.episodic.store import EpisodeFilter, EpisodeStore

TIMES_MAX: Final = 16
"""Times that a question names: a month without a year may be that of each of eleven years."""

Span = tuple[datetime, datetime]
"""From a time until another one, which is not part of it; aware, UTC."""


@dataclass(frozen=True, slots=True)
class TimedCandidates:
    """Adds episodes of named times to the candidates of a search."""

    store: EpisodeStore
    search: CandidateSearch
    count_max: int  # episodes that are added

    async def added(self, query: CandidateQuery, found: Candidates, spans: Sequence[Span]) -> Candidates:
        """The candidates of the query, with episodes of the spans where there is none among them.

        The newest ones of the latest span come first. No retriever returned them, so they have scores and no ranks.

        Raises:
            StoreUnavailable: The store fails.
        """
        if len(found.columns) >= found.active_count:
            return found  # there are no others
        bounds = [(start.timestamp(), end.timestamp()) for start, end in spans]
        if any(start <= time < end for time in found.columns.times for start, end in bounds):
            return found
        ids = await self.search.of_times(query, bounds, limit=self.count_max)
        if ids is None:
            ids = await self._stored(query, spans)
        return await self.search.with_episodes(query, found, ids) if ids else found

    async def _stored(self, query: CandidateQuery, spans: Sequence[Span]) -> list[EpisodeId]:
        """The same from the store: some milliseconds for each span."""
        ids: list[EpisodeId] = []
        for start, end in sorted(spans, reverse=True):
            wanted = EpisodeFilter(status=EpisodeStatus.ACTIVE, start_time=start, end_time=end, reader=query.reader)
            episodes = await self.store.list_episodes(query.owner, wanted, limit=self.count_max - len(ids), after=None)
            ids += [episode.content.episode_id for episode in episodes]
            if len(ids) == self.count_max:
                break
        return ids
