"""Calls of Redis that the stores of this tier share: scripts, keys, and the removal of an owner's."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Any, Final, cast
from urllib.parse import quote

from redis.exceptions import NoScriptError, ReadOnlyError

from services.common.owners import Owner, TenantId
from services.session.config import RedisSettings
from services.session.stores.redis_client import RedisClient, translate_errors
from services.session.stores.redis_script import Argument, Script

_REMOVED_MAX: Final = 500
"""Keys that one command removes."""


class RedisCalls:
    """Runs scripts on keys of one user, which share a hash tag, so that a step happens on one node."""

    def __init__(self, client: RedisClient, settings: RedisSettings) -> None:
        """Use a client, which stays the caller's to close.

        Raises:
            ValueError: The key prefix holds a brace, which would take the place of the hash tag.
        """
        if "{" in settings.key_prefix or "}" in settings.key_prefix:
            raise ValueError("the key prefix must not hold braces")
        self.prefix = settings.key_prefix
        self._client = client
        self._timeout_seconds = settings.call_timeout_seconds
        # Waiting for a connection is no sign that Redis is gone, so it happens outside of the time limit.
        self._slots = asyncio.Semaphore(settings.connections_max)

    async def run(self, script: Script, keys: Sequence[str], arguments: Sequence[Argument]) -> list[bytes]:
        """What a script returns."""
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

    async def check(self) -> None:
        """Writes a key, since a replica answers pings too."""
        async with self._slots:
            with translate_errors():
                try:
                    async with asyncio.timeout(self._timeout_seconds):
                        await self._client.set(f"{self.prefix}check", b"1", px=60_000)
                except ReadOnlyError:
                    # After a failover the name leads elsewhere, but open connections stay where they were.
                    await self._client.aclose()
                    raise

    def key(self, owner: Owner, kind: str, *parts: str) -> str:
        """A key; ids are percent-encoded, so that no id can hold a separator or a brace."""
        return ":".join([f"{self.prefix}{self.tag(owner)}", kind, *map(_escaped, parts)])

    def request_key(self, owner: Owner, principal_id: str, request_id: str) -> str:
        """Key of the idempotency record of a request."""
        return self.key(owner, "request", principal_id, request_id)

    @staticmethod
    def tag(owner: Owner) -> str:
        """The hash tag of an owner's keys."""
        return f"{{{_escaped(owner.tenant_id)}:{_escaped(owner.user_id)}}}"

    def pattern_of(self, owner: Owner, kind: str = "") -> str:
        """Matches an owner's keys of kinds that begin so."""
        return f"{_glob(self.prefix)}{self.tag(owner)}:{kind}*"

    def pattern_of_tenant(self, tenant_id: TenantId, kind: str = "") -> str:
        """Matches a tenant's keys of kinds that begin so."""
        return f"{_glob(self.prefix)}{{{_escaped(tenant_id)}:*}}:{kind}*"

    async def scan(self, pattern: str) -> list[str]:
        """Keys that match. Looks at every key of the server."""
        client = cast("Any", self._client)
        with translate_errors():
            return [name.decode("utf-8") async for name in client.scan_iter(match=pattern, count=1_000)]

    async def remove(self, pattern: str, *, kinds: tuple[str, ...] = ("",)) -> None:
        """Removes keys that match and whose kinds begin so. Looks at every key of the server once."""
        client = cast("Any", self._client)
        by_tag: dict[str, list[str]] = {}
        for name in await self.scan(pattern):
            tag, _, kind = name[len(self.prefix) :].partition("}:")
            if kind.startswith(kinds):
                by_tag.setdefault(tag, []).append(name)
        for names in by_tag.values():  # a user's are on one node
            for begin in range(0, len(names), _REMOVED_MAX):
                with translate_errors():
                    await client.unlink(*names[begin : begin + _REMOVED_MAX])


def _escaped(identifier: str) -> str:
    return quote(identifier, safe="")


def _glob(text: str) -> str:
    """A pattern that matches the text alone."""
    return re.sub(r"([*?\[\]\\^])", r"\\\1", text)
