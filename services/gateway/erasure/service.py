"""Use cases of erasures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from services.common.auth import Principal, Role, role_missing
from services.gateway.erasure.hiding import ErasedUsers
from services.gateway.erasure.model import (
    EarlierErasure,
    EraseCommand,
    Erasure,
    ErasureSettings,
    Plan,
    Planned,
    Target,
    TargetKind,
)
from services.gateway.erasure.runner import ErasureRunner
from services.gateway.erasure.store import DerivedCounts, ErasureStore
from services.gateway.grants.model import MemoryKind
from services.gateway.journal.model import Caller

_RESPONSE_SHARE = 0.8
"""Part of a call's time that it waits for the erasure to be complete."""


@dataclass(frozen=True, slots=True)
class Erased:
    """An erasure that is durable."""

    erasure: Erasure
    replayed: bool


class Erasing:
    """Accepts erasures, and shows what would go and how far they are."""

    def __init__(
        self,
        store: ErasureStore,
        runner: ErasureRunner,
        derived: DerivedCounts,
        settings: ErasureSettings,
        erased: ErasedUsers,
    ) -> None:
        """`runner` carries out what `store` holds; `erased` hides users meanwhile."""
        self._erased = erased
        self._store = store
        self._runner = runner
        self._derived = derived
        self._settings = settings

    @property
    def settings(self) -> ErasureSettings:
        """How erasures are carried out."""
        return self._settings

    async def erase(
        self, principal: Principal, caller: Caller, command: EraseCommand, *, seconds_left: float
    ) -> Erased:
        """Makes an erasure durable and waits a moment for it to be complete.

        Raises:
            PermissionDenied: Only an administrator erases a tenant.
            InvalidArgument: The request id was used before with another request.
        """
        _check_role(principal, command.target)
        erasure, replayed = await self._store.begin(caller, command)
        if not erasure.is_done:
            self._erased.add(erasure.tenant_id, erasure.target)
        return Erased(await self._finished(erasure, seconds_left), replayed)

    async def earlier(self, caller: Caller, command: EraseCommand, *, seconds_left: float) -> EarlierErasure | None:
        """What an earlier call with this request id erased, if there was one."""
        earlier = await self._store.earlier(caller, command)
        if earlier is None or earlier.erasure is None:
            return earlier
        return EarlierErasure(await self._finished(earlier.erasure, seconds_left))

    async def settle_nothing(self, caller: Caller, command: EraseCommand, *, seconds_left: float) -> Erasure | None:
        """Records that a call erases nothing; what an equal call at the same time erased, if it did."""
        erasure = (await self._store.settle_nothing(caller, command)).erasure
        return None if erasure is None else await self._finished(erasure, seconds_left)

    async def get(self, tenant_id: str, erasure_id: str) -> Erasure:
        """See `ErasureStore.get`."""
        return await self._store.get(tenant_id, erasure_id)

    async def list_erasures(
        self, principal: Principal, user_id: str, *, before: str | None, page_size: int
    ) -> tuple[Sequence[Erasure], str | None]:
        """A page of erasures, newest first, and the id after which the next page goes on; None on the last page.

        With an empty `user_id`, those of the whole tenant.

        Raises:
            PermissionDenied: Only an administrator lists those of a tenant.
        """
        if not user_id and principal.role < Role.ADMIN:
            raise role_missing(Role.ADMIN)
        found = await self._store.list_erasures(
            principal.tenant_id, user_id or None, before=before, limit=page_size + 1
        )
        page = found[:page_size]
        return page, page[-1].erasure_id if len(found) > page_size else None

    async def plan(self, principal: Principal, target: Target) -> Plan:
        """What would go.

        Raises:
            PermissionDenied: Only an administrator erases a tenant.
        """
        _check_role(principal, target)
        tenant_id = principal.tenant_id
        if target.kind is TargetKind.TENANT:
            count, previews = await self._store.preview(tenant_id, target, limit=self._settings.previews_max)
            return Plan(previews, {MemoryKind.EPISODE: count})
        is_user = target.kind is TargetKind.USER
        limit = self._settings.previews_max if is_user else self._settings.plan_turns_max
        count, turns = await self._store.preview(tenant_id, target, limit=limit)
        return await self._with_derived(tenant_id, target, turns, episodes=count)

    async def plan_of(self, tenant_id: str, target: Target, chosen: Sequence[Planned]) -> Plan:
        """The plan of memories that were chosen, with what is derived from their turns."""
        turns = [planned for planned in chosen if planned.kind is MemoryKind.EPISODE]
        plan = await self._with_derived(tenant_id, target, turns, episodes=len(turns))
        return replace(plan, memories=chosen)

    async def _with_derived(self, tenant_id: str, target: Target, turns: Sequence[Planned], *, episodes: int) -> Plan:
        is_user = target.kind is TargetKind.USER
        named = [(kind, memory_id) for kind, memory_id in target.memories if kind is not MemoryKind.EPISODE]
        counts = {MemoryKind.FACT: 0, MemoryKind.NOTE: 0}
        if turns or is_user:
            counts = await self._derived.counts(
                tenant_id,
                target.user_id,
                turns=None if is_user else {turn.memory_id for turn in turns},
                named={memory_id for _, memory_id in named},
            )
        for kind, _ in named:
            counts[kind] += 1
        return Plan(turns, {MemoryKind.EPISODE: episodes, **counts})

    async def _finished(self, erasure: Erasure, seconds_left: float) -> Erasure:
        timeout_seconds = min(self._settings.response_seconds, seconds_left * _RESPONSE_SHARE)
        return await self._runner.finish(erasure, timeout_seconds=timeout_seconds)


def _check_role(principal: Principal, target: Target) -> None:
    if target.kind is TargetKind.TENANT and principal.role < Role.ADMIN:
        raise role_missing(Role.ADMIN)
