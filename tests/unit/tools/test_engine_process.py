"""How an engine's process is found again."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.engines.process import EngineError, EngineProcess, free_port, is_free

WAITING = "import signal; print('here', flush=True); signal.pause()"

LINGERING = """
import ctypes, os, signal, threading, time
def linger():
    time.sleep(0.5)
    os._exit(0)
signal.signal(signal.SIGTERM, lambda *_: None)
print("here", flush=True)
signal.pause()
threading.Thread(target=linger).start()
ctypes.CDLL(None).pthread_exit(None)
"""
"""Asked to end, its first thread does so at once, another half a second later."""


@pytest.fixture
def process(tmp_path: Path) -> Iterator[EngineProcess]:
    process = EngineProcess(tmp_path)
    yield process
    process.end(signal.SIGKILL, timeout_seconds=10)


def command(folder: Path, program: str = WAITING) -> list[str]:
    return [sys.executable, "-c", program, str(folder / "data")]


def test_a_process_is_found_by_another_object(process: EngineProcess, tmp_path: Path) -> None:
    process.start(command(tmp_path))
    process.wait_ready(lambda: "here" in process.log_file.read_text(), timeout_seconds=30)
    other = EngineProcess(tmp_path)
    assert other.pid == process.pid is not None
    other.end(signal.SIGTERM, timeout_seconds=30)
    assert process.pid is None


def test_a_process_has_ended_when_its_last_thread_has(process: EngineProcess, tmp_path: Path) -> None:
    process.start(command(tmp_path, LINGERING))
    process.wait_ready(lambda: "here" in process.log_file.read_text(), timeout_seconds=30)
    EngineProcess(tmp_path).end(signal.SIGTERM, timeout_seconds=30)
    assert process.pid is None


def test_a_pid_file_that_names_a_stranger_is_not_believed(process: EngineProcess, tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as stranger:
        (tmp_path / "pid").write_text(f"{stranger.pid}\n")
        assert process.pid is None
        process.end(signal.SIGKILL, timeout_seconds=1)
        assert stranger.poll() is None
        stranger.kill()
    assert not (tmp_path / "pid").exists()


@pytest.mark.parametrize("content", ["", "nonsense", "4194305"])
def test_a_pid_file_that_names_nobody_is_not_believed(process: EngineProcess, tmp_path: Path, content: str) -> None:
    (tmp_path / "pid").write_text(content)
    assert process.pid is None


def test_a_process_that_ends_says_why(process: EngineProcess, tmp_path: Path) -> None:
    process.start(command(tmp_path, "raise SystemExit('no such thing')"))
    with pytest.raises(EngineError, match="no such thing"):
        process.wait_ready(lambda: False, timeout_seconds=30)
    assert not (tmp_path / "pid").exists()


def test_a_process_that_ignores_its_signal_is_killed(process: EngineProcess, tmp_path: Path) -> None:
    ignoring = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); signal.pause()"
    process.start(command(tmp_path, ignoring))
    process.wait_ready(lambda: "deaf" in process.log_file.read_text(), timeout_seconds=30)
    process.end(signal.SIGTERM, timeout_seconds=0.1)
    assert process.pid is None


def test_ports_are_below_those_of_outgoing_connections() -> None:
    port = free_port()
    assert is_free(port)
    assert port < 32_768
