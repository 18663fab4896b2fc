"""Spans of the Python client by OpenTelemetry's GenAI conventions for memory."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, Tracer

from mneme.agentic.v1 import notes_pb2
from mneme.episodic.v1 import episodic_pb2
from mneme.gateway.v1 import memory_pb2, recall_pb2
from mneme.semantic.v1 import facts_pb2
from mneme_client import Client, MnemeClientError, RememberItem, SyncClient
from mneme_client.memory_spans import OPERATIONS, request_attributes, response_records
from tests.servicer.client.conftest import Running
from tests.servicer.client.fake_gateway import invalid

QUERY, SAID, FOUND = "Where does Ada live?", "I live in Lyon.", "Ada lives in Lyon."


@pytest.fixture
def exporter() -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    yield exporter
    exporter.clear()


@pytest.fixture
def tracer(exporter: InMemorySpanExporter) -> Tracer:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider.get_tracer("test")


def found() -> recall_pb2.RecallResponse:
    response = recall_pb2.RecallResponse()
    response.memories.add(memory_id="m1", score=0.5).turn.content = SAID
    response.facts.add(score=0.25).fact.CopyFrom(facts_pb2.Fact(fact_id="f1", text=FOUND))
    return response


def memory_attributes(span: ReadableSpan) -> dict[str, Any]:
    return {k: v for k, v in (span.attributes or {}).items() if k.startswith(("gen_ai.", "server.", "error."))}


def expected(running: Running, operation: str, **memory: object) -> dict[str, object]:
    host, _, port = running.target.rpartition(":")
    return {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": "mneme",
        "gen_ai.memory.store.id": "ada",
        "server.address": host,
        "server.port": int(port),
        **{f"gen_ai.{name.replace('__', '.')}": value for name, value in memory.items()},
    }


async def test_spec_8_1_remembering_and_recalling_are_operations_on_a_store(
    running: Running, tracer: Tracer, exporter: InMemorySpanExporter
) -> None:
    running.gateway.recall_response = found()
    async with Client(running.target, tracer=tracer) as client:
        await client.remember("ada", "c1", [SAID, "And work there."])
        await client.remember_batch([RememberItem("ada", "c1", SAID), RememberItem("ben", "c2", SAID)])
        await client.remember_stream([RememberItem("ada", "c1", SAID), RememberItem("ada", "c1", SAID)])
        await client.recall("ada", QUERY, conversation_id="c1")
    one, batch, stream, recall = exporter.get_finished_spans()
    assert [span.name for span in (one, batch, stream, recall)] == ["upsert_memory"] * 3 + ["search_memory"]
    assert {span.kind for span in (one, batch, stream, recall)} == {SpanKind.CLIENT}
    c1 = {"conversation__id": "c1"}
    assert memory_attributes(one) == expected(running, "upsert_memory", memory__record__count=2, **c1)
    assert "gen_ai.memory.store.id" not in memory_attributes(batch), "it wrote to two stores"
    assert memory_attributes(batch)["gen_ai.memory.record.count"] == 2
    assert memory_attributes(stream)["gen_ai.memory.record.count"] == 2
    assert memory_attributes(recall) == expected(running, "search_memory", memory__record__count=2, **c1)
    assert (recall.attributes or {})["rpc.method"] == "Recall"


async def test_spec_8_1_content_is_recorded_only_where_the_application_opts_in(
    running: Running, tracer: Tracer, exporter: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    running.gateway.recall_response = found()

    async def use(**options: Any) -> str:
        exporter.clear()
        async with Client(running.target, tracer=tracer, **options) as client:
            await client.remember("ada", "c1", SAID)
            await client.recall("ada", QUERY)
        return "".join(span.to_json() for span in exporter.get_finished_spans())

    secret = await use()
    assert not [text for text in (QUERY, SAID, FOUND) if text in secret]
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
    secret = await use(capture_content=False)
    assert not [text for text in (QUERY, SAID, FOUND) if text in secret]
    await use()
    written, recalled = (memory_attributes(span) for span in exporter.get_finished_spans())
    assert [record["content"] for record in json.loads(written["gen_ai.memory.records"])] == [SAID]
    assert recalled["gen_ai.memory.query.text"] == QUERY
    assert json.loads(recalled["gen_ai.memory.records"]) == [
        {"id": "m1", "content": SAID, "score": 0.5},
        {"id": "f1", "content": FOUND, "score": 0.25},
    ]


async def test_spec_8_1_a_failed_operation_names_its_error(
    running: Running, tracer: Tracer, exporter: InMemorySpanExporter
) -> None:
    running.gateway.failures = [invalid()]
    async with Client(running.target, tracer=tracer) as client:
        with pytest.raises(MnemeClientError):
            await client.recall("ada", QUERY)
    (span,) = exporter.get_finished_spans()
    assert memory_attributes(span)["error.type"] == grpc.StatusCode.INVALID_ARGUMENT.name
    assert "gen_ai.memory.record.count" not in memory_attributes(span)


async def test_the_blocking_client_has_the_same_spans(
    running: Running, tracer: Tracer, exporter: InMemorySpanExporter
) -> None:
    running.gateway.recall_response = found()

    def use() -> None:
        with SyncClient(running.target, tracer=tracer) as client:
            client.remember("ada", "c1", SAID)
            list(client.recall_stream("ada", QUERY))

    await asyncio.to_thread(use)
    written, recalled = exporter.get_finished_spans()
    assert memory_attributes(written)["gen_ai.memory.record.count"] == 1
    assert (recalled.name, memory_attributes(recalled)["gen_ai.memory.store.id"]) == ("search_memory", "ada")


CASES = [
    ("SearchFacts", facts_pb2.SearchFactsRequest(), facts_pb2.SearchFactsResponse(hits=[{"similarity": 0.5}])),
    ("SearchNotes", notes_pb2.SearchNotesRequest(), notes_pb2.SearchNotesResponse(hits=[{"score": 0.5}])),
    ("SearchEpisodes", episodic_pb2.SearchEpisodesRequest(), episodic_pb2.SearchEpisodesResponse(hits=[{}])),
    ("CreateFact", facts_pb2.CreateFactRequest(), facts_pb2.CreateFactResponse(fact={"fact_id": "f1"})),
    ("CreateNote", notes_pb2.CreateNoteRequest(), notes_pb2.CreateNoteResponse(note={"note_id": "n1"})),
    ("UpdateFact", facts_pb2.UpdateFactRequest(fact_id="f1"), facts_pb2.UpdateFactResponse(fact={"fact_id": "f1"})),
    ("UpdateNote", notes_pb2.UpdateNoteRequest(note_id="n1"), notes_pb2.UpdateNoteResponse(note={"note_id": "n1"})),
    ("DeleteFact", facts_pb2.DeleteFactRequest(fact_id="f1"), facts_pb2.DeleteFactResponse()),
    ("DeleteNote", notes_pb2.DeleteNoteRequest(note_id="n1"), notes_pb2.DeleteNoteResponse()),
    ("RecallStream", recall_pb2.RecallStreamRequest(), recall_pb2.RecallStreamResponse(response=found())),
    ("Recall", recall_pb2.RecallRequest(), found()),
    (
        "RememberStream",
        None,
        memory_pb2.RememberStreamResponse(response={"interactions": [{"interaction_id": "i1"}]}),
    ),
]


@pytest.mark.parametrize(("rpc", "request_", "response"), CASES, ids=[case[0] for case in CASES])
def test_spec_8_1_records_fit_the_schema_of_the_conventions(rpc: str, request_: Any, response: Any) -> None:
    operation = OPERATIONS[rpc]
    records = list(response_records(operation, request_, response))
    assert len(records) == (2 if rpc.startswith("Recall") else 1)
    for record in json.loads(json.dumps(records)):
        assert "content" in record, "required; null is a value"
        assert isinstance(record["id"], str)
        assert isinstance(record.get("score", 0.0), float)
    attributes = request_attributes(operation, request_, with_content=True)
    assert attributes["gen_ai.operation.name"] == operation
    assert ("gen_ai.memory.record.id" in attributes) is rpc.startswith(("Update", "Delete"))


def test_the_client_works_without_opentelemetry() -> None:
    program = f"""
import sys
sys.modules["opentelemetry"] = None  # not installed
import asyncio, mneme_client
assert not [name for name in sys.modules if name.startswith("opentelemetry.")]
async def use():
    async with mneme_client.Client("127.0.0.1:1", default_timeout_seconds=0.5) as client:
        try:
            await client.recall("ada", "{QUERY}")
        except mneme_client.MnemeClientError as error:
            print(error.code.name)
asyncio.run(use())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout.strip() in {"UNAVAILABLE", "DEADLINE_EXCEEDED"}, done.stderr
