"""What compares statements, in a process of its own and in a thread: results, failures, bounds."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from datetime import date
from typing import Final

import pytest

from services.common.comparing.port import Comparer, ComparerSettings, SaidPair, ThreadComparer
from services.common.comparing.process import ComparerProcess, ComparingFailedError
from services.common.comparing.worker import answer
from services.common.errors import StoreUnavailable
from services.common.settings_file import SettingsSource
from services.common.shared_settings import create_comparer
from services.common.values.holding import Said
from services.common.values.model import Relation

PAIRS: Final[list[SaidPair]] = [
    (Said("I live in Leeds.", "Ada"), Said("I live in York now.", "Ada")),
    (Said("I live in Leeds.", "Ada"), Said("I like tea.", "Ada")),
    (
        Said("My exam is in two weeks.", "Ada", day=date(2025, 3, 1)),
        Said("My exam is in two weeks.", "Ada", day=date(2025, 6, 1)),
    ),
    (Said("naïve café 🙂 \ud800", "Ada", is_announced=True), Said("", "")),
]
TEXTS: Final = ["I live in Leeds.", "", "naïve café 🙂 \ud800", "We've split up."]


@pytest.fixture
async def process() -> AsyncIterator[ComparerProcess]:
    comparer = ComparerProcess(ComparerSettings(batch_pairs=3, batch_texts=2), texts_seconds=60.0)
    yield comparer
    await comparer.aclose()


def pid_of(process: ComparerProcess) -> int:
    assert process._worker.pid is not None
    return process._worker.pid


async def test_spec_3_5_the_process_compares_as_a_thread_does(process: ComparerProcess) -> None:
    thread = ThreadComparer()
    found = await process.relations(PAIRS * 3)
    assert found == await thread.relations(PAIRS * 3)
    assert found[:2] == [Relation.UPDATE, Relation.UNRELATED]
    keys = await process.keys(TEXTS * 3)
    assert keys == await thread.keys(TEXTS * 3)
    assert "leed" in "".join(keys[0])


@pytest.mark.parametrize("comparer", [ThreadComparer(), ComparerProcess(ComparerSettings(), texts_seconds=60.0)])
async def test_nothing_is_compared_with_nothing(comparer: Comparer) -> None:
    assert await comparer.relations([]) == []
    assert await comparer.keys([]) == []
    await comparer.aclose()


async def test_a_killed_process_is_started_again(process: ComparerProcess) -> None:
    before = await process.relations(PAIRS)
    first = pid_of(process)
    os.kill(first, signal.SIGKILL)
    with pytest.raises(StoreUnavailable):
        for _ in range(100):  # the kill takes effect meanwhile
            await process.relations(PAIRS)
            if pid_of(process) != first:
                raise StoreUnavailable("it was restarted before a call met the dead one")
    assert await process.relations(PAIRS) == before


async def test_a_message_that_takes_too_long_fails() -> None:
    comparer = ComparerProcess(ComparerSettings(timeout_seconds=0.001, batch_pairs=4_000), texts_seconds=60.0)
    with pytest.raises(StoreUnavailable):
        await comparer.relations(PAIRS * 1_000)
    await comparer.aclose()
    with pytest.raises(StoreUnavailable):
        await comparer.relations(PAIRS)


async def test_a_fault_of_a_rule_ends_its_own_request_alone(process: ComparerProcess) -> None:
    before = await process.relations(PAIRS)
    first = pid_of(process)
    with pytest.raises(ComparingFailedError, match="TypeError"):
        await process.keys([None])  # type: ignore[list-item]  # stands for a text that a rule fails at
    assert await process.relations(PAIRS) == before
    assert pid_of(process) == first


async def test_what_was_read_leaves_the_memory_of_the_process_and_it_goes_on() -> None:
    comparer = ComparerProcess(ComparerSettings(batch_pairs=1), texts_seconds=0.001)
    assert await comparer.relations(PAIRS * 5) == await ThreadComparer().relations(PAIRS * 5)
    await comparer.aclose()


async def test_no_secret_of_the_service_reaches_the_process(
    process: ComparerProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEME_SERVICE_SECRET", "not-for-others")
    await process.keys(["I like tea."])
    with open(f"/proc/{pid_of(process)}/environ", "rb") as environment:  # noqa: PTH123, ASYNC230
        assert b"not-for-others" not in environment.read()


async def test_a_setting_chooses_between_process_and_thread() -> None:
    chosen = create_comparer(SettingsSource.read(None, {}))
    assert isinstance(chosen, ComparerProcess)
    await chosen.aclose()
    off = {"MNEME_COMPARER__IN_OWN_PROCESS": "false"}
    assert isinstance(create_comparer(SettingsSource.read(None, off)), ThreadComparer)


def test_the_worker_answers_in_plain_values() -> None:
    rows = [[said.text, said.speaker, said.is_announced, None] for said in PAIRS[0]]
    assert answer({"pairs": [rows]}) == ["update"]
    assert answer({"texts": [""]}) == [[]]
