"""The recorder: what an entry says of a call, and which entries are durable."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest

from mneme.episodic.v1 import activity_pb2
from mneme.semantic.v1 import facts_pb2
from mneme.session.v1 import context_window_pb2
from services.common.auth import Principal, Role, set_current_principal
from services.gateway.audit.recorder import AuditRecorder, AuditSettings
from services.gateway.audit.store import Access
from tests.support.clock import FakeClock

AGENT = Principal("acme", "agent", Role.WRITER)


class Entries:
    """Takes entries."""

    def __init__(self) -> None:
        self.added: list[tuple[str, bool]] = []
        self.accesses: list[Access] = []

    async def add(self, accesses: Sequence[Access], *, durable: bool) -> None:
        self.added += [(access.method, durable) for access in accesses]
        self.accesses += accesses


@pytest.fixture
def entries() -> Entries:
    return Entries()


@pytest.fixture
def recorder(entries: Entries) -> AuditRecorder:
    return AuditRecorder(entries, FakeClock(), AuditSettings(others_max=2))  # type: ignore[arg-type]  # it only adds


async def test_spec_6_10_entries_of_writes_are_durable_and_those_of_reads_wait(
    recorder: AuditRecorder, entries: Entries
) -> None:
    set_current_principal(AGENT)
    request = facts_pb2.GetFactRequest(user_id="ada", fact_id="f1")
    await recorder.record("FactService.GetFact", request, is_write=False)
    await recorder.record("FactService.DeleteFact", request, is_write=True)
    assert entries.added == [("FactService.DeleteFact", True)]
    await recorder.flush()
    assert entries.added[1:] == [("FactService.GetFact", False)]


async def test_spec_6_10_what_callers_name_is_named_up_to_a_bound(recorder: AuditRecorder, entries: Entries) -> None:
    set_current_principal(AGENT)
    items = [context_window_pb2.ContextItem(item_id=f"i{number}") for number in range(5)]
    request = context_window_pb2.AddContextItemsRequest(user_id="ada", conversation_id="c1", items=items)
    await recorder.record("ContextWindowService.AddContextItems", request, is_write=True)
    (access,) = entries.accesses
    assert access.target == {"conversation": "c1", "context_items": ("i0", "i1"), "context_items_beyond": 3}


async def test_spec_6_10_an_id_that_no_database_holds_does_not_hold_up_the_log(
    recorder: AuditRecorder, entries: Entries
) -> None:
    set_current_principal(AGENT)
    request = facts_pb2.GetFactRequest(user_id="a\x00b", fact_id="f\x00")
    await recorder.record("FactService.GetFact", request, is_write=True)
    (access,) = entries.accesses
    assert access.user_id == "a\ufffdb"
    assert "\x00" not in "".join(access.memory_ids)


async def test_spec_6_10_of_a_stream_the_first_ids_are_named_and_the_others_counted(
    recorder: AuditRecorder, entries: Entries
) -> None:
    set_current_principal(AGENT)

    async def sent() -> AsyncIterator[activity_pb2.RecordActivityStreamRequest]:
        for number in range(5):
            record = activity_pb2.ActivityRecord(record_id=f"r{number}")
            yield activity_pb2.RecordActivityStreamRequest(user_id="ada", records=[record])

    seen = recorder.stream()
    passed = [request async for request in seen.through(sent(), activity_pb2.RecordActivityStreamRequest)]
    await recorder.record_stream("ActivityService.RecordActivityStream", seen, is_write=True)
    assert len(passed) == 5
    (access,) = entries.accesses
    assert (access.user_id, access.memory_ids) == ("ada", ())
    assert access.target == {"activity_records": ("r0", "r1"), "activity_records_beyond": 3}
