"""NoteService over gRPC."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from mneme.agentic.internal.v1 import notes_pb2 as internal_pb
from mneme.agentic.v1 import notes_pb2 as pb
from mneme.common.internal.v1.interactions_pb2 import SourceInteraction
from mneme.common.v1 import common_pb2
from services.agentic.store import NoteFilter
from services.common.owners import Owner, TenantId, UserId
from tests.servicer.agentic.conftest import ANN, OTHER_TENANT, READER, Running
from tests.support.item_errors import reason_and_path

LINES = (
    ("Ann", "My sister Leila is getting married in Sintra on Saturday the 18th of April."),
    ("Bo", "Where is the wedding?"),
    ("Ann", "In a garden above Sintra, with white flowers and ivy."),
    ("Bo", "Haha, great!"),
    ("Bo", "I have entered the Great North Run in September."),
    ("Ann", "The wedding of my sister Leila in Sintra on Saturday was lovely."),
)


def interactions(lines: Sequence[tuple[str, str]] = LINES, user_id: str = "ann") -> list[SourceInteraction]:
    return [
        SourceInteraction(
            interaction_id=str(uuid.uuid5(uuid.NAMESPACE_OID, f"{user_id} {i}")),
            user_id=user_id,
            conversation_id="c",
            position=i,
            turn=common_pb2.Turn(role=common_pb2.MESSAGE_ROLE_USER, speaker=speaker, content=text),
        )
        for i, (speaker, text) in enumerate(lines)
    ]


def generation(batch: Sequence[SourceInteraction]) -> internal_pb.GenerateNotesRequest:
    return internal_pb.GenerateNotesRequest(interactions=batch)


def write(request_id: str = "r1", content: str = "Tea is grown in Assam.", **fields: object) -> pb.CreateNoteRequest:
    request = pb.CreateNoteRequest(request_id=request_id, user_id="ann", content=content, kind=pb.NOTE_KIND_FACT)
    request.MergeFrom(pb.CreateNoteRequest(**fields))  # type: ignore[arg-type]
    return request


async def refused(call: object) -> tuple[grpc.StatusCode, str, set[str]]:
    """Status, reason and field paths of a call that must fail."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call  # type: ignore[misc]
    status = rpc_status.from_call(caught.value)  # type: ignore[arg-type]
    info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    for detail in status.details:
        detail.Unpack(info)
        detail.Unpack(bad)
    return caught.value.code(), info.reason, {violation.field for violation in bad.field_violations}


async def contents(running: Running, user_id: str = "ann") -> list[str]:
    found = await running.stub.ListNotes(pb.ListNotesRequest(user_id=user_id), metadata=READER)
    return [note.content for note in found.notes]


async def link_strengths(running: Running, user_id: str) -> list[tuple[str, str, int, float]]:
    """All links by the contents of their ends."""
    found = await running.stub.ListNotes(pb.ListNotesRequest(user_id=user_id), metadata=READER)
    names = {note.note_id: note.content for note in found.notes}
    links: set[tuple[str, str, int, float]] = set()
    for note_id in names:
        answer = await running.stub.GetNote(pb.GetNoteRequest(user_id=user_id, note_id=note_id), metadata=READER)
        for link in answer.links:
            one, two = sorted((names[link.from_note_id], names[link.to_note_id]))
            links.add((one, two, link.type, round(link.strength, 5)))
    return sorted(links)


async def test_spec_4_2_notes_are_generated_embedded_and_linked(running: Running) -> None:
    request = generation(interactions())
    answer = await running.internal.GenerateNotes(request, metadata=ANN)
    assert [len(result.response.note_ids) for result in answer.results] == [1, 0, 1, 0, 1, 1]
    assert (
        "Bo asked: Where is the wedding? Ann answered: In a garden above Sintra, with white flowers and ivy."
        in await contents(running)
    )
    first, *_, last = (result.response.note_ids[0] for result in answer.results if result.response.note_ids)
    links = await running.stub.GetNote(pb.GetNoteRequest(user_id="ann", note_id=first), metadata=READER)
    assert last in {end for link in links.links for end in (link.from_note_id, link.to_note_id)}


