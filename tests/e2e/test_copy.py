"""`mneme copy` between embedded engines and a PostgreSQL that a file of variables names."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest
import pytest_asyncio

from services.cli.engines import migrate_schemas
from services.common.copying.ledger import PostgresCopyLedger
from services.common.datadir import DataDir
from services.common.postgres.server import EmbeddedPostgres
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
from tests.support.postgres import DatabaseUrls, fresh_postgres

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def filled(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> Filled:
    folder = tmp_path_factory.mktemp("copy")
    return await fill(folder / "data", model_folder, folder)


@pytest_asyncio.fixture(loop_scope="session")
async def server(postgres_server: EmbeddedPostgres) -> AsyncIterator[DatabaseUrls]:
    async with fresh_postgres(postgres_server) as urls:
        yield urls


def variables(folder: Path, urls: DatabaseUrls, *, admin: str | None = None) -> Path:
    """A file that names a database, and a folder for the vectors."""
    file = folder / "engines.env"
    file.write_text(
        f"MNEME_POSTGRES_URL={urls.app}\n"
        f"MNEME_POSTGRES_OWNER_URL={urls.owner}\n"
        f"MNEME_POSTGRES_ADMIN_URL={urls.superuser if admin is None else admin}\n"
        f"MNEME_DATA_DIR={folder / 'engines'}\n",
        "utf-8",
    )
    return file


@pytest.mark.ci("three installations, two copies")
async def test_a_copied_folder_answers_as_before_and_goes_on(
    filled: Filled, tmp_path: Path, model_folder: Path
) -> None:
    result = await asyncio.to_thread(run_copy_command, filled.data_dir, tmp_path / "new", "--batch-size", "17")

    assert result.exit_code == 0, result.output
    assert "both sides are equal" in result.output
    assert "maintenance.log" in result.output
    assert "Sessions are not copied" in result.output
    async with reopened(filled, tmp_path / "new", model_folder) as target:
        assert await ask_all(target, filled.keys) == filled.answers
        assert await remember_more(target, filled.keys) == ["My new bicycle is orange.", "It squeaks."]


@pytest.mark.ci("copies a whole installation twice")
async def test_a_copy_to_a_server_and_back_is_equal(
    filled: Filled, server: DatabaseUrls, tmp_path: Path, model_folder: Path
) -> None:
    there = variables(tmp_path, server)

    first = await asyncio.to_thread(run_copy_command, filled.data_dir, there)
    back = await asyncio.to_thread(run_copy_command, there, tmp_path / "back", "--batch-size", "23")
    compared = await asyncio.to_thread(run_copy_command, filled.data_dir, tmp_path / "back", "--verify-only")

    assert (first.exit_code, back.exit_code, compared.exit_code) == (0, 0, 0), first.output + back.output
    async with reopened(
        filled, tmp_path / "engines", model_folder, postgres_url=server.app, postgres_owner_url=server.owner
    ) as target:
        assert await ask_all(target, filled.keys) == filled.answers


@pytest.mark.ci("copies that are killed many times")
async def test_a_copy_killed_at_any_moment_goes_on_and_ends_equal(
    filled: Filled, server: DatabaseUrls, tmp_path: Path
) -> None:
    there = variables(tmp_path, server)
    command = copy_command(filled.data_dir, there, "--batch-size", "2")
    administration = await asyncpg.connect(server.superuser)
    try:
        for kind in ("gateway.interactions", "episodic.points%", "semantic.facts", "agentic.link_ends"):
            copying = await asyncio.create_subprocess_exec(
                *command, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
            )
            await until_begun(administration, kind, copying)
            copying.kill()
            await copying.communicate()
    finally:
        await administration.close()

    result = await asyncio.to_thread(run_copy_command, filled.data_dir, there)

    assert result.exit_code == 0, result.output
    assert "both sides are equal" in result.output


async def test_what_differs_afterwards_is_told(filled: Filled, server: DatabaseUrls, tmp_path: Path) -> None:
    there = variables(tmp_path, server)
    assert (await asyncio.to_thread(run_copy_command, filled.data_dir, there)).exit_code == 0
    administration = await asyncpg.connect(server.superuser)
    await administration.execute("UPDATE semantic.facts SET text = text || '!' WHERE tenant_id = 'globex'")
    await administration.close()

    compared = await asyncio.to_thread(run_copy_command, filled.data_dir, there, "--verify-only")
    again = await asyncio.to_thread(run_copy_command, filled.data_dir, there)

    assert compared.exit_code == 1
    [line] = [line for line in compared.output.splitlines() if "differs" in line]
    assert line.startswith("semantic.facts ")
    assert "Both sides differ." in compared.output
    assert again.exit_code == 1
    assert "holds a whole copy of this source" in again.output


class TestRefusals:
    """A copy that would lose or mix something is not begun."""

    async def test_a_folder_in_use_is_refused(self, filled: Filled, tmp_path: Path) -> None:
        with DataDir(filled.data_dir):
            result = await asyncio.to_thread(run_copy_command, filled.data_dir, tmp_path / "new", "--force")

        assert result.exit_code == 1
        assert "is in use by process" in result.output

    async def test_connected_services_are_refused_unless_forced(
        self, filled: Filled, server: DatabaseUrls, tmp_path: Path
    ) -> None:
        there = variables(tmp_path, server)
        service = await asyncpg.connect(server.app, server_settings={"application_name": "mneme-episodic"})
        try:
            refused = await asyncio.to_thread(run_copy_command, filled.data_dir, there)
            forced = await asyncio.to_thread(run_copy_command, filled.data_dir, there, "--force")
        finally:
            await service.close()

        assert refused.exit_code == 1
        assert "services are running (mneme-episodic): stop them" in refused.output
        assert forced.exit_code == 0, forced.output

    async def test_a_target_with_data_of_its_own_is_refused(self, filled: Filled, tmp_path: Path) -> None:
        new = tmp_path / "new"
        with DataDir(new) as data_dir:
            async with EmbeddedPostgres(data_dir) as postgres:
                await migrate_schemas(postgres.owner_dsn, has_graph=False)
                connection = await asyncpg.connect(postgres.superuser_dsn)
                await connection.execute("INSERT INTO gateway.speakers VALUES ('acme', 'ana', 'Ana')")
                await connection.close()

        result = await asyncio.to_thread(run_copy_command, filled.data_dir, new)

        assert result.exit_code == 1
        assert "the target is not empty: it holds gateway.speakers" in result.output

    async def test_without_a_role_that_sees_all_tenants_the_way_to_one_is_told(
        self, filled: Filled, server: DatabaseUrls, tmp_path: Path
    ) -> None:
        result = await asyncio.to_thread(run_copy_command, filled.data_dir, variables(tmp_path, server, admin=""))

        assert result.exit_code == 1
        assert "CREATE ROLE mneme_admin LOGIN BYPASSRLS" in result.output

    async def test_two_copies_to_one_target_are_refused(
        self, filled: Filled, server: DatabaseUrls, tmp_path: Path
    ) -> None:
        other = await asyncpg.connect(server.superuser)
        try:
            await PostgresCopyLedger.open(other)
            result = await asyncio.to_thread(run_copy_command, filled.data_dir, variables(tmp_path, server))
        finally:
            await other.close()

        assert result.exit_code == 1
        assert "another copy to the same target is under way" in result.output

    async def test_one_place_is_no_copy_of_itself(self, filled: Filled, tmp_path: Path) -> None:
        result = await asyncio.to_thread(run_copy_command, filled.data_dir, filled.data_dir)
        nothing = await asyncio.to_thread(run_copy_command, tmp_path / "none", tmp_path / "new")

        assert result.exit_code == nothing.exit_code == 1
        assert "both places are the same data folder" in result.output
        assert "neither a data folder nor a file" in nothing.output
