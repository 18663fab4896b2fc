"""Use cases of the episodic tier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

import structlog

from services.common.cache import OwnerCache
from services.common.clock import Clock
from services.common.decay import SECONDS_PER_DAY, hyperbolic
from services.common.embedding.embedder import Embedder
from services.common.embedding.tokens import TextEncoding
from services.common.errors import AlreadyExists, MnemeError, NotFound, StoreUnavailable
from services.common.idempotency.model import IdempotencyKey
from services.common.scope import Reader, Scope, is_seen
from services.episodic.access import AccessRecorder
from services.episodic.archived import ArchivedCandidates
from services.episodic.candidates import CandidateQuery, Candidates, CandidateSearch, Statistics
from services.episodic.config import EpisodicSettings
from services.episodic.indexer import EpisodeIndexer
from services.episodic.model import (
    Episode,
    EpisodeId,
    EpisodeStatus,
    NewEpisode,
    Owner,
    TenantId,
    decay_factor,
)
from services.episodic.removal_store import Deleted, EpisodeSelection
from services.episodic.similar import ScoredEpisode, SearchQuery
from services.episodic.store import (
    EpisodeCursor,
    EpisodeFilter,
    EpisodeIndex,
    EpisodeStore,
    EpisodeUse,
    IndexQuery,
)
from services.episodic.timed import TimedCandidates
from services.episodic.token_search import TokenSearch

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreItem:
    """One episode of a batch as it came in: what it asks for, or why it cannot be."""

    episode_id: str  # as it was sent
    episode: NewEpisode | MnemeError
    pieces: Sequence[TextEncoding] = ()  # encodings of the text's pieces, where the caller has them


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreResult:
    """What became of one item."""

    episode_id: str
    created: bool = False
    deleted: bool = False  # it was deleted before, and nothing was stored
    status: EpisodeStatus | None = None  # None on failure, or where it was deleted
    error: MnemeError | None = None


@dataclass(frozen=True, slots=True)
class Deletion:
    """What is to be deleted."""

    tenant_id: TenantId
    owner: Owner | None  # None: everything of the tenant
    selection: EpisodeSelection  # of the owner's episodes


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodePage:
    """One page of a list."""

    episodes: Sequence[Episode]
    next_cursor: EpisodeCursor | None  # None on the last page


class EpisodeService:
    """What the tier can do, for callers that are already authorised. Requests come checked by `convert`."""

    def __init__(
        self,
        *,
        store: EpisodeStore,
        index: EpisodeIndex,
        indexer: EpisodeIndexer,
        accesses: AccessRecorder,
        embedder: Embedder,
        clock: Clock,
        settings: EpisodicSettings | None = None,
        cache: OwnerCache | None = None,
    ) -> None:
        """Work on the given parts, which the caller starts and closes."""
        self._store = store
        self._index = index
        self._indexer = indexer
        self._accesses = accesses
        self._embedder = embedder
        self._clock = clock
        self._settings = settings or EpisodicSettings()
        self._cache = cache = cache or OwnerCache()
        tokens = self._settings.tokens
        space = embedder.tokens if tokens.stored else None
        self._tokens = TokenSearch(store, space, cache, tokens) if space is not None else None
        self._candidates = CandidateSearch(
            store,
            index,
            cache,
            cached_episodes_max=self._settings.cached_episodes_max,
            report_loss=indexer.compare_soon,
            on_removal=self._tokens.forget if self._tokens is not None else lambda _: None,
        )
        self._archived = ArchivedCandidates(
            store, embedder, self._settings.text, count_max=self._settings.archived_candidates
        )
        self._timed = TimedCandidates(store, self._candidates, count_max=self._settings.timed_candidates)

    async def aclose(self) -> None:
        """Stop what it does in the background. Closing twice is allowed."""
        if self._tokens is not None:
            await self._tokens.aclose()

    async def store_episodes(
        self, tenant_id: TenantId, items: Sequence[StoreItem], *, wait_until_active: bool
    ) -> list[StoreResult]:
        """Store what can be stored, durably, and say for each item what became of it, in order.

        With `wait_until_active`, returns when searches see the new episodes; the deadline is the caller's,
        and they stay stored when it passes.

        Raises:
            StoreUnavailable: Nothing was stored.
        """
        good = [item for item in items if isinstance(item.episode, NewEpisode)]
        episodes = [item.episode for item in good if isinstance(item.episode, NewEpisode)]
        outcomes = await self._store.insert(tenant_id, episodes, now=self._clock.now())
        created = [
            (item, episode) for item, episode, outcome in zip(good, episodes, outcomes, strict=True) if outcome.created
        ]
        if created:
            self._indexer.notify(
                {(episode.owner, episode.episode_id): item.pieces for item, episode in created if item.pieces}
            )
        remaining = iter(zip(episodes, outcomes, strict=True))
        results = []
        for item in items:
            if isinstance(item.episode, MnemeError):
                results.append(StoreResult(episode_id=item.episode_id, error=item.episode))
                continue
            episode, outcome = next(remaining)
            results.append(
                StoreResult(
                    episode_id=item.episode_id,
                    created=outcome.created,
                    deleted=outcome.deleted,
                    status=outcome.status,
                    error=None
                    if outcome.deleted or outcome.status is not None
                    else AlreadyExists("episode at the position", f"{episode.conversation_id}/{episode.position}"),
                )
            )
        return await self._when_active(results, episodes) if wait_until_active else results

    async def get_episode(self, owner: Owner, episode_id: EpisodeId, reader: Reader | None = None) -> Episode:
        """One episode, whatever its status.

        Raises:
            NotFound: The user has no such episode, or the reader does not see it.
        """
        found = await self.batch_get(owner, [episode_id], reader)
        if not found:
            raise NotFound("episode", str(episode_id))
        return found[0]

    async def batch_get(
        self, owner: Owner, episode_ids: Sequence[EpisodeId], reader: Reader | None = None
    ) -> list[Episode]:
        """Those that exist and that the reader sees, in the order asked for."""
        found = await self._store.get(owner, episode_ids)
        episodes = [found[episode_id] for episode_id in episode_ids if episode_id in found]
        return [one for one in episodes if is_seen(Scope.from_key(one.content.scope_key), reader)]

    async def list_episodes(
        self, owner: Owner, query: EpisodeFilter, *, page_size: int, after: EpisodeCursor | None
    ) -> EpisodePage:
        """A page of the user's episodes, newest first, ties by id (highest first)."""
        found = await self._store.list_episodes(owner, query, limit=page_size + 1, after=after)
        episodes = found[:page_size]
        last = episodes[-1].content if len(found) > page_size else None
        return EpisodePage(
            episodes=episodes,
            next_cursor=None if last is None else EpisodeCursor(last.time, last.episode_id),
        )

    async def search(self, query: SearchQuery) -> list[ScoredEpisode]:
        """The active episodes with the highest similarity x decay x feedback factor, best first, ties by id.

        Decay and feedback reorder the most similar `limit` x `overfetch_factor` episodes. Those found count as used.
        As of a time, episodes that were archived since are among them; see `SearchQuery`.

        Raises:
            StoreUnavailable: The index or the store cannot be asked.
        """
        scoring = self._settings.scoring
        vector = query.vector if query.vector is not None else await self._embedder.embed_query(query.text)
        # Without words there are no lexical hits.
        index_query = IndexQuery(owner=query.owner, text="", vector=vector, scope_keys=query.scope_keys)
        limit = query.limit * scoring.overfetch_factor
        if query.known_at is not None:  # many may have been recorded later
            limit = max(limit, self._settings.former_candidates)
        hits = await self._index.search(index_query, limit=limit)
        active = await self._store.columns_at(query.owner, list(hits.dense), scope_keys=query.scope_keys)
        found = [(active, [hits.dense[key] for key in active.keys])]
        archived_after = query.archived_after(self._clock.now())
        if archived_after is not None and self._settings.archived_candidates:
            found.append(
                await self._archived.similar(
                    query.owner, query.text, vector, scope_keys=query.scope_keys, archived_after=archived_after
                )
            )
        now = (query.held_at or self._clock.now()).timestamp()
        scored: list[tuple[float, bytes, float]] = []
        seen: set[bytes] = set()  # one that is archived at this moment may be in both
        for columns, similarities in found:
            for i, similarity in enumerate(similarities):
                if columns.episode_ids[i] not in seen and query.knows(columns.episode_ids[i]):
                    seen.add(columns.episode_ids[i])
                    days = max(0.0, (now - columns.times[i]) / 86_400)
                    factor = self._feedback_factor(columns.feedbacks[i]) / (1.0 + days / scoring.decay_scale_days)
                    scored.append((-similarity * factor, columns.episode_ids[i], similarity))
        best = sorted(scored)[: query.limit]
        episodes = await self._store.get(query.owner, [EpisodeId(UUID(bytes=name)) for _, name, _ in best])
        scored_episodes = [
            ScoredEpisode(episode=episode, score=-negative_score, similarity=similarity)
            for negative_score, name, similarity in best
            if (episode := episodes.get(EpisodeId(UUID(bytes=name)))) is not None
        ]
        self._accesses.record(query.owner, [one.episode.content.episode_id for one in scored_episodes])
        return scored_episodes

    async def search_candidates(self, query: CandidateQuery) -> Candidates:
        """Coarse evidence for a retrieval pipeline: see `CandidateSearch`, `TimedCandidates`, `ArchivedCandidates`."""
        found = await self._candidates.search(query)
        if query.spans and self._settings.timed_candidates:
            found = await self._timed.added(query, found, query.spans)
        if query.archived_after is not None and self._settings.archived_candidates:
            found = await self._archived.added(query, found, query.archived_after)
        if self._tokens is not None and query.tokens is not None:
            found = replace(found, late=await self._tokens.scores(query.owner, query.tokens, found))
        return replace(found, statistics=await self._statistics(query.owner, found)) if query.with_statistics else found

    async def record_feedback(
        self, owner: Owner, episode_ids: Sequence[EpisodeId], feedback: int, *, key: IdempotencyKey
    ) -> list[EpisodeId]:
        """Set the feedback of those that exist, and return their ids. A repeat returns the first result.

        Raises:
            InvalidArgument: The request id was used for another request.
        """
        return await self._store.set_feedback(owner, episode_ids, feedback, key=key, now=self._clock.now())

    async def archive(self, owner: Owner, selection: EpisodeSelection, *, key: IdempotencyKey) -> int:
        """Take episodes out of search, and return how many. Repeats as in `record_feedback`.

        What the store says holds for every search at once. Points that the index could not remove take places among
        its hits until the orphan collection removes them.
        """
        archived = await self._store.archive(owner, selection, key=key, now=self._clock.now())
        try:
            await self._index.remove(owner, archived.keys)
        except StoreUnavailable as error:
            _log.warning("points of archived episodes are left in the index for now", error=str(error))
            self._indexer.compare_soon()
        return archived.count

    async def restore(self, owner: Owner, selection: EpisodeSelection, *, key: IdempotencyKey) -> int:
        """Have archived episodes indexed again, and return how many. Repeats as in `record_feedback`."""
        count = await self._store.restore(owner, selection, key=key, now=self._clock.now())
        self._indexer.notify()
        return count

    async def delete(self, deletion: Deletion, *, key: IdempotencyKey) -> Deleted:
        """Delete episodes from the store and the index, and return what went. Repeats as in `record_feedback`.

        Raises:
            StoreUnavailable: What the store has deleted may still have points in the index. A repeat of the request
                removes them, as does the orphan collection.
        """
        now, owner = self._clock.now(), deletion.owner
        if owner is not None:
            deleted = await self._store.delete(owner, deletion.selection, key=key, now=now)
            await self._remove_points(owner, deletion.selection)
            return deleted
        deleted = await self._store.delete_tenant(deletion.tenant_id, key=key, now=now)
        for each in await self._store.deleted_owners(deletion.tenant_id):
            await self._remove_points(each, deletion.selection)
        return deleted

    def record_access(self, owner: Owner, episode_ids: Sequence[EpisodeId]) -> None:
        """Count that episodes were used; written later, in the background."""
        self._accesses.record(owner, episode_ids)

    async def write_accesses(self) -> None:
        """Writes the access statistics that are still counted in memory.

        Raises:
            StoreUnavailable: They were not written, and stay counted.
        """
        await self._accesses.flush()

    def decay_factor(self, episode: Episode, at: datetime | None = None) -> float:
        """How far the episode has decayed by a time, by now where None, in (0, 1]."""
        scale_days = self._settings.scoring.decay_scale_days
        return decay_factor(episode.content.time, now=at or self._clock.now(), scale_days=scale_days)

    def decay_factors(self, times: Sequence[float]) -> list[float]:
        """The same of episodes that happened at these times, in seconds since the epoch."""
        now, scale_days = self._clock.now().timestamp(), self._settings.scoring.decay_scale_days
        factors: list[float] = hyperbolic(
            [(now - time) / SECONDS_PER_DAY for time in times], scale_days=scale_days
        ).tolist()
        return factors

    async def _statistics(self, owner: Owner, found: Candidates) -> Statistics:
        """The use of candidates; one that was removed meanwhile was never used."""
        uses = await self._store.uses(owner, found.columns.keys)
        return Statistics(
            uses=[uses.get(key, EpisodeUse(0, None, None)) for key in found.columns.keys],
            decay_factors=self.decay_factors(found.columns.times),
        )

    async def _remove_points(self, owner: Owner, selection: EpisodeSelection) -> None:
        """Remove the points of deleted episodes, but none of a newer episode at the place of a deleted one."""
        # Other replicas find out by the revision, before their next search of the owner.
        self._cache.forget((owner.tenant_id, owner.user_id))
        is_empty = selection.is_everything and not await self._store.list_episodes(
            owner, EpisodeFilter(), limit=1, after=None
        )
        if is_empty:
            await self._index.remove_owner(owner)
        else:
            await self._index.remove(owner, await self._store.deleted_keys(owner, selection))

    def _feedback_factor(self, feedback: int) -> float:
        scoring = self._settings.scoring
        return {1: scoring.feedback_factor_good, -1: scoring.feedback_factor_bad}.get(feedback, 1.0)

    async def _when_active(self, results: Sequence[StoreResult], episodes: Sequence[NewEpisode]) -> list[StoreResult]:
        """The results once nothing of them is pending."""
        waiting: dict[Owner, list[EpisodeId]] = {}
        for episode in episodes:
            waiting.setdefault(episode.owner, []).append(episode.episode_id)
        statuses: dict[str, EpisodeStatus] = {}
        for owner, episode_ids in waiting.items():
            found = await self._indexer.wait_active(owner, episode_ids)
            statuses.update({str(episode_id): status for episode_id, status in found.items()})
        return [
            replace(result, status=statuses.get(str(UUID(result.episode_id)), result.status))
            if result.status is not None
            else result
            for result in results
        ]
