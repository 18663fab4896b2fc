"""Snapshots stay true however their updates overlap."""

import asyncio
from dataclasses import replace

import numpy as np

from services.common.cache import OwnerCache
from services.episodic.columns import EpisodeColumns
from services.episodic.model import Owner, TenantId, UserId
from services.episodic.snapshots import Snapshot, SnapshotCache
from services.episodic.store import ColumnChanges, EpisodeStore
from tests.contract.episode_samples import GLOBAL, OWNER, new_episode


def changes(number: int, *positions: int, gone: tuple[int, ...] = (), begins_anew: bool = False) -> ColumnChanges:
    numbers = [*positions, *gone]
    episodes = [new_episode(position) for position in numbers]
    rows = [(e.key, e.episode_id.bytes, "s1", e.position, "", 0.0, 1, 0, 0, float(number)) for e in episodes]
    return ColumnChanges(
        revision=number,
        begins_anew=begins_anew,
        columns=EpisodeColumns.of_rows(rows),
        scope_keys=["1"] * len(numbers),
        searchable=[position not in gone for position in numbers],
        is_complete=True,
    )


def known(snapshot: Snapshot) -> list[int]:
    keys = [new_episode(n).key for n in range(20)]
    columns = snapshot.columns(keys, GLOBAL)
    assert columns.keys == snapshot.visible(keys, GLOBAL)
    return columns.positions


def test_changes_add_replace_and_remove() -> None:
    snapshot = Snapshot()
    snapshot.apply(changes(1, 1, 2), since=0)
    snapshot.apply(changes(2, 3, gone=(1,)), since=1)

    assert known(snapshot) == [2, 3]
    assert snapshot.keys_of([new_episode(1).episode_id, new_episode(3).episode_id]) == [new_episode(3).key]


def test_spec_5_1_episodes_of_times_are_found_the_latest_span_and_the_newest_first() -> None:
    snapshot = Snapshot()
    read = changes(1, *range(6))
    times = [10.0, 30.0, 11.0, 31.0, 20.0, 12.0]
    scopes = ["1", "1", "1", "1", "1", "another"]
    snapshot.apply(replace(read, columns=replace(read.columns, times=times), scope_keys=scopes), since=0)

    def found(*spans: tuple[float, float], limit: int = 9) -> list[int]:
        ids = snapshot.of_times(spans, GLOBAL, limit=limit)
        return [known_by[each] for each in ids]

    known_by = {new_episode(n).episode_id: n for n in range(6)}
    assert found((10, 20), (30, 32)) == [3, 1, 2, 0]
    assert found((10, 20), (30, 32), limit=3) == [3, 1, 2]
    assert found((31, 40), (30, 32)) == [3, 1]
    assert found((12, 20), (40, 50)) == []
    assert Snapshot().of_times([(0, 9)], GLOBAL, limit=5) == []


def test_an_answer_that_was_overtaken_is_ignored() -> None:
    snapshot = Snapshot()
    snapshot.apply(changes(5, 1, 2, gone=(3,)), since=0)
    snapshot.apply(changes(3, 1, 3), since=0)
    assert known(snapshot) == [1, 2]

    snapshot.apply(changes(9, 4, begins_anew=True), since=5)
    snapshot.apply(changes(8, 1, 2, begins_anew=True), since=5)
    assert known(snapshot) == [4]


def test_a_database_that_went_back_is_believed() -> None:
    snapshot = Snapshot()
    snapshot.apply(changes(5, 1, 2), since=0)
    snapshot.apply(changes(2, 7, begins_anew=True), since=5)

    assert known(snapshot) == [7]
    assert snapshot.revision == 2


def test_other_scopes_are_not_visible() -> None:
    snapshot = Snapshot()
    snapshot.apply(changes(1, 1), since=0)
    assert snapshot.visible([new_episode(1).key], ("2\x1fp",)) == []


def test_what_comes_goes_and_comes_back_is_as_one_dictionary_would_have_it() -> None:
    """Against a plain model: rows that became free are used again, and all columns stay with their episode."""
    random = np.random.default_rng(11)
    snapshot, model = Snapshot(), dict[int, tuple[float, str]]()
    for number in range(1, 120):
        come = random.choice(20, random.integers(0, 6)).tolist()  # one may come twice in one answer: the last is right
        gone = random.choice(20, random.integers(0, 4), replace=False).tolist()
        anew = number % 40 == 0
        told = changes(number, *come, gone=tuple(gone), begins_anew=anew)
        scopes = [("1", "2\x1fp")[position % 2] for position in told.columns.positions]
        snapshot.apply(replace(told, scope_keys=scopes), since=number - 1)
        model = {} if anew else model
        model |= {position: (float(number), scope) for position, scope in zip(come, scopes, strict=False)}
        model = {position: row for position, row in model.items() if position not in gone}
        for scope_keys in (("1",), ("2\x1fp",), ("1", "2\x1fp"), ("3",), ()):
            expected = [position for position in range(20) if position in model and model[position][1] in scope_keys]
            keys = [new_episode(position).key for position in range(20)]
            found = snapshot.columns(keys, scope_keys)
            assert found.positions == expected
            assert found.keys == [keys[position] for position in expected] == snapshot.visible(keys, scope_keys)
            assert found.importances == [model[position][0] for position in expected]
            assert found.episode_ids == [new_episode(position).episode_id.bytes for position in expected]
            assert (found.conversation_ids, found.speakers) == (["s1"] * len(expected), [""] * len(expected))
            assert sorted(snapshot.every(scope_keys)) == sorted(found.keys)
            assert snapshot.count(scope_keys) == len(expected)
        assert len(snapshot) == len(model)


