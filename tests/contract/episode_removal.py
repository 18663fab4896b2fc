"""What every `EpisodeStore` must do when episodes are archived, restored and deleted."""

import asyncio
from datetime import datetime

import pytest

from services.common.cache import OwnerCache
from services.common.errors import InvalidArgument, Reason
from services.episodic.model import EpisodeStatus, Owner, TenantId, UserId
from services.episodic.removal_store import EpisodeSelection
from services.episodic.snapshots import SnapshotCache
from services.episodic.store import AccessCount, EpisodeFilter, EpisodeStore, PendingEpisode
from services.episodic.token_format import PackedTokens
from services.episodic.token_store import EpisodeName
from tests.contract.episode_background import NOW, activate, insert
from tests.contract.episode_samples import (
    GLOBAL,
    OWNER,
    SAME_NAME_ELSEWHERE,
    TENANT,
    episode_id,
    later,
    new_episode,
    write,
)

BOB = Owner(TENANT, UserId("bob"))
SPACE = "model-a+words"
EVERYTHING = EpisodeSelection()
CONVERSATION = EpisodeSelection(conversation_id="s1")


def ids(*numbers: int) -> EpisodeSelection:
    return EpisodeSelection(episode_ids=[episode_id(number) for number in numbers])


def snapshots(store: EpisodeStore) -> SnapshotCache:
    return SnapshotCache(store, OwnerCache(), owner_episodes_max=1_000)


async def searchable(store: EpisodeStore, cache: SnapshotCache, owner: Owner = OWNER) -> list[int]:
    """Positions of the searchable episodes, by a warm cache and by the store, which must agree."""
    snapshot = await cache.current(owner)
    assert snapshot is not None
    keys = snapshot.every(GLOBAL)
    positions = sorted(snapshot.columns(keys, GLOBAL).positions)
    everything = [new_episode(number, owner=owner).key for number in range(20)]
    read = await store.columns_at(owner, everything, scope_keys=GLOBAL)
    assert sorted(read.positions) == positions
    named = await store.columns_of(owner, [episode_id(number) for number in range(20)], scope_keys=GLOBAL)
    assert sorted(named.positions) == positions
    matching, _ = await store.matching_columns(owner, "turn", scope_keys=GLOBAL, limit=20)
    assert sorted(matching.positions) == positions
    assert snapshot.count(GLOBAL) == len(positions)
    return positions


async def listed(store: EpisodeStore, owner: Owner = OWNER) -> list[int]:
    found = await store.list_episodes(owner, EpisodeFilter(), limit=100, after=None)
    return sorted(episode.content.position for episode in found)


