"""Forgetting by a query in plain words: a plan first, then the erasure of exactly that plan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from services.common.auth import Principal
from services.common.clock import Clock
from services.common.errors import FailedPrecondition, FieldViolation, InvalidArgument, LimitExceeded
from services.common.paging import Cursor, PageTokens
from services.common.scope import Scope
from services.gateway.erasure.model import Choice, EraseCommand, Erasure, Plan, Target, TargetKind
from services.gateway.erasure.service import Erasing
from services.gateway.grants.model import MemoryKind
from services.gateway.journal.model import Caller


@dataclass(frozen=True, slots=True)
class ForgetCommand:
    """What is to be forgotten."""

    user_id: str
    request_id: str
    digest: bytes  # of the whole request
    query: str = ""
    plan_token: str = ""  # of a dry run: exactly its plan
    dry_run: bool = False
    reader: Scope | None = None  # only what is seen from there is chosen; None: all of the user's


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What a query chose, and what became of it."""

    erasure: Erasure | None = None
    plan: Plan | None = None
    plan_token: str = ""
    replayed: bool = False


class ChoosesMemories(Protocol):
    """Finds what a query means."""

    async def chosen(
        self, principal: Principal, user_id: str, query: str, *, reader: Scope | None = None, seconds_left: float
    ) -> Choice:
        """The memories that a query in plain words means; with a `reader` only those that are seen from its place."""
        ...


class Forgetting:
    """Plans and erases what a query means."""

    def __init__(self, erasing: Erasing, candidates: ChoosesMemories, tokens: PageTokens, clock: Clock) -> None:
        """Plans travel in signed `tokens`."""
        self._erasing = erasing
        self._settings = erasing.settings
        self._candidates = candidates
        self._tokens = tokens
        self._clock = clock

    async def forget(self, principal: Principal, command: ForgetCommand, *, seconds_left: float) -> Forgotten:
        """Erases what the query means, or says what that is.

        Raises:
            InvalidArgument: The plan token is not valid, or the request id was used before with another request.
            FailedPrecondition: It means more than may go without the token of a dry run.
            LimitExceeded: It means more than one call may erase.
        """
        caller = Caller(principal.tenant_id, principal.principal_id)
        erase = EraseCommand(
            command.request_id, command.digest, Target(TargetKind.MEMORIES, command.user_id), method="Forget"
        )
        if not command.dry_run:
            earlier = await self._erasing.earlier(caller, erase, seconds_left=seconds_left)
            if earlier is not None:
                return Forgotten(earlier.erasure, replayed=True)
        if command.plan_token:
            memories = self._planned(principal.tenant_id, command)
            return await self._erased(principal, caller, erase, memories, None, seconds_left)
        chosen = await self._candidates.chosen(
            principal, command.user_id, command.query, reader=command.reader, seconds_left=seconds_left / 2
        )
        memories = tuple((planned.kind, planned.memory_id) for planned in chosen.memories)
        if len(memories) > self._settings.memories_max:
            raise LimitExceeded("gateway.erasure.memories_max", self._settings.memories_max)
        target = Target(TargetKind.MEMORIES, command.user_id, memories)
        plan = replace(
            await self._erasing.plan_of(principal.tenant_id, target, chosen.memories),
            near=chosen.near,
            is_degraded=chosen.is_degraded,
        )
        if command.dry_run:
            return Forgotten(
                plan=plan, plan_token=self._token(principal.tenant_id, command, target) if memories else ""
            )
        if not memories:
            erasure = await self._erasing.settle_nothing(caller, erase, seconds_left=seconds_left)
            return Forgotten(erasure, plan if erasure is None else None, replayed=erasure is not None)
        if len(memories) > self._settings.unconfirmed_max:
            raise FailedPrecondition(
                f"{len(memories)} memories would go: call with dry_run, and then with its plan_token",
                metadata={"memories": str(len(memories)), "limit": str(self._settings.unconfirmed_max)},
            )
        return await self._erased(principal, caller, erase, memories, plan, seconds_left)

    async def _erased(
        self,
        principal: Principal,
        caller: Caller,
        erase: EraseCommand,
        memories: tuple[tuple[MemoryKind, str], ...],
        plan: Plan | None,
        seconds_left: float,
    ) -> Forgotten:
        target = Target(TargetKind.MEMORIES, erase.target.user_id, memories)
        command = EraseCommand(erase.request_id, erase.digest, target, erase.method)
        erased = await self._erasing.erase(principal, caller, command, seconds_left=seconds_left)
        return Forgotten(erased.erasure, plan, replayed=erased.replayed)

    def _token(self, tenant_id: str, command: ForgetCommand, target: Target) -> str:
        expires = int((self._clock.now() + self._settings.plan_ttl).timestamp())
        plan: Cursor = (expires, *(f"{int(kind)}{memory_id}" for kind, memory_id in target.memories))
        return self._tokens.encode(plan, tenant_id=tenant_id, query=_query(command))

    def _planned(self, tenant_id: str, command: ForgetCommand) -> tuple[tuple[MemoryKind, str], ...]:
        try:
            plan = self._tokens.decode(command.plan_token, tenant_id=tenant_id, query=_query(command))
        except InvalidArgument as error:
            raise _invalid_token() from error
        if plan is None or int(plan[0]) < self._clock.now().timestamp():
            raise _invalid_token()
        return tuple((MemoryKind(int(str(entry)[0])), str(entry)[1:]) for entry in plan[1:])


def _query(command: ForgetCommand) -> tuple[str, ...]:
    """What a plan token belongs to."""
    return ("Forget", command.user_id, *(() if command.reader is None else (command.reader.key,)))


def _invalid_token() -> InvalidArgument:
    violation = FieldViolation(
        "plan_token", "is not one of this user and reader scope, or has expired: make a new dry run"
    )
    return InvalidArgument("the plan token is not valid", violations=[violation])
