"""The digest that tells a repeat from another request under the same id."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from mneme.common.v1 import common_pb2
from mneme.gateway.v1 import memory_pb2
from mneme.session.v1 import session_pb2
from services.common.idempotency.requests import request_digest


def request() -> memory_pb2.RememberRequest:
    turn = common_pb2.Turn(
        role=common_pb2.MESSAGE_ROLE_USER,
        content="I moved to Lyon.",
        speaker="Ada",
        time=Timestamp(seconds=10),
        attachments=[common_pb2.Attachment(uri="s3://a", mime_type="image/png", caption="a cat")],
        confidence=0.5,
        importance=0.75,
        sources=["doc1"],
        metadata={"a": "1", "b": "2"},
    )
    scope = common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_PROJECT, project_id="p")
    return memory_pb2.RememberRequest(request_id="r1", user_id="ada", conversation_id="c1", turns=[turn], scope=scope)


def _paths(message: Message, prefix: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Every field that is set, down to the leaves of single messages."""
    found: list[tuple[str, ...]] = []
    for field, value in message.ListFields():
        found.append((*prefix, field.name))
        if isinstance(value, Message):
            found += _paths(value, (*prefix, field.name))
    return found


@pytest.mark.parametrize("path", [p for p in _paths(request()) if p != ("request_id",)], ids=".".join)
def test_spec_6_3_every_field_of_a_request_is_in_its_digest(path: tuple[str, ...]) -> None:
    changed = request()
    holder: Message = changed
    for name in path[:-1]:
        holder = getattr(holder, name)
    holder.ClearField(path[-1])
    assert request_digest(changed) != request_digest(request())


@pytest.mark.parametrize("name", [field.name for field in request().turns[0].DESCRIPTOR.fields])
def test_spec_6_3_every_field_of_a_turn_is_in_the_digest(name: str) -> None:
    changed = request()
    changed.turns[0].ClearField(name)
    assert request_digest(changed) != request_digest(request())


def _same(change: Callable[[memory_pb2.RememberRequest], None]) -> bool:
    changed = request()
    change(changed)
    return request_digest(changed) == request_digest(request())


def test_spec_6_3_the_request_id_and_the_order_of_metadata_are_not_in_the_digest() -> None:
    def other_id(changed: memory_pb2.RememberRequest) -> None:
        changed.request_id = "r2"

    def other_order(changed: memory_pb2.RememberRequest) -> None:
        changed.turns[0].metadata.clear()
        changed.turns[0].metadata.update({"b": "2", "a": "1"})

    assert _same(other_id)
    assert _same(other_order)


def test_spec_6_3_a_default_that_is_set_differs_from_one_that_is_not() -> None:
    end = session_pb2.DeleteSessionRequest(request_id="r", user_id="u", conversation_id="c")
    discarding = session_pb2.DeleteSessionRequest(request_id="r", user_id="u", conversation_id="c", discard=True)
    assert request_digest(end) != request_digest(discarding)
