from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mneme_client import Attachment, Role, Turn
from services.cli.demo_data import demo_entries, demo_questions
from services.cli.importers.jsonl import LINE_BYTES_MAX, read_jsonl
from services.cli.importers.model import BadEntry, Entry, ImportedTurn, RequestIds, UnreadableFileError
from services.cli.importers.source import FileFormat, open_source


def _read(folder: Path, content: bytes) -> list[Entry]:
    file = folder / "chat.jsonl"
    file.write_bytes(content)
    return list(read_jsonl(file))


def _reason(folder: Path, line: bytes) -> str:
    (entry,) = _read(folder, line)
    assert isinstance(entry, BadEntry)
    return entry.reason


def test_a_line_keeps_everything(tmp_path: Path) -> None:
    fields = {
        "conversation": "demo",
        "session": "s01",
        "time": "2026-01-11T19:04:00+01:00",
        "speaker": "Nadia",
        "role": "assistant",
        "text": "Hello",
        "caption": "a cat",
        "uri": "file:cat.jpg",
        "id": 7,
        "metadata": {"mood": "fine"},
    }
    (entry,) = _read(tmp_path, json.dumps(fields).encode())
    assert entry == ImportedTurn(
        "line 1",
        "s01",
        Turn(
            "Hello",
            role=Role.ASSISTANT,
            speaker="Nadia",
            time=datetime(2026, 1, 11, 18, 4, tzinfo=UTC),
            attachments=(Attachment(uri="file:cat.jpg", caption="a cat"),),
            metadata={"mood": "fine", "source_id": "7"},
        ),
        entry.consumed,
    )


def test_what_is_not_said_has_defaults(tmp_path: Path) -> None:
    first, second, third = _read(
        tmp_path, b'\xef\xbb\xbf{"text": "a"}\n\n{"content": "b", "conversation": "c"}\n{"caption": "sea"}'
    )
    assert isinstance(first, ImportedTurn)
    assert isinstance(second, ImportedTurn)
    assert isinstance(third, ImportedTurn)
    assert (first.conversation_id, first.turn) == ("chat", Turn("a"))
    assert (second.place, second.conversation_id, second.turn.content) == ("line 3", "c", "b")
    assert third.turn.attachments == (Attachment(caption="sea"),)


def test_times_without_a_zone_are_utc(tmp_path: Path) -> None:
    (entry,) = _read(tmp_path, b'{"text": "a", "time": "2026-01-11T18:04:00"}')
    assert isinstance(entry, ImportedTurn)
    assert entry.turn.time == datetime(2026, 1, 11, 18, 4, tzinfo=UTC)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{", "is not JSON"),
        (b"[1]", "is no JSON object"),
        (b"{}", "text is missing"),
        (b'{"text": "   "}', "text is missing"),
        (b'{"text": ["a"]}', "text is no text"),
        (b'{"text": "a", "role": "bot"}', "role is none of user, assistant, system, tool"),
        (b'{"text": "a", "time": "yesterday"}', "time is not RFC 3339"),
        (b'{"text": "a", "time": "0001-01-01T00:00:00+14:00"}', "time is not RFC 3339"),
        (b'{"text": "a", "metadata": [1]}', "metadata is no object"),
        (b'{"text": "\\u0000"}', "text holds a NUL character"),
        (b'{"text": "\\ud800"}', "text holds half of a surrogate pair"),
        (b'{"text": "\xff"}', "is not UTF-8"),
        (b"[" * 100_000, "is nested too deeply"),
        (b'{"text": "' + b"a" * LINE_BYTES_MAX + b'"}', "is longer than"),
    ],
)
def test_bad_lines_say_why(tmp_path: Path, line: bytes, reason: str) -> None:
    assert _reason(tmp_path, line).startswith(reason)


def test_spec_6_8_good_lines_around_bad_ones_are_kept_and_numbered(tmp_path: Path) -> None:
    long = b"x" * (3 * LINE_BYTES_MAX)
    entries = _read(tmp_path, b'{"text": "a"}\nbad\n' + long + b'\n{"text": "b"}\n')
    assert [(e.place, type(e)) for e in entries] == [
        ("line 1", ImportedTurn),
        ("line 2", BadEntry),
        ("line 3", BadEntry),
        ("line 4", ImportedTurn),
    ]
    assert entries[-1].consumed == (tmp_path / "chat.jsonl").stat().st_size


