from __future__ import annotations

import inspect
import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import grpc
import pytest
from google.protobuf import descriptor_pool
from hypothesis import given
from hypothesis import strategies as st

from mneme.semantic.v1 import profile_pb2
from mneme_client import (
    Attachment,
    FactCategory,
    FeedbackValue,
    LinkType,
    MnemeClientError,
    NoteKind,
    Preferences,
    RetryPolicy,
    Role,
    Scope,
    ScopeLevel,
    SupersessionDecision,
    SyncClient,
    Tier,
    Turn,
    from_wire,
    from_wire_resources,
    to_wire,
)
from mneme_client.calls import Call
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


class _Recorder(SyncClient):
    """A client that records its calls instead of making them."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Call[Any]] = []

    def _call(self, call: Call[Any], timeout_seconds: float | None) -> Any:
        del timeout_seconds
        self.calls.append(call)
        return call.read(call.response_type())


_ERASING = {f"erase_{what}" for what in ("memories", "conversation", "scope", "user", "tenant")} | {"plan_erasure"}
"""One method for each target of Erase."""


_RENAMED = {
    "list_context_window_snapshots": "list_context_snapshots",  # methods of two services have the same name
    "compare_models": "get_model_comparison",
    "compare_fact_models": "get_fact_model_comparison",
    "compare_note_models": "get_note_model_comparison",
    "list_run_changes": "get_run",  # its changes, page by page
}
"""Names of the contract where the client's differ."""


_NOT_UNARY = {
    "close",
    "remember_stream",
    "recall_stream",
    "export_user",
    "import_user",
    "record_activity_stream",
    "wait_until_visible",
}


def _made_calls() -> dict[str, Call[Any]]:
    """The call of each method of the client, by the method's name."""
    made = {}
    with _Recorder() as client:
        arguments: dict[str, Any] = {
            **dict.fromkeys(["memory_ids", "items", "item_ids", "delivery_ids", "episode_ids", "note_ids"], ()),
            **dict.fromkeys(["from_scope", "to_scope", "scope"], Scope()),
            "value": FeedbackValue.GOOD,
            "category": FactCategory.CONTEXT,
            "kind": NoteKind.FACT,
            "type": LinkType.SUPPORTS,
            "preferences": Preferences(),
            "strength": 0.5,
            **dict.fromkeys(["index", "first_size"], 1),
            "decision": SupersessionDecision.LATER_STANDS,
            "files": {},
            "questions": (),
            "paths": (),
            "records": (),
            **dict.fromkeys(["writes", "names"], ()),
        }
        for name, method in inspect.getmembers(client, inspect.ismethod):
            if name.startswith("_") or name in _NOT_UNARY:
                continue
            parameters = inspect.signature(method).parameters.values()
            required = {p.name: arguments.get(p.name, "x") for p in parameters if p.default is p.empty}
            outcome = method(**required)
            if inspect.isgenerator(outcome):
                assert list(outcome) == []
            made[name] = client.calls.pop()
    return made


def test_every_method_of_the_client_is_one_of_the_contract() -> None:
    made = _made_calls()
    for name, call in made.items():
        service, _, method = call.method.lstrip("/").rpartition("/")
        descriptor = descriptor_pool.Default().FindServiceByName(service).methods_by_name[method]
        own_name = "erase" if name in _ERASING else _RENAMED.get(name, name)
        assert re.sub("(?<=[a-z])(?=[A-Z])", "_", descriptor.name).lower() == own_name
        assert descriptor.input_type is call.request.DESCRIPTOR
        assert descriptor.output_type is call.response_type.DESCRIPTOR


