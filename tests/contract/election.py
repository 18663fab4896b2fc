"""The contract of elections; each driver subclasses it."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod

import pytest

from services.common.errors import MnemeError
from services.common.maintenance.election import Election


class Replicas(ABC):
    """The replicas of a service that elect a leader."""

    @abstractmethod
    async def join(self, name: str) -> Election:
        """A replica's part in the election."""

    @abstractmethod
    async def kill(self, name: str) -> None:
        """Ends a replica without a word, and lets the time pass after which it is replaced."""

    @abstractmethod
    async def stop_server(self) -> None:
        """Takes away what the replicas elect by; what it remembers stays, if it remembers anything."""

    @abstractmethod
    async def start_server(self) -> None:
        """Brings it back."""


class ElectionContract:
    """Tests that every driver must pass."""

    async def test_spec_6_9_of_several_replicas_one_leads_and_stays(self, replicas: Replicas) -> None:
        elections = [await replicas.join(f"replica-{number}") for number in range(4)]
        found = [await asyncio.gather(*(election.lead() for election in elections)) for _ in range(3)]
        assert sum(found[0]) == 1
        assert found[1:] == [found[0]] * 2

    async def test_spec_6_9_a_leader_that_stops_is_replaced_at_once(self, replicas: Replicas) -> None:
        first, second = await replicas.join("first"), await replicas.join("second")
        assert (await first.lead(), await second.lead()) == (True, False)
        await first.release()
        assert (await second.lead(), await first.lead()) == (True, False)
        await first.release()  # it has nothing to release
        assert await second.lead()

    async def test_spec_6_9_a_leader_that_was_killed_is_replaced(self, replicas: Replicas) -> None:
        first, second = await replicas.join("first"), await replicas.join("second")
        assert (await first.lead(), await second.lead()) == (True, False)
        await replicas.kill("first")
        assert await second.lead()
        assert 0.0 < second.valid_seconds <= 15.0

    async def test_spec_6_9_an_election_goes_on_after_its_server_was_away(self, replicas: Replicas) -> None:
        first, second = await replicas.join("first"), await replicas.join("second")
        assert (await first.lead(), await second.lead()) == (True, False)
        await replicas.stop_server()
        for election in (first, second):
            try:
                assert not await election.lead(), "nobody may be told to lead"
            except MnemeError:
                continue
        await replicas.start_server()
        assert [await first.lead(), await second.lead()].count(True) == 1

    async def test_a_cancelled_attempt_does_no_harm(self, replicas: Replicas) -> None:
        first = await replicas.join("first")
        attempt = asyncio.create_task(first.lead())
        await asyncio.sleep(0)
        attempt.cancel()
        with pytest.raises(asyncio.CancelledError):
            await attempt
        await first.release()
        second = await replicas.join("second")
        assert await second.lead()
