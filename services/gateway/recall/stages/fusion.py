"""Stage fusion: one ranking of turns from the evidence of all retrievers, and one each of facts and notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import numpy as np

from services.common.settings_types import Amount
from services.gateway.recall.choices import Profile, ScoringChoice
from services.gateway.recall.columns import EpisodeColumns, FloatColumn, IntColumn, episode_id_text
from services.gateway.recall.model import CoarseResult, RankedEpisode, RetrieverRank
from services.gateway.recall.question.reading import QuestionEvidence
from services.gateway.recall.ranking.derived import DerivedRanking
from services.gateway.recall.ranking.evidence import EvidenceWeights, score_evidence
from services.gateway.recall.ranking.features import Features
from services.gateway.recall.ranking.fitted import FittedScorer, Rankers
from services.gateway.recall.ranking.profiles import Parts, Profiles, ProfileSettings


@dataclass(frozen=True, slots=True)
class DerivedWeights:
    """What derived memories add to the turns that they come from."""

    fact: Amount = 0.5  # of the similarity of the best fact
    note: Amount = 0.3  # of the score of the best note


@dataclass(frozen=True, slots=True)
class _DerivedHits:
    """Facts or notes as a retriever of the turns that they were made from."""

    name: str
    scores: FloatColumn  # of each candidate's best hit, 0 without
    part: FloatColumn  # what they add to each candidate
    ranks: dict[int, RetrieverRank]  # by candidate


class EvidenceScorer:
    """Scores candidates by evidence with weights set by hand; a `Scorer`."""

    def __init__(self, weights: EvidenceWeights, derived: DerivedWeights) -> None:
        """Weighs turns by `weights`, and what other tiers made from them by `derived`."""
        self._weights = weights
        self._derived = derived

    def __call__(self, columns: EpisodeColumns, question: QuestionEvidence) -> tuple[FloatColumn, Parts]:
        """See `score_evidence`."""
        scores, parts = score_evidence(columns, question, self._weights)
        added = {"facts": self._derived.fact * columns.fact, "notes": self._derived.note * columns.note}
        present = {name: part.astype(np.float32) for name, part in added.items() if part.size}
        return sum(present.values(), start=scores), {**parts, **present}


class Fusion:
    """Ranks the candidates."""

    def __init__(
        self,
        evidence: EvidenceWeights,
        derived: DerivedWeights,
        profiles: ProfileSettings | None = None,
        rankers: Rankers | None = None,
    ) -> None:
        """Ranks by what a request chooses.

        Args:
            evidence: Weights of the profile `plain`.
            derived: What facts and notes add there.
            profiles: Weights of the formulas.
            rankers: Those of the fitted profiles; the ones that come along where None.
        """
        fitted, plain = rankers or Rankers.open(), EvidenceScorer(evidence, derived)
        self._fitted = {
            Profile.EVIDENCE: FittedScorer(fitted, plain, is_light=False),
            Profile.LIGHT: FittedScorer(fitted, plain, is_light=True),
        }
        self._profiles = Profiles({**self._fitted, Profile.PLAIN: plain}, profiles)
        self.derived: Final = DerivedRanking(self._profiles)

    def __call__(
        self,
        coarse: CoarseResult,
        question: QuestionEvidence,
        names: Sequence[str],
        *,
        limit: int,
        now: datetime,
        scoring: ScoringChoice | None = None,
        with_features: bool = False,
    ) -> list[RankedEpisode]:
        """Returns the best candidates, best first, ties by id.

        Args:
            coarse: What the tiers returned.
            question: What was read from the question.
            names: The speakers that the question was read with.
            limit: At most this many.
            now: What ages are counted up to.
            scoring: How turns are ranked; the configured profile where None.
            with_features: Return the features of the fitted rankers for each candidate, whichever profile ranks.
        """
        columns = coarse.episodes
        if columns is None or not len(columns):
            return []
        place = {episode_id: index for index, episode_id in enumerate(columns.ids)}
        choice = scoring or ScoringChoice()
        fact_weight, note_weight = self._profiles.derived_weights(choice)
        facts = _derived_hits(
            "facts", fact_weight, place, ((hit.fact.derived_from, hit.similarity) for hit in coarse.facts)
        )
        notes = _derived_hits("notes", note_weight, place, ((hit.note.derived_from, hit.score) for hit in coarse.notes))
        scorer = self._profiles.scorer(choice, now=now)
        speaker = _named_speakers(columns, names)
        columns = replace(columns, speaker=speaker, fact=facts.scores, note=notes.scores)
        scores, parts = scorer(columns, question)
        if not choice.is_by_evidence:
            scores = scores + facts.part + notes.part
            parts = {**parts, facts.name: facts.part, notes.name: notes.part}
        features = self.features(columns, question, choice).values if with_features else None
        best = _best(scores, columns.ids, limit)
        chosen = np.array(best, dtype=np.intp)
        parts_of_best = np.array([part[chosen] for part in parts.values()], dtype=np.float32).T.tolist()
        return [
            RankedEpisode(
                episode_id=episode_id_text(columns.ids[index]),
                score=score,
                retrievers=tuple(_retriever_ranks(columns, index, (facts, notes))),
                parts=tuple([part for part in zip(parts, values, strict=True) if part[1]]),
                text_chars=columns.length.item(index),
                features=() if features is None else tuple(features[index].tolist()),
            )
            for index, score, values in zip(best, scores[chosen].tolist(), parts_of_best, strict=True)
        ]

    def features(self, columns: EpisodeColumns, question: QuestionEvidence, choice: ScoringChoice) -> Features:
        """What the ranker of the profile, or of `evidence`, sees of the candidates."""
        return self._fitted[Profile.LIGHT if choice.profile is Profile.LIGHT else Profile.EVIDENCE].features(
            columns, question
        )


def _best(scores: FloatColumn, ids: Sequence[bytes], limit: int) -> list[int]:
    """The candidates with the highest scores, best first, ties by id."""
    least = scores[scores.argpartition(-limit)[-limit]] if 0 < limit < len(scores) else -np.inf
    good = (scores >= least).nonzero()[0].tolist()
    return sorted(good, key=lambda i: (-scores.item(i), ids[i]))[:limit]


def _named_speakers(columns: EpisodeColumns, names: Sequence[str]) -> IntColumn:
    """The candidates' speakers numbered as in `names`; -1 where a speaker is not among them."""
    numbers = {name: number for number, name in enumerate(names)}
    renumbered = np.array([numbers.get(name, -1) for name in columns.speakers], dtype=np.int32)
    return renumbered[columns.speaker]


def _derived_hits(
    name: str, weight: float, place: dict[bytes, int], hits: Iterable[tuple[Sequence[str], float]]
) -> _DerivedHits:
    """Spreads scores of derived memories, best first, over the candidates that they come from."""
    scores = np.zeros(len(place), dtype=np.float32)
    ranks: dict[int, RetrieverRank] = {}
    for rank, (sources, score) in enumerate(hits, 1):
        for source in sources:
            index = place.get(bytes.fromhex(source.replace("-", "")))
            if index is not None and index not in ranks:
                ranks[index] = RetrieverRank(name, rank, score)
                scores[index] = max(0.0, score)
    return _DerivedHits(name, scores, weight * scores, ranks)


def _retriever_ranks(columns: EpisodeColumns, index: int, derived: Iterable[_DerivedHits]) -> Iterator[RetrieverRank]:
    if rank := columns.dense_rank.item(index):
        yield RetrieverRank("dense", rank, columns.dense.item(index))
    if rank := columns.lexical_rank.item(index):
        yield RetrieverRank("lexical", rank, columns.lexical.item(index))
    for hits in derived:
        if index in hits.ranks:
            yield hits.ranks[index]
