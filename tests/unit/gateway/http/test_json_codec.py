"""The JSON of the HTTP port is protobuf's, in one line."""

from __future__ import annotations

from google.protobuf import json_format

from mneme.common.v1 import common_pb2
from mneme.gateway.v1 import recall_pb2
from services.gateway.http.json_codec import CompactJsonCodec

CODEC = CompactJsonCodec()


def answer() -> recall_pb2.RecallResponse:
    turn = common_pb2.Turn(
        role=common_pb2.MESSAGE_ROLE_USER, speaker="Zoë", content='日本語, "quoted"\n\u2028 and \U0001f600'
    )
    memory = recall_pb2.Memory(memory_id="m1", turn=turn, score=float("nan"))
    memory.turn.time.FromJsonString("2026-03-01T10:00:00.123Z")
    return recall_pb2.RecallResponse(memories=[memory], degraded=True)


def test_spec_9_1_it_is_what_protobuf_writes_without_line_breaks() -> None:
    encoded = CODEC.encode(answer())
    assert b"\n" not in encoded
    assert b'":' in encoded
    assert b'": ' not in encoded
    assert json_format.MessageToDict(json_format.Parse(encoded, recall_pb2.RecallResponse())) == (
        json_format.MessageToDict(answer())
    )


def test_spec_9_1_it_reads_what_it_writes_and_leaves_out_fields_of_later_versions() -> None:
    assert str(CODEC.decode(CODEC.encode(answer()), recall_pb2.RecallResponse)) == str(answer())
    assert CODEC.decode(b'{"degraded": true, "ofLater": 1}', recall_pb2.RecallResponse) == recall_pb2.RecallResponse(
        degraded=True
    )
