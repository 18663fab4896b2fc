"""No byte of an erased user is left in the files of Redis and PostgreSQL after a purge, nor in a copy of Neo4j."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.prove_erase.proof import prove
from bench.prove_erase.servers import Servers, running_servers
from tests.support.engines import absent, engines_home
from tools.engines.group import missing

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.proof("make prove-erase BENCH_ARGS=--servers"),
]


@pytest.fixture
def servers(request: pytest.FixtureRequest) -> Iterator[Servers]:
    for name in ("redis", "postgres", "neo4j"):
        if reason := missing(name):
            absent(request, name, reason)
    with engines_home() as folder, running_servers(folder) as running:
        yield running


async def test_spec_6_6_no_byte_of_an_erased_user_is_left_in_a_file_of_a_server_after_a_purge(
    servers: Servers, tmp_path: Path, model_folder: Path
) -> None:
    proof = await prove(tmp_path / "data", neighbours=50, model_folder=model_folder, servers=servers)
    assert proof.unseen == []  # the scan finds each of them where it is
    assert {"Redis", "Neo4j transaction logs", "PostgreSQL", "vector index"} <= set(proof.before.by_store())
    assert proof.abandoned.hits  # what the copy is for
    assert proof.after.hits == []
    assert proof.after.unread == []
    assert {"Redis", "Neo4j, copied to", "PostgreSQL, copied to"} <= set(proof.after.files)
