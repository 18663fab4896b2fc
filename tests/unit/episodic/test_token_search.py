"""Which candidates are compared word by word, what is read, and what becomes of failures."""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from uuid import UUID

import numpy as np
import pytest

from services.common.cache import OwnerCache
from services.common.embedding.tokens import TokenVectors
from services.common.errors import DeadlineExceeded, StoreUnavailable
from services.episodic.candidates import Candidates
from services.episodic.columns import EpisodeColumns
from services.episodic.config import TokenSettings
from services.episodic.model import EpisodeId, EpisodeKey, Owner, TenantId, UserId
from services.episodic.token_cache import TokenCache
from services.episodic.token_format import pack
from services.episodic.token_search import TokenSearch
from services.episodic.token_store import EpisodeName, UntokenedBatch
from tests.support.embedding import HashingEmbedder

OWNER = Owner(TenantId("acme"), UserId("ann"))
OTHER = Owner(TenantId("acme"), UserId("bob"))
EMBEDDER = HashingEmbedder()
SPACE = EMBEDDER.tokens
assert SPACE is not None
TOKEN_BYTES = SPACE.dimension + 2


class MemoryTokenStore:
    """A `TokenStore` of texts, which writes down what it is asked for."""

    def __init__(self, texts: dict[int, str]) -> None:
        self.texts = texts
        self.asked: list[list[int]] = []
        self.ahead: list[list[int]] = []
        self.error: Exception | None = None
        self.damaged: set[int] = set()
        self.answers: asyncio.Event | None = None

    async def tokens(self, owner: Owner, episode_ids: Sequence[EpisodeId], *, model: str) -> dict[EpisodeId, bytes]:
        assert SPACE is not None
        self.asked.append([episode_id.int for episode_id in episode_ids])
        if self.answers is not None:
            await self.answers.wait()
        if self.error is not None:
            raise self.error
        if model != SPACE.fingerprint or owner != OWNER:
            return {}
        return {name: self._packed(name.int) for name in episode_ids if name.int in self.texts}

    def _packed(self, key: int) -> bytes:
        assert SPACE is not None
        found = EMBEDDER.token_vectors(self.texts[key])
        assert found is not None
        data = pack(SPACE, [found])
        return data[:-1] if key in self.damaged else data

    async def newest_tokens(
        self, owner: Owner, *, model: str, before: EpisodeId | None, limit: int
    ) -> list[tuple[EpisodeId, bytes]]:
        keys = [key for key in sorted(self.texts, reverse=True) if before is None or key < before.int]
        self.ahead.append(keys[:limit])
        assert SPACE is not None
        if model != SPACE.fingerprint or owner != OWNER:
            return []
        return [(EpisodeId(UUID(int=key)), self._packed(key)) for key in keys[:limit]]

    def claim_untokened(
        self, model: str, *, after: EpisodeName | None, scan_limit: int, limit: int
    ) -> AbstractAsyncContextManager[UntokenedBatch]:
        raise NotImplementedError


def name(key: int) -> bytes:
    return key.to_bytes(16, "big")


def found(texts: dict[int, str], scores: dict[int, float] | None = None) -> Candidates:
    dense = [(scores or {}).get(key, 0.0) for key in texts]
    count = len(texts)
    return Candidates(
        columns=EpisodeColumns(
            keys=[EpisodeKey(key) for key in texts],
            episode_ids=[name(key) for key in texts],
            conversation_ids=["s"] * count,
            positions=list(texts),
            speakers=[""] * count,
            times=[0.0] * count,
            lengths=[len(text) for text in texts.values()],
            traits=[0] * count,
            feedbacks=[0] * count,
            importances=[0.5] * count,
        ),
        dense_scores=dense,
        lexical_scores=[0.0] * count,
        dense_ranks=[0] * count,
        lexical_ranks=[0] * count,
    )


def question(text: str) -> TokenVectors:
    tokens = EMBEDDER.token_vectors(text)
    assert tokens is not None
    return tokens


def search(store: MemoryTokenStore, **settings: float) -> TokenSearch:
    assert SPACE is not None
    return TokenSearch(store, SPACE, OwnerCache(), replace(TokenSettings(), **settings))  # type: ignore[arg-type]


TEXTS = {1: "a red harbour", 2: "the quick ship. a harbour!", 3: "nothing of that kind"}


