"""What a user's profile does to recalls and contexts, from end to end."""

from __future__ import annotations

import uuid

import pytest

from mneme.common.v1 import common_pb2
from mneme.gateway.v1 import context_pb2, memory_pb2, recall_pb2
from mneme.semantic.v1 import facts_pb2, facts_pb2_grpc, profile_pb2
from mneme_client import Client
from tests.support.stack import Stubs, until

pytestmark = pytest.mark.asyncio(loop_scope="session")


def unique() -> str:
    return f"request-{uuid.uuid4().hex}"


async def say(gateway: Stubs, user_id: str, text: str, *sources: str, scope: common_pb2.Scope | None = None) -> str:
    """Remembers a turn, waits until it can be found, and returns its id."""
    turn = common_pb2.Turn(role=common_pb2.MESSAGE_ROLE_USER, content=text, sources=sources)
    written = await gateway.memory.Remember(
        memory_pb2.RememberRequest(user_id=user_id, conversation_id="c1", turns=[turn], scope=scope)
    )
    await gateway.memory.Recall(
        recall_pb2.RecallRequest(user_id=user_id, query=text, consistency_token=written.consistency_token, scope=scope)
    )
    found: str = written.interactions[0].interaction_id
    return found


async def set_sources(gateway: Stubs, user_id: str, *, preferred: str = "", excluded: str = "") -> None:
    preferences = profile_pb2.Preferences(
        preferred_sources=[preferred] if preferred else [], excluded_sources=[excluded] if excluded else []
    )
    await gateway.profiles.UpdateProfile(
        profile_pb2.UpdateProfileRequest(request_id=unique(), user_id=user_id, preferences=preferences)
    )


def asked(user_id: str, query: str, **fields: object) -> recall_pb2.RecallRequest:
    return recall_pb2.RecallRequest(user_id=user_id, query=query, conversation_id="c1", **fields)  # type: ignore[arg-type]


async def profile_of(gateway: Stubs, user_id: str, scope: common_pb2.Scope | None = None) -> profile_pb2.Profile:
    request = profile_pb2.GetProfileRequest(user_id=user_id, reader_scope=scope)
    found: profile_pb2.Profile = (await gateway.profiles.GetProfile(request)).profile
    return found


async def test_spec_3_10_excluded_sources_vanish_from_recalls_streams_and_contexts(
    gateway: Stubs, user_id: str
) -> None:
    await say(gateway, user_id, "I live in Lisbon near the harbour.", "https://blog.example.org/a")
    await say(gateway, user_id, "I work in Porto at a bakery.", "diary")
    request = asked(user_id, "Where do I live and work?")
    before = await gateway.memory.Recall(request)
    assert {"Lisbon", "Porto"} <= set(" ".join(str(before).replace(".", " ").split()).replace('"', " ").split())

    await set_sources(gateway, user_id, excluded="example.org")
    after = await gateway.memory.Recall(request)
    assert list(after.reading.applied_profile.excluded_sources) == ["example.org"]
    assert "Porto" in str(after)
    assert "Lisbon" not in str(after)
    assert not after.degraded
    messages = [
        message async for message in gateway.memory.RecallStream(recall_pb2.RecallStreamRequest(recall=request))
    ]
    assert "Lisbon" not in str(messages)
    tiers = [message.tier_result.tier.tier for message in messages if message.HasField("tier_result")]
    assert sorted(tiers) == [1, 2, 3, 4]
    context = await gateway.memory.BuildContext(
        context_pb2.BuildContextRequest(user_id=user_id, query="Where do I live and work?", conversation_id="c1")
    )
    assert "Porto" in context.text
    assert "Lisbon" not in str(context)

    cleared = profile_pb2.UpdateProfileRequest(request_id=unique(), user_id=user_id)
    cleared.update_mask.paths.append("excluded_sources")
    await gateway.profiles.UpdateProfile(cleared)
    assert "Lisbon" in str(await gateway.memory.Recall(request))


