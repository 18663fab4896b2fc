"""The calls of mem0's client by plain HTTP: credentials, tenants, limits, errors, and what other doors see."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import quote

import pytest

from mneme_client import Client, ConflictChoice, Scope, ScopeLevel, Turn
from services.common.auth import Authenticator
from services.common.auth.authenticator import DEVELOPMENT_PRINCIPAL
from services.gateway.http.server import http_server
from services.gateway.http.settings import HttpSettings
from tests.servicer.gateway.test_http import Response, send
from tests.support.echo import EchoServicer, running_echo
from tests.support.stack import RunningStack, until

pytestmark = pytest.mark.asyncio(loop_scope="session")

CAT = "My cat Momo hates the trams."


@pytest.fixture
def address(stack: RunningStack) -> str:
    return stack.services.http_address


async def add(address: str, user_id: str, text: str = CAT, **fields: Any) -> str:
    """Adds one message; returns the memory's id."""
    headers = fields.pop("headers", {})
    body = {"messages": [{"role": "user", "content": text}], "user_id": user_id, **fields}
    added = await send(address, "/mem0/v3/memories/add/", body, **headers)
    assert added.status == 200, added.body
    if added.json["status"] == "PENDING":  # a stack that has just begun may take longer than add waits
        token = added.json["consistency_token"]
        asked = {"userId": user_id, "query": "x", "consistencyToken": token, "tiers": ["TIER_EPISODIC"]}
        if "authorization" in headers:
            headers = {"authorization": headers["authorization"].replace("Token", "Bearer")}
        await until(lambda: is_consistent(address, asked, headers), timeout_seconds=60)
    found: str = added.json["results"][0]["id"]
    return found


async def is_consistent(address: str, recall: dict[str, Any], headers: dict[str, str]) -> bool:
    path = "/mneme.gateway.v1.MemoryService/Recall"
    found = await send(address, path, recall, connect_timeout_ms="15000", **headers)
    return bool(found.json.get("consistent"))


async def listed(address: str, user_id: str, **headers: str) -> list[str]:
    found = await send(address, "/mem0/v3/memories/", {"filters": {"user_id": user_id}}, **headers)
    assert found.status == 200, found.body
    return [memory["memory"] for memory in found.json["results"]]


async def test_spec_9_5_what_mem0s_client_writes_is_a_turn_of_mneme(address: str, client: Client, user_id: str) -> None:
    memory_id = await add(address, user_id, run_id="r1", metadata={"k": 1})
    interaction_id = memory_id.partition(".")[0]
    (logged,) = [one async for one in client.list_interactions(user_id, "r1")]
    assert (logged.interaction_id, logged.turn.content) == (interaction_id, CAT)
    assert (logged.scope.context_id, logged.turn.metadata["k"]) == ("run=r1", "1")
    await client.remember(user_id, "c1", [Turn("I moved to Lyon.")])
    written = await client.remember(
        user_id, "c1", [Turn("The budget is 5,000.")], scope=Scope(ScopeLevel.PROJECT, "p1")
    )
    await client.wait_until_visible(user_id, written.consistency_token)
    assert await listed(address, user_id) == ["I moved to Lyon."]  # the project is no place of mem0's


async def test_spec_9_5_an_update_supersedes_all_of_the_turn(address: str, client: Client, user_id: str) -> None:
    memory_id = await add(address, user_id, "I live in Bruges. My cat is called Momo.")
    updated = await send(address, f"/mem0/v1/memories/{memory_id}/", {"text": "The user moved to Ghent."}, method="PUT")
    assert updated.json["memory"] == "The user moved to Ghent."
    found = await client.recall(user_id, "What is the cat called?", conflicts=ConflictChoice(drop_superseded=True))
    assert [memory.text for memory in found.memories] == ["The user moved to Ghent."]
    by_later_id = (await send(address, f"/mem0/v1/memories/{memory_id}/history/")).json[-1]["id"]
    later = by_later_id + "." + memory_id.partition(".")[2]
    assert (await send(address, f"/mem0/v1/memories/{later}/")).json["id"] == memory_id


async def test_spec_9_5_a_memory_that_expired_is_hidden(address: str, user_id: str) -> None:
    await add(address, user_id, expiration_date="2020-01-01")
    assert await listed(address, user_id) == []
    asked = {"query": "cat", "filters": {"user_id": user_id}}
    assert (await send(address, "/mem0/v3/memories/search/", asked)).json["results"] == []
    shown = await send(address, "/mem0/v3/memories/search/", {**asked, "show_expired": True, "fields": ["user_id"]})
    (memory,) = shown.json["results"]
    assert set(memory) == {"id", "memory", "user_id", "score"}


