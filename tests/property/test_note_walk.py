"""The walk of a search against an enumeration of all ways, and where it stops early against one that does not."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.agentic.model import LinkType, NoteId, ScoredNote
from services.agentic.store import NoteSearch, NoteStore, WalkSettings
from services.agentic.stores.postgres import PostgresNoteStore
from services.common.owners import Owner, TenantId, UserId
from services.common.postgres.server import EmbeddedPostgres
from services.common.scope import GLOBAL_SCOPE, Scope, ScopeLevel
from tests.contract.note_drivers import neo4j_note_store, postgres_note_store
from tests.contract.note_samples import MODEL, angle, connect, make_link, make_note, note_id, store_notes
from tests.support.caches import eager_cache
from tests.support.examples import share_of

PROJECT = Scope(ScopeLevel.PROJECT, "apollo")
WALK = WalkSettings(damping=0.75, seeds_max=1_000, fanout_max=1_000, frontier_max=1_000)
_examples = itertools.count()


@dataclass(frozen=True)
class Graph:
    """Notes by number: their angles, which are hidden, and links (one, two, strength, type)."""

    angles: list[int]
    hidden: list[bool]
    links: list[tuple[int, int, float, LinkType]]


@st.composite
def graphs(draw: st.DrawFn, *, notes_max: int = 7, links_max: int = 14) -> Graph:
    count = draw(st.integers(1, notes_max))
    link = st.tuples(
        st.integers(0, count - 1),
        st.integers(0, count - 1),
        st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]),
        st.sampled_from(list(LinkType)),
    ).filter(lambda parts: parts[0] != parts[1])
    links = draw(st.lists(link, max_size=links_max)) if count > 1 else []
    unique = {make_link(one, two, 0.0, kind).key: (one, two, strength, kind) for one, two, strength, kind in links}
    return Graph(
        angles=draw(st.lists(st.integers(-180, 180), min_size=count, max_size=count)),
        hidden=draw(st.lists(st.booleans(), min_size=count, max_size=count)),
        links=list(unique.values()),
    )


def best_scores(graph: Graph, *, hops: int, sees_hidden: bool) -> dict[int, float]:
    """The score of each visible note: the best of all ways of at most `hops` links, tried one by one."""
    visible = [i for i, hidden in enumerate(graph.hidden) if sees_hidden or not hidden]
    similarity = {i: float(angle(graph.angles[i]) @ angle(0)) for i in visible}
    steps: dict[tuple[int, int], float] = {}
    for one, two, strength, _ in graph.links:
        for ends in ((one, two), (two, one)):
            steps[ends] = max(strength, steps.get(ends, 0.0))
    scores = dict(similarity)
    for length in range(1, hops + 1):
        for way in itertools.permutations(visible, length + 1):
            pairs = list(itertools.pairwise(way))
            if similarity[way[0]] > 0.0 and all(pair in steps for pair in pairs):
                reached = similarity[way[0]]
                for pair in pairs:
                    reached *= steps[pair] * WALK.damping
                scores[way[-1]] = max(scores[way[-1]], reached)
    return scores


@pytest.fixture
async def in_postgres(postgres_server: EmbeddedPostgres) -> AsyncIterator[NoteStore]:
    async with postgres_note_store(postgres_server) as opened:
        yield opened


@pytest.fixture
async def in_memory(postgres_server: EmbeddedPostgres) -> AsyncIterator[PostgresNoteStore]:
    async with postgres_note_store(postgres_server, eager_cache(), cached_min=1) as opened:
        yield opened


@pytest.fixture
async def in_neo4j(neo4j_url: str) -> AsyncIterator[NoteStore]:
    async with neo4j_note_store(neo4j_url) as opened:
        yield opened


@settings(max_examples=share_of(120), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=graphs(), hops=st.integers(0, 2), limit=st.integers(1, 8), sees_hidden=st.booleans())
async def test_spec_4_10_scores_are_those_of_the_best_ways_in_postgres(
    in_postgres: NoteStore, graph: Graph, hops: int, limit: int, sees_hidden: bool
) -> None:
    await _check_search(in_postgres, graph, hops=hops, limit=limit, sees_hidden=sees_hidden)


@settings(max_examples=share_of(50), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=graphs(), hops=st.integers(0, 2), limit=st.integers(1, 8), sees_hidden=st.booleans())
async def test_spec_4_10_scores_are_those_of_the_best_ways_in_neo4j(
    in_neo4j: NoteStore, graph: Graph, hops: int, limit: int, sees_hidden: bool
) -> None:
    await _check_search(in_neo4j, graph, hops=hops, limit=limit, sees_hidden=sees_hidden)


bounded_walks = st.builds(
    WalkSettings,
    damping=st.sampled_from([0.75, 0.95]),
    seeds_max=st.integers(1, 5),
    fanout_max=st.integers(1, 4),
    frontier_max=st.integers(1, 4),
)


@settings(max_examples=share_of(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=graphs(notes_max=12, links_max=30), walk=bounded_walks, hops=st.integers(0, 2), sees_hidden=st.booleans())
async def test_spec_4_10_a_walk_that_stops_early_finds_what_the_whole_walk_finds_in_postgres(
    in_postgres: NoteStore, graph: Graph, walk: WalkSettings, hops: int, sees_hidden: bool
) -> None:
    await _check_early_stop(in_postgres, graph, walk, hops=hops, sees_hidden=sees_hidden)


@settings(max_examples=share_of(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=graphs(notes_max=12, links_max=30), walk=bounded_walks, hops=st.integers(0, 2), sees_hidden=st.booleans())
async def test_spec_4_10_a_walk_that_stops_early_finds_what_the_whole_walk_finds_in_memory(
    in_memory: PostgresNoteStore, graph: Graph, walk: WalkSettings, hops: int, sees_hidden: bool
) -> None:
    cached_before = in_memory.cached_count
    await _check_early_stop(in_memory, graph, walk, hops=hops, sees_hidden=sees_hidden, settle=in_memory.settle)
    assert in_memory.cached_count == cached_before + len(graph.angles)


@settings(max_examples=share_of(30), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=graphs(notes_max=12, links_max=30), walk=bounded_walks, hops=st.integers(0, 2), sees_hidden=st.booleans())
async def test_spec_4_10_a_walk_that_stops_early_finds_what_the_whole_walk_finds_in_neo4j(
    in_neo4j: NoteStore, graph: Graph, walk: WalkSettings, hops: int, sees_hidden: bool
) -> None:
    await _check_early_stop(in_neo4j, graph, walk, hops=hops, sees_hidden=sees_hidden)


async def _check_early_stop(
    store: NoteStore,
    graph: Graph,
    walk: WalkSettings,
    *,
    hops: int,
    sees_hidden: bool,
    settle: Callable[[], Awaitable[None]] | None = None,
) -> None:
    owner = Owner(TenantId("acme"), UserId(f"user-{next(_examples)}"))
    await _fill(store, owner, graph)
    reader = PROJECT if sees_hidden else GLOBAL_SCOPE

    async def search(limit: int) -> list[ScoredNote]:
        return await store.search(owner, NoteSearch(angle(0), MODEL, reader, limit, hops, walk))

    if settle is not None:
        await search(1)
        await settle()
    # More hits than there are notes: none of them bounds the walk.
    whole = await search(len(graph.angles) + 1)
    for limit in range(1, len(whole) + 1):
        hits, expected = await search(limit), whole[:limit]
        assert [(hit.note.note_id, hit.path) for hit in hits] == [(hit.note.note_id, hit.path) for hit in expected]
        assert [hit.score for hit in hits] == [hit.score for hit in expected]
        assert [hit.similarity for hit in hits] == pytest.approx([hit.similarity for hit in expected], abs=1e-6)


async def _check_search(store: NoteStore, graph: Graph, *, hops: int, limit: int, sees_hidden: bool) -> None:
    owner = Owner(TenantId("acme"), UserId(f"user-{next(_examples)}"))
    await _fill(store, owner, graph)
    reader = PROJECT if sees_hidden else GLOBAL_SCOPE
    hits = await store.search(owner, NoteSearch(angle(0), MODEL, reader, limit, hops, WALK))
    expected = best_scores(graph, hops=hops, sees_hidden=sees_hidden)
    assert [h.score for h in hits] == pytest.approx(sorted(expected.values(), reverse=True)[:limit], abs=1e-6)
    assert [(-h.score, h.note.note_id) for h in hits] == sorted((-h.score, h.note.note_id) for h in hits)
    for hit in hits:
        assert hit.score == pytest.approx(expected[_number(hit.note.note_id)], abs=1e-6)
        assert hit.hops <= hops
        assert _score_of_way(
            graph, [*(_number(step.note_id) for step in hit.path), _number(hit.note.note_id)]
        ) == pytest.approx(hit.score, abs=1e-6)


def _score_of_way(graph: Graph, way: list[int]) -> float:
    score = float(angle(graph.angles[way[0]]) @ angle(0))
    for one, two in itertools.pairwise(way):
        score *= WALK.damping * max(s for a, b, s, _ in graph.links if {a, b} == {one, two})
    return score


async def _fill(store: NoteStore, owner: Owner, graph: Graph) -> None:
    notes = [make_note(i, owner, scope=PROJECT if hidden else GLOBAL_SCOPE) for i, hidden in enumerate(graph.hidden)]
    links = [make_link(one, two, strength, kind) for one, two, strength, kind in graph.links]
    await store_notes(store, owner, notes, np.stack([angle(degrees) for degrees in graph.angles]))
    await connect(store, *links, owner=owner)


def _number(identifier: NoteId) -> int:
    assert identifier == note_id(int(identifier[-12:]))
    return int(identifier[-12:])
