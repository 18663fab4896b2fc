"""What use and judgements do to links, on every driver of the note store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest

from services.agentic.config import AgenticSettings, FadingSettings
from services.agentic.feedback import NoteFeedback
from services.agentic.maintenance.fading import FadeLinks
from services.agentic.model import Link, LinkKey, LinkOrigin, LinkType, NoteStatus
from services.agentic.store import NoteStore
from services.agentic.upkeep_store import NotePair, PairUse
from services.agentic.use import NoteUse, NoteUses, UseCounts
from services.common.idempotency.model import IdempotencyKey
from services.common.owners import Owner
from services.common.scope import Scope, ScopeLevel
from tests.contract.note_samples import ANN, BOB, NOW, PROJECT, angle, make_note, note_id, store_notes
from tests.support.clock import FakeClock

LATER = NOW + timedelta(days=1)


def use(number: int, *notes: int, time: datetime = LATER) -> NoteUse:
    return NoteUse(f"22222222-0000-7000-8000-{number:012d}", tuple(map(note_id, notes)), time)


def link(one: int, two: int, strength: float, origin: LinkOrigin = LinkOrigin.SIMILARITY) -> Link:
    return Link(LinkKey(note_id(one), note_id(two), LinkType.RELATED_TO), strength, origin, NOW, NOW)


class NoteUseContract:
    """Subclass it with a fixture `store` that returns a fresh, empty store."""

    @pytest.fixture
    def clock(self) -> FakeClock:
        return FakeClock(LATER)

    @pytest.fixture
    def uses(self, store: NoteStore, clock: FakeClock) -> NoteUses:
        return NoteUses(store, clock=clock, settings=AgenticSettings())

    async def put_notes(
        self, store: NoteStore, links: Sequence[Link] = (), *, count: int = 4, owner: Owner = ANN
    ) -> None:
        notes = [make_note(number, owner) for number in range(1, count + 1)]
        await store_notes(store, owner, notes, np.stack([angle(90.0 * n / count) for n in range(count)]))
        if links:
            await store.write(owner, lambda writer: writer.put_links(links))

    async def links(self, store: NoteStore, number: int) -> dict[NotePair, Link]:
        found = (await store.get(ANN, note_id(number), links_max=99)).links
        return {(each.key.from_note_id, each.key.to_note_id): each for each in found}

    async def test_spec_4_3_a_link_whose_notes_are_used_together_becomes_stronger_up_to_1(
        self, store: NoteStore, uses: NoteUses
    ) -> None:
        await self.put_notes(store, [link(1, 2, 0.5), link(1, 3, 0.95), link(1, 4, 0.5, LinkOrigin.CALLER)])
        assert await uses.record(ANN, [use(1, 1, 2, 3, 4)]) == UseCounts(uses=1, strengthened=2)
        found = await self.links(store, 1)
        strengths = {pair: each.strength for pair, each in found.items()}
        assert strengths == {
            (note_id(1), note_id(2)): pytest.approx(0.55),
            (note_id(1), note_id(3)): 1.0,
            (note_id(1), note_id(4)): 0.5,
        }
        assert found[note_id(1), note_id(2)].update_time == LATER, "the link does not fade for a period from then on"
        assert found[note_id(1), note_id(4)].update_time == NOW, "what a caller set stays as it is"

    async def test_spec_4_3_notes_used_together_in_more_than_three_contexts_are_linked_at_a_half(
        self, store: NoteStore, uses: NoteUses
    ) -> None:
        await self.put_notes(store)
        for number in range(3):
            await uses.record(ANN, [use(number, 1, 2)])
        assert await self.links(store, 1) == {}
        assert await uses.record(ANN, [use(3, 2, 1)]) == UseCounts(uses=1, created=1)
        [made] = (await self.links(store, 1)).values()
        assert (made.strength, made.origin, made.key.type) == (0.5, LinkOrigin.USE, LinkType.RELATED_TO)
        assert await uses.record(ANN, [use(4, 1, 2)]) == UseCounts(uses=1, strengthened=1)
        [stronger] = (await self.links(store, 1)).values()
        assert stronger.strength == pytest.approx(0.55)

    async def test_spec_4_3_a_batch_changes_what_its_uses_change_one_by_one(
        self, store: NoteStore, uses: NoteUses
    ) -> None:
        await self.put_notes(store, [link(1, 2, 0.3)])
        batch = [use(number, 1, 2, 3, time=LATER + timedelta(minutes=number)) for number in range(6)]
        assert await uses.record(ANN, batch) == UseCounts(uses=6, strengthened=1, created=2)
        at_once = await self.links(store, 1)
        await self.put_notes(store, [link(1, 2, 0.3)], owner=BOB)
        for each in batch:  # ids are those of a tenant: a use of another user is another use
            await uses.record(BOB, [replace(each, use_id=each.use_id.replace("2222-", "3333-"))])
        one_by_one = (await store.get(BOB, note_id(1), links_max=99)).links
        assert {each.key: each.strength for each in at_once.values()} == {
            each.key: pytest.approx(each.strength) for each in one_by_one
        }
        assert {each.update_time for each in one_by_one} == {LATER + timedelta(minutes=5)}

    async def test_spec_4_3_a_use_is_counted_once_by_whichever_replica_and_however_often(
        self, store: NoteStore, replica: NoteStore, clock: FakeClock
    ) -> None:
        await self.put_notes(store, [link(1, 2, 0.5)])
        batch = [use(number, 1, 2, 3) for number in range(3)]
        for each in (store, replica, store):
            await NoteUses(each, clock=clock, settings=AgenticSettings()).record(ANN, batch)
        found = await self.links(store, 1)
        assert found[note_id(1), note_id(2)].strength == pytest.approx(0.5 * 1.1**3)
        assert set(found) == {(note_id(1), note_id(2))}, "three contexts make no link, however often they are sent"

    async def test_spec_4_3_only_the_first_notes_of_a_response_and_only_active_ones_count(
        self, store: NoteStore, uses: NoteUses
    ) -> None:
        await self.put_notes(store, count=11)
        await store.write(ANN, lambda w: w.set_status([note_id(1)], NoteStatus.ARCHIVED, update_time=LATER))
        missing = 99
        for number in range(4):
            await uses.record(ANN, [use(number, 1, missing, *range(2, 12))])
        assert await self.links(store, 1) == {}
        assert len(await self.links(store, 2)) == 7
        assert await self.links(store, 10) == {}

    async def test_spec_5_3_notes_of_scopes_beside_each_other_are_not_linked_by_use(
        self, store: NoteStore, uses: NoteUses
    ) -> None:
        other = Scope(ScopeLevel.PROJECT, "gemini")
        scopes = [PROJECT, other]
        notes = [make_note(1), *(make_note(n, scope=scope) for n, scope in enumerate(scopes, 2))]
        await store_notes(store, ANN, notes, np.stack([angle(0.0), angle(45.0), angle(90.0)]))
        for number in range(4):
            await uses.record(ANN, [use(number, 1, 2, 3)])
        assert set(await self.links(store, 1)) == {(note_id(1), note_id(2)), (note_id(1), note_id(3))}
        assert len(await self.links(store, 2)) == 1

    async def test_counts_go_with_their_notes_and_when_they_are_old(self, store: NoteStore, clock: FakeClock) -> None:
        await self.put_notes(store, [link(3, 4, 0.5)])
        pair = (note_id(1), note_id(2))

        async def count(time: datetime) -> int:
            counted = await store.write(ANN, lambda writer: writer.count_pairs([PairUse(pair, 1, time)]))
            return counted.get(pair, 0)

        assert [await count(NOW), await count(LATER), await count(NOW)] == [1, 2, 3]
        await store.write(ANN, lambda writer: writer.forget_idle_pairs(LATER))
        assert await count(NOW) == 4, "the last use counts"
        job = FadeLinks(store, clock, FadingSettings(), page=9)
        clock.advance(days=400)
        await store.record_access(ANN, {note_id(4): 1}, time=clock.now())
        [step] = [step async for step in job.steps(after="", owner=ANN)]
        assert await job.apply(ANN, job.plan(step.state, clock.now()))
        assert await count(clock.now()) == 1, "forgotten with the links that fade"
        await store.write(ANN, lambda writer: writer.delete_notes([note_id(2)]))
        assert await count(clock.now()) == 0

    async def test_links_among_notes_are_those_with_both_ends(self, store: NoteStore) -> None:
        links = [link(1, 2, 0.5), link(1, 3, 0.6), link(2, 4, 0.7)]
        await self.put_notes(store, links)
        ids = [note_id(1), note_id(2), note_id(3)]
        assert await store.write(ANN, lambda writer: writer.links_among(ids)) == links[:2]
        await self.put_notes(store, owner=BOB)
        assert await store.write(BOB, lambda writer: writer.links_among(ids)) == []

    async def test_spec_6_4_a_judgement_reaches_the_links_among_the_notes_and_can_be_taken_back(
        self, store: NoteStore, clock: FakeClock
    ) -> None:
        await self.put_notes(store, [link(1, 2, 0.5), link(2, 3, 0.5), link(1, 4, 0.5, LinkOrigin.CALLER)])
        feedback = NoteFeedback(store, clock=clock, settings=AgenticSettings())
        judged = [note_id(1), note_id(2), note_id(4)]

        async def judge(request: str, value: int) -> tuple[int, list[tuple[float, int]]]:
            key = IdempotencyKey("gateway", request, "")
            result = await feedback.record(ANN, judged, value, key=key)
            found = {**await self.links(store, 1), **await self.links(store, 3)}
            return result.links, [(round(found[key].strength, 9), found[key].feedback) for key in sorted(found)]

        others = [(0.5, 0), (0.5, 0)]  # the caller's, and one with a note that was not judged
        assert await judge("f1", 1) == (1, [(0.6, 1), *others])
        assert await judge("f2", 1) == (1, [(0.6, 1), *others]), "a judgement counts once"
        assert await judge("f3", -1) == (1, [(0.4, -1), *others])
        assert await judge("f4", 0) == (1, [(0.5, 0), *others])

    async def test_spec_4_3_a_judged_link_fades_and_comes_back_with_its_judgement(
        self, store: NoteStore, clock: FakeClock
    ) -> None:
        await self.put_notes(store, [replace(link(1, 2, 0.6), feedback=1)])
        clock.advance(days=100)
        await store.record_access(ANN, {note_id(3): 1}, time=clock.now())
        job = FadeLinks(store, clock, FadingSettings(), page=9)
        [step] = [step async for step in job.steps(after="", owner=ANN)]
        made = await job.apply(ANN, job.plan(step.state, clock.now()))
        [faded] = (await self.links(store, 1)).values()
        assert faded.strength == pytest.approx(0.6 * 0.95**3)
        assert faded.feedback == 1
        assert await job.undo(ANN, made) == 1
        assert list((await self.links(store, 1)).values()) == [replace(link(1, 2, 0.6), feedback=1)]
