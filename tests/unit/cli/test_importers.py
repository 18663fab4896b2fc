from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable
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
from services.cli.importers.source import FileFormat, detect, open_source


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
    assert sum(question.shown for question in demo_questions()) == 5


CHATGPT = {
    "id": "conv-1",
    "title": "Trip",
    "create_time": 1699564800.0,
    "current_node": "n5",
    "mapping": {
        "root": {"id": "root", "message": None, "parent": None, "children": ["n1"]},
        "n1": {
            "message": {"id": "m1", "author": {"role": "system"}, "content": {"content_type": "text", "parts": [""]}},
            "parent": "root",
            "children": ["n2", "n3"],
        },
        "n2": {
            "message": {
                "id": "m2",
                "author": {"role": "user"},
                "create_time": 1699564801.5,
                "content": {"content_type": "text", "parts": ["Where is Rome? (first try)"]},
            },
            "parent": "n1",
            "children": [],
        },
        "n3": {
            "message": {
                "id": "m3",
                "author": {"role": "user"},
                "create_time": 1699564802.0,
                "content": {
                    "content_type": "multimodal_text",
                    "parts": [{"content_type": "image_asset_pointer", "asset_pointer": "file-service://f1"}, "Rome?"],
                },
            },
            "parent": "n1",
            "children": ["n4"],
        },
        "n4": {
            "message": {
                "id": "m4",
                "author": {"role": "assistant"},
                "content": {"content_type": "thoughts", "thoughts": [{"content": "secret"}]},
            },
            "parent": "n3",
            "children": ["n5"],
        },
        "n5": {
            "message": {
                "id": "m5",
                "author": {"role": "assistant"},
                "create_time": None,
                "content": {"content_type": "text", "parts": ["In Italy."]},
            },
            "parent": "n4",
            "children": [],
        },
    },
}
CLAUDE = {
    "uuid": "c-1",
    "created_at": "2026-01-02T03:04:05.123456Z",
    "chat_messages": [
        {
            "uuid": "m1",
            "sender": "human",
            "text": "Read this.",
            "content": [],
            "created_at": "2026-01-02T03:04:06Z",
            "attachments": [{"file_name": "plan.pdf", "extracted_content": "long"}],
            "files": [{"file_name": "plan.pdf"}],
        },
        {
            "uuid": "m2",
            "sender": "assistant",
            "text": "",
            "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "Done."},
                {"type": "tool_use", "name": "x", "input": {}},
            ],
            "created_at": "2026-01-02T03:04:07Z",
        },
        {"uuid": "m3", "sender": "assistant", "content": [{"type": "tool_use", "name": "x"}]},
        {"uuid": "m4", "sender": "robot", "text": "?"},
    ],
}


def _turns(source: Iterable[Entry]) -> list[tuple[str, Role, str]]:
    return [(e.conversation_id, e.turn.role, e.turn.content) for e in source if isinstance(e, ImportedTurn)]


def _bad(source: Iterable[Entry]) -> list[tuple[str, str]]:
    return [(e.place, e.reason) for e in source if isinstance(e, BadEntry)]


def test_spec_6_8_chatgpt_exports_of_one_file_follow_the_current_node(tmp_path: Path) -> None:
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([CHATGPT]))
    entries = list(open_source(file).entries)
    assert _turns(entries) == [("conv-1", Role.USER, "Rome?"), ("conv-1", Role.ASSISTANT, "In Italy.")]
    question, answer = entries
    assert isinstance(question, ImportedTurn)
    assert isinstance(answer, ImportedTurn)
    assert question.turn.attachments == (Attachment(uri="file-service://f1"),)
    assert question.turn.metadata == {"source_id": "m3"}
    assert answer.turn.time == question.turn.time == datetime(2023, 11, 9, 21, 20, 2, tzinfo=UTC)


@pytest.mark.parametrize("is_archive", [False, True])
def test_spec_6_8_chatgpt_exports_of_many_files_are_read_from_a_folder_or_an_archive(
    tmp_path: Path, is_archive: bool
) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    loop = {"id": "loop", "current_node": "a", "mapping": {"a": {"parent": "b"}, "b": {"parent": "a"}}}
    gap = {"id": "gap", "current_node": "a", "mapping": {"a": {"parent": "lost", "message": None}}}
    (folder / "conversations-000.json").write_text(json.dumps([CHATGPT, "what?"]))
    (folder / "conversations-001.json").write_text(json.dumps([loop, gap, {**CHATGPT, "id": "conv-2"}]))
    (folder / "user.json").write_text("{}")
    path = folder
    if is_archive:
        path = tmp_path / "export.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for member in folder.iterdir():
                archive.write(member, f"data/{member.name}")
    source = open_source(path)
    entries = list(source.entries)
    assert {conversation for conversation, _, _ in _turns(entries)} == {"conv-1", "conv-2"}
    prefix = "data/" if is_archive else ""
    assert _bad(entries) == [
        (f"{prefix}conversations-000.json, conversation 2", "is no JSON object"),
        (f"{prefix}conversations-001.json, conversation 1", "the messages form no tree"),
        (f"{prefix}conversations-001.json, conversation 2", "a message on the way to the current one is missing"),
    ]
    assert entries[-1].consumed == source.total == 5


@pytest.mark.parametrize("wrapped", [False, True])
def test_spec_6_8_claude_exports_are_read(tmp_path: Path, wrapped: bool) -> None:
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps({"conversations": [CLAUDE]} if wrapped else [CLAUDE]))
    entries = list(open_source(file).entries)
    assert _turns(entries) == [("c-1", Role.USER, "Read this."), ("c-1", Role.ASSISTANT, "Done.")]
    assert _bad(entries) == [("conversations.json, conversation 1, message 4", "the role is not known")]
    (first, *_) = entries
    assert isinstance(first, ImportedTurn)
    assert first.turn.attachments == (Attachment(caption="plan.pdf"),)
    assert first.turn.time == datetime(2026, 1, 2, 3, 4, 6, tzinfo=UTC)


def test_spec_6_8_sharegpt_is_read_as_a_list_and_line_by_line(tmp_path: Path) -> None:
    conversations = [
        {"id": "s1", "system": "Be kind.", "conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt"}]},
        {"messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hey"}]},
        {"conversations": [{"from": "human", "value": "\u0000"}]},
    ]
    whole, lines = tmp_path / "chat.json", tmp_path / "chat.jsonl"
    whole.write_text(json.dumps(conversations))
    lines.write_text("\n".join(["", *map(json.dumps, conversations), "{broken"]))
    expected = [
        ("s1", Role.SYSTEM, "Be kind."),
        ("s1", Role.USER, "Hi"),
        ("chat-2", Role.USER, "Hello"),
        ("chat-2", Role.ASSISTANT, "Hey"),
    ]
    assert _turns(open_source(whole).entries) == _turns(open_source(lines).entries) == expected
    assert _bad(open_source(lines).entries) == [
        ("line 2, message 2", "text is missing"),
        ("line 4, message 1", "text holds a NUL character"),
        ("line 5", "is no JSON object"),
    ]


def test_spec_6_7_an_exported_user_is_recognised(tmp_path: Path) -> None:
    file = tmp_path / "ada.jsonl"
    file.write_text('{"format":"mneme-user","user_id":"ada","version":1}\n')
    assert detect(file) is FileFormat.USER
