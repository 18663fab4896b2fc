"""The embedded index against a dictionary of pieces and plain arithmetic."""

import asyncio
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.episodic.model import EpisodeKey, Owner, TenantId, UserId, episode_key
from services.episodic.store import IndexedPiece, IndexQuery
from services.episodic.stores.edge import EdgeEpisodeIndex
from tests.contract.episode_samples import later
from tests.support.embedding import HashingEmbedder
from tests.support.examples import share_of

EMBEDDER = HashingEmbedder(16)
OWNERS = [Owner(TenantId(tenant), UserId(user)) for tenant in ("a", "b") for user in ("x", "y")]
WORDS = ["harbour", "violin", "coffee", "garden"]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)

Name = tuple[Owner, int, int]
puts = st.tuples(
    st.just("put"), st.sampled_from(OWNERS), st.integers(0, 8), st.integers(0, 2), TEXTS, st.sampled_from("12")
)
removals = st.tuples(
    st.just("remove"), st.sampled_from(OWNERS), st.integers(0, 8), st.just(0), st.just(""), st.just("")
)


@settings(max_examples=share_of(25), deadline=None)
@given(steps=st.lists(st.one_of(puts, removals), max_size=40), text=TEXTS, limit=st.integers(1, 12))
def test_scores_are_those_of_a_brute_force_search(
    steps: list[tuple[str, Owner, int, int, str, str]], text: str, limit: int
) -> None:
    asyncio.run(_check(steps, text, limit))


async def _check(steps: list[tuple[str, Owner, int, int, str, str]], text: str, limit: int) -> None:
    model: dict[Name, tuple[str, str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        index = await EdgeEpisodeIndex.open(Path(folder), model="m", dimension=16)
        for kind, owner, position, number, piece_text, scope_key in steps:
            key = episode_key(owner, "s", position)
            if kind == "put":
                model[owner, position, number] = (piece_text, scope_key)
                vector = EMBEDDER.vector(piece_text)
                await index.put(
                    [
                        IndexedPiece(
                            owner=owner,
                            key=key,
                            number=number,
                            text=piece_text,
                            vector=vector,
                            scope_key=scope_key,
                            time=later(),
                        )
                    ]
                )
            else:
                model = {name: value for name, value in model.items() if name[:2] != (owner, position)}
                await index.remove(owner, [key])
        for owner in OWNERS:
            for scope_keys in (("1",), ("1", "2")):
                await _compare(index, model, owner, scope_keys, text, limit)
        await index.aclose()


async def _compare(
    index: EdgeEpisodeIndex,
    model: dict[Name, tuple[str, str]],
    owner: Owner,
    scope_keys: tuple[str, ...],
    text: str,
    limit: int,
) -> None:
    vector = EMBEDDER.vector(text)
    cosines: dict[EpisodeKey, float] = {}
    sharing: set[EpisodeKey] = set()
    for (piece_owner, position, _), (piece_text, scope_key) in model.items():
        if piece_owner == owner and scope_key in scope_keys:
            key = episode_key(owner, "s", position)
            score = float(np.dot(EMBEDDER.vector(piece_text), vector))
            cosines[key] = max(score, cosines.get(key, -2.0))
            if set(piece_text.split()) & set(text.split()):
                sharing.add(key)

    query = IndexQuery(owner=owner, text=text, vector=vector, scope_keys=scope_keys)
    found = await index.search(query, limit=limit)

    expected = sorted(cosines.values(), reverse=True)[:limit]
    assert list(found.dense.values()) == pytest.approx(expected, abs=1e-5)
    for key, score in found.dense.items():
        assert score == pytest.approx(cosines[key], abs=1e-5)
    assert set(found.lexical) <= sharing
    assert len(found.lexical) == min(limit, len(sharing))
    assert not found.dense_complete or set(found.dense) == set(cosines)
    assert not found.lexical_complete or set(found.lexical) == sharing
    keys = list(cosines)
    exact = await index.score(query, dense=keys, lexical=keys)
    assert exact.dense == pytest.approx(cosines, abs=1e-5)
    assert {key: exact.lexical[key] for key in found.lexical} == pytest.approx(dict(found.lexical), abs=1e-5)
