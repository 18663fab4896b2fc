"""Carries out the operation of a case through the gateway."""

from __future__ import annotations

from bench.gateway import Gateway
from bench.knowledge.cases import Case
from bench.knowledge.probing import CaseRunner


class OperationMissingError(Exception):
    """The gateway has no such operation: the case fails."""


async def carry_out(_gateway: Gateway, _runner: CaseRunner, case: Case) -> None:
    """Carries out the operation of a case.

    Raises:
        OperationMissingError: The gateway cannot do it.
    """
    kind = case.operation["kind"] if case.operation is not None else "none"
    raise OperationMissingError(f"the gateway has no operation {kind!r}")
