"""Correcting through the gateway: what is right stands, what said otherwise is marked, and nothing is lost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest

from mneme.gateway.v1 import erasure_pb2, memory_pb2, recall_pb2, tiers_pb2
from mneme.semantic.v1 import profile_pb2
from mneme_client import Client, FactCategory, NoteKind, Turn
from tests.servicer.gateway.test_erasure import erase, everything, remembered, rows_with, visible
from tests.support.stack import RunningStack, Stubs, refusal, until

pytestmark = pytest.mark.asyncio(loop_scope="session")

SAID = datetime(2025, 1, 22, 15, tzinfo=UTC)
VAN = "The van is a grey Transit from 2014 with 180,000 km and a new clutch."


async def said(client: Client, user_id: str, *texts: str) -> list[str]:
    """Remembers what was said long ago, and returns the ids."""
    turns = [Turn(text, time=SAID + timedelta(minutes=n)) for n, text in enumerate(texts)]
    written = await client.remember(user_id, "c1", turns)
    await visible(client, user_id, written.consistency_token)
    return [reference.interaction_id for reference in written.interactions]


async def correct(gateway: Stubs, user_id: str, text: str, **fields: object) -> erasure_pb2.CorrectResponse:
    request = erasure_pb2.CorrectRequest(
        **{"request_id": f"{user_id} c", "user_id": user_id, "text": text, **fields}  # type: ignore[arg-type]
    )
    return await gateway.erasures.Correct(request)


def reference(kind: int, memory_id: str) -> memory_pb2.MemoryReference:
    return memory_pb2.MemoryReference(kind=tiers_pb2.MemoryKind.Name(kind), memory_id=memory_id)


async def learned_of(gateway: Stubs, user_id: str) -> profile_pb2.Preferences:
    """What the profile learned from turns."""
    found = await gateway.profiles.GetProfile(profile_pb2.GetProfileRequest(user_id=user_id))
    learned: profile_pb2.Preferences = found.profile.learned_preferences
    return learned


async def marks(client: Client, user_id: str, question: str, token: str) -> dict[str, str]:
    """What each recalled turn is superseded by, as of an hour after it was said."""
    await visible(client, user_id, token)
    found = await client.recall(user_id, question, as_of_time=SAID + timedelta(hours=1))
    return {memory.text: memory.superseded_by for memory in found.memories}


async def test_spec_3_12_part_of_a_compound_statement_is_corrected_in_words(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    await said(client, user_id, VAN, "The trailer is grey as well.")
    response = await correct(gateway, user_id, "The van is from 2016.", query="The van is from 2014")
    assert [(one.preview, one.whole_turn) for one in response.statements] == [(VAN, False)]
    question = "From which year is the van?"
    found = await marks(client, user_id, question, response.consistency_token)
    assert found["The van is from 2016."] == ""
    assert found[VAN] == response.interaction_id
    assert found["The trailer is grey as well."] == ""
    prompt = await client.build_context(user_id, question, as_of_time=SAID + timedelta(hours=1))
    (line,) = [line for line in prompt.text.splitlines() if "180,000" in line and "Transit" in line][:1]
    assert "superseded in part" in line


async def test_spec_3_12_a_turn_is_corrected_by_its_id_and_a_repeat_changes_nothing(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    wrong, right = "Freya Lund starts on 2 June as data analyst.", "Freya Lund starts on 16 June as data analyst."
    ids = await said(client, user_id, wrong, "The intern is Finn Lunde, starts on 2 June as well.")
    named = reference(tiers_pb2.MEMORY_KIND_EPISODE, ids[0])
    response = await correct(gateway, user_id, right, memory=named)
    assert [(one.interaction_id, one.whole_turn) for one in response.statements] == [(ids[0], True)]
    repeat = await correct(gateway, user_id, right, memory=named)
    assert (repeat.replayed, repeat.interaction_id) == (True, response.interaction_id)
    found = await marks(client, user_id, "When does Freya Lund start?", response.consistency_token)
    assert (found[wrong], found[right]) == (response.interaction_id, "")
    assert found["The intern is Finn Lunde, starts on 2 June as well."] == ""
    log = [i async for i in client.list_interactions(user_id, "c1")]
    assert [i.turn.content for i in log][2:] == [right]
    assert wrong not in str(log[2].turn.metadata)


async def test_spec_3_12_a_repeat_marks_nothing_that_was_said_since_and_succeeds_where_the_wrong_turn_was_erased(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    wrong, right, since = "The van is from 2014.", "The van is from 2016.", "The other depot says the van is from 2014."
    ids = await said(client, user_id, wrong)
    response = await correct(gateway, user_id, right, query="The van is from 2014")
    written = await client.remember(user_id, "c2", [Turn(since, time=SAID + timedelta(minutes=30))])
    await visible(client, user_id, written.consistency_token)
    repeat = await correct(gateway, user_id, right, query="The van is from 2014")
    assert (repeat.replayed, repeat.interaction_id, list(repeat.statements)) == (True, response.interaction_id, [])
    found = await marks(client, user_id, "From which year is the van?", response.consistency_token)
    assert found[wrong] == response.interaction_id
    assert found[since] != response.interaction_id
    named = reference(tiers_pb2.MEMORY_KIND_EPISODE, ids[0])
    await erase(gateway, user_id=user_id, memories=erasure_pb2.MemoryReferences(memories=[named]))
    repeat = await correct(gateway, user_id, right, query="The van is from 2014")
    assert (repeat.replayed, repeat.interaction_id) == (True, response.interaction_id)


async def test_spec_3_12_a_repeat_of_an_erased_correction_writes_nothing(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    fact = await client.create_fact(user_id, "The office is in Ulm.", category=FactCategory.CONTEXT)
    named, right = reference(2, fact.fact_id), "The office is in Jena."
    response = await correct(gateway, user_id, right, memory=named)
    turn = reference(tiers_pb2.MEMORY_KIND_EPISODE, response.interaction_id)
    await erase(gateway, user_id=user_id, memories=erasure_pb2.MemoryReferences(memories=[turn]))
    before = await everything(client, user_id, "Where is the office?")
    repeat = await correct(gateway, user_id, right, memory=named)
    assert (repeat.replayed, repeat.interaction_id) == (True, response.interaction_id)
    assert await everything(client, user_id, "Where is the office?") == before


async def test_spec_3_12_somebody_elses_statement_stays(client: Client, gateway: Stubs, user_id: str) -> None:
    wedding = "Zoe's wedding is on 7 June in Bath, and Rob does the catering."
    party = "Zoe's hen party is in Bath, too, in May."
    await said(client, user_id, wedding, party)
    response = await correct(gateway, user_id, "Zoe's wedding is in Bristol.", query="Zoe's wedding is in Bath")
    assert [one.preview for one in response.statements] == [wedding]
    assert (await marks(client, user_id, "Where is the hen party?", response.consistency_token))[party] == ""


async def test_spec_3_12_a_dry_run_and_what_nobody_said_change_nothing(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    await said(client, user_id, VAN)
    dry = await correct(gateway, user_id, "The van is from 2016.", query="The van is from 2014", dry_run=True)
    assert ([one.preview for one in dry.statements], dry.interaction_id) == ([VAN], "")
    request = erasure_pb2.CorrectRequest(
        request_id="r", user_id=user_id, query="My sister lives in Lisbon", text="My sister lives in Porto."
    )
    assert (await refusal(gateway.erasures.Correct(request))).reason == "NOT_FOUND"
    assert [i.turn.content async for i in client.list_interactions(user_id, "c1")] == [VAN]


async def test_spec_3_12_a_fact_and_a_note_without_turns_say_what_is_right(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    fact = await client.create_fact(user_id, "The office is in Ulm.", category=FactCategory.CONTEXT)
    note = (await client.create_note(user_id, "The gate code is 1234.", NoteKind.FACT)).note
    await correct(gateway, user_id, "The office is in Jena.", memory=reference(2, fact.fact_id))
    await correct(
        gateway, user_id, "The gate code is 9876.", memory=reference(3, note.note_id), request_id=f"{user_id} n"
    )
    assert (await client.get_fact(user_id, fact.fact_id)).text == "The office is in Jena."
    assert (await client.get_note(user_id, note.note_id)).note.content == "The gate code is 9876."
    assert {i.turn.content async for i in client.list_interactions(user_id, "corrections")} == {
        "The office is in Jena.",
        "The gate code is 9876.",
    }


async def test_spec_3_12_a_fact_and_a_note_that_their_turns_do_not_say_are_corrected_by_their_ids(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    turns = await said(client, user_id, "We talked with the plumber about the boiler this morning.")
    fact = await client.create_fact(
        user_id, "The office rent is 900 euros.", category=FactCategory.CONTEXT, derived_from=turns
    )
    named, right = reference(2, fact.fact_id), "The office rent is 950 euros."
    response = await correct(gateway, user_id, right, memory=named)
    assert list(response.statements) == []
    assert (await correct(gateway, user_id, right, memory=named)).replayed
    corrected = await client.get_fact(user_id, fact.fact_id)
    assert (corrected.text, [version.text for version in corrected.versions]) == (right, [fact.text])
    note = (await client.create_note(user_id, "The gate code is 1234.", NoteKind.FACT, derived_from=turns)).note
    named, request_id = reference(3, note.note_id), f"{user_id} n"
    for _ in range(2):
        assert not (
            await correct(gateway, user_id, "The gate code is 9876.", memory=named, request_id=request_id)
        ).statements
    assert (await client.get_note(user_id, note.note_id)).note.content == "The gate code is 9876."
    assert len([i async for i in client.list_interactions(user_id, "c1")]) == 1


async def test_spec_3_12_a_stated_fact_is_corrected_with_the_turn_that_says_so_and_a_read_one_by_the_turn(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    wrong, right = "The office rent is 900 euros.", "The office rent is 950 euros."
    home = "It took me a year to settle, what with the trains and the weather, but I live in Leeds with my cat now."
    turns = await said(client, user_id, wrong, home)
    stated = await client.create_fact(
        user_id, "The rent of the office is 900 euros.", category=FactCategory.CONTEXT, derived_from=turns[:1]
    )
    response = await correct(gateway, user_id, right, memory=reference(2, stated.fact_id))
    assert [one.preview for one in response.statements] == [wrong]
    repeat = await correct(gateway, user_id, right, memory=reference(2, stated.fact_id))
    assert (repeat.replayed, list(repeat.statements)) == (True, [])
    assert (await client.get_fact(user_id, stated.fact_id)).text == right
    [read] = [fact async for fact in client.list_facts(user_id, predicate="lives_in")]
    moved = await correct(
        gateway, user_id, "I live in York.", memory=reference(2, read.fact_id), request_id=f"{user_id} 2"
    )
    ended = await client.get_fact(user_id, read.fact_id)
    assert (ended.text, ended.superseded_by) == (read.text, moved.interaction_id)
    await visible(client, user_id, moved.consistency_token)
    held = [fact async for fact in client.list_facts(user_id, predicate="lives_in") if fact.valid_to_time is None]
    assert [fact.object for fact in held] == ["York"]


async def test_spec_3_12_of_a_note_made_of_several_sentences_the_one_is_wrong_that_is_most_like_the_right_text(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    wrong = "My brother Tim lives in Bergen with two dogs."
    await said(client, user_id, f"My sister Zoe moved to Oslo in March. {wrong} We all meet in Paris in June.")

    async def is_noted() -> bool:
        return bool([note async for note in client.list_notes(user_id)])

    await until(is_noted)
    [note] = [note async for note in client.list_notes(user_id)]
    right = "My brother Tim lives in Trondheim with two dogs."
    response = await correct(gateway, user_id, right, memory=reference(3, note.note_id))
    assert [(one.preview, one.whole_turn) for one in response.statements] == [(wrong, False)]
    assert (await client.get_note(user_id, note.note_id)).note.content == note.content


async def test_spec_3_12_an_abbreviation_that_a_corrected_sentence_defines_is_applied_no_more(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    wrong, right = "I read about machine learning (ML) a lot.", "I read about mathematical logic (ML) a lot."

    async def rewritten() -> str:
        response = await gateway.memory.Recall(recall_pb2.RecallRequest(user_id=user_id, query="ML papers"))
        return str(response.reading.rewritten_query)

    (turn,) = await said(client, user_id, f"It rains today. {wrong}")
    await until(lambda: is_equal(rewritten, "ML machine learning papers"))
    await correct(gateway, user_id, right, memory=reference(tiers_pb2.MEMORY_KIND_EPISODE, turn))
    await until(lambda: is_equal(rewritten, "ML mathematical logic papers"))


async def is_equal(read: Callable[[], Awaitable[str]], expected: str) -> bool:
    return await read() == expected


async def test_spec_3_12_erasing_what_was_corrected_leaves_no_trace_of_it(
    client: Client, gateway: Stubs, stack: RunningStack, user_id: str
) -> None:
    word = f"Zyx{user_id.rpartition('-')[2]}"
    ids = await remembered(client, user_id, f"My cat is called {word}.")
    named = reference(tiers_pb2.MEMORY_KIND_EPISODE, ids[0])
    await correct(gateway, user_id, "My cat is called Minka.", memory=named)
    assert await rows_with(stack, word) > 1
    await erase(gateway, user_id=user_id, memories=erasure_pb2.MemoryReferences(memories=[named]))
    left = await everything(client, user_id, "What is the cat called?")
    assert word not in left
    assert "Minka" in left
    assert await rows_with(stack, word) == 0


async def test_spec_3_12_omitted_fields_correct_nothing(gateway: Stubs, user_id: str) -> None:
    refused = await refusal(gateway.erasures.Correct(erasure_pb2.CorrectRequest(user_id=user_id)))
    assert set(refused.paths) == {"request_id", "text", "wrong"}


async def test_spec_3_12_all_of_a_turn_is_corrected_on_request(client: Client, gateway: Stubs, user_id: str) -> None:
    (van,) = await said(client, user_id, VAN)
    named = reference(tiers_pb2.MEMORY_KIND_EPISODE, van)
    response = await correct(gateway, user_id, "We have no van.", memory=named, whole_turn=True)
    assert [(one.interaction_id, one.whole_turn) for one in response.statements] == [(van, True)]
    found = await marks(client, user_id, "Which van?", response.consistency_token)
    assert found == {VAN: response.interaction_id, "We have no van.": ""}
    in_words = {"query": "The van is grey", "whole_turn": True, "request_id": "r"}
    refused = await refusal(correct(gateway, user_id, "x", **in_words))
    assert refused.paths == ("whole_turn",)


async def test_spec_3_12_the_profile_forgets_what_a_corrected_statement_taught_and_learns_what_is_right(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    brief = "Please keep your answers short."
    ids = await said(client, user_id, "Please reply in French. I work at the harbour in Ghent.", brief)
    learned = await learned_of(gateway, user_id)
    assert (learned.language, learned.detail_level) == ("fr", "brief")
    named = reference(tiers_pb2.MEMORY_KIND_EPISODE, ids[0])
    work = await correct(gateway, user_id, "I work at the harbour in Bruges.", memory=named)
    await visible(client, user_id, work.consistency_token)
    assert (await learned_of(gateway, user_id)).language == "fr"
    language = await correct(
        gateway, user_id, "I never asked for French.", query="Please reply in French", request_id=f"{user_id} 2"
    )
    await visible(client, user_id, language.consistency_token)
    learned = await learned_of(gateway, user_id)
    assert (learned.language, learned.detail_level) == ("", "brief")
    again = await correct(
        gateway,
        user_id,
        "Please give me more detailed answers.",
        memory=reference(tiers_pb2.MEMORY_KIND_EPISODE, ids[1]),
        request_id=f"{user_id} 3",
    )
    await visible(client, user_id, again.consistency_token)
    assert (await learned_of(gateway, user_id)).detail_level == "detailed"
    await erase(gateway, user_id=user_id, memories=_turn(again.interaction_id))
    assert (await learned_of(gateway, user_id)).detail_level == "brief", "the correction is gone"


def _turn(interaction_id: str) -> erasure_pb2.MemoryReferences:
    return erasure_pb2.MemoryReferences(memories=[reference(tiers_pb2.MEMORY_KIND_EPISODE, interaction_id)])
