"""Notes found by the captions of their attachments, over gRPC."""

from __future__ import annotations

from mneme.agentic.v1 import notes_pb2 as pb
from mneme.common.v1 import common_pb2
from tests.servicer.agentic.conftest import ANN, READER, Running
from tests.servicer.agentic.test_changes import create, update
from tests.servicer.agentic.test_notes import generation, interactions

LONG = "We walked along the harbour for hours and talked about work, school, money, neighbours and the price of bread."


def photos(*captions: str) -> list[common_pb2.Attachment]:
    return [common_pb2.Attachment(uri=f"urn:photo:{n}", caption=caption) for n, caption in enumerate(captions)]


async def best(running: Running, query: str) -> tuple[str, int | None]:
    """The first note, and which attachment of it matched."""
    request = pb.SearchNotesRequest(user_id="ann", query=query, limit=1, hops=0)
    [hit] = (await running.stub.SearchNotes(request, metadata=READER)).hits
    return hit.note.note_id, hit.matched_attachment if hit.HasField("matched_attachment") else None


async def test_spec_4_1_a_caption_is_found_by_a_vector_of_its_own(running: Running) -> None:
    await create(running, "r1", "A kite is a bird of prey.")
    walk = await create(running, "r2", LONG, attachments=photos("", "a red kite above sails", "two dogs"))
    assert await best(running, "a red kite above sails") == (walk.note_id, 1)
    assert await best(running, "two dogs") == (walk.note_id, 2)
    assert await best(running, LONG) == (walk.note_id, None)


async def test_spec_4_1_captions_change_with_the_note(running: Running) -> None:
    other = await create(running, "r1", "A kite is a bird of prey.")
    walk = await create(running, "r2", LONG, attachments=photos("a red kite above sails"))
    await running.stub.UpdateNote(update("u1", walk.note_id, attachments=photos("two dogs")), metadata=ANN)
    assert await best(running, "two dogs") == (walk.note_id, 0)
    assert await best(running, "kite") == (other.note_id, None)
    # The same captions at other places: what matched is named by the place that it has now.
    moved = update("u2", walk.note_id, attachments=photos("", "two dogs"))
    await running.stub.UpdateNote(moved, metadata=ANN)
    assert await best(running, "two dogs") == (walk.note_id, 1)
    await running.stub.UpdateNote(update("u3", walk.note_id, paths=["attachments"]), metadata=ANN)
    assert (await best(running, "two dogs"))[1] is None
    await running.stub.DeleteNote(
        pb.DeleteNoteRequest(request_id="d1", user_id="ann", note_id=walk.note_id), metadata=ANN
    )
    assert (await best(running, "two dogs"))[0] == other.note_id


async def test_spec_4_1_so_many_captions_of_a_note_are_embedded(running: Running) -> None:
    names = ["kite", "dogs", "lake", "wall", "moon"]
    await create(running, "r1", LONG, attachments=photos(*names))
    found = [(await best(running, name))[1] for name in names]
    assert (found[:4], found[4] in {None, 0, 1, 2, 3}) == ([0, 1, 2, 3], True)


async def test_spec_4_1_captions_of_what_was_said_are_found(running: Running) -> None:
    turns = interactions([("Ann", "I painted this by the lake last weekend, it took me all of Sunday."), ("Bo", LONG)])
    turns[0].turn.attachments.extend(photos("a sunset in orange oils"))
    generated = await running.internal.GenerateNotes(generation(turns), metadata=ANN)
    [painted] = generated.results[0].response.note_ids
    assert await best(running, "a sunset in orange oils") == (painted, 0)