async def test_spec_6_1_a_repeat_gives_the_same_notes_and_embeds_nothing(running: Running) -> None:
    request = generation(interactions())
    first = await running.internal.GenerateNotes(request, metadata=ANN)
    embedded = len(running.embedder.documents)
    assert await running.internal.GenerateNotes(request, metadata=ANN) == first
    assert len(running.embedder.documents) == embedded
    assert len(await contents(running)) == 4


async def test_overlapping_batches_take_each_interaction_once(running: Running) -> None:
    batches = [interactions()[:4], interactions()[2:], interactions(), [*interactions(), *interactions()]]
    answers = await asyncio.gather(*(running.internal.GenerateNotes(generation(b), metadata=ANN) for b in batches))
    made = [result.response for answer in answers for result in answer.results]
    ids = {(each.interaction_id, *each.note_ids) for each in made}
    assert len(ids) == len(LINES)
    assert len(await contents(running)) == 4


async def test_links_do_not_depend_on_how_deliveries_were_cut(running: Running) -> None:
    whole = interactions(user_id="whole")
    await running.internal.GenerateNotes(generation(whole), metadata=ANN)
    for single in interactions(user_id="single"):
        await running.internal.GenerateNotes(generation([single]), metadata=ANN)
    assert await contents(running, "whole") == (await contents(running, "single"))
    assert await link_strengths(running, "whole") == await link_strengths(running, "single")


async def test_a_bad_interaction_does_not_hold_up_the_others(running: Running) -> None:
    batch = [SourceInteraction(), *interactions()[:1]]
    answer = await running.internal.GenerateNotes(generation(batch), metadata=ANN)
    bad, good = answer.results
    assert reason_and_path(bad.error) == ("INVALID_FIELD", "interactions[0].interaction_id")
    assert len(good.response.note_ids) == 1


async def test_spec_4_10_search_walks_to_a_note_without_the_words(running: Running) -> None:
    one, two = [
        (await running.stub.CreateNote(write(f"r{i}", text), metadata=ANN)).note.note_id
        for i, text in enumerate(("Leila marries in Sintra", "Duarte shapes surfboards"))
    ]
    link = pb.CreateLinkRequest(
        request_id="l", user_id="ann", from_note_id=one, to_note_id=two, type=pb.LINK_TYPE_SUPPORTS, strength=1.0
    )
    await running.stub.CreateLink(link, metadata=ANN)
    found = await running.stub.SearchNotes(
        pb.SearchNotesRequest(user_id="ann", query="Leila marries in Sintra"), metadata=READER
    )
    first, second = found.hits
    assert (first.note.note_id, list(first.path)) == (one, [])
    assert (second.note.note_id, list(second.path)) == (two, [pb.WalkedLink(note_id=one, strength=1.0)])
    assert second.score == pytest.approx(0.9, abs=1e-5)
    assert second.score > second.similarity
    near = await running.stub.SearchNotes(
        pb.SearchNotesRequest(user_id="ann", query="Leila marries in Sintra", hops=0, limit=1), metadata=READER
    )
    assert [(hit.note.note_id, len(hit.path)) for hit in near.hits] == [(one, 0)]


async def test_search_by_vector_needs_no_embedding(running: Running) -> None:
    await running.stub.CreateNote(write(), metadata=ANN)
    vector = running.embedder.vector("Tea is grown in Assam.") * 3
    query = common_pb2.Vector(model=running.model, values=vector.tolist())
    found = await running.stub.SearchNotes(pb.SearchNotesRequest(user_id="ann", query_vector=query), metadata=READER)
    assert found.hits[0].similarity == pytest.approx(1.0, abs=1e-5)
    assert running.embedder.queries == []


