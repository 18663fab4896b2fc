"""The floor of Remember writes rows of the journal's shape, whatever migrations made of its tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.floor import RememberFloor, superuser_dsn
from tests.support.stack import running_stack

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.ci("a benchmark on an installation of its own")]


async def test_the_floor_of_remember_fits_the_tables_of_the_journal(tmp_path: Path, model_folder: Path) -> None:
    async def hop(request: bytes) -> bytes:
        return request

    async with running_stack(tmp_path / "data", model_folder):
        floors = RememberFloor.open(superuser_dsn(tmp_path / "data"), hop)  # type: ignore[arg-type]
        async with floors as floor:
            await floor.measure("I sail a blue boat.")
    assert len(floor.total_seconds) == len(floor.commit_seconds) == 1
