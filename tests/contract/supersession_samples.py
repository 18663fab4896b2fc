"""Statements, and decisions about them, for tests of what stores them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from services.common.idempotency.model import IdempotencyRecords
from services.common.owners import InteractionId, Owner, TenantId, UserId
from services.common.scope import GLOBAL_SCOPE
from services.semantic.supersession.model import (
    Assertion,
    Place,
    Reason,
    State,
    Supersession,
)
from services.semantic.supersession.store import CandidatesMax, Decide, Pair

ADA = Owner(TenantId("acme"), UserId("ada"))
BEN = Owner(TenantId("acme"), UserId("ben"))
OTHER = Owner(TenantId("other"), UserId("ada"))
NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)


def turn(number: int) -> InteractionId:
    return InteractionId(f"00000000-0000-4000-8000-{number:012d}")


def assertion(number: int, text: str, *keys: int, sentence: int = 0) -> Assertion:
    place = Place(turn(number), sentence)
    time = NOON + timedelta(days=number)
    return Assertion(place, text, "Ada", time, GLOBAL_SCOPE.key, keys, is_only=True)


def at_most(count: int) -> CandidatesMax:
    """The same for any statement."""
    return lambda _: count


PairDecision: TypeAlias = Callable[[Assertion, Assertion], Supersession | None]


def each(decision: PairDecision) -> Decide:
    """Decides about pairs one by one."""

    async def decide_all(pairs: Sequence[Pair]) -> list[Supersession]:
        return [found for pair in pairs if (found := decision(*pair)) is not None]

    return decide_all


def decided(one: Assertion, other: Assertion) -> Supersession | None:
    """The later of two statements with the same first word supersedes the earlier one."""
    earlier, later = sorted((one, other), key=lambda found: found.order)
    if earlier.text.split()[0] != later.text.split()[0]:
        return None
    return Supersession(
        loser=earlier.place,
        winner=later.place,
        reason=Reason.UPDATED,
        state=State.PENDING if "perhaps" in later.text else State.APPLIED,
        end_time=later.time,
        create_time=NOON + timedelta(days=30, seconds=later.time.day),
        statement=earlier.text,
        standing_statement=later.text,
        is_whole=earlier.is_only,
    )


def rest(
    statement: Assertion, premise: Assertion, ended: Supersession, standing: Assertion | None
) -> Supersession | None:
    """A statement before the end of its premise rests on it where it repeats the premise's last word.

    A later one that opens with "again" takes the place of what ended the premise.
    """
    if standing is not None and statement.time > ended.end_time and statement.text.startswith("again"):
        return replace(
            ended,
            loser=standing.place,
            winner=statement.place,
            statement=standing.text,
            standing_statement=statement.text,
            premise_place=premise.place,
        )
    if statement.time >= ended.end_time or premise.text.split()[-1] not in statement.text.split():
        return None
    if statement.place in (premise.place, ended.winner) or not ended.ends_premises:
        return None
    return Supersession(
        loser=statement.place,
        winner=ended.winner,
        reason=Reason.PREMISE_ENDED,
        state=State.APPLIED,
        end_time=ended.end_time,
        create_time=NOON + timedelta(days=40),
        statement=statement.text,
        standing_statement=ended.standing_statement,
        is_whole=statement.is_only,
        premise=premise.text,
        premise_place=premise.place,
    )


def corrected(number: int, *, by: int) -> Supersession:
    """All that a turn says is corrected by another turn."""
    return Supersession(
        loser=Place(turn(number)),
        winner=Place(turn(by)),
        reason=Reason.CORRECTED,
        state=State.APPLIED,
        end_time=NOON,
        create_time=NOON,
        is_whole=True,
    )


decide = each(decided)


async def once(_records: IdempotencyRecords, work: Callable[[], Awaitable[Supersession]]) -> Supersession:
    return await work()
