"""Stage profile: what the user's profile asks of a recall.

The profile is read together with the user's procedures, and cached for some seconds; procedures are sent anew only
where they have changed. Which turns come from which source is read from the journal, for users with preferred or
excluded sources alone.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, Protocol, TypeVar

import structlog

from mneme.semantic.internal.v1 import semantic_pb2
from services.common.auth import Principal
from services.common.cache import CacheKind, OwnerCache
from services.common.convert import scope_from_proto, scope_to_proto
from services.common.errors import MnemeError
from services.common.scope import Scope
from services.common.sources import names_any
from services.gateway.journal.store import JournalReader
from services.gateway.recall.columns import episode_id_text
from services.gateway.recall.model import (
    AppliedProfile,
    CoarseResult,
    OwnerReading,
    RankedEpisode,
    RecalledFact,
    RecalledNote,
    RecallQuery,
    TurnSources,
    confidence_now,
)
from services.gateway.recall.patterns import NO_PATTERNS, Pattern, PatternKind, Patterns
from services.gateway.recall.settings import RecallSettings
from services.gateway.recall.stages.clock import StageClock
from services.gateway.recall.superseded import successors
from services.gateway.upstream import Upstream

_log = structlog.get_logger(__name__)

PART: Final = "preferred_source"
"""The part of a score that a preferred source adds."""

_Cached = tuple[float, AppliedProfile]
_Derived = TypeVar("_Derived", RecalledFact, RecalledNote)


class ProfileReader(Protocol):
    """Reads what a profile asks of a recall, and the user's procedures."""

    async def read(self, principal: Principal, user_id: str, scope: Scope, *, timeout_seconds: float) -> OwnerReading:
        """The profile for a reader, and the procedures of all places.

        Raises:
            MnemeError: It cannot be read.
        """
        ...

    async def sources(self, principal: Principal, profile: AppliedProfile, coarse: CoarseResult) -> TurnSources:
        """Which of the candidates, and of the turns that facts and notes rest on, name a source of the profile.

        Raises:
            MnemeError: It cannot be read.
        """
        ...


