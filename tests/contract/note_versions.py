"""What every driver must do so that notes are found as of a time (SPEC 3.7)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from services.agentic.former import FormerNotes
from services.agentic.model import CaptionVector, Note, NoteId, NoteStatus
from services.agentic.store import VERSIONS_MAX, NoteSearch, NoteStore, NoteWriter, WalkSettings
from services.agentic.versions import Earlier, NoteHistory
from services.common.owners import Owner
from services.common.scope import GLOBAL_SCOPE
from services.common.turns import Attachment
from tests.contract.note_samples import (
    ANN,
    BOB,
    MODEL,
    NOW,
    OTHER_TENANTS_ANN,
    PROJECT,
    add,
    angle,
    delete,
    interaction_id,
    make_note,
    note_id,
    numbers,
)

ACTIVE, ARCHIVED = NoteStatus.ACTIVE, NoteStatus.ARCHIVED


def day(number: float) -> datetime:
    return NOW + timedelta(days=number)


async def change(
    store: NoteStore, note: Note, at: float, earlier: Earlier = Earlier.KEPT, owner: Owner = ANN, **fields: Any
) -> Note:
    """Updates a note on a day."""
    changed = replace(note, update_time=day(at), **fields)
    await store.write(owner, lambda writer: writer.update_notes([changed], earlier=earlier))
    return changed


async def put(store: NoteStore, status: NoteStatus, at: float, *ids: int) -> None:
    """Archives or restores notes on a day."""
    named = [note_id(number) for number in ids]
    await store.write(ANN, lambda writer: writer.set_status(named, status, update_time=day(at)))


async def history(store: NoteStore, number: int = 1, owner: Owner = ANN) -> NoteHistory:
    return (await store.histories(owner, [note_id(number)]))[note_id(number)]


def texts(found: NoteHistory, *days: float) -> list[str]:
    return [found.at(day(each)).content for each in days]


def query(degrees: float = 0.0, **changes: Any) -> NoteSearch:
    return replace(NoteSearch(angle(degrees), MODEL, GLOBAL_SCOPE, 10, 2, WalkSettings()), **changes)


async def as_of(
    store: NoteStore, known: float | None = None, held: float | None = None, *, candidates: int = 10, **changes: Any
) -> dict[int, str]:
    """What notes said, by their numbers, the nearest first."""
    hits = await FormerNotes(store, candidates=candidates).search(
        ANN,
        query(**changes),
        known_at=None if known is None else day(known),
        held_at=None if held is None else day(held),
    )
    assert all(hit.note.status is ACTIVE for hit in hits)
    return dict(zip(numbers(hits), (hit.note.content for hit in hits), strict=True))


async def erase(store: NoteStore, *interactions: int) -> None:
    ids = [interaction_id(number) for number in interactions]
    await store.write(ANN, lambda writer: writer.erase_versions(ids))


class NoteVersionsContract:
    """Subclass it with a fixture `store` that returns an empty store."""

    async def test_spec_3_7_a_note_has_the_text_that_it_had_at_a_time(self, store: NoteStore) -> None:
        first = replace(
            make_note(1),
            content="The boat is red.",
            keywords=("boat",),
            tags=("fleet",),
            metadata={"k": "v"},
            attachments=(Attachment("s3://boat", "image/png", "a red boat"),),
            derived_from=(interaction_id(1),),
        )
        await add(store, {0: first})
        blue = await change(store, first, 2, content="The boat is blue.", keywords=(), attachments=(), metadata={})
        await change(store, blue, 4, content="The boat is sold.", tags=())
        found = await history(store)
        assert texts(found, -1, 0, 1.9, 2, 3.9, 4, 9) == [
            *["The boat is red."] * 3,
            *["The boat is blue."] * 2,
            *["The boat is sold."] * 2,
        ]
        assert found.at(day(1)) == first, "with its tags, attachments, sources and all"
        assert found.at(day(3)) == blue
        assert found.at(day(9)) == found.note == (await store.get(ANN, note_id(1), links_max=0)).note

    async def test_spec_3_7_only_what_changes_is_stored(self, store: NoteStore) -> None:
        note = make_note(1)
        await add(store, {0: note})
        await change(store, note, 1)
        await change(store, note, 2, importance=0.9, feedback=1, raised=2)
        await put(store, ACTIVE, 3, 1)
        await store.record_access(ANN, {note.note_id: 3}, time=day(4))
        assert (await history(store)).versions == ()
        await change(store, note, 5, content="new")
        await change(store, note, 6, content="new")
        await put(store, ARCHIVED, 7, 1)
        await put(store, ARCHIVED, 8, 1)
        found = await history(store)
        assert [(v.end_time, v.status) for v in found.versions] == [(day(5), ACTIVE), (day(7), ACTIVE)]
        assert found.versions[1].text is None, "the text did not change with the status"
        assert await store.histories(ANN, [note_id(2)]) == {}

    async def test_spec_3_7_a_note_has_the_status_that_it_had_at_a_time(self, store: NoteStore) -> None:
        await add(store, {0: make_note(1), 10: make_note(2)})
        await put(store, ARCHIVED, 2, 1)
        await store.write(ANN, lambda writer: writer.set_successors({note_id(1): note_id(2)}))
        await put(store, ACTIVE, 4, 1)
        await put(store, ARCHIVED, 6, 1)
        found = await history(store)
        statuses = [found.at(day(each)).status for each in (1, 2, 3, 4, 5, 6)]
        assert statuses == [ACTIVE, ARCHIVED, ARCHIVED, ACTIVE, ACTIVE, ARCHIVED]
        assert found.at(day(5)).successor_id is None

    async def test_spec_3_7_two_changes_at_one_instant_leave_what_was_before_both(self, store: NoteStore) -> None:
        first, second = make_note(1), make_note(2)
        await add(store, {0: first, 10: second})

        async def both(writer: NoteWriter) -> None:
            await writer.set_status([first.note_id], ARCHIVED, update_time=day(1))
            await writer.update_notes([replace(first, content="new", update_time=day(1))])
            await writer.update_notes([replace(second, content="new", update_time=day(1))])
            await writer.update_notes([replace(second, content="newer", update_time=day(1))])
            await writer.set_status([second.note_id], ARCHIVED, update_time=day(1))

        await store.write(ANN, both)
        for number, content in ((1, "new"), (2, "newer")):
            found = await history(store, number)
            assert [(s.content, s.status) for s in (found.at(day(0)), found.at(day(1)))] == [
                (f"Ann: note {number}", ACTIVE),
                (content, ARCHIVED),
            ]

    async def test_spec_3_7_as_many_versions_are_stored_as_the_driver_is_told(self, store: NoteStore) -> None:
        await add(store, {0: make_note(1), 10: make_note(2)})
        await change(store, make_note(2), 1, content="new")
        for number in range(1, VERSIONS_MAX + 2):
            await change(store, make_note(1), number, content=f"text {number}")
        await put(store, ARCHIVED, VERSIONS_MAX + 2, 1)
        found = await history(store)
        assert [len(found.versions), len((await history(store, 2)).versions)] == [VERSIONS_MAX, 1]
        assert found.at(day(0)).content == "text 2", "the oldest one that is stored"
        assert found.at(day(50.5)).content == "text 50"

    async def test_spec_3_7_archived_notes_can_be_searched_alone(self, store: NoteStore) -> None:
        far = replace(make_note(3), attachments=(Attachment("s3://3", "image/png", "a picture"),))
        await add(store, {0: make_note(1), 20: make_note(2), 90: far, 40: make_note(4, scope=PROJECT)})
        await add(store, {0: make_note(5)}, owner=OTHER_TENANTS_ANN)

        async def picture(writer: NoteWriter) -> None:
            captions = [CaptionVector(note_id(3), 0, angle(10))]
            await writer.put_captions([note_id(3)], captions, model=MODEL)

        await store.write(ANN, picture)
        await put(store, ARCHIVED, 1, 2, 3, 4)
        assert numbers(await store.search(ANN, query())) == [1]
        hits = await store.search(ANN, query(is_archived=True))
        assert numbers(hits) == [3, 2]
        assert [(hit.note.status, hit.place, hit.hops) for hit in hits] == [(ARCHIVED, 0, 0), (ARCHIVED, None, 0)]
        assert numbers(await store.search(ANN, query(is_archived=True, limit=1))) == [3]
        assert numbers(await store.search(ANN, query(is_archived=True, reader=PROJECT))) == [3, 2, 4]
        assert await store.search(BOB, query(is_archived=True)) == []

    async def test_spec_3_7_what_was_known_is_found_with_its_text_though_it_is_archived_now(
        self, store: NoteStore
    ) -> None:
        made = replace(
            make_note(4), create_time=day(5), derived_from=(interaction_id(1),), source_note_ids=(note_id(2),)
        )
        late = replace(make_note(5), create_time=day(5), derived_from=(interaction_id(2),))
        first = make_note(1)
        await add(
            store, {0: first, 10: make_note(2), 20: replace(make_note(3), create_time=day(5)), 30: made, 40: late}
        )
        await change(store, first, 3, content="new")
        await put(store, ARCHIVED, 4, 2)
        assert await as_of(store, 1) == {1: "Ann: note 1", 2: "Ann: note 2", 5: "Ann: note 5"}
        assert await as_of(store, 4) == {1: "new", 5: "Ann: note 5"}
        assert list(await as_of(store, 6)) == [1, 3, 4, 5]
        assert list(await as_of(store, 1, limit=1)) == [1]
        assert list(await as_of(store, 1, candidates=1, limit=1, degrees=9.0)) == [2], "of each status the nearest one"

    async def test_spec_3_7_what_held_is_found_with_its_text_and_what_was_written_later_as_it_is(
        self, store: NoteStore
    ) -> None:
        first, later = make_note(1), replace(make_note(3), create_time=day(5))
        await add(store, {0: first, 10: make_note(2), 20: later, 30: replace(make_note(4), create_time=day(5))})
        await change(store, first, 3, content="new")
        await change(store, later, 6, content="newer")
        await put(store, ARCHIVED, 7, 2, 4)
        assert await as_of(store, held=1) == {1: "Ann: note 1", 2: "Ann: note 2", 3: "newer"}
        assert await as_of(store, held=8) == {1: "new", 3: "newer"}
        assert await as_of(store, 5.5, held=1) == {
            1: "Ann: note 1",
            2: "Ann: note 2",
            3: "Ann: note 3",
            4: "Ann: note 4",
        }, "what was written later as it was known"
        assert await as_of(store, 1, held=8) == {1: "Ann: note 1", 2: "Ann: note 2"}

    async def test_spec_3_7_what_was_corrected_was_known_and_never_held(self, store: NoteStore) -> None:
        first = make_note(1)
        await add(store, {0: replace(first, content="wrong")})
        right = await change(store, replace(first, content="wrong"), 2, Earlier.WRONG, content="right")
        await change(store, right, 4, content="changed")
        assert await as_of(store, 1) == {1: "wrong"}
        assert await as_of(store, held=1) == {1: "right"}
        assert await as_of(store, 3, held=1) == {1: "right"}
        assert await as_of(store, 1.5, held=1) == {1: "wrong"}, "nobody had corrected it"
        assert await as_of(store, held=5) == {1: "changed"}

    async def test_spec_6_6_what_versions_say_goes_with_its_sources(self, store: NoteStore) -> None:
        notes = {
            1: replace(make_note(1), derived_from=(interaction_id(1), interaction_id(2))),
            2: replace(make_note(2), question_id=interaction_id(3)),
            3: replace(make_note(3), source_note_ids=(note_id(1), note_id(2))),
            4: replace(make_note(4), derived_from=(interaction_id(4),)),
        }
        await add(store, {10 * number: note for number, note in notes.items()})
        for note in notes.values():
            await change(store, note, 1, content="new", question_id=None, derived_from=(), source_note_ids=())
        await put(store, ARCHIVED, 2, 1)

        async def before() -> list[str]:
            found = await store.histories(ANN, list(map(note_id, notes)))
            return [found[note_id(n)].at(day(0)).content for n in notes]

        assert await before() == [f"Ann: note {n}" for n in notes]
        await erase(store, 2, 3)
        assert await before() == ["new", "new", "Ann: note 3", "Ann: note 4"]
        assert (await history(store)).at(day(0)).status is ACTIVE, "the status of then is no text"
        await delete(store, 2)
        assert (await history(store, 3)).at(day(0)).content == "new", "it was made of what is deleted"

    async def test_spec_6_6_an_update_can_leave_nothing_of_what_was_before(self, store: NoteStore) -> None:
        await add(store, {0: make_note(1)})
        await change(store, make_note(1), 1, Earlier.ERASED, content="new")
        assert (await history(store)).versions == ()

    async def test_spec_6_6_versions_go_with_their_note_and_their_owner(self, store: NoteStore) -> None:
        async def fill(owner: Owner) -> None:
            for number in (1, 2):
                await add(store, {10 * number: make_note(number, owner)}, owner)
                await change(store, make_note(number, owner), 1, owner=owner, content="new")

        async def count(owner: Owner, number: int) -> int:
            return len((await history(store, number, owner)).versions)

        await fill(ANN)
        await fill(BOB)
        await delete(store, 1)
        await add(store, {10: make_note(1)})
        assert [await count(ANN, 1), await count(ANN, 2), await count(BOB, 1)] == [0, 1, 1]
        await store.write(ANN, lambda writer: writer.delete_some(1))
        await store.write(ANN, lambda writer: writer.delete_all())
        await add(store, {10: make_note(1), 20: make_note(2)})
        assert [await count(ANN, 1), await count(ANN, 2), await count(BOB, 2)] == [0, 0, 1]

    async def test_spec_7_1_versions_of_others_do_not_exist(self, store: NoteStore) -> None:
        for owner in (ANN, OTHER_TENANTS_ANN):
            await add(store, {0: make_note(1, owner)}, owner)
        await change(store, make_note(1), 1, content="new")
        other = (await store.histories(OTHER_TENANTS_ANN, [NoteId(note_id(1))]))[note_id(1)]
        assert (other.note.content, other.versions) == ("Ann: note 1", ())
