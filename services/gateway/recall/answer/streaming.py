"""Recall in pieces: tells what each tier gave while the others are still being asked.

The pipeline is the same; it reports on its way. What is told has passed quarantine, and of the episodic tier, which
gives bare evidence, the ranked turns are told with their texts.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self, TypeAlias

from mneme.agentic.v1 import notes_pb2
from mneme.semantic.v1 import facts_pb2
from mneme.session.v1 import session_pb2
from services.common.auth import Principal
from services.gateway.journal.model import Tier
from services.gateway.recall.model import (
    RECALL_TIERS,
    CoarseResult,
    Recalled,
    RecalledMemory,
    RecallQuery,
    TierReport,
    TierState,
)


@dataclass(frozen=True, slots=True)
class TierAnswer:
    """What one tier gave, before the answers of all tiers are ranked together. Useful by itself."""

    report: TierReport
    memories: tuple[RecalledMemory, ...] = ()  # of the episodic tier: a first ranking
    facts: tuple[facts_pb2.ScoredFact, ...] = ()
    notes: tuple[notes_pb2.ScoredNote, ...] = ()
    recent_turns: tuple[session_pb2.SessionTurn, ...] = ()


Tell: TypeAlias = Callable[[TierAnswer], None]
"""Takes a piece of an answer; must not block."""

Read: TypeAlias = tuple[tuple[RecalledMemory, ...], tuple[TierReport, ...]]
"""Ranked turns with their texts, and how the tiers took part after that."""


class EarlyAnswers:
    """Tells the pieces of one recall: each tier that was asked once, the episodic one with a first ranking.

    A context manager: what it does besides the pipeline ends with the block.
    """

    def __init__(self, tell: Tell | None) -> None:
        """Tells by `tell`; without it, does nothing and costs nothing."""
        self._tell = tell
        self._told: set[Tier] = set()
        self._first: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Begins."""
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Ends the work on a first ranking that nobody waits for any more."""
        if self._first is not None:
            self._first.cancel()
            await asyncio.gather(self._first, return_exceptions=True)

    def watch(
        self, see: Callable[[CoarseResult], CoarseResult], rank: Callable[[CoarseResult], Awaitable[Read]]
    ) -> Callable[[Tier, CoarseResult], None] | None:
        """What the coarse search is to call at each answer; None where nothing is to be told.

        Args:
            see: Drops what the reader must not see.
            rank: Ranks turns by what there is, and reads their texts.
        """
        if self._tell is None:
            return None

        def on_answer(tier: Tier, so_far: CoarseResult) -> None:
            report = _report_of(tier, so_far.reports)
            seen = see(so_far)
            if tier is Tier.EPISODIC and report.state is TierState.ANSWERED:
                # When it is the last one to answer, the first ranking is the one that the pipeline makes anyway.
                if len(so_far.reports) < len(RECALL_TIERS):
                    self._first = asyncio.create_task(self._rank_first(rank, seen))
                return
            self._say(
                TierAnswer(
                    report,
                    facts=seen.facts if tier is Tier.SEMANTIC else (),
                    notes=seen.notes if tier is Tier.AGENTIC else (),
                    recent_turns=seen.recent_turns if tier is Tier.SESSION else (),
                )
            )

        return on_answer

    def finish(self, memories: tuple[RecalledMemory, ...], reports: Sequence[TierReport]) -> None:
        """Tells the pipeline's own ranking where no first one was told: it was too slow, failed, or was not needed."""
        if self._tell is None:
            return
        if self._first is not None:
            if self._first.done():
                self._first.result()  # a fault of a stage is not hidden
            self._first.cancel()
        self._say(TierAnswer(_report_of(Tier.EPISODIC, reports), memories=memories))

    async def _rank_first(self, rank: Callable[[CoarseResult], Awaitable[Read]], seen: CoarseResult) -> None:
        memories, reports = await rank(seen)
        report = _report_of(Tier.EPISODIC, reports)
        if report.state is TierState.ANSWERED:  # else the pipeline tries again
            self._say(TierAnswer(report, memories=memories))

    def _say(self, answer: TierAnswer) -> None:
        tier = answer.report.tier
        if self._tell is None or tier in self._told or answer.report.state is TierState.SKIPPED:
            return
        self._told.add(tier)
        self._tell(answer)


class StreamingRecaller(Protocol):
    """Answers recalls, and tells pieces on the way."""

    async def run(
        self, principal: Principal, query: RecallQuery, *, deadline_seconds: float, tell: Tell | None = None
    ) -> Recalled:
        """See `RecallPipeline.run`."""
        ...


async def stream_recall(
    recaller: StreamingRecaller, principal: Principal, query: RecallQuery, *, deadline_seconds: float
) -> AsyncGenerator[TierAnswer | Recalled, None]:
    """Yields the pieces as they come, and last the whole answer.

    The recall goes on while a slow reader is busy, and at most one piece of each tier waits for it. Closing the
    iterator ends the recall.

    Raises:
        MnemeError: As `RecallPipeline.run`, after the pieces that were told before.
    """
    pieces: asyncio.Queue[TierAnswer | None] = asyncio.Queue()

    async def run() -> Recalled:
        try:
            return await recaller.run(principal, query, deadline_seconds=deadline_seconds, tell=pieces.put_nowait)
        finally:
            pieces.put_nowait(None)

    recall = asyncio.create_task(run())
    try:
        while (piece := await pieces.get()) is not None:
            yield piece
        yield await recall
    finally:
        recall.cancel()
        await asyncio.gather(recall, return_exceptions=True)


def _report_of(tier: Tier, reports: Sequence[TierReport]) -> TierReport:
    return next(report for report in reports if report.tier is tier)
