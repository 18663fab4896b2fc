"""Makes procedures of what a user's activity log shows again and again (SPEC 3.9), behind recalls."""

from __future__ import annotations

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

import structlog

from mneme.episodic.internal.v1 import activity_internal_pb2
from mneme.episodic.v1 import activity_pb2
from mneme.semantic.internal.v1 import semantic_pb2
from mneme.semantic.v1 import procedures_pb2
from services.common.background import BackgroundWork
from services.common.errors import MnemeError
from services.common.settings_types import Count, Seconds, Share
from services.gateway.recall.stages.profile import CachedProfiles
from services.gateway.upstream import Upstream
from services.gateway.worker import worker_principal

_log = structlog.get_logger(__name__)

_NAME: Final = re.compile(r"[\w.]+")
_ERROR_CODE: Final = re.compile(r"[A-Z]{1,8}\d{2,8}")
_ERROR_ENDINGS: Final = ("Error", "Exception", "Warning")
_WORD: Final = re.compile(r"[^\W_]")
_PATH_CHARS_MAX: Final = 120
_TRIES: Final = 3


@dataclass(frozen=True, slots=True)
class ActivityProcedureSettings:
    """How the activity log becomes procedures."""

    is_enabled: bool = True  # whether it does
    interval_seconds: Seconds = 300.0  # between two looks at the log of one user, who recalls meanwhile
    confidence_min: Share = 0.5  # of a pattern in the log
    timeout_seconds: Seconds = 10.0  # of one call of a tier
    owners_max: Count = 10_000  # users that wait or were looked at, which the process remembers


