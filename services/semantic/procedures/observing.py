"""Procedures made of what a coding agent's activity log shows again and again (SPEC 3.9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from services.common.clock import Clock
from services.common.ids import IdSource
from services.common.owners import Owner
from services.semantic.config import ProcedureSettings
from services.semantic.procedures.model import Observed, Procedure, ProcedureKind, ProcedureOrigin, trust_in
from services.semantic.procedures.store import ProcedureStore, ProcedureWriter

OBSERVED_KINDS: Final = (ProcedureKind.CO_EDIT, ProcedureKind.ERROR_FIX, ProcedureKind.REFACTOR)


@dataclass(frozen=True, slots=True)
class ObservedChanges:
    """How many procedures changed."""

    changed: int  # added or counted anew
    deleted: int


class ProcedureObserver:
    """Makes the procedures of a log those that it shows now. Outcomes of those that stay are kept."""

    def __init__(self, store: ProcedureStore, *, clock: Clock, ids: IdSource, settings: ProcedureSettings) -> None:
        """All collaborators are owned by the caller."""
        self._store = store
        self._clock = clock
        self._ids = ids
        self._settings = settings

    async def observe(self, owner: Owner, shown: Sequence[Observed]) -> ObservedChanges:
        """Adds, counts anew and deletes procedures of the log. A repeat changes nothing.

        What somebody has stated for the same trigger and scope stays as it is.
        """
        wanted: dict[str, Observed] = {}
        for one in shown:
            wanted.setdefault(one.draft.identity, one)
        if not wanted and not await self._has_observed(owner):
            return ObservedChanges(0, 0)  # as for most users: nothing is written

        async def work(writer: ProcedureWriter) -> ObservedChanges:
            present = await self._observed(writer)
            gone = [one.procedure_id for identity, one in present.items() if identity not in wanted]
            deleted = await writer.delete(gone)
            changed = 0
            for identity, one in wanted.items():
                known = present.get(identity)
                if known is None:
                    changed += await self._add(writer, one)
                elif (known.observed_count, known.contrary_count) != (one.observed_count, one.contrary_count):
                    await self._put(writer, known, one)
                    changed += 1
            for kind in OBSERVED_KINDS if changed else ():
                deleted += await writer.delete(await writer.beyond(kind, self._settings.per_kind_max))
            return ObservedChanges(changed, deleted)

        return await self._store.write(owner, work)

    async def _has_observed(self, owner: Owner) -> bool:
        for kind in OBSERVED_KINDS:
            found = await self._store.list_page(owner, kind=kind, after=None, limit=self._settings.per_kind_max)
            if any(procedure.origin is ProcedureOrigin.OBSERVED for procedure in found):
                return True
        return False

    async def _observed(self, writer: ProcedureWriter) -> dict[str, Procedure]:
        found: dict[str, Procedure] = {}
        for kind in OBSERVED_KINDS:
            for procedure in await writer.get(await writer.beyond(kind, 0)):
                if procedure.origin is ProcedureOrigin.OBSERVED:
                    found[procedure.draft.identity] = procedure
        return found

    async def _add(self, writer: ProcedureWriter, one: Observed) -> int:
        if await writer.by_identity(one.draft.identity) is not None:
            return 0
        now, initial = self._clock.now(), self._settings.initial_confidence
        procedure = Procedure(
            procedure_id=self._ids.new_id(),
            draft=one.draft,
            initial_confidence=initial,
            origin=ProcedureOrigin.OBSERVED,
            create_time=now,
            update_time=now,
            etag="",
            confidence=initial,
        )
        await self._put(writer, procedure, one)
        return 1

    async def _put(self, writer: ProcedureWriter, procedure: Procedure, one: Observed) -> None:
        counted = replace(procedure, observed_count=one.observed_count, contrary_count=one.contrary_count)
        outcomes = (counted.success_count, counted.failure_count)
        confidence = trust_in(counted, outcomes, learning_rate=self._settings.learning_rate)
        await writer.put(
            replace(counted, confidence=confidence, update_time=self._clock.now(), etag=self._ids.new_id())
        )