class ScriptedStore:
    """Answers `changes` when told to."""

    def __init__(self) -> None:
        self.asked: list[tuple[Owner, int]] = []
        self.answers: list[asyncio.Future[ColumnChanges]] = []
        self.was_asked = asyncio.Event()
        self.removed: list[Owner] = []

    async def changes(self, owner: Owner, *, since: int, limit: int) -> ColumnChanges:
        assert limit > 0
        self.asked.append((owner, since))
        answer: asyncio.Future[ColumnChanges] = asyncio.get_running_loop().create_future()
        self.answers.append(answer)
        self.was_asked.set()
        return await answer


def cache(store: ScriptedStore, shared: OwnerCache | None = None, *, owner_episodes_max: int = 100) -> SnapshotCache:
    typed: EpisodeStore = store  # type: ignore[assignment]  # only `changes` is used
    return SnapshotCache(
        typed, shared or OwnerCache(), owner_episodes_max=owner_episodes_max, on_removal=store.removed.append
    )


async def ask(snapshots: SnapshotCache, store: ScriptedStore, owner: Owner = OWNER) -> asyncio.Task[Snapshot | None]:
    store.was_asked.clear()
    task = asyncio.create_task(snapshots.current(owner))
    await store.was_asked.wait()
    return task


async def test_only_changes_are_asked_for() -> None:
    store = ScriptedStore()
    snapshots = cache(store)
    first = await ask(snapshots, store)
    store.answers[0].set_result(changes(4, 1))
    await first
    second = await ask(snapshots, store)
    store.answers[1].set_result(changes(4))
    snapshot = await second

    assert store.asked == [(OWNER, 0), (OWNER, 4)]
    assert snapshot is not None
    assert known(snapshot) == [1]


async def test_many_rows_are_read_beside_other_searches() -> None:
    """A first search of a user with many episodes reads them in a thread; what another search finds later stays."""
    store = ScriptedStore()
    snapshots = cache(store, owner_episodes_max=10_000)
    first = await ask(snapshots, store)
    second = await ask(snapshots, store)
    many = range(3_000)
    store.answers[1].set_result(changes(2, *many, 3_000))
    newer = await second
    store.answers[0].set_result(changes(1, *many))
    older = await first

    assert older is newer
    assert older is not None
    assert (older.revision, len(older), older.count(GLOBAL)) == (2, 3_001, 3_001)


def test_an_episode_that_comes_twice_in_a_first_answer_counts_once() -> None:
    snapshot = Snapshot()
    snapshot.apply(changes(1, 1, 1, 2), since=0)

    assert (len(snapshot), snapshot.count(GLOBAL)) == (2, 2)


async def test_searches_that_overlap_an_eviction_see_everything() -> None:
    store = ScriptedStore()
    snapshots = cache(store, OwnerCache(5_000))
    first = await ask(snapshots, store)
    store.answers[0].set_result(changes(1, 1))
    await first
    waiting = await ask(snapshots, store)  # knows change 1
    other = await ask(snapshots, store, Owner(TenantId("other"), UserId("bob")))
    store.answers[2].set_result(changes(1, 5))
    await other  # evicts the first owner
    store.answers[1].set_result(changes(2, 2))
    snapshot = await waiting

    assert snapshot is not None
    assert known(snapshot) == [1, 2]


async def test_an_owner_with_too_many_episodes_is_not_read_again_at_each_search() -> None:
    now = [0.0]
    store = ScriptedStore()
    snapshots = cache(store, OwnerCache(monotonic=lambda: now[0]), owner_episodes_max=2)
    task = await ask(snapshots, store)
    store.answers[0].set_result(changes(3, 1, 2, 3))

    assert await task is None
    assert await snapshots.current(OWNER) is None
    assert store.asked == [(OWNER, 0)], "remembered"
    now[0] += 600.0
    later = await ask(snapshots, store)
    assert store.asked == [(OWNER, 0), (OWNER, 0)]
    store.answers[1].set_result(changes(3, 1))
    assert await later is not None


async def test_a_removal_that_another_replica_made_is_reported() -> None:
    store = ScriptedStore()
    snapshots = cache(store)
    found: list[list[int]] = []
    for answer in (changes(4, 1, 2), changes(5, 3), changes(6, 1, begins_anew=True)):
        assert store.removed == []
        task = await ask(snapshots, store)
        store.answers[-1].set_result(answer)
        snapshot = await task
        assert snapshot is not None
        found.append(known(snapshot))
    assert store.removed == [OWNER]
    assert found == [[1, 2], [1, 2, 3], [1]]
