"""What every driver of the note store must do; `note_search.py` says it of searches."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from services.agentic import linking
from services.agentic.model import GenerationResult, LinkKey, LinkOrigin, LinkType, Note, NoteId, NoteKind, NoteStatus
from services.agentic.store import (
    LinkPosition,
    NoteFilter,
    NotePosition,
    NoteStore,
    NoteWriter,
    ProcessedTurn,
    StoredQuestion,
    TurnKey,
)
from services.common.errors import NotFound
from services.common.owners import Owner
from services.common.scope import GLOBAL_SCOPE, GrantedReader, Reader
from services.common.turns import Attachment
from tests.contract.note_samples import (
    AGENT,
    ANN,
    BOB,
    MODEL,
    NOW,
    OTHER_PROJECT,
    OTHER_TENANTS_ANN,
    PROJECT,
    add,
    angle,
    connect,
    interaction_id,
    make_link,
    make_note,
    note_id,
    search,
    set_status,
)


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
            question_id=interaction_id(3),
            question_chars=4,
            feedback=-1,
        )
        await add(store, {0: note})
        assert (await store.get(ANN, note_id(1), links_max=10)).note == note

    async def test_spec_7_1_notes_of_others_do_not_exist(self, store: NoteStore) -> None:
        await add(store, {0: make_note(1)})
        for stranger in (BOB, OTHER_TENANTS_ANN):
            with pytest.raises(NotFound):
                await store.get(stranger, note_id(1), links_max=10)
            assert await store.list_notes(stranger, NoteFilter(), after=None, limit=10) == []
            assert await search(store, owner=stranger) == []
            await add(store, {0: make_note(2, stranger)}, stranger)
            with pytest.raises(NotFound):
                await connect(store, make_link(1, 2, 0.5), owner=stranger)
            assert not await _deletes(store, stranger, make_link(1, 2, 0.5).key)

    async def test_same_ids_under_two_tenants(self, store: NoteStore) -> None:
        await add(store, {0: make_note(1)})
        await add(store, {90: replace(make_note(1), content="theirs")}, OTHER_TENANTS_ANN)
        assert (await store.get(ANN, note_id(1), links_max=1)).note.content == "Ann: note 1"
        assert (await store.get(OTHER_TENANTS_ANN, note_id(1), links_max=1)).note.content == "theirs"

    async def test_list_newest_first_ties_by_id(self, store: NoteStore) -> None:
        await add(store, {i: make_note(i, minutes=minutes) for i, minutes in ((1, 0), (2, 5), (4, 0), (3, 0))})
        found = await store.list_notes(ANN, NoteFilter(), after=None, limit=10)
        assert [note.note_id for note in found] == [note_id(i) for i in (2, 1, 3, 4)]

    async def test_pages_hold_each_note_once_while_others_are_written(self, store: NoteStore) -> None:
        await add(store, {i: make_note(i, minutes=i // 3) for i in range(1, 12)})
        seen: list[NoteId] = []
        after = None
        for turn in range(6):
            page = await store.list_notes(ANN, NoteFilter(), after=after, limit=2)
            seen += [note.note_id for note in page]
            after = NotePosition(page[-1].create_time, page[-1].note_id)
            await add(store, {0: make_note(100 + turn, minutes=60 + turn)})
        assert sorted(seen) == [note_id(i) for i in range(1, 12)]

    async def test_list_of_one_kind(self, store: NoteStore) -> None:
        await add(store, {0: make_note(1), 1: replace(make_note(2), kind=NoteKind.CONCEPT)})
        found = await store.list_notes(ANN, NoteFilter(kind=NoteKind.CONCEPT), after=None, limit=10)
        assert [note.note_id for note in found] == [note_id(2)]
        assert await store.list_notes(ANN, NoteFilter(kind=NoteKind.PROCEDURE), after=None, limit=10) == []

    async def test_spec_4_1_notes_are_filtered_by_tag_status_and_time(self, store: NoteStore) -> None:
        await add(
            store,
            {
                0: replace(make_note(1), tags=("a", "b")),
                1: replace(make_note(2), tags=("b",), time=NOW),
                2: replace(make_note(3), time=NOW + timedelta(days=1)),
            },
        )
        await set_status(store, NoteStatus.ARCHIVED, 3)

        async def listed(which: NoteFilter) -> list[int]:
            found = await store.list_notes(ANN, which, after=None, limit=10)
            return [int(note.note_id[-12:]) for note in found]

        assert await listed(NoteFilter()) == [1, 2]
        assert await listed(NoteFilter(tag="b")) == [1, 2]
        assert await listed(NoteFilter(tag="a")) == [1]
        assert await listed(NoteFilter(status=NoteStatus.ARCHIVED)) == [3]
        assert await listed(NoteFilter(start_time=NOW)) == [2]
        assert await listed(NoteFilter(end_time=NOW)) == [1]
        assert await listed(NoteFilter(status=NoteStatus.ARCHIVED, kind=NoteKind.FACT, start_time=NOW)) == [3]

    async def test_what_work_returns_is_returned(self, store: NoteStore) -> None:
        answer = object()

        async def work(writer: NoteWriter) -> object:
            await writer.add_notes([make_note(1)], angle(0)[None, :], model=MODEL)
            return answer

        assert await store.write(ANN, work) is answer
        assert (await store.get(ANN, note_id(1), links_max=1)).note == make_note(1)

    @pytest.mark.parametrize("error", [LookupError("ours"), NotFound("note", "x")], ids=["foreign", "own"])
    async def test_work_that_raises_writes_nothing(self, store: NoteStore, error: Exception) -> None:
        async def work(writer: NoteWriter) -> None:
            await writer.add_notes([make_note(1)], angle(0)[None, :], model=MODEL)
            raise error

        with pytest.raises(type(error)) as caught:
            await store.write(ANN, work)
        assert caught.value is error
        assert await store.list_notes(ANN, NoteFilter(), after=None, limit=10) == []
        assert await search(store) == []

    async def test_cancelled_work_writes_nothing(self, store: NoteStore) -> None:
        inside = asyncio.Event()

        async def work(writer: NoteWriter) -> None:
            await writer.add_notes([make_note(1)], angle(0)[None, :], model=MODEL)
            inside.set()
            await asyncio.Event().wait()

        task = asyncio.create_task(store.write(ANN, work))
        await inside.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await store.list_notes(ANN, NoteFilter(), after=None, limit=10) == []
        await add(store, {0: make_note(2)})

    async def test_works_of_one_user_run_one_after_the_other(self, store: NoteStore) -> None:
        turn = ProcessedTurn(GenerationResult(interaction_id(1), ()), "c", 0, question="", speaker="Ann")

        async def take(writer: NoteWriter) -> bool:
            if await writer.processed([interaction_id(1)]):
                return False
            await writer.add_processed([turn])
            return True

        taken = await asyncio.gather(*(store.write(ANN, take) for _ in range(4)))
        assert sorted(taken) == [False, False, False, True]

    async def test_works_of_two_users_do_not_wait_for_each_other(self, store: NoteStore) -> None:
        inside, done = asyncio.Event(), asyncio.Event()

        async def work(writer: NoteWriter) -> None:
            await writer.add_notes([make_note(1)], angle(0)[None, :], model=MODEL)
            inside.set()
            await done.wait()

        task = asyncio.create_task(store.write(ANN, work))
        await inside.wait()
        await add(store, {0: make_note(1, BOB)}, BOB)
        await add(store, {0: make_note(1, OTHER_TENANTS_ANN)}, OTHER_TENANTS_ANN)
        assert not task.done()
        done.set()
        await task

    async def test_processed_interactions_with_and_without_notes(self, store: NoteStore) -> None:
        results = [GenerationResult(interaction_id(1), (note_id(1),)), GenerationResult(interaction_id(2), ())]
        turns = [ProcessedTurn(r, "c", i, question="", speaker="Ann") for i, r in enumerate(results)]
        await store.write(ANN, lambda writer: writer.add_processed(turns))
        ids = [interaction_id(i) for i in (1, 2, 3)]
        assert await store.processed(ANN, ids) == {result.interaction_id: result for result in results}
        assert await store.processed(BOB, ids) == {}
        assert await store.processed(OTHER_TENANTS_ANN, ids) == {}

    async def test_questions_are_found_by_place(self, store: NoteStore) -> None:
        turns = [
            ProcessedTurn(GenerationResult(interaction_id(1), ()), "c", 4, question="Why?", speaker="Bo"),
            ProcessedTurn(GenerationResult(interaction_id(2), ()), "c", 5, question="", speaker="Bo"),
        ]
        await store.write(ANN, lambda writer: writer.add_processed(turns))
        places = [TurnKey("c", 4), TurnKey("c", 5), TurnKey("d", 4)]
        assert await store.questions(ANN, places) == {TurnKey("c", 4): StoredQuestion(interaction_id(1), "Bo", "Why?")}
        assert await store.questions(BOB, places) == {}

    async def test_preceding_note_of_the_conversation(self, store: NoteStore) -> None:
        at = {i: replace(make_note(i), conversation_id="c", position=i * 10) for i in (1, 2)}
        elsewhere = replace(make_note(3), conversation_id="d", position=19)
        await add(store, {0: at[1], 1: at[2], 2: elsewhere})
        places = [TurnKey("c", position) for position in (10, 11, 20, 99)]
        found = await store.write(ANN, lambda writer: writer.preceding_notes(places))
        assert {key.position: value[0] for key, value in found.items()} == {
            11: note_id(1),
            20: note_id(1),
            99: note_id(2),
        }

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

    async def test_a_link_keeps_its_time_of_creation_when_its_strength_is_set(self, store: NoteStore) -> None:
        await add(store, {0: make_note(1), 1: make_note(2)})
        later = NOW + timedelta(days=1)
        await connect(store, replace(make_link(1, 2, 0.5), origin=LinkOrigin.SIMILARITY))
        [again] = await connect(store, replace(make_link(1, 2, 0.9), create_time=later, update_time=later))
        assert again == replace(make_link(1, 2, 0.9), update_time=later)
        assert await store.write(ANN, lambda writer: writer.get_link(again.key)) == again
        assert await store.write(BOB, lambda writer: writer.get_link(again.key)) is None

    async def test_pages_of_links_hold_each_link_once(self, store: NoteStore) -> None:
        await add(store, {float(i): make_note(i) for i in range(1, 8)})
        made = [make_link(4, i, 0.25 * (i % 3)) for i in (1, 2, 3, 5, 6, 7)]
        made += [make_link(4, 1, 0.25, LinkType.SUPPORTS), make_link(1, 4, 0.25, LinkType.SUPPORTS)]
        await connect(store, *made)
        for link_type in (None, LinkType.SUPPORTS):
            expected = linking.in_order(link for link in made if link_type in {None, link.key.type})
            after, seen = None, []
            for _ in expected:
                [link] = await store.list_links(ANN, note_id(4), link_type=link_type, after=after, limit=1)
                seen.append(link)
                after = LinkPosition(link.strength, link.key)
            assert seen == expected
            assert await store.list_links(ANN, note_id(4), link_type=link_type, after=after, limit=1) == []
        with pytest.raises(NotFound):
            await store.list_links(BOB, note_id(4), link_type=None, after=None, limit=9)

    async def test_spec_5_3_lists_hold_what_a_reader_sees_and_pages_are_full(self, store: NoteStore) -> None:
        places = (GLOBAL_SCOPE, PROJECT, OTHER_PROJECT, AGENT)
        notes = {float(n): make_note(n, scope=places[n % 4], minutes=n) for n in range(1, 13)}
        await add(store, notes)
        await connect(store, *(make_link(4, n, 0.05 * n) for n in range(5, 13)))

        async def listed(reader: Reader | None) -> list[int]:
            paged: list[Note] = []
            after = None
            while page := await store.list_notes(ANN, NoteFilter(reader=reader), after=after, limit=2):
                paged += page
                after = NotePosition(page[-1].create_time, page[-1].note_id)
                assert len(page) == 2 or len(paged) % 2
            return [int(note.content.split()[-1]) for note in paged]

        async def linked(reader: Reader | None) -> list[float]:
            links = await store.list_links(ANN, note_id(4), link_type=None, after=None, limit=3, reader=reader)
            assert tuple(links) == (await store.get(ANN, note_id(4), links_max=3, reader=reader)).links
            return [round(link.strength / 0.05) for link in links]

        assert await listed(None) == list(range(12, 0, -1))
        assert await listed(GLOBAL_SCOPE) == [12, 8, 4]
        assert await listed(PROJECT) == [12, 9, 8, 5, 4, 1]
        assert await listed(AGENT) == [11, 7, 3]
        granted = GrantedReader(GLOBAL_SCOPE, (AGENT,))
        assert await listed(granted) == [12, 11, 8, 7, 4, 3]
        assert await linked(None) == [12, 11, 10]
        assert await linked(PROJECT) == [12, 9, 8]
        assert await linked(granted) == [12, 11, 8]
        with pytest.raises(NotFound):
            await store.get(ANN, note_id(4), links_max=1, reader=AGENT)
        with pytest.raises(NotFound):
            await store.list_links(ANN, note_id(4), link_type=None, after=None, limit=1, reader=AGENT)

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
        assert not await _deletes(store, BOB, make_link(1, 2, 0.5).key)
        assert await _deletes(store, ANN, make_link(1, 2, 0.5).key)
        assert not await _deletes(store, ANN, make_link(1, 2, 0.5).key)
        assert [link.key.type for link in (await store.get(ANN, note_id(2), links_max=9)).links] == [LinkType.PART_OF]

    async def test_access_counts(self, store: NoteStore) -> None:
        await add(store, {0: make_note(1), 1: make_note(2)})
        await store.record_access(ANN, {note_id(1): 2, note_id(9): 1}, time=NOW)
        await store.record_access(ANN, {note_id(1): 1}, time=NOW - timedelta(hours=1))
        await store.record_access(BOB, {note_id(2): 5}, time=NOW)
        one = (await store.get(ANN, note_id(1), links_max=1)).note
        assert (one.access_count, one.last_access_time) == (3, NOW)
        two = (await store.get(ANN, note_id(2), links_max=1)).note
        assert (two.access_count, two.last_access_time) == (0, None)


async def _deletes(store: NoteStore, owner: Owner, key: LinkKey) -> bool:
    return await store.write(owner, lambda writer: writer.delete_link(key))
