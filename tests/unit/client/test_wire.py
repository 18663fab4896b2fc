from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mneme.gateway.v1 import conversations_pb2, deliveries_pb2, grants_pb2, memory_pb2
from mneme_client import (
    Attachment,
    FeedbackValue,
    MnemeClientError,
    RetryPolicy,
    Role,
    Scope,
    ScopeLevel,
    Tier,
    Turn,
    calls,
    from_wire,
    to_wire,
)
from mneme_client.errors import from_rpc_failure
from mneme_client.types import RememberItem

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
turns = st.builds(
    Turn,
    content=texts,
    role=st.sampled_from([r for r in Role if r]),
    speaker=texts,
    time=st.none() | st.datetimes(timezones=st.just(UTC)),
    attachments=st.lists(st.builds(Attachment, uri=texts, mime_type=texts, caption=texts), max_size=3).map(tuple),
    confidence=st.none() | st.floats(0, 1),
    sources=st.lists(texts, max_size=3).map(tuple),
    metadata=st.dictionaries(texts, texts, max_size=3),
)


@given(turns)
def test_a_turn_survives_the_wire(turn: Turn) -> None:
    assert from_wire.turn(to_wire.turn(turn)) == turn


@given(st.builds(Scope, level=st.sampled_from([s for s in ScopeLevel if s]), project_id=texts, task_id=texts))
def test_a_scope_survives_the_wire(scope: Scope) -> None:
    made = to_wire.scope(scope)
    assert made is not None
    assert from_wire.scope(made) == scope


def test_times_of_other_zones_keep_their_instant() -> None:
    moment = datetime(2026, 1, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    assert to_wire.timestamp(moment).ToDatetime(tzinfo=UTC) == moment


def test_numbers_of_newer_servers_read_as_unspecified() -> None:
    assert Tier(99) is Tier.UNSPECIFIED


def test_a_request_id_is_made_where_none_is_given() -> None:
    first = to_wire.remember_request(RememberItem("u", "c", "x"))
    second = to_wire.remember_request(RememberItem("u", "c", "x"))
    assert first.request_id
    assert first.request_id != second.request_id
    assert to_wire.remember_request(RememberItem("u", "c", "x", request_id="mine")).request_id == "mine"


def test_every_method_is_one_of_the_contract() -> None:
    made: list[calls.Call[Any]] = [
        calls.remember(RememberItem("u", "c", "x")),
        calls.remember_batch([]),
        calls.feedback("u", FeedbackValue.GOOD, memory_ids=[], recall_id="", request_id=None),
        calls.get_profile("u"),
        calls.list_conversations("u", page_size=1, page_token=""),
        calls.list_interactions("u", "c", page_size=1, page_token=""),
        calls.get_session("u", "c"),
        calls.end_session("u", "c", discard=False, request_id=None),
        calls.create_grant("u", from_scope=Scope(), to_scope=Scope(), kinds=(), expire_time=None, request_id=None),
        calls.list_grants("u", page_size=1, page_token=""),
        calls.revoke_grant("u", "g", request_id=None),
        calls.get_backlog(),
        calls.list_dead_letters(tier=None, page_size=1, page_token=""),
        calls.retry_dead_letters(["1"], request_id=None),
    ]
    services = {
        service.full_name: service
        for module in (memory_pb2, conversations_pb2, grants_pb2, deliveries_pb2)
        for service in module.DESCRIPTOR.services_by_name.values()
    }
    for call in made:
        service, _, method = call.method.lstrip("/").rpartition("/")
        descriptor = services[service].methods_by_name[method]
        assert descriptor.containing_service.full_name == service
        assert descriptor.input_type is call.request.DESCRIPTOR
        assert descriptor.output_type is call.response_type.DESCRIPTOR


class _Failure:
    """A failed call whose details are not what they should be."""

    def __init__(self, metadata: object) -> None:
        self._metadata = metadata

    def code(self) -> grpc.StatusCode:
        return grpc.StatusCode.INTERNAL

    def details(self) -> str | None:
        return None

    def trailing_metadata(self) -> object:
        return self._metadata


@pytest.mark.parametrize(
    "metadata", [None, (), (("other", "x"),), (("grpc-status-details-bin", b"\xff\xff not a message"),)]
)
def test_details_that_cannot_be_read_are_left_out(metadata: object) -> None:
    error = from_rpc_failure(_Failure(metadata), method="/s/M")
    assert (error.code, error.reason, error.violations) == (grpc.StatusCode.INTERNAL, "", ())


def _unavailable(retry_after_seconds: float | None = None) -> MnemeClientError:
    return MnemeClientError("x", code=grpc.StatusCode.UNAVAILABLE, retry_after_seconds=retry_after_seconds)


@given(attempt=st.integers(1, 5), remaining=st.floats(0, 100))
def test_waits_grow_within_bounds_and_never_reach_the_deadline(attempt: int, remaining: float) -> None:
    policy = RetryPolicy(attempts_max=6, initial_backoff_seconds=0.1, backoff_seconds_max=2.0)
    delay = policy.delay_seconds(_unavailable(), attempt=attempt, remaining_seconds=remaining)
    bound = min(2.0, 0.1 * 2 ** (attempt - 1))
    if delay is None:
        assert remaining <= bound
    else:
        assert bound / 2 <= delay <= bound
        assert delay < remaining


def test_the_service_may_ask_for_a_longer_wait() -> None:
    delay = RetryPolicy().delay_seconds(_unavailable(7.0), attempt=1, remaining_seconds=60)
    assert delay == 7.0


@pytest.mark.parametrize("code", [grpc.StatusCode.INTERNAL, grpc.StatusCode.DEADLINE_EXCEEDED])
def test_only_unavailable_is_repeated(code: grpc.StatusCode) -> None:
    error = MnemeClientError("x", code=code)
    assert RetryPolicy().delay_seconds(error, attempt=1, remaining_seconds=60) is None
