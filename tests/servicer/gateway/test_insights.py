"""Insights into a user's notes, and maintenance of them, through the gateway."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from mneme_client import (
    Attachment,
    Client,
    LinkType,
    NoteKind,
    NoteStatus,
    QuestionIntent,
    Scope,
    ScopeLevel,
    SuggestionKind,
    Turn,
)
from tests.support.stack import RunningStack, until

pytestmark = pytest.mark.asyncio(loop_scope="session")

CONSOLIDATE = "agentic.consolidate"


async def note(client: Client, user_id: str, content: str, kind: NoteKind = NoteKind.FACT, **fields: object) -> str:
    made = await client.create_note(user_id, content, kind, **fields)  # type: ignore[arg-type]
    return made.note.note_id


async def test_spec_4_7_questions_are_answered_from_the_notes(client: Client, user_id: str) -> None:
    now = datetime.now(UTC)
    await note(client, user_id, "The boat needs new paint before the summer.")
    await note(client, user_id, "I prefer green tea in the morning.", NoteKind.PREFERENCE)
    await note(client, user_id, "I prefer trains to planes.", NoteKind.PREFERENCE, time=now - timedelta(days=400))
    hidden = Scope(ScopeLevel.PROJECT, "p1")
    await note(client, user_id, "I prefer rye bread.", NoteKind.PREFERENCE, scope=hidden)

    about = await client.search_by_question(user_id, "What do you know about my boat?")
    assert (about.parsed.intent, about.parsed.topic) == (QuestionIntent.RETRIEVE, "boat")
    assert [found.content for found in about.notes] == ["The boat needs new paint before the summer."]
    counted = await client.search_by_question(user_id, "How many preferences did I state in the last 30 days?")
    assert (counted.parsed.intent, counted.parsed.kind, counted.note_count, counted.notes) == (
        QuestionIntent.AGGREGATE,
        NoteKind.PREFERENCE,
        1,
        (),
    )
    listed = await client.search_by_question(user_id, "Show me all preferences")
    assert (listed.note_count, listed.notes[0].content) == (2, "I prefer green tea in the morning.")
    topics = await client.search_by_question(user_id, "What topics do I talk about?")
    assert "tea" in {topic.topic for topic in topics.topics}
    refused = await client.search_by_question(user_id, "Delete my notes about tea")
    assert "only read" in refused.refusal
    assert refused.notes == ()


async def test_spec_4_7_and_4_6_a_question_about_a_speaker_finds_what_the_speaker_said(
    client: Client, user_id: str
) -> None:
    said = {
        "I'm allergic to peanuts.": "What is Ann allergic to?",
        "I work as an accountant at Halden.": "What is Ann's job?",
        "I go swimming every Monday.": "What sport does Ann do?",
        "I hate coriander.": "Which food does Ann hate?",
    }
    told = [*(Turn(text, speaker="Ann") for text in said), Turn("I go climbing with the club.", speaker="Bob")]
    written = await client.remember(user_id, "c1", told)
    await client.wait_until_visible(user_id, written.consistency_token)
    for text, question in said.items():
        (first, *_) = await client.search_notes(user_id, question)
        assert first.note.content == f"Ann: {text}"
        answered = await client.search_by_question(user_id, question)
        assert answered.notes[0].content == f"Ann: {text}"
        assert "Ann" in answered.parsed.topic
        assert not any(found.content.startswith("Bob") for found in answered.notes)
    gaps = ["What is Ann allergic to?", "What is Ann's telephone number?"]
    suggested = await client.get_suggestions(user_id, gaps)
    assert [each.topic for each in suggested if each.kind is SuggestionKind.GAP] == gaps[1:]
    about = await client.search_by_question(user_id, "How many notes do you have about Ann?")
    assert about.note_count == len(said)


async def test_spec_4_8_what_a_question_returned_is_used(client: Client, user_id: str) -> None:
    await note(client, user_id, "The lighthouse is open on Sundays.")
    await note(client, user_id, "The fishing permit ends in June.")
    await asyncio.sleep(0.002)  # so that the period begins behind them
    begin = datetime.now(UTC)
    found = await client.search_by_question(user_id, "What do you know about the lighthouse?")
    assert found.note_count == 1

    async def is_counted() -> bool:  # behind the response
        return (await client.get_reflection(user_id, start_time=begin)).unused_count == 1

    await until(is_counted)
    reflection = await client.get_reflection(user_id, start_time=begin)
    assert [unused.content for unused in reflection.unused] == ["The fishing permit ends in June."]


async def test_spec_4_6_suggestions_name_linked_topics_gaps_and_contradictions(client: Client, user_id: str) -> None:
    boat = await note(client, user_id, "The boat lies in the harbour of Faro.")
    permit = await note(client, user_id, "The fishing permit ends in June.")
    first = await note(client, user_id, "Tom eats meat.")
    second = await note(client, user_id, "Tom is a vegetarian.")
    await client.create_link(user_id, boat, permit, LinkType.RELATED_TO, strength=0.9)
    await client.create_link(user_id, first, second, LinkType.CONTRADICTS, strength=0.8)
    queries = ["Where does the boat lie?", "xylophone quartz gamma radiation"]
    found = await client.get_suggestions(user_id, queries)
    by_kind = {kind: [each for each in found if each.kind is kind] for kind in SuggestionKind}
    assert permit in {note_id for each in by_kind[SuggestionKind.RELATED_TOPIC] for note_id in each.note_ids}
    assert [each.topic for each in by_kind[SuggestionKind.GAP]] == [queries[1]]
    assert [set(each.note_ids) for each in by_kind[SuggestionKind.CONTRADICTION]] == [{first, second}]
    assert {each.kind for each in await client.get_suggestions(user_id)} <= {
        SuggestionKind.RELATED_TOPIC,
        SuggestionKind.CONTRADICTION,
    }


async def test_spec_4_6_what_one_query_reaches_is_suggested_beside_other_queries(client: Client, user_id: str) -> None:
    boat = await note(client, user_id, "The boat lies in the harbour of Faro.")
    permit = await note(client, user_id, "The fishing permit ends in June.")
    await note(client, user_id, "The exhibition of old maps ends in autumn.")
    await client.create_link(user_id, boat, permit, LinkType.RELATED_TO, strength=0.9)
    found = await client.get_suggestions(user_id, ["Where does the boat lie?", "When does the exhibition end?"])
    related = [each for each in found if each.kind is SuggestionKind.RELATED_TOPIC]
    assert permit in {note_id for each in related for note_id in each.note_ids}


async def test_spec_4_6_without_queries_suggestions_begin_with_what_was_asked_lately(
    client: Client, user_id: str
) -> None:
    boat = await note(client, user_id, "The boat lies in the harbour of Faro.")
    permit = await note(client, user_id, "The fishing permit ends in June.")
    await client.create_link(user_id, boat, permit, LinkType.RELATED_TO, strength=0.9)
    gap, elsewhere = "xylophone quartz gamma radiation", Scope(ScopeLevel.PROJECT, "p1")
    await client.recall(user_id, "Where does the boat lie?")
    await client.build_context(user_id, gap)
    await client.recall(user_id, "Hello!")
    await client.recall(user_id, "tungsten helicopter parade", scope=elsewhere)
    found = await client.get_suggestions(user_id)
    assert [each.topic for each in found if each.kind is SuggestionKind.GAP] == [gap]
    related = [each for each in found if each.kind is SuggestionKind.RELATED_TOPIC]
    assert permit in {note_id for each in related for note_id in each.note_ids}
    there = await client.get_suggestions(user_id, scope=elsewhere)
    assert {each.topic for each in there if each.kind is SuggestionKind.GAP} == {gap, "tungsten helicopter parade"}
    assert [each.topic for each in await client.get_suggestions(user_id, ["silver trumpet tax"])] == [
        "silver trumpet tax"
    ]


async def test_spec_4_8_a_reflection_says_what_was_learned_contradicts_and_is_unused(
    client: Client, user_id: str
) -> None:
    await note(client, user_id, "The lighthouse is *open*\non Sundays.")
    await asyncio.sleep(0.002)  # so that the period begins behind it
    begin = datetime.now(UTC)
    first = await note(client, user_id, "Tom eats meat.", importance=0.4)
    second = await note(client, user_id, "Tom is a vegetarian.", importance=0.9)
    await client.create_link(user_id, first, second, LinkType.CONTRADICTS)
    reflection = await client.get_reflection(user_id, start_time=begin)
    assert [learned.note_id for learned in reflection.learned] == [second, first]
    assert reflection.learned_count == 2
    assert [{a.note_id, b.note_id} for a, b in reflection.contradictions] == [{first, second}]
    assert [unused.content for unused in reflection.unused] == ["The lighthouse is *open*\non Sundays."]
    assert "## Learned (2)" in reflection.markdown
    assert "The lighthouse is \\*open\\* on Sundays." in reflection.markdown


async def test_spec_4_8_a_reflection_over_long_notes_fits_into_an_answer(client: Client, user_id: str) -> None:
    labels = {str(n): "\U0001d11e" * 1_000 for n in range(32)}
    pictures = [Attachment("\U0001d11e" * 2_000) for _ in range(16)]
    first = await note(client, user_id, "Tom eats meat.", attachments=pictures, metadata=labels)
    for number in range(15):
        other = await note(client, user_id, f"Tom eats no meat on day {number}.", attachments=pictures, metadata=labels)
        await client.create_link(user_id, first, other, LinkType.CONTRADICTS)
    reflection = await client.get_reflection(user_id)
    assert reflection.learned_count == 16
    assert 0 < len(reflection.learned) < 16
    assert 0 < len(reflection.contradictions) < 15
    assert "## Learned (16)" in reflection.markdown
    assert reflection.markdown.count("\n- ") == len(reflection.learned) + len(reflection.contradictions)


async def test_spec_4_9_and_4_4_the_health_of_notes_before_and_after_consolidation(
    client: Client, user_id: str
) -> None:
    empty = await client.get_health(user_id)
    assert (empty.note_count, empty.never_read_share) == (0, 0.0)
    kept = await note(client, user_id, "The boat was built in 1987.")
    again = await note(client, user_id, "The boat was built in 1987.")
    await note(client, user_id, "The boat was built in 1978.")
    health = await client.get_health(user_id)
    assert (health.note_count, health.duplicate_count, health.never_read_share) == (3, 1, 1.0)
    planned = await client.run_job(user_id, CONSOLIDATE, dry_run=True)
    assert [change.target for change in planned.changes] == [again]
    run = await client.run_job(user_id, CONSOLIDATE)
    assert (await client.get_note(user_id, again)).note.successor_id == kept
    assert (await client.get_health(user_id)).duplicate_count == 0
    assert [listed.run_id async for listed in client.list_runs(user_id)] == [run.run_id]
    shown = await client.get_run(user_id, run.run_id)
    assert [(change.action, change.target) for change in shown.changes] == [("merge", again)]
    assert [change async for change in client.list_run_changes(user_id, run.run_id)] == list(shown.changes)
    assert await client.undo_run(user_id, run.run_id) == 1
    assert (await client.get_note(user_id, again)).note.status is NoteStatus.ACTIVE


async def test_spec_7_1_insights_are_for_readers_of_their_tenant(secured_stack: RunningStack, user_id: str) -> None:
    async with secured_stack.client("writer") as writer, secured_stack.client("other writer") as other:
        await note(writer, user_id, "A secret of acme.")
        assert (await other.get_health(user_id)).note_count == 0
        assert (await other.search_by_question(user_id, "secret")).notes == ()
    async with secured_stack.client("reader") as reader:
        assert (await reader.get_health(user_id)).note_count == 1
