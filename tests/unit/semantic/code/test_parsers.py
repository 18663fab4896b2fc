"""Files keep their grammar when a parser process ends by chance."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.common.errors import StoreUnavailable
from services.semantic.code.model import FileStatus
from services.semantic.code.packing import unpack
from services.semantic.code.parsers import CodeParsers

SOURCE = b"def levy(): pass\n"


@pytest.fixture
async def parsers() -> AsyncIterator[CodeParsers]:
    parsers = CodeParsers(processes=1, timeout_seconds=60.0)
    yield parsers
    await parsers.aclose()


def _executable(folder: Path, *, crashes: int) -> str:
    """A Python whose first starts crash."""
    program = folder / "python"
    marks = " ".join(f'"{folder}/{number}"' for number in range(crashes))
    program.write_text(
        "#!/bin/sh\n"
        f'for mark in {marks}; do [ -e "$mark" ] || {{ : > "$mark"; kill -SEGV $$; }}; done\n'
        f'exec "{sys.executable}" "$@"\n'
    )
    program.chmod(0o700)
    return str(program)


@pytest.mark.parametrize("count", [1, 3])
async def test_spec_3_11_a_process_that_crashes_at_its_start_costs_no_file_its_grammar(
    parsers: CodeParsers, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, count: int
) -> None:
    monkeypatch.setattr(sys, "executable", _executable(tmp_path, crashes=1))
    found = await parsers.parse([(f"{number}.py", SOURCE) for number in range(count)])
    assert [file.status for file in found] == [FileStatus.PARSED] * count
    assert all([symbol.name for symbol in unpack(file).symbols] == ["levy"] for file in found)


async def test_spec_3_11_files_are_refused_for_now_where_no_process_can_be_started(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "executable", _executable(tmp_path, crashes=9))
    parsers = CodeParsers(processes=1, timeout_seconds=60.0)
    with pytest.raises(StoreUnavailable):
        await parsers.parse([("a.py", SOURCE)])
    await parsers.aclose()


async def test_spec_3_11_a_process_that_ended_between_two_uploads_is_started_again(parsers: CodeParsers) -> None:
    for number in range(3):
        [file] = await parsers.parse([(f"{number}.py", SOURCE)])
        assert file.status is FileStatus.PARSED
        parsers._all[0]._worker.interrupt()


async def test_spec_3_11_an_upload_that_is_given_up_delays_no_other(parsers: CodeParsers) -> None:
    await parsers.parse([("a.py", SOURCE)])
    large = asyncio.ensure_future(parsers.parse([("b.py", SOURCE * 20_000)]))
    await asyncio.sleep(0)
    large.cancel()
    [file] = await parsers.parse([("c.py", SOURCE)])
    assert (file.path, file.status) == ("c.py", FileStatus.PARSED)
    with pytest.raises(asyncio.CancelledError):
        await large


async def test_spec_3_11_closed_parsers_say_so() -> None:
    parsers = CodeParsers(processes=1, timeout_seconds=60.0)
    await parsers.aclose()
    with pytest.raises(StoreUnavailable):
        await parsers.parse([("a.py", SOURCE)])
