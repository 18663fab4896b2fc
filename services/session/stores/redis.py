"""Sessions in Redis, one script call for each step."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final, cast

from services.common.encryption.carried import CarriedCipher, CarriedKeys
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
    SessionPast,
    SessionSpec,
    microseconds,
    moment_of,
)
from services.session.store import StoreResponse
from services.session.stores.codec import decode_turn, encode_turn
from services.session.stores.outbox import too_many_events
from services.session.stores.redis_calls import RedisCalls
from services.session.stores.redis_events import RedisEvents
from services.session.stores.redis_script import Argument, Script
from services.session.stores.sealing import cipher_for

_MICROSECOND: Final = timedelta(microseconds=1)

_SESSION_SCRIPT: Final = Script.load("session.lua")
_LIST_SCRIPT: Final = Script.load("list.lua")
_REMOVE_SCRIPT: Final = Script.load("remove.lua")
_TEXTS_SCRIPT: Final = Script.load("texts.lua")

_RESPONSE_BYTES_MAX: Final = 1_000_000
"""Of turns in one response of Redis: a long window is read in several calls, none of which is as long as an outage."""


class RedisSessionStore:
    """A `SessionStore` on Redis 6.2 or later, single or Cluster.

    Every key of one user holds the same hash tag, so that a session and the listing change in one step on one
    node. Time comes from the caller; Redis's own clock only frees what has long expired.
    """

    def __init__(
        self,
        calls: RedisCalls,
        settings: RedisSettings,
        store_settings: StoreSettings,
        *,
        keys: CarriedKeys | None = None,
        response_bytes_max: int = _RESPONSE_BYTES_MAX,
    ) -> None:
        """Use `calls`, which other stores may share; what turns say is encrypted with `keys`.

        Args:
            calls: Of Redis.
            settings: How Redis is used.
            store_settings: What is stored beside the windows.
            keys: Encrypt what turns say.
            response_bytes_max: Of turns in one response of Redis, which holds one turn at least.
        """
        self._response_bytes_max = response_bytes_max
        self._calls = calls
        self._keys = keys
        self._run = calls.run
        self._key = calls.key
        self._grace = settings.expire_grace
        self._remembered_turns = store_settings.remembered_turns
        self._idempotency_retention = store_settings.idempotency_retention
        self._events_max = store_settings.events_max
        self._events = RedisEvents(self._run, self._key, f"{settings.key_prefix}reporters", keys)

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
        return StoreResponse(await self._session(key.owner, response), is_repeat=_is_repeat(response))

    async def get(self, key: SessionKey, *, now: datetime) -> StoreResponse[Session]:
        """See `SessionStore.get`."""
        return StoreResponse(await self._session(key.owner, await self._step("get", key, now, None, Report.NO)))

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
        past: SessionPast | None = None,
        now: datetime,
        idempotency_key: IdempotencyKey | None = None,
        report: Report = Report.NO,
    ) -> StoreResponse[Appended]:
        """See `SessionStore.append`."""
        arguments: list[Argument] = [*_spec_arguments(create), self._remembered_turns, *_past_arguments(past)]
        cipher = None if self._keys is None else await self._keys.for_writing(key.owner)
        for turn in turns:
            position = "" if turn.position is None else turn.position
            arguments += [turn.interaction_id, position, encode_turn(turn, cipher)]
        response = await self._step("append", key, now, idempotency_key, report, *arguments)
        _, _, added, created, *_ = response
        session = await self._session(key.owner, response)
        appended = Appended(session, appended_count=int(added), is_created=created == b"1")
        return StoreResponse(appended, is_repeat=_is_repeat(response))

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
        return StoreResponse(await self._session(key.owner, response), is_repeat=_is_repeat(response))

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
        response = await self._step("delete", key, now, idempotency_key, report, int(discard))
        return StoreResponse(await self._session(key.owner, response), is_repeat=_is_repeat(response))

    async def log_events(self, owner: Owner | None, *, limit: int, now: datetime) -> list[LogEvent]:
        """See `SessionStore.log_events`."""
        return await self._events.list_events(owner, limit=limit, now=now)

    async def acknowledge(self, owner: Owner, event_ids: Sequence[str], *, now: datetime) -> None:
        """See `SessionStore.acknowledge`."""
        await self._events.acknowledge(owner, event_ids, now=now)

    async def remove_owner(self, owner: Owner, *, now: datetime) -> int:
        """See `SessionStore.remove_owner`. Looks at every key of the server."""
        removed = await self._remove(self._calls.tag(owner), now)
        await self._calls.remove(self._calls.pattern_of(owner))
        return removed

    async def remove_tenant(self, tenant_id: TenantId, *, now: datetime) -> int:
        """See `SessionStore.remove_tenant`. Looks at every key of the server."""
        pattern, prefix = self._calls.pattern_of_tenant(tenant_id), self._calls.prefix
        tags = {name[len(prefix) :].partition("}")[0] + "}" for name in await self._calls.scan(pattern)}
        removed = 0
        for tag in sorted(tags):
            removed += await self._remove(tag, now)
        await self._calls.remove(pattern)
        return removed

    async def _remove(self, tag: str, now: datetime) -> int:
        keys = [f"{self._calls.prefix}{tag}:{kind}" for kind in ("ending", "heads", "recent", "events")]
        return int(cast("Any", await self._run(_REMOVE_SCRIPT, keys, [microseconds(now)])))

    async def _session(self, owner: Owner, response: Sequence[bytes]) -> Session:
        """The session in a script's response: status, id, counts, head, then positions and payloads.

        Payloads that the script left out are read now. Where turns left the window meanwhile, so did those before them.
        """
        _, conversation_id, _, _, head, *flat = cast("list[Any]", response)
        arrivals = [each for each in flat[1::2] if isinstance(each, int)]
        if arrivals:
            texts = await self._texts(self._key(owner, "texts", conversation_id.decode("utf-8")), arrivals)
            payloads = [*flat[1 : -2 * len(arrivals) : 2], *texts]
            begin = max((place for place, text in enumerate(payloads, 1) if text is None), default=0)
            pairs = zip(flat[2 * begin :: 2], payloads[begin:], strict=True)
            flat = [part for pair in pairs for part in pair]
        cipher = await cipher_for(self._keys, owner, flat[1::2])
        return _session_of(owner, conversation_id, head, flat, cipher)

    async def _texts(self, key: str, arrivals: Sequence[int]) -> list[bytes | None]:
        """Payloads of turns, in several calls; None for those that are gone."""
        names = [f"{arrival:016d}" for arrival in arrivals]
        texts: list[bytes | None] = []
        while len(texts) < len(names):
            texts += await self._run(_TEXTS_SCRIPT, [key], [self._response_bytes_max, *names[len(texts) :]])
        return texts

    async def check(self) -> None:
        """See `SessionStore.check`."""
        await self._calls.check()

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
            keys.append(self._calls.request_key(owner, idempotency_key.principal_id, idempotency_key.request_id))
            digest = idempotency_key.digest
        common: list[Argument] = [
            operation,
            microseconds(now),
            key.conversation_id,
            self._grace // _MICROSECOND,
            digest,
            self._idempotency_retention // _MICROSECOND,
            self._most_events(report),
            self._response_bytes_max,
        ]
        response = await self._run(_SESSION_SCRIPT, keys, [*common, *arguments])
        match response[0]:
            case b"ok" | b"repeat":
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
                raise RuntimeError(f"the session script returned {status!r}")

    def _most_events(self, report: Report) -> Argument:
        return "" if report is Report.NO else self._events_max if report is Report.BOUNDED else -1


def _spec_arguments(spec: SessionSpec | None) -> tuple[Argument, Argument]:
    return ("", "") if spec is None else (spec.window_turns, spec.ttl // _MICROSECOND)


def _past_arguments(past: SessionPast | None) -> tuple[Argument, Argument]:
    return ("", 0) if past is None else (microseconds(past.create_time), past.turn_count)


def _is_repeat(response: Sequence[bytes]) -> bool:
    return response[0] == b"repeat"


def _session_of(
    owner: Owner, conversation_id: bytes, head: bytes, flat: Sequence[bytes], cipher: CarriedCipher | None = None
) -> Session:
    window_turns, ttl, created, active, count = map(int, head.split())
    placed = zip(flat[::2], flat[1::2], strict=True)
    return Session(
        key=SessionKey(owner, ConversationId(conversation_id.decode("utf-8"))),
        spec=SessionSpec(window_turns, ttl * _MICROSECOND),
        # Scores are doubles: exact up to POSITION_MAX, but servers differ in how they print large ones.
        turns=tuple(decode_turn(payload, position=int(float(score)), cipher=cipher) for score, payload in placed),
        create_time=moment_of(created),
        last_active_time=moment_of(active),
        turn_count=count,
    )
