"""The procedures that a reader sees, by id and by pages."""

from __future__ import annotations

from collections.abc import Sequence

from services.common.errors import NotFound
from services.common.owners import Owner
from services.common.scope import Reader, Scope, is_seen
from services.semantic.procedures.model import Procedure, ProcedureKind, ProcedurePosition
from services.semantic.procedures.store import ProcedureStore


async def seen_one(store: ProcedureStore, owner: Owner, reader: Reader | None, procedure_id: str) -> Procedure:
    """A procedure.

    Raises:
        NotFound: The owner has none of this id, or the reader does not see it.
    """
    found = await store.get(owner, procedure_id)
    if found is None or not _is_seen(found, reader):
        raise NotFound("procedure", procedure_id)
    return found


async def seen_page(
    store: ProcedureStore,
    owner: Owner,
    reader: Reader | None,
    *,
    kind: ProcedureKind | None,
    after: ProcedurePosition | None,
    page_size: int,
) -> tuple[Sequence[Procedure], ProcedurePosition | None]:
    """Procedures that the reader sees, newest first, and where the next page begins.

    Stores hold the scope inside the state, which may be encrypted: all procedures are read until a page is full.
    """
    seen: list[Procedure] = []
    while len(seen) <= page_size:
        found = await store.list_page(owner, kind=kind, after=after, limit=page_size + 1)
        seen += [one for one in found if _is_seen(one, reader)]
        if len(found) <= page_size:
            break
        after = _position_of(found[-1])
    page = seen[:page_size]
    return page, _position_of(page[-1]) if len(seen) > page_size else None


def _is_seen(procedure: Procedure, reader: Reader | None) -> bool:
    return is_seen(Scope.from_key(procedure.draft.scope_key), reader)


def _position_of(procedure: Procedure) -> ProcedurePosition:
    """The place of a procedure in lists."""
    return ProcedurePosition(procedure.create_time, procedure.procedure_id)
