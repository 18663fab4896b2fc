"""Use cases: a user as a file, and a file as a user."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from typing import IO, Final, Protocol

from services.common.auth import Principal
from services.common.errors import FailedPrecondition, InvalidArgument, StoreUnavailable
from services.common.ids import IdSource
from services.common.settings_types import Count, Seconds
from services.gateway.erasure.model import EraseCommand, Target, TargetKind
from services.gateway.erasure.runner import ErasureRunner
from services.gateway.erasure.store import ErasureStore
from services.gateway.journal.model import Caller
from services.gateway.portability.file import TIERS, FileWriter, WholeFile, in_file, read_whole
from services.gateway.portability.store import ImportStore, Records

_PAGE_RECORDS: Final = 500
_SHARE_FOR_WAITING: Final = 0.5
_METHOD: Final = "ImportUser"


@dataclass(frozen=True, slots=True)
class PortabilitySettings:
    """How users are exported and imported."""

    import_bytes_max: Count = 1024 * 1024 * 1024  # of one file; it lies in the gateway's temporary folder meanwhile
    page_timeout_seconds: Seconds = 30.0  # deadline of one call of a tier
    poll_seconds: Seconds = 0.05  # how often an export looks whether deliveries on their way have arrived


@dataclass(frozen=True, slots=True)
class Imported:
    """A user who was imported."""

    user_id: str
    record_count: int
    restored_count: int
    replayed: bool


class Archive(Protocol):
    """What sessions have for the log; see `SessionArchive`."""

    async def settle(self, tenant_id: str, user_id: str, *, timeout_seconds: float) -> object:
        """Writes all events of a user."""
        ...


class Accesses(Protocol):
    """Access statistics that recalls have left; see the `AccessRecorder` of recalls."""

    async def reported(self, *, timeout_seconds: float) -> None:
        """Has those of earlier recalls reported to the tiers."""
        ...


class Portability:
    """Exports and imports users."""

    def __init__(
        self,
        tiers: Mapping[str, Records],
        imports: ImportStore,
        archive: Archive,
        accesses: Accesses,
        erasures: ErasureStore,
        runner: ErasureRunner,
        ids: IdSource,
        settings: PortabilitySettings,
    ) -> None:
        """`tiers` are by the names of `TIERS`; `erasures` take away what an import that fails has written."""
        self._tiers = tiers
        self._imports = imports
        self._archive = archive
        self._accesses = accesses
        self._erasures = erasures
        self._runner = runner
        self._ids = ids
        self._settings = settings

    @property
    def settings(self) -> PortabilitySettings:
        """How users are exported and imported."""
        return self._settings

    async def export(self, tenant_id: str, user_id: str, *, seconds_left: float) -> AsyncGenerator[bytes]:
        """The parts of the file.

        Raises:
            StoreUnavailable: Deliveries are on their way for too long, or a tier does not respond.
        """
        deadline = time.monotonic() + seconds_left * _SHARE_FOR_WAITING
        await self._archive.settle(tenant_id, user_id, timeout_seconds=self._settings.page_timeout_seconds)
        while not await self._imports.is_settled(tenant_id, user_id):
            await self._wait(deadline, "deliveries")
        await self._accesses.reported(timeout_seconds=self._settings.page_timeout_seconds)
        writer = FileWriter()
        yield writer.header(user_id)
        for tier in TIERS:
            token, is_last = "", False
            while not is_last:
                try:
                    page = await self._tiers[tier].read(
                        (tenant_id, user_id), token, limit=_PAGE_RECORDS, memories_only=False
                    )
                except StoreUnavailable as error:
                    await self._wait(deadline, error.metadata.get("store", tier))  # episodes are being indexed
                    continue
                token, is_last = page.next_token, not page.next_token
                if page.lines:
                    yield writer.records(list(page.lines))
        yield writer.end()

    async def import_file(self, principal: Principal, file: IO[bytes], check_user: Callable[[str], None]) -> Imported:
        """Stores a file; `check_user` raises InvalidArgument for what is no id of a user.

        Raises:
            InvalidArgument: It is not whole, or a record of it does not fit: nothing is stored.
            FailedPrecondition: The user has memories, or is being erased.
            StoreUnavailable: A tier does not respond; a repeat goes on.
        """
        whole = await asyncio.to_thread(read_whole, file, check_user)
        owner = (principal.tenant_id, whole.user_id)
        await self._write(owner, whole, validate_only=True)
        known = await self._imports.begin(*owner, whole.digest)
        is_empty = await self._is_empty(owner)
        if known.digest != whole.digest or (known.is_complete and is_empty):
            if not is_empty:
                raise FailedPrecondition("the user has memories: erase the user first")
            await self._imports.forget(*owner)  # what it was imported from is gone
            known = await self._imports.begin(*owner, whole.digest)
        elif known.is_complete:
            return Imported(whole.user_id, whole.record_count, known.restored, replayed=True)
        elif not known.is_resumed and not is_empty:
            await self._imports.forget(*owner)
            raise FailedPrecondition("the user has memories: erase the user first")
        try:
            await self._write(owner, whole, validate_only=False)
        except (InvalidArgument, FailedPrecondition):
            await self._take_back(principal, whole)
            raise
        known = await self._imports.complete(*owner)
        return Imported(whole.user_id, whole.record_count, known.restored, replayed=False)

    async def _write(self, owner: tuple[str, str], whole: WholeFile, *, validate_only: bool) -> None:
        """The journal's records last: the user is there when everything is."""
        for tier in (*TIERS[1:], TIERS[0]):
            pages = whole.pages(tier)
            while page := await asyncio.to_thread(next, pages, None):
                try:
                    await self._tiers[tier].write(owner, page.lines, validate_only=validate_only)
                except InvalidArgument as error:
                    raise in_file(error, page) from error

    async def _is_empty(self, owner: tuple[str, str]) -> bool:
        for tier in TIERS:
            page = await self._tiers[tier].read(owner, "", limit=1, memories_only=True)
            if page.lines:
                return False
        return True

    async def _take_back(self, principal: Principal, whole: WholeFile) -> None:
        """Erases what was stored; durable, so that a crash does not leave half of a user."""
        caller = Caller(principal.tenant_id, principal.principal_id)
        command = EraseCommand(
            target=Target(TargetKind.USER, whole.user_id),
            method=_METHOD,
            request_id=self._ids.new_id(),
            digest=whole.digest,
        )
        erasure, _ = await self._erasures.begin(caller, command)
        with contextlib.suppress(TimeoutError):
            await self._runner.finish(erasure, timeout_seconds=self._settings.page_timeout_seconds)

    async def _wait(self, deadline: float, store: str) -> None:
        if time.monotonic() > deadline:
            raise StoreUnavailable(store)
        await asyncio.sleep(self._settings.poll_seconds)
