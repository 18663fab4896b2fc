"""Carries out the operation of a case through the gateway."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

import grpc

from bench.gateway import CALL_SECONDS, Gateway
from bench.knowledge.cases import Case
from bench.knowledge.probing import CaseRunner
from mneme.gateway.v1 import erasure_pb2, memory_pb2, tiers_pb2


class OperationFailedError(Exception):
    """The gateway refused the operation, or has none of this kind: the case fails."""


async def carry_out(gateway: Gateway, runner: CaseRunner, case: Case) -> None:
    """Carries out the operation of a case, and waits until it is complete.

    Raises:
        OperationFailedError: The gateway cannot do it.
    """
    operation = case.operation or {}
    stub = gateway.erasures
    user_id = runner.user_id(case, operation.get("user", ""))
    common: dict[str, Any] = {"request_id": f"{user_id}/operation", "user_id": user_id}
    try:
        if operation["kind"] == "correct":
            await _called(gateway, stub.Correct, _correction(runner, case, common))
        elif operation["kind"] == "forget":
            forget = erasure_pb2.ForgetRequest(
                query=operation["query"], dry_run=operation.get("dry_run", False), **common
            )
            await _completed(gateway, (await _called(gateway, stub.Forget, forget)).erasure)
        elif operation["kind"] in ("erase_memory", "erase_user"):
            erase = _erasure(runner, case, common)
            await _completed(gateway, (await _called(gateway, stub.Erase, erase)).erasure)
        else:
            raise OperationFailedError(f"there is no operation {operation['kind']!r}")
    except grpc.aio.AioRpcError as error:
        raise OperationFailedError(f"{error.code().name}: {error.details()}") from error


def _correction(runner: CaseRunner, case: Case, common: dict[str, Any]) -> erasure_pb2.CorrectRequest:
    operation = case.operation or {}
    request = erasure_pb2.CorrectRequest(text=operation["text"], **common)
    request.time.FromDatetime(max(turn.time for turn in case.turns if not turn.is_after))
    if "query" in operation:
        request.query = operation["query"]
    else:
        request.memory.CopyFrom(_episode(runner, case, operation["target_turn"]))
    return request


def _erasure(runner: CaseRunner, case: Case, common: dict[str, Any]) -> erasure_pb2.EraseRequest:
    operation = case.operation or {}
    if operation["kind"] == "erase_user":
        return erasure_pb2.EraseRequest(all_of_user=True, **common)
    memory = _episode(runner, case, operation["target_turn"])
    return erasure_pb2.EraseRequest(memories=erasure_pb2.MemoryReferences(memories=[memory]), **common)


def _episode(runner: CaseRunner, case: Case, turn: int) -> memory_pb2.MemoryReference:
    kind = tiers_pb2.MEMORY_KIND_EPISODE
    return memory_pb2.MemoryReference(kind=kind, memory_id=runner.interaction_id(case, turn))


async def _completed(gateway: Gateway, erasure: erasure_pb2.Erasure) -> None:
    request = erasure_pb2.GetErasureRequest(erasure_id=erasure.erasure_id)
    while erasure.state == erasure_pb2.ERASURE_STATE_PENDING:
        erasure = (await _called(gateway, gateway.erasures.GetErasure, request)).erasure


def _called(gateway: Gateway, method: Any, request: Any) -> Awaitable[Any]:
    found: Awaitable[Any] = method(request, timeout=CALL_SECONDS, metadata=gateway.metadata)
    return found
