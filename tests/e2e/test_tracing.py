"""One call is one trace: client, gateway, tiers, databases, and what is done behind the answer."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
import pytest_asyncio
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanKind

from mneme_client import Client
from services.common.telemetry import TelemetrySettings, TreeSpanExporter, configure_telemetry, state
from tests.support.stack import ANY_PORT, patient_client, running_stack, until

pytestmark = pytest.mark.asyncio(loop_scope="session")


class Traced:
    """A stack that was started with telemetry on, and the spans of this process."""

    def __init__(self, target: str, exporter: TreeSpanExporter, http_address: str) -> None:
        self.http_address = http_address
        self._target = target
        self._exporter = exporter
        self._spans: list[ReadableSpan] = []

    def client(self) -> Client:
        """A client whose spans are recorded; what was recorded before is forgotten."""
        self._exporter.take()
        self._spans = []
        return patient_client(self._target, tracer=state.tracer("mneme_client"))

    def roots_and_deliveries(self) -> tuple[list[ReadableSpan], list[ReadableSpan]]:
        """The client's calls, and the deliveries to the episodic tier."""
        self._spans += self._exporter.take()
        roots = [span for span in self._spans if span.kind is SpanKind.CLIENT and span.parent is None]
        return roots, [span for span in self._spans if span.name == "deliver.episodic"]

    def spans_of(self, trace: int) -> Sequence[ReadableSpan]:
        """All spans so far of a trace."""
        self._spans += self._exporter.take()
        return [span for span in self._spans if trace_id(span) == trace]

    def trace_of(self, name: str) -> Sequence[ReadableSpan]:
        """All spans so far of the trace that a client's call began; there must be one such call."""
        self._spans += self._exporter.take()
        roots = [s for s in self._spans if s.kind is SpanKind.CLIENT and s.parent is None]
        (root,) = [s for s in roots if name == rpc_of(s)]
        return [span for span in self._spans if trace_id(span) == trace_id(root)]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def traced(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> AsyncIterator[Traced]:
    exporter = TreeSpanExporter()
    telemetry = configure_telemetry(TelemetrySettings(), exporter=exporter)
    try:
        data_dir = tmp_path_factory.mktemp("traced") / "data"
        async with running_stack(data_dir, model_folder, http_listen=ANY_PORT) as services:
            yield Traced(services.gateway_target, exporter, services.http_address)
    finally:
        telemetry.shutdown()


def rpc_of(span: ReadableSpan) -> str:
    attributes = span.attributes or {}
    return f"{attributes.get('rpc.service')}/{attributes.get('rpc.method')}"


def trace_id(span: ReadableSpan) -> int:
    assert span.context is not None
    return int(span.context.trace_id)


def names(spans: Sequence[ReadableSpan]) -> set[str]:
    return {span.name for span in spans}


def assert_is_one_tree(spans: Sequence[ReadableSpan]) -> None:
    known = {span.context.span_id for span in spans if span.context is not None}
    roots = [span for span in spans if span.parent is None]
    assert len(roots) == 1
    assert [s.name for s in spans if s.parent is not None and s.parent.span_id not in known] == []


def database_spans_below(spans: Sequence[ReadableSpan], name: str) -> int:
    """How many statements were run for a call of this name, at any depth."""
    parents = {s.context.span_id: s.parent.span_id for s in spans if s.context and s.parent}
    tops = {s.context.span_id for s in spans if s.name == name and s.kind is SpanKind.SERVER and s.context}
    count = 0
    for span in spans:
        if (span.attributes or {}).get("db.system") != "postgresql" or span.context is None:
            continue
        at: int | None = span.context.span_id
        while at is not None and at not in tops:
            at = parents.get(at)
        count += at is not None
    return count


REMEMBER = "mneme.gateway.v1.MemoryService/Remember"
RECALL = "mneme.gateway.v1.MemoryService/Recall"
TAKING = {
    "mneme.session.internal.v1.SessionInternalService/IngestTurns",
    "mneme.episodic.internal.v1.EpisodicInternalService/StoreEpisodes",
    "mneme.semantic.internal.v1.SemanticInternalService/ExtractFacts",
    "mneme.semantic.internal.v1.SemanticInternalService/ObserveInteractions",
    "mneme.agentic.internal.v1.NoteInternalService/GenerateNotes",
}
DELIVERING = {f"deliver.{tier}" for tier in ("episodic", "semantic", "agentic", "profile")}
SEARCHING = {
    "mneme.session.v1.SessionService/GetSession",
    "mneme.episodic.internal.v1.EpisodicInternalService/SearchCandidates",
    "mneme.episodic.v1.EpisodicService/BatchGetEpisodes",
    "mneme.semantic.internal.v1.SemanticInternalService/SearchCandidates",
    "mneme.agentic.internal.v1.NoteInternalService/SearchNotes",
}


async def test_spec_8_1_a_write_and_all_its_deliveries_are_one_trace(traced: Traced, user_id: str) -> None:
    async with traced.client() as client:
        written = await client.remember(user_id, "c1", "I live in Lyon.")
        await client.wait_until_visible(user_id, written.consistency_token)

        async def is_complete() -> bool:
            await client.get_backlog()
            return names(traced.trace_of(REMEMBER)) >= DELIVERING

        await until(is_complete)
    spans = traced.trace_of(REMEMBER)
    assert_is_one_tree(spans)
    assert names(spans) >= TAKING
    for method in (
        REMEMBER,
        *TAKING - {"mneme.session.internal.v1.SessionInternalService/IngestTurns"},
    ):  # sessions are in memory here
        assert database_spans_below(spans, method) > 0, method
    assert {span.name for span in spans if span.kind is SpanKind.CONSUMER} == DELIVERING


async def test_spec_8_1_a_recall_is_one_trace_with_its_stages(traced: Traced, user_id: str) -> None:
    async with traced.client() as client:
        written = await client.remember(user_id, "c1", "I live in Lyon.")
        await client.wait_until_visible(user_id, written.consistency_token)
    async with traced.client() as client:
        found = await client.recall(user_id, "Where do I live?", conversation_id="c1")
    spans = traced.trace_of(RECALL)
    assert_is_one_tree(spans)
    assert names(spans) >= SEARCHING | {f"recall.{timing.stage}" for timing in found.stages}
    for method in (
        RECALL,
        "mneme.semantic.internal.v1.SemanticInternalService/SearchCandidates",
        "mneme.agentic.internal.v1.NoteInternalService/SearchNotes",
    ):
        assert database_spans_below(spans, method) > 0, method


async def test_spec_8_1_calls_of_the_vector_index_are_spans_of_their_call(traced: Traced, user_id: str) -> None:
    async with traced.client() as client:
        written = await client.remember(user_id, "c1", "I live in Lyon.")
        await client.wait_until_visible(user_id, written.consistency_token)
    async with traced.client() as client:
        await client.search_episodes(user_id, "Where do I live?")
        spans = traced.trace_of("mneme.episodic.v1.EpisodicService/SearchEpisodes")
    assert_is_one_tree(spans)
    of_index = [span for span in spans if (span.attributes or {}).get("db.system.name") == "qdrant"]
    assert of_index
    for span in of_index:
        attributes = dict(span.attributes or {})
        assert span.kind is SpanKind.CLIENT
        assert set(attributes) == {"db.system.name", "db.operation.name", "db.collection.name"}
        assert str(attributes["db.collection.name"]).startswith("episodes-384-")
        assert span.name == f"{attributes['db.operation.name']} {attributes['db.collection.name']}"


async def test_spec_8_1_turns_that_are_delivered_together_are_linked(traced: Traced, user_id: str) -> None:
    async with traced.client() as client:
        tokens = await asyncio.gather(*(client.remember(user_id, f"c{n}", "I live in Lyon.") for n in range(20)))
        await client.wait_until_visible(user_id, *(written.consistency_token for written in tokens))
    roots, delivering = traced.roots_and_deliveries()
    reached = {trace_id(span) for span in delivering}
    reached |= {link.context.trace_id for span in delivering for link in span.links}
    assert reached >= {trace_id(root) for root in roots if root.name == REMEMBER}


async def test_spec_8_1_no_span_holds_what_was_said(traced: Traced, user_id: str) -> None:
    async with traced.client() as client:
        written = await client.remember(user_id, "c1", "My secret is xyzzy-4711.")
        await client.recall(user_id, "plugh-4711?", consistency_token=written.consistency_token)
    for name in (REMEMBER, RECALL):
        spans = traced.trace_of(name)
        assert len(spans) > 5
        assert "4711" not in " ".join(str(dict(span.attributes or {})) for span in spans)


async def test_spec_8_1_and_9_1_a_call_by_http_goes_on_its_caller_s_trace(traced: Traced) -> None:
    trace = 0xABCDEF0123456789ABCDEF0123456789
    body = json.dumps({"userId": "ada", "query": "Where?"}).encode()
    headers = {"content-type": "application/json", "traceparent": f"00-{trace:032x}-00f067aa0ba902b7-01"}
    url = f"http://{traced.http_address}/mneme.gateway.v1.MemoryService/Recall"
    request = urllib.request.Request(url, body, headers)

    def send() -> int:
        with urllib.request.urlopen(request, timeout=20) as response:  # noqa: S310
            return int(response.status)

    assert await asyncio.to_thread(send) == 200

    async def is_served() -> bool:
        spans = traced.spans_of(trace)
        return any(rpc_of(span) == "mneme.gateway.v1.MemoryService/Recall" for span in spans)

    await until(is_served)
