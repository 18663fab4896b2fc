"""What every `EpisodeStore` must do with token vectors."""

from functools import partial

import pytest

from services.episodic.model import EpisodeStatus, Owner, UserId
from services.episodic.store import EpisodeStore
from services.episodic.token_format import PackedTokens
from services.episodic.token_store import EpisodeName
from tests.contract.episode_background import NOW, activate, insert
from tests.contract.episode_samples import OWNER, SAME_NAME_ELSEWHERE, TENANT, episode_id, new_episode

SPACE = "model-a+words"


def name(number: int, owner: Owner = OWNER) -> EpisodeName:
    return EpisodeName(owner, episode_id(number))


def packed(content: bytes, model: str = SPACE) -> PackedTokens:
    return PackedTokens(model, content)


async def activate_with(store: EpisodeStore, tokens: dict[EpisodeName, PackedTokens]) -> None:
    async with store.claim_pending(limit=1000, now=NOW) as batch:
        await batch.mark_active(batch.episodes, [1] * len(batch.episodes), tokens)


class EpisodeTokensContract:
    """See `EpisodeStoreContract`."""

    async def test_spec_5_4_token_vectors_come_with_becoming_active(self, store: EpisodeStore) -> None:
        await insert(store, *(new_episode(number) for number in range(1, 4)))
        long = bytes(range(256)) * 40_000  # 10 MB: in a statement of its own
        await activate_with(store, {name(1): packed(b"one"), name(2): packed(long)})

        keys = [name(number).episode_id for number in (3, 2, 1, 9)]
        assert await store.tokens(OWNER, keys, model=SPACE) == {name(1).episode_id: b"one", name(2).episode_id: long}
        assert await store.tokens(OWNER, [], model=SPACE) == {}

    async def test_token_vectors_are_read_ahead_from_the_newest_on(self, store: EpisodeStore) -> None:
        await insert(store, *(new_episode(number) for number in range(1, 6)))
        await activate_with(
            store, {name(1): packed(b"1"), name(3): packed(b"3"), name(4): packed(b"4"), name(5): packed(b"5", "old")}
        )
        read = partial(store.newest_tokens, OWNER, model=SPACE)
        assert await read(before=None, limit=2) == [(episode_id(4), b"4"), (episode_id(3), b"3")]
        assert await read(before=episode_id(3), limit=2) == [(episode_id(1), b"1")]
        assert await read(before=episode_id(1), limit=2) == []
        assert await store.newest_tokens(Owner(TENANT, UserId("bob")), model=SPACE, before=None, limit=2) == []

    async def test_token_vectors_of_another_model_are_none(self, store: EpisodeStore) -> None:
        await insert(store, new_episode(1))
        await activate_with(store, {name(1): packed(b"one")})
        assert await store.tokens(OWNER, [name(1).episode_id], model="model-b+words") == {}

    async def test_spec_7_1_nobody_else_reads_token_vectors(self, store: EpisodeStore) -> None:
        await insert(store, new_episode(1))
        await insert(store, new_episode(1, owner=SAME_NAME_ELSEWHERE))
        await activate_with(store, {name(1): packed(b"mine"), name(1, SAME_NAME_ELSEWHERE): packed(b"theirs")})

        keys = [episode_id(1)]
        assert await store.tokens(OWNER, keys, model=SPACE) == {name(1).episode_id: b"mine"}
        assert await store.tokens(Owner(TENANT, UserId("bob")), keys, model=SPACE) == {}

    async def test_nothing_is_kept_where_a_claim_fails(self, store: EpisodeStore) -> None:
        await insert(store, new_episode(1))

        async def break_down() -> None:
            async with store.claim_pending(limit=10, now=NOW) as batch:
                await batch.mark_active(batch.episodes, [1], {name(1): packed(b"one")})
                raise RuntimeError("killed")

        with pytest.raises(RuntimeError, match="killed"):
            await break_down()
        assert await store.tokens(OWNER, [name(1).episode_id], model=SPACE) == {}
        assert (await store.statuses(OWNER, [episode_id(1)]))[episode_id(1)] is EpisodeStatus.PENDING_EMBEDDING

    async def test_active_episodes_without_token_vectors_are_found_by_their_names(self, store: EpisodeStore) -> None:
        mine = [new_episode(number) for number in range(1, 8)]
        theirs = new_episode(1, owner=SAME_NAME_ELSEWHERE, query="elsewhere")
        await insert(store, *mine)
        await insert(store, theirs)
        await activate_with(store, {name(2): packed(b"two"), name(3): packed(b"old", "another model")})
        await insert(store, new_episode(9))  # pending: the indexer sees to it

        found: list[tuple[EpisodeName, str]] = []
        steps, after = 0, None
        while True:
            async with store.claim_untokened(SPACE, after=after, scan_limit=3, limit=2) as batch:
                assert batch.is_claimed
                assert len(batch.episodes) <= 2
                found += [(episode.name, episode.text) for episode in batch.episodes]
                after = batch.after
            steps += 1
            if after is None:
                break

        expected = {EpisodeName(e.owner, e.episode_id): e.text for e in (*mine, theirs) if e.query != mine[1].query}
        assert dict(found) == expected
        assert len(found) == len(expected)
        assert 4 <= steps <= 8

    async def test_token_vectors_are_made_up_for(self, store: EpisodeStore) -> None:
        await insert(store, *(new_episode(number) for number in range(1, 4)))
        await activate(store)
        gone = name(77)  # removed meanwhile
        async with store.claim_untokened(SPACE, after=None, scan_limit=10, limit=10) as batch:
            await batch.put({e.name: packed(e.text.encode()) for e in batch.episodes} | {gone: packed(b"")})

        keys = [name(number).episode_id for number in (1, 2, 3, 77)]
        assert set(await store.tokens(OWNER, keys, model=SPACE)) == set(keys[:3])
        async with store.claim_untokened(SPACE, after=None, scan_limit=10, limit=10) as batch:
            assert batch.episodes == []
        # A new model takes the place of the old one.
        async with store.claim_untokened("new", after=None, scan_limit=10, limit=10) as batch:
            await batch.put({e.name: packed(b"new", "new") for e in batch.episodes})
        assert set((await store.tokens(OWNER, keys, model="new")).values()) == {b"new"}
        assert await store.tokens(OWNER, keys, model=SPACE) == {}

    async def test_one_worker_at_a_time_makes_up_for_them(self, store: EpisodeStore) -> None:
        await insert(store, new_episode(1))
        await activate(store)
        async with store.claim_untokened(SPACE, after=None, scan_limit=10, limit=10) as first:
            async with store.claim_untokened(SPACE, after=name(1), scan_limit=10, limit=10) as second:
                assert (second.is_claimed, second.after, list(second.episodes)) == (False, name(1), [])
            assert [episode.name for episode in first.episodes] == [name(1)]
        async with store.claim_untokened(SPACE, after=None, scan_limit=10, limit=10) as third:
            assert third.is_claimed
