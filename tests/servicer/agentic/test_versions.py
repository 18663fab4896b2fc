"""Notes as of a time over gRPC (SPEC 3.7), and what erasure leaves of their earlier texts (SPEC 6.6)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import grpc
import numpy as np

from mneme.agentic.internal.v1 import notes_pb2 as internal_pb
from mneme.agentic.v1 import notes_pb2 as pb
from services.common.convert import vector_to_proto
from tests.servicer.agentic.conftest import ANN, READER, Running
from tests.servicer.agentic.test_changes import create, update
from tests.servicer.agentic.test_notes import generation, interactions, refused

OLD, NEW = "Tea is grown in Assam.", "Tea is grown in Kenya."
QUESTION = "Where is the wedding"


async def said(running: Running, query: str, **times: Any) -> list[str]:
    """What the notes found say, by the public and by the internal search."""
    public = pb.SearchNotesRequest(user_id="ann", query=query)
    vector = np.asarray(await running.embedder.embed_query(query), dtype=np.float32)
    internal = internal_pb.SearchNotesRequest(user_id="ann", query_vector=vector_to_proto(vector, model=running.model))
    for request in (public, internal):
        for name, time in times.items():
            getattr(request, name).FromDatetime(time)
    hits = (await running.stub.SearchNotes(public, metadata=READER)).hits
    again = (await running.internal.SearchNotes(internal, metadata=ANN)).hits
    found = [hit.note.content for hit in hits]
    assert found == [hit.note.content for hit in again]
    return found


async def test_spec_3_7_a_note_is_found_as_it_was(running: Running) -> None:
    begin = running.clock.now()
    tea = await create(running, "r1", OLD, tags=["green"])
    boat = await create(running, "r2", "Boats are tarred in May.")
    running.clock.advance(hours=2)
    await running.stub.UpdateNote(update("u1", tea.note_id, content=NEW), metadata=ANN)
    archive = pb.ArchiveNotesRequest(request_id="a1", user_id="ann", note_ids=[boat.note_id])
    await running.stub.ArchiveNotes(archive, metadata=ANN)
    await create(running, "r3", "Coffee is grown in Peru.")
    assert set(await said(running, NEW)) == {NEW, "Coffee is grown in Peru."}
    then = begin + timedelta(hours=1)
    assert set(await said(running, NEW, known_at_time=then)) == {OLD, "Boats are tarred in May."}
    held = await said(running, NEW, as_of_time=then)
    assert set(held) == {OLD, "Boats are tarred in May.", "Coffee is grown in Peru."}
    assert await said(running, NEW, known_at_time=begin - timedelta(hours=1)) == []
    request = pb.SearchNotesRequest(user_id="ann", query=NEW, limit=1)
    request.known_at_time.FromDatetime(then)
    [hit] = (await running.stub.SearchNotes(request, metadata=READER)).hits
    assert (hit.note.content, list(hit.note.tags), hit.note.status) == (OLD, ["green"], pb.NOTE_STATUS_ACTIVE)
    assert hit.note.update_time.ToDatetime(tzinfo=UTC) == begin


async def test_spec_3_7_a_correction_counts_for_what_held(running: Running) -> None:
    then = running.clock.now()
    tea = await create(running, "r1", OLD)
    running.clock.advance(hours=2)
    await running.stub.UpdateNote(update("u1", tea.note_id, content=NEW, correction=True), metadata=ANN)
    assert await said(running, NEW, known_at_time=then) == [OLD]
    assert await said(running, NEW, as_of_time=then) == [NEW]


async def test_spec_3_7_times_out_of_range_are_refused(running: Running) -> None:
    request = pb.SearchNotesRequest(user_id="ann", query="tea")
    for name in ("known_at_time", "as_of_time"):
        getattr(request, name).FromDatetime(datetime(1700, 1, 1, tzinfo=UTC))
    code, _, fields = await refused(running.stub.SearchNotes(request, metadata=READER))
    assert (code, fields) == (grpc.StatusCode.INVALID_ARGUMENT, {"known_at_time", "as_of_time"})


async def test_spec_6_6_an_erased_question_is_in_no_earlier_text(running: Running) -> None:
    batch = interactions()
    await running.internal.GenerateNotes(generation(batch[:2]), metadata=ANN)
    await running.internal.GenerateNotes(generation(batch[2:]), metadata=ANN)
    listed = (await running.stub.ListNotes(pb.ListNotesRequest(user_id="ann"), metadata=READER)).notes
    [answer] = [note for note in listed if QUESTION in note.content]
    then = running.clock.now()
    running.clock.advance(hours=1)
    await running.stub.UpdateNote(update("u1", answer.note_id, content="The garden is above Sintra."), metadata=ANN)
    assert [text for text in await said(running, "garden", known_at_time=then) if QUESTION in text]
    remove = internal_pb.RemoveBySourceRequest(user_id="ann", interaction_ids=[batch[1].interaction_id])
    await running.internal.RemoveBySource(remove, metadata=ANN)
    found = await said(running, "garden", known_at_time=then)
    assert "The garden is above Sintra." in found
    assert not [text for text in found if QUESTION in text]


async def test_spec_6_6_taking_a_question_out_of_a_note_leaves_no_earlier_text(running: Running) -> None:
    batch = interactions()
    await running.internal.GenerateNotes(generation(batch[:2]), metadata=ANN)
    await running.internal.GenerateNotes(generation(batch[2:]), metadata=ANN)
    then = running.clock.now()
    running.clock.advance(hours=1)
    remove = internal_pb.RemoveBySourceRequest(user_id="ann", interaction_ids=[batch[1].interaction_id])
    await running.internal.RemoveBySource(remove, metadata=ANN)
    assert not [text for text in await said(running, "garden", known_at_time=then) if QUESTION in text]
