"""The parser in a process of its own: results, failures, bounds."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator

import pytest

from services.common.parsing.port import NoParser, ParserFailedError, ParserMissingError, ParserSettings
from services.common.parsing.process import ParserProcess
from tests.support.parsing import MODEL, pipeline

TEXTS = ("Tom thinks I live in Rome.", "", "I do not eat meat. We met in May.", "naïve café 🙂 x\n\ny")


@pytest.fixture
async def own_parser() -> AsyncIterator[ParserProcess]:
    process = ParserProcess(MODEL, ParserSettings(chars_max=60, batch_texts=2, waiting_texts_max=8))
    yield process
    await process.aclose()


def pid_of(process: ParserProcess) -> int:
    assert process._worker.pid is not None
    return process._worker.pid


async def test_spec_3_2_the_process_parses_as_the_pipeline_does(parser: ParserProcess) -> None:
    assert await parser.parse(TEXTS) == pipeline().parse(TEXTS)


async def test_spec_3_2_heads_and_relations_are_those_of_the_sentence(parser: ParserProcess) -> None:
    [found] = await parser.parse(["Hello there. I do not eat meat."])
    negation = next(token for token in found.sentences[1] if token.dep == "neg")
    assert found.sentences[1][negation.head].lemma == "eat"
    assert found.text[negation.start : negation.end] == "not"


async def test_what_is_found_does_not_depend_on_the_batch(parser: ParserProcess) -> None:
    together = await parser.parse(TEXTS * 9)
    assert together[:4] == [(await parser.parse([text]))[0] for text in TEXTS]


async def test_long_texts_are_parsed_in_short_runs() -> None:
    process = ParserProcess(MODEL, ParserSettings(batch_texts=3, batch_chars=10))
    assert list(process._runs(["four", "five5", "six", "x" * 20, "", "a", "b", "c"])) == [
        ["four", "five5"], ["six"], ["x" * 20], ["", "a", "b"], ["c"],
    ]  # fmt: skip
    await process.aclose()


async def test_spec_7_2_texts_and_queues_are_bounded(own_parser: ParserProcess) -> None:
    [cut] = await own_parser.parse(["I like tea. " * 100])
    assert len(cut.text) == 60
    with pytest.raises(ParserFailedError):
        await own_parser.parse(["x"] * 9)


async def test_a_killed_process_is_started_again(own_parser: ParserProcess) -> None:
    [before] = await own_parser.parse(["I live in Rome."])
    first = pid_of(own_parser)
    os.kill(first, signal.SIGKILL)
    with pytest.raises(ParserFailedError):
        for _ in range(100):  # the kill takes effect meanwhile
            await own_parser.parse(["I live in Rome."])
            if pid_of(own_parser) != first:
                raise ParserFailedError("it was restarted before a call met the dead one")
    assert await own_parser.parse(["I live in Rome."]) == [before]


async def test_a_run_that_takes_too_long_fails_and_the_next_one_works() -> None:
    process = ParserProcess(MODEL, ParserSettings(timeout_seconds=0.001, batch_texts=32))
    with pytest.raises(ParserFailedError):
        await process.parse(["I live in Rome and work in Milan. " * 200] * 32)
    await process.aclose()
    with pytest.raises(ParserFailedError):
        await process.parse(["I live in Rome."])


async def test_spec_3_2_without_weights_it_says_so_once(capsys: pytest.CaptureFixture[str]) -> None:
    process = ParserProcess("no_such_pipeline")
    for _ in range(3):
        with pytest.raises(ParserMissingError):
            await process.parse(["I live in Rome."])
    await process.aclose()
    assert capsys.readouterr().out.count("parser missing") <= 1
    with pytest.raises(ParserMissingError):
        await NoParser().parse(["I live in Rome."])


async def test_spec_3_2_the_event_loop_is_not_held(parser: ParserProcess) -> None:
    await parser.parse(["Warm."])
    turns_of_the_loop = 0

    async def watch() -> None:
        nonlocal turns_of_the_loop
        while True:
            await asyncio.sleep(0)
            turns_of_the_loop += 1

    watcher = asyncio.create_task(watch())
    await parser.parse(["My sister Anna works at Nova as a nurse, and I used to smoke."] * 64)
    watcher.cancel()
    assert turns_of_the_loop > 100, "other tasks run while texts are parsed"


async def test_no_secret_of_the_service_reaches_the_process(
    own_parser: ParserProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEME_SERVICE_SECRET", "not-for-others")
    await own_parser.parse(["Hello."])
    with open(f"/proc/{pid_of(own_parser)}/environ", "rb") as environment:  # noqa: PTH123, ASYNC230
        assert b"not-for-others" not in environment.read()
