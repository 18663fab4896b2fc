"""No byte of an erased user is left in any file of the embedded engines after a purge."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.prove_erase.proof import prove

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.ci("an installation with a hundred users is searched byte by byte"),
]


@pytest.mark.proof("make prove-erase")
async def test_spec_6_6_no_byte_of_an_erased_user_is_left_in_a_file_after_a_purge(
    tmp_path: Path, model_folder: Path
) -> None:
    proof = await prove(tmp_path / "data", neighbours=100, model_folder=model_folder)
    assert proof.unseen == []  # the scan finds each of them where it is
    assert proof.erased.hits  # and what the engines leave behind until then
    assert proof.after.hits == []
    assert proof.after.unread == []


async def test_spec_6_6_no_byte_of_an_erased_user_is_left_in_a_file_after_a_purge_while_the_services_run(
    tmp_path: Path, model_folder: Path
) -> None:
    proof = await prove(tmp_path / "data", neighbours=100, model_folder=model_folder, while_running=True)
    assert proof.unseen == []
    assert proof.erased.hits
    assert proof.after.hits == []
    assert proof.after.unread == []
