"""What every store of the activity log must do about records that arrive after an erasure."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from services.common.scope import Scope, ScopeLevel
from services.episodic.activity.model import Record
from services.episodic.activity.store import ActivityStore, RecordFilter, Removal
from tests.contract.activity_samples import ADA, BEN, GLOBAL, OTHER, PROJECT, at, ran, record, state, touched

TASK = Scope(ScopeLevel.TASK, "shop", "c3", "k").key
SEEN = RecordFilter(scope_keys=(GLOBAL, PROJECT))


class ActivityErasureContract:
    """Subclassed per driver beside `ActivityStoreContract`."""

    async def test_spec_2_10_what_was_erased_does_not_come_back(self, store: ActivityStore) -> None:
        early = [
            record("1", ran("bash")),
            record("2", touched("a.py"), conversation_id="c2", scope_key=PROJECT),
            record("3", state(description="one"), task_id="k", conversation_id="c3", scope_key=TASK),
        ]
        late = [replace(one, record_id=f"late {one.record_id}", time=at(2)) for one in early]

        async def stored(records: list[Record]) -> list[bool]:
            return [(await store.write(ADA, [one])).stored_count == 1 for one in records]

        await store.write(ADA, early)
        # A record that was never sent before the erasure is as old as what was erased.
        unsent = [replace(one, record_id=f"unsent {one.record_id}") for one in early]
        await store.remove(ADA, Removal(conversation_id="c1"), now=at(1))
        assert await stored([early[0], unsent[0]]) == [False, False]
        assert await stored([late[0], unsent[1]]) == [True, True]
        project = Scope.from_key(PROJECT)
        await store.remove(ADA, Removal(scope=project, scope_keys=[PROJECT]), now=at(1))
        assert await stored([early[1], early[2], unsent[2]]) == [False, False, False]  # the task was not erased
        assert await store.get_task(ADA, "k", scope_keys=[TASK]) is not None
        await store.remove(ADA, Removal(scope=project, with_nested=True, scope_keys=[PROJECT, TASK]), now=at(1))
        assert await stored([early[2], unsent[2], late[1]]) == [False, False, True]
        assert await store.get_task(ADA, "k", scope_keys=[TASK]) is None
        await store.remove(ADA, Removal(), now=at(1))
        assert await stored([*early, *unsent, *late]) == [False] * 9  # what is erased may be dated ahead of the clock
        assert await stored([replace(late[0], record_id="new", time=at(3))]) == [True]
        assert (await store.write(BEN, early)).stored_count == 3
        assert (await store.write(OTHER, early)).stored_count == 3

    async def test_spec_2_10_a_write_that_waits_for_an_erasure_stores_nothing_of_it(self, store: ActivityStore) -> None:
        records = [record(str(number), ran("bash")) for number in range(200)]
        await store.write(ADA, records[:100])
        batches = [store.write(ADA, records[begin : begin + 10]) for begin in range(0, 200, 10)]
        await asyncio.gather(store.remove(ADA, Removal(), now=at(1)), *batches)
        assert await store.list_tools(ADA, SEEN, after=None, limit=9) == []