async def test_spec_5_4_words_are_compared_and_read_once() -> None:
    store = MemoryTokenStore(TEXTS)
    searched = search(store)
    first = await searched.scores(OWNER, question("harbour ship"), found(TEXTS))
    again = await searched.scores(OWNER, question("harbour ship"), found(TEXTS))
    assert first is not None
    assert again is not None
    assert first.present.tolist() == [True, True, True]
    assert (first.token_scores > 0.98).tolist() == [[True, True, False], [False, True, False]]
    assert first.frequencies.tolist() == [2, 1]
    np.testing.assert_array_equal(again.token_scores, first.token_scores)
    assert store.asked == [[1, 2, 3]]


async def test_only_what_is_missing_is_read() -> None:
    store = MemoryTokenStore(TEXTS)
    searched = search(store)
    await searched.scores(OWNER, question("ship"), found({2: TEXTS[2]}))
    await searched.scores(OWNER, question("ship"), found(TEXTS))
    assert [sorted(keys) for keys in store.asked] == [[2], [1, 3]]


async def test_what_has_no_token_vectors_yet_is_asked_for_again() -> None:
    store = MemoryTokenStore({1: TEXTS[1]})
    searched = search(store)
    first = await searched.scores(OWNER, question("ship harbour"), found(TEXTS))
    assert first is not None
    assert first.present.tolist() == [True, False, False]
    assert not first.token_scores[:, 1:].any()
    store.texts = TEXTS
    second = await searched.scores(OWNER, question("ship harbour"), found(TEXTS))
    assert second is not None
    assert second.present.all()


async def test_the_best_candidates_are_compared_within_the_bound_on_bytes() -> None:
    texts = dict.fromkeys(range(1, 6), "eight wo")  # 8 characters count as 3 tokens
    store = MemoryTokenStore(texts)
    candidates = found(texts, {1: 0.1, 2: 0.9, 3: 0.5, 4: 0.9, 5: 0.2})
    for room, expected in ((3, [2, 3, 4]), (1, [2]), (0, []), (99, [1, 2, 3, 4, 5])):
        scores = await search(store, search_bytes_max=room * 3 * TOKEN_BYTES).scores(OWNER, question("wo"), candidates)
        assert scores is not None
        assert [key for key, is_there in zip(texts, scores.present, strict=True) if is_there] == expected


async def test_the_bound_does_not_depend_on_what_is_in_memory() -> None:
    texts = dict.fromkeys(range(1, 6), "eight wo")
    searched = search(MemoryTokenStore(texts), search_bytes_max=2 * 3 * TOKEN_BYTES)
    warm = {key: texts[key] for key in (4, 5)}
    await searched.scores(OWNER, question("wo"), found(warm))
    scores = await searched.scores(OWNER, question("wo"), found(texts))
    assert scores is not None
    assert scores.present.tolist() == [True, True, False, False, False]


async def test_long_questions_are_cut() -> None:
    scores = await search(MemoryTokenStore(TEXTS), query_tokens_max=3).scores(
        OWNER, question("one two three four"), found(TEXTS)
    )
    assert scores is not None
    assert scores.token_scores.shape == (3, 3)


async def test_questions_of_another_space_say_nothing() -> None:
    store = MemoryTokenStore(TEXTS)
    tokens = question("ship")
    other = TokenVectors("another", tokens.ids, tokens.vectors)
    assert await search(store).scores(OWNER, other, found(TEXTS)) is None
    assert await search(store).scores(OWNER, question(""), found(TEXTS)) is None
    assert await search(store).scores(OWNER, tokens, found({})) is None
    assert store.asked == []


@pytest.mark.parametrize("error", [StoreUnavailable("postgres"), DeadlineExceeded("late")])
async def test_a_store_that_fails_leaves_no_scores(error: Exception) -> None:
    store = MemoryTokenStore(TEXTS)
    store.error = error
    searched = search(store)
    assert await searched.scores(OWNER, question("ship"), found(TEXTS)) is None
    store.error = None
    assert await searched.scores(OWNER, question("ship"), found(TEXTS)) is not None


async def test_a_store_that_hangs_leaves_no_scores() -> None:
    store = MemoryTokenStore(TEXTS)
    store.answers = asyncio.Event()
    assert await search(store, read_timeout_seconds=0.01).scores(OWNER, question("ship"), found(TEXTS)) is None


