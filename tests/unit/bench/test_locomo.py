"""Reading conversations: sessions, dates, categories, evidence."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bench.common import BenchError
from bench.locomo import category_name, evidence_ids, load_conversations, parse_conversation, parse_date

CONVERSATION = {
    "session_2": [{"speaker": "assistant", "dia_id": "D2:1", "text": "Noted."}],
    "session_1": [
        {"speaker": "user", "dia_id": "D1:1", "text": "I moved.", "blip_caption": "a van", "img_url": ["x"]},
        {"speaker": "assistant", "dia_id": "D1:2", "text": "Where to?"},
    ],
    "session_1_date_time": "1:56 pm on 8 May, 2023",
    "session_10": [{"text": "no id, no speaker"}],
    "events_session_1": {"user": ["ignored"]},
    "qa": [
        {"question": "Where to?", "category": 1, "evidence": ["D1:1; D2:1", "D9:9"]},
        {"question": "Why?", "evidence": []},
        {"question": "Who?", "category": "abstention", "evidence": None},
    ],
}


def test_sessions_come_by_number_with_spaced_times() -> None:
    conversation = parse_conversation("a", CONVERSATION)

    assert [session.name for session in conversation.sessions] == ["session_1", "session_2", "session_10"]
    first, second = conversation.sessions[0].turns
    assert first.time == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert second.time is not None
    assert timedelta(0) < second.time - first.time < timedelta(minutes=1)
    assert first.caption == "a van"
    assert conversation.turn_count == 4


def test_a_session_without_a_date_has_turns_without_a_time() -> None:
    assert parse_conversation("a", CONVERSATION).sessions[1].turns[0].time is None


def test_a_turn_without_an_id_gets_the_one_of_its_place() -> None:
    turn = parse_conversation("a", CONVERSATION).sessions[2].turns[0]

    assert (turn.turn_id, turn.speaker) == ("D10:1", "")


def test_evidence_that_names_no_turn_is_ignored() -> None:
    questions = parse_conversation("a", CONVERSATION).questions

    assert [question.gold for question in questions] == [{"D1:1", "D2:1"}, set(), set()]
    assert [question.index for question in questions] == [0, 1, 2]
    assert [question.category for question in questions] == ["1 multi-hop", "none", "abstention"]


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        (["D1:3"], ["D1:3"]),
        (["D8:6; D9:17"], ["D8:6", "D9:17"]),
        (["D9:1 D4:4 D4:6", "D12:30"], ["D9:1", "D4:4", "D4:6", "D12:30"]),
        ("D1:2,D3:4", ["D1:2", "D3:4"]),
        (["D:11:26", "D", "", 7, None], []),
        (None, []),
    ],
)
def test_evidence_ids_are_found_wherever_they_stand(evidence: object, expected: list[str]) -> None:
    assert evidence_ids(evidence) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("12:00 am on 15 March, 2024", datetime(2024, 3, 15, tzinfo=UTC)),
        ("8 May, 2023", datetime(2023, 5, 8, tzinfo=UTC)),
        ("2023-05-08T13:56:00+02:00", datetime(2023, 5, 8, 11, 56, tzinfo=UTC)),
        ("2023-05-08", datetime(2023, 5, 8, tzinfo=UTC)),
        ("some day", None),
        ("", None),
        (None, None),
        (20230508, None),
    ],
)
def test_dates_of_sessions(text: object, expected: datetime | None) -> None:
    assert parse_date(text) == expected


def test_unknown_categories_keep_their_number() -> None:
    names = [category_name(value) for value in (4, 6, "x", None, "")]

    assert names == ["4 single-hop", "6", "x", "none", "none"]


def test_folder_is_read_by_file_name_and_other_files_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text(json.dumps(CONVERSATION))
    (tmp_path / "a.json").write_text(json.dumps({"session_1": []}))
    (tmp_path / "c.json").write_text(json.dumps(["not a conversation"]))
    (tmp_path / "README.md").write_text("about the data")

    assert [conversation.name for conversation in load_conversations(tmp_path)] == ["a", "b"]


def test_an_absent_or_empty_folder_is_explained(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="there is no folder"):
        load_conversations(tmp_path / "absent")
    with pytest.raises(BenchError, match="holds no conversation"):
        load_conversations(tmp_path)


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{")

    with pytest.raises(BenchError, match=r"a\.json is not JSON"):
        load_conversations(tmp_path)
