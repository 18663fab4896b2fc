"""A file of the events that wait for the conversation log, so that they outlive the process."""

from __future__ import annotations

import asyncio
import json
import os
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import structlog

from services.common.datadir import lock_folder
from services.common.encryption.carried import CarriedCipher, CarriedKeys
from services.common.errors import StoreUnavailable
from services.common.owners import Owner, TenantId, UserId
from services.session.model import ConversationId, LogEvent, SessionKey
from services.session.stores.codec import decode_content, encode_content
from services.session.stores.sealing import cipher_for

_log = structlog.get_logger(__name__)

_FILE: Final = "events.jsonl"
_LOCK: Final = "events.lock"
_SLACK_LINES: Final = 1_000
"""Lines of removed events that the file may hold, beyond as many as there are events."""
_RETRY_SECONDS: Final = 1.0

Fsync = Callable[[int], None]


class EventFile:
    """Lines that add or remove events, each durable after the `sync` that follows it.

    One thread writes, so that lines stand in the order in which they were added, and writes that wait for it share
    one fsync. A line that a crash cut off was never acknowledged and is dropped. Use it as a context manager.
    """

    def __init__(self, folder: Path, fsync: Fsync = os.fsync, *, keys: CarriedKeys | None = None) -> None:
        """Store the events in `folder`, which is created; `fsync` makes a descriptor's file durable.

        What turns say is encrypted with `keys`: then `unwrap_keys` comes before `read`, and `prepare` before `add`.
        """
        self._keys = keys
        self._ciphers: dict[Owner, CarriedCipher] = {}  # of the events in the file, until they are read
        self._path = folder / _FILE
        self._folder = folder
        self._fsync = fsync
        self._lines: deque[tuple[int, str]] = deque()  # not durable yet, numbered
        self._last_line = 0
        self._line_count = 0  # in the file and in `_lines`, about
        self._size_bytes = 0  # of the lines that are whole
        self._thread = ThreadPoolExecutor(1, "session-events")

    def __enter__(self) -> Self:
        """Lock the folder and open the file.

        Raises:
            DataDirLocked: Another process has the folder.
            OSError: It cannot be created or written.
        """
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = lock_folder(self._folder, self._folder / _LOCK)
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        self._sync_folder()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write what waits, and close."""
        try:
            self._thread.submit(self._write).result()
        except OSError as problem:
            _log.warning("session_events_not_written", lines=len(self._lines), errno=problem.errno)
        self._thread.shutdown()
        os.close(self._descriptor)
        os.close(self._lock)

    async def unwrap_keys(self) -> None:
        """Unwraps the keys of the events that are in the file.

        Raises:
            DecryptionError, StoreUnavailable: See `CarriedKeys.for_reading`.
        """
        payloads: dict[Owner, list[bytes]] = {}
        for line in self._path.read_bytes().rpartition(b"\n")[0].splitlines():
            added = json.loads(line).get("added")
            if added:
                owner = Owner(TenantId(added[1]), UserId(added[2]))
                payloads.setdefault(owner, []).append(added[-1].encode("ascii"))
        for owner, found in payloads.items():
            cipher = await cipher_for(self._keys, owner, found)
            if cipher is not None:
                self._ciphers[owner] = cipher

    async def prepare(self, owner: Owner) -> CarriedCipher | None:
        """The cipher that `add` takes for events of a user.

        Raises:
            StoreUnavailable: The key management cannot be reached.
        """
        return None if self._keys is None else await self._keys.for_writing(owner)

    def read(self) -> tuple[dict[str, LogEvent], int]:
        """The events that were added and not removed, by id, and the next number for an id."""
        events: dict[str, LogEvent] = {}
        number = 0
        content = self._path.read_bytes()
        whole, _, torn = content.rpartition(b"\n")
        self._size_bytes = len(content) - len(torn)
        for line in whole.splitlines():
            self._line_count += 1
            fields = json.loads(line)
            number = max(number, fields.get("next", 0))
            for event_id in fields.get("removed", ()):
                events.pop(event_id, None)
            if "added" in fields:
                event = _event(fields["added"], self._ciphers)
                events[event.event_id] = event
        self._ciphers.clear()
        return events, number

    def add(self, event: LogEvent, next_number: int, cipher: CarriedCipher | None = None) -> None:
        """Add an event; ids of later ones are made of `next_number` and above."""
        self._append({"next": next_number, "added": _fields(event, cipher)})

    def remove(self, event_ids: Sequence[str]) -> None:
        """Remove events."""
        self._append({"removed": list(event_ids)})

    async def sync(self) -> None:
        """Return when all that was added before is durable.

        Raises:
            StoreUnavailable: The file cannot be written. What was added is written by a later `sync`.
        """
        await self._run(self._write)

    def is_sparse(self, event_count: int) -> bool:
        """Whether the file is much longer than so many events need."""
        return self._line_count > (2 * event_count + _SLACK_LINES if event_count else 1)

    async def rewrite(
        self, events: Collection[LogEvent], next_number: int, ciphers: Mapping[Owner, CarriedCipher | None]
    ) -> None:
        """Write the file anew with these events, which are all that there are; `ciphers` are those of their users.

        Raises:
            StoreUnavailable: The file cannot be written.
        """
        left, last_line = tuple(events), self._last_line
        self._line_count = 1 + len(left)

        def work() -> None:  # the lines of 10,000 events take longer than others should wait
            lines = [
                _line({"next": next_number}),
                *(_line({"added": _fields(event, ciphers[event.key.owner])}) for event in left),
            ]
            self._replace(lines, last_line)

        await self._run(work)

    def _append(self, fields: dict[str, Any]) -> None:
        self._last_line += 1
        self._lines.append((self._last_line, _line(fields)))
        self._line_count += 1

    async def _run(self, work: Callable[[], None]) -> None:
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, work)
        except OSError as error:
            raise StoreUnavailable("session-events", _RETRY_SECONDS) from error

    def _write(self) -> None:
        lines = list(self._lines)
        if not lines:
            return  # another's write has taken them along
        content = "".join(line for _, line in lines).encode("ascii")
        os.ftruncate(self._descriptor, self._size_bytes)  # half a line of a write that failed
        written = 0
        while written < len(content):
            written += os.pwrite(self._descriptor, content[written:], self._size_bytes + written)
        self._fsync(self._descriptor)
        self._size_bytes += len(content)
        self._forget_lines(lines[-1][0])

    def _replace(self, lines: Sequence[str], last_line: int) -> None:
        content = "".join(lines).encode("ascii")
        fresh = self._path.with_suffix(".new")
        descriptor = os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            with os.fdopen(os.dup(descriptor), "wb") as stream:
                stream.write(content)
            self._fsync(descriptor)
            fresh.rename(self._path)
        except BaseException:
            os.close(descriptor)
            raise
        os.close(self._descriptor)
        self._descriptor, self._size_bytes = descriptor, len(content)
        self._sync_folder()
        self._forget_lines(last_line)

    def _forget_lines(self, last_line: int) -> None:
        while self._lines and self._lines[0][0] <= last_line:
            self._lines.popleft()

    def _sync_folder(self) -> None:
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            self._fsync(folder)
        finally:
            os.close(folder)


def _line(fields: dict[str, Any]) -> str:
    return json.dumps(fields, separators=(",", ":")) + "\n"


def _fields(event: LogEvent, cipher: CarriedCipher | None) -> list[str]:
    kind, payload = encode_content(event.content, cipher)
    owner = event.key.owner
    return [event.event_id, owner.tenant_id, owner.user_id, event.key.conversation_id, kind, payload.decode("ascii")]


def _event(fields: Sequence[str], ciphers: Mapping[Owner, CarriedCipher]) -> LogEvent:
    event_id, tenant_id, user_id, conversation_id, kind, payload = fields
    key = SessionKey(Owner(TenantId(tenant_id), UserId(user_id)), ConversationId(conversation_id))
    return LogEvent(event_id, key, decode_content(kind, payload.encode("ascii"), ciphers.get(key.owner)))
