from __future__ import annotations

import numpy as np
import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st

from services.common.embedding.embedder import Embedder
from services.episodic.importance import Factor, ImportanceScorer, ImportanceSettings, load_prototypes
from tests.support.embedding import HashingEmbedder
from tests.support.utterances import utterances

LETTERS = {Factor.EMOTION: "e", Factor.PERSONAL: "p", Factor.DECISION: "d"}


@pytest_asyncio.fixture(loop_scope="session")
async def scorer(embedder: Embedder) -> ImportanceScorer:
    found = ImportanceScorer(embedder)
    await found.prepare()
    return found


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize("factor", Factor)
async def test_spec_2_5_factors_are_found_in_labelled_utterances(
    factor: Factor, scorer: ImportanceScorer, embedder: Embedder
) -> None:
    labelled = [u for u in utterances() if u.is_gated or u.kinds & {"n", LETTERS[factor]}]
    vectors = await embedder.embed_documents([u.text for u in labelled])
    found = [scorer.factors(u.text, [v])[factor] >= 0.5 for u, v in zip(labelled, vectors, strict=True)]
    right = sum(is_found and LETTERS[factor] in u.kinds for u, is_found in zip(labelled, found, strict=True))
    assert right / sum(found) >= 0.8
    assert right / sum(LETTERS[factor] in u.kinds for u in labelled) >= 0.85


@pytest.mark.asyncio(loop_scope="session")
async def test_spec_2_5_a_prototype_finds_what_no_rule_lists(scorer: ImportanceScorer, embedder: Embedder) -> None:
    text = "There is this weight on my chest that will not lift."
    (vector,) = await embedder.embed_documents([text])
    assert scorer.factors(text, [])[Factor.EMOTION] == 0.0
    assert scorer.factors(text, [vector])[Factor.EMOTION] > 0.5


async def test_spec_2_5_importance_is_the_weighted_sum_of_its_factors() -> None:
    scorer = ImportanceScorer(HashingEmbedder(), ImportanceSettings(by_rule=1.0))
    assert scorer.score("The shop opens early.", []) == pytest.approx(0.3)
    assert scorer.score("I am heartbroken.", []) == pytest.approx(0.6)
    assert scorer.score("My sister lives there.", []) == pytest.approx(0.5)
    assert scorer.score("We decided against it.", []) == pytest.approx(0.5)
    assert scorer.score("I am heartbroken, my sister and I decided to sell.", []) == pytest.approx(1.0)


@given(st.text(max_size=300), st.integers(0, 2**31))
async def test_spec_2_5_importance_is_in_bounds(text: str, seed: int) -> None:
    scorer = ImportanceScorer(HashingEmbedder(), ImportanceSettings(base=0.9))
    await scorer.prepare()
    vector = np.random.default_rng(seed).normal(size=64).astype(np.float32)
    assert 0.9 <= scorer.score(text, [vector / np.linalg.norm(vector)]) <= 1.0


async def test_spec_2_5_prototypes_are_embedded_once() -> None:
    embedder = HashingEmbedder()
    scorer = ImportanceScorer(embedder)
    await scorer.prepare()
    await scorer.prepare()
    assert len(embedder.documents) == sum(map(len, load_prototypes().values()))


def test_spec_2_5_prototypes_and_labelled_utterances_have_nothing_in_common() -> None:
    prototypes = {text for texts in load_prototypes().values() for text in texts}
    assert not prototypes & {utterance.text for utterance in utterances()}
