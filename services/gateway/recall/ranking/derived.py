"""Ranks facts and notes by the scoring profile of a request, with the reasons."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import numpy as np
import numpy.typing as npt

from mneme.agentic.v1 import notes_pb2
from mneme.semantic.v1 import facts_pb2
from services.common.decay import SECONDS_PER_DAY, hyperbolic
from services.gateway.recall.choices import ScoringChoice
from services.gateway.recall.model import RecalledFact, RecalledNote, RetrieverRank, ScorePart, confidence_now
from services.gateway.recall.question.reading import QuestionEvidence
from services.gateway.recall.ranking.formulas import FormulaScorer, Signals
from services.gateway.recall.ranking.profiles import Profiles
from services.gateway.recall.ranking.times import time_match

SIMILARITY: Final = "similarity"
LINKS: Final = "links"
"""The part of a note's score that its links add to its own similarity."""
TIME: Final = "time"
"""What a fact or a note gains by the times that the question names."""


class DerivedRanking:
    """Ranks facts and notes: by similarity and time where evidence ranks turns, else by the formula that ranks them."""

    def __init__(self, profiles: Profiles) -> None:
        """Scores by the formulas of `profiles`."""
        self._profiles = profiles

    def facts(
        self, hits: Sequence[facts_pb2.ScoredFact], question: QuestionEvidence, choice: ScoringChoice, *, now: datetime
    ) -> tuple[RecalledFact, ...]:
        """Returns the facts best first, ties in the order of the tier."""
        formula = self._profiles.of_derived(choice, now=now)
        is_sorted = formula is not None or bool(question.time_ranges)
        scored = (
            self._with_times([((SIMILARITY, hit.similarity),) for hit in hits], _happened(hits), question, choice)
            if formula is None
            else _by_formula(formula, _signals_of_facts(hits, now.timestamp(), formula.scale_days), question)
        )
        found = [
            RecalledFact(
                fact=hit.fact,
                similarity=hit.similarity,
                score=_total(parts),
                retriever=RetrieverRank("facts", rank, hit.similarity),
                parts=parts,
                confidence_now=confidence_now(hit),
            )
            for rank, (hit, parts) in enumerate(zip(hits, scored, strict=True), 1)
        ]
        return tuple(sorted(found, key=lambda fact: -fact.score)) if is_sorted else tuple(found)

    def notes(
        self, hits: Sequence[notes_pb2.ScoredNote], question: QuestionEvidence, choice: ScoringChoice, *, now: datetime
    ) -> tuple[RecalledNote, ...]:
        """Returns the notes best first, ties in the order of the tier."""
        formula = self._profiles.of_derived(choice, now=now)
        is_sorted = formula is not None or bool(question.time_ranges)
        scored = (
            self._with_times([_by_links(hit) for hit in hits], _told(hits), question, choice)
            if formula is None
            else _by_formula(formula, _signals_of_notes(hits, now.timestamp(), formula.scale_days), question)
        )
        found = [
            RecalledNote(
                note=hit.note,
                similarity=hit.similarity,
                score=_total(parts),
                retriever=RetrieverRank("notes", rank, hit.score),
                parts=parts,
                path=tuple(hit.path),
                matched_attachment=hit.matched_attachment if hit.HasField("matched_attachment") else None,
            )
            for rank, (hit, parts) in enumerate(zip(hits, scored, strict=True), 1)
        ]
        return tuple(sorted(found, key=lambda note: -note.score)) if is_sorted else tuple(found)

    def _with_times(
        self,
        scored: Sequence[tuple[ScorePart, ...]],
        seconds: npt.NDArray[np.float64],
        question: QuestionEvidence,
        choice: ScoringChoice,
    ) -> list[tuple[ScorePart, ...]]:
        """The parts of each, with what it gains by the times that the question names: a soft filter."""
        if not question.time_ranges:
            return list(scored)
        gains = self._profiles.time_of_derived(choice) * time_match(seconds, question)
        return [(*parts, (TIME, gain)) if gain else parts for parts, gain in zip(scored, gains.tolist(), strict=True)]


def _total(parts: Sequence[ScorePart]) -> float:
    return sum(value for _, value in parts)


def _by_links(hit: notes_pb2.ScoredNote) -> tuple[ScorePart, ...]:
    links = hit.score - hit.similarity
    return ((SIMILARITY, hit.similarity), (LINKS, links)) if hit.path else ((SIMILARITY, hit.score),)


def _by_formula(formula: FormulaScorer, signals: Signals, question: QuestionEvidence) -> list[tuple[ScorePart, ...]]:
    if not signals.similarity.size:
        return []
    _, parts = formula.of(signals, question)
    rows = np.stack(list(parts.values())).T.tolist()
    return [tuple((name, value) for name, value in zip(parts, row, strict=True) if value) for row in rows]


def _happened(hits: Sequence[facts_pb2.ScoredFact]) -> npt.NDArray[np.float64]:
    """Since when each fact holds, in seconds since the epoch."""
    times = [hit.fact.valid_from_time.seconds or hit.fact.first_observed_time.seconds for hit in hits]
    return np.array(times, dtype=np.float64)


def _told(hits: Sequence[notes_pb2.ScoredNote]) -> npt.NDArray[np.float64]:
    """When what each note holds was said, in seconds since the epoch."""
    return np.array([hit.note.time.seconds for hit in hits], dtype=np.float64)


def _signals_of_facts(hits: Sequence[facts_pb2.ScoredFact], now_seconds: float, scale_days: float) -> Signals:
    """A fact is as old as its last confirmation; nobody counts its uses."""
    confirmed = np.array([hit.fact.last_confirmed_time.seconds for hit in hits], dtype=np.float64)
    days = np.maximum(0.0, (now_seconds - confirmed) / SECONDS_PER_DAY)
    return Signals(
        similarity=np.array([max(0.0, hit.similarity) for hit in hits]),
        importance=np.array([hit.fact.importance for hit in hits]),
        days=days,
        seconds=_happened(hits),
        days_unused=np.full(len(hits), np.inf),
        uses=np.zeros(len(hits)),
        confidence=np.array([confidence_now(hit) for hit in hits]),
        decay=hyperbolic(days, scale_days=scale_days),
        feedback=np.array([hit.fact.feedback for hit in hits], dtype=np.int32),
    )


def _signals_of_notes(hits: Sequence[notes_pb2.ScoredNote], now_seconds: float, scale_days: float) -> Signals:
    """A note reached over links is as similar as its score says. Notes have no confidence of their own."""
    happened = _told(hits)
    used = np.array([hit.note.last_access_time.seconds for hit in hits], dtype=np.float64)
    days = np.maximum(0.0, (now_seconds - happened) / SECONDS_PER_DAY)
    return Signals(
        similarity=np.array([max(0.0, hit.score) for hit in hits]),
        importance=np.array([hit.note.importance for hit in hits]),
        days=days,
        seconds=happened,
        days_unused=np.where(used > 0, np.maximum(0.0, (now_seconds - used) / SECONDS_PER_DAY), np.inf),
        uses=np.array([float(hit.note.access_count) for hit in hits]),
        confidence=np.ones(len(hits)),
        decay=hyperbolic(days, scale_days=scale_days),
        feedback=np.array([hit.note.feedback for hit in hits], dtype=np.int32),
    )
