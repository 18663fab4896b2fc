"""Deletions of mem0's clients wait until they are carried out."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from mneme.gateway.v1 import erasure_pb2
from services.gateway.http.mem0.upstream import Handlers, Upstream

PENDING, DONE = erasure_pb2.ERASURE_STATE_PENDING, erasure_pb2.ERASURE_STATE_DONE


class Erasures:
    """An ErasureService whose erasures are in one state after the other."""

    def __init__(self, *states: int) -> None:
        self._states: Iterator[int] = iter(states)
        self.requests: list[str] = []
        self.looks: list[str] = []

    async def Erase(self, request: erasure_pb2.EraseRequest, **_: Any) -> erasure_pb2.EraseResponse:
        assert request.request_id
        self.requests.append(request.user_id)
        return erasure_pb2.EraseResponse(erasure=self._erasure())

    async def GetErasure(self, request: erasure_pb2.GetErasureRequest, **_: Any) -> Any:
        self.looks.append(request.erasure_id)
        return erasure_pb2.GetErasureResponse(erasure=self._erasure())

    def _erasure(self) -> erasure_pb2.Erasure:
        state = erasure_pb2.ErasureState.Name(next(self._states, PENDING))
        return erasure_pb2.Erasure(erasure_id="e1", state=state)


def upstream(erasures: Erasures, wait_seconds: float) -> Upstream:
    handlers = cast("Handlers", SimpleNamespace(erasures=erasures))
    return Upstream(handlers, (), tenant_id="acme", listed_max=10, wait_seconds=wait_seconds)


@pytest.mark.parametrize(
    ("states", "wait_seconds", "looks"), [((DONE,), 5.0, 0), ((PENDING, PENDING, DONE), 5.0, 2), ((PENDING,), 0.0, 0)]
)
async def test_spec_9_5_a_deletion_returns_when_it_is_done(
    states: tuple[int, ...], wait_seconds: float, looks: int
) -> None:
    erasures = Erasures(*states)
    await upstream(erasures, wait_seconds).erase_user("u1")
    assert erasures.looks == ["e1"] * looks


async def test_spec_9_5_a_deletion_that_takes_longer_returns_all_the_same() -> None:
    erasures = Erasures(PENDING)
    await upstream(erasures, 0.25).erase_turns("u1", ["01a22e35-da81-7000-aafd-170e8b223694"])
    assert erasures.requests == ["u1"]
