"""Turns that were archived since a time are candidates of a search as of that time (SPEC 3.7)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.episodic.candidates import CandidateQuery, Candidates
from tests.contract.episode_samples import GLOBAL, OWNER, episode_id, later, new_episode, write
from tests.integration.episodic.test_removal import EMBEDDER, Replica, index, named, pool, replicas

__all__ = ["index", "pool", "replicas"]
pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")


async def test_spec_3_7_archived_turns_are_scored_like_others(replicas: tuple[Replica, Replica]) -> None:
    first, second = replicas
    text = new_episode(3).text
    query = CandidateQuery(
        owner=OWNER,
        text=text,
        vector=EMBEDDER.vector(text),
        scope_keys=GLOBAL,
        retriever_limit=20,
        neighbour_seeds=0,
        neighbour_radius=0,
        with_statistics=True,
        tokens=EMBEDDER.token_vectors(text),
    )

    def scores(found: Candidates) -> dict[int, float]:
        return dict(zip(found.columns.positions, found.dense_scores, strict=True))

    before = scores(await first.service.search_candidates(query))
    assert before[3] == pytest.approx(1.0, abs=1e-4)
    # The service's clock stands at the beginning of the conversation.
    await first.store.archive(OWNER, named(3, 5), key=write("x"), now=later(days=2))
    assert sorted(scores(await second.service.search_candidates(query))) == [1, 2, 4, 6]
    found = await second.service.search_candidates(replace(query, archived_after=later(days=1)))
    assert scores(found) == pytest.approx(before, abs=1e-4)
    place = found.columns.positions.index(3)
    assert found.columns.episode_ids[place] == episode_id(3).bytes
    assert (found.dense_ranks[place], found.lexical_ranks[place]) == (0, 0)
    assert found.lexical_scores[place] > 0
    assert found.statistics is not None
    assert len(found.statistics.uses) == len(found.columns)
    assert found.late is not None
    assert len(found.late.present) == len(found.columns)
    assert not found.degraded
    later_on = await second.service.search_candidates(replace(query, archived_after=later(days=2)))
    assert sorted(scores(later_on)) == [1, 2, 4, 6]