async def test_spec_9_5_a_threshold_is_a_cosine_similarity(address: str, user_id: str) -> None:
    await add(address, user_id)
    for threshold, count in ((0.2, 1), (0.99, 0)):
        asked = {"query": "Which pet is there?", "filters": {"user_id": user_id}, "threshold": threshold}
        found = await send(address, "/mem0/v3/memories/search/", asked)
        assert len(found.json["results"]) == count
        assert all(memory["similarity"] >= threshold for memory in found.json["results"])


async def test_spec_7_1_mem0s_calls_need_the_credential_that_others_need(secured_stack: RunningStack) -> None:
    address, keys = secured_stack.services.http_address, secured_stack.keys
    body = {"messages": [{"role": "user", "content": CAT}], "user_id": "u"}
    by_key = {
        name: (await send(address, "/mem0/v3/memories/add/", body, authorization=f"Token {key}")).status
        for name, key in keys.items()
    }
    assert (by_key["writer"], by_key["reader"], by_key["expired"], by_key["revoked"]) == (200, 403, 401, 401)
    for headers in ({}, {"authorization": "Token wrong"}, {"authorization": "Basic x"}):
        for path, method in (("/v1/ping/", "GET"), ("/v1/memories/x.YQ/", "GET"), ("/v1/memories/", "DELETE")):
            refused = await send(address, f"/mem0{path}", method=method, **headers)
            assert (refused.status, list(refused.json)) == (401, ["detail"])
    refused = await send(address, "/mem0/v3/memories/add/", b"{" * 1000, authorization="Token wrong")
    assert refused.status == 401  # its body is not read


async def test_spec_7_1_tenants_are_apart_for_mem0s_client(secured_stack: RunningStack) -> None:
    address, keys = secured_stack.services.http_address, secured_stack.keys
    own = {"authorization": f"Token {keys['writer']}"}
    other = {"authorization": f"Token {keys['other writer']}"}
    memory_id = await add(address, "shared-name", headers=own)
    assert CAT in await listed(address, "shared-name", **own)
    assert await listed(address, "shared-name", **other) == []
    for method, body in (("GET", None), ("PUT", {"text": "x"}), ("DELETE", None)):
        refused = await send(address, f"/mem0/v1/memories/{memory_id}/", body, method=method, **other)
        assert (refused.status, refused.json["detail"]) == (404, "episode not found")
    assert (await send(address, "/mem0/v1/memories/?user_id=shared-name", method="DELETE", **other)).status == 200
    assert (await send(address, f"/mem0/v1/memories/{memory_id}/", **own)).json["memory"] == CAT
    assert (await send(address, "/mem0/v1/ping/", **own)).json["org_id"] == "acme"


async def test_spec_7_7_mem0s_calls_are_in_the_audit_log(secured_stack: RunningStack) -> None:
    address = secured_stack.services.http_address
    memory_id = await add(address, "audited", headers={"authorization": f"Token {secured_stack.keys['writer']}"})
    async with Client(secured_stack.target, api_key=secured_stack.keys["admin"]) as admin:
        await admin.get_audit_checkpoint()  # entries of calls that have ended are in the log then
        entries = [json.loads(entry.body) async for entry in admin.list_audit_entries() if "audited" in entry.body]
    written = [entry for entry in entries if memory_id.partition(".")[0] in str(entry.get("memories"))]
    assert written[0]["principal"] == "writer"
    assert "Remember" in written[0]["method"]


