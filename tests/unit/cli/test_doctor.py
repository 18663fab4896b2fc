from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from services.cli.doctor import engines, places
from services.cli.doctor.model import Finding, Verdict
from services.cli.health import Answer, ask
from services.common.datadir import DataDir
from tests.servicer.client.conftest import Running
from tests.unit.cli.conftest import Invoke


async def test_doctor_reports_every_part(invoke: Invoke) -> None:
    result = await invoke("doctor", "--json")
    findings = {f["subject"]: f["verdict"] for f in json.loads(result.stdout)}
    for subject in ("Python", "packages", "embedded PostgreSQL", "pgvector", "Qdrant Edge", "embedding model"):
        assert findings[subject] == "ok", (subject, result.stdout)
    assert {"data folder", "free disk", "port 7700 (gateway)", "port 7780 (HTTP)"} <= findings.keys()
    assert result.exit_code == 0


async def test_it_checks_the_ports_that_it_is_given(invoke: Invoke, unused_tcp_port_factory: Callable[[], int]) -> None:
    port = min(unused_tcp_port_factory(), 60_000)
    result = await invoke("doctor", "--json", "--port", str(port), "--http-port", str(port + 7))
    subjects = [f["subject"] for f in json.loads(result.stdout)]
    assert {f"port {port} (gateway)", f"port {port + 4} (agentic)", f"port {port + 7} (HTTP)"} <= set(subjects)
    without = await invoke("doctor", "--json", "--port", "0")
    assert not [f for f in json.loads(without.stdout) if f["subject"].startswith("port ")]


async def test_the_exit_code_tells_of_a_failure(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "_VECTOR_START", (1.0, 0.0, 0.0))
    result = await invoke("doctor", "--data-dir", tmp_path / "data")
    assert result.exit_code == 1
    assert "wrong vector" in result.stdout


def _one(findings: list[Finding], subject: str) -> Finding:
    return next(f for f in findings if f.subject == subject)


def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    finding = _one(list(places.check_data_dir(folder)), "data folder")
    assert finding.verdict is Verdict.OK
    assert not folder.parent.exists()


def test_a_folder_in_use_is_told_with_the_process(tmp_path: Path) -> None:
    with DataDir(tmp_path):
        finding = _one(list(places.check_data_dir(tmp_path)), "data folder")
    assert finding.verdict is Verdict.OK
    assert "in use by process" in finding.detail


def test_a_folder_of_a_newer_version_fails(tmp_path: Path) -> None:
    with DataDir(tmp_path):
        pass
    (tmp_path / "format-version").write_text("999\n")
    finding = _one(list(places.check_data_dir(tmp_path)), "data folder")
    assert finding.verdict is Verdict.FAILED


def test_a_full_disk_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "_FREE_BYTES_MIN", 10**18)
    assert _one(list(places.check_data_dir(tmp_path)), "free disk").verdict is Verdict.WARNING


async def test_a_service_is_told_from_nobody_and_from_strangers(running: Running, unused_tcp_port: int) -> None:
    assert await ask(running.target) is Answer.SERVING
    assert await ask(f"127.0.0.1:{unused_tcp_port}") is Answer.NOBODY

    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example ESMTP\r\n")
        writer.close()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as stranger:
        port = stranger.sockets[0].getsockname()[1]
        assert await ask(f"127.0.0.1:{port}") is Answer.STRANGER


async def test_what_listens_at_the_port_of_http_is_told() -> None:
    said = b""

    async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(said)
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        assert (await places.check_http_port(port)).verdict is Verdict.WARNING
        said = b'HTTP/1.1 503\r\n\r\n{"status": "NOT_SERVING", "needs_key": true}'
        assert (await places.check_http_port(port)).detail == "a gateway serves HTTP"
    assert (await places.check_http_port(port)).detail == "free"
