"""Free space of the disk that a process's own data are on."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog

from services.common.errors import Reason, StoreUnavailable
from services.common.settings_types import CountOrNone, Seconds

_log = structlog.get_logger(__name__)

_MEBIBYTE: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskSettings:
    """When the disk of the embedded engines counts as full."""

    reserve_bytes: CountOrNone = (
        256 * _MEBIBYTE
    )  # free space below which writes are refused: several times what a flush
    # and the building of a segment need (docs/engines.md)
    start_bytes: CountOrNone = 48 * _MEBIBYTE  # free space below which nothing can be started, or deleted
    check_seconds: Seconds = 1.0  # how long a measured free space counts


class DiskFull(StoreUnavailable):
    """Writes are refused because the disk is nearly full; reads go on, and so do writes once there is space."""

    def __init__(self, message: str, *, retry_after_seconds: float = 5.0) -> None:
        """Say how much space there is, and how much there must be."""
        super().__init__("disk", retry_after_seconds, reason=Reason.DISK_FULL)
        self.message = message
        self.args = (message,)


class DiskWatch:
    """Measures the free space of one folder's disk, at most once in `check_seconds`."""

    def __init__(
        self,
        folder: Path,
        settings: DiskSettings | None = None,
        *,
        free_bytes: Callable[[Path], int] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Watch the disk that `folder` is on; nothing is measured yet."""
        self._folder = folder
        self._settings = settings or DiskSettings()
        self._free_bytes = free_bytes or free_bytes_of
        self._clock = clock
        self._measured_at: float | None = None
        self._free = 0
        self._was_low = False

    @property
    def is_low(self) -> bool:
        """Whether there is less free space than the reserve."""
        self._measure()
        return self._was_low

    def require_space(self) -> None:
        """Refuse a write while the disk is nearly full.

        Raises:
            DiskFull: There is less free space than the reserve.
        """
        if self.is_low:
            raise DiskFull(
                f"the disk is nearly full: {self._free // _MEBIBYTE} MiB free, writes need "
                f"{self._settings.reserve_bytes // _MEBIBYTE} MiB; reads go on, and writes once there is space"
            )

    def require_space_to_delete(self) -> None:
        """Refuse a deletion on a full disk. It may use the reserve: what it writes is little, and it makes space.

        Raises:
            DiskFull: There is less free space than `start_bytes`.
        """
        if self.is_low and self._free < self._settings.start_bytes:
            raise DiskFull(
                f"the disk is full: {self._free // _MEBIBYTE} MiB free, deletions need "
                f"{self._settings.start_bytes // _MEBIBYTE} MiB; free some space by other means"
            )

    def require_start(self) -> None:
        """Refuse to start engines on a disk without space for their first files.

        Raises:
            DiskFull: There is less free space than `start_bytes`.
        """
        self._measure()
        if self._free < self._settings.start_bytes:
            raise DiskFull(
                f"the disk of {self._folder} is full: {self._free // _MEBIBYTE} MiB free, a start needs "
                f"{self._settings.start_bytes // _MEBIBYTE} MiB; free some space and start again"
            )

    def _measure(self) -> None:
        now = self._clock()
        if self._measured_at is not None and now - self._measured_at < self._settings.check_seconds:
            return
        self._measured_at = now
        self._free = self._free_bytes(self._folder)
        is_low = self._free < self._settings.reserve_bytes
        if is_low != self._was_low:
            self._was_low = is_low
            facts = {
                "folder": str(self._folder),
                "free_mib": self._free // _MEBIBYTE,
                "reserve_mib": self._settings.reserve_bytes // _MEBIBYTE,
            }
            if is_low:
                _log.error("the disk is nearly full: writes are refused, reads go on", **facts)
            else:
                _log.info("the disk has space again: writes are accepted", **facts)


def free_bytes_of(folder: Path) -> int:
    """Bytes that may still be written to the disk of a folder, or of the nearest folder above that exists."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize
