"""What every driver of the erasure store must do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from services.common.errors import Conflict, InvalidArgument, NotFound, Reason
from services.common.scope import GLOBAL_SCOPE, Scope, ScopeLevel
from services.gateway.erasure.model import EarlierErasure, EraseCommand, ItemKind, Progress, Step, Target, TargetKind
from services.gateway.erasure.store import ErasureStore
from services.gateway.grants.model import MemoryKind
from services.gateway.journal.model import FeedbackCommand, RecallRecord
from services.gateway.journal.store import Journal
from tests.contract.journal import ACME, OTHER, append, command
from tests.support.clock import FakeClock

CONVERSATION = Target(TargetKind.CONVERSATION, "u1", conversation_id="c1")
P1 = Scope(ScopeLevel.PROJECT, "p1")


def erase(target: Target = CONVERSATION, request_id: str = "e1") -> EraseCommand:
    return EraseCommand(request_id, request_id.encode() + repr(target).encode(), target)


async def collected(store: ErasureStore, *kinds: ItemKind) -> list[str]:
    """Ids of the items of the erasure that is due, collected and rolled back."""
    found: list[str] = []
    with pytest.raises(RuntimeError, match="crash"):
        async with store.claim() as claim:
            assert claim is not None
            await claim.collect()
            items, position = await claim.items(*kinds, after="", limit=2)
            while items:
                found += [item.item_id or item.user_id for item in items]
                items, position = await claim.items(*kinds, after=position, limit=2)
            raise RuntimeError("crash")
    return found


class ErasureStoreContract:
    """Subclass it with fixtures `erasures`, `second` (another store on the same engine), `journal` and `clock`."""

    async def test_spec_6_6_judged_recalls_of_what_is_erased_lose_their_queries_and_are_named(
        self, erasures: ErasureStore, journal: Journal, clock: FakeClock
    ) -> None:
        one, two = (await append(journal, command("a", "b"))).interaction_ids
        judged, unjudged, purged = (f"0190a1b2-0000-7000-8000-0000000000a{number}" for number in range(3))
        memories = ((MemoryKind.EPISODE, one), (MemoryKind.FACT, two))
        procedure_id = "0190a1b2-0000-7000-8000-0000000000b0"
        record = RecallRecord(
            "acme", judged, "u1", memories, clock.now(), query="a?", scope=P1, procedure_ids=(procedure_id,)
        )
        await journal.add_recalls([record, replace(record, recall_id=unjudged)])
        for number, (recall_id, value) in enumerate(((judged, 1), (judged, -1), (purged, 1))):
            given = FeedbackCommand(f"f{number}", "u1", memories, value, b"f%d" % number, recall_id)
            await journal.append_feedback(ACME, given)
            clock.advance(seconds=1)
        await erasures.begin(ACME, erase())
        async with erasures.claim() as claim:
            assert claim is not None
            await claim.forget_recalls("u2", [two])
            assert (await claim.items(ItemKind.RECALL, after="", limit=9))[0] == []
            await claim.forget_recalls("u1", [two])  # the fact alone
            items, _ = await claim.items(ItemKind.RECALL, after="", limit=9)
            assert [(item.user_id, item.item_id) for item in items] == [("u1", judged), ("u1", purged)]
            first, second = await claim.judgements("u1", [judged, purged])
            assert await claim.judgements("u2", [judged, purged]) == []
            await claim.save(Progress())
        assert first.recall == replace(record, memories=(), query="")
        assert first.value == -1
        assert second.recall is not None
        assert (second.recall.recall_id, second.recall.query, second.recall.scope) == (purged, "", GLOBAL_SCOPE)
        for recall_id in (judged, unjudged):
            found = await journal.recall_record("acme", "u1", recall_id)
            assert found is not None
            assert (found.query, found.memories) == ("", memories[:1])

    async def test_spec_6_6_erasures_are_listed_newest_first(self, erasures: ErasureStore, clock: FakeClock) -> None:
        made = []
        for i, user_id in enumerate(("u1", "u2", "u1", "u1")):
            target = Target(TargetKind.CONVERSATION, user_id, conversation_id="c1")
            made.append((await erasures.begin(ACME, erase(target, f"e{i}")))[0])
            clock.advance(seconds=1)
        await erasures.begin(OTHER, erase())
        newest = made[::-1]
        assert list(await erasures.list_erasures("acme", None, before=None, limit=9)) == newest
        of_user = [newest[0], newest[1], newest[3]]
        assert list(await erasures.list_erasures("acme", "u1", before=None, limit=2)) == of_user[:2]
        assert list(await erasures.list_erasures("acme", "u1", before=newest[1].erasure_id, limit=2)) == of_user[2:]
        assert list(await erasures.list_erasures("acme", "nobody", before=None, limit=2)) == []

    async def test_spec_6_6_an_erasure_is_durable_and_a_repeat_finds_it(
        self, erasures: ErasureStore, second: ErasureStore
    ) -> None:
        begun, replayed = await erasures.begin(ACME, erase())
        assert (begun.target, begun.step, replayed) == (CONVERSATION, Step.COLLECT, False)
        assert await second.begin(ACME, erase()) == (begun, True)
        assert await second.earlier(ACME, erase()) == EarlierErasure(begun)
        assert await second.get("acme", begun.erasure_id) == begun
        with pytest.raises(InvalidArgument) as caught:
            await erasures.begin(ACME, EraseCommand("e1", b"other", CONVERSATION))
        assert caught.value.reason == Reason.REQUEST_ID_REUSED
        with pytest.raises(NotFound):
            await erasures.get("other", begun.erasure_id)
        assert await erasures.earlier(OTHER, erase()) is None

    async def test_spec_6_3_a_call_that_erases_nothing_is_recorded(
        self, erasures: ErasureStore, second: ErasureStore
    ) -> None:
        assert await erasures.settle_nothing(ACME, erase()) == EarlierErasure(None)
        assert await second.settle_nothing(ACME, erase()) == EarlierErasure(None)
        assert await second.earlier(ACME, erase()) == EarlierErasure(None)
        with pytest.raises(Conflict):
            await second.begin(ACME, erase())
        with pytest.raises(InvalidArgument):
            await second.settle_nothing(ACME, EraseCommand("e1", b"other", CONVERSATION))
        begun, _ = await erasures.begin(ACME, EraseCommand("e2", b"", CONVERSATION))
        assert await second.settle_nothing(ACME, EraseCommand("e2", b"", CONVERSATION)) == EarlierErasure(begun)

    async def test_spec_6_6_one_worker_has_an_erasure_and_a_crash_changes_nothing(
        self, erasures: ErasureStore, second: ErasureStore, journal: Journal
    ) -> None:
        appended = await append(journal, command("a"))
        begun, _ = await erasures.begin(ACME, erase())
        with pytest.raises(RuntimeError, match="crash"):
            async with erasures.claim() as claim, second.claim() as other:
                assert claim is not None
                assert other is None
                await claim.remove_interactions("u1", appended.interaction_ids)
                await claim.save(Progress({"interactions": 1}))
                raise RuntimeError("crash")
        assert await erasures.get("acme", begun.erasure_id) == begun
        assert len((await journal.interactions("acme", "u1", "c1", limit=9, after=None)).items) == 1

    async def test_spec_6_6_progress_is_kept_and_the_end_leaves_no_item(
        self, erasures: ErasureStore, journal: Journal, clock: FakeClock
    ) -> None:
        await append(journal, command("a", "b", "c"))
        begun, _ = await erasures.begin(ACME, erase())
        for step in list(Step)[:-1]:
            clock.advance(seconds=1)
            async with erasures.claim() as claim:
                assert claim is not None
                assert claim.erasure.step is step
                if step is Step.COLLECT:
                    await claim.collect()
                if step is Step.JOURNAL:
                    await claim.save(Progress({"interactions": 1}, position="somewhere"))
                    assert (claim.erasure.step, claim.erasure.position) == (Step.JOURNAL, "somewhere")
                await claim.save(Progress({"interactions": 2}))
        done = await erasures.get("acme", begun.erasure_id)
        assert (done.is_done, done.complete_time, done.step) == (True, clock.now(), Step.DONE)
        assert done.receipt["JOURNAL"] == {"interactions": 3}
        assert done.target == Target(TargetKind.CONVERSATION, "u1")  # the rest is forgotten
        async with erasures.claim() as claim:
            assert claim is None

    async def test_spec_6_6_a_failure_postpones_an_erasure_and_others_go_on(
        self, erasures: ErasureStore, clock: FakeClock
    ) -> None:
        first, _ = await erasures.begin(ACME, erase())
        async with erasures.claim() as claim:
            assert claim is not None
            await claim.postpone(clock.now() + timedelta(minutes=1))
        clock.advance(seconds=1)
        second, _ = await erasures.begin(OTHER, erase())
        async with erasures.claim() as claim:
            assert claim is not None
            assert claim.erasure.erasure_id == second.erasure_id
            await claim.postpone(clock.now() + timedelta(hours=1))
        clock.advance(seconds=60)
        async with erasures.claim() as claim:
            assert claim is not None
            assert (claim.erasure.erasure_id, claim.erasure.attempts) == (first.erasure_id, 1)

    @pytest.mark.parametrize(
        ("target", "expected"),
        [
            (CONVERSATION, ["a", "b", "c"]),
            (Target(TargetKind.SCOPE, "u1", scope=P1), ["d"]),
            (Target(TargetKind.SCOPE, "u1", scope=GLOBAL_SCOPE), ["a", "b", "c"]),
            (Target(TargetKind.SCOPE, "u1", scope=GLOBAL_SCOPE, with_nested=True), ["a", "b", "c", "d"]),
            (Target(TargetKind.USER, "u1"), ["a", "b", "c", "d"]),
            (Target(TargetKind.TENANT), ["a", "b", "c", "d", "theirs"]),
        ],
        ids=["conversation", "project", "global", "nested", "user", "tenant"],
    )
    async def test_spec_6_6_the_items_are_the_turns_of_the_target(
        self, erasures: ErasureStore, journal: Journal, target: Target, expected: Sequence[str]
    ) -> None:
        ids: dict[str, str] = {}
        for remembered in (
            command("a", "b", "c"),
            replace(command("d", conversation="c2"), scope=P1),
            command("theirs", user="u2"),
        ):
            appended = await append(journal, remembered)
            texts = [turn.content for turn in remembered.turns]
            ids.update(zip(appended.interaction_ids, texts, strict=True))
        await append(journal, command("other tenant"), OTHER)
        await erasures.begin(ACME, erase(target))
        assert sorted(ids[found] for found in await collected(erasures, ItemKind.EPISODE)) == expected
        count, previews = await erasures.preview("acme", target, limit=2)
        assert (count, len(previews)) == (len(expected), min(2, len(expected)))
        assert {preview.text for preview in previews} <= set(expected)

    async def test_spec_6_6_named_memories_are_items_with_the_conversations_of_turns(
        self, erasures: ErasureStore, journal: Journal
    ) -> None:
        appended = await append(journal, command("a", "b"))
        fact = "0190a1b2-0000-7000-8000-0000000000bb"
        memories = ((MemoryKind.EPISODE, appended.interaction_ids[0]), (MemoryKind.FACT, fact))
        await erasures.begin(ACME, erase(Target(TargetKind.MEMORIES, "u1", memories)))
        assert await collected(erasures, ItemKind.EPISODE) == [appended.interaction_ids[0]]
        assert await collected(erasures, ItemKind.FACT) == [fact]
        assert await collected(erasures, ItemKind.CONVERSATION) == ["c1"]

    async def test_spec_6_6_a_user_is_removed_in_bounded_parts(self, erasures: ErasureStore, journal: Journal) -> None:
        await append(journal, command("a", "b", "c"))
        await erasures.begin(ACME, erase(Target(TargetKind.USER, "u1")))
        async with erasures.claim() as claim:
            assert claim is not None
            removed, is_empty = await claim.remove_user("u1", limit=2)
            assert (removed.interactions, is_empty) == (2, False)
            removed, is_empty = await claim.remove_user("u1", limit=2)
            assert (removed.interactions, is_empty) == (1, True)
        assert (await journal.conversations("acme", "u1", limit=9, after=None)).items == ()
