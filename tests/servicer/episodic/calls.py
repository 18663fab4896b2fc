"""Requests and answers of the tests of this tier."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2

from mneme.common.v1 import common_pb2
from mneme.episodic.internal.v1 import episodic_internal_pb2 as internal_pb
from services.common.convert import token_vectors_to_proto
from tests.servicer.episodic.conftest import Client

USER = common_pb2.MESSAGE_ROLE_USER


def uid(number: int) -> str:
    return str(UUID(int=number))


def new(number: int, query: str = "", **fields: Any) -> internal_pb.NewEpisode:
    values: dict[str, Any] = {
        "episode_id": uid(number),
        "user_id": "ann",
        "conversation_id": "s1",
        "position": number,
        "role": USER,
        "query": query or f"turn number {number}",
        **fields,
    }
    return internal_pb.NewEpisode(**values)


async def store(
    client: Client, *episodes: internal_pb.NewEpisode, **options: Any
) -> Sequence[internal_pb.StoreEpisodeResult]:
    request = internal_pb.StoreEpisodesRequest(episodes=episodes, wait_until_active=True)
    response: Any = await client.call("StoreEpisodes", request, **options)
    results: Sequence[internal_pb.StoreEpisodeResult] = response.results
    return results


def vector(client: Client, text: str, **changes: Any) -> common_pb2.Vector:
    values = {"model": client.embedder.fingerprint, "values": client.embedder.vector(text).tolist(), **changes}
    return common_pb2.Vector(**values)


def tokens(client: Client, text: str, **changes: Any) -> common_pb2.TokenVectors:
    found = client.embedder.token_vectors(text)
    assert found is not None
    message = token_vectors_to_proto(found)
    message.MergeFrom(common_pb2.TokenVectors(**changes))
    return message


def candidates_request(client: Client, text: str, **fields: Any) -> internal_pb.SearchCandidatesRequest:
    values = {"user_id": "ann", "query": text, "query_vector": vector(client, text), **fields}
    return internal_pb.SearchCandidatesRequest(**values)


async def candidates(
    client: Client, text: str, *, tenant: str = "acme", granted: Sequence[str] = (), **fields: Any
) -> dict[int, Any]:
    """Candidates by the number of their episode."""
    request = candidates_request(client, text, **fields)
    response: Any = await client.call("SearchCandidates", request, tenant=tenant, granted=granted)
    ids = [int.from_bytes(response.episode_ids[at : at + 16], "big") for at in range(0, len(response.episode_ids), 16)]
    columns = [
        "dense_scores",
        "lexical_scores",
        "dense_ranks",
        "lexical_ranks",
        "conversation_indexes",
        "positions",
        "speaker_indexes",
        "times",
        "lengths",
        "traits",
        "feedbacks",
        "importances",
    ]
    for name in columns:
        assert len(getattr(response, name)) == len(ids)
    found = {}
    for i, number in enumerate(ids):
        found[number] = {name: getattr(response, name)[i] for name in columns}
        found[number]["conversation"] = response.conversation_ids[response.conversation_indexes[i]]
        found[number]["speaker"] = response.speakers[response.speaker_indexes[i]]
    assert len(found) == len(ids), "a candidate came twice"
    return found


async def refused(client: Client, method: str, request: Any, **options: Any) -> tuple[str, str, list[str]]:
    """Status, reason and field paths of a call that must fail."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await client.call(method, request, **options)
    info = error_details_pb2.ErrorInfo()
    bad = error_details_pb2.BadRequest()
    for key, value in caught.value.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for detail in status_pb2.Status.FromString(value).details:
                detail.Unpack(info)
                detail.Unpack(bad)
    return caught.value.code().name, info.reason, [violation.field for violation in bad.field_violations]
