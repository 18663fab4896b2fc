"""The port of procedures and of the judgements that they learn from."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Protocol, TypeVar

from services.common.idempotency.model import IdempotencyRecords
from services.common.owners import Owner, TenantId, UserId
from services.semantic.procedures.model import JudgedRecall, Procedure, ProcedureKind, ProcedurePosition

_T = TypeVar("_T")


class ProcedureWriter(Protocol):
    """Reads and writes of one user in one transaction, during which nobody else writes for that user.

    What changes a procedure raises the revision of the user's procedures, in the same transaction.
    """

    @property
    def idempotency(self) -> IdempotencyRecords:
        """The tenant's idempotency records, in this transaction."""
        ...

    async def get(self, procedure_ids: Sequence[str]) -> Sequence[Procedure]:
        """Those of the ids that are there, by id."""
        ...

    async def by_identity(self, identity: str) -> Procedure | None:
        """The procedure of an identity."""
        ...

    async def by_source(self, source_ids: Sequence[str]) -> Sequence[Procedure]:
        """The procedures that come from one of these interactions or recalls, by id."""
        ...

    async def beyond(self, kind: ProcedureKind, count_max: int) -> Sequence[str]:
        """Ids of those of a kind beyond `count_max`, counted from the most confident, of equal ones the newest."""
        ...

    async def put(self, procedure: Procedure) -> None:
        """Add or replace a procedure. No other one of the user has its identity."""
        ...

    async def delete(self, procedure_ids: Sequence[str]) -> int:
        """Delete procedures, and erase the responses about them; how many were there."""
        ...

    async def judged(self, recall_id: str) -> JudgedRecall | None:
        """The judgement of a recall."""
        ...

    async def judged_between(self, start: datetime, end: datetime, *, limit: int) -> Sequence[JudgedRecall]:
        """The judgements of recalls asked from `start` to `end`, both included, newest first, ties by id."""
        ...

    async def put_judged(self, judged: JudgedRecall, *, count_max: int) -> None:
        """Add or replace a judgement, and delete those of the oldest recalls beyond `count_max`."""
        ...


class ProcedureStore(Protocol):
    """What every driver must do."""

    async def write(self, owner: Owner, work: Callable[[ProcedureWriter], Awaitable[_T]]) -> _T:
        """Run `work` in a transaction under the user's lock. It may run again after a lost race: no side effects."""
        ...

    async def remove_owner(self, owner: Owner) -> int:
        """Delete all procedures and judgements of a user, and erase the responses; how many procedures.

        A driver may do it in several transactions. One that fails leaves removed what earlier ones removed: a repeat
        removes the rest, and counts all.
        """
        ...

    async def get(self, owner: Owner, procedure_id: str) -> Procedure | None:
        """One procedure."""
        ...

    async def users(self, tenant_id: TenantId, *, after: UserId, limit: int) -> list[UserId]:
        """Users of a tenant that have procedures, after one, in the order of their ids."""
        ...

    async def list_page(
        self, owner: Owner, *, kind: ProcedureKind | None, after: ProcedurePosition | None, limit: int
    ) -> Sequence[Procedure]:
        """Procedures, newest first, ties by id."""
        ...

    async def trusted(
        self, owner: Owner, *, cached_revision: int | None, confidence_above: float, limit: int
    ) -> tuple[int, Sequence[Procedure] | None]:
        """The revision and the most confident procedures; None for these where the revision is the caller's."""
        ...
