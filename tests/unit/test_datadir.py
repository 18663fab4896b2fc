"""The data folder: where it is, who holds it, what it refuses."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from services.common.datadir import (
    FORMAT_VERSION,
    DataDir,
    DataDirError,
    DataDirLocked,
    DataDirVersionError,
    default_data_dir,
)

_HOLD = (
    "import sys; from pathlib import Path; from services.common.datadir import DataDir;"
    "held = DataDir(Path(sys.argv[1])).open(); print('held', flush=True); sys.stdin.read()"
)


def _start_holder(folder: Path) -> subprocess.Popen[str]:
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    return holder


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({"XDG_DATA_HOME": "/data", "HOME": "/home/ada"}, "/data/mneme"),
        ({"HOME": "/home/ada"}, "/home/ada/.local/share/mneme"),
        ({"XDG_DATA_HOME": "", "HOME": "/home/ada"}, "/home/ada/.local/share/mneme"),
        ({"XDG_DATA_HOME": "relative", "HOME": "/home/ada"}, "/home/ada/.local/share/mneme"),
    ],
)
def test_default_folder_follows_xdg(env: dict[str, str], expected: str) -> None:
    assert default_data_dir(env) == Path(expected)


def test_default_folder_needs_a_home() -> None:
    with pytest.raises(DataDirError, match="HOME"):
        default_data_dir({})


def test_open_creates_private_folders(tmp_path: Path) -> None:
    with DataDir(tmp_path / "a" / "b") as data_dir:
        folders = [data_dir.path, data_dir.postgres, data_dir.qdrant, data_dir.models]
        assert [folder.stat().st_mode & 0o777 for folder in folders] == [0o700] * 4
        assert (data_dir.path / "format-version").read_text() == f"{FORMAT_VERSION}\n"
        assert (data_dir.path / "mneme.lock").read_text() == f"{os.getpid()}\n"


def test_second_holder_is_refused_with_the_pid_of_the_first(tmp_path: Path) -> None:
    with DataDir(tmp_path), pytest.raises(DataDirLocked, match=str(os.getpid())) as caught:
        DataDir(tmp_path).open()
    assert caught.value.pid == os.getpid()


def test_lock_holds_against_another_process_and_vanishes_with_kill_9(tmp_path: Path) -> None:
    holder = _start_holder(tmp_path)
    try:
        with pytest.raises(DataDirLocked) as caught:
            DataDir(tmp_path).open()
        assert caught.value.pid == holder.pid
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.communicate()
    with DataDir(tmp_path) as data_dir:
        assert data_dir.is_locked


def test_closed_folder_can_be_opened_again(tmp_path: Path) -> None:
    data_dir = DataDir(tmp_path).open()
    data_dir.close()
    data_dir.close()
    assert not data_dir.is_locked
    with DataDir(tmp_path) as again:
        assert again.is_locked


@pytest.mark.parametrize("content", [str(FORMAT_VERSION + 1), "", "next"])
def test_newer_or_unreadable_format_is_refused_and_the_lock_given_back(tmp_path: Path, content: str) -> None:
    (tmp_path / "format-version").write_text(content)
    with pytest.raises(DataDirVersionError, match="format version"):
        DataDir(tmp_path).open()
    (tmp_path / "format-version").write_text(str(FORMAT_VERSION))
    with DataDir(tmp_path) as data_dir:
        assert data_dir.is_locked


def test_a_file_is_no_data_folder(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(DataDirError, match="is a file"):
        DataDir(file).open()
