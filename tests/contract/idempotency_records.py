"""What every store of idempotency records must do."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

import pytest

from services.common.errors import InvalidArgument, NotFound, Reason
from services.common.idempotency.model import Idempotency, IdempotencyKey, IdempotencyRecord, IdempotencyRecords
from services.common.owners import UserId

Work: TypeAlias = Callable[[IdempotencyRecords], Awaitable[object]]
Transact: TypeAlias = Callable[[str, Work], Awaitable[object]]
"""Runs work in a transaction of a tenant."""

NOW = datetime(2026, 1, 1, 12, 0, 0, 123_456, tzinfo=UTC)
WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Answer:
    """The response of the tests' requests."""

    text: str
    time: datetime


def key(request_id: str, *, principal_id: str = "key-1", digest: str = "digest") -> IdempotencyKey:
    return IdempotencyKey(principal_id, request_id, digest)


def record(request_id: str, *, user_id: str = "ann", resource_id: str = "f1", days: float = 0) -> IdempotencyRecord:
    return IdempotencyRecord(
        key(request_id), UserId(user_id), resource_id, f"response of {request_id}", NOW + timedelta(days=days)
    )


async def add(transact: Transact, *added: IdempotencyRecord, tenant_id: str = "acme") -> None:
    async def work(records: IdempotencyRecords) -> None:
        for one in added:
            await records.add(one, purge_before=one.create_time - WEEK)

    await transact(tenant_id, work)


async def find(transact: Transact, sought: IdempotencyKey, *, tenant_id: str = "acme") -> IdempotencyRecord | None:
    found = await transact(tenant_id, lambda records: records.find(sought))
    assert found is None or isinstance(found, IdempotencyRecord)
    return found


class IdempotencyRecordsContract:
    """Subclass it with a fixture `transact` on a fresh database."""

    async def test_a_record_is_found_by_principal_and_request_id(self, transact: Transact) -> None:
        stored = record("r1")
        await add(transact, stored)
        assert await find(transact, key("r1", digest="of another request")) == stored
        assert await find(transact, key("r2")) is None
        assert await find(transact, key("r1", principal_id="key-2")) is None
        assert await find(transact, key("r1"), tenant_id="globex") is None

    async def test_old_records_are_purged(self, transact: Transact) -> None:
        old, young = record("old"), record("young", days=6)
        await add(transact, old, young)
        await add(transact, record("new", days=7.5))
        found = [await find(transact, one.key) for one in (old, young)]
        assert found == [None, young]

    async def test_writes_at_once_purge_the_same_records(self, transact: Transact) -> None:
        await add(transact, *(record(f"old{number}") for number in range(40)))
        new = [record(f"new{number}", days=8) for number in range(6)]
        await asyncio.gather(*(add(transact, one) for one in new))
        assert [await find(transact, one.key) for one in new] == new

    async def test_responses_are_erased_with_their_resource(self, transact: Transact) -> None:
        erased, other, of_bo = record("r1"), record("r2", resource_id="f2"), record("r3", user_id="bo")
        await add(transact, erased, other, of_bo)
        await transact("acme", lambda records: records.erase(UserId("ann"), ["f1", "f9"]))
        found = [await find(transact, one.key) for one in (erased, other, of_bo)]
        assert found == [replace(erased, response=None), other, of_bo]

    async def test_responses_are_erased_with_their_owner(self, transact: Transact) -> None:
        both, of_bo = [record("r1"), record("r2", resource_id="f2")], record("r3", user_id="bo")
        await add(transact, *both, of_bo)
        await add(transact, record("r1"), tenant_id="globex")
        await transact("acme", lambda records: records.erase(UserId("ann")))
        assert [await find(transact, one.key) for one in both] == [replace(one, response=None) for one in both]
        assert await find(transact, of_bo.key) == of_bo
        assert await find(transact, key("r1"), tenant_id="globex") == record("r1")

    async def test_spec_6_3_a_request_runs_once(self, transact: Transact) -> None:
        runs: list[str] = []
        first = await _run(transact, key("r1"), _answering("first", runs))
        again = await _run(transact, key("r1"), _answering("second", runs))
        assert (first, again, runs) == (Answer("first", NOW), first, ["first"])

    async def test_spec_6_3_another_request_under_the_same_id_is_refused(self, transact: Transact) -> None:
        runs: list[str] = []
        await _run(transact, key("r1"), _answering("first", runs))
        with pytest.raises(InvalidArgument) as refused:
            await _run(transact, key("r1", digest="of another request"), _answering("second", runs))
        assert refused.value.reason is Reason.REQUEST_ID_REUSED
        assert runs == ["first"]

    async def test_a_repeat_does_not_create_again_what_was_deleted(self, transact: Transact) -> None:
        runs: list[str] = []
        await _run(transact, key("r1"), _answering("first", runs))
        await transact("acme", lambda records: records.erase(UserId("ann"), ["first"]))
        with pytest.raises(NotFound):
            await _run(transact, key("r1"), _answering("second", runs))
        assert runs == ["first"]


def _answering(text: str, runs: list[str]) -> Callable[[], Awaitable[Answer]]:
    async def work() -> Answer:
        runs.append(text)
        return Answer(text, NOW)

    return work


async def _run(transact: Transact, request: IdempotencyKey, work: Callable[[], Awaitable[Answer]]) -> Answer:
    idempotency = Idempotency(Answer, retention_seconds=WEEK.total_seconds())
    answer = await transact(
        "acme",
        lambda records: idempotency.run(
            records, request, work, now=NOW, user_id=UserId("ann"), resource_id=lambda answer: answer.text
        ),
    )
    assert isinstance(answer, Answer)
    return answer
