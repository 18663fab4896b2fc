"""The JSON of the HTTP port is protobuf's, in one line."""

from __future__ import annotations

import importlib
import json
import math
import random
from pathlib import Path
from typing import Any, Final

import pytest
from connectrpc.code import Code
from connectrpc.errors import ConnectError
from google.protobuf import json_format, message_factory
from google.protobuf.descriptor import Descriptor, FieldDescriptor, FileDescriptor
from google.protobuf.message import Message
from google.rpc import error_details_pb2

import mneme
from mneme.common.v1 import common_pb2
from mneme.gateway.v1 import recall_pb2, tiers_pb2
from services.gateway.http.json_codec import CompactJsonCodec

_DEPTH: Final = 5
_TEXTS: Final = ("", "plain", 'Zoë 日本語 "quoted"\\ \n\t\u2028 \x07 \U0001f600 </script>')
_NUMBERS: Final = (0.0, -0.0, 0.1, -1 / 3, 1e-30, 3.0e30, 16777217.0, math.nan, math.inf, -math.inf)


def public_files() -> list[FileDescriptor]:
    root = Path(next(iter(mneme.__path__)))
    names = sorted(path.relative_to(root) for path in root.glob("*/v1/*_pb2.py"))
    modules = [importlib.import_module("mneme." + ".".join(name.with_suffix("").parts)) for name in names]
    return [module.DESCRIPTOR for module in modules]


FILES: Final = public_files()
CODEC: Final = CompactJsonCodec([*FILES, error_details_pb2.DESCRIPTOR])
MESSAGES: Final = [message for file in FILES for message in file.message_types_by_name.values()]


def a_value(field: FieldDescriptor, draw: random.Random) -> Any:
    match field.cpp_type:
        case FieldDescriptor.CPPTYPE_STRING:
            return (
                draw.choice(_TEXTS) if field.type == FieldDescriptor.TYPE_STRING else draw.randbytes(draw.randrange(9))
            )
        case FieldDescriptor.CPPTYPE_BOOL:
            return draw.random() < 0.5
        case FieldDescriptor.CPPTYPE_ENUM:
            assert field.enum_type is not None
            return draw.choice([*(value.number for value in field.enum_type.values), 9999])  # 9999: of a later version
        case FieldDescriptor.CPPTYPE_FLOAT | FieldDescriptor.CPPTYPE_DOUBLE:
            return draw.choice([*_NUMBERS, draw.uniform(-10, 10)])
        case FieldDescriptor.CPPTYPE_UINT32 | FieldDescriptor.CPPTYPE_UINT64:
            return draw.choice([0, 7, 2**32 - 1])
        case _:
            return draw.choice([0, -7, 2**31 - 1])


def fill(message: Message, draw: random.Random, depth: int = _DEPTH) -> None:
    match message.DESCRIPTOR.full_name:
        case "google.protobuf.Timestamp" | "google.protobuf.Duration":
            message.seconds, message.nanos = draw.randrange(0, 4_000_000_000), draw.choice([0, 5_000_000, 123_456_789])  # type: ignore[attr-defined]
            return
        case "google.protobuf.FieldMask":
            message.paths.extend(["content", "valid_from.seconds"])  # type: ignore[attr-defined]
            return
        case "google.protobuf.Any":
            message.Pack(error_details_pb2.ErrorInfo(reason="X", domain="d", metadata={"a": "ü"}))  # type: ignore[attr-defined]
            return
        case "google.protobuf.Struct":
            message.update({"a": [1, None, {"b": "c"}]})  # type: ignore[attr-defined]
            return
    for field in message.DESCRIPTOR.fields:
        if draw.random() < 0.3 or (field.message_type and depth == 0):
            continue
        _fill_field(message, field, draw, depth)


def _fill_field(message: Message, field: Any, draw: random.Random, depth: int) -> None:
    held = getattr(message, field.name)
    if field.message_type and field.message_type.GetOptions().map_entry:
        _fill_map(held, field.message_type, draw, depth)
    elif field.message_type:
        fill(held.add() if field.is_repeated else held, draw, depth - 1)
        if not field.is_repeated:
            held.SetInParent()
    elif field.is_repeated:
        held.extend(a_value(field, draw) for _ in range(3))
    else:
        setattr(message, field.name, a_value(field, draw))


def _fill_map(held: Any, entry: Descriptor, draw: random.Random, depth: int) -> None:
    key, value = a_value(entry.fields_by_name["key"], draw), entry.fields_by_name["value"]
    if value.message_type:
        fill(held[key], draw, depth - 1)
    else:
        held[key] = a_value(value, draw)


