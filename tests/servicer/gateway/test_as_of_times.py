"""Recalls as of a time through the gateway: notes as they were, and what was archived since (SPEC 3.7)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mneme.gateway.v1 import context_pb2, erasure_pb2, recall_pb2
from mneme_client import Client, EpisodeStatus, FactCategory, NoteKind, ScoredEpisode, Turn
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


async def test_spec_3_7_recent_turns_and_parts_of_a_stream_have_nothing_that_was_recorded_later(
    client: Client, user_id: str
) -> None:
    first, second = "The code of the gate is 1234.", "The code of the gate is 5678."
    written = await client.remember(user_id, "c1", first)
    await visible(client, user_id, written.consistency_token)
    then = datetime.now(UTC)
    written = await client.remember(user_id, "c1", second)
    await visible(client, user_id, written.consistency_token)
    asked: dict[str, Any] = {"conversation_id": "c1", "known_at_time": then}
    question = "What is the code of the gate?"
    assert [turn.turn.content for turn in (await client.recall(user_id, question, **asked)).recent_turns] == [first]
    assert "5678" not in (await client.build_context(user_id, question, **asked)).text
    async for part in client.recall_stream(user_id, question, **asked):
        assert "5678" not in repr(part)


async def test_spec_3_7_searches_of_episodes_have_both_times(client: Client, user_id: str) -> None:
    said = datetime.now(UTC) - timedelta(days=400)
    turns = [Turn("The code of the gate is 1234.", time=said), Turn("The gate is green.", time=said)]
    written = await client.remember(user_id, "c1", turns)
    await visible(client, user_id, written.consistency_token)
    code = written.interactions[0].interaction_id
    known = datetime.now(UTC)
    await client.archive_episodes(user_id, [code])
    later = await client.remember(user_id, "c1", "The code of the gate is 5678.")
    await visible(client, user_id, later.consistency_token)

    async def found(**times: Any) -> dict[str, ScoredEpisode]:
        hits = await client.search_episodes(user_id, "What is the code of the gate?", **times)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        return {hit.episode.text: hit for hit in hits}

    green, first, second = "The gate is green.", "The code of the gate is 1234.", "The code of the gate is 5678."
    assert set(await found()) == {green, second}
    then = await found(known_at_time=known)
    assert set(then) == {green, first}
    assert then[first].episode.status is EpisodeStatus.ARCHIVED
    assert then[first].similarity > then[green].similarity
    past = await found(as_of_time=said + timedelta(days=1))
    assert set(past) == {green, first, second}
    assert past[green].episode.decay_factor == pytest.approx(1 / (1 + 1 / 365))
    assert past[green].score == pytest.approx(past[green].similarity / (1 + 1 / 365), rel=1e-4)
    assert past[green].score > then[green].score
    both = await found(as_of_time=said + timedelta(days=1), known_at_time=known)
    assert set(both) == {green, first}
    assert await found(known_at_time=said) == {}, "nothing had been recorded"
    assert set(await found(as_of_time=datetime.now(UTC) + timedelta(days=1))) == {green, second}


async def test_spec_3_7_lists_of_facts_have_both_times(client: Client, user_id: str) -> None:
    def year(number: int) -> datetime:
        return datetime(number, 1, 1, tzinfo=UTC)

    ulm, jena = "The office was in Ulm.", "The office is in Jena."
    context = FactCategory.CONTEXT
    await client.create_fact(user_id, ulm, context, valid_from_time=year(2019), valid_to_time=year(2023))
    known = datetime.now(UTC)
    await client.create_fact(user_id, jena, context, valid_from_time=year(2023))

    async def listed(**times: Any) -> set[str]:
        return {fact.text async for fact in client.list_facts(user_id, **times)}

    assert await listed() == {ulm, jena}
    assert await listed(as_of_time=year(2018)) == set()
    assert await listed(as_of_time=year(2020)) == {ulm}
    assert await listed(as_of_time=year(2024)) == {jena}
    assert await listed(as_of_time=year(2024), known_at_time=known) == set()
    assert await listed(as_of_time=year(2020), known_at_time=known) == {ulm}


async def test_spec_3_7_recalls_searches_and_contexts_as_of_a_time_have_no_fact_that_had_not_begun(
    client: Client, user_id: str
) -> None:
    def year(number: int) -> datetime:
        return datetime(number, 1, 1, tzinfo=UTC)

    leeds = Turn("I live in Leeds.", speaker="Ann", time=year(2019))
    york = Turn("I moved to York, so I live in York now.", speaker="Ann", time=year(2024))
    written = await client.remember(user_id, "c1", [leeds, york])
    await visible(client, user_id, written.consistency_token)
    question = "Where does Ann live?"

    async def found(**times: Any) -> list[set[str]]:
        recalled = await client.recall(user_id, question, **times)
        hits = await client.search_facts(user_id, question, **times)
        listed = {fact.text async for fact in client.list_facts(user_id, **times)}
        return [{one.fact.text for one in recalled.facts}, {hit.fact.text for hit in hits}, listed]

    assert await found(as_of_time=year(2010)) == [set()] * 3
    assert await found(as_of_time=year(2020)) == [{"Ann lives in Leeds"}] * 3
    assert await found(as_of_time=year(2020), known_at_time=datetime.now(UTC)) == [{"Ann lives in Leeds"}] * 3
    assert any("York" in text for text in (await found(as_of_time=year(2025)))[0])
    context = await client.build_context(user_id, question, as_of_time=year(2020))
    facts = [section for section in context.text.split("## ") if section.startswith("Known facts")]
    assert [("Leeds" in section, "York" in section) for section in facts] == [(True, False)]


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
