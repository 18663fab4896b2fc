"""What every `EpisodeStore` must do for the work behind the requests."""

import pytest

from services.common.turns import Attachment
from services.episodic.comparison_store import ExpectedEpisode
from services.episodic.model import EpisodeStatus, NewEpisode, Owner, TenantId, UserId
from services.episodic.store import AccessCount, Assessment, EpisodeStore
from tests.contract.episode_samples import (
    OWNER,
    SAME_NAME_ELSEWHERE,
    episode_id,
    later,
    new_episode,
)

NOW = later(days=30)


async def insert(store: EpisodeStore, *episodes: NewEpisode) -> None:
    outcomes = await store.insert(episodes[0].owner.tenant_id, episodes, now=NOW)
    assert all(outcome.created for outcome in outcomes)


async def activate(store: EpisodeStore) -> int:
    async with store.claim_pending(limit=1000, now=NOW) as batch:
        if batch.episodes:
            await batch.mark_active(batch.episodes, [1] * len(batch.episodes))
    return len(batch.episodes)


class EpisodeBackgroundContract:
    """See `EpisodeStoreContract`."""

    async def test_spec_2_5_an_importance_is_scored_once_and_a_stated_one_stays(self, store: EpisodeStore) -> None:
        await insert(store, new_episode(1, importance=0.9), new_episode(2, importance=None))
        for importance in (0.25, 0.75):
            async with store.claim_pending(limit=10, now=NOW) as batch:
                found = [Assessment(importance=importance, summary=f"of {importance}")] * len(batch.episodes)
                await batch.mark_active(batch.episodes, [1] * len(batch.episodes), assessments=found)
            stored = await store.get(OWNER, [episode_id(1), episode_id(2)])
            assert [stored[episode_id(n)].content.importance for n in (1, 2)] == [0.9, 0.25]
            assert {episode.summary for episode in stored.values()} == {f"of {importance}"}
            await store.reset_listed(OWNER, [episode_id(1), episode_id(2)])

    async def test_spec_2_4_a_claim_says_which_summary_is_stored(self, store: EpisodeStore) -> None:
        await insert(store, new_episode(1), new_episode(2))
        async with store.claim_pending(limit=10, now=NOW) as batch:
            assert [episode.summary for episode in batch.episodes] == ["", ""]
            found = [Assessment(importance=0.5, summary="of the trip"), Assessment(importance=0.5)]
            await batch.mark_active(batch.episodes, [1, 1], assessments=found)
            named = {episode.episode_id: one.summary for episode, one in zip(batch.episodes, found, strict=True)}
        await store.reset_listed(OWNER, [episode_id(1), episode_id(2)])
        async with store.claim_pending(limit=10, now=NOW) as batch:
            assert {episode.episode_id: episode.summary for episode in batch.episodes} == named

    async def test_spec_2_4_a_summary_is_replaced_where_there_is_one(self, store: EpisodeStore) -> None:
        await insert(store, new_episode(1), new_episode(2))
        await insert(store, new_episode(1, owner=SAME_NAME_ELSEWHERE))
        assert not await store.put_summary(OWNER, episode_id(1), "too early")
        async with store.claim_pending(limit=10, now=NOW) as batch:
            found = [Assessment(importance=0.5, summary="chosen")] * len(batch.episodes)
            await batch.mark_active(batch.episodes, [1] * len(batch.episodes), assessments=found)
        revision = (await store.changes(OWNER, since=0, limit=10)).revision

        assert await store.put_summary(OWNER, episode_id(1), "written")
        assert not await store.put_summary(OWNER, episode_id(9), "of nothing")

        stored = await store.get(OWNER, [episode_id(1), episode_id(2)])
        assert [stored[episode_id(n)].summary for n in (1, 2)] == ["written", "chosen"]
        assert (await store.get(SAME_NAME_ELSEWHERE, [episode_id(1)]))[episode_id(1)].summary == "chosen"
        assert (await store.changes(OWNER, since=0, limit=10)).revision == revision, "no cache holds summaries"

    async def test_spec_2_5_an_importance_that_is_not_scored_yet_is_unset(self, store: EpisodeStore) -> None:
        await insert(store, new_episode(1, importance=None))
        assert (await store.get(OWNER, [episode_id(1)]))[episode_id(1)].content.importance is None

    async def test_spec_2_7_accesses_add_up_across_tenants(self, store: EpisodeStore) -> None:
        await insert(store, new_episode(1))
        await insert(store, new_episode(1, owner=SAME_NAME_ELSEWHERE))

        def access(owner: Owner, count: int, hours: int) -> AccessCount:
            return AccessCount(owner=owner, episode_id=episode_id(1), count=count, last_time=later(hours=hours))

        await store.add_accesses([access(OWNER, 2, 5), access(SAME_NAME_ELSEWHERE, 7, 1)])
        await store.add_accesses([access(OWNER, 1, 4)])

        mine = (await store.get(OWNER, [episode_id(1)]))[episode_id(1)]
        assert (mine.access_count, mine.last_access_time) == (3, later(hours=5))
        theirs = (await store.get(SAME_NAME_ELSEWHERE, [episode_id(1)]))[episode_id(1)]
        assert theirs.access_count == 7

    async def test_spec_6_5_a_small_tenant_has_the_next_claim_whatever_another_restores(
        self, store: EpisodeStore
    ) -> None:
        await insert(store, *(new_episode(number) for number in range(1, 30)))
        await insert(store, new_episode(40, owner=SAME_NAME_ELSEWHERE))
        claims = []
        for _ in range(4):
            async with store.claim_pending(limit=4, now=NOW) as batch:
                claims.append([pending.owner for pending in batch.episodes])
        small = [number for number, claim in enumerate(claims) if SAME_NAME_ELSEWHERE in claim]
        assert small[0] <= 1  # the second claim at the latest, though 29 episodes were there before it
        assert all(len(claim) == 4 for claim in claims)
        assert all(OWNER in claim for claim in claims)

    async def test_spec_6_5_two_workers_claim_no_episode_twice(self, store: EpisodeStore) -> None:
        await insert(store, *(new_episode(number) for number in range(1, 7)))
        async with store.claim_pending(limit=4, now=NOW) as one, store.claim_pending(limit=4, now=NOW) as two:
            claimed = [pending.episode_id for batch in (one, two) for pending in batch.episodes]
        assert len(claimed) == len(set(claimed)) == 6

    async def test_pending_episodes_come_with_what_indexing_needs(self, store: EpisodeStore) -> None:
        episode = new_episode(
            1, query="look", response="nice", attachments=(Attachment("u", "", "a dog"),), scope_key="2\x1fp"
        )
        await insert(store, episode)

        async with store.claim_pending(limit=10, now=NOW) as batch:
            (claimed,) = batch.episodes

        assert claimed.text == episode.text
        assert (claimed.owner, claimed.key, claimed.scope_key) == (OWNER, episode.key, "2\x1fp")
        assert (claimed.time, claimed.attempts) == (episode.time, 0)

    async def test_two_workers_never_hold_the_same_episode(self, store: EpisodeStore) -> None:
        await insert(store, *(new_episode(number) for number in range(1, 6)))

        async with (
            store.claim_pending(limit=3, now=NOW) as first,
            store.claim_pending(limit=10, now=NOW) as second,
        ):
            assert len(first.episodes) == 3
            assert len(second.episodes) == 2
            assert not {e.episode_id for e in first.episodes} & {e.episode_id for e in second.episodes}

    async def test_a_claim_that_fails_is_given_back(self, store: EpisodeStore) -> None:
        await insert(store, new_episode(1))

        async def break_down() -> None:
            async with store.claim_pending(limit=10, now=NOW) as batch:
                await batch.mark_active(batch.episodes, [1] * len(batch.episodes))
                raise RuntimeError("the worker broke")

        with pytest.raises(RuntimeError, match="the worker broke"):
            await break_down()

        assert await activate(store) == 1

    async def test_a_deferred_episode_waits_for_its_time(self, store: EpisodeStore) -> None:
        await insert(store, new_episode(1), new_episode(2))
        async with store.claim_pending(limit=10, now=NOW) as batch:
            await batch.defer(batch.episodes[0], until=later(days=31))
            await batch.mark_active(batch.episodes[1:], [1])

        assert await activate(store) == 0
        async with store.claim_pending(limit=10, now=later(days=31)) as batch:
            assert [episode.attempts for episode in batch.episodes] == [1]

    async def test_episodes_of_another_model_become_pending_again(self, store: EpisodeStore) -> None:
        await insert(store, new_episode(1))
        await activate(store)

        assert await store.reset_episodes(OWNER, kept_model="model-a", after=None, limit=10) == []
        assert not await store.is_indexing_again(OWNER)
        assert await store.reset_episodes(OWNER, kept_model="model-b", after=None, limit=10) == [episode_id(1)]
        statuses = await store.statuses(OWNER, [episode_id(1)])
        assert statuses == {episode_id(1): EpisodeStatus.PENDING_EMBEDDING}
        assert await store.is_indexing_again(OWNER)

    async def test_episodes_are_reset_in_parts_each_once(self, store: EpisodeStore) -> None:
        await insert(store, *(new_episode(number) for number in range(1, 6)))
        await activate(store)

        first = await store.reset_episodes(OWNER, kept_model=None, after=None, limit=3)
        await activate(store)
        second = await store.reset_episodes(OWNER, kept_model=None, after=max(first), limit=3)

        assert sorted([*first, *second]) == sorted(episode_id(number) for number in range(1, 6))
        assert (len(first), len(second)) == (3, 2)

    async def test_what_an_index_should_hold_is_known_by_owner(self, store: EpisodeStore) -> None:
        other = Owner(OWNER.tenant_id, UserId("zoe"))
        await insert(store, new_episode(1), new_episode(2))
        await insert(store, new_episode(3, owner=other))
        async with store.claim_pending(limit=10, now=NOW) as batch:
            await batch.mark_active(batch.episodes, [3] * len(batch.episodes))

        states = await store.index_states("model-a", after=None, limit=10)
        assert [(s.owner, s.other_episodes, s.piece_count) for s in states] == [(OWNER, 0, 6), (other, 0, 3)]
        assert await store.index_states("model-a", after=None, limit=10, only=other) == states[1:]
        assert await store.index_states("model-a", after=other, limit=10, only=other) == []
        states = await store.index_states("model-b", after=OWNER, limit=1)
        assert [(s.owner, s.other_episodes, s.piece_count) for s in states] == [(other, 1, 0)]

    async def test_spec_2_11_what_an_index_should_hold_is_known_by_place(self, store: EpisodeStore) -> None:
        counted, pending = new_episode(1), new_episode(2)
        await insert(store, counted)
        await insert(store, new_episode(1, owner=SAME_NAME_ELSEWHERE))
        async with store.claim_pending(limit=10, now=NOW) as batch:
            await batch.mark_active(batch.episodes, [3] * len(batch.episodes))
        await insert(store, pending)
        elsewhere = new_episode(1, owner=SAME_NAME_ELSEWHERE)
        places = [
            (OWNER, new_episode(9).key),
            (OWNER, pending.key),
            (SAME_NAME_ELSEWHERE, elsewhere.key),
            (SAME_NAME_ELSEWHERE, counted.key),
            (Owner(TenantId("nobody"), UserId("nobody")), counted.key),
            (OWNER, counted.key),
        ]

        found = await store.expected_episodes("model-a", places)
        of_another = await store.expected_episodes("model-b", places)

        first = ExpectedEpisode(episode_id=episode_id(1), piece_count=3)
        unknown = ExpectedEpisode(episode_id=episode_id(2), piece_count=None)
        assert found == [None, unknown, first, None, None, first]
        assert [None if e is None else e.piece_count for e in of_another] == [None] * 6
        assert [e is None for e in of_another] == [e is None for e in found]
        assert await store.expected_episodes("model-a", []) == []

    async def test_spec_2_11_named_episodes_that_are_active_become_pending_again(self, store: EpisodeStore) -> None:
        await insert(store, new_episode(1), new_episode(2))
        await activate(store)
        await insert(store, new_episode(3))

        assert await store.reset_listed(OWNER, [episode_id(n) for n in (1, 3, 4)]) == [episode_id(1)]
        assert await store.reset_listed(SAME_NAME_ELSEWHERE, [episode_id(2)]) == []
        found = await store.statuses(OWNER, [episode_id(1), episode_id(2)])
        assert list(map(found.get, map(episode_id, (1, 2)))) == [EpisodeStatus.PENDING_EMBEDDING, EpisodeStatus.ACTIVE]