class ActivityProcedures:
    """Looks at the logs of users who recall, each at most once in an interval; the semantic tier stores what they show.

    The tier makes its procedures those of the log, so that any number of gateways may do this.
    """

    def __init__(
        self,
        upstream: Upstream,
        settings: ActivityProcedureSettings | None = None,
        *,
        on_change: Callable[[str, str], None] = lambda _tenant, _user: None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Reads and writes through `upstream`; calls `on_change` with tenant and user where procedures changed."""
        self._upstream = upstream
        self._settings = settings or ActivityProcedureSettings()
        self._on_change = on_change
        self._monotonic = monotonic
        self._looked: OrderedDict[tuple[str, str], float] = OrderedDict()  # when, by owner
        self._waiting: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._wake = asyncio.Event()

    def start(self, background: BackgroundWork[str]) -> None:
        """Looks at the logs of noticed users until `background` is closed."""
        if self._settings.is_enabled:
            background.keep_running("learn-procedures-from-activity", self._run)

    def notice(self, tenant_id: str, user_id: str) -> None:
        """A user recalls: the log is looked at soon, unless it was in the last interval."""
        owner, looked = (tenant_id, user_id), self._looked.get((tenant_id, user_id))
        if looked is not None and self._monotonic() - looked < self._settings.interval_seconds:
            return
        if len(self._waiting) < self._settings.owners_max:
            self._waiting[owner] = None
            self._wake.set()

    async def learn(self, tenant_id: str, user_id: str) -> bool:
        """Makes a user's procedures of the log those that it shows; returns whether any changed.

        Raises:
            MnemeError: A tier did not respond; the next look does it.
        """
        principal, seconds, is_changed = worker_principal(tenant_id), self._settings.timeout_seconds, False
        shown = await self._shown(tenant_id, user_id)
        for _ in range(_TRIES):
            request = semantic_pb2.ObserveProceduresRequest(user_id=user_id, procedures=shown)
            found = await self._upstream.profile.observe_procedures(principal, request, timeout_seconds=seconds)
            is_changed |= bool(found.changed_count or found.deleted_count)
            if not shown:
                break
            # What was erased in between must not stand again.
            now = await self._shown(tenant_id, user_id)
            if now == shown:
                break
            shown = now
        if is_changed:
            self._on_change(tenant_id, user_id)
        return is_changed

    async def _shown(self, tenant_id: str, user_id: str) -> list[semantic_pb2.ObservedProcedure]:
        request = activity_internal_pb2.ListOwnerPatternsRequest(user_id=user_id)
        response = await self._upstream.episodic.list_owner_patterns(
            worker_principal(tenant_id), request, timeout_seconds=self._settings.timeout_seconds
        )
        least = self._settings.confidence_min
        return observed_procedures(one for one in response.patterns if one.confidence >= least)

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._waiting:
                owner, _ = self._waiting.popitem(last=False)
                self._looked[owner] = self._monotonic()
                self._looked.move_to_end(owner)
                if len(self._looked) > self._settings.owners_max:
                    self._looked.popitem(last=False)
                try:
                    await self.learn(*owner)
                except MnemeError as error:  # the next look does it
                    _log.warning("activity_not_learned_from", error=type(error).__name__)


def learn_from_activity(
    upstream: Upstream,
    profiles: CachedProfiles,
    settings: ActivityProcedureSettings,
    background: BackgroundWork[str],
) -> ActivityProcedures:
    """Learns of the users whose profiles are read; what is learned is read with the next recall."""
    learning = ActivityProcedures(upstream, settings, on_change=profiles.expire)
    profiles.on_read = learning.notice
    learning.start(background)
    return learning


def observed_procedures(patterns: Iterable[activity_pb2.ActivityPattern]) -> list[semantic_pb2.ObservedProcedure]:
    """Patterns as procedures, in their order. A pair of files is one for each of the two."""
    found: list[semantic_pb2.ObservedProcedure] = []
    for pattern in patterns:
        for kind, trigger, action in _said(pattern):
            if not _WORD.search(trigger):
                continue  # it would be for every query
            found.append(
                semantic_pb2.ObservedProcedure(
                    kind=kind,
                    trigger=trigger,
                    action=action,
                    scope=pattern.scope if pattern.HasField("scope") else None,
                    observed_count=max(1, pattern.observed_count),
                    contrary_count=pattern.contrary_count,
                )
            )
    return found


def _said(
    pattern: activity_pb2.ActivityPattern,
) -> Iterator[tuple[procedures_pb2.ProcedureKind, str, str]]:
    """Kind, trigger and action of the procedures of a pattern."""
    paths = [_end(path) for path in pattern.paths]
    if pattern.kind == activity_pb2.ACTIVITY_PATTERN_KIND_CO_EDIT and len(paths) == 2:
        for one, other in (paths, paths[::-1]):
            yield procedures_pb2.PROCEDURE_KIND_CO_EDIT, _name(one), f"Edit {other} together with {one}."
    elif pattern.kind == activity_pb2.ACTIVITY_PATTERN_KIND_ERROR_FIX and paths:
        trigger = _error_name(pattern.error) or pattern.tool_name
        error = " ".join(pattern.error.split())
        why = f' with "{error}"' if error else ""
        yield (
            procedures_pb2.PROCEDURE_KIND_ERROR_FIX,
            _end(trigger),
            f"When {pattern.tool_name} fails{why}: edit {paths[0]}.",
        )
    elif pattern.kind == activity_pb2.ACTIVITY_PATTERN_KIND_REFACTOR and paths:
        folder = _end(pattern.folder)
        action = f"After files of {folder or 'the root folder'} are renamed or deleted, edit {paths[0]}."
        yield procedures_pb2.PROCEDURE_KIND_REFACTOR, _name(folder or paths[0]), action


def _name(path: str) -> str:
    return PurePosixPath(path).name


def _error_name(error: str) -> str:
    """The first name of an error ("requests.ConnectionError": "ConnectionError") or code ("E501"), "" without one."""
    names = (found[0].rstrip(".").rpartition(".")[2] for found in _NAME.finditer(error))
    return next((name for name in names if name.endswith(_ERROR_ENDINGS) or _ERROR_CODE.fullmatch(name)), "")


def _end(path: str) -> str:
    """A path, of a long one its end."""
    return path[-_PATH_CHARS_MAX:]
