"""Which of the replicas of a service leads: one port, a lock in PostgreSQL or a Kubernetes Lease behind it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final, Protocol

import structlog

from services.common.errors import MnemeError

_log = structlog.get_logger(__name__)

_RETRY_SECONDS: Final = 2.0
"""Between two attempts to lead, and between two renewals; well below what any election is valid for."""


class Election(Protocol):
    """One replica's part in an election."""

    @property
    def valid_seconds(self) -> float:
        """How long a replica may believe that it leads after `lead` was called, if it hears nothing more."""
        ...

    async def lead(self) -> bool:
        """Becomes the leader if there is none, or stays it; returns whether this replica leads.

        No other replica may become the leader within `valid_seconds` of the call, by any clock but its own: replicas'
        clocks differ. Where that cannot be guaranteed, because a server's memory of its leader was lost, the fencing
        token of the term keeps a former leader from writing.

        Raises:
            StoreUnavailable: Nobody can be asked; whether this replica leads is not known.
        """
        ...

    async def release(self) -> None:
        """Ends the leadership, if there is one, so that another replica need not wait."""
        ...


class Leader:
    """This replica's leadership: takes part in the election, and numbers its terms by the store.

    The number of a term is the fencing token of everything that is written in it. It is drawn from the store, which
    outlives every lock and Lease, and the election is asked once more afterwards: a replica that drew a number while it
    lost the election never uses it.
    """

    def __init__(
        self,
        election: Election,
        draw_term: Callable[[], Awaitable[int]],
        *,
        monotonic: Callable[[], float] = time.monotonic,
        retry_seconds: float = _RETRY_SECONDS,
    ) -> None:
        """Takes part in `election` once `run` does; each number that `draw_term` gives is above all before it."""
        self._election = election
        self._draw_term = draw_term
        self._monotonic = monotonic
        self._retry_seconds = retry_seconds
        self._term: int | None = None
        self._valid_until = 0.0
        self._is_settled = asyncio.Event()

    async def run(self) -> None:
        """Takes part until cancelled; then another replica may lead at once."""
        try:
            while True:
                await self.step()
                await asyncio.sleep(self._retry_seconds)
        finally:
            self._term = None
            await self._election.release()

    async def step(self) -> None:
        """Tries to lead, or to go on leading, once."""
        try:
            await self._step()
        except MnemeError as error:
            # The leader goes on until its term ends: the election responds again, or another leader takes over.
            _log.warning("election_failed", error=type(error).__name__, leads=self.term is not None)
        finally:
            self._is_settled.set()

    async def _step(self) -> None:
        started = self._monotonic()
        if not await self._election.lead():
            if self._term is not None:
                _log.warning("leadership_lost", term=self._term)
            self._term = None
            return
        if self.term is None:
            term = await self._draw_term()
            started = self._monotonic()
            if not await self._election.lead():
                return
            self._term = term
            _log.info("leadership_taken", term=term)
        self._valid_until = started + self._election.valid_seconds

    @property
    def term(self) -> int | None:
        """The number of the term; None where this replica does not lead, or no longer knows that it does."""
        return self._term if self._monotonic() < self._valid_until else None

    async def settled_term(self) -> int | None:
        """The term, after the first attempt to lead."""
        await self._is_settled.wait()
        return self.term
