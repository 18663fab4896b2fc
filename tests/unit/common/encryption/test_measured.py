"""What is counted of requests to the key management."""

from __future__ import annotations

from pathlib import Path

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from services.common.encryption.envelope import DecryptionError
from services.common.encryption.key_file import FileKeyManagement, add_key
from services.common.encryption.key_management import KeyManagementUnavailable, WrappedKey
from services.common.encryption.measured import MeasuredKeyManagement
from services.common.telemetry import state

KEY, USER = b"k" * 32, b"user"


class Away(FileKeyManagement):
    async def unwrap(self, wrapped: WrappedKey, associated: bytes) -> bytes:  # noqa: ARG002
        raise KeyManagementUnavailable("connection refused", "Start it.")


async def test_spec_7_3_requests_to_the_key_management_are_counted_by_their_outcome(tmp_path: Path) -> None:
    add_key(tmp_path / "keys")
    reader = InMemoryMetricReader()
    state.switch_on(None, MeterProvider(metric_readers=[reader]))
    try:
        measured = MeasuredKeyManagement(FileKeyManagement(tmp_path / "keys"))
        away = MeasuredKeyManagement(Away(tmp_path / "keys"))
    finally:
        state.switch_off()
    wrapped = await measured.wrap(KEY, USER)
    assert wrapped.version == await measured.current_version()
    assert await measured.unwrap(wrapped, USER) == KEY
    with pytest.raises(DecryptionError):
        await measured.unwrap(wrapped, b"another user")
    with pytest.raises(KeyManagementUnavailable):
        await away.unwrap(wrapped, USER)
    await measured.aclose()

    data = reader.get_metrics_data()
    assert data is not None
    counted = {
        (str((point.attributes or {})["operation"]), str((point.attributes or {})["outcome"])): point.value  # type: ignore[union-attr]
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        for point in metric.data.data_points
    }
    # An alert sees the first failure as an increase: what has not happened yet is there as 0.
    assert counted == {
        ("wrap", "ok"): 1,
        ("wrap", "unavailable"): 0,
        ("wrap", "refused"): 0,
        ("unwrap", "ok"): 1,
        ("unwrap", "unavailable"): 1,
        ("unwrap", "refused"): 1,
    }
