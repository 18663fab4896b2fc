"""Sessions in Redis, one script call for each step."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import quote

from redis.exceptions import NoScriptError, ReadOnlyError

from services.common.errors import AlreadyExists, NotFound
from services.session.config import RedisSettings, StoreSettings
from services.session.model import (
    Appended,
    NewTurn,
    Owner,
    RequestMark,
    Session,
    SessionCursor,
    SessionId,
    SessionKey,
    SessionSpec,
    microseconds,
    moment_of,
)
from services.session.store import Answer
from services.session.stores.codec import decode_turn, encode_turn
from services.session.stores.marks import request_id_reused
from services.session.stores.redis_client import RedisClient, translate_errors

_Argument = str | bytes | int
_MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class _Script:
    """A script and the digest that the server knows it by."""

    text: str
    sha: str

    @classmethod
    def load(cls, name: str) -> _Script:
        text = (Path(__file__).parent / name).read_text(encoding="utf-8")
        return cls(text, hashlib.sha1(text.encode("utf-8"), usedforsecurity=False).hexdigest())


_SESSION_SCRIPT: Final = _Script.load("session.lua")
_LIST_SCRIPT: Final = _Script.load("list.lua")


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
        self._mark_lifetime = store_settings.mark_lifetime
        # Waiting for a connection is no sign that Redis is gone, so it happens outside of the time limit.
        self._slots = asyncio.Semaphore(settings.connections_max)

    async def create(
        self, key: SessionKey, spec: SessionSpec, *, now: datetime, mark: RequestMark | None = None
    ) -> Answer[Session]:
        """See `SessionStore.create`."""
        answer = await self._step("create", key, now, mark, *_spec_arguments(spec))
        return Answer(_session(key.owner, answer))

    async def get(self, key: SessionKey, *, now: datetime) -> Answer[Session]:
        """See `SessionStore.get`."""
        return Answer(_session(key.owner, await self._step("get", key, now, None)))

    async def list_sessions(
        self, owner: Owner, *, limit: int, after: SessionCursor | None, now: datetime
    ) -> Answer[list[Session]]:
        """See `SessionStore.list_sessions`."""
        keys = [self._key(owner, "heads"), self._key(owner, "recent")]
        arguments: list[_Argument] = [microseconds(now), limit]
        if after is not None:
            arguments += [microseconds(after.last_active_time), after.session_id]
        flat = await self._run(_LIST_SCRIPT, keys, arguments)
        pairs = zip(flat[::2], flat[1::2], strict=True)
        return Answer([_session_of(owner, session_id, head, ()) for session_id, head in pairs])

    async def append(
        self,
        key: SessionKey,
        turns: Sequence[NewTurn],
        *,
        create: SessionSpec | None,
        now: datetime,
        mark: RequestMark | None = None,
    ) -> Answer[Appended]:
        """See `SessionStore.append`."""
        arguments: list[_Argument] = [*_spec_arguments(create), self._remembered_turns]
        for turn in turns:
            arguments += [turn.turn_id, "" if turn.position is None else turn.position, encode_turn(turn)]
        answer = await self._step("append", key, now, mark, *arguments)
        _, _, added, created, *_ = answer
        session = _session(key.owner, answer)
        return Answer(Appended(session, appended_count=int(added), is_created=created == b"1"))

    async def extend(
        self, key: SessionKey, *, ttl: timedelta | None, now: datetime, mark: RequestMark | None = None
    ) -> Answer[Session]:
        """See `SessionStore.extend`."""
        answer = await self._step("extend", key, now, mark, "" if ttl is None else ttl // _MICROSECOND)
        return Answer(_session(key.owner, answer))

    async def delete(self, key: SessionKey, *, now: datetime, mark: RequestMark | None = None) -> Answer[Session]:
        """See `SessionStore.delete`."""
        return Answer(_session(key.owner, await self._step("delete", key, now, mark)))

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
        self, operation: str, key: SessionKey, now: datetime, mark: RequestMark | None, *arguments: _Argument
    ) -> list[bytes]:
        owner = key.owner
        keys = [self._key(owner, kind, key.session_id) for kind in ("texts", "window", "known")]
        keys += [self._key(owner, kind) for kind in ("heads", "recent", "ending")]
        fingerprint = ""
        if mark is not None:
            keys.append(self._key(owner, "mark", mark.principal_id, mark.request_id))
            fingerprint = mark.fingerprint
        common: list[_Argument] = [
            operation,
            microseconds(now),
            key.session_id,
            self._grace // _MICROSECOND,
            fingerprint,
            self._mark_lifetime // _MICROSECOND,
        ]
        answer = await self._run(_SESSION_SCRIPT, keys, [*common, *arguments])
        match answer[0]:
            case b"ok":
                return answer
            case b"missing":
                raise NotFound("session", key.session_id)
            case b"exists":
                raise AlreadyExists("session", key.session_id)
            case b"reused":
                raise request_id_reused()
            case status:
                raise RuntimeError(f"the session script answered {status!r}")

    async def _run(self, script: _Script, keys: Sequence[str], arguments: Sequence[_Argument]) -> list[bytes]:
        client = cast("Any", self._client)  # the two clients' signatures differ in detail
        async with self._slots:
            with translate_errors():
                async with asyncio.timeout(self._timeout_seconds):
                    try:
                        answer = await client.evalsha(script.sha, len(keys), *keys, *arguments)
                    except NoScriptError:
                        # The server restarted, or another node took over: EVAL also makes it known there.
                        answer = await client.eval(script.text, len(keys), *keys, *arguments)
        return cast("list[bytes]", answer)

    def _key(self, owner: Owner, kind: str, *parts: str) -> str:
        """A key; ids are percent-encoded, so that no id can hold a separator or a brace."""
        tag = f"{{{_escaped(owner.tenant_id)}:{_escaped(owner.user_id)}}}"
        return ":".join([f"{self._prefix}{tag}", kind, *map(_escaped, parts)])


def _escaped(identifier: str) -> str:
    return quote(identifier, safe="")


def _spec_arguments(spec: SessionSpec | None) -> tuple[_Argument, _Argument]:
    return ("", "") if spec is None else (spec.window_turns, spec.ttl // _MICROSECOND)


def _session(owner: Owner, answer: Sequence[bytes]) -> Session:
    """The session in a script's answer: ok, id, counts, head, then positions and payloads."""
    _, session_id, _, _, head, *flat = answer
    return _session_of(owner, session_id, head, flat)


def _session_of(owner: Owner, session_id: bytes, head: bytes, flat: Sequence[bytes]) -> Session:
    window_turns, ttl, created, active, count = map(int, head.split())
    placed = zip(flat[::2], flat[1::2], strict=True)
    return Session(
        key=SessionKey(owner, SessionId(session_id.decode("utf-8"))),
        spec=SessionSpec(window_turns, ttl * _MICROSECOND),
        # Scores are doubles: exact up to POSITION_MAX, but servers differ in how they print large ones.
        turns=tuple(decode_turn(payload, position=int(float(score))) for score, payload in placed),
        create_time=moment_of(created),
        last_active_time=moment_of(active),
        turn_count=count,
    )