async def test_damaged_token_vectors_are_as_good_as_none() -> None:
    store = MemoryTokenStore(TEXTS)
    store.damaged = {2}
    scores = await search(store).scores(OWNER, question("ship"), found(TEXTS))
    assert scores is not None
    assert scores.present.tolist() == [True, False, True]


async def test_a_text_without_a_word_has_no_token_vectors() -> None:
    store = MemoryTokenStore({1: "", 2: TEXTS[2]})
    scores = await search(store).scores(OWNER, question("ship"), found(TEXTS))
    assert scores is not None
    assert scores.present.tolist() == [False, True, False]
    assert await search(MemoryTokenStore({1: ""})).scores(OWNER, question("ship"), found({1: ""})) is not None


async def test_what_does_not_fit_is_read_each_time() -> None:
    assert SPACE is not None
    texts = {key: f"word{key} more" for key in range(1, 5)}
    store = MemoryTokenStore(texts)
    of_two = 2 * (len(store._packed(1)) + 150)
    cache = TokenCache(store, SPACE, OwnerCache(2 * of_two), TokenSettings())

    async def read(*keys: int) -> None:
        run, places = await cache.read(OWNER, [name(k) for k in keys])
        assert run is not None
        assert places == list(range(len(keys)))
        assert run.sizes.tolist() == [2] * len(keys)

    for keys in ((1, 2), (1,), (3,), (2,), (3,)):
        await read(*keys)
    assert store.asked == [[1, 2], [3], [3]]
    assert cache.cached_count == 2
    await read(1, 2, 3, 4)
    assert cache.cached_count == 2


async def test_what_an_active_owner_may_need_is_prefetched() -> None:
    assert SPACE is not None
    texts = {key: f"word{key}" for key in range(1, 501)}
    store = MemoryTokenStore(texts)
    cache = TokenCache(store, SPACE, OwnerCache(prefetch_after_misses=2), TokenSettings(prefetch_pause_seconds=0.0))
    await cache.read(OWNER, [name(1)])
    await cache.read(OWNER, [name(1)])  # a hit
    await cache.settle()
    assert store.ahead == []
    await cache.read(OWNER, [name(2)])
    await cache.settle()
    assert [keys[0] for keys in store.ahead] == [500, 300, 100]
    assert cache.cached_count == 500
    _, places = await cache.read(OWNER, [name(key) for key in texts])
    assert len(places) == 500
    assert store.asked == [[1], [2]]
    await cache.aclose()


async def test_of_what_does_not_fit_the_newest_are_prefetched_and_ever_less_often() -> None:
    assert SPACE is not None
    store = MemoryTokenStore({key: f"word{key}" for key in range(1, 11)})
    of_three = 3 * (len(store._packed(1)) + 150)
    cache = TokenCache(
        store, SPACE, OwnerCache(2 * of_three, prefetch_after_misses=1), TokenSettings(prefetch_pause_seconds=0.0)
    )
    for key in range(20, 30):  # which do not exist: every search has to read
        await cache.read(OWNER, [name(key)])
        await cache.settle()
    assert len(store.ahead) == 4  # after 1, 2, 4, and 8 of them
    _, places = await cache.read(OWNER, [name(key) for key in (10, 9, 8)])
    assert places == [0, 1, 2]
    assert store.asked[-1] == [29], "they are cached"
    await cache.aclose()


async def test_what_is_forgotten_is_read_again() -> None:
    assert SPACE is not None
    store = MemoryTokenStore(TEXTS)
    cache = TokenCache(store, SPACE, OwnerCache(), TokenSettings())
    await cache.read(OWNER, [name(1)])
    cache.forget(OWNER)
    assert cache.cached_count == 0
    await cache.read(OWNER, [name(1)])
    assert store.asked == [[1], [1]]


async def test_spec_7_1_memory_is_not_shared_between_owners() -> None:
    assert SPACE is not None
    cache = TokenCache(MemoryTokenStore(TEXTS), SPACE, OwnerCache(), TokenSettings())
    assert (await cache.read(OWNER, [name(1)]))[1] == [0]
    assert await cache.read(OTHER, [name(1)]) == (None, [])
