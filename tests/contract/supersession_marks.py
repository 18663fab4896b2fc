"""What every store of supersessions sends to callers that have cached earlier ones."""

from __future__ import annotations

from services.common.owners import Owner
from services.semantic.supersession.model import Assertion, Decision, State
from services.semantic.supersession.store import SupersessionStore
from tests.contract.supersession_samples import ADA, assertion, at_most, decide, once, turn


class SupersessionMarksContract:
    """Subclass with a fixture `store` that returns a fresh one."""

    async def add(self, store: SupersessionStore, owner: Owner, *said: Assertion) -> int:
        return len(await store.add(owner, said, decide, candidates_max=at_most(10)))

    async def test_callers_may_be_sent_the_added_marks_alone(self, store: SupersessionStore) -> None:
        await self.add(store, ADA, assertion(1, "home Ghent", 1), assertion(2, "home Bruges", 1))
        before = await store.marks(ADA, cached_revision=None, limit=10, incremental=True)
        assert (before.is_incremental, len(before.superseded or ())) == (False, 1)
        await self.add(store, ADA, assertion(3, "home Liege", 1))
        new = await store.marks(ADA, cached_revision=before.revision, limit=10, incremental=True)
        every = await store.marks(ADA, cached_revision=before.revision, limit=10)
        assert (new.is_incremental, every.is_incremental) == (True, False)
        assert before.superseded is not None
        assert new.superseded is not None
        assert every.superseded is not None
        joined = {one.supersession_id for one in (*before.superseded, *new.superseded)}
        assert joined == {one.supersession_id for one in every.superseded}
        assert len(new.superseded) < len(every.superseded)
        assert (await store.marks(ADA, cached_revision=new.revision, limit=10, incremental=True)).superseded is None

    async def test_spec_5_7_callers_are_sent_pairs_that_wait_for_a_decision(self, store: SupersessionStore) -> None:
        await self.add(store, ADA, assertion(1, "home Ghent", 1))
        before = await store.marks(ADA, cached_revision=None, limit=10)
        await self.add(store, ADA, assertion(2, "home perhaps Bruges", 1))
        new = await store.marks(ADA, cached_revision=before.revision, limit=10, incremental=True)
        assert (new.superseded, [one.state for one in new.reduced]) == ([], [State.PENDING])
        await store.resolve(ADA, new.reduced[0].supersession_id, Decision.BOTH_STAND, once)
        assert (await store.marks(ADA, cached_revision=new.revision, limit=10, incremental=True)).reduced == []

    async def test_callers_are_sent_all_marks_after_one_was_removed(self, store: SupersessionStore) -> None:
        await self.add(store, ADA, assertion(1, "home Ghent", 1), assertion(2, "home Bruges", 1))
        before = await store.marks(ADA, cached_revision=None, limit=10)
        await store.remove_sources(ADA, [turn(1)])
        gone = await store.marks(ADA, cached_revision=before.revision, limit=10, incremental=True)
        assert (gone.is_incremental, gone.superseded) == (False, [])
        await self.add(store, ADA, assertion(3, "home Liege", 1))
        late = await store.marks(ADA, cached_revision=before.revision, limit=10, incremental=True)
        assert (late.is_incremental, len(late.superseded or ())) == (False, 1)
        new = await store.marks(ADA, cached_revision=gone.revision, limit=10, incremental=True)
        assert (new.is_incremental, len(new.superseded or ())) == (True, 1)

    async def test_callers_are_sent_all_marks_after_a_decision(self, store: SupersessionStore) -> None:
        await self.add(store, ADA, assertion(1, "home Ghent", 1), assertion(2, "home Bruges", 1))
        before = await store.marks(ADA, cached_revision=None, limit=10)
        (found,) = before.superseded or ()
        await store.resolve(ADA, found.supersession_id, Decision.BOTH_STAND, once)
        after = await store.marks(ADA, cached_revision=before.revision, limit=10, incremental=True)
        assert (after.is_incremental, after.superseded) == (False, [])

    async def test_callers_are_sent_all_marks_where_more_were_added_than_are_returned(
        self, store: SupersessionStore
    ) -> None:
        first = await store.marks(ADA, cached_revision=None, limit=2, incremental=True)
        await self.add(store, ADA, *(assertion(number, f"home {number}", 1) for number in range(1, 5)))
        new = await store.marks(ADA, cached_revision=first.revision, limit=2, incremental=True)
        assert (new.is_incremental, len(new.superseded or ())) == (False, 2)

    async def test_only_the_newest_marks_are_returned(self, store: SupersessionStore) -> None:
        await self.add(store, ADA, *(assertion(number, f"home {number}", 1) for number in range(1, 5)))
        marks = await store.marks(ADA, cached_revision=None, limit=1)
        assert marks.superseded is not None
        assert [one.standing_statement for one in marks.superseded] == ["home 4"]
