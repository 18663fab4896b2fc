"""PostgreSQL, started and stopped as the tools do."""

from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest

from tests.support.engines import absent
from tools.engines.group import missing
from tools.engines.postgres import PostgresEngine


@pytest.fixture
def engine(engine_folder: Path, request: pytest.FixtureRequest) -> Iterator[PostgresEngine]:
    if reason := missing("postgres"):
        absent(request, "postgres", reason)
    engine = PostgresEngine(engine_folder / "postgres")
    yield engine
    engine.clean()


async def test_it_comes_back_with_its_data_after_a_kill(engine: PostgresEngine) -> None:
    engine.start()
    owner = await asyncpg.connect(engine.owner_url)
    await owner.execute("CREATE TABLE kept AS SELECT 7 AS number")
    engine.kill()
    # What a recycled process id would look like to PostgreSQL: its lock file names somebody who lives.
    lock = engine.folder / "data" / "postmaster.pid"
    lock.write_text("1\n" + lock.read_text().partition("\n")[2])
    engine.start()
    owner.terminate()
    again = await asyncpg.connect(engine.owner_url)
    assert await again.fetchval("SELECT number FROM kept") == 7
    await again.close()


async def test_the_roles_are_those_of_the_services(engine: PostgresEngine) -> None:
    engine.start()
    app = await asyncpg.connect(engine.url)
    assert await app.fetchval("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user") is False
    assert await app.fetchval("SELECT current_database()") == "mneme"
    assert (
        await app.fetchval("SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = 'mneme'") == "mneme_owner"
    )
    await app.close()
    with pytest.raises(asyncpg.InvalidPasswordError):
        await asyncpg.connect(engine.url.replace(engine.password, "wrong"))
