"""What the tier refuses over a real gRPC server, and how it says so."""

import math
from typing import Any

import pytest

from mneme.common.v1 import common_pb2
from mneme.episodic.internal.v1 import episodic_internal_pb2 as internal_pb
from mneme.episodic.v1 import episodic_pb2 as pb
from services.common.auth import Role
from tests.servicer.episodic.calls import candidates_request, new, refused, store, uid, vector
from tests.servicer.episodic.conftest import Client


async def test_a_page_token_is_good_for_its_query_alone(client: Client) -> None:
    await store(client, new(1), new(2))
    response: Any = await client.call("ListEpisodes", pb.ListEpisodesRequest(user_id="ann", page_size=1))
    token = response.next_page_token
    expected = ("INVALID_ARGUMENT", "INVALID_PAGE_TOKEN", ["page_token"])

    other_user = pb.ListEpisodesRequest(user_id="bob", page_token=token)
    assert await refused(client, "ListEpisodes", other_user) == expected
    same = pb.ListEpisodesRequest(user_id="ann", page_token=token)
    assert await refused(client, "ListEpisodes", same, tenant="other") == expected
    assert await refused(client, "ListEpisodes", pb.ListEpisodesRequest(user_id="ann", page_token="x")) == expected


SERVICE = "EpisodicInternalService"


async def test_roles_are_enforced(client: Client) -> None:
    await store(client, new(1))
    request = pb.ArchiveEpisodesRequest(request_id="r", user_id="ann", episode_ids=[uid(1)])
    assert (await refused(client, "ArchiveEpisodes", request, role=Role.READER))[:2] == (
        "PERMISSION_DENIED",
        "ROLE_MISSING",
    )
    await client.call("SearchEpisodes", pb.SearchEpisodesRequest(user_id="ann", query="turn"), role=Role.READER)


async def test_spec_7_1_internal_methods_are_for_services_alone(client: Client) -> None:
    public = {f"mneme.episodic.v1.{name}Service" for name in ("Episodic", "Activity", "Cluster")}
    internal, *others = (binding for binding in client.tier.bindings if binding.full_name not in public)
    assert {role for binding in (internal, *others) for role in binding.roles.values()} == {Role.SERVICE}
    assert set(internal.roles) == {method.name for method in internal_pb.DESCRIPTOR.services_by_name[SERVICE].methods}


@pytest.mark.parametrize(
    ("changes", "reason", "field_path"),
    [
        ({"user_id": ""}, "INVALID_FIELD", "user_id"),
        ({"query": " "}, "INVALID_FIELD", "query"),
        ({"query": "x" * 9_000}, "TEXT_TOO_LONG", "query"),
        ({"query_vector": None}, "INVALID_VECTOR", "query_vector"),
        ({"query_vector": {"values": [1.0] * 63}}, "INVALID_VECTOR", "query_vector"),
        ({"query_vector": {"values": [math.nan] * 64}}, "INVALID_VECTOR", "query_vector"),
        ({"query_vector": {"model": "another"}}, "INVALID_VECTOR", "query_vector"),
        ({"retriever_limit": 1_001}, "INVALID_FIELD", "retriever_limit"),
        ({"retriever_limit": -1}, "INVALID_FIELD", "retriever_limit"),
        ({"neighbour_radius": 6}, "INVALID_FIELD", "neighbour_radius"),
        ({"neighbour_seeds": 201}, "INVALID_FIELD", "neighbour_seeds"),
        ({"include_episode_ids": ["x"]}, "INVALID_FIELD", "include_episode_ids[0]"),
        ({"include_episode_ids": [uid(1)] * 201}, "TOO_MANY_ITEMS", "include_episode_ids"),
        ({"reader_scope": common_pb2.Scope()}, "UNKNOWN_ENUM_VALUE", "reader_scope.level"),
    ],
)
async def test_a_wrong_candidate_search_names_its_fault(
    client: Client, changes: dict[str, Any], reason: str, field_path: str
) -> None:
    fields = dict(changes)
    if isinstance(fields.get("query_vector"), dict):
        fields["query_vector"] = vector(client, "x", **fields["query_vector"])
    request = candidates_request(client, "x", **fields)

    assert await refused(client, "SearchCandidates", request) == ("INVALID_ARGUMENT", reason, [field_path])


