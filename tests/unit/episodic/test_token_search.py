"""Which candidates are compared word by word, what is read, and what becomes of failures."""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.embedding.tokens import TokenVectors
from services.common.errors import DeadlineExceeded, StoreUnavailable
from services.episodic.candidates import Candidates
from services.episodic.config import TokenSettings
from services.episodic.late_interaction import TokenRun
from services.episodic.model import EpisodeId, EpisodeKey, Owner, TenantId, UserId
from services.episodic.store import EpisodeColumns
from services.episodic.token_cache import TokenCache, TokenRing
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
            session_ids=["s"] * count,
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
    return TokenSearch(store, SPACE, replace(TokenSettings(), **settings))  # type: ignore[arg-type]


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


async def test_memory_is_bounded_and_the_newest_overwrite_the_oldest() -> None:
    assert SPACE is not None
    texts = {key: f"word{key} more" for key in range(1, 5)}
    store = MemoryTokenStore(texts)
    room = 2 * 2 * (TOKEN_BYTES + 1) + 1
    cache = TokenCache(store, SPACE, TokenSettings(cache_bytes_max=room, ahead_bytes_max=0))

    async def read(*keys: int) -> None:
        run, places = await cache.read(OWNER, [name(k) for k in keys])
        assert run is not None
        assert sorted(places) == list(range(len(keys)))
        assert run.sizes.tolist() == [2] * len(keys)

    for keys in ((1, 2), (1,), (3,), (2,), (1,)):
        await read(*keys)
    assert store.asked == [[1, 2], [3], [1]]
    assert cache.kept_count == 2
    await read(1, 2, 3, 4)  # more than there is room for: answered all the same
    assert cache.kept_count == 2


async def test_what_an_owner_who_asks_again_may_need_is_read_ahead() -> None:
    assert SPACE is not None
    texts = {key: f"word{key}" for key in range(1, 501)}
    store = MemoryTokenStore(texts)
    cache = TokenCache(store, SPACE, TokenSettings(ahead_after_reads=2, ahead_pause_seconds=0.0))
    await cache.read(OWNER, [name(1)])
    await cache.read(OWNER, [name(1)])  # it is there
    await cache.settle()
    assert store.ahead == []
    await cache.read(OWNER, [name(2)])
    await cache.settle()
    assert [keys[0] for keys in store.ahead] == [500, 300, 100]
    assert cache.kept_count == 500
    _, places = await cache.read(OWNER, [name(key) for key in texts])
    assert len(places) == 500
    assert store.asked == [[1], [2]]
    await cache.aclose()


async def test_only_so_much_is_read_ahead_and_less_and_less_often() -> None:
    assert SPACE is not None
    store = MemoryTokenStore({key: f"word{key}" for key in range(1, 11)})
    packed_bytes = len(store._packed(1))
    settings = TokenSettings(ahead_after_reads=1, ahead_bytes_max=3 * packed_bytes, ahead_pause_seconds=0.0)
    cache = TokenCache(store, SPACE, settings)
    for key in range(20, 30):  # which are nowhere: every search has to read
        await cache.read(OWNER, [name(key)])
        await cache.settle()
    assert len(store.ahead) == 4  # after 1, 2, 4, and 8 of them
    assert cache.kept_count == 3
    await cache.aclose()


async def test_spec_7_1_memory_is_not_shared_between_owners() -> None:
    assert SPACE is not None
    cache = TokenCache(MemoryTokenStore(TEXTS), SPACE, TokenSettings())
    assert (await cache.read(OWNER, [name(1)]))[1] == [0]
    assert await cache.read(OTHER, [name(1)]) == (None, [])


@given(
    st.lists(st.integers(1, 7), min_size=10, max_size=10),
    st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=4, unique=True), max_size=40),
    st.integers(0, 24),
)
def test_a_ring_gives_back_what_was_put_or_nothing(sizes: list[int], puts: list[list[int]], room: int) -> None:
    ring = TokenRing(2, token_count=room)
    runs = [
        TokenRun(
            np.arange(10 * key, 10 * key + size, dtype=np.uint16),
            np.full((size, 2), key, np.uint8),
            np.arange(size) == 0,
            np.array([size], np.int64),
        )
        for key, size in enumerate(sizes)
    ]
    for keys in puts:
        ring.put([name(key) for key in keys], TokenRun.joined([runs[key] for key in keys]))
        assert (name(keys[-1]) in ring) == (sizes[keys[-1]] <= room)
    found, places = ring.gather([name(key) for key in range(10)])
    assert len(places) == len(ring)
    assert sum(sizes[key] for key in places) <= room
    if found is not None:
        expected = TokenRun.joined([runs[key] for key in places])
        for field in ("ids", "vectors", "begins", "sizes"):
            np.testing.assert_array_equal(getattr(found, field), getattr(expected, field))
