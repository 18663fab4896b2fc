"""mem0's own client against a running gateway, whose /mem0 is at MNEME_HTTP."""

from __future__ import annotations

import asyncio
import os
import tempfile
import uuid
from typing import Any

os.environ["MEM0_TELEMETRY"] = "False"
os.environ["MEM0_DIR"] = tempfile.mkdtemp()

import pytest
from mem0 import AsyncMemoryClient, MemoryClient
from mem0.client.types import AddMemoryOptions, DeleteAllMemoryOptions, SearchMemoryOptions
from mem0.exceptions import MemoryNotFoundError, ValidationError

HOST = f"{os.environ['MNEME_HTTP']}/mem0"
MESSAGES = [
    {"role": "system", "content": "You are a helpful assistant."},
    {"role": "user", "content": "I live in Bruges and work as a baker."},
    {"role": "assistant", "content": "Bruges is lovely in spring."},
]


@pytest.fixture(scope="module")
def client() -> MemoryClient:
    return MemoryClient(api_key="any", host=HOST)


@pytest.fixture
def user_id() -> str:
    return f"mem0-{uuid.uuid4().hex[:8]}"


def texts(found: dict[str, Any]) -> list[str]:
    return [memory["memory"] for memory in found["results"]]


def test_spec_9_5_add_search_get_and_get_all(client: MemoryClient, user_id: str) -> None:
    added = client.add(MESSAGES, user_id=user_id, metadata={"source": "form", "visits": 3})
    assert [(one["memory"], one["event"]) for one in added["results"]] == [(m["content"], "ADD") for m in MESSAGES[1:]]
    found = client.search("Where does the user live?", filters={"user_id": user_id}, top_k=1)
    (best,) = found["results"]
    assert best["id"] == added["results"][0]["id"]
    assert best["metadata"] == {"source": "form", "visits": 3}
    assert 0 < best["score"] < 1
    assert client.get(best["id"])["memory"] == MESSAGES[1]["content"]
    client.add("My sister Grace gets married in June.", user_id=user_id)
    first = client.get_all(filters={"user_id": user_id}, page=1, page_size=2)
    second = client.get_all(filters={"user_id": user_id}, page=2, page_size=2)
    assert (first["count"], first["previous"], second["next"]) == (3, None, None)
    assert texts(first)[0] == "My sister Grace gets married in June."
    assert len(texts(first) + texts(second)) == 3


def test_spec_9_5_update_and_history_and_delete(client: MemoryClient, user_id: str) -> None:
    memory_id = client.add("I live in Bruges.", user_id=user_id)["results"][0]["id"]
    client.update(memory_id, text="The user lives in Ghent.")
    client.update(memory_id, text="The user lives in Antwerp.")
    assert client.get(memory_id)["memory"] == "The user lives in Antwerp."
    assert [(one["event"], one["old_memory"], one["new_memory"]) for one in client.history(memory_id)] == [
        ("ADD", None, "I live in Bruges."),
        ("UPDATE", "I live in Bruges.", "The user lives in Ghent."),
        ("UPDATE", "The user lives in Ghent.", "The user lives in Antwerp."),
    ]
    found = client.search("Where does the user live? In Bruges or Ghent?", filters={"user_id": user_id})
    assert [(one["id"], one["memory"]) for one in found["results"]] == [(memory_id, "The user lives in Antwerp.")]
    assert texts(client.get_all(filters={"user_id": user_id})) == ["The user lives in Antwerp."]
    client.delete(memory_id)
    with pytest.raises(MemoryNotFoundError):
        client.get(memory_id)
    assert texts(client.search("Bruges, Ghent, Antwerp", filters={"user_id": user_id})) == []


def test_spec_9_5_agents_and_runs_are_places_of_their_own(client: MemoryClient, user_id: str) -> None:
    client.add("The user likes trains.", user_id=user_id)
    client.add("The user likes window seats.", options=AddMemoryOptions(filters={"user_id": user_id, "agent_id": "a"}))
    client.add("This trip goes to Rome.", user_id=user_id, agent_id="a", run_id="trip")
    by_filters = {
        "user": {"user_id": user_id},
        "agent": {"AND": [{"user_id": user_id}, {"agent_id": "a"}]},
        "run": {"AND": [{"user_id": user_id}, {"agent_id": "a"}, {"run_id": "trip"}]},
    }
    expected = {
        "user": ["The user likes trains."],
        "agent": ["The user likes window seats."],
        "run": ["This trip goes to Rome."],
    }
    for name, filters in by_filters.items():
        assert texts(client.get_all(filters=filters)) == expected[name]
        assert texts(client.search("travel", SearchMemoryOptions(filters=filters, top_k=5))) == expected[name]
    assert client.delete_all(options=DeleteAllMemoryOptions(filters={"user_id": user_id, "agent_id": "a"}))["message"]
    assert texts(client.get_all(filters=by_filters["agent"])) == []
    assert texts(client.get_all(filters=by_filters["run"])) == expected["run"]
    client.delete_all(user_id=user_id)
    assert texts(client.get_all(filters=by_filters["user"])) == []
    client.delete_users(user_id=user_id)
    assert texts(client.get_all(filters={"user_id": user_id, "agent_id": "*", "run_id": "*"})) == []


def test_spec_9_5_filters_and_feedback_and_errors(client: MemoryClient, user_id: str) -> None:
    client.add("Pay the invoice of March.", user_id=user_id, metadata={"kind": "task"}, timestamp=1_767_225_600)
    kept = client.add("The invoice of April is paid.", user_id=user_id, metadata={"kind": "fact"})
    found = client.get_all(filters={"AND": [{"user_id": user_id}, {"created_at": {"lt": "2026-02-01"}}]})
    assert [one["created_at"][:10] for one in found["results"]] == ["2026-01-01"]
    filters = {"AND": [{"user_id": user_id}, {"NOT": [{"metadata": {"kind": "task"}}]}]}
    assert texts(client.search("invoices", filters=filters)) == ["The invoice of April is paid."]
    assert client.feedback(kept["results"][0]["id"], "POSITIVE")["feedback"] == "POSITIVE"
    with pytest.raises(ValidationError, match="user_id"):
        client.get_all(filters={"agent_id": "a"})
    with pytest.raises(MemoryNotFoundError):
        client.history("nothing")
    with pytest.raises(ValidationError, match="metadata"):
        client.update(kept["results"][0]["id"], metadata={"kind": "task"})


def test_spec_9_5_the_asynchronous_client_runs_as_well(user_id: str) -> None:
    async def body() -> None:
        client = AsyncMemoryClient(api_key="any", host=HOST)
        added = await client.add("The cat is called Momo.", user_id=user_id)
        found = await client.search("What is the cat called?", filters={"user_id": user_id})
        assert found["results"][0]["id"] == added["results"][0]["id"]

    asyncio.run(body())
