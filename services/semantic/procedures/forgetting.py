"""Removal of the queries that recalls were judged with, and of what was learned from them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from services.common.ids import IdSource
from services.common.scope import Scope
from services.semantic.config import ProcedureSettings
from services.semantic.procedures.learning import names_words
from services.semantic.procedures.model import JudgedRecall, ProcedureOrigin
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
    """Removes the queries of judged recalls by readers in some scopes; how many. Judgements and outcomes stay.

    What was learned from them is of the same scope, and goes with its procedures.
    """
    every = await writer.judged_between(_EARLIEST, _LATEST, limit=judged_max)
    gone = [judged for judged in every if judged.query and covers(judged.scope_key)]
    for judged in gone:
        await writer.put_judged(replace(judged, query=""), count_max=judged_max)
    return len(gone)


async def forget_recall(
    writer: ProcedureWriter, recall_id: str, judged: JudgedRecall | None, *, ids: IdSource, settings: ProcedureSettings
) -> None:
    """Removes the query of one recall, and rewritings that no other recalls teach. Its judgement and outcomes stay.

    Args:
        writer: Of the user.
        recall_id: The recall.
        judged: Its judgement as it is stored; None where there is none any more.
        ids: Of etags.
        settings: Bounds.
    """
    removed = []
    for procedure in await writer.by_source([recall_id]):
        rest = tuple(pair for pair in procedure.learned_from if recall_id not in pair)
        if rest:
            await writer.put(replace(procedure, learned_from=rest, etag=ids.new_id()))
        elif procedure.learned_from:
            removed.append(procedure.procedure_id)
    if judged is not None and judged.query:
        await writer.put_judged(replace(judged, query=""), count_max=settings.judged_max)
        removed += await _without_sources(writer, judged, settings)
    await writer.delete(removed)


async def _without_sources(
    writer: ProcedureWriter, judged: JudgedRecall, settings: ProcedureSettings
) -> Collection[str]:
    """Rewritings that were learned before their recalls were stored, and that share their words with a query."""
    span = timedelta(seconds=settings.rephrased_within_seconds)
    around = await writer.judged_between(judged.time - span, judged.time + span, limit=settings.judged_max)
    near = dict.fromkeys(procedure_id for one in (judged, *around) for procedure_id in one.procedure_ids)
    return [
        procedure.procedure_id
        for procedure in await writer.get(list(near))
        if procedure.origin is ProcedureOrigin.REPHRASED
        and not procedure.learned_from
        and any(names_words(judged.query, text) for text in (procedure.draft.trigger, procedure.draft.action))
    ]
