"""The watch over free space, and what it refuses."""

from pathlib import Path

import pytest

from services.common.disk import DiskFull, DiskSettings, DiskWatch, free_bytes_of
from services.common.errors import Reason

MEBIBYTE = 1024 * 1024
SETTINGS = DiskSettings(reserve_bytes=100 * MEBIBYTE, start_bytes=10 * MEBIBYTE, check_seconds=1.0)


class Disk:
    def __init__(self) -> None:
        self.free = 200 * MEBIBYTE
        self.now = 0.0
        self.watch = DiskWatch(Path("/data"), SETTINGS, free_bytes=lambda _: self.free, clock=lambda: self.now)


def test_writes_are_refused_below_the_reserve_and_accepted_again_with_space() -> None:
    disk = Disk()
    disk.watch.require_space()
    disk.free, disk.now = 99 * MEBIBYTE, 1.0
    with pytest.raises(DiskFull, match="99 MiB free, writes need 100 MiB") as refused:
        disk.watch.require_space()
    assert refused.value.retry_after_seconds > 0
    assert disk.watch.is_low
    disk.free, disk.now = 100 * MEBIBYTE, 2.0
    disk.watch.require_space()


def test_space_is_measured_no_more_often_than_set() -> None:
    disk = Disk()
    disk.watch.require_space()
    disk.free, disk.now = 0, 0.9
    disk.watch.require_space()
    disk.now = 1.0
    assert disk.watch.is_low


def test_deletions_use_the_reserve_until_nothing_could_be_started() -> None:
    disk = Disk()
    disk.free = 10 * MEBIBYTE
    disk.watch.require_space_to_delete()
    disk.free, disk.now = 9 * MEBIBYTE, 1.0
    with pytest.raises(DiskFull, match=r"the disk is full: 9 MiB free, deletions need 10 MiB") as refused:
        disk.watch.require_space_to_delete()
    assert refused.value.reason is Reason.DISK_FULL


def test_a_start_needs_less_than_writes() -> None:
    disk = Disk()
    disk.free = 10 * MEBIBYTE
    disk.watch.require_start()
    disk.free, disk.now = 9 * MEBIBYTE, 1.0
    with pytest.raises(DiskFull, match=r"the disk of /data is full: 9 MiB free, a start needs 10 MiB"):
        disk.watch.require_start()


def test_a_folder_that_is_not_there_yet_is_measured_where_it_will_be(tmp_path: Path) -> None:
    assert free_bytes_of(tmp_path / "not" / "there") > 0
