"""`mneme purge` and the schedule beside services that run."""

from __future__ import annotations

import asyncio
import secrets
import sys
from pathlib import Path

import pytest

from mneme_client import Client
from mneme_client.results_erasure import Erasure
from tests.support.stack import running_stack, until


async def _purge(*arguments: str) -> str:
    """What the command prints, as a process of its own."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "services.cli.main", "purge", *arguments),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    stdout, stderr = await process.communicate()
    assert process.returncode == 0, stderr.decode()
    return stdout.decode()


def _files_with(folder: Path, word: bytes) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and word in path.read_bytes()]


async def _erased_word(client: Client, data_dir: Path) -> tuple[Erasure, bytes]:
    """A word of a user who is erased, and that files hold yet."""
    word = secrets.token_hex(8)
    user_id = f"user-{secrets.token_hex(4)}"
    written = await client.remember(user_id, "c1", [f"My boat is called {word}.", "I live in Lyon."])
    found = await client.recall(user_id, "Which boat?", consistency_token=written.consistency_token)
    assert found.memories
    assert await asyncio.to_thread(_files_with, data_dir, word.encode())
    erasure = await client.erase_user(user_id)
    while erasure.complete_time is None:
        erasure = await client.get_erasure(erasure.erasure_id)
    return erasure, word.encode()


@pytest.mark.ci("six processes")
async def test_spec_6_6_the_command_purges_a_folder_and_a_server_that_processes_use(
    tmp_path: Path, model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEME_EMBEDDING_MODEL_DIR", str(model_folder))  # processes read their own environment
    data_dir = tmp_path / "data"
    async with (
        running_stack(data_dir, model_folder, processes=True) as services,
        Client(services.gateway_target, default_timeout_seconds=40.0) as client,
    ):
        admin_url = services.postgres_dsn.replace("mneme_app@", "postgres@", 1)
        for arguments in (("--data-dir", str(data_dir)), ("--admin-url", admin_url, "--data-dir", str(data_dir))):
            erasure, word = await _erased_word(client, data_dir)
            assert erasure.purge_due_time is None
            assert "the vector indexes of the services" in await _purge(*arguments)
            assert await asyncio.to_thread(_files_with, data_dir, word) == []
            receipt = await client.get_erasure(erasure.erasure_id)
            assert receipt.purge_time is not None
            assert "by the schedule" not in receipt.purge_note
            assert (await client.remember("neighbour", "c1", "The train was on time.")).interactions


@pytest.mark.ci("waits for a purge that comes after ten seconds")
@pytest.mark.parametrize(
    "processes",
    [
        pytest.param(False, id="one process"),
        pytest.param(True, id="processes", marks=pytest.mark.proof("make test-proofs")),
    ],
)
async def test_spec_6_6_the_schedule_purges_by_itself_and_the_receipt_says_when(
    tmp_path: Path, model_folder: Path, monkeypatch: pytest.MonkeyPatch, processes: bool
) -> None:
    monkeypatch.setenv("MNEME_EMBEDDING_MODEL_DIR", str(model_folder))
    for name, value in (
        ("IS_ENABLED", "true"),
        ("LOOK_SECONDS", "0.5"),
        ("AGE_SECONDS", "10"),
        ("INTERVAL_SECONDS", "0.5"),
    ):
        monkeypatch.setenv(f"MNEME_EPISODIC__PURGING__{name}", value)
    data_dir = tmp_path / "data"
    async with (
        running_stack(data_dir, model_folder, processes=processes) as services,
        Client(services.gateway_target, default_timeout_seconds=40.0) as client,
    ):
        erasure, word = await _erased_word(client, data_dir)
        receipt = await client.get_erasure(erasure.erasure_id)
        assert receipt.purge_due_time is not None
        assert "episodic.purge_files" in receipt.purge_note

        async def is_purged() -> bool:
            return (await client.get_erasure(erasure.erasure_id)).purge_time is not None

        await until(is_purged, timeout_seconds=600.0)  # a slow disk syncs each file for long
        receipt = await client.get_erasure(erasure.erasure_id)
        assert receipt.purge_due_time is None
        assert "A purge by the schedule" in receipt.purge_note
        assert await asyncio.to_thread(_files_with, data_dir, word) == []
        jobs = {job.name: job for job in (await client.get_jobs()).jobs}
        assert not jobs["episodic.purge_files"].for_user
