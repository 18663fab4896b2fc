"""`mneme copy` from embedded engines to servers of the kind that production has, and back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncpg
import pytest
import pytest_asyncio

from tests.support.copying import (
    Filled,
    ask_all,
    copy_command,
    fill,
    remember_more,
    reopened,
    run_copy_command,
    until_begun,
)
from tests.support.neo4j import fresh_graph
from tests.support.postgres import DatabaseUrls, fresh_postgres
from tests.support.postgres_server import PostgresByUrl
from tests.support.qdrant_server import running
from tests.support.redis import free_port

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def filled(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> Filled:
    folder = tmp_path_factory.mktemp("copy")
    return await fill(folder / "data", model_folder, folder)


@pytest_asyncio.fixture(loop_scope="session")
async def server(real_postgres: PostgresByUrl) -> AsyncIterator[DatabaseUrls]:
    """A PostgreSQL without pgvector."""
    async with fresh_postgres(real_postgres) as urls:
        yield urls


@pytest.fixture
def qdrant_url(tmp_path: Path) -> Iterator[str]:
    """The stand-in for a Qdrant server."""
    with running(tmp_path / "qdrant", free_port()) as process:
        yield process.url


@pytest_asyncio.fixture(loop_scope="session")
async def production(server: DatabaseUrls, neo4j_url: str, qdrant_url: str, tmp_path: Path) -> Path:
    """A file that names the servers, all of them empty."""
    async with fresh_graph(neo4j_url):
        pass
    file = tmp_path / "engines.env"
    file.write_text(
        f"MNEME_POSTGRES_URL={server.app}\n"
        f"MNEME_POSTGRES_OWNER_URL={server.owner}\n"
        f"MNEME_POSTGRES_ADMIN_URL={server.superuser}\n"
        f"MNEME_NEO4J_URL={neo4j_url}\n"
        f"MNEME_QDRANT_URL={qdrant_url}\n",
        "utf-8",
    )
    return file


@pytest.mark.proof("make test-proofs")
async def test_a_copy_to_production_and_back_answers_as_before_everywhere(
    filled: Filled,
    production: Path,
    server: DatabaseUrls,
    neo4j_url: str,
    qdrant_url: str,
    tmp_path: Path,
    model_folder: Path,
) -> None:
    first = await asyncio.to_thread(run_copy_command, filled.data_dir, production, "--batch-size", "31")
    assert first.exit_code == 0, first.output
    back = await asyncio.to_thread(run_copy_command, production, tmp_path / "back", "--batch-size", "13")
    assert back.exit_code == 0, back.output
    compared = await asyncio.to_thread(run_copy_command, filled.data_dir, tmp_path / "back", "--verify-only")
    assert compared.exit_code == 0, compared.output

    async with reopened(filled, tmp_path / "back", model_folder) as target:
        assert await ask_all(target, filled.keys) == filled.answers
    servers = {"postgres_url": server.app, "postgres_owner_url": server.owner, "neo4j_url": neo4j_url}
    servers["qdrant_url"] = qdrant_url
    async with reopened(filled, tmp_path / "engines", model_folder, **servers) as target:
        assert await ask_all(target, filled.keys) == filled.answers
        assert await remember_more(target, filled.keys) == ["My new bicycle is orange.", "It squeaks."]


@pytest.mark.proof("make test-proofs")
async def test_a_copy_to_a_graph_killed_at_any_moment_goes_on_and_ends_equal(
    filled: Filled, production: Path, server: DatabaseUrls
) -> None:
    command = copy_command(filled.data_dir, production, "--batch-size", "3")
    administration = await asyncpg.connect(server.superuser)
    try:
        for kind in ("semantic.facts", "agentic.notes", "agentic.link_ends"):
            copying = await asyncio.create_subprocess_exec(
                *command, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
            )
            await until_begun(administration, kind, copying)
            copying.kill()
            await copying.communicate()
    finally:
        await administration.close()

    result = await asyncio.to_thread(run_copy_command, filled.data_dir, production)

    assert result.exit_code == 0, result.output
