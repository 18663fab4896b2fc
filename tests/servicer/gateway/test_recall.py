"""Recalling through the gateway: what is found, for whom, and why."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import grpc
import pytest

from mneme.episodic.v1 import episodic_pb2, episodic_pb2_grpc
from mneme.gateway.v1 import recall_pb2
from mneme_client import Client, FeedbackValue, MnemeClientError, Scope, ScopeLevel, Scoring, Tier, TierState, Turn
from mneme_client.results import RecallResult
from services.gateway.recall.stages.catalog import STAGES
from tests.support.stack import Refusal, RunningStack, Stubs, refusal, until

pytestmark = pytest.mark.asyncio(loop_scope="session")

TALK = [
    Turn("I moved to Lyon last spring.", speaker="Ada"),
    Turn("Nice! How do you like it there?", speaker="Bob"),
    Turn("My cat Momo hates the trams.", speaker="Ada"),
    Turn("I am learning to play the cello.", speaker="Bob"),
]


WHO = ("My sister", "Tom", "The neighbour", "Our teacher", "My boss", "Grandma", "The plumber", "A friend")
DID = (
    *("fixed the fence", "cooked a soup", "sold the car", "painted the hall", "sang in the choir", "lost the keys"),
    *("bought a piano", "planted roses", "missed the train", "read a long novel"),
)
WHERE = ("in Lisbon", "by the river", "at the office", "with the children", "near the church")


async def remembered(client: Client, user_id: str, turns: list[Turn] | None = None) -> str:
    return (await client.remember(user_id, "c1", turns or TALK)).consistency_token


def texts(found: RecallResult) -> list[str]:
    return [memory.turn.content for memory in found.memories]


async def test_spec_5_11_a_recall_with_the_token_finds_what_was_just_remembered(client: Client, user_id: str) -> None:
    token = await remembered(client, user_id)
    found = await client.recall(user_id, "What pet does Ada have?", consistency_token=token)
    assert found.consistent is True
    assert not found.degraded
    best = found.memories[0]
    assert best.turn.content == "My cat Momo hates the trams."
    assert (best.turn.speaker, best.conversation_id, best.position) == ("Ada", "c1", 2)


async def test_spec_5_11_without_a_token_consistency_is_not_spoken_of(client: Client, user_id: str) -> None:
    assert (await client.recall(user_id, "anything")).consistent is None


async def test_spec_5_10_every_memory_says_why(client: Client, user_id: str) -> None:
    found = await client.recall(user_id, "Who plays the cello?", consistency_token=await remembered(client, user_id))
    assert texts(found)[0] == "I am learning to play the cello."
    for memory in found.memories:
        parts = memory.explanation.parts
        assert memory.score == pytest.approx(sum(part.value for part in parts), abs=1e-4)
        assert all(found_by.rank >= 1 for found_by in memory.explanation.retrievers)
    retrievers = {found_by.retriever: found_by for found_by in found.memories[0].explanation.retrievers}
    assert retrievers["dense"].rank == retrievers["lexical"].rank == 1
    assert set(retrievers) <= {"dense", "lexical", "facts", "notes"}
    assert [memory.score for memory in found.memories] == sorted((m.score for m in found.memories), reverse=True)


async def test_spec_5_10_facts_and_notes_name_the_turns_they_come_from(client: Client, user_id: str) -> None:
    found = await client.recall(user_id, "Where does Ada live?", consistency_token=await remembered(client, user_id))
    by_id = {memory.memory_id: memory for memory in found.memories}
    assert found.facts
    assert found.notes
    assert any(set(hit.fact.derived_from) & set(by_id) for hit in found.facts)
    for memory in found.memories:
        assert set(memory.fact_ids) == {
            hit.fact.fact_id for hit in found.facts if memory.memory_id in hit.fact.derived_from
        }
        assert set(memory.note_ids) == {
            hit.note.note_id for hit in found.notes if memory.memory_id in hit.note.derived_from
        }


async def test_spec_5_10_every_tier_says_how_it_took_part(client: Client, user_id: str) -> None:
    token = await remembered(client, user_id)
    found = await client.recall(user_id, "cat", consistency_token=token, conversation_id="c1")
    assert {report.tier: report.state for report in found.tiers} == dict.fromkeys(
        (Tier.SESSION, Tier.EPISODIC, Tier.SEMANTIC, Tier.AGENTIC), TierState.RESPONDED
    )
    counts = {report.tier: report.candidate_count for report in found.tiers}
    assert counts[Tier.EPISODIC] == counts[Tier.SESSION] == 4
    assert counts[Tier.SEMANTIC] == len(found.facts)
    assert counts[Tier.AGENTIC] == len(found.notes)


async def test_a_recall_reports_the_stages_that_are_described(client: Client, user_id: str) -> None:
    token = await remembered(client, user_id)
    found = await client.recall(user_id, "cat", consistency_token=token)
    assert [timing.stage for timing in found.stages] == [stage.name for stage in STAGES if stage.name != "profile"]
    found = await client.recall(user_id, "cat")
    assert [timing.stage for timing in found.stages] == [s.name for s in STAGES if not s.is_skippable]


async def test_only_the_tiers_that_are_named_are_asked(client: Client, user_id: str) -> None:
    token = await remembered(client, user_id)
    found = await client.recall(user_id, "cat", consistency_token=token, tiers=[Tier.AGENTIC])
    assert found.notes
    assert not found.memories
    assert not found.facts
    states = {report.tier: report.state for report in found.tiers}
    assert [tier for tier, state in states.items() if state is TierState.RESPONDED] == [Tier.AGENTIC]
    assert states[Tier.EPISODIC] is TierState.SKIPPED
    assert not found.degraded


@pytest.mark.parametrize("tier", [0, 42])
async def test_an_unknown_tier_is_refused(gateway: Stubs, user_id: str, tier: int) -> None:
    request = recall_pb2.RecallRequest(user_id=user_id, query="cat", tiers=[tier])  # type: ignore[list-item]
    assert await refusal(gateway.memory.Recall(request)) == Refusal(
        grpc.StatusCode.INVALID_ARGUMENT, "UNKNOWN_ENUM_VALUE", ("tiers[0]",), {}
    )


async def test_spec_5_10_an_empty_answer_is_no_failure(client: Client, user_id: str) -> None:
    found = await client.recall(user_id, "Where do I live?")
    assert (found.memories, found.facts, found.notes) == ((), (), ())
    assert not found.degraded
    asked = [report for report in found.tiers if report.tier is not Tier.SESSION]
    assert {(report.state, report.candidate_count) for report in asked} == {(TierState.RESPONDED, 0)}


async def test_spec_7_1_memories_of_one_user_are_not_another_users(client: Client, user_id: str) -> None:
    token = await remembered(client, user_id)
    found = await client.recall(f"{user_id}-other", "What pet does Ada have?", consistency_token=token)
    assert (found.memories, found.facts, found.notes) == ((), (), ())


@pytest.mark.parametrize("limit", [1, 2, 4, 200])
async def test_the_limit_is_kept_and_cuts_the_worst(client: Client, user_id: str, limit: int) -> None:
    token = await remembered(client, user_id)
    everything = texts(await client.recall(user_id, "cello", consistency_token=token, limit=200))
    assert sorted(everything) == sorted(turn.content for turn in TALK)
    assert texts(await client.recall(user_id, "cello", limit=limit)) == everything[:limit]


async def test_spec_5_5_times_are_counted_from_the_time_that_is_asked_for(client: Client, user_id: str) -> None:
    days = [datetime(2025, 3, day, 12, tzinfo=UTC) for day in (1, 9, 20)]
    turns = [Turn("I went for a long walk.", time=day) for day in days]
    token = await remembered(client, user_id, turns)
    found = await client.recall(
        user_id,
        "Where did I go yesterday?",
        consistency_token=token,
        as_of_time=datetime(2025, 3, 10, 8, tzinfo=UTC),
    )
    (span,) = found.reading.time_ranges
    assert (span.start_time, span.end_time) == (datetime(2025, 3, 9, tzinfo=UTC), datetime(2025, 3, 10, tzinfo=UTC))
    assert found.memories[0].turn.time == days[1]


async def test_names_of_speakers_are_read_from_the_question(client: Client, user_id: str) -> None:
    token = await remembered(client, user_id)
    found = await client.recall(user_id, "What is Bob learning?", consistency_token=token)
    assert found.reading.speakers == ("Bob",)
    assert found.reading.embedded_query == "What is I learning?"
    assert found.memories[0].turn.speaker == "Bob"


PROJECT = Scope(ScopeLevel.PROJECT, project_id="p1")
SESSION = Scope(ScopeLevel.SESSION, project_id="p1", session_id="s1")
TASK = Scope(ScopeLevel.TASK, project_id="p1", session_id="s1", task_id="t1")
SIBLINGS = {
    "project": Scope(ScopeLevel.PROJECT, project_id="p2"),
    "session": Scope(ScopeLevel.SESSION, project_id="p1", session_id="s2"),
    "task": Scope(ScopeLevel.TASK, project_id="p1", session_id="s1", task_id="t2"),
}
ON_THE_PATH = {"global": Scope(), "project": PROJECT, "session": SESSION, "task": TASK}


async def test_spec_5_3_a_reader_sees_its_path_and_no_siblings_and_no_children(client: Client, user_id: str) -> None:
    places = {**ON_THE_PATH, **{f"other {name}": scope for name, scope in SIBLINGS.items()}}
    tokens = [
        (await client.remember(user_id, name, f"My code word is {name}-xyzzy.", scope=scope)).consistency_token
        for name, scope in places.items()
    ]
    await client.wait_until_visible(user_id, *tokens)
    names = list(ON_THE_PATH)
    for depth, reader in enumerate(ON_THE_PATH.values(), 1):
        found = await client.recall(user_id, "What is my code word?", scope=reader, limit=50)
        assert {memory.conversation_id for memory in found.memories} == set(names[:depth])
        visible = {memory.memory_id for memory in found.memories}
        assert all(set(hit.fact.derived_from) <= visible for hit in found.facts)
        assert all(set(hit.note.derived_from) <= visible for hit in found.notes)
    for name, reader in SIBLINGS.items():
        found = await client.recall(user_id, "What is my code word?", scope=reader, limit=50)
        own_level = names.index(name)
        assert {m.conversation_id for m in found.memories} == {*names[:own_level], f"other {name}"}


async def judged(stack: RunningStack, user_id: str, episode_id: str, query: str) -> tuple[int, float]:
    """Feedback and score of an episode, as the episodic tier tells them."""
    async with grpc.aio.insecure_channel(stack.services.tier_targets.episodic) as channel:
        stub = episodic_pb2_grpc.EpisodicServiceStub(channel)
        request = episodic_pb2.SearchEpisodesRequest(user_id=user_id, query=query, limit=10)
        answer = await stub.SearchEpisodes(request, metadata=stack.identity())
    (hit,) = [hit for hit in answer.hits if hit.episode.episode_id == episode_id]
    return hit.episode.feedback, hit.score


async def test_spec_6_4_feedback_reaches_the_episode_and_its_score(
    stack: RunningStack, client: Client, user_id: str
) -> None:
    query = "What pet does Ada have?"
    token = await remembered(client, user_id)
    best = (await client.recall(user_id, query, consistency_token=token)).memories[0]
    feedback, plain = await judged(stack, user_id, best.memory_id, query)
    assert feedback == 0
    for judgement, value, factor in (
        (FeedbackValue.GOOD, 1, 1.2),
        (FeedbackValue.BAD, -1, 0.5),
        (FeedbackValue.NONE, 0, 1.0),
    ):
        given = await client.feedback(user_id, judgement, memory_ids=[best.memory_id])
        await client.wait_until_visible(user_id, given.consistency_token)
        feedback, score = await judged(stack, user_id, best.memory_id, query)
        assert feedback == value
        assert score == pytest.approx(factor * plain, rel=1e-3)


async def test_spec_6_4_feedback_on_a_recall_judges_the_memories_that_it_returned(
    client: Client, stack: RunningStack, user_id: str
) -> None:
    query = "What pet does Ada have?"
    token = await remembered(client, user_id)
    recalled = await client.recall(user_id, query, consistency_token=token)
    given = await client.feedback(user_id, FeedbackValue.GOOD, recall_id=recalled.recall_id)
    assert given.memory_count == len(recalled.memories) + len(recalled.facts) + len(recalled.notes)
    assert recalled.facts
    assert recalled.notes
    await client.wait_until_visible(user_id, given.consistency_token)

    async def judged_in_every_tier() -> bool:
        facts = [await client.get_fact(user_id, hit.fact.fact_id) for hit in recalled.facts]
        notes = [(await client.get_note(user_id, hit.note.note_id)).note for hit in recalled.notes]
        return {fact.feedback for fact in facts} == {note.feedback for note in notes} == {1}

    await until(judged_in_every_tier)
    for hit in recalled.facts:
        raised = (await client.get_fact(user_id, hit.fact.fact_id)).confidence
        assert raised == pytest.approx(hit.fact.confidence + 0.05 * (1.0 - hit.fact.confidence))
    feedback, _ = await judged(stack, user_id, recalled.memories[0].memory_id, query)
    assert feedback == 1
    with pytest.raises(MnemeClientError) as caught:
        await client.feedback(f"{user_id}-else", FeedbackValue.GOOD, recall_id=recalled.recall_id)
    assert caught.value.code is grpc.StatusCode.NOT_FOUND


async def test_spec_2_1_the_importance_of_a_turn_reaches_its_episode(
    stack: RunningStack, client: Client, user_id: str
) -> None:
    written = await client.remember(user_id, "c1", [Turn("The alarm code is 4711.", importance=0.875), "Noted."])
    await client.wait_until_visible(user_id, written.consistency_token)
    ids = [reference.interaction_id for reference in written.interactions]
    async with grpc.aio.insecure_channel(stack.services.tier_targets.episodic) as channel:
        request = episodic_pb2.BatchGetEpisodesRequest(user_id=user_id, episode_ids=ids)
        read = await episodic_pb2_grpc.EpisodicServiceStub(channel).BatchGetEpisodes(request, metadata=stack.identity())
    assert [episode.importance for episode in read.episodes] == pytest.approx([0.875, 0.3])


async def test_spec_6_3_feedback_is_recognised_when_it_is_repeated(client: Client, user_id: str) -> None:
    written = await client.remember(user_id, "c1", "I like jazz.")
    memory_ids = [written.interactions[0].interaction_id]
    first = await client.feedback(user_id, FeedbackValue.GOOD, memory_ids=memory_ids, request_id=f"{user_id}-f")
    again = await client.feedback(user_id, FeedbackValue.GOOD, memory_ids=memory_ids, request_id=f"{user_id}-f")
    assert (first.replayed, again.replayed) == (False, True)
    assert again.consistency_token == first.consistency_token
    with pytest.raises(MnemeClientError) as caught:
        await client.feedback(user_id, FeedbackValue.BAD, memory_ids=memory_ids, request_id=f"{user_id}-f")
    assert caught.value.reason == "REQUEST_ID_REUSED"


async def test_spec_6_4_feedback_on_what_is_gone_is_taken_and_does_nothing(client: Client, user_id: str) -> None:
    given = await client.feedback(user_id, FeedbackValue.GOOD, memory_ids=["0190a000-0000-7000-8000-000000000001"])
    await client.wait_until_visible(user_id, given.consistency_token)
    assert [letter async for letter in client.list_dead_letters()] == []


async def test_the_profile_counts_what_was_said(client: Client, user_id: str) -> None:
    written = await client.remember(user_id, "c1", ["Hello.", Turn("What is new?")])
    await client.wait_until_visible(user_id, written.consistency_token)

    async def is_counted() -> bool:
        return (await client.get_profile(user_id)).statistics.user_turn_count == 2

    await until(is_counted)
    assert (await client.get_profile(user_id)).user_id == user_id


async def test_memories_that_are_long_together_are_told_as_far_as_an_answer_holds_them(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    baggage = {f"k{n}": "\u9577" * 1_024 for n in range(31)}  # 95 kB with each turn, which no ranking looks at
    said = {7: "Ships.", 42: "Ships in the harbour.", 77: "A ferry and some ships passed the harbour of the town."}
    token = ""
    for start in (0, 50):
        turns = [Turn(said.get(n, f"Day {n} was calm."), metadata=baggage) for n in range(start, start + 50)]
        token = (await client.remember(user_id, "c1", turns)).consistency_token
    request = recall_pb2.RecallRequest(
        user_id=user_id, query="ships", limit=200, consistency_token=token, conversation_id="c1"
    )
    found = await gateway.memory.Recall(request, timeout=60)
    best = await client.recall(user_id, "ships", limit=3)

    assert found.ByteSize() < 4 * 1024 * 1024
    assert 10 < len(found.memories) < 40
    assert len(found.recent_turns) == 10
    assert not found.degraded
    assert [memory.memory_id for memory in found.memories[:3]] == [memory.memory_id for memory in best.memories]
    assert dict(found.memories[-1].turn.metadata) == baggage
    reasons = {timing.stage: timing.reason for timing in found.stages if timing.reason}
    assert set(reasons) == {"fetch", "assemble"}


async def test_spec_5_1_a_turn_of_the_named_day_is_found_in_a_long_history(client: Client, user_id: str) -> None:
    start = datetime(2024, 1, 1, 12, tzinfo=UTC)
    said = [f"{who} {did} {where}." for who in WHO for did in DID for where in WHERE]
    turns = [Turn(text, time=start + timedelta(hours=3 * number)) for number, text in enumerate(said)]
    for part in range(2):
        await client.remember(user_id, f"c{part}", turns[part::2])
    wanted = Turn("The octopus escaped from its tank.", time=datetime(2025, 5, 3, 9, tzinfo=UTC))
    token = (await client.remember(user_id, "c9", [wanted])).consistency_token
    question, scoring = "What did I do on 3 May 2025?", Scoring("balanced")
    found = await client.recall(user_id, question, limit=10, consistency_token=token, scoring=scoring)
    best = found.memories[0]
    assert best.turn.content == wanted.content
    assert best.explanation.retrievers == (), "nothing but its time leads to it"
    undated = await client.recall(user_id, "What did I do?", limit=50)
    assert wanted.content not in texts(undated)
