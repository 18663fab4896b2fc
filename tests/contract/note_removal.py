"""What archiving, deleting and changing notes must do in every driver, with warm caches and a second replica."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from services.agentic.model import GenerationResult, LinkOrigin, LinkType, NoteStatus
from services.agentic.store import (
    NeighbourQuery,
    NoteFilter,
    NoteStore,
    NoteWriter,
    ProcessedTurn,
    RemovedCounts,
    TurnKey,
)
from services.common.errors import NotFound
from services.common.idempotency.model import IdempotencyKey, IdempotencyRecord
from services.common.owners import Owner, TenantId, UserId
from services.common.scope import GLOBAL_SCOPE
from tests.contract.note_samples import (
    ANN,
    BOB,
    MODEL,
    NOW,
    OTHER_TENANTS_ANN,
    add,
    angle,
    connect,
    delete,
    interaction_id,
    make_link,
    make_note,
    note_id,
    numbers,
    search,
    set_status,
)

ARCHIVED, ACTIVE = NoteStatus.ARCHIVED, NoteStatus.ACTIVE
NEAR = NeighbourQuery(MODEL, count_max=9, similarity_min=0.0, candidates_max=100)


async def fill(store: NoteStore, *owners: Owner) -> None:
    """Six notes of one conversation, nearest first; 1 is linked to 2 and 3, and 5 to 6."""
    for owner in owners or (ANN,):
        notes = {
            10.0 * i: replace(make_note(i, owner), conversation_id="c", position=i, derived_from=(interaction_id(i),))
            for i in range(1, 7)
        }
        await add(store, notes, owner)
        links = (make_link(1, 2, 0.9), make_link(3, 1, 0.8, LinkType.SUPPORTS), make_link(5, 6, 0.5))
        await connect(store, *links, owner=owner)
        turns = [
            ProcessedTurn(GenerationResult(interaction_id(i), (note_id(i),)), "c", i, question=f"q{i}?", speaker="Ann")
            for i in range(1, 7)
        ]
        await store.write(owner, lambda writer, turns=turns: writer.add_processed(turns))  # type: ignore[misc]


async def linked(store: NoteStore, number: int) -> set[int]:
    """Numbers of the notes that a note is linked to."""
    links = await store.list_links(ANN, note_id(number), link_type=None, after=None, limit=99)
    assert tuple(links) == (await store.get(ANN, note_id(number), links_max=99)).links
    ends = {int(end[-12:]) for link in links for end in (link.key.from_note_id, link.key.to_note_id)}
    return ends - {number}


async def listed(store: NoteStore, status: NoteStatus = ACTIVE) -> list[int]:
    found = await store.list_notes(ANN, NoteFilter(status=status), after=None, limit=99)
    return [int(note.note_id[-12:]) for note in found]


async def near(store: NoteStore) -> list[int]:
    """Notes that new ones would be linked to, alone and in a batch."""

    async def find(writer: NoteWriter) -> list[list[int]]:
        found = [
            await writer.neighbours(np.stack([angle(0)] * count), [GLOBAL_SCOPE] * count, NEAR) for count in (1, 20)
        ]
        return [[int(n.note_id[-12:]) for n in each] for batch in found for each in batch]

    first, *others = await store.write(ANN, find)
    assert all(other == first for other in others)
    return first


async def preceding(store: NoteStore, position: int) -> int:
    places = [TurnKey("c", position)]
    found = await store.write(ANN, lambda writer: writer.preceding_notes(places))
    return int(found[places[0]][0][-12:])


class NoteRemovalContract:
    """Subclass it with fixtures `store`, fresh and empty, and `replica`, another store on the same engine."""

    async def test_spec_6_6_deleted_notes_are_gone_from_everything_at_once(
        self, store: NoteStore, replica: NoteStore
    ) -> None:
        await fill(store, ANN, BOB, OTHER_TENANTS_ANN)
        for each in (store, replica):
            assert numbers(await search(each, limit=4)) == [1, 2, 3, 4]
        assert await delete(store, 1, 5, 99) == RemovedCounts(notes=2, links=3)
        for each in (replica, store):
            assert numbers(await search(each, limit=4)) == [2, 3, 4, 6], "a search returns its full limit"
            assert numbers(await search(each, limit=1, hops=0)) == [2]
            assert await listed(each) == [2, 3, 4, 6]
            assert await near(each) == [2, 3, 4, 6]
            assert [await linked(each, number) for number in (2, 3, 6)] == [set(), set(), set()]
            assert await preceding(each, 6) == 4
            for number in (1, 5):
                with pytest.raises(NotFound):
                    await each.get(ANN, note_id(number), links_max=1)
                with pytest.raises(NotFound):
                    await each.list_links(ANN, note_id(number), link_type=None, after=None, limit=1)
            with pytest.raises(NotFound):
                await connect(each, make_link(1, 2, 0.5))
            await each.record_access(ANN, {note_id(1): 1}, time=NOW)
        assert await delete(replica, 1, 5) == RemovedCounts(notes=0, links=0)
        for other in (BOB, OTHER_TENANTS_ANN):
            assert numbers(await search(replica, owner=other, limit=3)) == [1, 2, 3]

    async def test_spec_6_6_the_users_of_a_tenant_are_listed_by_pages(
        self, store: NoteStore, replica: NoteStore
    ) -> None:
        await fill(store, ANN, BOB, OTHER_TENANTS_ANN)
        assert await replica.users(ANN.tenant_id, after=UserId(""), limit=9) == [ANN.user_id, BOB.user_id]
        assert await replica.users(ANN.tenant_id, after=UserId(""), limit=1) == [ANN.user_id]
        assert await replica.users(ANN.tenant_id, after=ANN.user_id, limit=9) == [BOB.user_id]
        assert await replica.users(TenantId("nobody"), after=UserId(""), limit=9) == []

    async def test_a_deleted_note_is_taken_out_of_the_result_of_its_interaction(self, store: NoteStore) -> None:
        await fill(store)
        await delete(store, 1)
        ids = [interaction_id(1), interaction_id(2)]
        assert await store.processed(ANN, ids) == {
            ids[0]: GenerationResult(ids[0], ()),
            ids[1]: GenerationResult(ids[1], (note_id(2),)),
        }

    async def test_deleting_a_note_erases_the_responses_about_it(self, store: NoteStore) -> None:
        await fill(store)
        keys = [IdempotencyKey("p", f"r{i}", "d") for i in (1, 2)]

        async def record(writer: NoteWriter) -> None:
            for key, number in zip(keys, (1, 2), strict=True):
                added = IdempotencyRecord(key, ANN.user_id, note_id(number), "response", NOW)
                await writer.idempotency().add(added, purge_before=NOW)

        async def responses(writer: NoteWriter) -> list[str | None]:
            found = [await writer.idempotency().find(key) for key in keys]
            return [each.response for each in found if each is not None]

        await store.write(ANN, record)
        await delete(store, 1)
        assert await store.write(ANN, responses) == [None, "response"]

    async def test_spec_2_8_archived_notes_are_out_of_search_and_come_back_as_they_were(
        self, store: NoteStore, replica: NoteStore
    ) -> None:
        await fill(store, ANN, BOB)
        before = await search(store, limit=6)
        assert await search(replica, limit=6) == before
        assert await set_status(store, ARCHIVED, 1, 5, 99) == {1, 5}
        for each in (replica, store):
            assert numbers(await search(each, limit=4)) == [2, 3, 4, 6], "a search returns its full limit"
            assert (await listed(each), await listed(each, ARCHIVED)) == ([2, 3, 4, 6], [1, 5])
            assert await near(each) == [2, 3, 4, 6]
            assert [await linked(each, number) for number in (1, 2, 3, 5, 6)] == [set()] * 5
            assert await preceding(each, 6) == 4
            assert (await each.get(ANN, note_id(1), links_max=9)).note.status is ARCHIVED
            assert numbers(await search(each, owner=BOB, limit=4)) == [1, 2, 3, 4]
        assert await set_status(replica, ACTIVE, 1, 5) == {1, 5}
        for each in (replica, store):
            assert numbers(await search(each, limit=6)) == [1, 2, 3, 4, 5, 6]
            assert [(hit.score, hit.path) for hit in await search(each, limit=6)] == [
                (hit.score, hit.path) for hit in before
            ]
            assert [await linked(each, number) for number in (1, 2, 5)] == [{2, 3}, {1}, {6}]
            assert await near(each) == [1, 2, 3, 4, 5, 6]

    async def test_a_link_comes_back_when_both_of_its_notes_are_active(self, store: NoteStore) -> None:
        await fill(store)
        await set_status(store, ARCHIVED, 1, 2)
        await connect(store, make_link(2, 3, 0.7))
        await set_status(store, ACTIVE, 1)
        assert (await linked(store, 1), await linked(store, 2)) == ({3}, set())
        await set_status(store, ACTIVE, 2)
        assert (await linked(store, 1), await linked(store, 2)) == ({2, 3}, {1, 3})

    async def test_notes_that_have_the_status_stay_as_they_are(self, store: NoteStore) -> None:
        await fill(store)
        before = (await store.get(ANN, note_id(1), links_max=0)).note
        await set_status(store, ACTIVE, 1)
        assert (await store.get(ANN, note_id(1), links_max=0)).note == before
        await set_status(store, ARCHIVED, 1)
        after = (await store.get(ANN, note_id(1), links_max=0)).note
        assert after == replace(before, status=ARCHIVED, update_time=NOW + timedelta(hours=1))
        assert after.etag != before.etag

    async def test_an_archived_note_is_deleted_with_its_links(self, store: NoteStore, replica: NoteStore) -> None:
        await fill(store)
        await set_status(store, ARCHIVED, 1)
        assert await delete(replica, 1) == RemovedCounts(notes=1, links=2)
        assert numbers(await search(store, limit=9)) == [2, 3, 4, 5, 6]

    async def test_updated_notes_are_found_by_their_new_vector(self, store: NoteStore, replica: NoteStore) -> None:
        await fill(store)
        for each in (store, replica):
            assert numbers(await search(each, limit=2, hops=0)) == [1, 2]
        changed = replace(make_note(6), content="changed", tags=("x",), update_time=NOW + timedelta(days=2))

        async def change(writer: NoteWriter) -> None:
            await writer.update_notes([changed])
            await writer.replace_vectors([note_id(6)], angle(1)[None, :], model=MODEL)

        await store.write(ANN, change)
        for each in (replica, store):
            [first, _] = await search(each, limit=2, hops=0)
            assert (first.note.note_id, first.note.content, first.note.tags) == (note_id(6), "changed", ("x",))
            assert first.note.update_time == changed.update_time
            assert (await each.get(ANN, note_id(6), links_max=9)).note == changed
            assert await linked(each, 6) == {5}

    async def test_a_vector_of_another_model_replaces_that_of_the_first(self, store: NoteStore) -> None:
        await fill(store)
        ids = [note_id(1)]
        await store.write(ANN, lambda writer: writer.replace_vectors(ids, angle(1)[None, :], model="other@2"))
        assert numbers(await search(store, hops=0, limit=9)) == [2, 3, 4, 5, 6]

    async def test_the_vector_of_an_archived_note_can_change(self, store: NoteStore, replica: NoteStore) -> None:
        await fill(store)
        await set_status(store, ARCHIVED, 6)
        ids = [note_id(6)]
        await store.write(ANN, lambda writer: writer.replace_vectors(ids, angle(1)[None, :], model=MODEL))
        assert numbers(await search(replica, limit=2, hops=0)) == [1, 2]
        await set_status(store, ACTIVE, 6)
        assert numbers(await search(replica, limit=2, hops=0)) == [6, 1]

    async def test_links_of_origin_similarity_are_removed_alone(self, store: NoteStore) -> None:
        await fill(store)
        origins = {4: LinkOrigin.SIMILARITY, 5: LinkOrigin.CONVERSATION}
        made = [replace(make_link(1, number, 0.5), origin=origin) for number, origin in origins.items()]
        await connect(store, *made)
        assert await linked(store, 1) == {2, 3, 4, 5}
        await store.write(ANN, lambda writer: writer.delete_similarity_links([note_id(1)]))
        assert (await linked(store, 1), await linked(store, 4)) == ({2, 3, 5}, set())

    async def test_notes_are_found_by_their_sources(self, store: NoteStore) -> None:
        notes = (
            replace(make_note(1), derived_from=(interaction_id(1), interaction_id(2))),
            replace(make_note(2), derived_from=(interaction_id(3),), question_id=interaction_id(2), question_chars=2),
            replace(make_note(3), derived_from=(interaction_id(3),)),
        )
        await add(store, {float(i): note for i, note in enumerate(notes)})
        ids = [interaction_id(2), interaction_id(9)]
        assert await store.write(ANN, lambda writer: writer.notes_of_sources(ids)) == list(notes[:2])
        assert await store.write(BOB, lambda writer: writer.notes_of_sources(ids)) == []

    async def test_blocked_interactions_are_processed_and_leave_no_text(self, store: NoteStore) -> None:
        await fill(store)
        ids = [interaction_id(1), interaction_id(99), interaction_id(99)]
        for _ in range(2):
            await store.write(ANN, lambda writer: writer.block(ids))
        assert await store.processed(ANN, ids) == {each: GenerationResult(each, ()) for each in ids}
        assert await store.processed(BOB, ids) == {}
        assert list(await store.questions(ANN, [TurnKey("c", 1), TurnKey("c", 2)])) == [TurnKey("c", 2)]

    async def test_spec_6_6_an_owners_notes_go_in_parts_whatever_their_status(
        self, store: NoteStore, replica: NoteStore
    ) -> None:
        await fill(store, ANN, BOB)
        await set_status(store, ARCHIVED, 2)
        parts = [await store.write(ANN, lambda writer: writer.delete_some(4)) for _ in range(3)]
        assert [part.notes for part in parts] == [4, 2, 0]
        assert sum(part.links for part in parts) == 3
        for each in (replica, store):
            assert (await search(each), await listed(each), await listed(each, ARCHIVED)) == ([], [], [])
            assert numbers(await search(each, owner=BOB, limit=3)) == [1, 2, 3]
        rest = await store.write(ANN, lambda writer: writer.delete_all())
        assert (rest.notes, rest.links) == (0, 0)
        assert await replica.processed(ANN, [interaction_id(1)]) == {
            interaction_id(1): GenerationResult(interaction_id(1), ())
        }

    async def test_spec_6_6_all_of_an_owner_goes_and_nothing_of_others(
        self, store: NoteStore, replica: NoteStore
    ) -> None:
        await fill(store, ANN, BOB, OTHER_TENANTS_ANN)
        assert numbers(await search(replica, limit=3)) == [1, 2, 3]
        await set_status(store, ARCHIVED, 2)
        removed = await store.write(ANN, lambda writer: writer.delete_all())
        assert removed.data_keys in {0, 1}  # by whether content is encrypted
        assert replace(removed, data_keys=0) == RemovedCounts(notes=6, links=3)
        for each in (replica, store):
            assert await search(each) == []
            assert (await listed(each), await listed(each, ARCHIVED), await near(each)) == ([], [], [])
            for other in (BOB, OTHER_TENANTS_ANN):
                assert numbers(await search(each, owner=other, limit=3)) == [1, 2, 3]
        ids = [interaction_id(1), interaction_id(6)]
        assert await replica.processed(ANN, ids) == {each: GenerationResult(each, ()) for each in ids}
        assert await replica.questions(ANN, [TurnKey("c", 1)]) == {}
        assert await replica.write(ANN, lambda writer: writer.delete_all()) == RemovedCounts(notes=0, links=0)
        await add(store, {0: make_note(7)})
        assert numbers(await search(replica)) == [7]