async def test_spec_3_10_preferred_sources_rise_and_say_so(gateway: Stubs, user_id: str) -> None:
    for number in range(6):
        await say(gateway, user_id, f"The boat number {number} is painted blue in spring.", f"log {number}")
    request = asked(user_id, "Which boat is painted blue in spring?", limit=6)
    order = [memory.turn.sources[0] for memory in (await gateway.memory.Recall(request)).memories]
    last = order[-1]
    await set_sources(gateway, user_id, preferred=last)
    found = (await gateway.memory.Recall(request)).memories
    place = next(i for i, memory in enumerate(found) if memory.turn.sources[0] == last)
    assert place < len(order) - 1
    parts = {part.name: part.value for part in found[place].explanation.parts}
    assert parts["preferred_source"] > 0
    assert sum(parts.values()) == pytest.approx(found[place].score, abs=1e-4)


async def test_spec_3_10_and_6_4_bad_feedback_raises_the_confidence_that_facts_need(
    gateway: Stubs, user_id: str
) -> None:
    facts = facts_pb2_grpc.FactServiceStub(gateway.channel)
    for confidence in (0.55, 0.95):
        await facts.CreateFact(
            facts_pb2.CreateFactRequest(
                request_id=unique(),
                user_id=user_id,
                text=f"Ada keeps {round(100 * confidence)} bees in the garden.",
                category=facts_pb2.FACT_CATEGORY_CONTEXT,
                confidence=confidence,
            )
        )
    ids = [await say(gateway, user_id, f"Something about stone {number}.") for number in range(5)]

    async def bees(**fields: object) -> int:
        found = await gateway.memory.Recall(asked(user_id, "bees in the garden", **fields))
        return sum("bees" in fact.fact.text for fact in found.facts)

    async def judge(value: memory_pb2.FeedbackValue) -> None:
        references = [memory_pb2.MemoryReference(kind=1, memory_id=one) for one in ids]  # type: ignore[arg-type]
        await gateway.memory.Feedback(
            memory_pb2.FeedbackRequest(request_id=unique(), user_id=user_id, value=value, memories=references)
        )

    assert await bees() == 2
    await judge(memory_pb2.FEEDBACK_VALUE_BAD)

    async def is_judged(count: int) -> bool:
        return (await profile_of(gateway, user_id)).statistics.bad_feedback_count == count

    await until(lambda: is_judged(5))
    assert (await profile_of(gateway, user_id)).fact_confidence_min == pytest.approx(0.6)
    assert await bees() == 1
    assert await bees(include_tentative_facts=True) == 2
    await judge(memory_pb2.FEEDBACK_VALUE_NONE)
    await until(lambda: is_judged(0))
    assert await bees() == 2


async def test_spec_3_10_what_is_said_in_an_isolated_context_changes_nothing_outside(
    gateway: Stubs, user_id: str
) -> None:
    inside = common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_GLOBAL, context_id="agent")
    for scope in (None, inside):
        await say(gateway, user_id, "The lighthouse is white.", "Blog", scope=scope)
    await say(gateway, user_id, "Never use Blog as a source.", scope=inside)

    async def is_learned() -> bool:
        return bool((await profile_of(gateway, user_id, inside)).learned_preferences.excluded_sources)

    await until(is_learned)
    outside = await gateway.memory.Recall(asked(user_id, "What colour is the lighthouse?"))
    assert "white" in str(outside.memories)
    assert not outside.reading.applied_profile.excluded_sources
    isolated = await gateway.memory.Recall(asked(user_id, "What colour is the lighthouse?", scope=inside))
    assert "white" not in str(isolated.memories)
    assert (await profile_of(gateway, user_id)).statistics.user_turn_count == 1
    assert (await profile_of(gateway, user_id, inside)).statistics.user_turn_count == 2


async def test_spec_3_10_statistics_are_read_through_the_gateway(gateway: Stubs, client: Client, user_id: str) -> None:
    await client.remember(user_id, "c1", "Where do otters sleep? I keep asking about otters.")

    async def is_counted() -> bool:
        return (await profile_of(gateway, user_id)).statistics.user_turn_count == 1

    await until(is_counted)
    statistics = (await profile_of(gateway, user_id)).statistics
    assert statistics.question_count == 1
    assert [(one.name, one.count) for one in statistics.query_types] == [("where", 1)]
    assert "otters" in [topic.name for topic in statistics.topics]
    assert statistics.mean_session_turns == 1