async def test_returned_notes_are_counted_behind_the_answer(running: Running) -> None:
    note_id = (await running.stub.CreateNote(write(), metadata=ANN)).note.note_id
    for _ in range(3):
        await running.stub.SearchNotes(pb.SearchNotesRequest(user_id="ann", query="tea"), metadata=READER)
    await running.tier.recorder.flush()
    note = (await running.stub.GetNote(pb.GetNoteRequest(user_id="ann", note_id=note_id), metadata=READER)).note
    assert note.access_count == 3
    assert note.last_access_time.ToDatetime(running.clock.now().tzinfo) == running.clock.now()


async def test_spec_6_3_repeated_writes_give_the_first_answer(running: Running) -> None:
    first = await running.stub.CreateNote(write(tags=["x"]), metadata=ANN)
    running.clock.advance(hours=1)
    assert await running.stub.CreateNote(write(tags=["x"]), metadata=ANN) == first
    assert len(await contents(running)) == 1
    other = running.stub.CreateNote(write(content="Something else."), metadata=ANN)
    assert await refused(other) == (grpc.StatusCode.INVALID_ARGUMENT, "REQUEST_ID_REUSED", {"request_id"})


async def test_links_are_made_changed_and_removed(running: Running) -> None:
    one, two = [
        (await running.stub.CreateNote(write(f"r{i}", text), metadata=ANN)).note.note_id
        for i, text in enumerate(("alpha beta gamma", "delta epsilon zeta"))
    ]
    ends: dict[str, Any] = {"user_id": "ann", "from_note_id": two, "to_note_id": one, "type": pb.LINK_TYPE_RELATED_TO}
    made = await running.stub.CreateLink(pb.CreateLinkRequest(request_id="l1", **ends), metadata=ANN)
    assert (made.link.from_note_id, made.link.strength) == (one, 0.5)
    await running.stub.CreateLink(pb.CreateLinkRequest(request_id="l2", strength=0.9, **ends), metadata=ANN)
    assert await running.stub.CreateLink(pb.CreateLinkRequest(request_id="l1", **ends), metadata=ANN) == made
    answer = await running.stub.GetNote(pb.GetNoteRequest(user_id="ann", note_id=one), metadata=READER)
    assert [link.strength for link in answer.links] == [0.9]
    remove = pb.DeleteLinkRequest(request_id="d1", **ends)
    await running.stub.DeleteLink(remove, metadata=ANN)
    await running.stub.DeleteLink(remove, metadata=ANN)
    again = running.stub.DeleteLink(pb.DeleteLinkRequest(request_id="d2", **ends), metadata=ANN)
    assert (await refused(again))[:2] == (grpc.StatusCode.NOT_FOUND, "NOT_FOUND")


async def test_pages(running: Running) -> None:
    for i in range(5):
        await running.stub.CreateNote(write(f"r{i}", f"note number {i}"), metadata=ANN)
        running.clock.advance(seconds=1)
    seen: list[str] = []
    token = ""
    while True:
        request = pb.ListNotesRequest(user_id="ann", page_size=2, page_token=token)
        page = await running.stub.ListNotes(request, metadata=READER)
        seen += [note.content for note in page.notes]
        token = page.next_page_token
        if not token:
            break
    assert seen == [f"note number {i}" for i in (4, 3, 2, 1, 0)]


