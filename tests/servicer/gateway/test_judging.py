"""What feedback does to the next recall, and what being returned together does to links."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from mneme_client import Client, FeedbackValue, Scoring, Turn
from mneme_client.resources import Link
from mneme_client.results import RecallResult
from tests.support.stack import patient_client, running_stack, until

pytestmark = pytest.mark.asyncio(loop_scope="session")

QUESTION = "What should we cook for dinner?"
BEFORE_JUDGED = "Sundays"
"""In what ranks first before anything is judged, and does not answer the question."""
SAID = [
    Turn("I love a hot lentil curry with rice for dinner.", speaker="Ada"),
    Turn("I love a cold tomato soup with bread for dinner.", speaker="Ada"),
    Turn("My sister and I cook dinner together on Sundays.", speaker="Ada"),
]
JUDGEMENTS = 20


async def recalled(client: Client, user_id: str) -> RecallResult:
    return await client.recall(user_id, QUESTION, limit=3, scoring=Scoring("interaction"))


def contents(found: RecallResult) -> dict[str, list[str]]:
    return {
        "turns": [memory.turn.content for memory in found.memories],
        "facts": [hit.fact.text for hit in found.facts],
        "notes": [hit.note.content for hit in found.notes],
    }


async def links_of(client: Client, user_id: str) -> dict[tuple[str, str], Link]:
    ids = [note.note_id async for note in client.list_notes(user_id)]
    links = [link for note_id in ids for link in (await client.get_note(user_id, note_id)).links]
    return {(link.from_note_id, link.to_note_id): link for link in links}


async def test_spec_6_4_after_twenty_judgements_the_same_question_ranks_otherwise(client: Client, user_id: str) -> None:
    token = (await client.remember(user_id, "c1", SAID)).consistency_token
    await client.wait_until_visible(user_id, token)
    before = contents(await recalled(client, user_id))
    assert all(BEFORE_JUDGED in ranked[0] for ranked in before.values())
    for number in range(JUDGEMENTS):
        asked = await recalled(client, user_id)
        is_bad = number % 2 == 0  # by turns: what is of no use, and what is
        given = await client.feedback(
            user_id,
            FeedbackValue.BAD if is_bad else FeedbackValue.GOOD,
            memory_ids=[m.memory_id for m in asked.memories if (BEFORE_JUDGED in m.turn.content) is is_bad],
            fact_ids=[hit.fact.fact_id for hit in asked.facts if (BEFORE_JUDGED in hit.fact.text) is is_bad],
            note_ids=[hit.note.note_id for hit in asked.notes if (BEFORE_JUDGED in hit.note.content) is is_bad],
        )
        await client.wait_until_visible(user_id, given.consistency_token)
    after = contents(await recalled(client, user_id))
    assert {kind: sorted(ranked) for kind, ranked in after.items()} == {k: sorted(v) for k, v in before.items()}
    assert all(BEFORE_JUDGED in ranked[-1] for ranked in after.values()), "good before bad, whatever it was before"


async def test_spec_6_4_feedback_on_a_recall_reaches_the_links_among_its_notes_and_can_be_taken_back(
    client: Client, user_id: str
) -> None:
    token = (await client.remember(user_id, "c1", SAID)).consistency_token
    await client.wait_until_visible(user_id, token)
    asked = await recalled(client, user_id)
    plain = await links_of(client, user_id)
    assert plain
    assert {link.feedback for link in plain.values()} == {0}
    for value, expected in ((FeedbackValue.BAD, -1), (FeedbackValue.GOOD, 1), (FeedbackValue.NONE, 0)):
        given = await client.feedback(user_id, value, recall_id=asked.recall_id)
        await client.wait_until_visible(user_id, given.consistency_token)

        async def are_judged(value: int = expected) -> bool:
            judged = await links_of(client, user_id)
            return set(judged) == set(plain) and {link.feedback for link in judged.values()} == {value}

        await until(are_judged)


@pytest_asyncio.fixture(loop_scope="session")
async def linking(tmp_path: Path, model_folder: Path) -> AsyncIterator[Client]:
    """A client of services that make links by use."""
    async with (
        running_stack(tmp_path / "data", model_folder, links_by_use=True) as services,
        patient_client(services.gateway_target) as opened,
    ):
        yield opened


async def test_spec_4_3_notes_that_a_recall_returns_together_have_stronger_links(linking: Client, user_id: str) -> None:
    client = linking
    token = (await client.remember(user_id, "c1", SAID)).consistency_token
    await client.wait_until_visible(user_id, token)
    plain = await links_of(client, user_id)
    assert plain
    assert len((await recalled(client, user_id)).notes) == len(SAID)

    async def are_stronger() -> bool:
        found = await links_of(client, user_id)
        return all(found[key].strength == pytest.approx(min(1.0, link.strength * 1.1)) for key, link in plain.items())

    await until(are_stronger)


async def test_spec_6_4_and_6_10_a_context_returns_what_is_in_its_text_and_no_more(
    client: Client, user_id: str
) -> None:
    meals = [f"On day {day} my sister cooked a lentil curry number {day} with rice for dinner." for day in range(40)]
    token = (await client.remember(user_id, "c1", [Turn(meal, speaker="Ada") for meal in meals])).consistency_token
    context = await client.build_context(user_id, QUESTION, token_budget=200, consistency_token=token)
    included = {reason.memory_id for reason in context.reasons}
    assert 0 < len(included) < len(meals)
    given = await client.feedback(user_id, FeedbackValue.GOOD, recall_id=context.recall_id)
    assert given.memory_count == len(included)
    await client.wait_until_visible(user_id, given.consistency_token)

    async def are_judged_and_counted() -> bool:
        episodes = [episode async for episode in client.list_episodes(user_id)]
        wanted = included & {episode.episode_id for episode in episodes}
        judged = {episode.episode_id for episode in episodes if episode.feedback}
        return bool(wanted) and judged == wanted == {e.episode_id for e in episodes if e.access_count}

    await until(are_judged_and_counted)
    assert {fact.fact_id async for fact in client.list_facts(user_id) if fact.feedback} <= included
    assert {note.note_id async for note in client.list_notes(user_id) if note.feedback} <= included
    await client.get_audit_checkpoint()
    bodies = [json.loads(entry.body) async for entry in client.list_audit_entries() if entry.body]
    [read] = [body["memories"] for body in bodies if body["request_id"] == context.recall_id]
    assert set(read) == included
