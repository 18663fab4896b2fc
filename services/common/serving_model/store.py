"""Where the choice of the serving model is true, for all processes of an installation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from services.common.idempotency.model import IdempotencyRecords


@dataclass(frozen=True, slots=True)
class ServingState:
    """The choice as it was made last."""

    model: str  # fingerprint of the serving model
    former: str | None  # the one before; None once the change has ended
    revision: int  # counts the changes
    change_time: datetime


@dataclass(frozen=True, slots=True)
class ModelHolder:
    """A process that holds embedding models, as it reported lately."""

    process_id: str
    service: str
    models: Sequence[str]  # fingerprints
    serving: str  # the one that it serves with


Choose = Callable[[str, str], Awaitable[ServingState]]
"""See `ServingModelStore.choose`: the model, and the former one."""

_T = TypeVar("_T")


class ServingModelStore(Protocol):
    """What a driver must do. All methods raise `StoreUnavailable`."""

    async def read(self) -> ServingState | None:
        """The choice; None where none was made yet."""
        ...

    async def choose(self, model: str, *, former: str) -> ServingState:
        """Makes `model` serve in one transaction, `former` being the one before; a repeat changes nothing."""
        ...

    async def choosing(self, tenant_id: str, work: Callable[[IdempotencyRecords, Choose], Awaitable[_T]]) -> _T:
        """Runs `work` in one transaction, while nobody else chooses.

        It is given the tenant's idempotency records and `choose`, both of that transaction.
        """
        ...

    async def end(self, model: str) -> None:
        """Ends the change to this serving model: there is no way back any more. Nothing where another one serves."""
        ...

    async def forget(self, model: str) -> None:
        """Removes the choice of this model: processes serve with the model of their settings again."""
        ...

    async def report(self, holder: ModelHolder) -> None:
        """Notes what a process holds and serves with, and forgets processes that have not reported for long."""
        ...

    async def leave(self, process_id: str) -> None:
        """Forgets a process that ends."""
        ...

    async def holders(self, *, seconds: float) -> Sequence[ModelHolder]:
        """The processes that reported in these last seconds, by service and id."""
        ...
