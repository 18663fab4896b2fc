"""Token vectors on their way from the question to the columns of evidence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mneme.episodic.internal.v1 import episodic_internal_pb2
from services.common.convert import token_vectors_from_proto, token_vectors_to_proto
from services.gateway.recall.columns import EpisodeColumns
from services.gateway.recall.settings import RecallSettings
from services.gateway.recall.stages.coarse_search import CoarseSearch
from tests.support.embedding import HashingEmbedder
from tests.unit.gateway.recall.test_coarse import QUERY, VECTOR
from tests.unit.gateway.recall.test_pipeline import QUERY as ASKED
from tests.unit.gateway.recall.test_pipeline import answering_tiers, pipeline
from tests.unit.gateway.tiers import ADA, FakeTiers, candidates, sessions

TOKENS = HashingEmbedder().token_vectors("live where")
assert TOKENS is not None
MESSAGE = token_vectors_to_proto(TOKENS)


def answer(**changed: Any) -> episodic_internal_pb2.SearchCandidatesResponse:
    response = candidates([1, 2, 3])
    values: dict[str, Any] = {
        "token_scores": np.array([[0.9, 0.0, 0.5], [0.25, 0.0, 1.0]], dtype="<f4").tobytes(),
        "token_present": [True, False, True],
        "token_frequencies": [2, 0],
        "reverse_scores": [0.5, 0.0, 0.75],
        "sentence_scores": np.array([0.125, 0.0, 0.5], dtype="<f4").tobytes(),
        "active_count": 77,
        **changed,
    }
    response.MergeFrom(episodic_internal_pb2.SearchCandidatesResponse(**values))
    return response


async def searched(
    response: episodic_internal_pb2.SearchCandidatesResponse, *, with_tokens: bool = True
) -> EpisodeColumns:
    tiers = FakeTiers()
    tiers.episodic.method("search_candidates").answer = response
    coarse = CoarseSearch(tiers.upstream(), sessions(tiers), RecallSettings())
    result = await coarse(
        ADA,
        QUERY,
        lexical_query="where",
        vector=VECTOR,
        timeout_seconds=5.0,
        tokens=MESSAGE if with_tokens else None,
    )
    (request,) = tiers.episodic.method("search_candidates").requests
    assert request.HasField("query_tokens") == with_tokens
    assert result.episodes is not None
    return result.episodes


async def test_spec_5_4_scores_of_words_become_columns() -> None:
    columns = await searched(answer())
    assert columns.token_scores is not None
    np.testing.assert_allclose(columns.token_scores, [[0.9, 0.0, 0.5], [0.25, 0.0, 1.0]])
    assert TOKENS is not None
    assert columns.token_ids.tolist() == TOKENS.ids.tolist()
    assert columns.has_tokens.tolist() == [True, False, True]
    assert columns.token_frequencies.tolist() == [2, 0]
    assert columns.reverse.tolist() == [0.5, 0.0, 0.75]
    assert columns.sentence.tolist() == [0.125, 0.0, 0.5]
    assert columns.active_count == 77


async def test_a_question_that_was_cut_names_the_words_that_were_compared() -> None:
    short = answer(
        token_scores=np.zeros((1, 3), dtype="<f4").tobytes(),
        token_frequencies=[],
    )
    short.ClearField("token_frequencies")
    short.token_frequencies.append(1)
    columns = await searched(short)
    assert columns.token_scores is not None
    assert columns.token_scores.shape == (1, 3)
    assert len(columns.token_ids) == 1


@pytest.mark.parametrize(
    "broken",
    [
        {"token_scores": b"\x00" * 20},
        {"sentence_scores": b""},
        {"token_present": []},
        {"reverse_scores": []},
        {"token_frequencies": []},
    ],
)
async def test_an_answer_without_token_vectors_or_of_another_shape_has_none(broken: dict[str, Any]) -> None:
    response = answer()
    for name, value in broken.items():
        response.ClearField(name)
        response.MergeFrom(episodic_internal_pb2.SearchCandidatesResponse(**{name: value}))
    columns = await searched(response)
    assert columns.token_scores is None
    assert columns.has_tokens.size == columns.reverse.size == columns.token_ids.size == 0
    assert columns.active_count == 77
    assert len(columns) == 3


async def test_nothing_is_compared_without_token_vectors_of_the_question() -> None:
    assert (await searched(candidates([1, 2, 3]), with_tokens=False)).token_scores is None


async def test_spec_5_1_the_one_encoding_of_the_question_goes_to_the_search() -> None:
    embedder = HashingEmbedder()
    tiers = answering_tiers()
    await pipeline(tiers, embedder=embedder).run(ADA, ASKED, deadline_seconds=5.0)
    (request,) = tiers.episodic.method("search_candidates").requests
    assert len(embedder.queries) == 1
    sent = token_vectors_from_proto(request.query_tokens, field_path="")
    expected = embedder.token_vectors(embedder.queries[0])
    assert expected is not None
    assert sent.fingerprint == expected.fingerprint
    np.testing.assert_array_equal(sent.vectors, expected.vectors)


async def test_a_model_without_token_vectors_recalls_as_before() -> None:
    tiers = answering_tiers()
    recalled = await pipeline(tiers, embedder=HashingEmbedder(has_tokens=False)).run(ADA, ASKED, deadline_seconds=5.0)
    (request,) = tiers.episodic.method("search_candidates").requests
    assert not request.HasField("query_tokens")
    assert len(recalled.memories) == 3