async def test_page_token_of_another_query_or_tenant(running: Running) -> None:
    for i in range(2):
        await running.stub.CreateNote(write(f"r{i}"), metadata=ANN)
    page = await running.stub.ListNotes(pb.ListNotesRequest(user_id="ann", page_size=1), metadata=READER)
    token = page.next_page_token
    expected = (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_PAGE_TOKEN", {"page_token"})
    for request, caller in (
        (pb.ListNotesRequest(user_id="bob", page_token=token), READER),
        (pb.ListNotesRequest(user_id="ann", page_token=token, kind=pb.NOTE_KIND_FACT), READER),
        (pb.ListNotesRequest(user_id="ann", page_token=token), OTHER_TENANT),
        (pb.ListNotesRequest(user_id="ann", page_token="x" + token), READER),
    ):
        assert await refused(running.stub.ListNotes(request, metadata=caller)) == expected


async def test_spec_7_1_another_tenant_finds_nothing(running: Running) -> None:
    note_id = (await running.stub.CreateNote(write(), metadata=ANN)).note.note_id
    for caller, user_id in ((OTHER_TENANT, "ann"), (READER, "bob")):
        call = running.stub.GetNote(pb.GetNoteRequest(user_id=user_id, note_id=note_id), metadata=caller)
        assert (await refused(call))[:2] == (grpc.StatusCode.NOT_FOUND, "NOT_FOUND")
    search = pb.SearchNotesRequest(user_id="ann", query="tea")
    assert not (await running.stub.SearchNotes(search, metadata=OTHER_TENANT)).hits
    mine = (await running.stub.CreateNote(write(), metadata=OTHER_TENANT)).note.note_id
    link = pb.CreateLinkRequest(
        request_id="l", user_id="ann", from_note_id=mine, to_note_id=note_id, type=pb.LINK_TYPE_SUPPORTS
    )
    refusal = await refused(running.stub.CreateLink(link, metadata=OTHER_TENANT))
    assert refusal[:2] == (grpc.StatusCode.NOT_FOUND, "NOT_FOUND")
    assert running.store is not None
    owner = Owner(TenantId("globex"), UserId("ann"))
    assert [n.note_id for n in await running.store.list_notes(owner, NoteFilter(), after=None, limit=9)] == [mine]


async def test_a_reader_may_not_write(running: Running) -> None:
    for call in (
        running.stub.CreateNote(write(), metadata=READER),
        running.stub.CreateLink(pb.CreateLinkRequest(), metadata=READER),
        running.stub.DeleteLink(pb.DeleteLinkRequest(), metadata=READER),
    ):
        assert (await refused(call))[:2] == (grpc.StatusCode.PERMISSION_DENIED, "ROLE_MISSING")


@pytest.mark.parametrize(
    ("changes", "reason", "fields"),
    [
        ({"importance": float("nan")}, "INVALID_FIELD", {"importance"}),
        ({"importance": 1.5}, "INVALID_FIELD", {"importance"}),
        ({"content": "x" * 8_001}, "TEXT_TOO_LONG", {"content"}),
        ({"tags": ["t"] * 33}, "TOO_MANY_ITEMS", {"tags"}),
        ({"tags": ["t" * 65, "a\0b"]}, "INVALID_FIELD", {"tags[0]", "tags[1]"}),
        ({"derived_from": ["nope"]}, "INVALID_FIELD", {"derived_from[0]"}),
        ({"metadata": {"k" * 65: ""}}, "TEXT_TOO_LONG", {f"metadata[{'k' * 64}]"}),
        ({"scope": common_pb2.Scope()}, "UNKNOWN_ENUM_VALUE", {"scope.level"}),
    ],
)
async def test_bad_notes(running: Running, changes: dict[str, object], reason: str, fields: set[str]) -> None:
    request = write()
    for name in changes:
        request.ClearField(name)
    request.MergeFrom(pb.CreateNoteRequest(**changes))  # type: ignore[arg-type]
    call = running.stub.CreateNote(request, metadata=ANN)
    assert await refused(call) == (grpc.StatusCode.INVALID_ARGUMENT, reason, fields)


async def test_an_empty_request_names_all_that_is_missing(running: Running) -> None:
    code, _, fields = await refused(running.stub.CreateNote(pb.CreateNoteRequest(), metadata=ANN))
    assert (code, fields) == (grpc.StatusCode.INVALID_ARGUMENT, {"request_id", "user_id", "content", "kind"})
    code, _, fields = await refused(running.stub.CreateLink(pb.CreateLinkRequest(), metadata=ANN))
    assert fields == {"request_id", "user_id", "from_note_id", "to_note_id", "type"}
    _, _, fields = await refused(running.internal.GenerateNotes(internal_pb.GenerateNotesRequest(), metadata=ANN))
    assert fields == {"interactions"}


async def test_a_note_is_not_linked_to_itself(running: Running) -> None:
    note_id = (await running.stub.CreateNote(write(), metadata=ANN)).note.note_id
    request = pb.CreateLinkRequest(
        request_id="l",
        user_id="ann",
        from_note_id=note_id,
        to_note_id=note_id.upper(),
        type=pb.LINK_TYPE_SUPPORTS,
    )
    _, reason, fields = await refused(running.stub.CreateLink(request, metadata=ANN))
    assert (reason, fields) == ("INVALID_FIELD", {"to_note_id"})


@pytest.mark.parametrize(
    "values_and_model",
    [
        ([float("nan")] * 64, ""),
        ([0.0] * 64, ""),
        ([1.0] * 63, ""),
        ([1.0] * 64, "another@model"),
        ([3e38] * 64, "another"),
    ],
)
async def test_bad_query_vectors(running: Running, values_and_model: tuple[list[float], str]) -> None:
    values, model = values_and_model
    vector = common_pb2.Vector(model=model or running.model, values=values)
    request = pb.SearchNotesRequest(user_id="ann", query_vector=vector)
    refusal = await refused(running.stub.SearchNotes(request, metadata=READER))
    assert refusal == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_VECTOR", {"query_vector"})


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"query": ""}, "query"),
        ({"limit": 201}, "limit"),
        ({"limit": -1}, "limit"),
        ({"hops": 3}, "hops"),
        ({"reader_scope": common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_PROJECT)}, "reader_scope.project_id"),
    ],
)
async def test_bad_searches(running: Running, fields: dict[str, object], path: str) -> None:
    request = pb.SearchNotesRequest(**{"user_id": "ann", "query": "tea", **fields})  # type: ignore[arg-type]
    _, reason, paths = await refused(running.stub.SearchNotes(request, metadata=READER))
    assert (reason, paths) == ("INVALID_FIELD", {path})


