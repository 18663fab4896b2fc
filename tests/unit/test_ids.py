"""Identifiers: version 7, ordered, and stamped with the injected time."""

import uuid
from datetime import UTC, datetime, timedelta

from services.common.clock import SystemClock
from services.common.ids import Uuid7Ids
from tests.support.clock import START, FakeClock, SequentialIds


def _milliseconds(text: str) -> int:
    return uuid.UUID(text).int >> 80


def test_layout_is_that_of_rfc_9562() -> None:
    new = uuid.UUID(Uuid7Ids(FakeClock()).new_id())
    assert new.version == 7
    assert new.variant == uuid.RFC_4122
    assert new.int >> 80 == int(START.timestamp() * 1000)


def test_ids_increase_strictly_past_a_full_counter() -> None:
    ids = Uuid7Ids(FakeClock())
    made = [ids.new_id() for _ in range(10_000)]
    assert made == sorted(set(made))
    assert _milliseconds(made[-1]) - _milliseconds(made[0]) == 2


def test_ids_increase_when_the_clock_steps_back() -> None:
    clock = FakeClock()
    ids = Uuid7Ids(clock)
    first = ids.new_id()
    clock.advance(hours=-1)
    second = ids.new_id()
    clock.advance(hours=2)
    assert first < second < ids.new_id()


def test_random_part_is_injected() -> None:
    first, second = (Uuid7Ids(FakeClock(), random_bytes=bytes).new_id() for _ in range(2))
    assert first == second
    assert first.endswith("-8000-000000000000")


def test_fake_clock_moves_only_when_told() -> None:
    clock = FakeClock()
    assert clock.now() == clock.now() == START
    assert clock.advance(timedelta(days=1), seconds=1) == START + timedelta(days=1, seconds=1)
    clock.set(datetime(2030, 1, 1, tzinfo=UTC))
    assert clock.now().year == 2030


def test_system_clock_is_aware_and_in_utc() -> None:
    assert SystemClock().now().tzinfo is UTC


def test_sequential_ids_sort_by_creation() -> None:
    ids = SequentialIds("turn-")
    assert [ids.new_id(), ids.new_id()] == ["turn-000001", "turn-000002"]