async def test_spec_9_5_client_1_x_adds_searches_and_lists_at_its_own_addresses(address: str, user_id: str) -> None:
    version = {"output_format": "v1.1", "async_mode": True, "org_id": "default", "project_id": "default"}
    messages = [{"role": "user", "content": text} for text in (CAT, "I am a baker.")]
    added = await send(address, "/mem0/v1/memories/", {"messages": messages, "user_id": user_id, **version})
    assert [(one["memory"], one["event"]) for one in added.json["results"]] == [(m["content"], "ADD") for m in messages]
    await until(lambda: has_listed(address, user_id, 2), timeout_seconds=60)
    for place in (
        {"filters": {"user_id": user_id}},
        {"user_id": user_id},
        {"filters": {"AND": [{"user_id": user_id}]}},
    ):
        found = await send(address, "/mem0/v2/memories/search/", {"query": "Which pet?", "top_k": 1, **place})
        assert [(one["id"], one["memory"]) for one in found.json] == [(added.json["results"][0]["id"], CAT)]
        everything = await send(address, "/mem0/v2/memories/", {**place, **version})
        assert [one["memory"] for one in everything.json] == ["I am a baker.", CAT]
        assert len((await send(address, "/mem0/v2/memories/", {**place, "top_k": 1})).json) == 1
    page = await send(address, "/mem0/v2/memories/?page=2&page_size=1", {"user_id": user_id})
    assert (page.json["count"], [one["memory"] for one in page.json["results"]]) == (2, [CAT])
    apart = await send(address, "/mem0/v2/memories/", {"user_id": user_id, "metadata": {"kind": "pet"}})
    assert apart.json == []


async def has_listed(address: str, user_id: str, count: int) -> bool:
    return len(await listed(address, user_id)) == count


async def test_spec_9_5_delete_all_of_client_1_x_names_its_tenant_besides(address: str, user_id: str) -> None:
    await add(address, user_id)
    tenant = (await send(address, "/mem0/v1/ping/")).json["org_id"]
    other = await send(address, f"/mem0/v1/memories/?user_id={user_id}&org_id=x&project_id=x", method="DELETE")
    assert (other.status, await listed(address, user_id)) == (400, [CAT])
    own = f"/mem0/v1/memories/?user_id={user_id}&org_id={tenant}&project_id={tenant}"
    assert (await send(address, own, method="DELETE")).status == 200
    assert await listed(address, user_id) == []


async def test_spec_9_5_an_image_without_text_is_refused_by_name(address: str, user_id: str) -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}}
    body = {"messages": [{"role": "user", "content": [image]}], "user_id": user_id}
    refused = await send(address, "/mem0/v3/memories/add/", body)
    assert (refused.status, "images are not read" in refused.json["detail"]) == (400, True)
    body["messages"][0]["content"] = [image, {"type": "text", "text": CAT}]  # type: ignore[index]
    assert (await send(address, "/mem0/v3/memories/add/", body)).status == 200


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/memories/", {"messages": "x"}),
        ("/v2/memories/", {"filters": {}}),
        ("/v2/memories/", {"user_id": "u", "page": 0}),
        ("/v2/memories/search/", {"query": "x", "user_id": "*"}),
        ("/v3/memories/add/", {"messages": "x"}),
        ("/v3/memories/add/", {"messages": [], "user_id": "u"}),
        ("/v3/memories/add/", {"messages": "x" * 40_000, "user_id": "u"}),
        ("/v3/memories/add/", {"messages": "x", "user_id": "u", "metadata": []}),
        ("/v3/memories/add/", {"messages": "x", "user_id": "u" * 200}),
        ("/v3/memories/add/", {"messages": "x", "user_id": "u", "filters": {"user_id": "v"}}),
        ("/v3/memories/search/", {"filters": {"user_id": "u"}}),
        ("/v3/memories/search/", {"query": "x"}),
        ("/v3/memories/search/", {"query": "x", "filters": {"user_id": "u", "run_id": "*"}}),
        ("/v3/memories/search/", {"query": "x", "filters": {"user_id": "u"}, "top_k": 0}),
        ("/v3/memories/search/", {"query": "x", "filters": {"user_id": "u"}, "threshold": "high"}),
        ("/v3/memories/search/", {"query": "x", "filters": {"user_id": "u"}, "categories": ["food"]}),
        ("/v3/memories/?page=0", {"filters": {"user_id": "u"}}),
        ("/v3/memories/?page_size=1000", {"filters": {"user_id": "u"}}),
        ("/v3/memories/", b"[]"),
        ("/v3/memories/", b"{"),
        ("/v3/memories/", b"\xff"),
        ("/v3/memories/", b"[" * 100_000),
        ("/v1/feedback/", {"memory_id": "x.YQ", "feedback": "GREAT"}),
        ("/v1/feedback/", {"memory_id": "x.YQ", "feedback": ["POSITIVE"]}),
        ("/v3/memories/", {"filters": {"user_id": "u"}, "fields": 5}),
        ("/v3/memories/add/", {"messages": "x", "user_id": "u", "timestamp": "0001-01-01T00:00:00+14:00"}),
        # Python's JSON takes these and writes none of them; a response with such a value could never be sent.
        ("/v3/memories/add/", b'{"messages": "x", "user_id": "u", "metadata": {"k": 1e999}}'),
        ("/v3/memories/add/", b'{"messages": "x", "user_id": "u", "metadata": {"k": NaN}}'),
        ("/v3/memories/add/", b'{"messages": "\\ud800", "user_id": "u"}'),
        ("/v3/memories/search/", b'{"query": "x", "filters": {"user_id": "u"}, "top_k": 1e999}'),
    ],
)
async def test_spec_9_5_a_request_that_is_not_valid_is_refused_with_its_detail(
    address: str, path: str, body: Any
) -> None:
    refused = await send(address, f"/mem0{path}", body)
    assert (refused.status, list(refused.json)) == (400, ["detail"])
    assert refused.headers["cache-control"] == "no-store"


