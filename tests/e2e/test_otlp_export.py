"""Traces of `mneme up` reach a collector over OTLP."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc

from tests.support.stack import patient_client

SPANS_OF_A_RECALL = {
    "mneme.gateway.v1.MemoryService/Recall",
    "recall.coarse_search",
    "mneme.episodic.internal.v1.EpisodicInternalService/SearchCandidates",
    "mneme.semantic.internal.v1.SemanticInternalService/SearchCandidates",
    "mneme.agentic.internal.v1.NoteInternalService/SearchNotes",
}


class Collector(trace_service_pb2_grpc.TraceServiceServicer):
    """Takes spans and keeps their names by trace."""

    def __init__(self) -> None:
        self.names: dict[bytes, set[str]] = {}

    async def Export(self, request: Any, _context: Any) -> Any:
        for resource in request.resource_spans:
            for scope in resource.scope_spans:
                for span in scope.spans:
                    self.names.setdefault(span.trace_id, set()).add(span.name)
        return trace_service_pb2.ExportTraceServiceResponse()


@pytest.mark.ci("an installation of its own")
@pytest.mark.asyncio
async def test_spec_8_1_one_trace_across_gateway_and_tiers_is_exported(tmp_path: Path) -> None:
    collector = Collector()
    server = grpc.aio.server()
    add_to_server: Any = trace_service_pb2_grpc.add_TraceServiceServicer_to_server  # has no types
    add_to_server(collector, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "services.cli.main", "up", "--data-dir", str(tmp_path / "data"), "--port", "0"),
        env={**os.environ, "MNEME_OTLP_ENDPOINT": f"http://127.0.0.1:{port}", "COLUMNS": "200"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(60):
            first = (await process.stdout.readline()).decode()
        target = first.split("serves at ")[1].split(",")[0]
        async with patient_client(target) as client:
            written = await client.remember("u", "c", "I keep bees.")
            await client.recall("u", "What do I keep?", consistency_token=written.consistency_token)
    finally:
        process.terminate()  # what was recorded is exported before the end
        async with asyncio.timeout(60):
            await process.wait()
        await server.stop(None)
    assert process.returncode == 0
    assert any(names >= SPANS_OF_A_RECALL for names in collector.names.values())
    deliveries = "mneme.agentic.internal.v1.NoteInternalService/GenerateNotes"
    assert any({"mneme.gateway.v1.MemoryService/Remember", deliveries} <= names for names in collector.names.values())
