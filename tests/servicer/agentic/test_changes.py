"""Updating, archiving, deleting and erasing notes and links over gRPC."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import grpc
import pytest
from google.protobuf import field_mask_pb2

from mneme.agentic.internal.v1 import notes_pb2 as internal_pb
from mneme.agentic.v1 import notes_pb2 as pb
from mneme.common.v1 import common_pb2
from tests.servicer.agentic.conftest import ANN, OTHER_TENANT, READER, Running
from tests.servicer.agentic.test_notes import contents, generation, interactions, refused, write
from tests.support.item_errors import reason_and_path

NOT_FOUND = (grpc.StatusCode.NOT_FOUND, "NOT_FOUND")
CONFLICT = (grpc.StatusCode.ABORTED, "CONFLICT")
ANSWER = "Bo asked: Where is the wedding? Ann answered: In a garden above Sintra, with white flowers and ivy."


async def create(running: Running, request_id: str, content: str, **fields: object) -> pb.Note:
    return (await running.stub.CreateNote(write(request_id, content, **fields), metadata=ANN)).note


async def get(running: Running, note_id: str) -> pb.GetNoteResponse:
    return await running.stub.GetNote(pb.GetNoteRequest(user_id="ann", note_id=note_id), metadata=READER)


async def found(running: Running, query: str, **fields: Any) -> list[str]:
    request = pb.SearchNotesRequest(user_id="ann", query=query, **fields)
    return [hit.note.note_id for hit in (await running.stub.SearchNotes(request, metadata=READER)).hits]


def update(request_id: str, note_id: str, paths: list[str] | None = None, **fields: Any) -> pb.UpdateNoteRequest:
    request = pb.UpdateNoteRequest(request_id=request_id, user_id="ann", note_id=note_id, **fields)
    if paths is not None:
        request.update_mask.paths.extend(paths)
    return request


async def test_without_a_mask_what_is_set_changes_and_nothing_else(running: Running) -> None:
    before = await create(running, "r1", "Tea is grown in Assam.", tags=["a"], importance=0.75)
    running.clock.advance(hours=1)
    request = update("u1", before.note_id, kind=pb.NOTE_KIND_CONCEPT, importance=0.0)
    after = await running.stub.UpdateNote(request, metadata=ANN)
    expected = pb.Note()
    expected.CopyFrom(before)
    expected.kind, expected.importance, expected.etag = pb.NOTE_KIND_CONCEPT, 0.0, after.note.etag
    expected.update_time.FromDatetime(running.clock.now())
    expected.decay = round(1.0 / (1.0 + 1.0 / 24 / 365), 3)
    assert (after.note, list(after.links)) == (expected, [])
    assert after.note.etag != before.etag
    assert (await get(running, before.note_id)).note == expected
    running.clock.advance(hours=1)
    assert await running.stub.UpdateNote(request, metadata=ANN) == after, "a repeat returns the first response"


async def test_spec_6_4_feedback_moves_the_importance_and_can_be_taken_back(running: Running) -> None:
    tea = await create(running, "r1", "Green tea is grown in Assam.", importance=0.5)
    missing = str(uuid4())

    async def judge(request_id: str, feedback: int) -> tuple[object, ...]:
        request = internal_pb.RecordFeedbackRequest(
            request_id=request_id, user_id="ann", note_ids=[tea.note_id, missing], feedback=feedback
        )
        response = await running.internal.RecordFeedback(request, metadata=ANN)
        assert list(response.note_ids) == [tea.note_id]
        note = (await get(running, tea.note_id)).note
        return note.feedback, note.importance

    assert await judge("f1", 1) == (1, pytest.approx(0.6))
    assert await judge("f2", -1) == (-1, pytest.approx(0.4))
    assert await judge("f1", 1) == (-1, pytest.approx(0.4)), "a repeat changes nothing"
    assert await judge("f3", 0) == (0, pytest.approx(0.5))
    await judge("f4", 1)
    changed = (await running.stub.UpdateNote(update("u1", tea.note_id, importance=0.9), metadata=ANN)).note
    assert (changed.feedback, changed.importance) == (0, 0.9)
    unset = internal_pb.RecordFeedbackRequest(request_id="f5", user_id="ann", note_ids=[tea.note_id])
    with pytest.raises(grpc.aio.AioRpcError, match="INVALID_ARGUMENT"):
        await running.internal.RecordFeedback(unset, metadata=ANN)


async def test_spec_4_1_a_note_shows_what_time_has_left_of_it(running: Running) -> None:
    tea = await create(running, "r1", "Green tea is grown in Assam.", importance=0.5)
    assert tea.decay == 1.0
    running.clock.advance(days=365)
    assert (await get(running, tea.note_id)).note.decay == pytest.approx(0.5)
    [listed] = (await running.stub.ListNotes(pb.ListNotesRequest(user_id="ann"), metadata=READER)).notes
    assert listed.decay == pytest.approx(0.5)
    assert await found(running, "Green tea is grown in Assam.") == [tea.note_id]
    await running.tier.recorder.flush()
    assert (await get(running, tea.note_id)).note.decay == 1.0, "an access begins it anew"
    assert (await create(running, "r1", "Green tea is grown in Assam.", importance=0.5)).decay == 1.0, "a repeat"


async def test_spec_4_3_uses_are_counted_once_and_refused_where_they_are_malformed(running: Running) -> None:
    notes = [await create(running, f"r{n}", text) for n, text in enumerate(("Tea is green.", "Boats float.", "Cats."))]
    ids = [note.note_id for note in notes]

    def request(*use_ids: str, note_ids: list[str] = ids) -> internal_pb.RecordUseRequest:
        uses = [internal_pb.NoteUse(use_id=use_id, note_ids=note_ids) for use_id in use_ids]
        for use in uses:
            use.time.FromDatetime(running.clock.now())
        return internal_pb.RecordUseRequest(user_id="ann", uses=uses)

    use_ids = [str(uuid4()) for _ in range(4)]
    first = await running.internal.RecordUse(request(*use_ids), metadata=ANN)
    assert (first.counted_uses, first.strengthened_links, first.created_links) == (4, 0, 3)
    again = await running.internal.RecordUse(request(*use_ids), metadata=ANN)
    assert (again.counted_uses, again.created_links) == (0, 0)
    assert {link.origin for link in (await get(running, ids[0])).links} == {pb.LINK_ORIGIN_USE}
    for malformed in (request(), request("no uuid"), request(str(uuid4()), note_ids=["no uuid"])):
        with pytest.raises(grpc.aio.AioRpcError, match="INVALID_ARGUMENT"):
            await running.internal.RecordUse(malformed, metadata=ANN)


async def test_a_mask_empties_lists_and_maps(running: Running) -> None:
    note = await create(running, "r1", "Tea is grown in Assam.", tags=["a"], metadata={"k": "v"})
    request = update("u1", note.note_id, ["tags", "metadata"])
    after = (await running.stub.UpdateNote(request, metadata=ANN)).note
    assert (list(after.tags), dict(after.metadata), after.content) == ([], {}, note.content)


async def test_a_changed_text_is_embedded_and_linked_anew(running: Running) -> None:
    tea = await create(running, "r1", "Green tea is grown in Assam.")
    boat = await create(running, "r2", "Duarte shapes surfboards near Sintra.")
    note = await create(running, "r3", "Green tea is grown in Assam, too.")
    kept = pb.CreateLinkRequest(
        request_id="l1", user_id="ann", from_note_id=note.note_id, to_note_id=tea.note_id, type=pb.LINK_TYPE_PART_OF
    )
    await running.stub.CreateLink(kept, metadata=ANN)
    assert {link.origin for link in (await get(running, note.note_id)).links} == {
        pb.LINK_ORIGIN_SIMILARITY, pb.LINK_ORIGIN_CALLER
    }  # fmt: skip
    request = update("u1", note.note_id, content="Duarte shapes surfboards near Sintra, too.")
    changed = await running.stub.UpdateNote(request, metadata=ANN)
    assert [link.origin for link in changed.links] == [pb.LINK_ORIGIN_SIMILARITY]
    assert (await found(running, "Duarte shapes surfboards near Sintra, too.", hops=0))[0] == note.note_id
    links = (await get(running, note.note_id)).links
    assert {(tuple(sorted((link.from_note_id, link.to_note_id))), link.origin) for link in links} == {
        (tuple(sorted((note.note_id, tea.note_id))), pb.LINK_ORIGIN_CALLER),
        (tuple(sorted((note.note_id, boat.note_id))), pb.LINK_ORIGIN_SIMILARITY),
    }
    assert "surfboards" in changed.note.keywords


async def test_a_wrong_etag_is_a_conflict(running: Running) -> None:
    note = await create(running, "r1", "Tea is grown in Assam.")
    changed = (await running.stub.UpdateNote(update("u1", note.note_id, importance=1.0), metadata=ANN)).note
    late = update("u2", note.note_id, importance=0.1, etag=note.etag)
    assert (await refused(running.stub.UpdateNote(late, metadata=ANN)))[:2] == CONFLICT
    remove = pb.DeleteNoteRequest(request_id="d1", user_id="ann", note_id=note.note_id, etag=note.etag)
    assert (await refused(running.stub.DeleteNote(remove, metadata=ANN)))[:2] == CONFLICT
    assert (await get(running, note.note_id)).note == changed
    remove = pb.DeleteNoteRequest(request_id="d2", user_id="ann", note_id=note.note_id, etag=changed.etag)
    await running.stub.DeleteNote(remove, metadata=ANN)


@pytest.mark.parametrize(
    ("fields", "paths", "expected"),
    [
        ({}, None, {"update_mask"}),
        ({}, ["content", "kind", "importance", "time"], {"content", "kind", "importance", "time"}),
        ({"tags": ["t"]}, ["scope"], {"update_mask.paths[0]"}),
        ({"importance": 2.0}, None, {"importance"}),
        ({"kind": 77}, None, {"kind"}),
        ({"content": " \n"}, None, {"content"}),
        ({"content": " "}, ["content"], {"content"}),
    ],
)
async def test_bad_updates(
    running: Running, fields: dict[str, Any], paths: list[str] | None, expected: set[str]
) -> None:
    request = update("u", "00000000-0000-7000-8000-000000000001", paths, **fields)
    assert (await refused(running.stub.UpdateNote(request, metadata=ANN)))[2] == expected


async def test_spec_6_6_a_deleted_note_is_gone_and_its_request_does_not_create_it_again(running: Running) -> None:
    note = await create(running, "r1", "Tea is grown in Assam.")
    remove = pb.DeleteNoteRequest(request_id="d1", user_id="ann", note_id=note.note_id)
    for caller in (OTHER_TENANT, ANN):
        call = running.stub.DeleteNote(remove, metadata=caller)
        if caller is OTHER_TENANT:
            assert (await refused(call))[:2] == NOT_FOUND
        else:
            await call
    await running.stub.DeleteNote(remove, metadata=ANN)
    assert (await refused(get(running, note.note_id)))[:2] == NOT_FOUND
    assert (await contents(running), await found(running, "tea")) == ([], [])
    again = running.stub.CreateNote(write("r1", "Tea is grown in Assam."), metadata=ANN)
    assert (await refused(again))[:2] == NOT_FOUND
    remove = pb.DeleteNoteRequest(request_id="d2", user_id="ann", note_id=note.note_id)
    assert (await refused(running.stub.DeleteNote(remove, metadata=ANN)))[:2] == NOT_FOUND


async def test_spec_6_6_a_repeated_delivery_does_not_derive_a_deleted_note_again(running: Running) -> None:
    request = generation(interactions())
    made = await running.internal.GenerateNotes(request, metadata=ANN)
    first = made.results[0].response
    remove = pb.DeleteNoteRequest(request_id="d1", user_id="ann", note_id=first.note_ids[0])
    await running.stub.DeleteNote(remove, metadata=ANN)
    again = await running.internal.GenerateNotes(request, metadata=ANN)
    assert list(again.results[0].response.note_ids) == []
    assert list(again.results)[1:] == list(made.results)[1:]
    assert len(await contents(running)) == 3


async def test_notes_are_archived_and_restored(running: Running) -> None:
    one, two = [await create(running, f"r{i}", f"Tea is grown in Assam {i}.") for i in range(2)]
    missing = "00000000-0000-7000-8000-000000000001"
    request = pb.ArchiveNotesRequest(request_id="a1", user_id="ann", note_ids=[one.note_id, missing])
    archived = await running.stub.ArchiveNotes(request, metadata=ANN)
    state, error = archived.results
    assert (state.response.note_id, state.response.status) == (one.note_id, pb.NOTE_STATUS_ARCHIVED)
    assert reason_and_path(error.error)[0] == "NOT_FOUND"
    note = (await get(running, one.note_id)).note
    assert (note.status, note.etag) == (pb.NOTE_STATUS_ARCHIVED, state.response.etag)
    assert await found(running, "tea") == [two.note_id]
    listed = pb.ListNotesRequest(user_id="ann", status=pb.NOTE_STATUS_ARCHIVED)
    assert [n.note_id for n in (await running.stub.ListNotes(listed, metadata=READER)).notes] == [one.note_id]
    restore = pb.RestoreNotesRequest(request_id="a2", user_id="ann", note_ids=[one.note_id])
    restored = await running.stub.RestoreNotes(restore, metadata=ANN)
    assert restored.results[0].response.status == pb.NOTE_STATUS_ACTIVE
    assert set(await found(running, "tea")) == {one.note_id, two.note_id}
    assert await running.stub.ArchiveNotes(request, metadata=ANN) == archived, "a repeat changes nothing"
    assert set(await found(running, "tea")) == {one.note_id, two.note_id}
    twice = pb.ArchiveNotesRequest(request_id="a3", user_id="ann", note_ids=[one.note_id, one.note_id.upper()])
    assert (await refused(running.stub.ArchiveNotes(twice, metadata=ANN)))[2] == {"note_ids"}


async def test_links_are_updated_and_listed_in_pages(running: Running) -> None:
    ids = [(await create(running, f"r{i}", text)).note_id for i, text in enumerate(("alpha", "beta", "gamma", "delta"))]
    ends: list[dict[str, Any]] = [
        {"user_id": "ann", "from_note_id": ids[0], "to_note_id": other, "type": pb.LINK_TYPE_SUPPORTS}
        for other in ids[1:]
    ]
    made = [
        (await running.stub.CreateLink(pb.CreateLinkRequest(request_id=f"l{i}", **end), metadata=ANN)).link
        for i, end in enumerate(ends)
    ]
    running.clock.advance(hours=1)
    request = pb.UpdateLinkRequest(request_id="u1", strength=0.9, etag=made[1].etag, **ends[1])
    changed = await running.stub.UpdateLink(request, metadata=ANN)
    assert (changed.link.strength, changed.link.create_time) == (0.9, made[1].create_time)
    assert changed.link.update_time.ToDatetime(running.clock.now().tzinfo) == running.clock.now()
    assert await running.stub.UpdateLink(request, metadata=ANN) == changed
    for late, error in (
        (pb.UpdateLinkRequest(request_id="u2", strength=0.1, etag=made[1].etag, **ends[1]), CONFLICT),
        (pb.UpdateLinkRequest(request_id="u3", strength=0.1, **{**ends[1], "type": pb.LINK_TYPE_PART_OF}), NOT_FOUND),
    ):
        assert (await refused(running.stub.UpdateLink(late, metadata=ANN)))[:2] == error
    mask = field_mask_pb2.FieldMask(paths=["type"])
    bad = pb.UpdateLinkRequest(request_id="u4", update_mask=mask, **ends[1])
    assert (await refused(running.stub.UpdateLink(bad, metadata=ANN)))[2] == {"strength", "update_mask.paths[0]"}
    listing = pb.ListLinksRequest(user_id="ann", note_id=ids[0], type=pb.LINK_TYPE_SUPPORTS, page_size=1)
    listed: list[pb.Link] = []
    while True:
        page = await running.stub.ListLinks(listing, metadata=READER)
        listed += page.links
        listing.page_token = page.next_page_token
        if not page.next_page_token:
            break
    assert listed == [changed.link, *sorted((made[0], made[2]), key=lambda link: link.to_note_id)]
    listing = pb.ListLinksRequest(user_id="ann", note_id=ids[0], type=pb.LINK_TYPE_PART_OF)
    assert not (await running.stub.ListLinks(listing, metadata=READER)).links


async def test_spec_6_6_removing_an_interaction_removes_what_was_derived_from_it(running: Running) -> None:
    batch = interactions()
    await running.internal.GenerateNotes(generation(batch[:-1]), metadata=ANN)
    written = await create(running, "r1", "Both.", derived_from=[batch[0].interaction_id, batch[4].interaction_id])
    before = await contents(running)
    remove = internal_pb.RemoveBySourceRequest(
        user_id="ann", interaction_ids=[batch[0].interaction_id, batch[5].interaction_id]
    )
    response = await running.internal.RemoveBySource(remove, metadata=ANN)
    assert (response.removed_notes, response.changed_notes) == (1, 1)
    assert [text for text in before if text not in await contents(running)] == [f"Ann: {batch[0].turn.content}"]
    assert list((await get(running, written.note_id)).note.derived_from) == [batch[4].interaction_id]
    # Late deliveries, of one that was processed and of one that was not, give nothing.
    late = await running.internal.GenerateNotes(generation(batch), metadata=ANN)
    assert [len(result.response.note_ids) for result in late.results] == [0, 0, 1, 0, 1, 0]
    assert (await running.internal.RemoveBySource(remove, metadata=ANN)).removed_notes == 0
    other = await running.internal.RemoveBySource(remove, metadata=OTHER_TENANT)
    assert (other.removed_notes, other.changed_notes) == (0, 0)


async def test_spec_6_6_an_erased_question_is_taken_out_of_the_note_of_its_answer(running: Running) -> None:
    batch = interactions()
    await running.internal.GenerateNotes(generation(batch[:2]), metadata=ANN)
    await running.internal.GenerateNotes(generation(batch[2:]), metadata=ANN)
    assert ANSWER in await contents(running)
    remove = internal_pb.RemoveBySourceRequest(user_id="ann", interaction_ids=[batch[1].interaction_id])
    response = await running.internal.RemoveBySource(remove, metadata=ANN)
    assert (response.removed_notes, response.changed_notes) == (0, 1)
    text = "In a garden above Sintra, with white flowers and ivy."
    assert f"Ann: {text}" in await contents(running)
    assert not [content for content in await contents(running) if "Where is the wedding" in content]
    [hit] = (
        await running.stub.SearchNotes(pb.SearchNotesRequest(user_id="ann", query=text, limit=1), metadata=READER)
    ).hits
    assert (hit.note.content, "answer" in hit.note.tags) == (f"Ann: {text}", False)
    assert hit.similarity == pytest.approx(1.0, abs=1e-5), "it is embedded without the question"


async def test_spec_6_6_removing_an_owner_removes_everything_and_blocks_deliveries(running: Running) -> None:
    request = generation([*interactions(), *interactions(user_id="bob")])
    await running.internal.GenerateNotes(request, metadata=ANN)
    await create(running, "r1", "Tea is grown in Assam.")
    response = await running.internal.RemoveOwner(internal_pb.RemoveOwnerRequest(user_id="ann"), metadata=ANN)
    assert response.removed_notes == 5
    assert (await contents(running), await found(running, "wedding in Sintra")) == ([], [])
    assert len(await contents(running, "bob")) == 4
    late = await running.internal.GenerateNotes(generation(interactions()), metadata=ANN)
    assert not [result for result in late.results if result.response.note_ids]
    repeated = running.stub.CreateNote(write("r1", "Tea is grown in Assam."), metadata=ANN)
    assert (await refused(repeated))[:2] == NOT_FOUND
    await create(running, "r2", "Coffee is grown in Kenya.")
    assert await contents(running) == ["Coffee is grown in Kenya."]


async def test_spec_6_6_an_owner_is_removed_in_steps_of_which_the_last_one_says_so(running: Running) -> None:
    await running.internal.GenerateNotes(generation([*interactions(), *interactions(user_id="bob")]), metadata=ANN)
    request = internal_pb.RemoveOwnerRequest(user_id="ann", notes_max=3)
    steps = [await running.internal.RemoveOwner(request, metadata=ANN) for _ in range(3)]
    assert [(step.removed_notes, step.has_more) for step in steps] == [(3, True), (1, False), (0, False)]
    assert (await contents(running), len(await contents(running, "bob"))) == ([], 4)
    late = await running.internal.GenerateNotes(generation(interactions()), metadata=ANN)
    assert not [result for result in late.results if result.response.note_ids]
    request.notes_max = -1
    assert (await refused(running.internal.RemoveOwner(request, metadata=ANN)))[0] == grpc.StatusCode.INVALID_ARGUMENT


async def test_readers_change_nothing(running: Running) -> None:
    for call in (
        running.stub.UpdateNote(pb.UpdateNoteRequest(), metadata=READER),
        running.stub.DeleteNote(pb.DeleteNoteRequest(), metadata=READER),
        running.stub.ArchiveNotes(pb.ArchiveNotesRequest(), metadata=READER),
        running.stub.RestoreNotes(pb.RestoreNotesRequest(), metadata=READER),
        running.stub.UpdateLink(pb.UpdateLinkRequest(), metadata=READER),
    ):
        assert (await refused(call))[:2] == (grpc.StatusCode.PERMISSION_DENIED, "ROLE_MISSING")


async def test_lists_are_filtered(running: Running) -> None:
    day = common_pb2.Turn().time
    for i in range(3):
        day.FromJsonString(f"2026-01-0{i + 1}T00:00:00Z")
        await create(running, f"r{i}", f"note {i}", tags=[f"t{i % 2}"], time=day)

    async def listed(**fields: Any) -> list[str]:
        request = pb.ListNotesRequest(user_id="ann", **fields)
        return sorted(note.content for note in (await running.stub.ListNotes(request, metadata=READER)).notes)

    assert await listed(tag="t0") == ["note 0", "note 2"]
    assert await listed(start_time=day) == ["note 2"]
    assert await listed(end_time=day, tag="t0") == ["note 0"]
    bad = running.stub.ListNotes(
        pb.ListNotesRequest(user_id="ann", status=pb.NOTE_STATUS_UNSPECIFIED, tag="x" * 65), metadata=READER
    )
    assert (await refused(bad))[2] == {"status", "tag"}