class EpisodeRemovalContract:
    """See `EpisodeStoreContract`. The fixture `replica` is a second store on the same data."""

    async def test_spec_2_8_archived_episodes_leave_every_search_at_once_and_stay_readable(
        self, store: EpisodeStore, replica: EpisodeStore
    ) -> None:
        await insert(store, *(new_episode(number) for number in range(1, 6)))
        await activate(store)
        caches = {store: snapshots(store), replica: snapshots(replica)}
        for each, cache in caches.items():
            assert await searchable(each, cache) == [1, 2, 3, 4, 5]

        archived = await store.archive(OWNER, ids(2, 4, 9), key=write(), now=NOW)

        assert (archived.count, sorted(archived.keys)) == (2, [new_episode(2).key, new_episode(4).key])
        for each, cache in caches.items():
            assert await searchable(each, cache) == [1, 3, 5]
            assert await listed(each) == [1, 2, 3, 4, 5]
            assert (await each.get(OWNER, [episode_id(2)]))[episode_id(2)].status is EpisodeStatus.ARCHIVED
        only = EpisodeFilter(status=EpisodeStatus.ARCHIVED)
        assert len(await replica.list_episodes(OWNER, only, limit=10, after=None)) == 2
        assert await activate(store) == 0

    async def test_spec_6_9_what_is_held_is_archived_or_deleted_afterwards(self, store: EpisodeStore) -> None:
        await insert(store, *(new_episode(number) for number in range(1, 4)))
        await activate(store)
        await store.archive(OWNER, ids(3), key=write("a"), now=NOW)
        async with store.held(OWNER, [episode_id(number) for number in (1, 2, 3, 9)]) as held:
            assert held == {episode_id(1), episode_id(2)}
            changes = [
                asyncio.create_task(store.delete(OWNER, ids(1), key=write("b"), now=NOW)),
                asyncio.create_task(store.archive(OWNER, ids(2), key=write("c"), now=NOW)),
            ]
            _, waiting = await asyncio.wait(changes, timeout=0.2)
            assert len(waiting) == 2
            statuses = await store.statuses(OWNER, list(held))
            assert set(statuses.values()) == {EpisodeStatus.ACTIVE}
        await asyncio.gather(*changes)
        assert await store.statuses(OWNER, list(held)) == {episode_id(2): EpisodeStatus.ARCHIVED}

    async def test_spec_2_8_restored_episodes_are_indexed_again(
        self, store: EpisodeStore, replica: EpisodeStore
    ) -> None:
        await insert(store, *(new_episode(number) for number in range(1, 4)))
        await activate(store)
        cache = snapshots(replica)
        await store.archive(OWNER, CONVERSATION, key=write("a"), now=NOW)
        assert await searchable(replica, cache) == []

        assert await store.restore(OWNER, ids(1, 2, 9), key=write("b"), now=NOW) == 2

        assert await searchable(replica, cache) == []
        assert await store.statuses(OWNER, [episode_id(1)]) == {episode_id(1): EpisodeStatus.PENDING_EMBEDDING}
        assert not await store.is_indexing_again(OWNER)
        assert await activate(store) == 2
        assert await searchable(replica, cache) == [1, 2]

    async def test_an_episode_that_waits_for_its_index_can_be_archived(self, store: EpisodeStore) -> None:
        await insert(store, new_episode(1))
        assert (await store.archive(OWNER, ids(1), key=write("a"), now=NOW)).count == 1
        assert await activate(store) == 0
        assert await store.restore(OWNER, CONVERSATION, key=write("b"), now=NOW) == 1
        assert await activate(store) == 1

    async def test_spec_2_8_ten_thousand_are_archived_with_one_revision(
        self, store: EpisodeStore, replica: EpisodeStore
    ) -> None:
        everything = [new_episode(number) for number in range(10_000)]
        for start in range(0, len(everything), 1_000):
            await insert(store, *everything[start : start + 1_000])
        while await activate(store):
            pass
        before = (await replica.changes(OWNER, since=0, limit=20_000)).revision

        chosen = EpisodeSelection(episode_ids=[episode.episode_id for episode in everything])
        assert (await store.archive(OWNER, chosen, key=write(), now=NOW)).count == 10_000

        changes = await replica.changes(OWNER, since=before, limit=20_000)
        assert (changes.revision, len(changes.columns), any(changes.searchable)) == (before + 1, 10_000, False)

    async def test_spec_6_6_deleted_episodes_are_gone_from_everywhere_at_once(
        self, store: EpisodeStore, replica: EpisodeStore
    ) -> None:
        await insert(store, *(new_episode(number) for number in range(1, 5)))
        tokens = {EpisodeName(OWNER, episode_id(n)): PackedTokens(SPACE, b"t") for n in range(1, 5)}
        async with store.claim_pending(limit=10, now=NOW) as batch:
            await batch.mark_active(batch.episodes, [2] * len(batch.episodes), tokens)
        caches = {store: snapshots(store), replica: snapshots(replica)}
        for each, cache in caches.items():
            assert await searchable(each, cache) == [1, 2, 3, 4]

        assert (await store.delete(OWNER, ids(1, 3), key=write(), now=NOW)).episodes == 2
        used = [AccessCount(owner=OWNER, episode_id=episode_id(n), count=1, last_time=NOW) for n in (1, 2)]
        await store.add_accesses(used)

        gone, left = [episode_id(1), episode_id(3)], [episode_id(2), episode_id(4)]
        for each, cache in caches.items():
            assert await searchable(each, cache) == [2, 4]
            assert await listed(each) == [2, 4]
            assert await each.get(OWNER, gone) == {}
            assert await each.statuses(OWNER, gone) == {}
            assert list(await each.uses(OWNER, [new_episode(n).key for n in range(1, 5)])) == [
                new_episode(2).key,
                new_episode(4).key,
            ]
            assert sorted(await each.tokens(OWNER, [*gone, *left], model=SPACE)) == left
            newest = await each.newest_tokens(OWNER, model=SPACE, before=None, limit=10)
            assert sorted(name for name, _ in newest) == left
            assert [state.piece_count for state in await each.index_states("model-a", after=None, limit=10)] == [4]
        assert sorted(await replica.deleted_keys(OWNER, ids(1, 2, 3))) == [new_episode(1).key, new_episode(3).key]

    async def test_archived_episodes_give_up_their_token_vectors(self, store: EpisodeStore) -> None:
        await insert(store, new_episode(1))
        async with store.claim_pending(limit=10, now=NOW) as batch:
            await batch.mark_active(
                batch.episodes, [1], {EpisodeName(OWNER, episode_id(1)): PackedTokens(SPACE, b"one")}
            )
        await store.archive(OWNER, ids(1), key=write(), now=NOW)
        assert await store.tokens(OWNER, [episode_id(1)], model=SPACE) == {}

    async def test_spec_6_6_a_late_delivery_does_not_bring_a_deleted_episode_back(
        self, store: EpisodeStore, replica: EpisodeStore
    ) -> None:
        await insert(store, new_episode(1), new_episode(2))
        assert (await store.delete(OWNER, ids(1, 7), key=write(), now=NOW)).episodes == 1

        late = await replica.insert(TENANT, [new_episode(1), new_episode(7), new_episode(2), new_episode(3)], now=NOW)

        assert [(outcome.created, outcome.deleted) for outcome in late] == [
            (False, True),
            (False, True),
            (False, False),
            (True, False),
        ]
        assert await listed(store) == [2, 3]
        elsewhere = await store.insert(
            SAME_NAME_ELSEWHERE.tenant_id, [new_episode(1, owner=SAME_NAME_ELSEWHERE)], now=NOW
        )
        assert elsewhere[0].created
        # Its place is free for another one, whose points are not to be removed.
        assert await store.deleted_keys(OWNER, ids(1)) == [new_episode(1).key]
        await insert(store, new_episode(11, position=1))
        assert await store.deleted_keys(OWNER, ids(1)) == []

    async def test_spec_6_6_a_delivery_beside_the_deletion_is_stored_before_it_or_never(
        self, store: EpisodeStore, replica: EpisodeStore
    ) -> None:
        for number in range(1, 21):
            await asyncio.gather(
                store.insert(TENANT, [new_episode(number)], now=NOW),
                replica.delete(OWNER, ids(number), key=write(f"r{number}"), now=NOW),
            )
        assert await listed(store) == []

    async def test_spec_6_6_a_conversation_a_user_and_a_tenant_are_deleted_whole(
        self, store: EpisodeStore, replica: EpisodeStore
    ) -> None:
        await insert(store, *(new_episode(n) for n in (1, 2)), new_episode(3, conversation_id="s2"))
        await insert(store, new_episode(4, owner=BOB), new_episode(5, owner=BOB))
        await insert(store, new_episode(6, owner=SAME_NAME_ELSEWHERE))
        await activate(store)
        cache = snapshots(replica)
        assert await searchable(replica, cache, BOB) == [4, 5]

        assert (await store.delete(OWNER, CONVERSATION, key=write("a"), now=NOW)).episodes == 2
        assert await listed(replica) == [3]
        assert sorted(await replica.deleted_keys(OWNER, CONVERSATION)) == [new_episode(1).key, new_episode(2).key]

        assert (await store.delete(OWNER, EVERYTHING, key=write("b"), now=NOW)).episodes == 1
        assert await listed(replica) == []
        assert await searchable(replica, cache, BOB) == [4, 5]

        assert (await store.delete_tenant(TENANT, key=write("c"), now=NOW)).episodes == 2
        assert await searchable(replica, cache, BOB) == []
        assert await replica.deleted_owners(TENANT) == [OWNER, BOB]
        assert await replica.deleted_owners(TenantId("other")) == []
        assert await listed(replica, SAME_NAME_ELSEWHERE) == [6]

    async def test_spec_6_3_a_repeated_deletion_of_a_tenant_leaves_what_was_stored_since(
        self, store: EpisodeStore
    ) -> None:
        await insert(store, new_episode(1), new_episode(2), new_episode(3, owner=BOB))
        assert (await store.delete_tenant(TENANT, key=write("t"), now=NOW)).episodes == 3
        await insert(store, new_episode(4), new_episode(5, owner=BOB))
        assert (await store.delete_tenant(TENANT, key=write("t"), now=NOW)).episodes == 3
        assert (await listed(store), await listed(store, BOB)) == ([4], [5])
        assert (await store.delete_tenant(TENANT, key=write("u"), now=NOW)).episodes == 2
        assert (await listed(store), await listed(store, BOB)) == ([], [])

    async def test_spec_7_1_nobody_removes_what_is_another_ones(self, store: EpisodeStore) -> None:
        await insert(store, new_episode(1))
        for number, stranger in enumerate((SAME_NAME_ELSEWHERE, BOB)):
            assert (await store.archive(stranger, ids(1), key=write(f"a{number}"), now=NOW)).count == 0
            assert (await store.delete(stranger, EVERYTHING, key=write(f"b{number}"), now=NOW)).episodes == 0
            assert (await store.delete(stranger, CONVERSATION, key=write(f"c{number}"), now=NOW)).episodes == 0
            assert (await store.delete(stranger, ids(1), key=write(f"d{number}"), now=NOW)).episodes == 0
        assert (await store.delete_tenant(SAME_NAME_ELSEWHERE.tenant_id, key=write("e"), now=NOW)).episodes == 0
        assert await store.statuses(OWNER, [episode_id(1)]) == {episode_id(1): EpisodeStatus.PENDING_EMBEDDING}

    async def test_spec_6_3_a_repeated_removal_changes_nothing_and_returns_the_first_result(
        self, store: EpisodeStore
    ) -> None:
        await insert(store, new_episode(1), new_episode(2))
        assert (await store.archive(OWNER, ids(1), key=write("a"), now=NOW)).count == 1
        assert await store.restore(OWNER, ids(1), key=write("b"), now=NOW) == 1

        again = await store.archive(OWNER, ids(1), key=write("a"), now=NOW)
        assert (again.count, list(again.keys)) == (1, [])
        assert await store.statuses(OWNER, [episode_id(1)]) == {episode_id(1): EpisodeStatus.PENDING_EMBEDDING}
        assert (await store.delete(OWNER, ids(2), key=write("c"), now=NOW)).episodes == 1
        assert (await store.delete(OWNER, ids(2), key=write("c"), now=NOW)).episodes == 1
        with pytest.raises(InvalidArgument) as caught:
            await store.delete(OWNER, EVERYTHING, key=write("c", "everything"), now=NOW)
        assert caught.value.reason is Reason.REQUEST_ID_REUSED
        assert await listed(store) == [1]

    async def test_removal_waits_for_the_worker_that_indexes_an_episode(self, store: EpisodeStore) -> None:
        await insert(store, new_episode(1), new_episode(2))
        claimed: list[PendingEpisode] = []
        async with store.claim_pending(limit=10, now=NOW) as batch:
            removing = asyncio.gather(
                store.archive(OWNER, ids(1), key=write("a"), now=NOW),
                store.delete(OWNER, ids(2), key=write("b"), now=NOW),
            )
            await store.statuses(OWNER, [episode_id(1)])
            claimed.extend(batch.episodes)
            await batch.mark_active(batch.episodes, [1, 1])
        await removing

        assert len(claimed) == 2
        assert await store.statuses(OWNER, [episode_id(1), episode_id(2)]) == {episode_id(1): EpisodeStatus.ARCHIVED}

    async def test_spec_3_7_what_was_archived_since_a_time_is_found_by_its_words(self, store: EpisodeStore) -> None:
        said = {1: "The boat is red.", 2: "The harbour is full.", 3: "A boat came in.", 4: "It rained."}
        await insert(store, *(new_episode(number, query=text) for number, text in said.items()))
        await insert(
            store, new_episode(5, query="boat", scope_key="3:p"), new_episode(6, query="A boat", time=later(days=9))
        )
        await insert(store, new_episode(1, owner=SAME_NAME_ELSEWHERE, query="boat"))
        await activate(store)

        async def found(archived_after: datetime, owner: Owner = OWNER, limit: int = 9) -> list[int]:
            columns, scores = await store.archived_columns(
                owner, "a boat", scope_keys=GLOBAL, archived_after=archived_after, limit=limit
            )
            assert len(columns) == len(scores)
            assert scores == sorted(scores, reverse=True)
            return columns.positions

        assert await found(later(days=1)) == [], "nothing is archived"
        await store.archive(OWNER, ids(1, 2, 5, 6), key=write("a"), now=later(days=2))
        [weakest, *_] = await store.weakest(OWNER, newest_kept=0, scale_days=30.0, now=later(days=3), limit=1)
        await store.archive_unused(OWNER, [weakest], now=later(days=4))
        third = 3 if weakest.episode_id == episode_id(3) else 4
        assert sorted(await found(later(days=1))) == sorted([1, 2, third])
        assert (await found(later(days=1)))[0] in {1, 3}, "what shares a word comes first"
        assert await found(later(days=1), limit=1) == (await found(later(days=1)))[:1]
        assert await found(later(days=2)) == [third]
        assert await found(later(days=4)) == []
        assert await found(later(hours=1)) == [1], "the others happened later"
        assert await found(later(days=1), BOB) == await found(later(days=1), SAME_NAME_ELSEWHERE) == []
        await store.restore(OWNER, ids(1), key=write("b"), now=later(days=5))
        assert 1 not in await found(later(days=1))
        await store.delete(OWNER, ids(2), key=write("c"), now=later(days=6))
        assert await found(later(days=1)) == [third]
