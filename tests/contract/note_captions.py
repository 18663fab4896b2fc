"""What every driver of the note store must do with vectors of captions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.agentic.embedded import embed_notes
from services.agentic.former_vectors import NoteVectors
from services.agentic.model import CaptionVector, NoteStatus, WalkedLink
from services.agentic.store import NoteSearch, NoteStore, NoteWriter, WalkSettings
from services.common.owners import Owner
from services.common.scope import GLOBAL_SCOPE, Scope, ScopeLevel
from services.common.tier_embedder import TierEmbedder
from services.common.turns import Attachment
from tests.contract.note_samples import (
    ANN,
    BOB,
    MODEL,
    OTHER_TENANTS_ANN,
    PROJECT,
    add,
    angle,
    connect,
    delete,
    make_link,
    make_note,
    note_id,
    numbers,
    search,
    set_status,
)
from tests.support.embedding import HashingEmbedder


class NoteCaptionsContract:
    """Subclass it with a fixture `store` that returns a fresh, empty store."""

    async def test_spec_4_1_note_is_found_by_its_best_vector(self, store: NoteStore) -> None:
        await add(store, {90: make_note(1), 20: make_note(2), 120: make_note(3)})
        await caption(store, {1: {0: 80, 2: 10}, 3: {1: 170}})
        hits = await search(store, hops=0)
        assert [(int(hit.note.note_id[-12:]), hit.place) for hit in hits] == [(1, 2), (2, None), (3, None)]
        assert [hit.similarity for hit in hits] == pytest.approx([0.9848078, 0.9396926, -0.5], abs=1e-6)
        assert all(hit.score == hit.similarity and hit.path == () for hit in hits)

    async def test_of_equal_vectors_the_note_is_what_matched_and_then_the_first_caption(self, store: NoteStore) -> None:
        await add(store, {30: make_note(1), 90: make_note(2)})
        await caption(store, {1: {0: 30}, 2: {1: 30, 3: 30}})
        assert [(hit.note.note_id, hit.place) for hit in await search(store)] == [(note_id(1), None), (note_id(2), 1)]

    async def test_many_captions_of_one_note_take_no_place_of_others(self, store: NoteStore) -> None:
        await add(store, {90: make_note(1), 91: make_note(2), 92: make_note(3)})
        await caption(store, {1: {0: 1, 1: 2, 2: 3, 3: 4}, 2: {0: 5}})
        assert numbers(await search(store, limit=2, hops=0)) == [1, 2]

    async def test_spec_4_10_walk_begins_at_a_note_that_its_caption_finds(self, store: NoteStore) -> None:
        await add(store, {90: make_note(1), 100: make_note(2), 60: make_note(3)})
        await caption(store, {1: {0: 0}, 2: {0: 95}})
        await connect(store, make_link(1, 2, 1.0))
        hits = await search(store, walk=WalkSettings(damping=0.9))
        assert [(hit.note.note_id, hit.path, hit.place) for hit in hits] == [
            (note_id(1), (), 0),
            (note_id(2), (WalkedLink(note_id(1), 1.0),), None),
            (note_id(3), (), None),
        ]
        assert hits[1].score == pytest.approx(0.9)

    async def test_similarity_of_a_walked_note_counts_its_captions(self, store: NoteStore) -> None:
        await add(store, {0: make_note(1), 150: make_note(2), 1: make_note(3)})
        await caption(store, {2: {0: 60}})
        await connect(store, make_link(1, 2, 1.0))
        hits = await search(store, limit=2, walk=WalkSettings(damping=1.0, seeds_max=2))
        [walked] = [hit for hit in hits if hit.path]
        assert (walked.note.note_id, walked.place) == (note_id(2), None)
        assert walked.similarity == pytest.approx(0.5, abs=1e-6)

    async def test_captions_that_are_put_replace_those_before(self, store: NoteStore) -> None:
        await add(store, {90: make_note(1), 60: make_note(2)})
        await caption(store, {1: {0: 0}}, model="test@0")
        assert numbers(await search(store)) == [2, 1]
        await caption(store, {1: {0: 0, 1: 1}})
        assert numbers(await search(store)) == [1, 2]
        await caption(store, {1: {1: 89}})
        assert [(int(hit.note.note_id[-12:]), hit.place) for hit in await search(store)] == [(2, None), (1, 1)]
        await caption(store, {1: {}})
        assert [hit.place for hit in await search(store)] == [None, None]

    async def test_archived_notes_are_not_found_by_captions(self, store: NoteStore) -> None:
        await add(store, {90: make_note(1), 60: make_note(2)})
        await caption(store, {1: {0: 0}})
        await set_status(store, NoteStatus.ARCHIVED, 1)
        assert numbers(await search(store)) == [2]
        await caption(store, {1: {0: 1}})
        assert numbers(await search(store)) == [2]
        await set_status(store, NoteStatus.ACTIVE, 1)
        assert numbers(await search(store)) == [1, 2]

    async def test_deleted_notes_leave_no_caption(self, store: NoteStore) -> None:
        await add(store, {90: make_note(1), 60: make_note(2)})
        await caption(store, {1: {0: 0}, 2: {0: 1}})
        assert (await delete(store, 1)).notes == 1
        assert numbers(await search(store)) == [2]
        await add(store, {90: make_note(1)})
        assert [(int(hit.note.note_id[-12:]), hit.place) for hit in await search(store)] == [(2, 0), (1, None)]
        await store.write(ANN, lambda writer: writer.delete_all())
        assert await search(store) == []

    async def test_spec_5_3_captions_are_seen_by_who_sees_the_note(self, store: NoteStore) -> None:
        await add(store, {90: make_note(1, scope=PROJECT), 60: make_note(2)})
        await caption(store, {1: {0: 0}})
        assert numbers(await search(store)) == [2]
        assert numbers(await search(store, reader=Scope(ScopeLevel.TASK, "apollo", "s", "t"))) == [1, 2]

    async def test_spec_7_1_captions_of_others_are_never_found(self, store: NoteStore) -> None:
        for number, owner in enumerate((ANN, BOB, OTHER_TENANTS_ANN), 1):
            await add(store, {90: make_note(number, owner)}, owner)
        await caption(store, {2: {0: 0}}, owner=BOB)
        await caption(store, {3: {0: 0}}, owner=OTHER_TENANTS_ANN)
        [hit] = await search(store)
        assert (hit.note.note_id, hit.place) == (note_id(1), None)

    async def test_spec_8_4_captions_follow_a_change_of_the_model(self, store: NoteStore) -> None:
        former, present = HashingEmbedder(model_name="former"), HashingEmbedder(model_name="present")
        attachments = tuple(Attachment(caption=each) for each in ("", "a red kite", "two dogs", "a lake"))
        note = replace(make_note(1), attachments=attachments)
        embedded = await embed_notes(TierEmbedder(former), [note, make_note(2)], captions_max=2)

        async def write(writer: NoteWriter) -> None:
            await writer.add_notes([note, make_note(2)], embedded.vectors, model=former.fingerprint)
            await writer.put_captions([note_id(1)], embedded.captions[note_id(1)], model=former.fingerprint)

        await store.write(ANN, write)
        vectors, model = NoteVectors(store, captions_max=2), present.fingerprint
        texts = await vectors.texts(ANN, [note_id(1), note_id(2)])
        made = await present.embed_documents([each.text for each in texts])
        assert await vectors.replace(ANN, texts, made, model=model) == {note_id(1), note_id(2)}

        async def places(words: str) -> list[tuple[str, int | None]]:
            search = NoteSearch(present.vector(words), model, GLOBAL_SCOPE, 1, 0, WalkSettings())
            return [(hit.note.note_id, hit.place) for hit in await store.search(ANN, search)]

        assert await places("a red kite") == [(note_id(1), 1)]
        assert await places("two dogs") == [(note_id(1), 2)]
        assert (await places("a lake"))[0][1] in {1, None}, "beyond the bound"

        # What is changed meanwhile stays as it is.
        changed = replace(note, attachments=(*attachments[:2], Attachment(caption="three cats")))
        await store.write(ANN, lambda writer: writer.update_notes([changed]))
        assert await vectors.replace(ANN, texts, made, model=model) == {note_id(2)}


async def caption(
    store: NoteStore, captions: dict[int, dict[int, float]], owner: Owner = ANN, model: str = MODEL
) -> None:
    """Gives notes, by number, captions by place and angle."""
    ids = [note_id(number) for number in captions]
    vectors = [
        CaptionVector(note_id(number), place, angle(degrees))
        for number, places in captions.items()
        for place, degrees in places.items()
    ]
    await store.write(owner, lambda writer: writer.put_captions(ids, vectors, model=model))
