"""Removal of the queries that recalls were judged with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from services.common.scope import Scope
from services.semantic.procedures.store import ProcedureWriter

_EARLIEST: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST: Final = datetime(9999, 1, 1, tzinfo=UTC)


def covering(scope: Scope, *, with_nested: bool) -> Callable[[str], bool]:
    """Whether the scope of a key is this one, or one below it."""

    def covers(scope_key: str) -> bool:
        found = Scope.from_key(scope_key)
        return found == scope or (with_nested and found.sees(scope))

    return covers


async def forget_queries(writer: ProcedureWriter, covers: Callable[[str], bool], *, judged_max: int) -> int:
    """Removes the queries of judged recalls by readers in some scopes; how many. Judgements and outcomes stay."""
    every = await writer.judged_between(_EARLIEST, _LATEST, limit=judged_max)
    gone = [judged for judged in every if judged.query and covers(judged.scope_key)]
    for judged in gone:
        await writer.put_judged(replace(judged, query=""), count_max=judged_max)
    return len(gone)
