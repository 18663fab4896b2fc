"""Events that wait for the conversation log, in Redis."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, Protocol, cast
from urllib.parse import quote, unquote

from services.common.encryption.carried import CarriedCipher, CarriedKeys
from services.common.owners import Owner, TenantId, UserId
from services.session.model import (
    ConversationId,
    LogEvent,
    SessionKey,
    microseconds,
)
from services.session.stores.codec import decode_content
from services.session.stores.redis_script import Argument, Script
from services.session.stores.sealing import cipher_for

_LIST_SCRIPT: Final = Script.load("list_events.lua")
_ACKNOWLEDGE_SCRIPT: Final = Script.load("events.lua")
_ANNOUNCE_SCRIPT: Final = Script.load("announce.lua")
_REPORTERS_SCRIPT: Final = Script.load("reporters.lua")
_OWNERS_SCRIPT: Final = Script.load("owners.lua")
_LISTED_SCRIPT: Final = Script.load("listed.lua")
_GRACE: Final = timedelta(minutes=1)
"""How long after its announcement a write may add its event."""
_OWNERS_MAX: Final = 1_000


class RunScript(Protocol):
    """Runs a script with keys of one slot."""

    def __call__(self, script: Script, keys: Sequence[str], arguments: Sequence[Argument]) -> Awaitable[list[bytes]]:
        """Returns the script's result."""
        ...


class RedisEvents:
    """The streams of events, one for each user, and the set of users that may have events.

    The set has a slot of its own in a Cluster, so it cannot change in one step with a stream. A user is therefore put
    into it before each reported write, and taken out only when its stream was found empty a while after that. Users
    whose events were listed come last the next time.
    """

    def __init__(
        self, run: RunScript, key_of: Callable[[Owner, str], str], reporters: str, keys: CarriedKeys | None = None
    ) -> None:
        """Run scripts with `run`; `key_of` names a user's key of a kind, `reporters` that of the set."""
        self._keys = keys
        self._run = run
        self._key_of = key_of
        self._reporters = reporters

    async def announce(self, owner: Owner, *, now: datetime) -> None:
        """Put a user into the set, before an event is added."""
        await self._run(_ANNOUNCE_SCRIPT, [self._reporters], [_member(owner), microseconds(now)])

    async def list_events(self, owner: Owner | None, *, limit: int, now: datetime) -> list[LogEvent]:
        """See `SessionStore.log_events`."""
        if owner is not None:
            return await self._events(owner, limit)
        events: list[LogEvent] = []
        listed: list[str] = []
        for member in await self._run(_OWNERS_SCRIPT, [self._reporters], [_OWNERS_MAX]):
            if len(events) >= limit:
                break
            one = _owner(member.decode("ascii"))
            found = await self._events(one, limit - len(events))
            if found:
                listed.append(_member(one))
            else:
                await self._take_out(one, now)
            events += found
        if listed:
            # A user whose events the log does not take must not stand before the others the next time too.
            await self._run(_LISTED_SCRIPT, [self._reporters], [microseconds(now), *listed])
        return events

    async def acknowledge(self, owner: Owner, event_ids: Sequence[str], *, now: datetime) -> None:
        """See `SessionStore.acknowledge`."""
        ids = [event_id for event_id in event_ids if _is_stream_id(event_id)]
        left = await self._run(_ACKNOWLEDGE_SCRIPT, [self._key_of(owner, "events")], ids)
        if cast("Any", left) == 0:
            await self._take_out(owner, now)

    async def _events(self, owner: Owner, limit: int) -> list[LogEvent]:
        entries = await self._run(_LIST_SCRIPT, [self._key_of(owner, "events")], [limit])
        events = [cast("Any", entry) for entry in entries]
        cipher = await cipher_for(self._keys, owner, [fields[-1] for _, fields in events])
        return [_event(owner, event_id, fields, cipher) for event_id, fields in events]

    async def _take_out(self, owner: Owner, now: datetime) -> None:
        await self._run(_REPORTERS_SCRIPT, [self._reporters], [_member(owner), microseconds(now - _GRACE)])


def _member(owner: Owner) -> str:
    return f"{quote(owner.tenant_id, safe='')}:{quote(owner.user_id, safe='')}"


def _owner(member: str) -> Owner:
    tenant_id, _, user_id = member.partition(":")
    return Owner(TenantId(unquote(tenant_id)), UserId(unquote(user_id)))


def _is_stream_id(event_id: str) -> bool:
    milliseconds, _, number = event_id.partition("-")
    return milliseconds.isascii() and milliseconds.isdigit() and number.isascii() and number.isdigit()


def _event(owner: Owner, event_id: bytes, fields: Sequence[bytes], cipher: CarriedCipher | None) -> LogEvent:
    _, conversation_id, _, kind, _, payload = fields
    key = SessionKey(owner, ConversationId(conversation_id.decode("utf-8")))
    return LogEvent(event_id.decode("ascii"), key, decode_content(kind.decode("ascii"), payload, cipher))
