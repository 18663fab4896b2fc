"""Redis, started and stopped as the tools do."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.engines import absent
from tools.engines.group import missing
from tools.engines.process import exchange
from tools.engines.redis import RedisEngine

ROOT = Path(__file__).parents[3]


@pytest.fixture
def engine(engine_folder: Path, request: pytest.FixtureRequest) -> Iterator[RedisEngine]:
    if reason := missing("redis"):
        absent(request, "redis", reason)
    engine = RedisEngine(engine_folder / "redis")
    yield engine
    engine.clean()


def test_it_comes_back_on_its_port_with_its_data_after_a_kill(engine: RedisEngine) -> None:
    engine.start()
    url = engine.url
    assert exchange(engine.port, b"SET key value\r\n").startswith(b"+OK")
    engine.kill()
    assert engine.pid is None
    assert exchange(engine.port, b"PING\r\n") == b""
    engine.start()
    assert engine.url == url
    assert b"value" in exchange(engine.port, b"GET key\r\n")


def test_another_object_leaves_alone_what_runs(engine: RedisEngine) -> None:
    engine.start()
    other = RedisEngine(engine.folder)
    other.start()
    assert (other.pid, other.url) == (engine.pid, engine.url)
    other.stop()
    assert engine.pid is None
    other.stop()


def test_with_a_password_nobody_comes_in_without_it(tmp_path: Path, engine: RedisEngine) -> None:
    with RedisEngine(tmp_path / "locked", password="s3cret") as locked:
        assert exchange(locked.port, b"GET key\r\n").startswith(b"-NOAUTH")
        assert locked.url == f"redis://:s3cret@127.0.0.1:{locked.port}"
    assert engine.pid is None


@pytest.mark.parametrize("status", [0, 3])
def test_a_command_runs_beside_throw_away_engines(tmp_path: Path, engine: RedisEngine, status: int) -> None:
    seen = tmp_path / "seen"
    program = (
        f"import os; open({str(seen)!r}, 'w').write(os.environ['MNEME_TEST_REDIS_URL']); raise SystemExit({status})"
    )
    done = subprocess.run(
        [sys.executable, "-m", "tools.engines", "run", "redis", "--", sys.executable, "-c", program],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        check=False,
    )
    assert done.returncode == status
    port = int(seen.read_text().rpartition(":")[2])
    assert exchange(port, b"PING\r\n") == b""
    assert not list(tmp_path.glob("mneme-engines-*"))
    assert engine.pid is None
