"""What every driver of the journal must do."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from services.common.errors import InvalidArgument, Reason
from services.common.scope import Scope, ScopeLevel
from services.common.turns import Attachment, MessageRole, Turn
from services.gateway.grants.model import MemoryKind
from services.gateway.journal.ending import EndCommand
from services.gateway.journal.gate import GateReason, GateSettings
from services.gateway.journal.model import (
    Appended,
    Caller,
    Delivery,
    DeliveryFailure,
    DeliveryOutcome,
    DeliveryState,
    Feedback,
    FeedbackCommand,
    Interaction,
    RecallRecord,
    RememberCommand,
    RetryCommand,
    SequenceSpan,
    SessionEvent,
    Tier,
)
from services.gateway.journal.store import Journal
from services.gateway.journal.stores.postgres import PostgresJournalSettings
from tests.support.clock import FakeClock

ACME = Caller(tenant_id="acme", principal_id="agent", trace_context="00-trace")
OTHER = Caller(tenant_id="other", principal_id="agent")
GATED = PostgresJournalSettings(gate=GateSettings(is_enabled=True))
NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def turn(text: str, *, speaker: str = "Ada") -> Turn:
    return Turn(role=MessageRole.USER, content=text, time=NOON, speaker=speaker)


def command(*texts: str, conversation: str = "c1", user: str = "u1", request_id: str = "") -> RememberCommand:
    turns = tuple(turn(text) for text in texts)
    return RememberCommand(user, conversation, turns, request_id=request_id, digest=repr(texts).encode())


async def append(
    journal: Journal, item: RememberCommand, caller: Caller = ACME, *, tries_session: bool = False
) -> Appended:
    (outcome,) = await journal.append(caller, [item], tries_session=tries_session)
    assert isinstance(outcome, Appended)
    return outcome


async def take(journal: Journal, tier: Tier, *, limit: int = 100) -> Sequence[Delivery]:
    async with journal.claim(tier, limit=limit) as batch:
        await batch.settle(DeliveryOutcome(done=tuple(batch.deliveries)))
        return batch.deliveries


class JournalContract:
    """Subclass it with fixtures `journal` and `clock`."""

    async def test_spec_6_1_an_acknowledged_interaction_has_a_delivery_for_every_tier(
        self, journal: Journal, clock: FakeClock
    ) -> None:
        appended = await append(journal, command("I moved to Delft", "into an old mill"))
        clock.advance(seconds=10)
        for tier in Tier:
            deliveries = await take(journal, tier)
            assert [d.subject.interaction_id for d in deliveries if isinstance(d.subject, Interaction)] == list(
                appended.interaction_ids
            )
            assert {d.trace_context for d in deliveries} == {"00-trace"}

    async def test_spec_2_3_a_gated_turn_stays_in_the_log_and_its_session(
        self, journal: Journal, clock: FakeClock
    ) -> None:
        appended = await append(journal, command("Thanks!", "I moved to Delft", request_id="r1"))
        assert [verdict.reason for verdict in appended.verdicts] == [GateReason.ACKNOWLEDGEMENT, GateReason.PERSONAL]
        clock.advance(seconds=10)
        gated, kept = appended.interaction_ids
        for tier in Tier:
            deliveries = await take(journal, tier)
            taken = [d.subject.interaction_id for d in deliveries if isinstance(d.subject, Interaction)]
            assert taken == ([gated, kept] if tier in {Tier.SESSION, Tier.PROFILE} else [kept])
        page = await journal.interactions(ACME.tenant_id, "u1", "c1", limit=10, after=None)
        assert [said.verdict for said in page.items] == list(appended.verdicts)

    async def test_spec_2_3_a_repeat_returns_the_first_verdicts(self, journal: Journal) -> None:
        first = await append(journal, command("Thanks!", "I moved to Delft", request_id="r1"))
        again = await append(journal, command("Thanks!", "I moved to Delft", request_id="r1"))
        assert again.replayed
        assert again.verdicts == first.verdicts

    async def test_spec_6_2_the_log_returns_turns_as_they_were_said(self, journal: Journal) -> None:
        said = Turn(
            role=MessageRole.ASSISTANT,
            content="Here it is — ✓",
            time=NOON,
            speaker="Bot",
            attachments=(Attachment("s3://a", "image/png", "a cat"),),
            confidence=0.75,
            importance=0.875,
            sources=("doc1",),
            metadata={"k": "v"},
        )
        scope = Scope(ScopeLevel.PROJECT, "p1")
        await append(journal, RememberCommand("u1", "c1", (said,), scope))
        page = await journal.interactions("acme", "u1", "c1", limit=10, after=None)
        assert [(i.turn, i.scope, i.position) for i in page.items] == [(said, scope, 0)]
        assert page.next_cursor is None

    async def test_positions_go_on_where_the_conversation_ended(self, journal: Journal) -> None:
        await append(journal, command("a", "b"))
        assert (await append(journal, command("c"))).first_position == 2
        assert (await append(journal, command("d", conversation="c2"))).first_position == 0

    async def test_concurrent_writers_of_one_conversation_leave_no_gap(self, journal: Journal) -> None:
        await asyncio.gather(*(append(journal, command(f"{i}")) for i in range(40)))
        page = await journal.interactions("acme", "u1", "c1", limit=100, after=None)
        assert [i.position for i in page.items] == list(range(40))
        assert {i.turn.content for i in page.items} == {str(i) for i in range(40)}

    async def test_spec_6_3_a_repeated_request_returns_the_first_answer(self, journal: Journal) -> None:
        first = await append(journal, command("a", request_id="r1"))
        again = await append(journal, command("a", request_id="r1"))
        assert again == replace(first, replayed=True)
        page = await journal.interactions("acme", "u1", "c1", limit=10, after=None)
        assert len(page.items) == 1

    async def test_spec_6_3_concurrent_repeats_write_once(self, journal: Journal) -> None:
        outcomes = await asyncio.gather(*(append(journal, command("a", request_id="r1")) for _ in range(8)))
        assert len({o.interaction_ids for o in outcomes}) == 1
        assert sum(not o.replayed for o in outcomes) == 1

    async def test_spec_6_3_a_request_id_with_another_content_is_refused_and_others_are_not(
        self, journal: Journal
    ) -> None:
        await append(journal, command("a", request_id="r1"))
        outcomes = await journal.append(
            ACME, [command("x", request_id="r1"), command("y", request_id="r2", conversation="c2")]
        )
        assert isinstance(outcomes[0], InvalidArgument)
        assert outcomes[0].reason is Reason.REQUEST_ID_REUSED
        assert isinstance(outcomes[1], Appended)

    async def test_items_of_one_conversation_keep_their_order(self, journal: Journal) -> None:
        items = [command(text, request_id=request_id) for text, request_id in (("a", "z"), ("b", "y"), ("c", "x"))]
        await journal.append(ACME, items)
        page = await journal.interactions("acme", "u1", "c1", limit=10, after=None)
        assert [i.turn.content for i in page.items] == ["a", "b", "c"]

    async def test_request_ids_of_other_principals_are_their_own(self, journal: Journal) -> None:
        first = await append(journal, command("a", request_id="r1"))
        other = await append(journal, command("b", request_id="r1"), replace(ACME, principal_id="else"))
        assert other.interaction_ids != first.interaction_ids

    async def test_spec_7_1_tenants_see_their_own_log_only(self, journal: Journal) -> None:
        mine = await append(journal, command("mine"))
        await append(journal, command("theirs"), OTHER)
        page = await journal.interactions("acme", "u1", "c1", limit=10, after=None)
        assert [i.turn.content for i in page.items] == ["mine"]
        assert await journal.known_interactions("other", mine.interaction_ids) == frozenset()
        assert await journal.known_interactions("acme", [*mine.interaction_ids, "no uuid"]) == frozenset(
            mine.interaction_ids
        )

    async def test_pages_of_conversations_are_stable(self, journal: Journal, clock: FakeClock) -> None:
        for number in range(5):
            clock.advance(seconds=1)
            await append(journal, command("x", conversation=f"c{number}"))
        first = await journal.conversations("acme", "u1", limit=2, after=None)
        await append(journal, command("x", conversation="new"))
        second = await journal.conversations("acme", "u1", limit=2, after=first.next_cursor)
        third = await journal.conversations("acme", "u1", limit=2, after=second.next_cursor)
        names = [c.conversation_id for page in (first, second, third) for c in page.items]
        assert names == ["c4", "c3", "c2", "c1", "c0"]
        assert third.next_cursor is None

    async def test_pages_of_a_transcript(self, journal: Journal) -> None:
        await append(journal, command(*"abcde"))
        first = await journal.interactions("acme", "u1", "c1", limit=3, after=None)
        second = await journal.interactions("acme", "u1", "c1", limit=3, after=first.next_cursor)
        assert [i.turn.content for i in (*first.items, *second.items)] == list("abcde")

    async def test_speakers_are_those_of_the_user(self, journal: Journal) -> None:
        await journal.append(
            ACME,
            [
                RememberCommand("u1", "c1", (turn("a", speaker="Bo"), turn("b", speaker="Al"), turn("c", speaker=""))),
                RememberCommand("u2", "c1", (turn("a", speaker="Cy"),)),
            ],
        )
        assert list(await journal.speakers("acme", "u1")) == ["Al", "Bo"]

    async def test_spec_7_4_role_and_speaker_of_turns_are_those_of_the_user(self, journal: Journal) -> None:
        tool = replace(turn("22 degrees", speaker="weather"), role=MessageRole.TOOL)
        said = await append(journal, RememberCommand("u1", "c1", (turn("a"), tool), digest=b"1"))
        other = await append(journal, command("b", user="u2"))
        foreign = await append(journal, command("c"), OTHER)
        wanted = [*said.interaction_ids, *other.interaction_ids, *foreign.interaction_ids, str(uuid4()), "no id"]
        assert await journal.turn_speakers("acme", "u1", wanted) == {
            said.interaction_ids[0]: (MessageRole.USER, "Ada"),
            said.interaction_ids[1]: (MessageRole.TOOL, "weather"),
        }
        assert await journal.turn_speakers("acme", "u1", []) == {}

    async def test_a_session_delivery_waits_for_the_direct_attempt(self, journal: Journal, clock: FakeClock) -> None:
        appended = await append(journal, command("a"), tries_session=True)
        assert await take(journal, Tier.SESSION) == ()
        await journal.complete("acme", Tier.SESSION, appended.interaction_ids)
        clock.advance(minutes=1)
        assert await take(journal, Tier.SESSION) == ()

    async def test_claimed_deliveries_are_hidden_until_the_block_ends(self, journal: Journal) -> None:
        await append(journal, command("a"))
        with pytest.raises(RuntimeError, match="dies"):
            async with journal.claim(Tier.EPISODIC, limit=10) as batch:
                assert len(batch.deliveries) == 1
                assert await take(journal, Tier.EPISODIC) == ()
                raise RuntimeError("the worker dies")
        assert len(await take(journal, Tier.EPISODIC)) == 1

    async def test_spec_6_1_a_refused_delivery_waits_longer_each_time_and_is_given_up(
        self, journal: Journal, clock: FakeClock
    ) -> None:
        await append(journal, command("a"))
        waits = []
        for _ in range(12):
            waited = timedelta()
            while True:
                async with journal.claim(Tier.SEMANTIC, limit=10) as batch:
                    failed = [DeliveryFailure(d, "INTERNAL", permanent=False) for d in batch.deliveries]
                    await batch.settle(DeliveryOutcome(failed=tuple(failed)))
                if failed:
                    break
                clock.advance(seconds=1)
                waited += timedelta(seconds=1)
            waits.append(waited.total_seconds())
        assert waits[:6] == [0, 1, 2, 4, 8, 16]
        clock.advance(days=1)
        assert await take(journal, Tier.SEMANTIC) == ()
        (letter,) = (await journal.dead_letters("acme", tier=None, limit=10, after=None)).items
        assert (letter.tier, letter.attempts, letter.last_reason) == (Tier.SEMANTIC, 12, "INTERNAL")
        retry = RetryCommand("r1", (letter.delivery_id,), b"digest")
        assert await journal.retry(OTHER, retry) == 0
        assert await journal.retry(ACME, retry) == 1
        assert await journal.retry(ACME, retry) == 1
        assert len(await take(journal, Tier.SEMANTIC)) == 1
        with pytest.raises(InvalidArgument):
            await journal.retry(ACME, RetryCommand("r1", (letter.delivery_id + 1,), b"other"))

    async def test_a_permanent_refusal_is_given_up_at_once(self, journal: Journal) -> None:
        await append(journal, command("a"))
        async with journal.claim(Tier.AGENTIC, limit=10) as batch:
            failure = DeliveryFailure(batch.deliveries[0], "INVALID_FIELD", permanent=True)
            await batch.settle(DeliveryOutcome(failed=(failure,)))
        page = await journal.dead_letters("acme", tier=Tier.AGENTIC, limit=10, after=None)
        assert [letter.last_reason for letter in page.items] == ["INVALID_FIELD"]
        assert (await journal.dead_letters("acme", tier=Tier.SESSION, limit=10, after=None)).items == ()
        backlog = {b.tier: (b.pending_count, b.dead_count) for b in await journal.backlog("acme")}
        assert backlog[Tier.AGENTIC] == (0, 1)
        of_all = {b.tier: (b.pending_count, b.dead_count) for b in await journal.backlog_of_all()}
        assert of_all == backlog
        assert backlog[Tier.EPISODIC] == (1, 0)

    async def test_spec_5_11_a_span_is_delivered_when_its_tiers_have_it(self, journal: Journal) -> None:
        first = await append(journal, command("a"))
        second = await append(journal, command("b"))
        pending, delivered = DeliveryState.PENDING, DeliveryState.DELIVERED
        assert await journal.delivery_state("acme", second.span, [Tier.EPISODIC]) is pending
        await take(journal, Tier.EPISODIC)
        assert await journal.delivery_state("acme", second.span, [Tier.EPISODIC]) is delivered
        assert await journal.delivery_state("acme", second.span, [Tier.EPISODIC, Tier.SEMANTIC]) is pending
        assert await journal.delivery_state("other", first.span, list(Tier)) is delivered
        assert await journal.delivery_state("acme", SequenceSpan(10**9, 10**9 + 1), list(Tier)) is delivered

    async def test_spec_5_11_a_span_with_a_dead_letter_is_not_delivered(self, journal: Journal) -> None:
        appended = await append(journal, command("a", "b"))
        async with journal.claim(Tier.EPISODIC, limit=10) as batch:
            failure = DeliveryFailure(batch.deliveries[0], "INVALID_FIELD", permanent=True, detail="too long")
            await batch.settle(DeliveryOutcome(failed=(failure,)))
        assert await journal.delivery_state("acme", appended.span, [Tier.EPISODIC]) is DeliveryState.PENDING
        await take(journal, Tier.EPISODIC)
        assert await journal.delivery_state("acme", appended.span, [Tier.EPISODIC]) is DeliveryState.GIVEN_UP
        (letter,) = (await journal.dead_letters("acme", tier=None, limit=10, after=None)).items
        assert (letter.last_reason, letter.last_detail) == ("INVALID_FIELD", "too long")

    async def test_spec_6_4_feedback_is_delivered_once_to_the_tiers_of_the_memories(self, journal: Journal) -> None:
        episode, fact, note = ((kind, f"0190a1b2-0000-7000-8000-00000000000{int(kind)}") for kind in MemoryKind)
        judged = FeedbackCommand("f1", "u1", (episode, fact), 1, b"good")
        first = await journal.append_feedback(ACME, judged)
        again = await journal.append_feedback(ACME, judged)
        assert (first.replayed, again.replayed) == (False, True)
        for tier in (Tier.EPISODIC, Tier.PROFILE, Tier.SEMANTIC):
            (delivery,) = await take(journal, tier)
            assert isinstance(delivery.subject, Feedback)
            assert (delivery.subject.memories, delivery.subject.value) == (judged.memories, 1)
            assert (delivery.subject.ids(MemoryKind.FACT), delivery.subject.recall) == ([fact[1]], None)
        assert not await take(journal, Tier.AGENTIC)
        recall_id = "0190a1b2-0000-7000-8000-000000000009"
        procedure_id, project = "0190a1b2-0000-7000-8000-00000000000a", Scope(ScopeLevel.PROJECT, "p1")
        recall = RecallRecord(
            ACME.tenant_id,
            recall_id,
            "u1",
            (note,),
            NOON,
            query="ML papers",
            scope=project,
            procedure_ids=(procedure_id,),
        )
        await journal.add_recalls([recall])
        await journal.append_feedback(ACME, FeedbackCommand("f2", "u1", (note,), -1, b"bad", recall_id))
        for tier in (Tier.AGENTIC, Tier.PROFILE):
            (delivery,) = await take(journal, tier)
            assert isinstance(delivery.subject, Feedback)
            assert (delivery.subject.ids(MemoryKind.NOTE), delivery.subject.recall) == ([note[1]], recall)
        assert not await take(journal, Tier.EPISODIC)
        with pytest.raises(InvalidArgument) as caught:
            await journal.append_feedback(ACME, replace(judged, value=-1, digest=b"bad"))
        assert caught.value.reason is Reason.REQUEST_ID_REUSED

    async def test_an_event_of_a_session_that_was_set_aside_is_a_dead_letter_and_can_be_retried(
        self, journal: Journal
    ) -> None:
        event = SessionEvent("acme", str(uuid4()), "u1", b"event")
        await journal.set_aside(event, attempts=5, reason="PRECONDITION_FAILED", detail="no")
        assert await take(journal, Tier.SESSION) == ()
        (letter,) = (await journal.dead_letters("acme", tier=Tier.SESSION, limit=10, after=None)).items
        assert (letter.subject_id, letter.attempts, letter.last_reason) == (event.event_id, 5, "PRECONDITION_FAILED")
        assert (await journal.dead_letters("other", tier=None, limit=10, after=None)).items == ()
        assert await journal.retry(ACME, RetryCommand("r1", (letter.delivery_id,), b"retry")) == 1
        (delivery,) = await take(journal, Tier.SESSION)
        assert delivery.subject == event

    async def test_an_ended_session_is_not_put_together_again(self, journal: Journal) -> None:
        await append(journal, command(*"abc"))
        last = await journal.session_interactions("acme", "u1", "c1", limit=2)
        assert [i.turn.content for i in last] == ["b", "c"]
        assert await journal.session_start("acme", "u1", "c1") == 0
        await journal.end_session(ACME, EndCommand("u1", "c1", "r1"))
        assert await journal.session_start("acme", "u1", "c1") == 3
        assert await journal.session_start("other", "u1", "c1") == 0
        assert list(await journal.session_interactions("acme", "u1", "c1", limit=2)) == []
        await append(journal, command("d"))
        assert len(await journal.session_interactions("acme", "u1", "c1", limit=2)) == 1

    async def test_spec_6_3_a_repeated_end_does_nothing_to_the_next_session(
        self, journal: Journal, clock: FakeClock
    ) -> None:
        end = EndCommand("u1", "c1", "r1")
        await append(journal, command("a", "b", "c"))
        await journal.end_session(ACME, end)
        await append(journal, command("d", "e"))
        clock.advance(seconds=60)
        await journal.end_session(ACME, end)
        assert await journal.session_start("acme", "u1", "c1") == 3
        waiting = await take(journal, Tier.SESSION)
        assert [d.subject.turn.content for d in waiting if isinstance(d.subject, Interaction)] == ["d", "e"]
        assert len(await take(journal, Tier.EPISODIC)) == 5  # the other tiers get all of them

    async def test_spec_6_3_a_request_id_ends_one_session(self, journal: Journal) -> None:
        end = EndCommand("u1", "c1", "r1")
        await journal.end_session(ACME, end)
        with pytest.raises(InvalidArgument) as caught:
            await journal.end_session(ACME, replace(end, conversation_id="c2"))
        assert caught.value.reason is Reason.REQUEST_ID_REUSED
        await journal.end_session(OTHER, replace(end, conversation_id="c2"))

    async def test_old_request_ids_are_forgotten(self, journal: Journal, clock: FakeClock) -> None:
        first = await append(journal, command("a", request_id="r1"))
        assert await journal.purge_requests(before=clock.now(), limit=10) == 0
        clock.advance(days=8)
        assert await journal.purge_requests(before=clock.now() - timedelta(days=7), limit=10) == 1
        assert (await append(journal, command("a", request_id="r1"))).interaction_ids != first.interaction_ids
