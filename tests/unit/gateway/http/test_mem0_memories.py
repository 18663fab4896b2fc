"""What turns make up a memory of mem0's API."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from mneme.common.v1 import common_pb2
from services.gateway.http.mem0.memories import (
    Memory,
    Said,
    memories_of,
    parse_memory_id,
    read_metadata,
    write_metadata,
)
from services.gateway.http.mem0.messages import read_turns
from services.gateway.http.mem0.places import Place
from services.gateway.http.mem0.refused import RefusedError

START = datetime(2026, 3, 1, tzinfo=UTC)


def said(interaction_id: str, text: str, corrects: str = "", **metadata: str) -> Said:
    entries = {**metadata, **({"mneme.corrects": corrects} if corrects else {})}
    time = START + timedelta(minutes=ord(interaction_id[0]))
    return Said(interaction_id, text, time, common_pb2.MESSAGE_ROLE_USER, Place("ana").scope, entries)


def versions(*turns: Said) -> list[list[str]]:
    return [[one.text for one in memory.versions] for memory in memories_of("ana", turns)]


def test_spec_9_5_corrections_are_versions_of_the_first_turn() -> None:
    turns = [said("a", "Bruges"), said("b", "tea"), said("c", "Ghent", "a"), said("d", "Antwerp", "c")]
    assert versions(*turns) == [["Bruges", "Ghent", "Antwerp"], ["tea"]]
    assert versions(*reversed(turns)) == [["tea"], ["Bruges", "Ghent", "Antwerp"]]


def test_spec_9_5_a_correction_of_a_part_leaves_the_turn() -> None:
    assert versions(said("a", "A van from 2014. It is grey."), said("b", "From 2016.", "a:0")) == [
        ["A van from 2014. It is grey."],
        ["From 2016."],
    ]


def test_spec_9_5_what_is_not_among_the_turns_is_no_version() -> None:
    assert versions(said("b", "Ghent", "a")) == [["Ghent"]]
    assert versions(said("a", "x", "b"), said("b", "y", "a"))  # a circle, which no correction makes, ends
    assert versions(said("a", "one"), said("b", "two"), said("c", "three", "a,b")) == [["one", "three"]]


def test_spec_9_5_ids_hold_the_user() -> None:
    memory = Memory("Zoë & co", [said("018f", "x")])
    assert parse_memory_id(memory.memory_id) == ("Zoë & co", "018f")
    for wrong in ("", "018f", "018f.", ".YQ", "018f.!", "018f._w"):
        with pytest.raises(RefusedError) as refused:
            parse_memory_id(wrong)
        assert refused.value.status == 404


@pytest.mark.parametrize("metadata", [{}, {"a": "1"}, {"a": 1, "b": None, "c": [1, {"d": "e"}], "f": "[1]", "g": True}])
def test_spec_9_5_metadata_come_back_as_they_were(metadata: dict[str, Any]) -> None:
    assert read_metadata(write_metadata(metadata, "2026-12-31")) == metadata


def test_spec_9_5_metadata_of_other_doors_are_read_as_texts() -> None:
    assert read_metadata({"mem0.json": "{", "a": "1"}) == {"a": "1"}
    assert read_metadata({"mem0.json": '["a"]', "a": "{"}) == {"a": "{"}
    for key in ("mneme.corrects", "mneme.corrects.words"):
        with pytest.raises(RefusedError, match="reserved"):
            write_metadata({key: "x"}, None)
    with pytest.raises(RefusedError, match="expiration_date"):
        write_metadata({}, "soon")


def test_spec_9_5_a_memory_expires_behind_its_date() -> None:
    memory = Memory("ana", [said("a", "x", **write_metadata({}, "2026-03-01"))])
    assert [memory.is_expired(date(2026, 3, day)) for day in (1, 2)] == [False, True]
    assert not Memory("ana", [said("a", "x", **{"mem0.expiration_date": "never"})]).is_expired(date(2026, 3, 1))


def test_spec_9_5_messages_become_turns() -> None:
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Look:"}, IMAGE], "name": "Ana"},
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "tool", "content": "sunny"},
    ]
    seen, tool = read_turns(messages, {"k": "v"}, timestamp=1_767_225_600, infer=False)
    assert (seen.content, seen.speaker, seen.attachments[0].uri) == ("Look:", "Ana", "https://x.example/a.png")
    assert (seen.role, tool.role) == (common_pb2.MESSAGE_ROLE_USER, common_pb2.MESSAGE_ROLE_TOOL)
    assert (dict(tool.metadata), tool.time.seconds, tool.importance) == ({"k": "v"}, 1_767_225_600, 0.5)
    (alone,) = read_turns("I like tea.", {})
    assert (alone.content, alone.HasField("importance"), alone.HasField("time")) == ("I like tea.", False, False)


IMAGE = {"type": "image_url", "image_url": {"url": "https://x.example/a.png"}}


@pytest.mark.parametrize(
    "messages",
    [None, [], [1], [{"role": "system", "content": "x"}], [{"role": "robot", "content": "x"}], [{"content": "x"}]]
    + [[{"role": "user", "content": content}] for content in (None, " ", 1, [1], [{"type": "audio"}], [IMAGE])],
)
def test_spec_9_5_what_is_no_message_is_refused(messages: Any) -> None:
    with pytest.raises(RefusedError):
        read_turns(messages, {})
