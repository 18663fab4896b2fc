"""What every driver of the journal removes, and what it must never bring back."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from services.gateway.grants.model import MemoryKind
from services.gateway.journal.model import (
    DeliveryFailure,
    DeliveryOutcome,
    DeliveryState,
    FeedbackCommand,
    RecallRecord,
    Removed,
    Tier,
)
from services.gateway.journal.store import Journal
from tests.contract.journal import ACME, OTHER, append, command, take
from tests.support.clock import FakeClock

RECALL = "0190a1b2-0000-7000-8000-0000000000aa"


async def contents(journal: Journal, conversation: str = "c1", user: str = "u1") -> list[str]:
    page = await journal.interactions("acme", user, conversation, limit=100, after=None)
    return [interaction.turn.content for interaction in page.items]


async def judge(journal: Journal, *memory_ids: str, request_id: str = "f1") -> None:
    memories = tuple((MemoryKind.EPISODE, memory_id) for memory_id in memory_ids)
    await journal.append_feedback(ACME, FeedbackCommand(request_id, "u1", memories, 1, request_id.encode()))


class JournalRemovalContract:
    """Subclass it with fixtures `journal`, `second` (another store on the same engine) and `clock`."""

    async def test_spec_6_6_removed_interactions_are_gone_from_every_read(
        self, journal: Journal, second: Journal
    ) -> None:
        appended = await append(journal, command("a", "b", "c"))
        await append(journal, command("theirs", user="u2"))
        gone = appended.interaction_ids[1]
        assert (await journal.remove_interactions("acme", "u1", [gone, "no uuid"])).interactions == 1
        for replica in (journal, second):
            assert await contents(replica) == ["a", "c"]
            assert await contents(replica, user="u2") == ["theirs"]
            (conversation,) = (await replica.conversations("acme", "u1", limit=9, after=None)).items
            assert conversation.interaction_count == 2
            assert len(await replica.session_interactions("acme", "u1", "c1", limit=9)) == 2
        assert len(await take(journal, Tier.EPISODIC)) == 3  # two, and that of the other user
        assert await journal.remove_interactions("acme", "u1", [gone]) == Removed()
        assert (await append(journal, command("d"))).first_position == 3  # positions are not used twice

    async def test_spec_6_6_others_interactions_are_not_removed(self, journal: Journal) -> None:
        appended = await append(journal, command("a"))
        assert await journal.remove_interactions("other", "u1", appended.interaction_ids) == Removed()
        assert await journal.remove_interactions("acme", "u2", appended.interaction_ids) == Removed()
        assert await contents(journal) == ["a"]

    async def test_spec_6_6_a_removed_turn_that_a_session_still_holds_counts_as_known(self, journal: Journal) -> None:
        appended = await append(journal, command("a"))
        await journal.remove_interactions("acme", "u1", appended.interaction_ids)
        known = await journal.known_interactions("acme", appended.interaction_ids)
        assert known == frozenset(appended.interaction_ids)  # so that the end of the session does not archive it
        assert await journal.known_interactions("other", appended.interaction_ids) == frozenset()

    async def test_spec_6_6_removal_waits_for_a_delivery_that_is_under_way(self, journal: Journal) -> None:
        appended = await append(journal, command("a"))
        async with journal.claim(Tier.SEMANTIC, limit=10) as batch:
            removal = asyncio.create_task(journal.remove_interactions("acme", "u1", appended.interaction_ids))
            done, _ = await asyncio.wait([removal], timeout=0.1)
            assert not done
            await batch.settle(DeliveryOutcome(done=tuple(batch.deliveries)))
        assert (await removal).interactions == 1
        for tier in Tier:
            assert await take(journal, tier) == ()

    async def test_spec_6_6_a_removed_conversation_is_not_listed(self, journal: Journal) -> None:
        await append(journal, command("a"))
        await append(journal, command("b", conversation="c2"))
        assert (await journal.remove_conversation("acme", "u1", "c1")).interactions == 1
        page = await journal.conversations("acme", "u1", limit=9, after=None)
        assert [c.conversation_id for c in page.items] == ["c2"]
        assert await journal.remove_conversation("acme", "u1", "c1") == Removed()

    async def test_spec_6_6_names_of_speakers_go_with_their_last_turn(self, journal: Journal) -> None:
        first = await append(journal, command("a"))
        second = await append(journal, command("b"))
        await journal.remove_interactions("acme", "u1", first.interaction_ids)
        assert list(await journal.speakers("acme", "u1")) == ["Ada"]
        await journal.remove_interactions("acme", "u1", second.interaction_ids)
        assert list(await journal.speakers("acme", "u1")) == []

    async def test_spec_6_6_feedback_and_recall_records_lose_what_was_removed(
        self, journal: Journal, clock: FakeClock
    ) -> None:
        one, two = (await append(journal, command("a", "b"))).interaction_ids
        memories = ((MemoryKind.EPISODE, one), (MemoryKind.FACT, two))
        await journal.add_recalls([RecallRecord("acme", RECALL, "u1", memories, clock.now())])
        await judge(journal, one)
        await judge(journal, one, two, request_id="f2")
        removed = await journal.remove_interactions("acme", "u1", [one])
        assert (removed.interactions, removed.feedback) == (1, 1)
        record = await journal.recall_record("acme", "u1", RECALL)
        assert record is not None
        assert record.memories == ((MemoryKind.FACT, two),)
        judged = [d for d in await take(journal, Tier.EPISODIC) if not hasattr(d.subject, "turn")]
        assert [d.subject.ids(MemoryKind.EPISODE) for d in judged] == [[two]]  # type: ignore[union-attr]

    async def test_spec_6_6_a_removed_user_leaves_nothing(
        self, journal: Journal, second: Journal, clock: FakeClock
    ) -> None:
        appended = await append(journal, command("a", "b", request_id="r1"))
        await append(journal, command("theirs", user="u2"))
        await journal.add_recalls([RecallRecord("acme", RECALL, "u1", (), clock.now())])
        await judge(journal, appended.interaction_ids[0])
        async with journal.claim(Tier.AGENTIC, limit=1) as batch:
            failure = DeliveryFailure(batch.deliveries[0], "INVALID_FIELD", permanent=True)
            await batch.settle(DeliveryOutcome(failed=(failure,)))
        removed = await journal.remove_user("acme", "u1")
        assert removed.data_keys in {0, 1}  # by whether content is encrypted
        assert replace(removed, data_keys=0) == Removed(
            interactions=2, feedback=1, deliveries=12, recalls=1, requests=2
        )
        for replica in (journal, second):
            assert await contents(replica) == []
            assert (await replica.conversations("acme", "u1", limit=9, after=None)).items == ()
            assert list(await replica.speakers("acme", "u1")) == []
            assert (await replica.dead_letters("acme", tier=None, limit=9, after=None)).items == ()
            assert await replica.recall_record("acme", "u1", RECALL) is None
        assert await journal.delivery_state("acme", appended.span, list(Tier)) is DeliveryState.DELIVERED
        assert await contents(journal, user="u2") == ["theirs"]
        assert await journal.remove_user("acme", "u1") == Removed()

    async def test_spec_6_6_a_repeat_does_not_write_again_what_was_removed(self, journal: Journal) -> None:
        first = await append(journal, command("a", request_id="r1"))
        await journal.remove_user("acme", "u1")
        (outcome,) = await journal.append(ACME, [command("a", request_id="r1")])
        assert outcome == replace(first, replayed=True)
        assert await contents(journal) == []

    async def test_spec_6_6_a_removed_tenant_leaves_nothing_and_others_stay(self, journal: Journal) -> None:
        for user in ("u1", "u2"):
            await append(journal, command("a", user=user, request_id=user))
        await append(journal, command("theirs"), OTHER)
        assert (await journal.remove_tenant("acme")).interactions == 2
        assert await contents(journal) == []
        assert [len(await take(journal, tier)) for tier in Tier] == [1] * len(Tier)
        assert await journal.remove_tenant("acme") == Removed()

    async def test_spec_4_3_uses_of_notes_are_claimed_until_they_are_settled(
        self, journal: Journal, clock: FakeClock
    ) -> None:
        ids = [f"0190a000-0000-7000-8000-00000000000{n}" for n in range(5)]
        two = ((MemoryKind.NOTE, ids[0]), (MemoryKind.NOTE, ids[1]))
        one = ((MemoryKind.NOTE, ids[0]), (MemoryKind.EPISODE, ids[1]))
        records = [
            RecallRecord("acme", ids[0], "u1", two, clock.now()),
            RecallRecord("acme", ids[1], "u1", one, clock.now()),
            RecallRecord("other", ids[2], "u1", two, clock.advance(seconds=1)),
            RecallRecord("acme", ids[3], "u1", two, clock.now(), counts_use=False),
        ]
        await journal.add_recalls(records)
        until = clock.now() + timedelta(seconds=60)

        async def claim(limit: int = 9) -> list[str]:
            found = await journal.claim_uses(now=clock.now(), until=max(until, clock.now()), limit=limit)
            return [record.recall_id for record in found]

        assert await claim(1) == [ids[0]]
        assert await claim() == [ids[2]], "what is claimed is not claimed again, and one note alone is no use"
        await journal.settle_uses(records[:1])
        assert await claim() == []
        clock.advance(seconds=61)
        assert await claim() == [ids[2]], "a claim ends"
        await journal.add_recalls(records)
        assert ids[0] not in await claim(), "a record that is written again is not due again"

    async def test_spec_8_4_recalls_are_listed_of_which_something_was_judged_good(
        self, journal: Journal, clock: FakeClock
    ) -> None:
        turn, fact, note = (RECALL.replace("aa", end) for end in ("a1", "a2", "a3"))
        returned = ((MemoryKind.EPISODE, turn), (MemoryKind.FACT, fact), (MemoryKind.NOTE, note))
        ids = [RECALL.replace("aa", f"b{n}") for n in range(7)]

        async def give(request_id: str, value: int, *memories: tuple[MemoryKind, str], recall_id: str = "") -> None:
            clock.advance(seconds=1)
            given = FeedbackCommand(request_id, "u1", memories, value, request_id.encode(), recall_id)
            await journal.append_feedback(ACME, given)

        async def recall(n: int, query: str, memories: tuple[tuple[MemoryKind, str], ...] = returned) -> None:
            clock.advance(seconds=1)
            await journal.add_recalls([RecallRecord("acme", ids[n], "u1", memories, clock.now(), query=query)])

        await recall(0, "judged as a whole")
        await recall(1, "")  # long, or erased
        await recall(2, "nothing of it is judged", ((MemoryKind.NOTE, ids[6]),))
        await give("f1", 1, *returned, recall_id=ids[0])
        await give("f2", 1, (MemoryKind.FACT, fact))
        await recall(3, "what it returned was judged before")
        await recall(4, "a part is judged")
        await give("f3", 1, (MemoryKind.EPISODE, turn), (MemoryKind.NOTE, note))
        await give("f4", -1, (MemoryKind.NOTE, note))
        await recall(5, "taken back")
        await give("f5", 1, *returned, recall_id=ids[5])
        await give("f6", 0, *returned, recall_id=ids[5])

        async def listed(limit: int, user: str = "u1", tenant: str = "acme") -> list[tuple[str, list[str]]]:
            found, after = [], None
            while True:
                page = await journal.judged_recalls(tenant, user, limit=limit, after=after)
                found += [(one.recall.query, [memory_id for _, memory_id in one.good]) for one in page.items]
                if page.next_cursor is None:
                    return found
                after = page.next_cursor

        expected = [
            ("a part is judged", [turn]),
            ("what it returned was judged before", [turn]),
            ("judged as a whole", [turn, fact]),
        ]
        for limit in (1, 2, 6, 9):
            assert await listed(limit) == expected
        assert await listed(9, user="u2") == []
        assert await listed(9, tenant="other") == []

    async def test_spec_4_6_the_latest_recalls_of_a_user_come_first(self, journal: Journal, clock: FakeClock) -> None:
        ids = [str(UUID(int=number)) for number in range(1, 5)]
        for number, recall_id in enumerate(ids[:3]):
            clock.advance(minutes=1)
            await journal.add_recalls([RecallRecord("acme", recall_id, "u1", (), clock.now(), query=f"q{number}")])
        await journal.add_recalls([RecallRecord("other", ids[3], "u1", (), clock.now(), query="of another tenant")])
        latest = await journal.latest_recalls("acme", "u1", limit=2)
        assert [(recall.recall_id, recall.query) for recall in latest] == [(ids[2], "q2"), (ids[1], "q1")]
        assert await journal.latest_recalls("acme", "u2", limit=2) == []

    async def test_spec_6_4_what_a_recall_returned_is_known_for_a_while(
        self, journal: Journal, clock: FakeClock
    ) -> None:
        memories = ((MemoryKind.EPISODE, RECALL), (MemoryKind.NOTE, RECALL))
        record = RecallRecord("acme", RECALL, "u1", memories, clock.now())
        await journal.add_recalls([record, replace(record, tenant_id="other", memories=())])
        assert await journal.recall_record("acme", "u1", RECALL) == record
        assert await journal.recall_record("acme", "u2", RECALL) is None
        assert await journal.recall_record("acme", "u1", "no uuid") is None
        assert await journal.purge_recalls(before=clock.now(), limit=10) == 0
        clock.advance(days=8)
        assert await journal.purge_recalls(before=clock.now(), limit=10) == 2
        assert await journal.recall_record("acme", "u1", RECALL) is None
