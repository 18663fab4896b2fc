"""Recall in parts: emits the results of each tier while the others are still searched.

The pipeline is the same; it reports on its way. What it emits has passed quarantine. The episodic tier returns bare
evidence, so its part holds a first ranking of turns with their texts.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol, Self, TypeAlias

from mneme.session.v1 import session_pb2
from services.common.auth import Principal
from services.gateway.journal.model import Tier
from services.gateway.recall.model import (
    RECALL_TIERS,
    CoarseResult,
    Recalled,
    RecalledFact,
    RecalledMemory,
    RecalledNote,
    RecallQuery,
    TierReport,
    TierState,
)
from services.gateway.recall.superseded import Superseded


@dataclass(frozen=True, slots=True)
class TierResult:
    """What one tier returned, before the results of all tiers are ranked together. Useful by itself."""

    report: TierReport
    memories: tuple[RecalledMemory, ...] = ()  # of the episodic tier: a first ranking
    facts: tuple[RecalledFact, ...] = ()
    notes: tuple[RecalledNote, ...] = ()
    recent_turns: tuple[session_pb2.SessionTurn, ...] = ()
    superseded: Superseded = field(default_factory=dict)  # statements that are known to hold no more, by turn
    superseded_by: Mapping[str, str] = field(default_factory=dict)  # what supersedes memories, by their ids


Emit: TypeAlias = Callable[[TierResult], None]
"""Takes a part of a streamed recall; must not block."""

Derived: TypeAlias = tuple[tuple[RecalledFact, ...], tuple[RecalledNote, ...]]
"""Ranked facts and notes."""

Mark: TypeAlias = Callable[[TierResult, CoarseResult], TierResult]
"""Writes into a part what is superseded, by what is known so far."""

Read: TypeAlias = tuple[tuple[RecalledMemory, ...], tuple[TierReport, ...]]
"""Ranked turns with their texts, and how the tiers took part after that."""


class EarlyResults:
    """Emits the parts of one recall: one for each tier that is searched, the episodic one with a first ranking.

    A context manager: what it does besides the pipeline ends with the block.
    """

    def __init__(self, emit: Emit | None, mark: Mark = lambda part, _: part) -> None:
        """Hands parts to `emit`, as `mark` makes them; without it, does nothing."""
        self._emit = emit
        self._mark = mark
        self._emitted: set[Tier] = set()
        self._read: list[str] = []
        self._first: asyncio.Task[None] | None = None

    @property
    def read_ids(self) -> Sequence[str]:
        """Ids of all memories and turns that were emitted."""
        return tuple(self._read)

    async def __aenter__(self) -> Self:
        """Begins."""
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Cancels the work on a first ranking."""
        if self._first is not None:
            self._first.cancel()
            await asyncio.gather(self._first, return_exceptions=True)

    def watch(
        self,
        see: Callable[[CoarseResult], CoarseResult],
        derive: Callable[[CoarseResult], Derived],
        rank: Callable[[CoarseResult], Awaitable[Read]],
    ) -> Callable[[Tier, CoarseResult], None] | None:
        """Returns what the coarse search is to call at each response; None where nothing is emitted.

        Args:
            see: Drops what the reader must not see.
            derive: Ranks facts and notes.
            rank: Ranks the candidates so far, and reads their texts.
        """
        if self._emit is None:
            return None

        def on_response(tier: Tier, so_far: CoarseResult) -> None:
            report = _report_of(tier, so_far.reports)
            seen = see(so_far)
            if tier is Tier.EPISODIC and report.state is TierState.RESPONDED:
                # When it is the last one to respond, the first ranking is the one that the pipeline makes anyway.
                if len(so_far.reports) < len(RECALL_TIERS):
                    self._first = asyncio.create_task(self._rank_first(rank, seen))
                return
            facts, notes = derive(seen)
            self._send(
                TierResult(
                    report,
                    facts=facts if tier is Tier.SEMANTIC else (),
                    notes=notes if tier is Tier.AGENTIC else (),
                    recent_turns=seen.recent_turns if tier is Tier.SESSION else (),
                ),
                seen,
            )

        return on_response

    def finish(self, memories: tuple[RecalledMemory, ...], reports: Sequence[TierReport], coarse: CoarseResult) -> None:
        """Emits the pipeline's own ranking where no first one was: it was too slow, failed, or was not needed."""
        if self._emit is None:
            return
        if self._first is not None:
            if self._first.done():
                self._first.result()  # a fault of a stage is not hidden
            self._first.cancel()
        self._send(TierResult(_report_of(Tier.EPISODIC, reports), memories=memories), coarse)

    async def _rank_first(self, rank: Callable[[CoarseResult], Awaitable[Read]], seen: CoarseResult) -> None:
        memories, reports = await rank(seen)
        report = _report_of(Tier.EPISODIC, reports)
        if report.state is TierState.RESPONDED:  # else the pipeline tries again
            self._send(TierResult(report, memories=memories), seen)

    def _send(self, found: TierResult, coarse: CoarseResult) -> None:
        tier = found.report.tier
        if self._emit is None or tier in self._emitted or found.report.state is TierState.SKIPPED:
            return
        self._emitted.add(tier)
        result = self._mark(found, coarse)
        self._read += [memory.memory_id for memory in result.memories]
        self._read += [fact.memory_id for fact in result.facts]
        self._read += [note.memory_id for note in result.notes]
        self._read += [turn.interaction_id for turn in result.recent_turns]
        self._emit(result)


class StreamingRecaller(Protocol):
    """Runs recalls, and emits parts on the way."""

    async def run(
        self, principal: Principal, query: RecallQuery, *, deadline_seconds: float, emit: Emit | None = None
    ) -> Recalled:
        """See `RecallPipeline.run`."""
        ...


async def stream_recall(
    recaller: StreamingRecaller, principal: Principal, query: RecallQuery, *, deadline_seconds: float
) -> AsyncGenerator[TierResult | Recalled, None]:
    """Yields the parts as they come, and last the whole result.

    The recall goes on while a slow reader is busy, and at most one part of each tier waits for it. Closing the
    iterator ends the recall.

    Raises:
        MnemeError: As `RecallPipeline.run`, after the parts that were emitted before.
    """
    parts: asyncio.Queue[TierResult | None] = asyncio.Queue()

    async def run() -> Recalled:
        try:
            return await recaller.run(principal, query, deadline_seconds=deadline_seconds, emit=parts.put_nowait)
        finally:
            parts.put_nowait(None)

    recall = asyncio.create_task(run())
    try:
        while (part := await parts.get()) is not None:
            yield part
        yield await recall
    finally:
        recall.cancel()
        await asyncio.gather(recall, return_exceptions=True)


def _report_of(tier: Tier, reports: Sequence[TierReport]) -> TierReport:
    return next(report for report in reports if report.tier is tier)
