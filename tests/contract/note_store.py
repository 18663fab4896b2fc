"""What every driver of the note store must do."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from services.agentic.model import (
    GenerationResult,
    Link,
    LinkKey,
    LinkType,
    Note,
    NoteId,
    NoteKind,
    Owner,
    ScoredNote,
)
from services.agentic.store import (
    NeighbourQuery,
    NotePosition,
    NoteSearch,
    NoteStore,
    Receipt,
    TakenTurn,
    TurnKey,
    WalkSettings,
)
from services.common.errors import NotFound
from services.common.scope import GLOBAL_SCOPE, Scope, ScopeLevel
from services.common.turns import Attachment
from tests.contract.note_samples import (
    ANN,
    BOB,
    MODEL,
    NOW,
    OTHER_TENANTS_ANN,
    PROJECT,
    angle,
    interaction_id,
    make_link,
    make_note,
    note_id,
)


async def add(store: NoteStore, notes: dict[float, Note], owner: Owner = ANN, model: str = MODEL) -> None:
    """Stores notes by the angles of their vectors."""
    async with store.writing(owner) as writer:
        vectors = np.stack([angle(degrees) for degrees in notes])
        await writer.add_notes(list(notes.values()), vectors, model=model)


async def connect(store: NoteStore, *links: Link, owner: Owner = ANN) -> list[Link]:
    async with store.writing(owner) as writer:
        return await writer.put_links(links)


async def search(
    store: NoteStore,
    degrees: float = 0.0,
    *,
    owner: Owner = ANN,
    reader: Scope = GLOBAL_SCOPE,
    top_k: int = 10,
    hops: int = 2,
    walk: WalkSettings | None = None,
) -> list[ScoredNote]:
    chosen = walk or WalkSettings(damping=0.5)
    return await store.search(owner, NoteSearch(angle(degrees), MODEL, reader, top_k, hops, chosen))


def numbers(hits: list[ScoredNote]) -> list[int]:
    return [int(hit.note.note_id[-12:]) for hit in hits]


class NoteStoreContract:
    """Subclass it with a fixture `store` that returns a fresh, empty store."""

    async def test_absent_note(self, store: NoteStore) -> None:
        with pytest.raises(NotFound) as caught:
            await store.get(ANN, note_id(1), links_max=10)
        assert caught.value.metadata == {"resource": "note", "id": note_id(1)}

    async def test_note_comes_back_as_it_was(self, store: NoteStore) -> None:
        note = replace(
            make_note(1, scope=PROJECT),
            keywords=("tea", "Great North Run"),
            tags=("commitment",),
            attachments=(Attachment("file:a", "image/png", "a cat"), Attachment(caption="x")),
            metadata={"k": "v", "": "ü\n"},
            derived_from=(interaction_id(1), interaction_id(2)),
            kind=NoteKind.PREFERENCE,
            conversation_id="c",
            position=7,
            spoken="note 1",
        )
        await add(store, {0: note})
        assert (await store.get(ANN, note_id(1), links_max=10)).note == note

    async def test_spec_7_1_notes_of_others_do_not_exist(self, store: NoteStore) -> None:
        await add(store, {0: make_note(1)})
        for stranger in (BOB, OTHER_TENANTS_ANN):
            with pytest.raises(NotFound):
                await store.get(stranger, note_id(1), links_max=10)
            assert await store.list_notes(stranger, kind=None, after=None, limit=10) == []
            assert await search(store, owner=stranger) == []
            await add(store, {0: make_note(2, stranger)}, stranger)
            with pytest.raises(NotFound):
                await connect(store, make_link(1, 2, 0.5), owner=stranger)
            assert not await self._deletes(store, stranger, make_link(1, 2, 0.5).key)

    async def test_same_ids_under_two_tenants(self, store: NoteStore) -> None:
        await add(store, {0: make_note(1)})
        await add(store, {90: replace(make_note(1), content="theirs")}, OTHER_TENANTS_ANN)
        assert (await store.get(ANN, note_id(1), links_max=1)).note.content == "Ann: note 1"
        assert (await store.get(OTHER_TENANTS_ANN, note_id(1), links_max=1)).note.content == "theirs"

    async def test_list_newest_first_ties_by_id(self, store: NoteStore) -> None:
        await add(store, {i: make_note(i, minutes=minutes) for i, minutes in ((1, 0), (2, 5), (4, 0), (3, 0))})
        found = await store.list_notes(ANN, kind=None, after=None, limit=10)
        assert [note.note_id for note in found] == [note_id(i) for i in (2, 1, 3, 4)]

    async def test_pages_hold_each_note_once_while_others_are_written(self, store: NoteStore) -> None:
        await add(store, {i: make_note(i, minutes=i // 3) for i in range(1, 12)})
        seen: list[NoteId] = []
        after = None
        for turn in range(6):
            page = await store.list_notes(ANN, kind=None, after=after, limit=2)
            seen += [note.note_id for note in page]
            after = NotePosition(page[-1].create_time, page[-1].note_id)
            await add(store, {0: make_note(100 + turn, minutes=60 + turn)})
        assert sorted(seen) == [note_id(i) for i in range(1, 12)]

    async def test_list_of_one_kind(self, store: NoteStore) -> None:
        await add(store, {0: make_note(1), 1: replace(make_note(2), kind=NoteKind.CONCEPT)})
        found = await store.list_notes(ANN, kind=NoteKind.CONCEPT, after=None, limit=10)
        assert [note.note_id for note in found] == [note_id(2)]
        assert await store.list_notes(ANN, kind=NoteKind.PROCEDURE, after=None, limit=10) == []

    async def test_failed_block_writes_nothing(self, store: NoteStore) -> None:
        with pytest.raises(LookupError):
            await self._write_and_fail(store)
        assert await store.list_notes(ANN, kind=None, after=None, limit=10) == []

    async def test_cancelled_block_writes_nothing(self, store: NoteStore) -> None:
        inside = asyncio.Event()

        async def hold() -> None:
            async with store.writing(ANN) as writer:
                await writer.add_notes([make_note(1)], angle(0)[None, :], model=MODEL)
                inside.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(hold())
        await inside.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await store.list_notes(ANN, kind=None, after=None, limit=10) == []

    async def test_blocks_of_one_user_run_one_after_the_other(self, store: NoteStore) -> None:
        turn = TakenTurn(GenerationResult(interaction_id(1), ()), "c", 0, question="", speaker="Ann")

        async def take() -> bool:
            async with store.writing(ANN) as writer:
                if await writer.taken([interaction_id(1)]):
                    return False
                await writer.add_taken([turn])
                return True

        assert sorted(await asyncio.gather(*(take() for _ in range(4)))) == [False, False, False, True]

    async def test_taken_interactions_with_and_without_notes(self, store: NoteStore) -> None:
        results = [GenerationResult(interaction_id(1), (note_id(1),)), GenerationResult(interaction_id(2), ())]
        async with store.writing(ANN) as writer:
            await writer.add_taken([TakenTurn(r, "c", i, question="", speaker="Ann") for i, r in enumerate(results)])
        ids = [interaction_id(i) for i in (1, 2, 3)]
        assert await store.taken(ANN, ids) == {result.interaction_id: result for result in results}
        assert await store.taken(BOB, ids) == {}
        assert await store.taken(OTHER_TENANTS_ANN, ids) == {}

    async def test_questions_are_found_by_place(self, store: NoteStore) -> None:
        async with store.writing(ANN) as writer:
            await writer.add_taken(
                [
                    TakenTurn(GenerationResult(interaction_id(1), ()), "c", 4, question="Why?", speaker="Bo"),
                    TakenTurn(GenerationResult(interaction_id(2), ()), "c", 5, question="", speaker="Bo"),
                ]
            )
        places = [TurnKey("c", 4), TurnKey("c", 5), TurnKey("d", 4)]
        assert await store.questions(ANN, places) == {TurnKey("c", 4): ("Bo", "Why?")}
        assert await store.questions(BOB, places) == {}

    async def test_preceding_note_of_the_conversation(self, store: NoteStore) -> None:
        at = {i: replace(make_note(i), conversation_id="c", position=i * 10) for i in (1, 2)}
        elsewhere = replace(make_note(3), conversation_id="d", position=19)
        await add(store, {0: at[1], 1: at[2], 2: elsewhere})
        async with store.writing(ANN) as writer:
            places = [TurnKey("c", position) for position in (10, 11, 20, 99)]
            found = await writer.preceding_notes(places)
        assert {key.position: value[0] for key, value in found.items()} == {
            11: note_id(1),
            20: note_id(1),
            99: note_id(2),
        }

    async def test_receipts(self, store: NoteStore) -> None:
        receipt = Receipt("ann-key", "r1", "digest", "answer", NOW)
        async with store.writing(ANN) as writer:
            assert await writer.receipt("ann-key", "r1") is None
            await writer.add_receipt(receipt, forget_before=NOW - timedelta(days=7))
        async with store.writing(BOB) as writer:
            assert await writer.receipt("ann-key", "r1") == receipt
            assert await writer.receipt("bob-key", "r1") is None
        async with store.writing(OTHER_TENANTS_ANN) as writer:
            assert await writer.receipt("ann-key", "r1") is None

    async def test_old_receipts_are_forgotten(self, store: NoteStore) -> None:
        async with store.writing(ANN) as writer:
            await writer.add_receipt(Receipt("p", "old", "d", "a", NOW), forget_before=NOW)
            late = NOW + timedelta(days=8)
            await writer.add_receipt(Receipt("p", "new", "d", "a", late), forget_before=NOW + timedelta(days=1))
            assert await writer.receipt("p", "old") is None
            assert await writer.receipt("p", "new") is not None

    async def test_links_without_direction_exist_once(self, store: NoteStore) -> None:
        await add(store, {0: make_note(1), 1: make_note(2)})
        await connect(store, make_link(1, 2, 0.5))
        await connect(store, make_link(2, 1, 0.75), make_link(2, 1, 0.2, LinkType.SUPPORTS))
        for number in (1, 2):
            links = (await store.get(ANN, note_id(number), links_max=10)).links
            assert [(link.key, link.strength) for link in links] == [
                (LinkKey(note_id(1), note_id(2), LinkType.RELATED_TO), 0.75),
                (LinkKey(note_id(2), note_id(1), LinkType.SUPPORTS), 0.2),
            ]

    async def test_a_link_keeps_its_time_when_its_strength_is_set(self, store: NoteStore) -> None:
        await add(store, {0: make_note(1), 1: make_note(2)})
        await connect(store, make_link(1, 2, 0.5))
        [again] = await connect(store, replace(make_link(1, 2, 0.9), create_time=NOW + timedelta(days=1)))
        assert (again.strength, again.create_time) == (0.9, NOW)

    async def test_strongest_links_first_up_to_the_limit(self, store: NoteStore) -> None:
        await add(store, {float(i): make_note(i) for i in range(1, 5)})
        await connect(store, make_link(1, 2, 0.25), make_link(1, 3, 0.75), make_link(1, 4, 0.5))
        links = (await store.get(ANN, note_id(1), links_max=2)).links
        assert [link.strength for link in links] == [0.75, 0.5]

    async def test_link_to_an_absent_note(self, store: NoteStore) -> None:
        await add(store, {0: make_note(1)})
        with pytest.raises(NotFound) as caught:
            await connect(store, make_link(1, 2, 0.5))
        assert caught.value.metadata["id"] == note_id(2)

    async def test_delete_link(self, store: NoteStore) -> None:
        await add(store, {0: make_note(1), 1: make_note(2)})
        await connect(store, make_link(1, 2, 0.5), make_link(1, 2, 0.5, LinkType.PART_OF))
        assert not await self._deletes(store, BOB, make_link(1, 2, 0.5).key)
        assert await self._deletes(store, ANN, make_link(1, 2, 0.5).key)
        assert not await self._deletes(store, ANN, make_link(1, 2, 0.5).key)
        assert [link.key.type for link in (await store.get(ANN, note_id(2), links_max=9)).links] == [LinkType.PART_OF]

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
        hits = await search(store, top_k=3, walk=walk)
        assert [(hit.note.note_id, hit.path) for hit in hits] == [
            (note_id(1), ()),
            (note_id(2), (note_id(1),)),
            (note_id(4), ()),
        ]
        assert hits[1].score == pytest.approx(0.72)
        assert hits[1].similarity == pytest.approx(0.0, abs=1e-6)
        deep = await search(store, top_k=4, walk=walk)
        assert (numbers(deep), deep[-1].path) == ([1, 2, 4, 3], (note_id(1), note_id(2)))
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

    async def test_vectors_of_another_model_are_not_compared(self, store: NoteStore) -> None:
        await add(store, {0: make_note(1)}, model="other@2")
        assert await search(store) == []

    async def test_a_small_user_beside_a_large_one(self, store: NoteStore) -> None:
        many = {i / 100: make_note(1000 + i, BOB) for i in range(500)}
        await add(store, many, BOB)
        await connect(store, *(make_link(1000, 1000 + i, 0.9) for i in range(1, 300)), owner=BOB)
        await add(store, {80: make_note(1), 85: make_note(2)})
        assert numbers(await search(store, top_k=25)) == [1, 2]

    async def test_neighbours_alone_and_in_a_batch_are_the_same(self, store: NoteStore) -> None:
        await add(store, {float(i): make_note(i, scope=PROJECT if i % 3 == 0 else GLOBAL_SCOPE) for i in range(1, 40)})
        query = NeighbourQuery(MODEL, count_max=4, similarity_min=0.95, candidates_max=30)
        degrees = [0.7, 20.2, 33.2, 49.2, 90.2, 15.2, 16.2, 17.2, 18.2, 19.2]
        scopes = [PROJECT if i % 2 else GLOBAL_SCOPE for i in range(len(degrees))]
        vectors = np.stack([angle(d) for d in degrees])
        async with store.writing(ANN) as writer:
            batch = await writer.neighbours(vectors, scopes, query)
            alone = [(await writer.neighbours(vectors[i : i + 1], [scope], query))[0] for i, scope in enumerate(scopes)]
        assert [[n.note_id for n in near] for near in batch] == [[n.note_id for n in near] for near in alone]
        flat = [n.similarity for near in batch for n in near]
        assert flat == pytest.approx([n.similarity for near in alone for n in near], abs=1e-6)
        assert [len(near) for near in batch][4] == 0
        assert all(int(n.note_id[-12:]) >= 10 for near in batch for n in near), "only the newest 30 are looked at"
        assert all(int(n.note_id[-12:]) % 3 for near in batch[::2] for n in near), "a project's note is not for all"

    async def test_no_neighbours_in_an_empty_store(self, store: NoteStore) -> None:
        query = NeighbourQuery(MODEL, count_max=4, similarity_min=0.0, candidates_max=30)
        async with store.writing(ANN) as writer:
            for count in (1, 20):
                found = await writer.neighbours(np.stack([angle(0)] * count), [GLOBAL_SCOPE] * count, query)
                assert found == [[]] * count

    async def test_access_counts(self, store: NoteStore) -> None:
        await add(store, {0: make_note(1), 1: make_note(2)})
        await store.record_access(ANN, {note_id(1): 2, note_id(9): 1}, time=NOW)
        await store.record_access(ANN, {note_id(1): 1}, time=NOW - timedelta(hours=1))
        await store.record_access(BOB, {note_id(2): 5}, time=NOW)
        one = (await store.get(ANN, note_id(1), links_max=1)).note
        assert (one.access_count, one.last_access_time) == (3, NOW)
        two = (await store.get(ANN, note_id(2), links_max=1)).note
        assert (two.access_count, two.last_access_time) == (0, None)

    @staticmethod
    async def _write_and_fail(store: NoteStore) -> None:
        async with store.writing(ANN) as writer:
            await writer.add_notes([make_note(1)], angle(0)[None, :], model=MODEL)
            raise LookupError

    @staticmethod
    async def _deletes(store: NoteStore, owner: Owner, key: LinkKey) -> bool:
        async with store.writing(owner) as writer:
            return await writer.delete_link(key)