LONG: dict[str, Any] = {
    "content": "\u9577" * 8_000,
    "attachments": [
        common_pb2.Attachment(uri=f"https://example.org/{i}?" + "x" * 2_000, caption="\u9577" * 4_000)
        for i in range(16)
    ],
}
"""Of a note of some 250 kB."""


async def test_pages_of_long_notes_end_before_they_are_too_large_for_an_answer(running: Running) -> None:
    for n in range(40):
        await running.stub.CreateNote(write(f"r{n}", **{**LONG, "tags": [f"t{n}"]}), metadata=ANN)
        running.clock.advance(seconds=1)
    request, told = pb.ListNotesRequest(user_id="ann", page_size=200), []
    while True:
        page = await running.stub.ListNotes(request, metadata=READER)
        assert 0 < page.ByteSize() < 4 * 1024 * 1024
        told += [list(note.tags) for note in page.notes]
        request.page_token = page.next_page_token
        if not request.page_token:
            break
        assert 5 < len(page.notes) < 40

    assert told == [[f"t{n}"] for n in reversed(range(40))]


async def test_a_search_with_long_hits_tells_the_best_and_how_many_are_left_out(running: Running) -> None:
    for n in range(25):
        await running.stub.CreateNote(
            write(f"r{n}", **{**LONG, "content": f"harbour {n} " + "x " * 3_000}), metadata=ANN
        )
    request = pb.SearchNotesRequest(user_id="ann", query="harbour", limit=25, hops=0)
    found = await running.stub.SearchNotes(request, metadata=READER)
    request.limit = 5
    best = await running.stub.SearchNotes(request, metadata=READER)

    assert found.ByteSize() < 4 * 1024 * 1024
    assert len(found.hits) + found.omitted_count == 25
    assert found.omitted_count > 0
    assert [hit.note.note_id for hit in found.hits[:5]] == [hit.note.note_id for hit in best.hits]
    assert best.omitted_count == 0
