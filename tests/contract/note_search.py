"""What searches of every driver of the note store must find."""

from __future__ import annotations

import numpy as np
import pytest

from services.agentic.model import LinkType, WalkedLink
from services.agentic.store import Neighbour, NeighbourQuery, NoteSearch, NoteStore, NoteWriter, WalkSettings
from services.common.scope import GLOBAL_SCOPE, Scope, ScopeLevel
from tests.contract.note_samples import (
    ANN,
    BOB,
    MODEL,
    OTHER_TENANTS_ANN,
    PROJECT,
    add,
    angle,
    connect,
    make_link,
    make_note,
    note_id,
    numbers,
    search,
    store_notes,
    unit_rows,
)


class NoteSearchContract:
    """Subclass it with a fixture `store` that returns a fresh, empty store."""

    async def test_spec_4_10_best_first_by_cosine_ties_by_id(self, store: NoteStore) -> None:
        await add(store, {60: make_note(1), -30: make_note(3), 30: make_note(2), 180: make_note(4)})
        hits = await search(store, hops=0)
        assert numbers(hits) == [2, 3, 1, 4]
        assert [hit.similarity for hit in hits] == pytest.approx([0.8660254, 0.8660254, 0.5, -1.0], abs=1e-6)
        assert all(hit.score == hit.similarity and hit.path == () for hit in hits)

    async def test_spec_4_10_walk_finds_what_is_not_similar(self, store: NoteStore) -> None:
        await add(store, {0: make_note(1), 90: make_note(2), 91: make_note(3), 45: make_note(4)})
        await connect(store, make_link(1, 2, 0.8), make_link(3, 2, 1.0, LinkType.SUPPORTS))
        # One seed: the walk begins at note 1 alone.
        walk = WalkSettings(damping=0.9, seeds_max=1)
        hits = await search(store, limit=3, walk=walk)
        assert [(hit.note.note_id, hit.path) for hit in hits] == [
            (note_id(1), ()),
            (note_id(2), (WalkedLink(note_id(1), 0.8),)),
            (note_id(4), ()),
        ]
        assert hits[1].score == pytest.approx(0.72)
        assert hits[1].similarity == pytest.approx(0.0, abs=1e-6)
        deep = await search(store, limit=4, walk=walk)
        assert (numbers(deep), deep[-1].path) == (
            [1, 2, 4, 3],
            (WalkedLink(note_id(1), 0.8), WalkedLink(note_id(2), 1.0)),
        )
        assert deep[-1].score == pytest.approx(0.9 * 0.8 * 0.9)

    async def test_hops_bound_the_walk(self, store: NoteStore) -> None:
        await add(store, {0: make_note(1), 100: make_note(2), 101: make_note(3), 102: make_note(4)})
        await connect(store, make_link(1, 2, 1.0), make_link(2, 3, 1.0), make_link(3, 4, 1.0))
        for hops, expected in ((0, [0, 0, 0, 0]), (1, [0, 1, 0, 0]), (2, [0, 1, 2, 0])):
            hits = {hit.note.note_id: hit.hops for hit in await search(store, hops=hops)}
            assert [hits[note_id(i)] for i in (1, 2, 3, 4)] == expected

    @pytest.mark.parametrize("link_type", list(LinkType))
    async def test_links_of_every_type_are_walked_both_ways(self, store: NoteStore, link_type: LinkType) -> None:
        await add(store, {0: make_note(5), 100: make_note(1), 110: make_note(9)})
        await connect(store, make_link(5, 1, 1.0, link_type), make_link(9, 5, 1.0, link_type))
        hits = await search(store, hops=1)
        assert {hit.note.note_id: hit.hops for hit in hits} == {note_id(5): 0, note_id(1): 1, note_id(9): 1}

    async def test_spec_5_3_walk_never_passes_an_invisible_note(self, store: NoteStore) -> None:
        await add(store, {0: make_note(1), 100: make_note(2, scope=PROJECT), 101: make_note(3)})
        await connect(store, make_link(1, 2, 1.0), make_link(2, 3, 1.0))
        outside = await search(store)
        assert (numbers(outside), [hit.hops for hit in outside]) == ([1, 3], [0, 0])
        inside = await search(store, reader=Scope(ScopeLevel.TASK, "apollo", "s", "t"))
        assert (numbers(inside), [hit.hops for hit in inside]) == ([1, 2, 3], [0, 1, 2])
        sibling = await search(store, reader=Scope(ScopeLevel.PROJECT, "gemini"))
        assert numbers(sibling) == [1, 3]

    async def test_fan_out_counts_visible_links_alone(self, store: NoteStore) -> None:
        await add(
            store,
            {0: make_note(1), 100: make_note(2, scope=PROJECT), 101: make_note(3), 102: make_note(4)},
        )
        await connect(store, make_link(1, 2, 1.0), make_link(1, 3, 0.9), make_link(1, 4, 0.8))
        hits = await search(store, walk=WalkSettings(damping=0.5, fanout_max=1))
        assert {hit.note.note_id: hit.hops for hit in hits} == {note_id(1): 0, note_id(3): 1, note_id(4): 0}

    async def test_own_similarity_wins_over_a_weaker_way(self, store: NoteStore) -> None:
        await add(store, {0: make_note(1), 10: make_note(2)})
        await connect(store, make_link(1, 2, 1.0))
        hits = await search(store, walk=WalkSettings(damping=0.9))
        assert [(hit.hops, hit.score == hit.similarity) for hit in hits] == [(0, True), (0, True)]

    async def test_spec_4_10_of_equal_scores_the_smaller_id_comes_first_also_over_a_link(
        self, store: NoteStore
    ) -> None:
        await add(store, {0: make_note(5), 360: make_note(9), 100: make_note(1), 110: make_note(2)})
        await connect(store, make_link(5, 1, 1.0), make_link(1, 2, 1.0))
        walk = WalkSettings(damping=1.0, seeds_max=1)
        for limit in (1, 2, 3, 4):
            assert numbers(await search(store, limit=limit, walk=walk)) == [1, 2, 5, 9][:limit]

    async def test_vectors_of_another_model_are_not_compared(self, store: NoteStore) -> None:
        await add(store, {0: make_note(1)}, model="other@2")
        assert await search(store) == []

    async def test_models_of_different_dimensions_stand_side_by_side(self, store: NoteStore) -> None:
        await add(store, {10: make_note(1)})
        wide = unit_rows(np.random.default_rng(3), 2, dimension=5)
        await store.write(ANN, lambda writer: writer.add_notes([make_note(2)], wide[:1], model="wide@1"))
        await connect(store, make_link(1, 2, 0.5))
        hits = await search(store)
        assert [(hit.note.note_id, hit.hops) for hit in hits] == [(note_id(1), 0), (note_id(2), 1)]
        assert hits[1].similarity == 0.0, "vectors of two models are not compared"
        found = await store.search(ANN, NoteSearch(wide[1], "wide@1", GLOBAL_SCOPE, 10, 0, WalkSettings()))
        assert numbers(found) == [2]

    async def test_a_small_user_beside_a_large_one(self, store: NoteStore) -> None:
        many = {i / 100: make_note(1000 + i, BOB) for i in range(500)}
        await add(store, many, BOB)
        await connect(store, *(make_link(1000, 1000 + i, 0.9) for i in range(1, 300)), owner=BOB)
        await add(store, {80: make_note(1), 85: make_note(2)})
        assert numbers(await search(store, limit=25)) == [1, 2]

    async def test_neighbours_alone_and_in_a_batch_are_the_same(self, store: NoteStore) -> None:
        await add(store, {float(i): make_note(i, scope=PROJECT if i % 3 == 0 else GLOBAL_SCOPE) for i in range(1, 40)})
        query = NeighbourQuery(MODEL, count_max=4, similarity_min=0.95, candidates_max=30)
        degrees = [0.7, 20.2, 33.2, 49.2, 90.2, 15.2, 16.2, 17.2, 18.2, 19.2]
        scopes = [PROJECT if i % 2 else GLOBAL_SCOPE for i in range(len(degrees))]
        vectors = np.stack([angle(d) for d in degrees])

        async def find(writer: NoteWriter) -> tuple[list[list[Neighbour]], list[list[Neighbour]]]:
            batch = await writer.neighbours(vectors, scopes, query)
            one_by_one = [await writer.neighbours(vectors[i : i + 1], [scope], query) for i, scope in enumerate(scopes)]
            return batch, [near for [near] in one_by_one]

        batch, alone = await store.write(ANN, find)
        assert [[n.note_id for n in near] for near in batch] == [[n.note_id for n in near] for near in alone]
        flat = [n.similarity for near in batch for n in near]
        assert flat == pytest.approx([n.similarity for near in alone for n in near], abs=1e-6)
        assert [len(near) for near in batch][4] == 0
        assert all(int(n.note_id[-12:]) >= 10 for near in batch for n in near), "only the newest 30 are looked at"
        assert all(int(n.note_id[-12:]) % 3 for near in batch[::2] for n in near), "a project's note is not for all"

    async def test_no_neighbours_in_an_empty_store(self, store: NoteStore) -> None:
        query = NeighbourQuery(MODEL, count_max=4, similarity_min=0.0, candidates_max=30)

        async def find(writer: NoteWriter) -> list[list[list[Neighbour]]]:
            return [
                await writer.neighbours(np.stack([angle(0)] * count), [GLOBAL_SCOPE] * count, query)
                for count in (1, 20)
            ]

        assert await store.write(ANN, find) == [[[]], [[]] * 20]

    async def test_neighbours_are_found_among_what_the_same_work_added(self, store: NoteStore) -> None:
        query = NeighbourQuery(MODEL, count_max=4, similarity_min=0.9, candidates_max=30)
        await add(store, {5: make_note(1)})

        async def add_and_find(writer: NoteWriter) -> list[list[list[Neighbour]]]:
            await writer.add_notes([make_note(2)], angle(3)[None, :], model=MODEL)
            return [
                await writer.neighbours(np.stack([angle(0)] * count), [GLOBAL_SCOPE] * count, query)
                for count in (1, 20)
            ]

        alone, batch = await store.write(ANN, add_and_find)
        for near in (*alone, *batch):
            assert [neighbour.note_id for neighbour in near] == [note_id(2), note_id(1)]

    async def test_spec_7_1_a_small_tenant_beside_a_large_one_finds_what_an_exact_search_finds(
        self, store: NoteStore
    ) -> None:
        generator = np.random.default_rng(7)
        for start in range(0, 20_000, 2_000):
            vectors = unit_rows(generator, 2_000)
            notes = [make_note(start + i, OTHER_TENANTS_ANN) for i in range(len(vectors))]
            await store_notes(store, OTHER_TENANTS_ANN, notes, vectors)
        own = unit_rows(generator, 20)
        await store_notes(store, ANN, [make_note(i) for i in range(20)], own)
        for query in unit_rows(generator, 25):
            expected = sorted(range(20), key=lambda i: (-float(own[i] @ query), i))
            for limit in (5, 25):
                hits = await store.search(ANN, NoteSearch(query, MODEL, GLOBAL_SCOPE, limit, 2, WalkSettings()))
                assert numbers(hits) == expected[:limit]
