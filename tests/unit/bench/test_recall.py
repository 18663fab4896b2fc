"""The recall benchmark from files to report, against a gateway that recalls by shared words."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from bench.common import open_channel
from bench.gateway import Gateway
from bench.ingest import CONTENT_CHARS_MAX, ingest
from bench.locomo import parse_conversation
from bench.recall import main
from mneme.common.v1 import common_pb2
from tests.unit.bench.word_gateway import word_gateway

TWO_SESSIONS = {
    "session_1": [
        {"speaker": "Ann", "dia_id": "D1:1", "text": "My boat is blue."},
        {"speaker": "Ben", "dia_id": "D1:2", "text": "Mine sank near Malta."},
    ],
    "session_1_date_time": "1:56 pm on 8 May, 2023",
    "session_2": [{"speaker": "Ann", "dia_id": "D2:1", "text": "", "blip_caption": "a boat near Malta"}],
    "qa": [
        {"question": "Which colour has the boat?", "category": 4, "evidence": ["D1:1"]},
        {"question": "What sank near Malta, the boat?", "category": 1, "evidence": ["D1:2", "D2:1"]},
        {"question": "Whose boat?", "category": 5, "evidence": []},
    ],
}
ASSISTANT = {
    "session_1": [
        {"speaker": "user", "dia_id": "D1:1", "text": "x" * (CONTENT_CHARS_MAX + 1)},
        {"speaker": "assistant", "dia_id": "D1:2", "text": "Tea is ready."},
        {"speaker": "assistant", "dia_id": "D1:3", "text": " "},
    ],
    "qa": [{"question": "What is ready?", "evidence": ["D1:2"], "category": "extraction"}],
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "one.json").write_text(json.dumps(TWO_SESSIONS))
    (folder / "two.json").write_text(json.dumps(ASSISTANT))
    return folder


async def _run(data: Path, tmp_path: Path, target: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    out, ranked = tmp_path / "out.json", tmp_path / "ranked.jsonl"
    arguments = ["--data", str(data), "--out", str(out), "--ranked", str(ranked), "--target", target]
    # In a thread: the benchmark has an event loop of its own.
    assert await asyncio.to_thread(main, arguments) == 0
    return json.loads(out.read_text()), [json.loads(line) for line in ranked.read_text().splitlines()]


async def test_every_question_has_a_line_and_scored_ones_count(data: Path, tmp_path: Path) -> None:
    async with word_gateway() as (target, _):
        report, lines = await _run(data, tmp_path, target)

    assert [(line["conversation"], line["question"]) for line in lines] == [
        ("one", 0),
        ("one", 1),
        ("one", 2),
        ("two", 0),
    ]
    assert lines[0]["ranked"] == ["D1:1"]
    assert lines[1]["ranked"] == ["D1:2", "D1:1"]
    assert (report["questions"], report["questions_scored"]) == (4, 3)
    assert report["overall"]["recall@10"]["value"] == pytest.approx((1 + 0.5 + 1) / 3, abs=1e-4)
    assert report["overall"]["context@1000"]["value"] == pytest.approx((1 + 0.5 + 1) / 3, abs=1e-4)
    assert report["categories"]["1 multi-hop"]["recall@10"]["value"] == 0.5
    assert set(report["per_conversation"]) == {"one", "two"}
    assert {"machine", "commit", "driver", "settings", "timing"} <= set(report)


async def test_what_could_not_be_used_as_it_is_is_noted(data: Path, tmp_path: Path) -> None:
    async with word_gateway() as (target, _):
        report, _ = await _run(data, tmp_path, target)

    assert report["notes"] == [
        "one: 1 turns have no readable date",
        "two: cut to 32,768 characters: D1:1",
        "two: left out for lack of text: D1:3",
        "two: 2 turns have no readable date",
    ]


async def test_turns_go_in_by_session_with_role_speaker_time_and_caption() -> None:
    async with word_gateway() as (target, memory), open_channel(target) as channel:
        conversation = parse_conversation("one", TWO_SESSIONS)
        ingested = await ingest(Gateway(channel), conversation, user_id="u")

    assert [request.conversation_id for request in memory.requests] == ["session_1", "session_2"]
    first, second = memory.requests[0].turns
    assert (first.role, first.speaker, first.content) == (
        common_pb2.MESSAGE_ROLE_USER,
        "Ann",
        "My boat is blue.",
    )
    assert first.time.ToJsonString() == "2023-05-08T13:56:00Z"
    assert first.time.ToNanoseconds() < second.time.ToNanoseconds()
    photo = memory.requests[1].turns[0]
    assert photo.attachments[0].caption == "a boat near Malta"
    assert not photo.HasField("time")
    assert sorted(ingested.turn_ids.values()) == ["D1:1", "D1:2", "D2:1"]


async def test_the_speaker_assistant_is_the_assistant() -> None:
    async with word_gateway() as (target, memory), open_channel(target) as channel:
        await ingest(Gateway(channel), parse_conversation("two", ASSISTANT), user_id="u")

    assert [turn.role for turn in memory.requests[0].turns] == [
        common_pb2.MESSAGE_ROLE_USER,
        common_pb2.MESSAGE_ROLE_ASSISTANT,
    ]


async def test_long_sessions_are_cut_into_calls() -> None:
    turns = [{"dia_id": f"D1:{place}", "text": f"turn {place}"} for place in range(1, 601)]
    async with word_gateway() as (target, memory), open_channel(target) as channel:
        await ingest(Gateway(channel), parse_conversation("long", {"session_1": turns}), user_id="u")

    assert [len(request.turns) for request in memory.requests] == [256, 256, 88]
    assert len({request.request_id for request in memory.requests}) == 3


def test_absent_data_is_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--data", str(tmp_path / "absent"), "--out", str(tmp_path / "out.json")]) == 2
    assert "there is no folder" in capsys.readouterr().err


@pytest.mark.parametrize("options", [["--target", "127.0.0.1:1"], ["--processes"], []])
def test_what_cannot_be_beside_another_store_is_refused(
    options: list[str], data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--data", str(data), "--out", str(tmp_path / "out.json"), "--beside", str(tmp_path / "no-store")]

    assert main([*arguments, *options]) == 2
    assert "--beside" in capsys.readouterr().err
    assert not (tmp_path / "no-store").exists()
