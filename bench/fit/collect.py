"""Asks a gateway each judged question, and keeps what its rankers saw of every candidate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from bench.fit.dataset import Dataset
from bench.gateway import Gateway, retried
from mneme.gateway.v1 import recall_pb2

LIMIT: Final = 200
"""Candidates of a question: as many as one answer may hold."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A question, and the memories that answer it."""

    user_id: str
    question: str
    relevant_ids: frozenset[str]
    set_name: str = "judgements"
    conversation: str = ""
    category: str = ""
    units: Mapping[str, str] = field(default_factory=dict)
    """What a relevant memory is a part of, where any part will do; each is its own piece of evidence otherwise."""
    limit: int = LIMIT
    """Candidates to keep."""

    @property
    def evidence(self) -> Mapping[str, int]:
        """The number of the piece of evidence that each relevant memory is, from 0."""
        units = {identifier: self.units.get(identifier, identifier) for identifier in self.relevant_ids}
        numbers = {unit: number for number, unit in enumerate(sorted(set(units.values())))}
        return {identifier: numbers[unit] for identifier, unit in units.items()}


async def collect(gateway: Gateway, judgements: Iterable[Judgement], *, profile: str) -> Dataset:
    """Returns the candidates of all questions that have any.

    Args:
        gateway: Where the memories are.
        judgements: Questions with at least one relevant memory each.
        profile: `evidence` for features with token vectors, `light` for those without.
    """
    parts = [part for part in [await _ask(gateway, judgement, profile) for judgement in judgements] if part]
    if not parts:
        raise ValueError("no question has a candidate")
    return Dataset.joined(parts)


async def _ask(gateway: Gateway, judgement: Judgement, profile: str) -> Dataset | None:
    request = recall_pb2.RecallRequest(
        user_id=judgement.user_id,
        query=judgement.question,
        limit=judgement.limit,
        scoring=recall_pb2.Scoring(profile=profile),
        with_features=True,
    )
    response = await retried(lambda: gateway.recall(request))
    if not response.memories:
        return None
    evidence = judgement.evidence
    return Dataset(
        names=tuple(response.feature_names),
        rows=np.array([memory.features for memory in response.memories], dtype=np.float32),
        evidence=np.array([evidence.get(memory.memory_id, -1) for memory in response.memories], dtype=np.int32),
        counts=np.array([len(response.memories)]),
        relevant_counts=np.array([len(set(evidence.values()))]),
        sets=np.array([judgement.set_name]),
        conversations=np.array([judgement.conversation]),
        categories=np.array([judgement.category]),
    )


def names_of(judgements: Sequence[Judgement]) -> list[str]:
    """The conversations of the judgements, each once."""
    return list(dict.fromkeys(judgement.conversation for judgement in judgements))
