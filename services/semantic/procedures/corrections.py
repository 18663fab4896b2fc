"""Abbreviations that corrected sentences define: they are applied no more (SPEC 3.12)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from services.common.ids import IdSource
from services.common.owners import InteractionId
from services.semantic.config import ProcedureSettings
from services.semantic.procedures.learning import defined
from services.semantic.procedures.model import ProcedureDraft, ProcedureOrigin
from services.semantic.procedures.store import ProcedureWriter


async def take_back_definitions(
    writer: ProcedureWriter,
    statements: Sequence[tuple[InteractionId, str]],
    *,
    ids: IdSource,
    settings: ProcedureSettings,
) -> int:
    """Removes corrected sentences from the sources of the abbreviations that they define.

    Args:
        writer: Of the user.
        statements: Sentences, each with its turn; an empty one stands for all of the turn.
        ids: Of etags.
        settings: Bounds of what is read as a definition.

    Returns:
        How many abbreviations went with their last source.
    """
    corrected: dict[InteractionId, list[str]] = defaultdict(list)
    for interaction_id, sentence in statements:
        corrected[interaction_id].append(sentence)
    removed: list[str] = []
    for procedure in await writer.by_source(list(corrected)):
        if procedure.origin is not ProcedureOrigin.DEFINED:
            continue
        rest = tuple(
            source
            for source in procedure.derived_from
            if not any(_defines(sentence, procedure.draft, settings) for sentence in corrected.get(source, ()))
        )
        if not rest:
            removed.append(procedure.procedure_id)
        elif rest != procedure.derived_from:
            await writer.put(replace(procedure, derived_from=rest, etag=ids.new_id()))
    return await writer.delete(removed)


def _defines(sentence: str, draft: ProcedureDraft, settings: ProcedureSettings) -> bool:
    if not sentence:
        return True
    found = defined(sentence, scope_key=draft.scope_key, settings=settings)
    return any(one.identity == draft.identity for one in found)
