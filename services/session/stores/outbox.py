"""Events that wait for the conversation log, in the memory of this process and in a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from services.common.encryption.carried import CarriedCipher
from services.common.errors import LimitExceeded
from services.common.owners import Owner, TenantId
from services.session.model import Deletion, LogEvent, NewTurn, Report, SessionKey, SettingsChange
from services.session.stores.event_file import EventFile


class Outbox:
    """Events of each user in the order in which they were added, until they are acknowledged.

    With a file they are durable after `sync`, and an outbox that is opened on the file begins with them.
    """

    def __init__(self, events_max: int, file: EventFile | None = None) -> None:
        """At most `events_max` of one user."""
        self._events_max = events_max
        self._events: dict[Owner, dict[str, LogEvent]] = {}
        self._next_number = 0
        self._file = file
        if file is not None:
            events, self._next_number = file.read()
            for event in events.values():
                self._events.setdefault(event.key.owner, {})[event.event_id] = event

    def __len__(self) -> int:
        """How many events wait."""
        return sum(map(len, self._events.values()))

    def check(self, owner: Owner, report: Report, added: int) -> None:
        """Make sure that events fit.

        Raises:
            LimitExceeded: They do not, and are not reported whatever waits.
        """
        if report is Report.BOUNDED and len(self._events.get(owner, ())) + added > self._events_max:
            raise too_many_events(self._events_max)

    async def prepare(self, owner: Owner, report: Report) -> CarriedCipher | None:
        """The cipher that `add` takes for turns of a user. Ask for it before anything is read.

        Raises:
            StoreUnavailable: The key management cannot be reached.
        """
        return None if self._file is None or report is Report.NO else await self._file.prepare(owner)

    def add(
        self,
        report: Report,
        key: SessionKey,
        content: NewTurn | SettingsChange | Deletion,
        cipher: CarriedCipher | None = None,
    ) -> None:
        """Add an event, if it is to be reported."""
        if report is not Report.NO:
            if isinstance(content, NewTurn):
                content = replace(content, position=None)  # the log assigns it
            event = LogEvent(f"m{self._next_number}", key, content)
            self._next_number += 1
            self._events.setdefault(key.owner, {})[event.event_id] = event
            if self._file is not None:
                self._file.add(event, self._next_number, cipher)

    async def sync(self) -> None:
        """Return when the file, if there is one, has all events that were added before.

        Raises:
            StoreUnavailable: It cannot be written.
        """
        if self._file is not None:
            await self._file.sync()

    async def compact(self, *, at_once: bool = False) -> None:
        """Shorten the file where few of its lines are of events that wait, or `at_once`."""
        if self._file is not None and (at_once or self._file.is_sparse(len(self))):
            ciphers: dict[Owner, CarriedCipher | None] = {}
            while missing := self._events.keys() - ciphers.keys():  # more may come while others are waited for
                for owner in missing:
                    ciphers[owner] = await self._file.prepare(owner)
            events = [event for of_owner in self._events.values() for event in of_owner.values()]
            await self._file.rewrite(events, self._next_number, ciphers)

    def discard_turns(self, key: SessionKey) -> None:
        """Remove the events of a conversation's turns."""
        events = self._events.get(key.owner, {})
        turns = [e.event_id for e in events.values() if e.key == key and isinstance(e.content, NewTurn)]
        self.acknowledge(key.owner, turns)

    def list_events(self, owner: Owner | None, limit: int) -> list[LogEvent]:
        """See `SessionStore.log_events`. Users whose events were listed come last the next time."""
        owners = list(self._events) if owner is None else [owner]
        events: list[LogEvent] = []
        for one in owners:
            if len(events) >= limit:
                break
            events += islice(self._events.get(one, {}).values(), limit - len(events))
            if owner is None:
                self._events[one] = self._events.pop(one)
        return events

    def acknowledge(self, owner: Owner, event_ids: Sequence[str]) -> None:
        """See `SessionStore.acknowledge`."""
        events = self._events.get(owner)
        if events is None:
            return
        for event_id in event_ids:
            events.pop(event_id, None)
        if not events:
            del self._events[owner]
        if self._file is not None:
            self._file.remove(event_ids)

    def remove(self, owner: Owner) -> None:
        """Remove all events of a user."""
        self.acknowledge(owner, list(self._events.get(owner, ())))

    def clear(self) -> None:
        """Remove all events."""
        self._events.clear()

    def owners_of(self, tenant_id: TenantId) -> list[Owner]:
        """Users of a tenant with events."""
        return [owner for owner in self._events if owner.tenant_id == tenant_id]


def too_many_events(events_max: int) -> LimitExceeded:
    """The error for a write that would be reported where too many events wait."""
    return LimitExceeded(
        "events_max",
        events_max,
        "too many turns of the user wait to be written to the conversation log",
        retry_after_seconds=1.0,
    )
