"""Recall from end to end: runs the stages in order and hands each the result of those before."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import structlog

from services.common.auth import Principal
from services.common.convert import token_vectors_to_proto, vector_to_proto
from services.common.embedding.embedder import Embedder
from services.common.embedding.serving import pinned
from services.common.embedding.tokens import TextEncoding
from services.common.errors import DeadlineExceeded, MnemeError, StoreUnavailable
from services.common.ids import IdSource
from services.common.sources import names_any
from services.common.telemetry import span
from services.common.telemetry.instruments import counter
from services.gateway.grants.model import MemoryKind
from services.gateway.grants.service import NoGrants, ReaderGrants
from services.gateway.journal.model import Tier
from services.gateway.journal.recall_log import RecallLog
from services.gateway.recall.answer.assembly import NOTHING, assemble, by_source
from services.gateway.recall.answer.conflicts import ConflictResolution
from services.gateway.recall.answer.early_marks import with_marks
from services.gateway.recall.answer.reading import reading_of
from services.gateway.recall.answer.streaming import Derived, EarlyResults, Emit
from services.gateway.recall.model import (
    AppliedProfile,
    CoarseResult,
    OwnerReading,
    RankedEpisode,
    Recalled,
    RecalledMemory,
    RecallQuery,
    TierReport,
    TierState,
)
from services.gateway.recall.question.reading import QuestionEvidence, read_question
from services.gateway.recall.question.speakers import SpeakerNames
from services.gateway.recall.ranking.features import feature_names
from services.gateway.recall.recording import Recording
from services.gateway.recall.settings import RecallSettings
from services.gateway.recall.stages.access import AccessRecorder
from services.gateway.recall.stages.clock import StageClock, stage_durations
from services.gateway.recall.stages.coarse_search import CoarseSearch, nothing_responded
from services.gateway.recall.stages.consistency import ConsistencyWait
from services.gateway.recall.stages.fetch import Fetch
from services.gateway.recall.stages.fusion import Fusion
from services.gateway.recall.stages.loadout import Loadout
from services.gateway.recall.stages.procedures import with_patterns
from services.gateway.recall.stages.profile import ProfileStage, admitted, raised, with_preferred
from services.gateway.recall.stages.quarantine import quarantine
from services.gateway.recall.stages.rewriting import Rewriting
from services.gateway.recall.stages.sources import NOT_READ, SourceTrusts, trusted_fact, trusted_note
from services.gateway.recall.superseded import with_successors

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Stages:
    """The stages that reach out of the process; the others are functions."""

    consistency: ConsistencyWait
    speakers: SpeakerNames
    embedder: Embedder
    coarse: CoarseSearch
    fusion: Fusion
    fetch: Fetch
    access: AccessRecorder
    rewriting: Rewriting = field(default_factory=Rewriting)
    loadout: Loadout = field(default_factory=Loadout)
    grants: ReaderGrants = field(default_factory=NoGrants)
    conflicts: ConflictResolution = field(default_factory=ConflictResolution)
    profile: ProfileStage = field(default_factory=ProfileStage)
    trust: SourceTrusts = field(default_factory=SourceTrusts)
    recall_log: RecallLog | None = None  # records what was returned, for feedback


@dataclass(frozen=True, slots=True)
class _Asked:
    """A recall as far as it has been read."""

    principal: Principal
    query: RecallQuery
    question: QuestionEvidence
    names: Sequence[str]
    profile: AppliedProfile


class RecallPipeline:
    """Runs recalls. See `stages.catalog.STAGES` for the stages and docs/pipeline.md for what they do."""

    def __init__(self, stages: Stages, *, ids: IdSource, settings: RecallSettings) -> None:
        """Names each recall by `ids`."""
        self._stages = stages
        self._ids = ids
        self._settings = settings
        #: For who returns a part of what was found, and says so to `run`.
        self.record: Final = Recording(stages.access, stages.recall_log)
        self._stage_durations = stage_durations()
        expected = [{"tier": tier.name.lower(), "state": state} for tier in Tier for state in ("failed", "partial")]
        self._tier_reports = counter("mneme.recall.tiers", "What each tier did in recalls, by state.", expected)

    async def run(
        self,
        principal: Principal,
        query: RecallQuery,
        *,
        deadline_seconds: float,
        emit: Emit | None = None,
        records: bool = True,
    ) -> Recalled:
        """Finds what matters for a query.

        Args:
            principal: On whose behalf.
            query: What is asked.
            deadline_seconds: Time for all of it.
            emit: Takes the results of each tier as soon as they are there; see streaming.py.
            records: Whether all that is found counts as returned; else the caller calls `record`.

        Raises:
            StoreUnavailable: Every tier that was searched has failed.
            DeadlineExceeded: The question could not even be embedded in time.
        """
        clock = self._clock(deadline_seconds)
        async with EarlyResults(emit, partial(with_marks, choice=query.conflicts)) as early:
            try:
                return await self._run(principal, query, clock, early, records=records)
            except BaseException:
                if found := early.read_ids:  # a stream that is left early, or fails, has been read as far as it came
                    # Without its question: erasing what it found would not lead to it.
                    asked, unsent, left = replace(query, text=""), self._ids.new_id(), clock.seconds_left
                    await self.record(principal, asked, unsent, NOTHING, (), seconds_left=left, also_read=found)
                raise

    def _clock(self, deadline_seconds: float) -> StageClock:
        return StageClock(deadline_seconds=deadline_seconds, durations=self._stage_durations)

    def _count(self, reports: Iterable[TierReport]) -> None:
        for report in reports:
            state = "partial" if report.is_partial else report.state.name.lower()
            self._tier_reports.add(1, {"tier": report.tier.name.lower(), "state": state})

    async def _run(
        self, principal: Principal, query: RecallQuery, clock: StageClock, early: EarlyResults, *, records: bool
    ) -> Recalled:
        query = self._stages.loadout.given(query)
        is_consistent = await self._wait(principal, query, clock)
        with clock.stage("grants"):
            query, knows_grants = await self._granted(principal, query, clock)
        with clock.stage("read_question"):
            known_names, known_owner = await asyncio.gather(
                self._names(principal, query, clock), self._stages.profile.read(principal, query, clock)
            )
            names, owner = known_names or (), known_owner or OwnerReading()
        with clock.stage("rewrite"):
            rewritten = self._stages.rewriting(
                query.text,
                names,
                owner.patterns,
                query.scope,
                only_rewriting=not self._stages.loadout.needs_procedures(query),
            )
            question = read_question(rewritten.text, names, query.as_of)
            query, profile, others = with_patterns(query, owner.profile, rewritten.others)
        with clock.stage("embed"):
            # One model to the end: another one may serve by the time that the tiers are asked.
            embedder = pinned(self._stages.embedder)
            encoding = await self._embed(embedder, question.first_person_text, clock)
            tokens = encoding.tokens if query.scoring.compares_tokens or query.with_features else None
        with clock.stage("intent"):
            query, intent = self._stages.loadout(query, encoding.vector, model=embedder.fingerprint)
        asked = _Asked(principal, query, question, names, profile)
        on_outcome = early.watch(
            lambda found: _seen(query, profile, self._stages.conflicts.without_reduced(found, query.conflicts)),
            partial(self._first_derived, asked),
            partial(self._first, asked, clock),
        )
        with clock.stage("coarse_search"):
            coarse = await self._stages.coarse(
                principal,
                query,
                lexical_query=question.first_person_text,
                vector=vector_to_proto(encoding.vector, model=embedder.fingerprint),
                timeout_seconds=clock.seconds_left * self._settings.tier_time_share,
                tokens=token_vectors_to_proto(tokens) if tokens is not None else None,
                times=question.time_ranges,
                # What is left out by its source is known only when the sources of all candidates have been read.
                on_outcome=None if profile.excluded_sources else on_outcome,
            )
        if coarse.all_failed:
            self._count(coarse.reports)
            raise nothing_responded(coarse)
        coarse = self._stages.conflicts.without_reduced(coarse, query.conflicts)
        with clock.stage("quarantine"):
            coarse = _seen(query, profile, coarse)
        knows_sources = True
        if profile.names_sources:
            with clock.stage("profile"):
                coarse, knows_sources = await self._stages.profile.leave_out(principal, profile, coarse, clock)
        if profile.excluded_sources and on_outcome is not None:
            for tier in (Tier.SESSION, Tier.SEMANTIC, Tier.AGENTIC):
                on_outcome(tier, coarse)
        (candidates, reports), trusts = await asyncio.gather(
            self._ranked(asked, coarse, clock),
            self._stages.trust.of(principal, query.user_id, coarse, seconds_left=clock.seconds_left),
        )
        early.finish(candidates[: query.limit], reports, coarse)
        self._count(reports)
        with clock.stage("conflicts"):
            facts, notes = self._derived(asked, coarse)
            limits = self._stages.coarse.derived_limits(query)
            resolved = self._stages.conflicts.of_recall(query, coarse, candidates, facts, notes, limits)
        with clock.stage("assemble"):
            assembled = assemble(resolved, coarse, bytes_max=self._settings.response_bytes_max)
            clock.leave("assemble", assembled.reason or (NOT_READ if trusts is None else ""))
            recall_id = self._ids.new_id()
            applied = (*rewritten.applied, *others)
            reading = reading_of(query, question, names, intent, applied, profile if known_owner is not None else None)
            if records:
                left, found = clock.seconds_left, early.read_ids
                await self.record(principal, query, recall_id, assembled, applied, seconds_left=left, also_read=found)
        return Recalled(
            recall_id=recall_id,
            memories=assembled.memories,
            facts=tuple(trusted_fact(fact, trusts or {}) for fact in assembled.facts),
            notes=tuple(trusted_note(note, trusts or {}) for note in assembled.notes),
            recent_turns=assembled.recent_turns,
            reports=reports,
            reading=reading,
            stage_seconds=clock.stages,
            stage_reasons=clock.reasons,
            is_degraded=(
                is_consistent is False
                or not knows_grants
                or known_names is None
                or known_owner is None
                or not knows_sources
                or coarse.is_incomplete
                or any(r.state is TierState.FAILED for r in reports)
            ),
            is_consistent=is_consistent,
            feature_names=feature_names() if query.with_features else (),
            conflicts=resolved.conflicts,
            superseded=coarse.superseded,
            as_of=query.as_of,
            reduced=coarse.reduced,
        )

    async def _first(
        self, asked: _Asked, clock: StageClock, coarse: CoarseResult
    ) -> tuple[tuple[RecalledMemory, ...], tuple[TierReport, ...]]:
        """A ranking of the candidates so far, on a clock of its own: its stages are not those of the final response."""
        with span("recall.first_ranking"):
            memories, reports = await self._ranked(asked, coarse, StageClock(deadline_seconds=clock.seconds_left))
        return memories[: asked.query.limit], reports

    def _first_derived(self, asked: _Asked, coarse: CoarseResult) -> Derived:
        facts, notes = self._derived(asked, coarse)
        limits = self._stages.coarse.derived_limits(asked.query)
        return facts[: limits.facts], notes[: limits.notes]

    def _derived(self, asked: _Asked, coarse: CoarseResult) -> Derived:
        """Facts and notes, ranked by the scoring profile."""
        ranking, query = self._stages.fusion.derived, asked.query
        boost, preferred = self._settings.preferred_source_boost, coarse.sources.preferred
        facts = ranking.facts(coarse.facts, asked.question, query.scoring, now=query.as_of)
        notes = ranking.notes(coarse.notes, asked.question, query.scoring, now=query.as_of)
        return (
            raised(facts, lambda fact: fact.fact.derived_from, preferred, boost=boost),
            raised(notes, lambda note: note.note.derived_from, preferred, boost=boost),
        )

    async def _ranked(
        self, asked: _Asked, coarse: CoarseResult, clock: StageClock
    ) -> tuple[tuple[RecalledMemory, ...], tuple[TierReport, ...]]:
        """The best turns with their texts: as many as conflicts are settled among."""
        query = asked.query
        limit = self._stages.conflicts.candidate_count(query.limit)
        sources, boost = coarse.sources, self._settings.preferred_source_boost
        with clock.stage("fusion"):
            ranked = self._stages.fusion(
                self._as_fitted(query, coarse),
                asked.question,
                asked.names,
                limit=len(coarse.episodes or ()) if sources else limit,
                now=query.as_of,
                scoring=query.scoring,
                with_features=query.with_features,
            )
            if sources:
                ranked = with_preferred(ranked, sources, boost=boost, limit=limit)
        with clock.stage("fetch"):
            ranked = with_successors(ranked, coarse.superseded, count_max=query.limit)
            ranked = [episode for episode in ranked if episode.episode_id not in sources.excluded]
            return await self._fetch(asked, ranked, coarse, clock)

    def _as_fitted(self, query: RecallQuery, coarse: CoarseResult) -> CoarseResult:
        """The results with as many facts and notes as the rankers were fitted on, however many are returned."""
        return replace(
            coarse,
            facts=coarse.facts[: query.limit_of(Tier.SEMANTIC, self._settings.fact_limit)],
            notes=coarse.notes[: query.limit_of(Tier.AGENTIC, self._settings.note_limit)],
        )

    async def _wait(self, principal: Principal, query: RecallQuery, clock: StageClock) -> bool | None:
        if query.written is None:
            return None
        timeout_seconds = clock.seconds_left * self._settings.consistency_time_share
        with clock.stage("consistency"):
            try:
                async with asyncio.timeout(timeout_seconds):
                    return await self._stages.consistency(
                        principal.tenant_id,
                        query.written,
                        [tier for tier in query.tiers if tier is not Tier.SESSION],
                        timeout_seconds=timeout_seconds,
                    )
            except (StoreUnavailable, DeadlineExceeded, TimeoutError) as error:
                # The journal is away: the tiers may still respond, and the response says that it may lack the write.
                _log.warning("consistency_not_known", error=type(error).__name__)
                return False

    async def _granted(self, principal: Principal, query: RecallQuery, clock: StageClock) -> tuple[RecallQuery, bool]:
        """The query with what was granted to its reader, and whether that is known: where not, nothing was granted."""
        try:
            async with asyncio.timeout(clock.seconds_left * (1.0 - self._settings.tier_time_share)):
                grants = await self._stages.grants.to(principal.tenant_id, query.user_id, query.scope)
        except (StoreUnavailable, DeadlineExceeded, TimeoutError) as error:
            _log.warning("grants_not_read", error=type(error).__name__)
            clock.leave("grants", "grants could not be read: none is used")
            return query, False
        return (replace(query, grants=grants) if grants else query), True

    async def _names(self, principal: Principal, query: RecallQuery, clock: StageClock) -> Sequence[str] | None:
        """The names of the user's speakers, None where they cannot be read: the tiers can search without them."""
        try:
            async with asyncio.timeout(clock.seconds_left * (1.0 - self._settings.tier_time_share)):
                return await self._stages.speakers.of(principal.tenant_id, query.user_id)
        except (StoreUnavailable, DeadlineExceeded, TimeoutError) as error:
            _log.warning("speakers_not_read", error=type(error).__name__)
            return None

    async def _embed(self, embedder: Embedder, text: str, clock: StageClock) -> TextEncoding:
        try:
            async with asyncio.timeout(clock.seconds_left):
                return await embedder.encode_query(text)
        except TimeoutError as error:
            raise DeadlineExceeded("the question could not be embedded in time") from error

    async def _fetch(
        self,
        asked: _Asked,
        ranked: Sequence[RankedEpisode],
        coarse: CoarseResult,
        clock: StageClock,
    ) -> tuple[tuple[RecalledMemory, ...], tuple[TierReport, ...]]:
        """Reads the texts; a tier that fails only now is reported like one that failed before."""
        try:
            async with asyncio.timeout(clock.seconds_left):
                fetched = await self._stages.fetch(
                    asked.principal,
                    asked.query.user_id,
                    ranked,
                    reader=asked.query.readers.of(MemoryKind.EPISODE),
                    timeout_seconds=clock.seconds_left,
                )
        except (MnemeError, TimeoutError) as error:
            reason = str(error.reason) if isinstance(error, MnemeError) else "DEADLINE_EXCEEDED"
            return (), tuple(
                TierReport(r.tier, TierState.FAILED, reason, r.duration_seconds) if r.tier is Tier.EPISODIC else r
                for r in coarse.reports
            )
        clock.leave("fetch", fetched.reason)
        facts = by_source((hit.fact.fact_id, hit.fact.derived_from) for hit in coarse.facts)
        notes = by_source((hit.note.note_id, hit.note.derived_from) for hit in coarse.notes)
        memories = tuple(
            RecalledMemory(candidate, episode, facts.get(candidate.episode_id, ()), notes.get(candidate.episode_id, ()))
            for candidate, episode in fetched.found
            if not names_any(episode.sources, asked.profile.excluded_sources)
        )
        return memories, coarse.reports


def _seen(query: RecallQuery, profile: AppliedProfile, coarse: CoarseResult) -> CoarseResult:
    """The results that the reader may see, and the user's profile admits."""
    return admitted(quarantine(coarse, query.readers), profile, query)