def test_spec_6_11_the_client_has_a_method_for_each_one_of_the_tiers() -> None:
    reached = {call.method.lstrip("/").replace("/", ".") for call in _made_calls().values()}
    services = (
        "mneme.episodic.v1.EpisodicService",
        "mneme.semantic.v1.FactService",
        "mneme.semantic.v1.ProfileService",
        "mneme.agentic.v1.NoteService",
        "mneme.session.v1.ContextWindowService",
    )
    offered = {
        method.full_name
        for service in services
        for method in descriptor_pool.Default().FindServiceByName(service).methods
    }
    # Reading named episodes in bulk is for services.
    assert offered - reached == {"mneme.episodic.v1.EpisodicService.BatchGetEpisodes"}


@given(
    st.builds(
        Preferences, language=texts, preferred_sources=st.lists(texts).map(tuple), other=st.dictionaries(texts, texts)
    )
)
def test_preferences_survive_the_wire(preferences: Preferences) -> None:
    message = profile_pb2.Profile(preferences=to_wire.preferences(preferences))
    assert from_wire_resources.profile(message).preferences == preferences


class _Failure:
    """A failed call whose details are not what they should be."""

    def __init__(self, metadata: object, details: str | None = None) -> None:
        self._metadata = metadata
        self._details = details

    def code(self) -> grpc.StatusCode:
        return grpc.StatusCode.INTERNAL

    def details(self) -> str | None:
        return self._details

    def trailing_metadata(self) -> object:
        return self._metadata


@pytest.mark.parametrize(
    "metadata", [None, (), (("other", "x"),), (("grpc-status-details-bin", b"\xff\xff not a message"),)]
)
def test_details_that_cannot_be_read_are_left_out(metadata: object) -> None:
    error = from_rpc_failure(_Failure(metadata), method="/s/M")
    assert (error.code, error.reason, error.violations) == (grpc.StatusCode.INTERNAL, "", ())


def test_a_stream_that_ends_while_it_is_sent_is_unavailable() -> None:
    # gRPC reports INTERNAL then, where the status of the server has not arrived: an import was not resumed.
    error = from_rpc_failure(_Failure((), "Internal error from Core"), method="/s/M")
    assert (error.code, error.retryable) == (grpc.StatusCode.UNAVAILABLE, True)


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


@pytest.mark.parametrize("wrong", [b"Hi", None, [None], 7])
def test_what_is_no_turn_is_refused_and_not_taken_apart(wrong: Any) -> None:
    with pytest.raises(TypeError, match="a turn is a text, a Turn"):
        to_wire.turns(wrong)


def test_spec_9_2_messages_of_chat_apis_are_turns() -> None:
    message = {"role": "user", "content": "Hi", "name": "Ada"}
    parts = {"role": "assistant", "content": [{"type": "text", "text": "Good"}, {"type": "text", "text": "morning"}]}
    said = [(turn.role, turn.speaker, turn.content) for turn in to_wire.turns([message, parts, "and so on"])]
    assert said == [(1, "Ada", "Hi"), (2, "", "Good\nmorning"), (1, "", "and so on")]
    assert [turn.content for turn in to_wire.turns(message)] == ["Hi"]
    roles = {role: to_wire.turn({"role": role, "content": "x"}).role for role in ("system", "developer", "tool")}
    assert roles == {"system": 3, "developer": 3, "tool": 4}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"content": "Hi"}, "the role of a message is one of user, assistant, system, developer, tool, not None"),
        ({"role": "bot", "content": "Hi"}, "not 'bot'"),
        ({"role": ["user"], "content": "Hi"}, "not \\['user'\\]"),
        ({"role": "assistant", "content": None}, "the content of a message is a text"),
        ({"role": "user", "content": []}, "the content of a message is a text"),
        ({"role": "user", "content": [{"type": "image_url"}]}, "a list of parts that are texts"),
        ({"role": "user", "content": [{"type": "text", "text": 7}]}, "a list of parts that are texts"),
    ],
)
def test_a_message_that_is_no_turn_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        to_wire.turns(wrong)


def test_a_role_is_no_text() -> None:
    wrong: Any = "user"
    with pytest.raises(TypeError, match=r"'user' is no member of an enum, such as Role\.USER"):
        to_wire.turns(Turn("Hi", role=wrong))
