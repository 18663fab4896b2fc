"""SessionService over the wire."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from mneme.common.v1 import common_pb2
from mneme.session.v1 import session_pb2 as pb
from services.common.auth import Role
from tests.servicer.session.conftest import OTHER_TENANT, READER, WRITER, Running, caller, said
from tests.support.session import Line

INVALID = grpc.StatusCode.INVALID_ARGUMENT
LONG_ID = "x" * 129


def ids(session: pb.Session) -> list[str]:
    return [turn.interaction_id for turn in session.turns]


def append(*turns: pb.SessionTurn, **fields: Any) -> pb.AppendTurnsRequest:
    defaults: dict[str, Any] = {"user_id": "ada", "conversation_id": "s1", "create_if_missing": True}
    fields = defaults | fields
    return pb.AppendTurnsRequest(turns=turns, **fields)


def seconds(count: int, nanos: int = 0) -> Duration:
    return Duration(seconds=count, nanos=nanos)


# The contract of session.proto


async def test_spec_1_1_a_session_is_created_read_listed_and_deleted(running: Running) -> None:
    created = await running.stub.CreateSession(pb.CreateSessionRequest(user_id="ada"), metadata=WRITER)
    session = created.session
    assert (session.conversation_id, session.user_id) == ("made-000001", "ada")
    assert (session.window_turns, session.ttl.seconds, session.turn_count) == (10, 3600, 0)
    assert session.expire_time.ToDatetime() - session.create_time.ToDatetime() == timedelta(hours=1)
    assert not created.degraded
    assert (await running.get("made-000001")).session == session
    listed = await running.stub.ListSessions(pb.ListSessionsRequest(user_id="ada"), metadata=READER)
    assert list(listed.sessions) == [session]
    deleted = await running.stub.DeleteSession(
        pb.DeleteSessionRequest(user_id="ada", conversation_id="made-000001"), metadata=WRITER
    )
    assert deleted.session == session
    problem = await running.problem("GetSession", pb.GetSessionRequest(user_id="ada", conversation_id="made-000001"))
    assert (problem.code, problem.reason) == (grpc.StatusCode.NOT_FOUND, "NOT_FOUND")


async def test_spec_1_1_a_turn_keeps_everything_said_about_it(running: Running) -> None:
    turn = common_pb2.Turn(
        role=common_pb2.MESSAGE_ROLE_ASSISTANT,
        speaker="Bot",
        content="Ünïcode ✓",
        time=Timestamp(seconds=1_700_000_000, nanos=123_000),
        attachments=[common_pb2.Attachment(uri="s3://a", mime_type="image/png", caption="a cat")],
        confidence=0.0,
        sources=["doc"],
        metadata={"k": "v"},
    )
    scope = common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_TASK, project_id="p", task_id="t")
    await running.append(append(pb.SessionTurn(interaction_id="t", position=4, turn=turn, scope=scope)))
    (found,) = (await running.get()).session.turns
    assert found == pb.SessionTurn(interaction_id="t", position=4, turn=turn, token_count=2, scope=scope)


async def test_what_a_turn_lacks_is_made_by_the_service(running: Running) -> None:
    response = await running.append(append(said(), said()))
    turns = (await running.get()).session.turns
    assert [turn.interaction_id for turn in turns] == ["made-000001", "made-000002"]
    assert [turn.position for turn in turns] == [0, 1]
    now = running.clock.now()
    times = [turn.turn.time.ToDatetime(tzinfo=now.tzinfo) for turn in turns]
    assert times == [now, now + timedelta(microseconds=1)]
    assert (response.appended_count, response.created) == (2, True)


async def test_spec_1_10_tokens_are_counted_by_the_tokenizer(running: Running) -> None:
    texts = ["one two three", "a" * 5_000 + " b", "word " * 6_000]  # the last is counted in a thread
    await running.append(append(*(said(content=text) for text in texts)))
    assert [turn.token_count for turn in (await running.get()).session.turns] == [3, 2, 6_000]


async def test_spec_1_2_a_session_slides_and_expires(running: Running) -> None:
    await running.say("a")
    running.clock.advance(seconds=3_599)
    await running.get()
    running.clock.advance(seconds=3_599)
    extended = await running.stub.ExtendSession(
        pb.ExtendSessionRequest(user_id="ada", conversation_id="s1", ttl=seconds(60, 500_000_000)), metadata=WRITER
    )
    assert extended.session.ttl == seconds(60, 500_000_000)
    assert not extended.session.turns
    running.clock.advance(seconds=60.5)
    problem = await running.problem("GetSession", pb.GetSessionRequest(user_id="ada", conversation_id="s1"))
    assert problem.code == grpc.StatusCode.NOT_FOUND


async def test_spec_1_3_the_window_is_configurable_per_session(running: Running) -> None:
    request = pb.CreateSessionRequest(user_id="ada", conversation_id="s1", window_turns=2, ttl=seconds(90))
    await running.stub.CreateSession(request, metadata=WRITER)
    session = await running.say("a", "b", "c")
    assert (ids(session), session.turn_count, session.ttl.seconds) == (["b", "c"], 3, 90)
    problem = await running.problem("CreateSession", request)
    assert (problem.code, problem.reason) == (grpc.StatusCode.ALREADY_EXISTS, "ALREADY_EXISTS")


async def test_appending_to_a_missing_session_needs_leave_to_create_it(running: Running) -> None:
    problem = await running.problem("AppendTurns", append(said(), create_if_missing=False))
    assert (problem.code, problem.reason) == (grpc.StatusCode.NOT_FOUND, "NOT_FOUND")


async def test_spec_1_4_repeated_requests_are_answered_as_the_first_time(running: Running) -> None:
    request = append(said(), said(), request_id="r1")
    first = await running.append(request)
    running.clock.advance(seconds=9)
    again = await running.append(request)
    assert again == first
    assert (first.appended_count, first.created, first.session.turn_count) == (2, True, 2)
    window = (await running.get()).session
    create = pb.CreateSessionRequest(user_id="ada", request_id="r2")
    made = await running.stub.CreateSession(create, metadata=WRITER)
    assert await running.stub.CreateSession(create, metadata=WRITER) == made
    delete = pb.DeleteSessionRequest(user_id="ada", conversation_id="s1", request_id="r3")
    gone = await running.stub.DeleteSession(delete, metadata=WRITER)
    assert await running.stub.DeleteSession(delete, metadata=WRITER) == gone
    assert (ids(gone.session), gone.session.turn_count) == ([], window.turn_count)
    assert await running.append(request) == first, "it does not bring the session back"
    problem = await running.problem("GetSession", pb.GetSessionRequest(user_id="ada", conversation_id="s1"))
    assert problem.code == grpc.StatusCode.NOT_FOUND


async def test_a_request_id_for_another_request_is_refused(running: Running) -> None:
    await running.append(append(said("a"), request_id="r1"))
    for method, request in (
        ("AppendTurns", append(said("b"), request_id="r1")),
        ("ExtendSession", pb.ExtendSessionRequest(user_id="ada", conversation_id="s1", request_id="r1")),
        ("DeleteSession", pb.DeleteSessionRequest(user_id="ada", conversation_id="s1", request_id="r1")),
        ("CreateSession", pb.CreateSessionRequest(user_id="ada", request_id="r1")),
    ):
        problem = await running.problem(method, request)
        assert (problem.code, problem.reason) == (INVALID, "REQUEST_ID_REUSED")
        assert problem.field_paths == ["request_id"]
    # Another principal's request of the same id is another request.
    other = caller("acme", Role.WRITER, principal_id="worker")
    assert (await running.append(append(said("b"), request_id="r1"), other)).appended_count == 1
    assert ids((await running.get()).session) == ["a", "b"]


async def test_spec_1_4_two_writers_at_once_lose_no_turn(running: Running) -> None:
    await running.stub.CreateSession(
        pb.CreateSessionRequest(user_id="ada", conversation_id="s1", window_turns=100), metadata=WRITER
    )

    async def write(name: str) -> int:
        count = 0
        for number in range(1_000):
            response = await running.append(append(said(f"{name}{number}", "x"), create_if_missing=False))
            count += response.appended_count
        return count

    assert list(await asyncio.gather(write("a"), write("b"))) == [1_000, 1_000]
    session = (await running.get()).session
    assert session.turn_count == 2_000
    assert [turn.position for turn in session.turns] == list(range(1_900, 2_000))
    for name in "ab":
        mine = [i for i in ids(session) if i.startswith(name)]
        assert mine == [f"{name}{number}" for number in range(1_000 - len(mine), 1_000)]
    assert ids(session)[-1] in {"a999", "b999"}


# Lists


async def test_pages_go_from_the_last_active_to_the_first(running: Running) -> None:
    for number in range(5):
        await running.say("t", conversation_id=f"s{number}")
        running.clock.advance(seconds=number % 2)
    seen, token = [], ""
    while True:
        page = await running.stub.ListSessions(
            pb.ListSessionsRequest(user_id="ada", page_size=2, page_token=token), metadata=READER
        )
        seen += [session.conversation_id for session in page.sessions]
        token = page.next_page_token
        if not token:
            break
    assert seen == ["s4", "s2", "s3", "s0", "s1"]


async def test_a_page_token_is_good_for_its_query_alone(running: Running) -> None:
    for number in range(2):
        await running.say("t", conversation_id=f"s{number}")
    page = await running.stub.ListSessions(pb.ListSessionsRequest(user_id="ada", page_size=1), metadata=READER)
    assert page.next_page_token
    for user_id, token, who in (
        ("bob", page.next_page_token, READER),
        ("ada", page.next_page_token, OTHER_TENANT),
        ("ada", page.next_page_token[:-2], READER),
        ("ada", "nonsense", READER),
    ):
        request = pb.ListSessionsRequest(user_id=user_id, page_size=1, page_token=token)
        problem = await running.problem("ListSessions", request, who)
        assert (problem.code, problem.reason) == (INVALID, "INVALID_PAGE_TOKEN")
        assert problem.field_paths == ["page_token"]


# Wrong input

_TURN = common_pb2.Turn(role=common_pb2.MESSAGE_ROLE_USER, content="x")


@pytest.mark.parametrize(
    ("method", "message", "reason", "field_paths"),
    [
        ("CreateSession", pb.CreateSessionRequest(), "INVALID_FIELD", ["user_id"]),
        ("CreateSession", pb.CreateSessionRequest(user_id="a\0"), "INVALID_FIELD", ["user_id"]),
        ("CreateSession", pb.CreateSessionRequest(user_id=LONG_ID), "TEXT_TOO_LONG", ["user_id"]),
        (
            "CreateSession",
            pb.CreateSessionRequest(user_id="a", conversation_id=LONG_ID, request_id=LONG_ID),
            "TEXT_TOO_LONG",
            ["request_id", "conversation_id"],
        ),
        ("CreateSession", pb.CreateSessionRequest(user_id="a", window_turns=0), "INVALID_FIELD", ["window_turns"]),
        ("CreateSession", pb.CreateSessionRequest(user_id="a", window_turns=1_001), "INVALID_FIELD", ["window_turns"]),
        ("CreateSession", pb.CreateSessionRequest(user_id="a", ttl=seconds(0)), "INVALID_FIELD", ["ttl"]),
        ("CreateSession", pb.CreateSessionRequest(user_id="a", ttl=seconds(-5)), "INVALID_FIELD", ["ttl"]),
        ("CreateSession", pb.CreateSessionRequest(user_id="a", ttl=seconds(2_592_001)), "INVALID_FIELD", ["ttl"]),
        ("CreateSession", pb.CreateSessionRequest(user_id="a", ttl=seconds(2**62)), "INVALID_FIELD", ["ttl"]),
        ("GetSession", pb.GetSessionRequest(), "INVALID_FIELD", ["user_id", "conversation_id"]),
        (
            "GetSession",
            pb.GetSessionRequest(user_id="a", conversation_id=LONG_ID),
            "TEXT_TOO_LONG",
            ["conversation_id"],
        ),
        ("ListSessions", pb.ListSessionsRequest(page_size=-1), "INVALID_FIELD", ["user_id", "page_size"]),
        ("ExtendSession", pb.ExtendSessionRequest(user_id="a"), "INVALID_FIELD", ["conversation_id"]),
        (
            "ExtendSession",
            pb.ExtendSessionRequest(user_id="a", conversation_id="s", ttl=seconds(0, 999_999_999)),
            "INVALID_FIELD",
            ["ttl"],
        ),
        ("DeleteSession", pb.DeleteSessionRequest(conversation_id="s"), "INVALID_FIELD", ["user_id"]),
        ("AppendTurns", append(), "INVALID_FIELD", ["turns"]),
        ("AppendTurns", append(*[said()] * 257), "TOO_MANY_ITEMS", ["turns"]),
        ("AppendTurns", append(said(), pb.SessionTurn()), "UNKNOWN_ENUM_VALUE", ["turns[1].turn.role"]),
        ("AppendTurns", append(said(content=" ")), "INVALID_FIELD", ["turns[0].turn.content"]),
        ("AppendTurns", append(said(content="x" * 32_769)), "TEXT_TOO_LONG", ["turns[0].turn.content"]),
        (
            "AppendTurns",
            append(pb.SessionTurn(turn=_TURN, scope=common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_TASK))),
            "INVALID_FIELD",
            ["turns[0].scope.task_id"],
        ),
        ("AppendTurns", append(said(LONG_ID)), "TEXT_TOO_LONG", ["turns[0].interaction_id"]),
        ("AppendTurns", append(said(position=-1)), "INVALID_FIELD", ["turns[0].position"]),
        ("AppendTurns", append(said(), said(position=2**53)), "INVALID_FIELD", ["turns[1].position"]),
        (
            "AppendTurns",
            append(pb.SessionTurn(turn=_TURN, position=-1), said(content=""), user_id=""),
            "INVALID_FIELD",
            ["user_id", "turns[0].position", "turns[1].turn.content"],
        ),
    ],
)
async def test_wrong_input_is_named_by_field(
    running: Running, method: str, message: Any, reason: str, field_paths: list[str]
) -> None:
    problem = await running.problem(method, message)
    assert problem.code == INVALID
    assert problem.reason == reason
    assert problem.field_paths == field_paths


async def test_limits_are_inclusive(running: Running) -> None:
    request = pb.CreateSessionRequest(
        request_id="r" * 128,
        user_id="u" * 128,
        conversation_id="s" * 128,
        window_turns=1_000,
        ttl=seconds(30 * 86_400),
    )
    created = await running.stub.CreateSession(request, metadata=WRITER)
    assert created.session.conversation_id == "s" * 128
    response = await running.append(append(*(said(content="x") for _ in range(256))))
    assert response.appended_count == 256
    await running.append(append(said(position=2**53 - 1)))
    assert (await running.get()).session.turns[-1].position == 2**53 - 1


# Who may do what


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("CreateSession", pb.CreateSessionRequest(user_id="ada")),
        ("AppendTurns", append(said())),
        ("ExtendSession", pb.ExtendSessionRequest(user_id="ada", conversation_id="s1")),
        ("DeleteSession", pb.DeleteSessionRequest(user_id="ada", conversation_id="s1")),
    ],
)
async def test_spec_7_1_readers_do_not_write(running: Running, method: str, message: Any) -> None:
    problem = await running.problem(method, message, READER)
    assert (problem.code, problem.reason) == (grpc.StatusCode.PERMISSION_DENIED, "ROLE_MISSING")


async def test_spec_7_1_a_call_without_a_credential_is_refused(running: Running) -> None:
    problem = await running.problem("GetSession", pb.GetSessionRequest(user_id="ada", conversation_id="s1"), ())
    assert (problem.code, problem.reason) == (grpc.StatusCode.UNAUTHENTICATED, "CREDENTIAL_MISSING")


async def test_spec_7_1_tenants_do_not_see_each_other(running: Running) -> None:
    await running.say("mine")
    problem = await running.problem(
        "GetSession", pb.GetSessionRequest(user_id="ada", conversation_id="s1"), OTHER_TENANT
    )
    assert problem.code == grpc.StatusCode.NOT_FOUND
    theirs = await running.say("theirs", who=OTHER_TENANT)
    assert ids(theirs) == ["theirs"]
    listed = await running.stub.ListSessions(pb.ListSessionsRequest(user_id="ada"), metadata=OTHER_TENANT)
    assert [session.turn_count for session in listed.sessions] == [1]
    await running.stub.DeleteSession(
        pb.DeleteSessionRequest(user_id="ada", conversation_id="s1"), metadata=OTHER_TENANT
    )
    assert ids((await running.get()).session) == ["mine"]


# Degraded


async def test_spec_1_6_degraded_answers_say_so(running: Running) -> None:
    await running.say("a")
    running.line.line = Line.CUT
    response = await running.append(append(said("b")))
    assert response.degraded
    found = await running.get()
    assert (found.degraded, ids(found.session)) == (True, ["a", "b"])
    listed = await running.stub.ListSessions(pb.ListSessionsRequest(user_id="ada"), metadata=READER)
    assert listed.degraded
    created = await running.stub.CreateSession(pb.CreateSessionRequest(user_id="ada"), metadata=WRITER)
    assert created.degraded
    extend = pb.ExtendSessionRequest(user_id="ada", conversation_id="s1")
    assert (await running.stub.ExtendSession(extend, metadata=WRITER)).degraded
    delete = pb.DeleteSessionRequest(user_id="ada", conversation_id="s1")
    assert (await running.stub.DeleteSession(delete, metadata=WRITER)).degraded
    pause = await running.sleep.next_pause()
    running.line.line = Line.UP
    pause.end()
    await running.store.wait_until_recovered()
    assert not (await running.append(append(said("c")))).degraded


# Size


async def test_an_answer_fits_into_a_message_whatever_the_window(running: Running) -> None:
    await running.stub.CreateSession(
        pb.CreateSessionRequest(user_id="ada", conversation_id="s1", window_turns=1_000), metadata=WRITER
    )
    for batch in range(3):
        turns = [said(f"t{batch}-{number}", "ü" * 16_000) for number in range(60)]
        assert (await running.append(append(*turns))).appended_count == 60
    found = (await running.get()).session
    assert found.ByteSize() < 4 * 1024 * 1024
    assert 100 < len(found.turns) < 180
    assert ids(found)[-1] == "t2-59"
    assert found.turn_count == 180


async def test_the_ids_and_scopes_of_a_window_count_into_its_size(running: Running) -> None:
    await running.stub.CreateSession(
        pb.CreateSessionRequest(user_id="ada", conversation_id="s1", window_turns=1_000), metadata=WRITER
    )
    wide = "\U0001f30d" * 128
    scope = common_pb2.Scope(
        level=common_pb2.SCOPE_LEVEL_TASK, project_id=wide, session_id=wide, task_id=wide, context_id=wide
    )
    for batch in range(5):
        turns = [said(f"{batch}-{number}-" + "\U0001f30d" * 120, "\U0001f30d" * 600) for number in range(200)]
        for turn in turns:
            turn.scope.CopyFrom(scope)
        await running.append(append(*turns))
    found = (await running.get()).session
    assert 3_000_000 < found.ByteSize() < 3_600_000
    assert ids(found)[-1].startswith("4-199-")
