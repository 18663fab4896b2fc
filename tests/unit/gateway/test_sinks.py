"""Deliveries as calls of the tiers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC

import pytest

from mneme.agentic.internal.v1 import notes_pb2
from mneme.episodic.internal.v1 import episodic_internal_pb2
from mneme.semantic.internal.v1 import semantic_pb2
from mneme.session.internal.v1 import session_internal_pb2
from services.common.auth import Role
from services.common.errors import FailedPrecondition, InvalidArgument, NotFound, Reason, StoreUnavailable
from services.common.errors_grpc import item_status
from services.common.scope import GLOBAL_SCOPE
from services.common.turns import MessageRole
from services.gateway.grants.model import MemoryKind
from services.gateway.journal.model import Delivery, Feedback, Interaction, RecallRecord, Tier
from services.gateway.sinks import AgenticSink, EpisodicSink, ProfileSink, SemanticSink, SessionSink
from tests.unit.gateway.tiers import (
    ADA,
    NO_EVENTS,
    NOON,
    FakeClient,
    FakeJournal,
    FakeTiers,
    archive,
    interaction,
    sessions,
    uuid,
)


def delivery(number: int, subject: Interaction | Feedback | None = None, *, tier: Tier = Tier.EPISODIC) -> Delivery:
    return Delivery("acme", number, tier, 0, "", subject or interaction(number), NOON)


def stored(count: int, *, refused: int | None = None, reason: Reason = Reason.TEXT_TOO_LONG) -> FakeTiers:
    results = [
        episodic_internal_pb2.StoreEpisodeResult(error=item_status(InvalidArgument("no", reason=reason)))
        if index == refused
        else episodic_internal_pb2.StoreEpisodeResult(response=episodic_internal_pb2.StoredEpisode(created=True))
        for index in range(count)
    ]
    tiers = FakeTiers()
    tiers.episodic.method("store").answer = episodic_internal_pb2.StoreEpisodesResponse(results=results)
    return tiers


def episodes(*numbers: int) -> tuple[tuple[MemoryKind, str], ...]:
    return tuple((MemoryKind.EPISODE, uuid(number)) for number in numbers)


def numbers(deliveries: Sequence[Delivery]) -> list[int]:
    return [d.delivery_id for d in deliveries]


async def test_sessions_are_fed_conversation_by_conversation_in_order() -> None:
    tiers = FakeTiers()
    sink = SessionSink(sessions(tiers), archive(), timeout_seconds=3.0)
    batch = [
        delivery(3, interaction(3, conversation="b")),
        delivery(2, interaction(2, conversation="a")),
        delivery(1, interaction(1, conversation="b")),
    ]
    outcome = await sink.deliver("acme", batch)
    requests = tiers.session.method("append").requests
    assert [(r.conversation_id, [t.position for t in r.turns]) for r in requests] == [("a", [2]), ("b", [1, 3])]
    assert sorted(numbers(outcome.done)) == [1, 2, 3]
    principal = tiers.session.method("append").principals[0]
    assert (principal.tenant_id, principal.role) == ("acme", Role.WRITER)


async def test_a_conversation_that_is_refused_does_not_hold_up_the_others() -> None:
    tiers = FakeTiers(session=FakeClient(append=InvalidArgument("no")))
    outcome = await SessionSink(sessions(tiers), archive(), timeout_seconds=3.0).deliver(
        "acme", [delivery(1), delivery(2)]
    )
    assert outcome.done == ()
    assert [(f.reason, f.permanent) for f in outcome.failed] == [("INVALID_FIELD", True)] * 2
    tiers.session.method("append").answer = FailedPrecondition("not now")
    outcome = await SessionSink(sessions(tiers), archive(), timeout_seconds=3.0).deliver("acme", [delivery(1)])
    assert [(f.reason, f.permanent) for f in outcome.failed] == [("PRECONDITION_FAILED", False)]


async def test_spec_6_1_a_session_tier_that_is_down_is_an_outage_and_no_refusal() -> None:
    tiers = FakeTiers(session=FakeClient(append=StoreUnavailable("session")))
    with pytest.raises(StoreUnavailable):
        await SessionSink(sessions(tiers), archive(), timeout_seconds=3.0).deliver("acme", [delivery(1)])


async def test_an_episode_is_what_was_said() -> None:
    tiers = stored(2)
    question = interaction(1, "Where is it?", speaker="Ada", confidence=0.25, importance=0.75, metadata={"k": "v"})
    answer = interaction(2, "In Lyon.", role=MessageRole.ASSISTANT)
    await EpisodicSink(tiers.upstream(), timeout_seconds=3.0).deliver(
        "acme", [delivery(1, question), delivery(2, answer)]
    )
    (request,) = tiers.episodic.method("store").requests
    assert request.wait_until_active
    first, second = request.episodes
    assert (first.episode_id, first.conversation_id, first.position) == (uuid(1), "c1", 1)
    assert (first.query, first.response, first.speaker, first.confidence) == ("Where is it?", "", "Ada", 0.25)
    assert dict(first.metadata) == {"k": "v"}
    assert (first.importance, second.HasField("importance")) == (0.75, False)
    assert (second.query, second.response, second.HasField("confidence")) == ("", "In Lyon.", False)


@pytest.mark.parametrize(
    ("reason", "permanent"),
    [
        (Reason.TEXT_TOO_LONG, True),
        (Reason.INVALID_FIELD, True),
        (Reason.NOT_FOUND, True),
        (Reason.LIMIT_EXCEEDED, False),
        (Reason.INTERNAL, False),
    ],
)
async def test_spec_6_1_one_refused_item_fails_alone(reason: Reason, permanent: bool) -> None:
    sink = EpisodicSink(stored(3, refused=1, reason=reason).upstream(), timeout_seconds=3.0)
    outcome = await sink.deliver("acme", [delivery(n) for n in (1, 2, 3)])
    assert numbers(outcome.done) == [1, 3]
    assert [(f.delivery.delivery_id, f.reason, f.permanent) for f in outcome.failed] == [(2, reason, permanent)]


async def test_a_tier_that_answers_for_fewer_items_than_it_was_given_is_not_believed() -> None:
    with pytest.raises(ValueError, match="shorter"):
        await EpisodicSink(stored(1).upstream(), timeout_seconds=3.0).deliver("acme", [delivery(1), delivery(2)])


async def test_spec_6_4_judgements_go_with_the_id_by_which_repeats_are_known() -> None:
    tiers = FakeTiers()
    judgement = Feedback("acme", uuid(50), "ada", episodes(1, 2), -1)
    outcome = await EpisodicSink(tiers.upstream(), timeout_seconds=3.0).deliver("acme", [delivery(1, judgement)])
    assert numbers(outcome.done) == [1]
    (request,) = tiers.episodic.method("record_feedback").requests
    assert (request.request_id, request.user_id, request.feedback) == (uuid(50), "ada", -1)
    assert list(request.episode_ids) == [uuid(1), uuid(2)]
    assert tiers.episodic.method("store").requests == []


async def test_episodes_are_stored_before_they_are_judged() -> None:
    tiers = stored(1)
    judgement = Feedback("acme", uuid(50), "ada", episodes(2), 1)
    batch = [delivery(1, judgement), delivery(2)]
    outcome = await EpisodicSink(tiers.upstream(), timeout_seconds=3.0).deliver("acme", batch)
    assert sorted(numbers(outcome.done)) == [1, 2]


async def test_facts_are_extracted_from_what_was_said() -> None:
    results = [
        semantic_pb2.ExtractFactsResult(),
        semantic_pb2.ExtractFactsResult(error=item_status(RuntimeError("no"))),
    ]
    tiers = FakeTiers(facts=FakeClient(extract=semantic_pb2.ExtractFactsResponse(results=results)))
    changed: list[tuple[str, str]] = []
    sink = SemanticSink(tiers.upstream(), on_change=lambda *owner: changed.append(owner), timeout_seconds=3.0)
    outcome = await sink.deliver("acme", [delivery(1), delivery(2)])
    assert changed == [("acme", "ada")]
    assert (numbers(outcome.done), [f.reason for f in outcome.failed]) == ([1], ["INTERNAL"])
    (request,) = tiers.facts.method("extract").requests
    assert [i.interaction_id for i in request.interactions] == [uuid(1), uuid(2)]


async def test_notes_are_made_of_what_was_said() -> None:
    results = [notes_pb2.GenerateNotesResult(), notes_pb2.GenerateNotesResult()]
    tiers = FakeTiers(notes=FakeClient(generate=notes_pb2.GenerateNotesResponse(results=results)))
    outcome = await AgenticSink(tiers.upstream(), timeout_seconds=3.0).deliver("acme", [delivery(1), delivery(2)])
    assert numbers(outcome.done) == [1, 2]


async def test_the_profile_observes_what_was_said() -> None:
    tiers, changed = FakeTiers(), list[tuple[str, str]]()

    def on_change(tenant_id: str, user_id: str) -> None:
        changed.append((tenant_id, user_id))

    sink = ProfileSink(tiers.upstream(), on_change=on_change, timeout_seconds=3.0)
    judgement = Feedback("acme", uuid(50), "ada", episodes(1), -1)
    outcome = await sink.deliver("acme", [delivery(1), delivery(2, judgement, tier=Tier.PROFILE)])
    assert numbers(outcome.done) == [1, 2]
    (request,) = tiers.profile.method("observe").requests
    assert request.interactions[0].turn.content == "hello"
    (judged,) = tiers.profile.method("judge").requests
    assert (judged.user_id, list(judged.interaction_ids), judged.feedback) == ("ada", [uuid(1)], -1)
    assert changed == [("acme", "ada")]


async def test_spec_6_4_each_tier_is_given_the_judged_memories_of_its_own() -> None:
    tiers = FakeTiers()
    judgement = Feedback("acme", uuid(50), "ada", ((MemoryKind.FACT, uuid(2)), (MemoryKind.NOTE, uuid(3))), 1)
    batch = [delivery(1, judgement)]
    upstream = tiers.upstream()
    for sink in (
        EpisodicSink(upstream, timeout_seconds=3.0),
        SemanticSink(upstream, on_change=lambda *_: None, timeout_seconds=3.0),
        AgenticSink(upstream, timeout_seconds=3.0),
    ):
        outcome = await sink.deliver("acme", batch)
        assert numbers(outcome.done) == [1]
    (facts,), (notes,) = (client.method("record_feedback").requests for client in (tiers.facts, tiers.notes))
    assert (facts.request_id, facts.user_id, list(facts.fact_ids), facts.feedback) == (uuid(50), "ada", [uuid(2)], 1)
    assert (notes.request_id, notes.user_id, list(notes.note_ids), notes.feedback) == (uuid(50), "ada", [uuid(3)], 1)
    assert tiers.episodic.method("record_feedback").requests == [], "none of its memories is judged"


async def test_spec_3_9_feedback_on_a_recall_is_an_outcome_of_the_procedures_that_it_applied() -> None:
    tiers = FakeTiers()
    recall = RecallRecord("acme", uuid(60), "ada", (), NOON, "agent", "ML papers", GLOBAL_SCOPE, (uuid(61),))
    judgement = Feedback("acme", uuid(50), "ada", (), 1, recall)
    sink = ProfileSink(tiers.upstream(), on_change=lambda *_: None, timeout_seconds=3.0)
    outcome = await sink.deliver("acme", [delivery(1, judgement, tier=Tier.PROFILE)])
    assert numbers(outcome.done) == [1]
    assert tiers.profile.method("judge").requests == []
    (request,) = tiers.profile.method("judge_recall").requests
    assert (request.recall_id, request.judgement_id, request.feedback) == (uuid(60), uuid(50), 1)
    assert (request.query, list(request.procedure_ids)) == ("ML papers", [uuid(61)])
    assert request.recall_time.ToDatetime(tzinfo=UTC) == NOON


async def test_a_session_that_begins_late_is_given_what_came_before() -> None:
    tiers = FakeTiers(
        session=FakeClient(
            append=session_internal_pb2.IngestTurnsResponse(created=True),
            log_events=NO_EVENTS,
        )
    )
    journal = FakeJournal(logged=[interaction(n) for n in range(6)])
    await SessionSink(sessions(tiers, journal), archive(), timeout_seconds=3.0).deliver(
        "acme", [delivery(5, interaction(5))]
    )
    requests = tiers.session.method("append").requests
    assert [[t.position for t in request.turns] for request in requests] == [[5], [0, 1, 2, 3, 4, 5]]


async def test_a_session_is_rebuilt_from_the_log_where_its_store_lost_it() -> None:
    tiers = FakeTiers()
    tiers.session.method("get").answer = NotFound("session", "c1")
    access = sessions(tiers, FakeJournal(logged=[interaction(n) for n in range(30)]))
    found = await access.find(ADA, "ada", "c1", timeout_seconds=3.0)
    assert found is not None
    assert found.is_rebuilt
    (request,) = tiers.session.method("append").requests
    assert [turn.position for turn in request.turns] == list(range(20, 30))
