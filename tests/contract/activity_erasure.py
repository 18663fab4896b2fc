"""What every store of the activity log must do about records that arrive after an erasure."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from services.common.scope import Scope, ScopeLevel
from services.episodic.activity.model import Record
from services.episodic.activity.store import ActivityStore, ActivityUpkeepStore, RecordFilter, Removal
from tests.contract.activity_samples import ADA, BEN, GLOBAL, OTHER, PROJECT, at, ran, record, state, touched
from tests.contract.activity_store import pattern

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

    async def test_spec_6_9_patterns_of_records_that_were_erased_meanwhile_are_not_stored(
        self, store: ActivityStore, upkeep: ActivityUpkeepStore
    ) -> None:
        await store.write(ADA, [record("1", touched("a.py")), record("2", touched("b.py"), conversation_id="c2")])
        read = await upkeep.log_state(ADA)
        await store.write(ADA, [record("3", touched("c.py"))])
        assert await upkeep.put_patterns(ADA, [pattern(1)], removed=[], learned=read)
        assert (await upkeep.owners(after=None, limit=1))[0].is_changed
        await store.remove(ADA, Removal(conversation_id="c2"), now=at(1))
        assert not await upkeep.put_patterns(ADA, [pattern(1)], removed=[], learned=read)
        assert await upkeep.pattern_counts(ADA) == {}
        read = await upkeep.log_state(ADA)
        await store.remove(ADA, Removal(), now=at(1))
        assert await upkeep.log_state(ADA) is None
        assert not await upkeep.put_patterns(ADA, [pattern(1)], removed=[], learned=read)
        await store.write(ADA, [record("4", touched("a.py"), minutes=3)])
        assert not await upkeep.put_patterns(ADA, [], removed=[], learned=read)
        assert (await upkeep.owners(after=None, limit=1))[0].is_changed

    async def test_spec_6_9_patterns_that_are_stored_while_a_tenant_is_erased_go_too(
        self, store: ActivityStore, upkeep: ActivityUpkeepStore
    ) -> None:
        for owner in (ADA, BEN):
            await store.write(owner, [record("1", touched("a.py"))])
        read = [(owner, await upkeep.log_state(owner)) for owner in (ADA, BEN)] * 4
        puts = [upkeep.put_patterns(owner, [pattern(1)], removed=[], learned=state) for owner, state in read]
        await asyncio.gather(*puts[:4], store.remove_tenant(ADA.tenant_id), *puts[4:])
        assert [await upkeep.pattern_counts(owner) for owner in (ADA, BEN)] == [{}, {}]
