"""What the session tier has and the conversation log has not: turns put in past the gateway, settings, deletions."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby
from typing import Final
from uuid import NAMESPACE_OID, UUID, uuid5
from weakref import WeakValueDictionary

import structlog

from mneme.session.internal.v1 import session_internal_pb2 as pb
from services.common.clock import Clock
from services.common.convert import moment, scope_from_proto, turn_from_proto
from services.common.errors import (
    Conflict,
    DeadlineExceeded,
    LimitExceeded,
    MnemeError,
    Reason,
    StoreUnavailable,
)
from services.common.telemetry.instruments import counter
from services.gateway.journal.dispatcher import PERMANENT_REASONS
from services.gateway.journal.ending import EndCommand, SessionRecord
from services.gateway.journal.model import Caller, RememberCommand, SessionEvent
from services.gateway.journal.store import Journal
from services.gateway.upstream import Upstream
from services.gateway.worker import worker_principal

_log = structlog.get_logger(__name__)

_ALL_TENANTS: Final = "mneme"
"""Tenant of the call that lists events of all tenants."""
_TIMEOUT_SECONDS: Final = 10.0
_ATTEMPTS_MAX: Final = 5
"""After so many failures of one event it is set aside, and those behind it are written."""
_PASSING: Final = (StoreUnavailable, Conflict, LimitExceeded, DeadlineExceeded)
"""Failures that say nothing about an event."""


@dataclass(frozen=True, slots=True)
class SessionDefaults:
    """What a session of the tier has that asks for nothing."""

    window_turns: int
    ttl: timedelta


class SessionArchive:
    """Writes log events of the session tier to the journal, each at least once and with one effect.

    A turn is known by its interaction id and a deletion by the session's create time, so a repeat changes nothing.
    Events of one user are listed, written and acknowledged by one task at a time.
    """

    def __init__(
        self, upstream: Upstream, journal: Journal, *, clock: Clock, on_archived: Callable[[], None] = lambda: None
    ) -> None:
        """Calls `on_archived` after the journal has new turns to deliver."""
        self._upstream = upstream
        self._journal = journal
        self._clock = clock
        self._on_archived = on_archived
        self._failures: dict[tuple[str, str, str], int] = {}  # of events at the head of their users' lists
        self._locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()
        self._set_aside = counter("mneme.session.events_set_aside", "Events of sessions that the log did not take")

    async def run_once(self) -> int:
        """Writes some events of all users; returns how many. A user whose events fail does not hold up the others."""
        listed = await self._upstream.session.log_events(
            worker_principal(_ALL_TENANTS), pb.ListLogEventsRequest(), timeout_seconds=_TIMEOUT_SECONDS
        )
        done = 0
        for tenant_id, user_id in dict.fromkeys((event.tenant_id, event.user_id) for event in listed.events):
            try:
                done += (await self._write_listed(tenant_id, user_id, _TIMEOUT_SECONDS))[0]
            except MnemeError as error:
                _log.warning("session_events_not_archived", reason=error.reason)
            except Exception:
                _log.exception("session_events_not_archived")
        return done

    async def settle(self, tenant_id: str, user_id: str, *, timeout_seconds: float) -> SessionDefaults:
        """Writes all events of a user.

        Returns:
            What a session has that asks for nothing, as the tier is set now.

        Raises:
            MnemeError: The tier or the journal did not respond, or the journal does not take one of them.
        """
        while True:
            done, defaults = await self._write_listed(tenant_id, user_id, timeout_seconds)
            if not done:
                return defaults

    @contextlib.asynccontextmanager
    async def paused(self, tenant_id: str, user_id: str) -> AsyncIterator[None]:
        """Writes no events of a user during the block.

        A session is deleted inside: else a turn that it discards, listed before, would be written after its end.
        """
        async with self._locks.setdefault((tenant_id, user_id), asyncio.Lock()):
            yield

    async def deliver(self, event: SessionEvent) -> None:
        """Writes an event that was set aside, once more.

        Raises:
            MnemeError: The journal does not take it.
        """
        await self._archive(event.tenant_id, event.user_id, [pb.LogEvent.FromString(event.payload)])

    async def _write_listed(self, tenant_id: str, user_id: str, timeout_seconds: float) -> tuple[int, SessionDefaults]:
        """Lists events of a user and writes them; returns how many, and the tier's defaults."""
        async with self.paused(tenant_id, user_id):
            listed = await self._upstream.session.log_events(
                worker_principal(tenant_id), pb.ListLogEventsRequest(user_id=user_id), timeout_seconds=timeout_seconds
            )
            defaults = SessionDefaults(listed.defaults.window_turns, listed.defaults.ttl.ToTimedelta())
            if not listed.events:
                return 0, defaults
            return await self._write(tenant_id, user_id, listed.events, timeout_seconds), defaults

    async def _write(self, tenant_id: str, user_id: str, events: Sequence[pb.LogEvent], timeout_seconds: float) -> int:
        """Writes events in their order, up to one that fails; that one is set aside after some attempts.

        Returns:
            How many were written.

        Raises:
            MnemeError: Of the event that failed. Those before it are written.
        """
        done = 0
        try:
            try:
                await self._archive(tenant_id, user_id, events)
                done = len(events)
            except _PASSING:
                raise
            except Exception:  # whichever event it is: found below
                for event in events:
                    await self._write_one(tenant_id, user_id, event)
                    done += 1
        finally:
            if done:
                await self._acknowledge(tenant_id, user_id, events[:done], timeout_seconds)
        return done

    async def _write_one(self, tenant_id: str, user_id: str, event: pb.LogEvent) -> None:
        """Writes an event, or sets it aside where it has failed too often."""
        key = (tenant_id, user_id, event.event_id)
        try:
            await self._archive(tenant_id, user_id, [event])
        except _PASSING:
            raise
        except Exception as error:  # a fault of ours too must not hold up what is behind the event
            reason = error.reason if isinstance(error, MnemeError) else Reason.INTERNAL
            attempts = self._failures.pop(key, 0) + 1
            if attempts < _ATTEMPTS_MAX and reason not in PERMANENT_REASONS:
                self._failures[key] = attempts
                raise
            identifier = str(uuid5(NAMESPACE_OID, " ".join(key)))
            await self._journal.set_aside(
                SessionEvent(tenant_id, identifier, user_id, event.SerializeToString()),
                attempts=attempts,
                reason=str(reason),
                detail=error.message if isinstance(error, MnemeError) else "",
            )
            self._set_aside.add(1, {"event": event.WhichOneof("event") or ""})
            _log.warning("session_event_set_aside", reason=reason, kind=event.WhichOneof("event"))
        else:
            self._failures.pop(key, None)

    async def _archive(self, tenant_id: str, user_id: str, events: Sequence[pb.LogEvent]) -> None:
        caller = Caller(tenant_id, worker_principal(tenant_id).principal_id, "")
        archived = 0
        for (conversation_id, kind), group in groupby(
            events, key=lambda event: (event.conversation_id, event.WhichOneof("event"))
        ):
            run = list(group)
            if kind == "turn":
                archived += await self._journal.archive(caller, self._commands(user_id, conversation_id, run))
            elif kind == "settings":
                await self._journal.put_session_record(tenant_id, user_id, conversation_id, _record(run[-1].settings))
            else:
                for event in run:
                    await self._journal.end_session(caller, _end(event))
        if archived:
            self._on_archived()

    async def _acknowledge(
        self, tenant_id: str, user_id: str, events: Sequence[pb.LogEvent], timeout_seconds: float
    ) -> None:
        await self._upstream.session.acknowledge(
            worker_principal(tenant_id),
            pb.AcknowledgeLogEventsRequest(user_id=user_id, event_ids=[event.event_id for event in events]),
            timeout_seconds=timeout_seconds,
        )

    def _commands(self, user_id: str, conversation_id: str, events: Sequence[pb.LogEvent]) -> list[RememberCommand]:
        """The turns as commands, one for each run of turns of the same scope."""
        now = self._clock.now()
        said = [
            (
                scope_from_proto(e.turn.scope, present=e.turn.HasField("scope"), field_path="scope"),
                interaction_id(user_id, conversation_id, e.turn.interaction_id),
                turn_from_proto(e.turn.turn, now=now, field_path="turn"),
            )
            for e in events
        ]
        commands = []
        for scope, group in groupby(said, key=lambda one: one[0]):
            run = list(group)
            commands.append(
                RememberCommand(
                    user_id,
                    conversation_id,
                    tuple(turn for _, _, turn in run),
                    scope,
                    interaction_ids=tuple(identifier for _, identifier, _ in run),
                )
            )
        return commands


def interaction_id(user_id: str, conversation_id: str, text: str) -> str:
    """The id in the log of a turn that was put into a session: its own where it is a UUID, else one made of it."""
    try:
        return str(UUID(text))
    except ValueError:
        return str(uuid5(NAMESPACE_OID, f"{len(user_id)} {user_id} {len(conversation_id)} {conversation_id} {text}"))


def _record(settings: pb.SessionSettings) -> SessionRecord:
    created = None
    if settings.HasField("session_create_time"):
        created = moment(settings.session_create_time, field_path="session_create_time")
    set_time = moment(settings.set_time, field_path="set_time")
    return SessionRecord(settings.window_turns, settings.ttl.ToTimedelta(), set_time, created)


def _end(event: pb.LogEvent) -> EndCommand:
    created = event.deletion.session_create_time.ToMicroseconds()
    return EndCommand(
        event.user_id,
        event.conversation_id,
        f"session {event.user_id} {event.conversation_id} {created}",
    )