def test_one_session_name_in_two_conversations_is_reported(tmp_path: Path) -> None:
    lines = [{"text": "a", "conversation": c, "session": "s1"} for c in ("one", "two", "one")]
    entries = _read(tmp_path, "\n".join(map(json.dumps, lines)).encode())
    assert [type(e) for e in entries] == [ImportedTurn, BadEntry, ImportedTurn]


LOCOMO: dict[str, Any] = {
    "speaker_a": "Ana",
    "session_10": [{"speaker": "Ana", "dia_id": "D10:1", "text": "late"}],
    "session_10_date_time": "12:05 am on 29 February, 2024",
    "session_2": [
        {"speaker": "Ana", "dia_id": "D2:1", "text": "Hi", "blip_caption": "a dog", "img_url": ["http://x/d.jpg"]},
        {"speaker": "assistant", "dia_id": "D2:2", "text": "Hello"},
        {"speaker": "Ana", "dia_id": "D2:3"},
        "nothing",
    ],
    "session_2_date_time": "1:56 pm on 8 May, 2023",
    "session_11": [{"speaker": "Ana", "text": "when?"}],
    "session_11_date_time": "some day",
    "session_3_summary": [],
    "session_12_date_time": "1:56 pm on 8 May, 2023",
    "qa": [],
}


def test_spec_6_8_locomo_is_read_session_by_session(tmp_path: Path) -> None:
    file = tmp_path / "43.json"
    file.write_text(json.dumps(LOCOMO))
    source = open_source(file)
    entries = list(source.entries)
    assert source.total == len(entries) == 6
    good = [e for e in entries if isinstance(e, ImportedTurn)]
    assert [(e.conversation_id, e.turn.metadata["source_id"]) for e in good] == [
        ("session_2", "D2:1"),
        ("session_2", "D2:2"),
        ("session_10", "D10:1"),
    ]
    assert good[0].turn.time == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert good[0].turn.attachments == (Attachment(uri="http://x/d.jpg", caption="a dog"),)
    assert good[1].turn.role is Role.ASSISTANT
    assert good[2].turn.time == datetime(2024, 2, 29, 0, 5, tzinfo=UTC)
    assert [(e.place, e.reason) for e in entries if isinstance(e, BadEntry)] == [
        ("session_2, turn 3", "text is missing"),
        ("session_2, turn 4", "is no JSON object"),
        ("session_11, turn 1", "session_11_date_time is missing or not like '1:56 pm on 8 May, 2023'"),
    ]


@pytest.mark.parametrize("content", ["{", "[]", '{"a": 1}', '{"session_1": "x"}'])
def test_other_layouts_are_not_locomo(tmp_path: Path, content: str) -> None:
    file = tmp_path / "x.json"
    file.write_text(content)
    with pytest.raises(UnreadableFileError):
        open_source(file, FileFormat.AUTO)


def _turn(text: str, *, conversation: str = "c", place: str = "line 1") -> ImportedTurn:
    return ImportedTurn(place, conversation, Turn(text), 0)


@given(st.lists(st.sampled_from("abc"), max_size=8), st.lists(st.sampled_from("abc"), max_size=4))
def test_a_file_that_has_grown_keeps_the_request_ids_of_what_it_had(old: list[str], added: list[str]) -> None:
    def request_ids(texts: list[str]) -> list[str]:
        ids = RequestIds("u")
        return [ids.request_id(_turn(text, place=f"line {n}")) for n, text in enumerate(texts)]

    before, after = request_ids(old), request_ids(old + added)
    assert after[: len(old)] == before
    assert len(set(after)) == len(after)


def test_request_ids_tell_users_and_conversations_apart() -> None:
    made = {
        RequestIds("u").request_id(_turn("a")),
        RequestIds("v").request_id(_turn("a")),
        RequestIds("u").request_id(_turn("a", conversation="d")),
    }
    assert len(made) == 3
    assert all(len(request_id) <= 128 for request_id in made)


def test_the_demo_is_well_formed() -> None:
    entries = demo_entries()
    assert all(isinstance(entry, ImportedTurn) for entry in entries)
    assert len({e.conversation_id for e in entries if isinstance(e, ImportedTurn)}) == 17
    assert sum(question.shown for question in demo_questions()) == 6