@pytest.mark.parametrize(
    ("method", "request_message", "expected"),
    [
        ("StoreEpisodes", internal_pb.StoreEpisodesRequest(), ("INVALID_ARGUMENT", "INVALID_FIELD", ["episodes"])),
        (
            "StoreEpisodes",
            internal_pb.StoreEpisodesRequest(episodes=[new(1)] * 257),
            ("INVALID_ARGUMENT", "TOO_MANY_ITEMS", ["episodes"]),
        ),
        ("GetEpisode", pb.GetEpisodeRequest(user_id="ann", episode_id=uid(1)), ("NOT_FOUND", "NOT_FOUND", [])),
        (
            "GetEpisode",
            pb.GetEpisodeRequest(user_id="ann", episode_id="x"),
            ("INVALID_ARGUMENT", "INVALID_FIELD", ["episode_id"]),
        ),
        (
            "BatchGetEpisodes",
            pb.BatchGetEpisodesRequest(user_id="ann"),
            ("INVALID_ARGUMENT", "INVALID_FIELD", ["episode_ids"]),
        ),
        (
            "ListEpisodes",
            pb.ListEpisodesRequest(user_id="ann", status="EPISODE_STATUS_UNSPECIFIED"),
            ("INVALID_ARGUMENT", "UNKNOWN_ENUM_VALUE", ["status"]),
        ),
        (
            "ListEpisodes",
            pb.ListEpisodesRequest(user_id="ann", page_size=-1),
            ("INVALID_ARGUMENT", "INVALID_FIELD", ["page_size"]),
        ),
        (
            "SearchEpisodes",
            pb.SearchEpisodesRequest(user_id="ann"),
            ("INVALID_ARGUMENT", "INVALID_FIELD", ["query"]),
        ),
        (
            "RecordFeedback",
            internal_pb.RecordFeedbackRequest(user_id="ann", request_id="r", episode_ids=[uid(1)], feedback=2),
            ("INVALID_ARGUMENT", "INVALID_FIELD", ["feedback"]),
        ),
        (
            "RecordFeedback",
            internal_pb.RecordFeedbackRequest(user_id="ann", episode_ids=[uid(1)], feedback=0),
            ("INVALID_ARGUMENT", "INVALID_FIELD", ["request_id"]),
        ),
        (
            "RecordFeedback",
            internal_pb.RecordFeedbackRequest(user_id="ann", request_id="r", episode_ids=[uid(1)]),
            ("INVALID_ARGUMENT", "INVALID_FIELD", ["feedback"]),
        ),
        (
            "ArchiveEpisodes",
            pb.ArchiveEpisodesRequest(user_id="ann", request_id="r"),
            ("INVALID_ARGUMENT", "INVALID_FIELD", ["episode_ids"]),
        ),
        (
            "RestoreEpisodes",
            pb.RestoreEpisodesRequest(user_id="ann", request_id="r", episode_ids=[uid(1)], conversation_id="s1"),
            ("INVALID_ARGUMENT", "INVALID_FIELD", ["episode_ids"]),
        ),
        (
            "ArchiveEpisodes",
            pb.ArchiveEpisodesRequest(user_id="ann", episode_ids=[uid(1)]),
            ("INVALID_ARGUMENT", "INVALID_FIELD", ["request_id"]),
        ),
        (
            "ArchiveEpisodes",
            pb.ArchiveEpisodesRequest(user_id="ann", request_id="r", episode_ids=[uid(1)] * 10_001),
            ("INVALID_ARGUMENT", "TOO_MANY_ITEMS", ["episode_ids"]),
        ),
        (
            "RecordAccess",
            internal_pb.RecordAccessRequest(user_id="ann", episode_ids=[uid(1)] * 201),
            ("INVALID_ARGUMENT", "TOO_MANY_ITEMS", ["episode_ids"]),
        ),
    ],
)
async def test_a_wrong_request_names_its_fault(
    client: Client, method: str, request_message: Any, expected: tuple[str, str, list[str]]
) -> None:
    assert await refused(client, method, request_message) == expected
