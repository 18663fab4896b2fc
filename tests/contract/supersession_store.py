"""What every store of statements and supersessions must do."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest

from services.common.errors import NotFound
from services.common.owners import Owner
from services.semantic.supersession.model import (
    Assertion,
    Decision,
    Place,
    Reason,
    State,
    Supersession,
    SupersessionPosition,
)
from services.semantic.supersession.store import SupersessionStore
from tests.contract.supersession_marks import SupersessionMarksContract
from tests.contract.supersession_samples import (
    ADA,
    BEN,
    NOON,
    OTHER,
    assertion,
    at_most,
    corrected,
    decide,
    decided,
    each,
    once,
    rest,
    turn,
)


class SupersessionStoreContract(SupersessionMarksContract):
    """Subclass with a fixture `store` that returns a fresh one."""

    async def losers(self, store: SupersessionStore, owner: Owner = ADA) -> list[str]:
        marks = await store.marks(owner, cached_revision=None, limit=100)
        assert marks.superseded is not None
        return sorted(one.statement for one in marks.superseded)

    async def test_nothing_is_superseded_at_first(self, store: SupersessionStore) -> None:
        assert await self.losers(store) == []
        assert (await store.marks(ADA, cached_revision=0, limit=10)).superseded is None

    async def test_statements_that_share_a_word_are_compared(self, store: SupersessionStore) -> None:
        assert await self.add(store, ADA, assertion(1, "home Ghent", 1, 2), assertion(2, "tea", 3)) == 0
        assert await self.add(store, ADA, assertion(3, "home Bruges", 1, 4)) == 1
        assert await self.losers(store) == ["home Ghent"]

    async def test_statements_without_a_common_word_are_not(self, store: SupersessionStore) -> None:
        assert await self.add(store, ADA, assertion(1, "home Ghent", 1), assertion(2, "home Bruges", 2)) == 0

    async def test_sentences_of_one_turn_are_not_compared(self, store: SupersessionStore) -> None:
        assert await self.add(store, ADA, assertion(1, "home a", 1), assertion(1, "home b", 1, sentence=1)) == 0

    async def test_statements_that_share_the_rarest_words_are_compared_first(self, store: SupersessionStore) -> None:
        common, rare = 1, 2
        said = [assertion(number, f"chat {number}", common, 100 + number) for number in range(10, 30)]
        wordy = assertion(2, "home Namur and more", rare, *range(200, 220))
        await self.add(store, ADA, assertion(1, "home Ghent", common, rare), wordy, *said)
        compared: list[str] = []

        def note(one: Assertion, other: Assertion) -> Supersession | None:
            compared.append(other.text)
            return decided(one, other)

        new = assertion(40, "home Bruges", common, rare)
        assert len(await store.add(ADA, [new], each(note), candidates_max=at_most(2))) == 2
        assert compared == ["home Ghent", "home Namur and more"]
        newer = assertion(41, "chat 41", common)
        await store.add(ADA, [newer], each(note), candidates_max=at_most(2))
        assert compared[2:] == ["home Bruges", "chat 29"]  # of equal ones the latest

    async def test_each_statement_is_compared_with_as_many_as_are_meant_for_it(self, store: SupersessionStore) -> None:
        await self.add(store, ADA, *(assertion(number, f"chat {number}", 1) for number in range(10)))
        compared: list[str] = []

        def note(one: Assertion, other: Assertion) -> Supersession | None:
            compared.append(f"{one.text} - {other.text}")
            return None

        new = [assertion(20, "one", 1), assertion(21, "three", 1, 2, 3)]
        await store.add(ADA, new, each(note), candidates_max=lambda statement: len(statement.keys))
        assert sorted(compared) == ["three - chat 8", "three - chat 9", "three - one"]

    async def test_the_order_of_arrival_has_no_effect(self, store: SupersessionStore) -> None:
        await self.add(store, ADA, assertion(3, "home Bruges", 1))
        await self.add(store, ADA, assertion(1, "home Ghent", 1))
        assert await self.losers(store) == ["home Ghent"]

    async def test_statements_added_together_are_compared_with_each_other_and_with_stored_ones(
        self, store: SupersessionStore
    ) -> None:
        await self.add(store, ADA, assertion(1, "home Ghent", 1))
        together = [
            assertion(2, "home Bruges", 1, 2),
            assertion(3, "home Mons", 1),
            assertion(4, "tea", *range(10, 20)),
        ]
        assert await self.add(store, ADA, *together) == 3
        assert await self.losers(store) == ["home Bruges", "home Ghent", "home Ghent"]

    async def test_many_statements_can_be_added_at_once(self, store: SupersessionStore) -> None:
        said = [assertion(number, f"home{number // 2} {number}", number // 2) for number in range(100)]
        assert await self.add(store, ADA, *said) == 50

    async def test_a_pair_is_decided_once(self, store: SupersessionStore) -> None:
        pairs: list[frozenset[Place]] = []

        def count(one: Assertion, other: Assertion) -> Supersession | None:
            pairs.append(frozenset((one.place, other.place)))
            return decided(one, other)

        said = [assertion(number, f"home {number}", 1) for number in range(1, 5)]
        await store.add(ADA, said, each(count), candidates_max=at_most(10))
        assert len(pairs) == len(set(pairs)) == 6

    async def test_a_replay_brings_nothing_twice(self, store: SupersessionStore) -> None:
        said = [assertion(1, "home Ghent", 1), assertion(2, "home Bruges", 1)]
        assert await self.add(store, ADA, *said) == 1
        revision = (await store.marks(ADA, cached_revision=None, limit=10)).revision
        assert await self.add(store, ADA, *said) == 0
        assert (await store.marks(ADA, cached_revision=revision, limit=10)).superseded is None

    async def test_users_and_tenants_are_apart(self, store: SupersessionStore) -> None:
        for number, owner in enumerate((ADA, BEN, OTHER), 1):
            assert await self.add(store, owner, assertion(number, "home Ghent", 1)) == 0
        await self.add(store, ADA, assertion(5, "home Bruges", 1))
        assert [await self.losers(store, owner) for owner in (ADA, BEN, OTHER)] == [["home Ghent"], [], []]

    async def test_the_revision_rises_with_each_change(self, store: SupersessionStore) -> None:
        await self.add(store, ADA, assertion(1, "home Ghent", 1))
        before = (await store.marks(ADA, cached_revision=None, limit=10)).revision
        await self.add(store, ADA, assertion(2, "home Bruges", 1))
        after = await store.marks(ADA, cached_revision=before, limit=10)
        assert after.revision > before
        assert after.superseded is not None
        assert (await store.marks(ADA, cached_revision=after.revision, limit=10)).superseded is None

    async def test_what_waits_is_listed_and_resolved(self, store: SupersessionStore) -> None:
        await self.add(store, ADA, assertion(1, "home Ghent", 1), assertion(2, "home perhaps Bruges", 1))
        (waiting,) = await store.list_page(ADA, state=State.PENDING, after=None, limit=10)
        assert await self.losers(store) == []
        assert (await store.marks(ADA, cached_revision=None, limit=10)).reduced == [waiting]
        turned = await store.resolve(ADA, waiting.supersession_id, Decision.EARLIER_STANDS, once)
        assert (turned.winner, turned.state) == (waiting.loser, State.APPLIED)
        assert await self.losers(store) == ["home perhaps Bruges"]
        again = await store.resolve(ADA, waiting.supersession_id, Decision.EARLIER_STANDS, once)
        assert again == turned
        back = await store.resolve(ADA, waiting.supersession_id, Decision.LATER_STANDS, once)
        assert (back.loser, back.winner) == (waiting.loser, waiting.winner)
        await store.resolve(ADA, waiting.supersession_id, Decision.BOTH_STAND, once)
        assert await self.losers(store) == []
        assert await store.list_page(ADA, state=State.PENDING, after=None, limit=10) == []

    async def test_a_decision_outlives_a_replay(self, store: SupersessionStore) -> None:
        said = [assertion(1, "home Ghent", 1), assertion(2, "home Bruges", 1)]
        await self.add(store, ADA, *said)
        (found,) = await store.list_page(ADA, state=None, after=None, limit=10)
        await store.resolve(ADA, found.supersession_id, Decision.BOTH_STAND, once)
        assert await store.put(ADA, [found]) == 0
        assert await self.losers(store) == []

    async def test_what_is_not_there_cannot_be_resolved(self, store: SupersessionStore) -> None:
        await self.add(store, ADA, assertion(1, "home Ghent", 1), assertion(2, "home Bruges", 1))
        (found,) = await store.list_page(ADA, state=None, after=None, limit=10)
        with pytest.raises(NotFound):
            await store.resolve(BEN, found.supersession_id, Decision.BOTH_STAND, once)

    async def test_pages_are_newest_first_without_gaps(self, store: SupersessionStore) -> None:
        await self.add(store, ADA, *(assertion(number, f"home {number}", 1) for number in range(1, 5)))
        seen: list[Supersession] = []
        after: SupersessionPosition | None = None
        while page := await store.list_page(ADA, state=None, after=after, limit=2):
            seen += page
            after = SupersessionPosition(page[-1].create_time, page[-1].supersession_id)
        assert len({one.supersession_id for one in seen}) == len(seen) == 6
        assert [one.create_time for one in seen] == sorted((one.create_time for one in seen), reverse=True)

    async def test_a_correction_of_a_whole_turn_is_put(self, store: SupersessionStore) -> None:
        one = Supersession(
            loser=Place(turn(1)),
            winner=Place(turn(2)),
            reason=Reason.CORRECTED,
            state=State.APPLIED,
            end_time=NOON,
            create_time=NOON,
            is_whole=True,
        )
        assert (await store.put(ADA, [one]), await store.put(ADA, [one])) == (1, 0)
        assert (await store.marks(ADA, cached_revision=None, limit=10)).superseded == [one]

    @pytest.mark.parametrize("gone", [1, 2])
    async def test_removal_of_a_source_takes_its_supersessions(self, store: SupersessionStore, gone: int) -> None:
        said = [assertion(1, "home Ghent", 1), assertion(2, "home Bruges", 1), assertion(3, "tea black", 2)]
        await self.add(store, ADA, *said, assertion(4, "tea green", 2))
        before = (await store.marks(ADA, cached_revision=None, limit=10)).revision
        assert await store.remove_sources(ADA, [turn(gone)]) == 1
        after = await store.marks(ADA, cached_revision=before, limit=10)
        assert after.revision > before
        assert await self.losers(store) == ["tea black"]
        assert await self.add(store, ADA, assertion(5, "home Kortrijk", 1)) == 1, "the other one is still compared"

    async def test_removal_of_an_owner_takes_everything_of_that_owner(self, store: SupersessionStore) -> None:
        for owner in (ADA, BEN):
            await self.add(store, owner, assertion(1, "home Ghent", 1), assertion(2, "home Bruges", 1))
        assert await store.remove_owner(ADA) == 1
        assert (await self.losers(store), await self.losers(store, BEN)) == ([], ["home Ghent"])
        assert await self.add(store, ADA, assertion(3, "home Leuven", 1)) == 0

    async def test_spec_3_12_what_a_user_corrected_in_some_turns_is_found(self, store: SupersessionStore) -> None:
        part = replace(corrected(1, by=9), loser=Place(turn(1), -7), statement="Reply in French.", is_whole=False)
        of_ben = replace(corrected(1, by=9), statement="of Ben")
        await store.put(ADA, [part, corrected(2, by=9), corrected(3, by=9), corrected(4, by=8)])
        await store.put(BEN, [of_ben])
        await self.add(store, ADA, assertion(5, "home Ghent", 1), assertion(6, "home Bruges", 1))
        asked = [turn(number) for number in (2, 1, 5, 1, 7)]
        assert list(await store.corrected(ADA, asked, limit=9)) == [(turn(1), "Reply in French."), (turn(2), "")]
        assert len(await store.corrected(ADA, asked, limit=1)) == 1
        assert list(await store.corrected(OTHER, asked, limit=9)) == []
        assert list(await store.corrected(ADA, [], limit=9)) == []
        await store.resolve(ADA, part.supersession_id, Decision.BOTH_STAND, once)
        await store.resolve(ADA, corrected(2, by=9).supersession_id, Decision.EARLIER_STANDS, once)
        assert list(await store.corrected(ADA, [turn(1), turn(2)], limit=9)) == []
        assert list(await store.corrected(ADA, [turn(9)], limit=9)) == [(turn(9), "")]

    async def test_spec_3_5_reduced_pairs_are_read_with_the_marks(self, store: SupersessionStore) -> None:
        reduced = replace(corrected(1, by=9), reason=Reason.UPDATED, state=State.REDUCED)
        await store.put(ADA, [reduced])
        marks = await store.marks(ADA, cached_revision=0, limit=10)
        assert (marks.revision > 0, marks.superseded, marks.reduced) == (True, [], [reduced])
        await store.put(ADA, [corrected(2, by=9)])
        after = await store.marks(ADA, cached_revision=marks.revision, limit=10)
        assert (after.superseded, after.reduced) == ([corrected(2, by=9)], [reduced])
        await store.resolve(ADA, reduced.supersession_id, Decision.BOTH_STAND, once)
        assert (await store.marks(ADA, cached_revision=after.revision, limit=10)).reduced == []

    STORY = (assertion(1, "home Ghent", 1, 2), assertion(2, "walks in Ghent", 2), assertion(3, "home Bruges", 1, 3))
    """A premise, what rests on it, and what ends the premise."""

    async def told(self, store: SupersessionStore, *said: Assertion) -> None:
        for one in said:
            await store.add(ADA, [one], decide, candidates_max=at_most(10), rest=rest)

    @pytest.mark.parametrize("order", list(permutations(range(3))))
    async def test_spec_3_5_what_rests_on_a_superseded_statement_is_marked_whatever_came_first(
        self, store: SupersessionStore, order: tuple[int, ...]
    ) -> None:
        await self.told(store, *(self.STORY[number] for number in order))
        marks = await store.marks(ADA, cached_revision=None, limit=10)
        assert marks.superseded is not None
        (found,) = [one for one in marks.superseded if one.reason is Reason.PREMISE_ENDED]
        assert (found.statement, found.premise, found.standing_statement) == (
            "walks in Ghent",
            "home Ghent",
            "home Bruges",
        )
        assert found.premise_place == self.STORY[0].place

    RETURN = (assertion(1, "home Ghent", 1, 2), assertion(3, "home Bruges", 1, 3), assertion(5, "again Ghent", 1, 2))
    """What was so, what took its place, and that it is so again."""

    @pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (2, 0, 1), (1, 0, 2)])
    async def test_spec_3_5_what_is_so_again_supersedes_what_took_its_place(
        self, store: SupersessionStore, order: tuple[int, ...]
    ) -> None:
        await self.told(store, *(self.RETURN[number] for number in order))
        assert await self.losers(store) == ["home Bruges", "home Ghent"]

    async def test_spec_3_5_what_is_so_again_follows_decisions_about_what_took_its_place(
        self, store: SupersessionStore
    ) -> None:
        await self.told(store, *self.RETURN)
        page = await store.list_page(ADA, state=None, after=None, limit=10)
        (pair,) = [one.supersession_id for one in page if one.premise_place is None]
        for decision, losers in (
            (Decision.BOTH_STAND, []),
            (Decision.LATER_STANDS, ["home Bruges", "home Ghent"]),
            (Decision.EARLIER_STANDS, ["home Bruges"]),
        ):
            await store.resolve(ADA, pair, decision, once)
            assert await self.losers(store) == losers

    async def test_spec_6_6_what_took_its_place_stays_superseded_without_the_first_turn(
        self, store: SupersessionStore
    ) -> None:
        await self.told(store, *self.RETURN)
        assert await store.remove_sources(ADA, [turn(1)]) == 1
        assert await self.losers(store) == ["home Bruges"]

    async def test_statements_of_one_request_rest_on_each_other(self, store: SupersessionStore) -> None:
        await store.add(ADA, self.STORY, decide, candidates_max=at_most(10), rest=rest)
        assert await self.losers(store) == ["home Ghent", "walks in Ghent"]

    async def test_what_rests_follows_decisions_about_its_premise(self, store: SupersessionStore) -> None:
        await self.told(store, *self.STORY)
        page = await store.list_page(ADA, state=None, after=None, limit=10)
        (pair,) = [one.supersession_id for one in page if one.reason is Reason.UPDATED]
        for decision, losers in (
            (Decision.BOTH_STAND, []),
            (Decision.LATER_STANDS, ["home Ghent", "walks in Ghent"]),
            (Decision.EARLIER_STANDS, ["home Bruges"]),
            (Decision.LATER_STANDS, ["home Ghent", "walks in Ghent"]),
        ):
            await store.resolve(ADA, pair, decision, once)
            assert await self.losers(store) == losers

    async def test_what_rests_can_be_taken_back_alone(self, store: SupersessionStore) -> None:
        await self.told(store, *self.STORY)
        page = await store.list_page(ADA, state=None, after=None, limit=10)
        (pair,) = [one.supersession_id for one in page if one.reason is Reason.PREMISE_ENDED]
        for decision in (Decision.BOTH_STAND, Decision.EARLIER_STANDS, Decision.BOTH_REDUCED):
            decided = await store.resolve(ADA, pair, decision, once)
            assert decided.state is State.REJECTED
            assert await self.losers(store) == ["home Ghent"]

    @pytest.mark.parametrize("decision", [Decision.BOTH_STAND, Decision.LATER_STANDS])
    async def test_spec_3_5_what_the_user_decided_about_what_rests_stays(
        self, store: SupersessionStore, decision: Decision
    ) -> None:
        await self.told(store, *self.STORY)
        page = await store.list_page(ADA, state=None, after=None, limit=10)
        rests, premise = (
            [one.supersession_id for one in page if one.reason is r] for r in (Reason.PREMISE_ENDED, Reason.UPDATED)
        )
        decided = await store.resolve(ADA, rests[0], decision, once)
        for about in (Decision.BOTH_STAND, Decision.LATER_STANDS):
            await store.resolve(ADA, premise[0], about, once)
            found = await store.list_page(ADA, state=None, after=None, limit=10)
            assert [one for one in found if one.supersession_id == rests[0]] == [decided]

    @pytest.mark.parametrize("number", [1, 2, 3])
    async def test_what_rests_goes_with_the_turn_of_its_premise(self, store: SupersessionStore, number: int) -> None:
        await self.told(store, *self.STORY)
        assert await store.remove_sources(ADA, [turn(number)]) == (1 if number == 2 else 2)
        assert await self.losers(store) == (["home Ghent"] if number == 2 else [])
