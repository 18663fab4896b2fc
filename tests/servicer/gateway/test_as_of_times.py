"""Recalls as of a time through the gateway: notes as they were, and what was archived since (SPEC 3.7)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mneme.gateway.v1 import context_pb2, erasure_pb2, recall_pb2
from mneme_client import Client, NoteKind, Turn
from tests.servicer.gateway.test_correct import correct, reference
from tests.servicer.gateway.test_erasure import erase, rows_with, visible
from tests.support.stack import RunningStack, Stubs

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def notes(gateway: Stubs, user_id: str, **times: datetime) -> set[str]:
    request = recall_pb2.RecallRequest(user_id=user_id, query="What about the code of the gate?")
    for name, time in times.items():
        getattr(request, name).FromDatetime(time)
    return {hit.note.content for hit in (await gateway.memory.Recall(request)).notes}


async def context(gateway: Stubs, user_id: str, known_at: datetime) -> str:
    request = context_pb2.BuildContextRequest(user_id=user_id, query="What about the code of the gate?")
    request.known_at_time.FromDatetime(known_at)
    text: str = (await gateway.memory.BuildContext(request)).text
    return text


async def test_spec_3_7_recalls_and_contexts_have_notes_as_they_were(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    code = (await client.create_note(user_id, "The code of the gate is 1234.", NoteKind.FACT)).note
    lamp = (await client.create_note(user_id, "The lamp at the gate is broken.", NoteKind.OBSERVATION)).note
    then = datetime.now(UTC)
    await client.update_note(user_id, code.note_id, content="The code of the gate is 5678.")
    await client.archive_notes(user_id, [lamp.note_id])
    assert await notes(gateway, user_id) == {"The code of the gate is 5678."}
    before = {"The code of the gate is 1234.", "The lamp at the gate is broken."}
    assert await notes(gateway, user_id, known_at_time=then) == before
    text = await context(gateway, user_id, then)
    assert all(content in text for content in before)
    assert "5678" not in text
    assert "5678" in await context(gateway, user_id, datetime.now(UTC))


async def test_spec_3_7_a_corrected_note_was_known_and_its_correction_held(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    note = (await client.create_note(user_id, "The code of the gate is 1234.", NoteKind.FACT)).note
    then = datetime.now(UTC)
    await correct(gateway, user_id, "The code of the gate is 9876.", memory=reference(3, note.note_id))
    assert await notes(gateway, user_id, known_at_time=then) == {"The code of the gate is 1234."}
    assert "The code of the gate is 9876." in await notes(gateway, user_id)


async def test_spec_3_7_a_turn_that_was_archived_since_is_recalled(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    written = await client.remember(user_id, "c1", [Turn("The code of the gate is 1234."), Turn("It rained.")])
    await visible(client, user_id, written.consistency_token)
    then = datetime.now(UTC)
    await client.archive_episodes(user_id, [written.interactions[0].interaction_id])

    async def turns(**times: datetime) -> set[str]:
        request = recall_pb2.RecallRequest(user_id=user_id, query="What about the code of the gate?")
        for name, time in times.items():
            getattr(request, name).FromDatetime(time)
        return {memory.turn.content for memory in (await gateway.memory.Recall(request)).memories}

    assert await turns() == {"It rained."}
    assert await turns(known_at_time=then) == {"The code of the gate is 1234.", "It rained."}
    assert "The code of the gate is 1234." in await context(gateway, user_id, then)


async def test_spec_6_6_an_erased_note_leaves_no_earlier_text(
    client: Client, gateway: Stubs, stack: RunningStack, user_id: str
) -> None:
    word = f"Zyx{user_id.rpartition('-')[2]}"
    note = (await client.create_note(user_id, f"The code of the gate is {word}.", NoteKind.FACT)).note
    await client.update_note(user_id, note.note_id, content="The code of the gate is 5678.")
    assert await rows_with(stack, word) > 0
    named = reference(3, note.note_id)
    await erase(gateway, user_id=user_id, memories=erasure_pb2.MemoryReferences(memories=[named]))
    assert await rows_with(stack, word) == 0
