"""All services as processes of their own, one of which is killed."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import psutil
import pytest

from mneme_client import Client, RetryPolicy
from tests.support.stack import running_stack


def children() -> set[psutil.Process]:
    """The processes that this one started, those that other fixtures keep among them."""
    return set(psutil.Process(os.getpid()).children(recursive=True))


def process_of(service: str, others: set[psutil.Process]) -> psutil.Process:
    """The process that runs a service, and is none of the others."""
    (found,) = [child for child in children() - others if child.cmdline()[-2:] == ["-m", f"services.{service}"]]
    return found


@pytest.mark.ci("a process for each service")
async def test_a_service_that_is_killed_is_started_again(
    tmp_path: Path, model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEME_EMBEDDING_MODEL_DIR", str(model_folder))  # processes read their own environment
    others = children()
    patient = RetryPolicy(attempts_max=200, initial_backoff_seconds=0.05, backoff_seconds_max=0.2)
    async with (
        running_stack(tmp_path / "data", model_folder, processes=True) as services,
        Client(services.gateway_target, retry=patient, default_timeout_seconds=40.0) as client,
    ):
        written = await client.remember("ada", "c1", ["My cat is called Momo.", "I live in Lyon."])
        found = await client.recall("ada", "What pet do I have?", consistency_token=written.consistency_token)
        assert found.memories[0].turn.content == "My cat is called Momo."
        assert not found.degraded

        killed = process_of("session", others)
        killed.send_signal(signal.SIGKILL)
        window = await client.get_session("ada", "c1")
        assert [turn.turn.content for turn in window.turns] == ["My cat is called Momo.", "I live in Lyon."]
        assert window.rebuilt  # the new process knew nothing
        assert process_of("session", others).pid != killed.pid
    assert [child for child in children() - others if "-m" in child.cmdline()] == []
