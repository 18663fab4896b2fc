"""What the services reveal about their work: metrics as Prometheus scrapes them, spans and logs, and no content."""

from __future__ import annotations

import io
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from mneme_client import Client, MnemeClientError, Turn
from services.common.encryption.key_file import add_key
from services.common.logging import configure_logging
from services.common.telemetry import TelemetrySettings, TreeSpanExporter, configure_telemetry, state
from services.gateway.config import GatewaySettings
from services.gateway.journal.dispatcher import DispatcherSettings
from tests.support.metrics import labels_of, scrape, series_names
from tests.support.monitoring import grouping_of, queries, series_of
from tests.support.stack import patient_client, running_stack, until

pytestmark = pytest.mark.asyncio(loop_scope="session")

DOCS = Path(__file__).resolve().parents[2] / "docs"
CANARIES = ("Quixotl", "Xylotown", "Zephyrine", "blorptastic")
"""Words that users said and asked, which nothing but answers may hold."""


@dataclass(frozen=True)
class Observed:
    """A stack whose telemetry is on."""

    target: str
    port: int
    spans: TreeSpanExporter
    log: io.StringIO


@pytest_asyncio.fixture(loop_scope="session")
async def observed(tmp_path: Path, model_folder: Path) -> AsyncIterator[Observed]:
    log, spans = io.StringIO(), TreeSpanExporter()
    configure_logging(level="debug", stream=log, as_json=True)  # before the servers, which bind their loggers
    telemetry = configure_telemetry(TelemetrySettings(metrics_listen="127.0.0.1:0"), exporter=spans)
    settings = GatewaySettings(dispatcher=DispatcherSettings(measure_interval=timedelta(milliseconds=100)))
    try:
        add_key(keys := tmp_path / "keys")  # encrypted, so that all metrics are there
        async with running_stack(
            tmp_path / "data", model_folder, gateway=settings, encryption_key_file=keys
        ) as services:
            assert telemetry.metrics_port is not None
            yield Observed(services.gateway_target, telemetry.metrics_port, spans, log)
    finally:
        telemetry.shutdown()


async def use(client: Client, user_id: str) -> None:
    """Writes, reads and fails, with canaries wherever a text can be given."""
    written = await client.remember(user_id, "c1", Turn("My zebra Quixotl lives in Xylotown.", speaker="Zephyrine"))
    await client.wait_until_visible(user_id, written.consistency_token)
    await client.recall(user_id, "Where does the blorptastic Quixotl live?", conversation_id="c1")
    with pytest.raises(MnemeClientError):
        await client.remember(user_id, "c1", "Quixotl " * 200_000)
    with pytest.raises(MnemeClientError):
        await client.recall(user_id, "Quixotl", limit=100_000)


async def test_spec_8_1_every_part_of_the_work_is_measured(observed: Observed, user_id: str) -> None:
    async with patient_client(observed.target) as client:
        await use(client, user_id)

    async def is_counted() -> bool:
        return "mneme_outbox_depth" in series_names(await scrape(observed.port))

    await until(is_counted)
    text = await scrape(observed.port)
    described = re.findall(
        r"^\| `(mneme_\w+|rpc_\w+)` \| (\w+) ", (DOCS / "telemetry.md").read_text("utf-8"), re.MULTILINE
    )
    exposed = {name for name in series_names(text) if re.match(r"(mneme|rpc)_(?!\w+_(sum|count)$)", name)}
    assert exposed <= {f"{name}_bucket" if kind == "histogram" else name for name, kind in described}
    expected = {
        "rpc_server_call_duration_seconds_bucket": {"rpc_method", "rpc_response_status_code", "rpc_system_name", "le"},
        "mneme_recall_stage_duration_seconds_bucket": {"stage", "le"},
        "mneme_recall_tiers_total": {"tier", "state"},
        "mneme_outbox_depth": {"tier"},
        "mneme_outbox_age_seconds": {"tier"},
        "mneme_outbox_dead_letters": {"tier"},
        "mneme_outbox_deliveries_total": {"tier", "result"},
        "mneme_outbox_outages_total": {"tier"},
        "mneme_key_management_requests_total": {"operation", "outcome"},
        "mneme_embedding_queue": {"kind"},
        "mneme_postgres_acquire_duration_seconds_bucket": {"pool", "le"},
        "mneme_event_loop_delay_seconds_bucket": {"le"},
        "mneme_event_loop_stalls_total": set(),
        "mneme_cache_bytes": {"kind"},
        "mneme_cache_requests_total": {"kind", "result"},
        "mneme_cache_evictions_total": {"kind", "reason"},
        "mneme_maintenance_runs_total": {"maintenance_job", "result"},
        "mneme_maintenance_changes_total": {"maintenance_job"},
        "mneme_maintenance_retired_total": {"maintenance_job"},
        "mneme_maintenance_over_cap_total": {"maintenance_job"},
        "mneme_maintenance_memories": {"maintenance_job"},
        "mneme_maintenance_completed_seconds": {"maintenance_job"},
    }
    assert {name: labels_of(text, name) for name in expected} == expected
    for where, query in queries():
        known = {name: labels_of(text, name) for name in series_of(query)}
        assert known.keys() <= series_names(text), f"{where} reads metrics that no service has"
        assert all(labels <= known[name] for name, labels in series_of(query).items()), where
        assert grouping_of(query) <= set().union(*known.values()), where
    for stage in ("embed", "coarse_search", "fusion", "fetch", "conflicts"):
        assert f'mneme_recall_stage_duration_seconds_count{{stage="{stage}"}}' in text


async def test_spec_8_1_logs_have_trace_ids_and_nothing_has_content(observed: Observed, user_id: str) -> None:
    async with patient_client(observed.target, tracer=state.tracer("mneme_client")) as client:
        await use(client, user_id)
    spans = observed.spans.take()
    assert {"recall.fusion", "deliver.semantic"} <= {span.name for span in spans}
    assert any("db.statement" in (span.attributes or {}) for span in spans)
    calls = [line for line in observed.log.getvalue().splitlines() if '"event": "call"' in line]
    assert calls
    assert all('"trace_id": "' in line for line in calls)
    revealed = {"spans": "\n".join(span.to_json() for span in spans), "logs": observed.log.getvalue()}
    revealed["metrics"] = await scrape(observed.port)
    found = [(where, word) for where, text in revealed.items() for word in CANARIES if word.lower() in text.lower()]
    assert found == []
