"""Late interaction over a real gRPC server: what a retrieval pipeline sees."""

from typing import Any

import numpy as np
import numpy.typing as npt

from mneme.common.v1 import common_pb2
from mneme.episodic.internal.v1 import episodic_internal_pb2 as internal_pb
from tests.servicer.episodic.calls import candidates_request, new, refused, store, tokens, vector
from tests.servicer.episodic.conftest import Client
from tests.support.item_errors import reason_and_path

PROJECT = common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_PROJECT, project_id="p")
TEXTS = {
    1: "We sailed from the old harbour. It rained.",
    2: "What a lovely ship!",
    3: "I will bring the camera",
}


async def search(client: Client, text: str, **fields: Any) -> internal_pb.SearchCandidatesResponse:
    response: Any = await client.call("SearchCandidates", candidates_request(client, text, **fields))
    assert isinstance(response, internal_pb.SearchCandidatesResponse)
    return response


def numbers(response: internal_pb.SearchCandidatesResponse) -> list[int]:
    ids = response.episode_ids
    return [int.from_bytes(ids[at : at + 16], "big") for at in range(0, len(ids), 16)]


def matrix(response: internal_pb.SearchCandidatesResponse) -> npt.NDArray[np.float32]:
    count = len(numbers(response))
    return np.frombuffer(response.token_scores, dtype="<f4").reshape(-1, count)


async def test_spec_5_4_question_words_are_compared_with_the_words_of_turns(client: Client) -> None:
    await store(client, *(new(number, text) for number, text in TEXTS.items()))

    found = await search(client, "harbour ship", query_tokens=tokens(client, "harbour ship"))

    order = numbers(found)
    by_turn = dict(zip(order, (matrix(found) > 0.98).T.tolist(), strict=True))
    assert by_turn == {1: [True, False], 2: [False, True], 3: [False, False]}
    assert list(found.token_present) == [True] * 3
    assert list(found.token_frequencies) == [1, 1]
    assert found.active_count == 3
    sentence = dict(zip(order, np.frombuffer(found.sentence_scores, dtype="<f4"), strict=True))
    reverse = dict(zip(order, found.reverse_scores, strict=True))
    assert sentence[2] > sentence[3]
    assert reverse[2] > reverse[3]


async def test_nothing_is_compared_that_was_not_asked_for(client: Client) -> None:
    await store(client, new(1, TEXTS[1]), new(2, TEXTS[2], scope=PROJECT))
    found = await search(client, "harbour")
    assert not found.token_scores
    assert not found.token_present
    assert not found.token_frequencies
    assert not found.reverse_scores
    assert not found.sentence_scores
    assert found.active_count == 1  # the other one cannot be seen from here
    assert (await search(client, "harbour", reader_scope=PROJECT)).active_count == 2


async def test_spec_5_4_token_vectors_of_another_space_are_never_compared(client: Client) -> None:
    await store(client, new(1, TEXTS[1]))
    other = tokens(client, "harbour")
    other.model = "another model"
    assert not (await search(client, "harbour", query_tokens=other)).token_scores

    # Nor are they kept: what a caller brought is of no use, and the service makes its own.
    brought = tokens(client, TEXTS[2])
    brought.model = "another model"
    await store(client, new(2, TEXTS[2], piece_vectors=[vector(client, TEXTS[2])], piece_tokens=[brought]))
    assert client.embedder.documents[-1] == TEXTS[2]
    found = await search(client, "ship", query_tokens=tokens(client, "ship"))
    assert all(found.token_present)


async def test_token_vectors_that_are_brought_along_are_kept(client: Client) -> None:
    brought = {"piece_vectors": [vector(client, "a ship")], "piece_tokens": [tokens(client, "a submarine")]}
    await store(client, new(1, "a ship", **brought))
    found = await search(client, "submarine", query_tokens=tokens(client, "submarine"))
    assert matrix(found)[0, 0] > 0.98
    assert client.embedder.documents == []


async def test_every_piece_of_a_long_turn_counts(client: Client) -> None:
    sentences = " ".join(f"This is sentence number {n} of a long story about the weather." for n in range(60))
    await store(client, new(1, f"{sentences} Then a zeppelin came."), new(2, "nothing"))
    found = await search(client, "zeppelin", query_tokens=tokens(client, "zeppelin"))
    assert dict(zip(numbers(found), matrix(found)[0] > 0.98, strict=True)) == {1: True, 2: False}


async def test_token_vectors_that_do_not_fit_together_are_refused(client: Client) -> None:
    whole = tokens(client, "a ship")
    for broken in (
        common_pb2.TokenVectors(model=whole.model, dimension=0),
        common_pb2.TokenVectors(model=whole.model, dimension=32, token_ids=whole.token_ids, vectors=b"x"),
        common_pb2.TokenVectors(model=whole.model, dimension=32, token_ids=b"x", vectors=whole.vectors),
    ):
        request = candidates_request(client, "ship", query_tokens=broken)
        assert await refused(client, "SearchCandidates", request) == (
            "INVALID_ARGUMENT",
            "INVALID_VECTOR",
            ["query_tokens"],
        )
    (result,) = await store(client, new(1, "x", piece_vectors=[vector(client, "x")], piece_tokens=[broken]))
    assert reason_and_path(result.error) == ("INVALID_VECTOR", "episodes[0].piece_tokens[0]")