def read(text: str | bytes) -> Any:
    """The value of JSON; numbers of 32 bits may be written with more digits than the library takes."""
    return json.loads(text, parse_float=lambda digits: f"{float(digits):.7g}")


@pytest.mark.parametrize("described", MESSAGES, ids=lambda one: one.full_name)
def test_spec_9_1_every_message_is_written_as_protobuf_writes_it(described: Descriptor) -> None:
    for seed in range(20):
        message = message_factory.GetMessageClass(described)()
        fill(message, random.Random(seed))
        encoded = CODEC.encode(message)
        assert b"\n" not in encoded
        assert read(encoded) == read(json_format.MessageToJson(message))


def test_spec_9_1_there_are_no_blanks_between_names_and_values() -> None:
    encoded = CODEC.encode(recall_pb2.RecallResponse(recall_id="r1", degraded=True))
    assert encoded == b'{"degraded":true,"recallId":"r1"}'


def test_spec_9_1_it_reads_what_it_writes_and_leaves_out_fields_of_later_versions() -> None:
    turn = common_pb2.Turn(role=common_pb2.MESSAGE_ROLE_USER, speaker="Zoë", content="日本語")
    answer = recall_pb2.RecallResponse(memories=[recall_pb2.Memory(memory_id="m1", turn=turn)], degraded=True)
    assert CODEC.decode(CODEC.encode(answer), recall_pb2.RecallResponse) == answer
    assert CODEC.decode(b'{"degraded": true, "ofLater": 1}', recall_pb2.RecallResponse) == recall_pb2.RecallResponse(
        degraded=True
    )


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ('{"tiers": ["TIER_EPISODIC", "EPISODIC"]}', "tiers[1]"),
        ('{"taskType": "NOPE"}', "taskType"),
        ('{"task_type": ""}', "task_type"),
        ('{"scope": {"level": "project"}}', "scope.level"),
        ('{"scope": []}', "scope"),
        ('{"scope": "project"}', "scope"),
        ("[]", "the body"),
        ('"x"', "the body"),
        ("null", "the body"),
    ],
)
def test_spec_9_1_what_the_parser_would_leave_out_is_refused_by_name(body: str, field: str) -> None:
    with pytest.raises(ConnectError) as refused:
        CODEC.decode(body.encode(), recall_pb2.RecallRequest)
    assert refused.value.code is Code.INVALID_ARGUMENT
    assert refused.value.message.startswith(f"the request is not valid: {field} must be ")


def test_spec_9_1_an_unknown_enum_value_has_the_reason_and_the_names_that_are_known() -> None:
    with pytest.raises(ConnectError, match="TIER_EPISODIC") as refused:
        CODEC.decode(b'{"ofLater": {"a": ["b"]}, "tiers": ["secret words"]}', recall_pb2.RecallRequest)
    assert "secret words" not in refused.value.message, "errors hold no content"
    assert "UNKNOWN_ENUM_VALUE" in str([detail.message_bytes for detail in refused.value.details])


def test_spec_9_1_enums_are_read_by_name_and_by_number() -> None:
    body = b'{"tiers": ["TIER_EPISODIC", 2, "3", 9999], "taskType": null, "scope": {"level": "SCOPE_LEVEL_PROJECT"}}'
    scope = common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_PROJECT)
    expected = recall_pb2.RecallRequest(scope=scope)
    expected.tiers.extend([tiers_pb2.TIER_EPISODIC, 2, 3, 9999])  # type: ignore[list-item]
    assert CODEC.decode(body, recall_pb2.RecallRequest) == expected


@pytest.mark.parametrize("described", MESSAGES, ids=lambda one: one.full_name)
def test_spec_9_1_every_message_is_read_as_protobuf_reads_it(described: Descriptor) -> None:
    for seed in range(5):
        message = message_factory.GetMessageClass(described)()
        fill(message, random.Random(seed))
        text = json_format.MessageToJson(message)
        assert CODEC.decode(text.encode(), type(message)) == json_format.Parse(text, type(message)())


@pytest.mark.parametrize("body", [b"{", b"\xff", b"[" * 100_000, b'{"query": "a", "query": "b"}', b'{"query": 1}', b""])
def test_spec_9_1_what_is_no_message_is_refused(body: bytes) -> None:
    with pytest.raises((ValueError, json_format.ParseError, RecursionError)):
        CODEC.decode(body, recall_pb2.RecallRequest)


def test_spec_9_1_a_message_of_a_file_that_was_not_named_is_refused() -> None:
    with pytest.raises(LookupError, match="Recall"):
        CompactJsonCodec([error_details_pb2.DESCRIPTOR]).encode(recall_pb2.RecallResponse())