async def test_spec_9_5_metadata_of_another_door_never_keeps_a_list_from_being_sent(
    address: str, client: Client, user_id: str
) -> None:
    entries = {"mem0.json": '["k"]', "k": "1e999"}  # says that "k" is JSON, and no JSON of a response can hold it
    written = await client.remember(user_id, "c", [Turn(CAT, metadata=entries)])
    await client.wait_until_visible(user_id, written.consistency_token)
    found = await send(address, "/mem0/v3/memories/", {"filters": {"user_id": user_id}})
    assert found.status == 200, found.body
    assert found.json["results"][0]["metadata"] == {"k": "1e999"}


@pytest.mark.parametrize(
    "query",
    [
        "",
        "agent_id=a",
        "user_id=*",
        "user_id=u&run_id=*",
        "user_id=u&metadata=x",
        "filters=" + quote("{'user_id': 'u', 'metadata': {'k': 1}}"),
        "filters=" + quote("{'user_id': __import__('os')}"),
        "filters=" + "(" * 1_000,
        "filters=" + "1" * 2_000,
        "user_id=u&filters=nonsense",
    ],
)
async def test_spec_9_5_nothing_is_deleted_for_a_filter_that_is_not_understood(address: str, query: str) -> None:
    await add(address, "u")
    refused = await send(address, f"/mem0/v1/memories/?{query}", method="DELETE")
    assert (refused.status, list(refused.json)) == (400, ["detail"])
    assert CAT in await listed(address, "u")


async def test_spec_9_5_other_calls_of_mem0_are_not_served(address: str) -> None:
    for path, method in (("/v1/exports/", "POST"), ("/v1/entities/", "GET"), ("/v3/memories/add/", "GET")):
        refused = await send(address, f"/mem0{path}", {} if method == "POST" else None, method=method)
        assert (refused.status, "docs/mem0.md" in refused.json["detail"]) == (404, True)
    for memory_id in ("x.YQ", "no-id", "018f0000-0000-7000-8000-000000000000.YQ"):
        missing = await send(address, f"/mem0/v1/memories/{memory_id}/")
        assert missing.status in (400, 404)


async def test_spec_9_5_limits_and_the_switch_are_settings() -> None:
    authenticator = Authenticator(development_principal=DEVELOPMENT_PRINCIPAL)

    async def status(settings: HttpSettings, path: str, body: Any = None) -> Response:
        async with (
            running_echo(EchoServicer(), authenticator) as running,
            http_server("127.0.0.1:0", [], running.server, settings) as served,
        ):
            return await send(served, path, body)

    assert (await status(HttpSettings(), "/mem0/v1/ping/")).status == 200
    assert (await status(HttpSettings(serves_mem0=False), "/mem0/v1/ping/")).status == 404
    large = {"messages": "x" * 2_000, "user_id": "u"}
    assert (await status(HttpSettings(message_bytes_max=1_000), "/mem0/v3/memories/add/", large)).status == 413
    with pytest.raises(ValueError, match="mem0_listed_max"):
        HttpSettings(mem0_listed_max=0)


async def test_spec_9_5_requests_at_once_do_not_mix(address: str, user_id: str) -> None:
    users = [f"{user_id}-{n}" for n in range(4)]
    ids = await asyncio.gather(*(add(address, user, f"My number is {n}.") for n, user in enumerate(users)))
    found = await asyncio.gather(*(listed(address, user) for user in users))
    assert found == [[f"My number is {n}."] for n in range(len(users))]
    assert len(set(ids)) == len(users)
