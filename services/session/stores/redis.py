"""Sessions in Redis, one script call for each step."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final, cast
from urllib.parse import quote

from redis.exceptions import NoScriptError, ReadOnlyError

from services.common.errors import AlreadyExists, NotFound
from services.common.idempotency.model import IdempotencyKey, request_id_reused
from services.common.owners import Owner, TenantId
from services.session.config import RedisSettings, StoreSettings
from services.session.model import (
    Appended,
    ConversationId,
    LogEvent,
    NewTurn,
    Report,
    Session,
    SessionCursor,
    SessionKey,
    SessionSpec,
    microseconds,
    moment_of,
)
from services.session.store import StoreResponse
from services.session.stores.codec import decode_turn, encode_turn
from services.session.stores.outbox import too_many_events
from services.session.stores.redis_client import RedisClient, translate_errors
from services.session.stores.redis_events import RedisEvents
from services.session.stores.redis_script import Argument, Script

_MICROSECOND: Final = timedelta(microseconds=1)


_SESSION_SCRIPT: Final = Script.load("session.lua")
_LIST_SCRIPT: Final = Script.load("list.lua")
_REMOVE_SCRIPT: Final = Script.load("remove.lua")


class RedisSessionStore:
    """A `SessionStore` on Redis 6.2 or later, single or Cluster.

    Every key of one user holds the same hash tag, so that a session and the listing change in one step on one
    node. Time comes from the caller; Redis's own clock only frees what has long expired.
    """

    def __init__(self, client: RedisClient, settings: RedisSettings, store_settings: StoreSettings) -> None:
        """Use a client, which stays the caller's to close.

        Raises:
            ValueError: The key prefix holds a brace, which would take the place of the hash tag.
        """
        if "{" in settings.key_prefix or "}" in settings.key_prefix:
            raise ValueError("the key prefix must not hold braces")
        self._client = client
        self._prefix = settings.key_prefix
        self._timeout_seconds = settings.call_timeout_seconds
        self._grace = settings.expire_grace
        self._remembered_turns = store_settings.remembered_turns
        self._idempotency_retention = store_settings.idempotency_retention
        self._events_max = store_settings.events_max
        self._events = RedisEvents(self._run, self._key, f"{settings.key_prefix}reporters")
        # Waiting for a connection is no sign that Redis is gone, so it happens outside of the time limit.
        self._slots = asyncio.Semaphore(settings.connections_max)

    async def create(
        self,
        key: SessionKey,
        spec: SessionSpec,
        *,
        now: datetime,
        idempotency_key: IdempotencyKey | None = None,
        report: Report = Report.NO,
    ) -> StoreResponse[Session]:
        """See `SessionStore.create`."""
        response = await self._step("create", key, now, idempotency_key, report, *_spec_arguments(spec))
        return StoreResponse(_session(key.owner, response))

    async def get(self, key: SessionKey, *, now: datetime) -> StoreResponse[Session]:
        """See `SessionStore.get`."""
        return StoreResponse(_session(key.owner, await self._step("get", key, now, None, Report.NO)))

    async def list_sessions(
        self, owner: Owner, *, limit: int, after: SessionCursor | None, now: datetime
    ) -> StoreResponse[list[Session]]:
        """See `SessionStore.list_sessions`."""
        keys = [self._key(owner, "heads"), self._key(owner, "recent")]
        arguments: list[Argument] = [microseconds(now), limit]
        if after is not None:
            arguments += [microseconds(after.last_active_time), after.conversation_id]
        flat = await self._run(_LIST_SCRIPT, keys, arguments)
        pairs = zip(flat[::2], flat[1::2], strict=True)
        return StoreResponse([_session_of(owner, conversation_id, head, ()) for conversation_id, head in pairs])

    async def append(
        self,
        key: SessionKey,
        turns: Sequence[NewTurn],
        *,
        create: SessionSpec | None,
        now: datetime,
        idempotency_key: IdempotencyKey | None = None,
        report: Report = Report.NO,
    ) -> StoreResponse[Appended]:
        """See `SessionStore.append`."""
        arguments: list[Argument] = [*_spec_arguments(create), self._remembered_turns]
        for turn in turns:
            arguments += [turn.interaction_id, "" if turn.position is None else turn.position, encode_turn(turn)]
        response = await self._step("append", key, now, idempotency_key, report, *arguments)
        _, _, added, created, *_ = response
        session = _session(key.owner, response)
        return StoreResponse(Appended(session, appended_count=int(added), is_created=created == b"1"))

    async def extend(
        self,
        key: SessionKey,
        *,
        ttl: timedelta | None,
        now: datetime,
        idempotency_key: IdempotencyKey | None = None,
        report: Report = Report.NO,
    ) -> StoreResponse[Session]:
        """See `SessionStore.extend`."""
        response = await self._step(
            "extend", key, now, idempotency_key, report, "" if ttl is None else ttl // _MICROSECOND
        )
        return StoreResponse(_session(key.owner, response))

    async def delete(
        self,
        key: SessionKey,
        *,
        now: datetime,
        idempotency_key: IdempotencyKey | None = None,
        report: Report = Report.NO,
        discard: bool = False,
    ) -> StoreResponse[Session]:
        """See `SessionStore.delete`."""
        return StoreResponse(
            _session(key.owner, await self._step("delete", key, now, idempotency_key, report, int(discard)))
        )

    async def log_events(self, owner: Owner | None, *, limit: int, now: datetime) -> list[LogEvent]:
        """See `SessionStore.log_events`."""
        return await self._events.list_events(owner, limit=limit, now=now)

    async def acknowledge(self, owner: Owner, event_ids: Sequence[str], *, now: datetime) -> None:
        """See `SessionStore.acknowledge`."""
        await self._events.acknowledge(owner, event_ids, now=now)

    async def remove_owner(self, owner: Owner, *, now: datetime) -> int:
        """See `SessionStore.remove_owner`. Looks at every key of the server."""
        removed = await self._remove(self._key_tag(owner), now)
        await self._remove_keys(f"{_glob(self._prefix)}{self._key_tag(owner)}:*")
        return removed

    async def remove_tenant(self, tenant_id: TenantId, *, now: datetime) -> int:
        """See `SessionStore.remove_tenant`. Looks at every key of the server."""
        pattern = f"{_glob(self._prefix)}{{{_escaped(tenant_id)}:*}}:*"
        tags = {name[len(self._prefix) :].partition("}")[0] + "}" for name in await self._scan(pattern)}
        removed = 0
        for tag in sorted(tags):
            removed += await self._remove(tag, now)
        await self._remove_keys(pattern)
        return removed

    async def _remove(self, tag: str, now: datetime) -> int:
        keys = [f"{self._prefix}{tag}:{kind}" for kind in ("ending", "heads", "recent", "events")]
        return int(cast("Any", await self._run(_REMOVE_SCRIPT, keys, [microseconds(now)])))

    async def _remove_keys(self, pattern: str) -> None:
        client = cast("Any", self._client)
        for name in await self._scan(pattern):
            with translate_errors():
                await client.unlink(name)

    async def _scan(self, pattern: str) -> list[str]:
        client = cast("Any", self._client)
        with translate_errors():
            return [name.decode("utf-8") async for name in client.scan_iter(match=pattern, count=1_000)]

    async def check(self) -> None:
        """See `SessionStore.check`: writes a key, since a replica answers pings too."""
        async with self._slots:
            with translate_errors():
                try:
                    async with asyncio.timeout(self._timeout_seconds):
                        await self._client.set(f"{self._prefix}check", b"1", px=60_000)
                except ReadOnlyError:
                    # After a failover the name leads elsewhere, but open connections stay where they were.
                    await self._client.aclose()
                    raise

    async def _step(
        self,
        operation: str,
        key: SessionKey,
        now: datetime,
        idempotency_key: IdempotencyKey | None,
        report: Report,
        *arguments: Argument,
    ) -> list[bytes]:
        owner = key.owner
        if report is not Report.NO:
            await self._events.announce(owner, now=now)
        keys = [self._key(owner, kind, key.conversation_id) for kind in ("texts", "window", "known")]
        keys += [self._key(owner, kind) for kind in ("heads", "recent", "ending", "events")]
        digest = ""
        if idempotency_key is not None:
            keys.append(self._key(owner, "request", idempotency_key.principal_id, idempotency_key.request_id))
            digest = idempotency_key.digest
        common: list[Argument] = [
            operation,
            microseconds(now),
            key.conversation_id,
            self._grace // _MICROSECOND,
            digest,
            self._idempotency_retention // _MICROSECOND,
            self._most_events(report),
        ]
        response = await self._run(_SESSION_SCRIPT, keys, [*common, *arguments])
        match response[0]:
            case b"ok":
                return response
            case b"missing":
                raise NotFound("session", key.conversation_id)
            case b"exists":
                raise AlreadyExists("session", key.conversation_id)
            case b"reused":
                raise request_id_reused()
            case b"full":
                raise too_many_events(self._events_max)
            case status:
                raise RuntimeError(f"the session script answered {status!r}")

    def _most_events(self, report: Report) -> Argument:
        return "" if report is Report.NO else self._events_max if report is Report.BOUNDED else -1

    async def _run(self, script: Script, keys: Sequence[str], arguments: Sequence[Argument]) -> list[bytes]:
        client = cast("Any", self._client)  # the two clients' signatures differ in detail
        async with self._slots:
            with translate_errors():
                async with asyncio.timeout(self._timeout_seconds):
                    try:
                        response = await client.evalsha(script.sha, len(keys), *keys, *arguments)
                    except NoScriptError:
                        # The server restarted, or another node took over: EVAL also makes it known there.
                        response = await client.eval(script.text, len(keys), *keys, *arguments)
        return cast("list[bytes]", response)

    def _key(self, owner: Owner, kind: str, *parts: str) -> str:
        """A key; ids are percent-encoded, so that no id can hold a separator or a brace."""
        return ":".join([f"{self._prefix}{self._key_tag(owner)}", kind, *map(_escaped, parts)])

    @staticmethod
    def _key_tag(owner: Owner) -> str:
        return f"{{{_escaped(owner.tenant_id)}:{_escaped(owner.user_id)}}}"


def _escaped(identifier: str) -> str:
    return quote(identifier, safe="")


def _glob(text: str) -> str:
    """A pattern that matches the text alone."""
    return re.sub(r"([*?\[\]\\^])", r"\\\1", text)


def _spec_arguments(spec: SessionSpec | None) -> tuple[Argument, Argument]:
    return ("", "") if spec is None else (spec.window_turns, spec.ttl // _MICROSECOND)


def _session(owner: Owner, response: Sequence[bytes]) -> Session:
    """The session in a script's response: ok, id, counts, head, then positions and payloads."""
    _, conversation_id, _, _, head, *flat = response
    return _session_of(owner, conversation_id, head, flat)


def _session_of(owner: Owner, conversation_id: bytes, head: bytes, flat: Sequence[bytes]) -> Session:
    window_turns, ttl, created, active, count = map(int, head.split())
    placed = zip(flat[::2], flat[1::2], strict=True)
    return Session(
        key=SessionKey(owner, ConversationId(conversation_id.decode("utf-8"))),
        spec=SessionSpec(window_turns, ttl * _MICROSECOND),
        # Scores are doubles: exact up to POSITION_MAX, but servers differ in how they print large ones.
        turns=tuple(decode_turn(payload, position=int(float(score))) for score, payload in placed),
        create_time=moment_of(created),
        last_active_time=moment_of(active),
        turn_count=count,
    )
