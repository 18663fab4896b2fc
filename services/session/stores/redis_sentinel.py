"""The master that Redis Sentinels name, however often it changes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.sentinel import MasterNotFoundError, Sentinel, SentinelConnectionPool
from redis.exceptions import RedisError


class SentinelGroup(Sentinel):
    """Sentinels that are asked all at once.

    The driver's own way asks one after the other. A first one that does not respond, since its machine is gone, would
    use up the time of each call, and the others would never be asked.
    """

    async def discover_master(self, service_name: str) -> tuple[str, int]:
        """The address of the master, by the latest failover that a majority knows of.

        A failover takes a majority of Sentinels, so of any majority at least one has agreed to the latest. Where fewer
        respond in time, the latest that they know counts: a server that is no master any more refuses writes.

        Raises:
            MasterNotFoundError: None of those that respond knows a master that is up.
        """
        asking = {asyncio.ensure_future(sentinel.sentinel_masters()) for sentinel in self.sentinels}
        pending = set(asking)
        states: list[Mapping[str, Any]] = []
        responses = 0
        try:
            while pending and responses <= len(self.sentinels) // 2:
                done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                for response in done:
                    if response.exception() is None:
                        responses += 1
                        states += _masters(response.result(), service_name)
                    elif not isinstance(response.exception(), RedisError | OSError):
                        raise response.exception() or AssertionError
        finally:
            for question in pending:
                question.cancel()
            await asyncio.gather(*pending, return_exceptions=True)
        # Of those who know as much, one who cannot see the master does not count.
        ranked = [(int(state["config-epoch"]), self.check_master_state(dict(state), service_name)) for state in states]
        best = max(ranked, default=(0, False))
        if not best[1]:
            raise MasterNotFoundError(
                f"{responses} of {len(self.sentinels)} Sentinels responded, none with a live master {service_name!r}"
            )
        latest = states[ranked.index(best)]
        return str(latest["ip"]), int(latest["port"])


class BlockingSentinelPool(SentinelConnectionPool, BlockingConnectionPool):
    """Connections to the master, of a bounded number; who needs one beyond it waits.

    The driver's pool of this kind fails beyond its bound, which would count as an outage.
    """

    async def aclose(self) -> None:
        """Disconnect from the master and from the Sentinels; a later call connects again."""
        await super().aclose()
        await self.sentinel_manager.aclose()


def create_sentinel_client(
    sentinels: Sequence[tuple[str, int]],
    master: str,
    *,
    sentinel_options: Mapping[str, Any],
    options: Mapping[str, Any],
) -> Redis:
    """A client of a master that connects on its first call.

    Args:
        sentinels: Their addresses.
        master: The name that they know it by.
        sentinel_options: Of the connections to them.
        options: Of the pool of connections to the master.
    """
    group = SentinelGroup(sentinels, sentinel_kwargs=dict(sentinel_options))  # type: ignore[no-untyped-call]
    return Redis.from_pool(BlockingSentinelPool(master, group, **options))  # type: ignore[no-untyped-call]


def _masters(masters: Any, name: str) -> list[Mapping[str, Any]]:
    return [masters[name]] if name in masters else []
