"""Two embedding models compared on texts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from services.common.embedding.vectors import Matrix
from services.common.errors import FailedPrecondition
from services.common.model_change import ModelChangeSettings
from services.common.model_comparison import ComparedQuestion, ComparedText, ComparedTexts, TextComparer, compare_hits
from services.common.owners import Owner, TenantId, UserId
from services.common.tier_embedder import TierEmbedder
from tests.support.embedding import HashingEmbedder

ANN = Owner(TenantId("acme"), UserId("ann"))
BOB = Owner(TenantId("acme"), UserId("bob"))


def texts(count: int) -> ComparedTexts:
    return ComparedTexts([ComparedText(f"id{n}", f"text number{n} word{n}") for n in range(count)], is_truncated=False)


def test_spec_8_4_overlap_and_recall_are_shares() -> None:
    compared = compare_hits({1, 2, 3, 4}, {3, 4, 5}, {4, 5})
    assert (compared.overlap, compared.first_recall, compared.second_recall) == (0.5, 0.5, 1.0)
    assert compare_hits(set[int](), set[int](), set[int]()).overlap == 1.0
    assert compare_hits({1}, {2}, set[int]()).first_recall is None


async def test_spec_8_4_further_questions_about_the_same_texts_embed_no_text_again() -> None:
    first, second = HashingEmbedder(64), HashingEmbedder(32, "second")
    comparer = TextComparer(TierEmbedder(first), TierEmbedder(second), ModelChangeSettings(batch_max=4))
    questions = [ComparedQuestion("word3", ["id3", "unknown"])]
    for _ in range(2):
        found = await comparer.compare(ANN, texts(30), questions)
        assert (found.compared, found.questions[0].first_recall) == (30, 1.0)
    assert (len(first.documents), len(second.documents)) == (30, 30)
    assert len(first.queries) == 2
    await comparer.compare(ANN, texts(31), questions)
    await comparer.compare(BOB, texts(31), questions)
    assert len(second.documents) == 30 + 31 + 31


async def test_spec_8_4_without_texts_nothing_is_found() -> None:
    comparer = TextComparer(
        TierEmbedder(HashingEmbedder()), TierEmbedder(HashingEmbedder(32, "second")), ModelChangeSettings()
    )
    found = await comparer.compare(ANN, texts(0), [ComparedQuestion("word3", ["id3"])])
    assert (found.compared, found.questions[0].overlap, found.questions[0].first_recall) == (0, 1.0, None)


async def test_spec_8_4_one_comparison_runs_at_a_time() -> None:
    running, most = 0, 0

    class Counting(HashingEmbedder):
        async def embed_documents(self, texts: Sequence[str]) -> Matrix:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0)
            running -= 1
            return await super().embed_documents(texts)

    comparer = TextComparer(TierEmbedder(Counting()), TierEmbedder(Counting(32, "second")), ModelChangeSettings())
    await asyncio.gather(*(comparer.compare(owner, texts(5), [ComparedQuestion("word1")]) for owner in (ANN, BOB)))
    assert most == 1


async def test_spec_8_4_without_a_second_model_nothing_is_compared() -> None:
    comparer = TextComparer(TierEmbedder(HashingEmbedder()), None, ModelChangeSettings())
    with pytest.raises(FailedPrecondition, match="MNEME_EMBEDDING_SECOND_MODEL_DIR"):
        await comparer.compare(ANN, texts(1), [ComparedQuestion("word3")])