class CachedProfiles:
    """A `ProfileReader` that caches profiles. What changes here holds at once, other changes after some seconds."""

    def __init__(
        self,
        upstream: Upstream,
        journal: JournalReader,
        settings: RecallSettings,
        *,
        cache: OwnerCache | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Reads profiles from the semantic tier, and sources of turns from the journal."""
        self._upstream = upstream
        self._journal = journal
        self._settings = settings
        self._monotonic = monotonic
        self._patterns: CacheKind[Patterns] = (cache or OwnerCache()).kind("procedures")
        self._known: OrderedDict[tuple[str, str], dict[str, _Cached]] = OrderedDict()  # by owner, then by place
        self._changes = 0  # made here; what was read while one was made may be from before it
        self.on_read: Callable[[str, str], None] = lambda _tenant, _user: None
        """Is called with tenant and user whenever a profile is read from the tier."""

    async def read(self, principal: Principal, user_id: str, scope: Scope, *, timeout_seconds: float) -> OwnerReading:
        """See `ProfileReader`. Where the tier is away, what is cached is used however old it is."""
        owner, place = (principal.tenant_id, user_id), scope.key
        cached, patterns = self._known.get(owner, {}).get(place), self._patterns.get(owner)
        is_fresh = cached is not None and self._monotonic() - cached[0] < self._settings.profile_cache_seconds
        if cached is not None and patterns is not None and is_fresh:
            return OwnerReading(cached[1], patterns)
        self.on_read(*owner)
        asked, changes = self._monotonic(), self._changes
        request = semantic_pb2.GetReadingProfileRequest(
            user_id=user_id,
            reader_scope=scope_to_proto(scope),
            cached_procedures_revision=None if patterns is None else patterns.revision,
        )
        try:
            response = await self._upstream.profile.for_reading(principal, request, timeout_seconds=timeout_seconds)
        except MnemeError:
            if cached is not None:
                return OwnerReading(cached[1], patterns or NO_PATTERNS)
            raise
        if patterns is None or patterns.revision != response.procedures_revision:
            patterns = _patterns(response)
            self._patterns.put(owner, patterns)
        profile = AppliedProfile(
            tuple(response.preferred_sources), tuple(response.excluded_sources), response.fact_confidence_min
        )
        if changes == self._changes:
            self._known.setdefault(owner, {})[place] = (asked, profile)
            self._known.move_to_end(owner)
            if len(self._known) > self._settings.cached_profiles_max:
                self._known.popitem(last=False)
        return OwnerReading(profile, patterns)

    async def sources(self, principal: Principal, profile: AppliedProfile, coarse: CoarseResult) -> TurnSources:
        """See `ProfileReader`. One statement of the journal."""
        ids = {episode_id_text(raw) for raw in coarse.episodes.ids} if coarse.episodes is not None else set()
        ids.update(source for hit in coarse.facts for source in hit.fact.derived_from)
        ids.update(source for hit in coarse.notes for source in hit.note.derived_from)
        ids.update(successors(coarse.superseded, ids))
        named = await self._journal.turn_sources(principal.tenant_id, sorted(ids))
        return TurnSources(
            excluded=frozenset(i for i, sources in named.items() if names_any(sources, profile.excluded_sources)),
            preferred=frozenset(i for i, sources in named.items() if names_any(sources, profile.preferred_sources)),
        )

    def expire(self, tenant_id: str, user_id: str) -> None:
        """Reads the profile anew for the next recall, and the procedures where they have changed."""
        self._changes += 1
        self._known.pop((tenant_id, user_id), None)

    def forget(self, tenant_id: str, user_id: str) -> None:
        """Evicts what is cached of a user."""
        self.expire(tenant_id, user_id)
        self._patterns.forget((tenant_id, user_id))


def _patterns(response: semantic_pb2.GetReadingProfileResponse) -> Patterns:
    """The procedures of a response. Kinds that this gateway does not know are left out."""
    known = {int(kind) for kind in PatternKind}
    return Patterns.of(
        (
            Pattern(
                trigger=procedure.trigger,
                action=procedure.action,
                confidence=procedure.confidence,
                kind=PatternKind(procedure.kind),
                expands=procedure.expands,
                scope=scope_from_proto(procedure.scope, present=True, field_path="scope"),
                procedure_id=procedure.procedure_id,
            )
            for procedure in response.procedures
            if procedure.kind in known
        ),
        response.procedures_revision,
    )


class ProfileStage:
    """Applies profiles. What cannot be read is reported: the tiers may still respond."""

    def __init__(self, reader: ProfileReader | None = None, settings: RecallSettings | None = None) -> None:
        """Reads through `reader`; without one no profile is applied."""
        self._reader = reader
        self._time_share = 1.0 - (settings or RecallSettings()).tier_time_share

    async def read(self, principal: Principal, query: RecallQuery, clock: StageClock) -> OwnerReading | None:
        """Returns what the user's profile asks for, and the procedures; None where they cannot be read."""
        if self._reader is None:
            return OwnerReading()
        timeout_seconds = clock.seconds_left * self._time_share
        try:
            async with asyncio.timeout(timeout_seconds):
                return await self._reader.read(principal, query.user_id, query.scope, timeout_seconds=timeout_seconds)
        except (MnemeError, TimeoutError) as error:
            _log.warning("profile_not_read", error=type(error).__name__)
            clock.leave("read_question", "profile and procedures could not be read: none are applied")
            return None

    async def leave_out(
        self, principal: Principal, profile: AppliedProfile, coarse: CoarseResult, clock: StageClock
    ) -> tuple[CoarseResult, bool]:
        """Returns the results without those of excluded sources, and whether the sources are known.

        Where they are not, turns are still left out when their texts are read.
        """
        assert self._reader is not None
        try:
            async with asyncio.timeout(clock.seconds_left * self._time_share):
                sources = await self._reader.sources(principal, profile, coarse)
        except (MnemeError, TimeoutError) as error:
            _log.warning("sources_not_read", error=type(error).__name__)
            clock.leave("profile", "sources could not be read: facts and notes of excluded ones may be returned")
            return coarse, False
        sources = replace(sources, excluded=sources.excluded | coarse.sources.excluded)
        return without_excluded(replace(coarse, sources=sources)), True


def admitted(coarse: CoarseResult, profile: AppliedProfile, query: RecallQuery) -> CoarseResult:
    """The results without facts that are believed too little, and without recent turns of excluded sources."""
    least = 0.0 if query.include_tentative_facts else profile.fact_confidence_min
    excluded = profile.excluded_sources
    return replace(
        coarse,
        facts=tuple(hit for hit in coarse.facts if confidence_now(hit) > least) if least else coarse.facts,
        recent_turns=tuple(t for t in coarse.recent_turns if not names_any(t.turn.sources, excluded))
        if excluded
        else coarse.recent_turns,
    )


def without_excluded(coarse: CoarseResult) -> CoarseResult:
    """The results without facts and notes that rest on excluded turns alone."""

    def rests_on_others(derived_from: Sequence[str]) -> bool:
        return not derived_from or any(source not in coarse.sources.excluded for source in derived_from)

    return replace(
        coarse,
        facts=tuple(hit for hit in coarse.facts if rests_on_others(hit.fact.derived_from)),
        notes=tuple(hit for hit in coarse.notes if rests_on_others(hit.note.derived_from)),
    )


def with_preferred(
    ranked: Sequence[RankedEpisode], sources: TurnSources, *, boost: float, limit: int
) -> list[RankedEpisode]:
    """The best turns without excluded ones, with preferred ones raised by a share of the span of their scores."""
    left = [episode for episode in ranked if episode.episode_id not in sources.excluded]
    if sources.preferred and left:
        bonus = boost * (left[0].score - left[min(limit, len(left)) - 1].score)
        boosted = [
            replace(episode, score=episode.score + bonus, parts=(*episode.parts, (PART, bonus)))
            if episode.episode_id in sources.preferred
            else episode
            for episode in left
        ]
        left = sorted(boosted, key=lambda episode: -episode.score)
    return left[:limit]


def raised(
    found: tuple[_Derived, ...],
    sources: Callable[[_Derived], Sequence[str]],
    preferred: frozenset[str],
    *,
    boost: float,
) -> tuple[_Derived, ...]:
    """Facts or notes with those raised that rest on a preferred turn, best first."""
    if not preferred or not found:
        return found
    scores = [derived.score for derived in found]
    bonus = boost * (max(scores) - min(scores))

    def boosted(item: _Derived) -> _Derived:
        if preferred.isdisjoint(sources(item)):
            return item
        return replace(item, score=item.score + bonus, parts=(*item.parts, (PART, bonus)))

    return tuple(sorted(map(boosted, found), key=lambda item: -item.score))
