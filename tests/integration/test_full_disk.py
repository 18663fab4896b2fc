"""A disk that runs full: writes are refused before, reads go on, and writes go on when there is space again."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import grpc
import pytest

from mneme.common.v1 import common_pb2
from mneme.episodic.v1 import episodic_pb2
from mneme.gateway.v1 import memory_pb2, recall_pb2
from services.cli.stack import StackSettings, run_stack
from services.common.disk import DiskFull, free_bytes_of
from services.common.embedding.factory import create_embedder
from tests.support.stack import Stubs, refusal, stubs

MEBIBYTE = 1024 * 1024
SIZE = 500 * MEBIBYTE
RESERVE = 120 * MEBIBYTE


@pytest.fixture(params=["tmpfs", "ext4"])
def small_disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, small enough to be filled."""
    folder, image = tmp_path / "disk", tmp_path / "image"
    folder.mkdir()
    if request.param == "tmpfs":
        commands = [["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)]]
    else:
        image.touch()
        os.truncate(image, SIZE)
        commands = [["mkfs.ext4", "-q", "-m", "0", str(image)], ["mount", "-o", "loop", str(image), str(folder)]]
    for command in commands:
        try:
            subprocess.run(command, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as error:
            pytest.skip(f"file systems can be mounted by root alone, and not in every container: {error}")
    folder.chmod(0o755)
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path, *, left: int) -> Path:
    """Leave so many bytes free; with 0, not a single block."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as stream:
        if left:
            os.posix_fallocate(stream.fileno(), 0, max(1, free_bytes_of(folder) - left))
            return ballast
        for size in (MEBIBYTE, 4_096):
            with contextlib.suppress(OSError):
                while stream.write(bytes(size)) == size:
                    pass
    return ballast


@contextlib.asynccontextmanager
async def running(folder: Path, model_folder: Path) -> AsyncIterator[Stubs]:
    settings = StackSettings(data_dir=folder / "data", port=0, is_private=True, grace_seconds=2.0)
    # The model is not part of what fills the disk.
    stack = run_stack(settings, make_embedder=lambda chosen: create_embedder(replace(chosen, data_dir=model_folder)))
    async with stack as services, stubs(services.gateway_target) as gateway:
        yield gateway


def remembered(number: int) -> memory_pb2.RememberRequest:
    turn = common_pb2.Turn(role=common_pb2.MESSAGE_ROLE_USER, content=f"The harbour has {number} red boats.")
    return memory_pb2.RememberRequest(request_id=f"disk-{number}", user_id="ann", conversation_id="boats", turns=[turn])


async def recalled(gateway: Stubs, token: str = "") -> recall_pb2.RecallResponse:
    request = recall_pb2.RecallRequest(user_id="ann", query="red boats in the harbour", consistency_token=token)
    response: recall_pb2.RecallResponse = await gateway.memory.Recall(request, timeout=60)
    return response


@pytest.mark.ci("all services on a disk that is filled")
async def test_writes_are_refused_before_the_disk_is_full_deletions_are_not_and_both_go_on_with_space(
    small_disk: Path, model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEME_DISK__RESERVE_BYTES", str(RESERVE))
    monkeypatch.setenv("MNEME_DISK__CHECK_SECONDS", "0.000001")
    async with running(small_disk, model_folder) as gateway:
        first = await gateway.memory.Remember(remembered(1), timeout=30)
        assert (await recalled(gateway, first.consistency_token)).consistent

        ballast = fill(small_disk, left=RESERVE // 2)
        refused = await refusal(gateway.memory.Remember(remembered(2), timeout=30))
        assert refused.code is grpc.StatusCode.UNAVAILABLE
        assert (refused.reason, refused.facts["store"]) == ("DISK_FULL", "disk")
        assert (await recalled(gateway)).memories

        boats = episodic_pb2.ArchiveEpisodesRequest(request_id="gone", user_id="ann", conversation_id="boats")
        assert (await gateway.episodes.ArchiveEpisodes(boats, timeout=30)).archived_count == 1
        assert not (await recalled(gateway)).memories

        ballast.unlink()
        second = await gateway.memory.Remember(remembered(2), timeout=30)
        answer = await recalled(gateway, second.consistency_token)
        assert answer.consistent
        assert answer.memories


@pytest.mark.ci("all services on a disk that is filled")
async def test_services_and_database_recover_from_a_disk_without_a_free_byte(
    small_disk: Path, model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEME_DISK__RESERVE_BYTES", "0")
    async with running(small_disk, model_folder) as gateway:
        await gateway.memory.Remember(remembered(0), timeout=30)
        ballast = fill(small_disk, left=0)
        for number in range(1, 40):
            with contextlib.suppress(grpc.aio.AioRpcError):
                await gateway.memory.Remember(remembered(number), timeout=1)
        ballast.unlink()
        last = await again(gateway, remembered(40))
        assert (await recalled(gateway, last.consistency_token)).consistent


async def test_a_start_on_a_full_disk_says_so_in_one_line(small_disk: Path, model_folder: Path) -> None:
    fill(small_disk, left=10 * MEBIBYTE)
    with pytest.raises(DiskFull, match=r"^the disk of .* is full: \d+ MiB free, a start needs 48 MiB"):
        async with running(small_disk, model_folder):
            pytest.fail("it has started")


async def again(gateway: Stubs, request: memory_pb2.RememberRequest) -> memory_pb2.RememberResponse:
    """Remember as clients do: again while the services say that they are not available."""
    async with asyncio.timeout(90):
        while True:
            try:
                response: memory_pb2.RememberResponse = await gateway.memory.Remember(request, timeout=10)
                return response
            except grpc.aio.AioRpcError as error:
                if error.code() not in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED}:
                    raise
                await asyncio.sleep(0.2)
