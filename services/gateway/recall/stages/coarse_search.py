"""Stage coarse_search: all tiers at once, each with its share of the deadline."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from mneme.agentic.internal.v1 import notes_pb2
from mneme.common.v1 import common_pb2
from mneme.episodic.internal.v1 import episodic_internal_pb2
from mneme.semantic.internal.v1 import semantic_pb2
from mneme.semantic.v1 import facts_pb2
from services.common.auth import Principal
from services.common.convert import scope_to_proto
from services.common.dates import TimeRange
from services.common.errors import DeadlineExceeded, MnemeError, StoreUnavailable
from services.gateway.grants.model import MemoryKind
from services.gateway.journal.model import Tier
from services.gateway.recall.columns import EpisodeColumns
from services.gateway.recall.model import (
    RECALL_TIERS,
    CoarseResult,
    DerivedLimits,
    RecallQuery,
    TierReport,
    TierState,
)
from services.gateway.recall.ranking.profiles import needs_statistics
from services.gateway.recall.settings import RecallSettings
from services.gateway.recall.stages.known import as_known
from services.gateway.recall.superseded import SupersededCache
from services.gateway.sessions import SessionAccess
from services.gateway.upstream import Upstream

_ASKED_IN_ORDER: Final = (Tier.EPISODIC, Tier.AGENTIC, Tier.SEMANTIC, Tier.SESSION)
"""By how long their statements take: databases are at work while this process looks into the indexes it holds."""
_TIMES_MAX: Final = 16
"""Times that the episodic tier takes."""
_FACT_USE: Final = {False: facts_pb2.FACT_USE_PASSIVE_CONTEXT, True: facts_pb2.FACT_USE_EXPLICIT_SEARCH}
"""By whether the query includes facts that are believed little."""
_INDEX_INCOMPLETE: Final = "index incomplete: some turns may be missing"
_FACTS_OF_FORMER_MODEL: Final = "facts of the former embedding model are missing until they are embedded anew"
_NOTES_OF_FORMER_MODEL: Final = "notes of the former embedding model are missing until they are embedded anew"
_SESSION_STORE_AWAY: Final = "session store unavailable: the window is that of one process"


@dataclass(frozen=True, slots=True)
class _Found:
    """What a tier gave."""

    value: Any
    count: int
    lacks: str = ""  # what may be missing from it, empty where nothing is


@dataclass(frozen=True, slots=True)
class _Outcome:
    report: TierReport
    value: Any = None


class CoarseSearch:
    """Asks the tiers. A tier that does not respond in time is reported, never raised."""

    def __init__(
        self,
        upstream: Upstream,
        sessions: SessionAccess,
        settings: RecallSettings,
        superseded: SupersededCache | None = None,
    ) -> None:
        """Reads the running conversation through `sessions`, which rebuilds what its store lost."""
        self._superseded = superseded or SupersededCache()
        self._upstream = upstream
        self._sessions = sessions
        self._settings = settings

    async def __call__(
        self,
        principal: Principal,
        query: RecallQuery,
        *,
        lexical_query: str,
        vector: common_pb2.Vector,
        timeout_seconds: float,
        tokens: common_pb2.TokenVectors | None = None,
        times: Sequence[TimeRange] = (),
        on_outcome: Callable[[Tier, CoarseResult], None] | None = None,
    ) -> CoarseResult:
        """Returns what the tiers gave within the time.

        Args:
            principal: On whose behalf.
            query: What is asked.
            lexical_query: The words for the lexical retriever.
            vector: The embedded question.
            timeout_seconds: For each tier; they are asked concurrently.
            tokens: Token vectors of the embedded question, for late interaction; None for none.
            times: That the question names.
            on_outcome: Called for each tier that has responded, failed, or is skipped, with the candidates so far.
        """
        scope = scope_to_proto(query.scope)
        calls: dict[Tier, Callable[[], Awaitable[_Found]]] = {
            Tier.EPISODIC: lambda: self._episodes(
                principal, query, scope, lexical_query, vector, tokens, times, timeout_seconds
            ),
            Tier.SEMANTIC: lambda: self._facts(principal, query, scope, vector, timeout_seconds),
            Tier.AGENTIC: lambda: self._notes(principal, query, scope, vector, timeout_seconds),
            Tier.SESSION: lambda: self._recent_turns(principal, query, timeout_seconds),
        }
        outcomes: dict[Tier, _Outcome] = {}

        async def ask(tier: Tier) -> None:
            outcomes[tier] = await self._ask(tier, query, calls[tier], timeout_seconds)
            if on_outcome is not None:
                on_outcome(tier, self._known(principal, query, _result(outcomes)))

        await asyncio.gather(*map(ask, _ASKED_IN_ORDER))
        return self._known(principal, query, _result(outcomes))

    def _known(self, principal: Principal, query: RecallQuery, result: CoarseResult) -> CoarseResult:
        """A result with the superseded statements that are cached, and without what was not recorded in time.

        What was known before counts where the semantic tier has not responded yet, was not searched, or has failed.
        """
        cached = self._superseded.get(principal.tenant_id, query.user_id)
        result = replace(
            result,
            superseded=cached.at(query.as_of, query.known_at),
            reduced=cached.reduced_at(query.as_of, query.known_at),
        )
        return result if query.known_at is None else as_known(result, query.known_at)

    async def _ask(
        self,
        tier: Tier,
        query: RecallQuery,
        call: Callable[[], Awaitable[_Found]],
        timeout_seconds: float,
    ) -> _Outcome:
        if tier not in query.tiers:
            return _Outcome(TierReport(tier, TierState.SKIPPED, query.skip_reason))
        if tier is Tier.SESSION and not query.conversation_id:
            return _Outcome(TierReport(tier, TierState.SKIPPED, "no running conversation was named"))
        started = time.perf_counter()
        try:
            async with asyncio.timeout(timeout_seconds):
                found = await call()
        except (MnemeError, TimeoutError) as error:
            reason = str(error.reason) if isinstance(error, MnemeError) else "DEADLINE_EXCEEDED"
            return _Outcome(TierReport(tier, TierState.FAILED, reason, time.perf_counter() - started))
        return _Outcome(
            TierReport(
                tier,
                TierState.RESPONDED,
                reason=found.lacks,
                duration_seconds=time.perf_counter() - started,
                candidate_count=found.count,
                is_partial=bool(found.lacks),
            ),
            found.value,
        )

    async def _episodes(
        self,
        principal: Principal,
        query: RecallQuery,
        scope: common_pb2.Scope,
        lexical_query: str,
        vector: common_pb2.Vector,
        tokens: common_pb2.TokenVectors | None,
        times: Sequence[TimeRange],
        timeout_seconds: float,
    ) -> _Found:
        request = episodic_internal_pb2.SearchCandidatesRequest(
            user_id=query.user_id,
            query=lexical_query,
            query_vector=vector,
            reader_scope=scope,
            retriever_limit=self._settings.retriever_limit_of(query.scoring.profile, query.wanted_count),
            neighbour_seeds=self._settings.neighbour_seeds_of(query.scoring.profile),
            neighbour_radius=self._settings.neighbour_radius,
            with_statistics=needs_statistics(query.scoring.profile),
            query_tokens=tokens,
        )
        for span in times[:_TIMES_MAX]:
            named = request.times.add()
            named.start_time.FromMicroseconds(round(span.start * 1e6))
            named.end_time.FromMicroseconds(round(span.end * 1e6))
        if query.former_time is not None:
            request.archived_after_time.FromDatetime(query.former_time)
        reader = query.readers.principal(principal, MemoryKind.EPISODE)
        response = await self._upstream.episodic.search_candidates(reader, request, timeout_seconds=timeout_seconds)
        columns = EpisodeColumns.from_response(response, tokens.token_ids if tokens is not None else b"")
        return _Found(columns, len(columns), lacks=_INDEX_INCOMPLETE if columns.is_incomplete else "")

    async def _facts(
        self,
        principal: Principal,
        query: RecallQuery,
        scope: common_pb2.Scope,
        vector: common_pb2.Vector,
        timeout_seconds: float,
    ) -> _Found:
        request = facts_pb2.SearchFactsRequest(
            user_id=query.user_id,
            query_vector=vector,
            reader_scope=scope,
            use=_FACT_USE[query.include_tentative_facts],
            limit=self._with_candidates(self.derived_limits(query).facts),
        )
        if query.known_at is not None:
            request.known_at_time.FromDatetime(query.known_at)
        if query.is_past:
            request.as_of_time.FromDatetime(query.as_of)
        reader = query.readers.principal(principal, MemoryKind.FACT)
        cached = self._superseded.get(principal.tenant_id, query.user_id)
        response = await self._upstream.facts.search_candidates(
            reader,
            semantic_pb2.SearchCandidatesRequest(search=request, cached_revision=cached.revision, incremental=True),
            timeout_seconds=timeout_seconds,
        )
        await self._superseded.update(principal.tenant_id, query.user_id, cached, response)
        hits = response.facts.hits
        return _Found(tuple(hits), len(hits), lacks=_FACTS_OF_FORMER_MODEL if response.degraded else "")

    async def _notes(
        self,
        principal: Principal,
        query: RecallQuery,
        scope: common_pb2.Scope,
        vector: common_pb2.Vector,
        timeout_seconds: float,
    ) -> _Found:
        request = notes_pb2.SearchNotesRequest(
            user_id=query.user_id,
            query_vector=vector,
            reader_scope=scope,
            limit=self._with_candidates(self.derived_limits(query).notes),
            hops=self._settings.note_hops,
        )
        if query.known_at is not None:
            request.known_at_time.FromDatetime(query.known_at)
        if query.is_past:
            request.as_of_time.FromDatetime(query.as_of)
        reader = query.readers.principal(principal, MemoryKind.NOTE)
        response = await self._upstream.notes.search(reader, request, timeout_seconds=timeout_seconds)
        lacks = _NOTES_OF_FORMER_MODEL if response.degraded else ""
        return _Found(tuple(response.hits), len(response.hits), lacks=lacks)

    def derived_limits(self, query: RecallQuery) -> DerivedLimits:
        """How many facts and notes the response has; the tiers are asked for more, for what conflicts take away."""
        return DerivedLimits(
            self._derived_limit(query, Tier.SEMANTIC, self._settings.fact_limit),
            self._derived_limit(query, Tier.AGENTIC, self._settings.note_limit),
        )

    def _derived_limit(self, query: RecallQuery, tier: Tier, own: int) -> int:
        return query.limit_of(tier, self._settings.derived_limit_of(own, query.wanted_count))

    def _with_candidates(self, limit: int) -> int:
        return limit + self._settings.derived_candidates if limit else 0

    async def _recent_turns(self, principal: Principal, query: RecallQuery, timeout_seconds: float) -> _Found:
        found = await self._sessions.find(
            principal, query.user_id, query.conversation_id, timeout_seconds=timeout_seconds
        )
        if found is None:
            return _Found((), 0)
        turns = tuple(found.session.turns)
        return _Found(turns, len(turns), lacks=_SESSION_STORE_AWAY if found.is_degraded else "")


def _result(outcomes: Mapping[Tier, _Outcome]) -> CoarseResult:
    """What those tiers gave that have responded."""
    values = {tier: outcome.value for tier, outcome in outcomes.items()}
    return CoarseResult(
        episodes=values.get(Tier.EPISODIC),
        facts=values.get(Tier.SEMANTIC) or (),
        notes=values.get(Tier.AGENTIC) or (),
        recent_turns=values.get(Tier.SESSION) or (),
        reports=tuple(outcomes[tier].report for tier in RECALL_TIERS if tier in outcomes),
    )


def nothing_responded(coarse: CoarseResult) -> MnemeError:
    """The error of a recall whose tiers have all failed."""
    failed = [r for r in coarse.reports if r.state is TierState.FAILED]
    if all(r.reason == "DEADLINE_EXCEEDED" for r in failed):
        return DeadlineExceeded("no memory tier responded in time")
    return StoreUnavailable("memory tiers")
