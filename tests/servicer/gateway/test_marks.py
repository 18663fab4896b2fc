"""Reads of turns, episodes and notes through the gateway name what superseded what they say (SPEC 3.12)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from mneme.agentic.v1 import insights_pb2, insights_pb2_grpc
from mneme.episodic.v1 import episodic_pb2
from mneme.gateway.v1 import recall_pb2
from mneme_client import Client, Episode, Note, NoteKind, Scope, ScopeLevel, SupersessionReason, Turn
from services.common.postgres.server import EmbeddedPostgres
from tests.servicer.gateway.test_correct import SAID, VAN, correct, said
from tests.servicer.gateway.test_erasure import visible
from tests.support.stack import RunningStack, Stubs, gated_gateway, until

if TYPE_CHECKING:
    from services.common.embedding.embedder import OnnxEmbedder

pytestmark = pytest.mark.asyncio(loop_scope="session")

RIGHT = "The van is from 2016."
PART = "The van is from 2014"
TRAILER = "The trailer is grey as well."


async def corrected(client: Client, gateway: Stubs, user_id: str) -> tuple[str, str]:
    """Corrects a part of what was said; returns the ids of the turn and of the one that corrects it."""
    wrong, _ = await said(client, user_id, VAN, TRAILER)
    response = await correct(gateway, user_id, RIGHT, query=PART)
    await visible(client, user_id, response.consistency_token)
    return wrong, response.interaction_id


def mark(one: Any) -> tuple[str, list[str], bool]:
    """What a result of the client says about itself."""
    return one.superseded_by, [each.superseded_by for each in one.superseded_statements], one.marks_missing


async def test_spec_3_12_reads_of_episodes_name_what_superseded_them(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    wrong, right = await corrected(client, gateway, user_id)
    one = await client.get_episode(user_id, wrong)
    assert mark(one) == (right, [right], False)
    (statement,) = one.superseded_statements
    assert (statement.reason, statement.whole_turn) == (SupersessionReason.CORRECTED, False)
    assert (statement.end_time, statement.statement in VAN) == (SAID, True)
    assert (statement.standing_statement, statement.premise, statement.decision_reason) == ("", "", "")

    async def by_text(found: list[Episode]) -> dict[str, str]:
        return {each.text: each.superseded_by for each in found}

    expected = {VAN: right, TRAILER: "", RIGHT: ""}
    assert await by_text([each async for each in client.list_episodes(user_id)]) == expected
    hits = await client.search_episodes(user_id, "From which year is the van?")
    assert await by_text([hit.episode for hit in hits]) == expected
    batch = await gateway.episodes.BatchGetEpisodes(
        episodic_pb2.BatchGetEpisodesRequest(user_id=user_id, episode_ids=[wrong, right])
    )
    assert [each.superseded_by for each in batch.episodes] == [right, ""]


async def test_spec_3_12_reads_of_sessions_and_transcripts_name_what_superseded_their_turns(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    _, right = await corrected(client, gateway, user_id)
    window = await client.get_session(user_id, "c1")
    assert {each.turn.content: each.superseded_by for each in window.turns} == {VAN: right, TRAILER: "", RIGHT: ""}
    log = [each async for each in client.list_interactions(user_id, "c1")]
    assert [mark(each) for each in log] == [(right, [right], False), ("", [], False), ("", [], False)]
    request = recall_pb2.RecallRequest(user_id=user_id, query="Which year?", conversation_id="c1")
    request.as_of_time.FromDatetime(SAID + timedelta(hours=1))
    recent = (await gateway.memory.Recall(request)).recent_turns
    assert [each.superseded_by for each in recent] == [right, "", ""]


async def test_spec_3_12_reads_of_notes_name_what_superseded_what_they_repeat(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    wrong, right = await corrected(client, gateway, user_id)
    own = (await client.create_note(user_id, PART, NoteKind.FACT, derived_from=[wrong])).note
    other = (await client.create_note(user_id, "Lunch was late.", NoteKind.OBSERVATION, derived_from=[wrong])).note
    assert mark((await client.get_note(user_id, own.note_id)).note) == (right, [right], False)
    assert mark((await client.get_note(user_id, other.note_id)).note) == ("", [], False)

    def marks(found: list[Note]) -> dict[str, str]:
        return {each.note_id: each.superseded_by for each in found if each.note_id in {own.note_id, other.note_id}}

    expected = {own.note_id: right, other.note_id: ""}
    assert marks([each async for each in client.list_notes(user_id)]) == expected
    assert marks([hit.note for hit in await client.search_notes(user_id, "the van and the lunch")]) == expected
    asked = await client.search_by_question(user_id, "What do you know about the van?")
    assert marks(list(asked.notes))[own.note_id] == right
    insights = insights_pb2_grpc.InsightServiceStub(gateway.channel)
    report = await insights.GetReflection(insights_pb2.GetReflectionRequest(user_id=user_id))
    assert {each.note_id: each.superseded_by for each in report.learned}[own.note_id] == right
    lines = report.markdown.splitlines()
    assert [line for line in lines if line.endswith(f" {PART}")] == [f"- {own.time:%Y-%m-%d} **superseded** {PART}"]
    assert [line for line in lines if line.endswith("Lunch was late.")] == [f"- {other.time:%Y-%m-%d} Lunch was late."]


async def test_spec_3_12_a_search_as_of_a_time_marks_what_was_superseded_by_then(client: Client, user_id: str) -> None:
    turns = [Turn("I live in Leeds.", time=SAID), Turn("I live in York now.", time=SAID + timedelta(days=2))]
    written = await client.remember(user_id, "c1", turns)
    await visible(client, user_id, written.consistency_token)
    leeds, york = (each.interaction_id for each in written.interactions)

    async def is_marked() -> bool:
        return (await client.get_episode(user_id, leeds)).superseded_by == york

    await until(is_marked)
    note = (await client.create_note(user_id, "I live in Leeds.", NoteKind.FACT, derived_from=[leeds], time=SAID)).note

    async def superseded_by(days: float) -> str:
        hits = await client.search_notes(user_id, "Leeds", as_of_time=SAID + timedelta(days=days))
        return next(hit.note.superseded_by for hit in hits if hit.note.note_id == note.note_id)

    assert (await superseded_by(1), await superseded_by(3)) == ("", york)


async def test_spec_3_12_a_reader_in_a_scope_sees_no_words_of_turns_beyond_it(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    wrong, right = await corrected(client, gateway, user_id)
    found = await client.get_episode(user_id, wrong, scope=Scope(ScopeLevel.GLOBAL))
    assert (found.superseded_by, found.superseded_statements[0].standing_statement) == (right, "")


async def test_spec_3_12_without_the_semantic_tier_reads_say_that_marks_are_missing(
    stack: RunningStack, embedder: OnnxEmbedder, postgres_server: EmbeddedPostgres, user_id: str
) -> None:
    async with (
        gated_gateway(stack, embedder, postgres_server) as gated,
        Client(gated.target) as client,
    ):
        written = await client.remember(user_id, "c1", TRAILER)
        await visible(client, user_id, written.consistency_token)
        (reference,) = written.interactions
        note = (await client.create_note(user_id, "Grey.", NoteKind.FACT)).note
        assert not (await client.get_episode(user_id, reference.interaction_id)).marks_missing
        assert "not known" not in (await client.get_reflection(user_id)).markdown
        await gated.gates["semantic"].shut()
        assert (await client.get_episode(user_id, reference.interaction_id)).marks_missing
        assert [each.marks_missing async for each in client.list_episodes(user_id)] == [True]
        assert (await client.get_note(user_id, note.note_id)).note.marks_missing
        assert "Which of these are superseded is not known" in (await client.get_reflection(user_id)).markdown
        assert [each.marks_missing for each in (await client.get_session(user_id, "c1")).turns] == [True]
        assert [each.marks_missing async for each in client.list_interactions(user_id, "c1")] == [True]


async def test_a_semantic_tier_that_does_not_respond_delays_reads_by_a_bounded_time(
    stack: RunningStack, embedder: OnnxEmbedder, postgres_server: EmbeddedPostgres, user_id: str
) -> None:
    async with (
        gated_gateway(stack, embedder, postgres_server) as gated,
        Client(gated.target) as client,
    ):
        note = (await client.create_note(user_id, "Grey.", NoteKind.FACT)).note
        gated.gates["semantic"].hold()
        assert (await client.get_note(user_id, note.note_id, timeout_seconds=60)).note.marks_missing
        gated.gates["semantic"].release()
