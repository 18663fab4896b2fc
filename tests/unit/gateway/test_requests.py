"""Reading of requests: every limit, with the path of each wrong field."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from mneme.common.v1 import common_pb2
from mneme.gateway.v1 import deliveries_pb2, memory_pb2, tiers_pb2
from services.common.errors import InvalidArgument, Reason
from services.common.scope import GLOBAL_SCOPE, Scope, ScopeLevel
from services.gateway.grants.model import MemoryKind
from services.gateway.journal.model import RememberCommand, Tier
from services.gateway.requests import RequestLimits, RequestReader
from services.gateway.tokens import ConsistencyTokens

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TOKENS = ConsistencyTokens(b"s" * 32)
READER = RequestReader(RequestLimits(), TOKENS)
ID = "0190a000-0000-7000-8000-000000000001"
USER = common_pb2.MESSAGE_ROLE_USER
BAD_TIME = (Reason.INVALID_FIELD, ["turns[0].time"])
UNKNOWN_SCOPE = common_pb2.Scope(level=9)  # type: ignore[arg-type]  # as a newer client might send it


def turn(content: str = "hello", **fields: Any) -> common_pb2.Turn:
    return common_pb2.Turn(**{"role": USER, "content": content, **fields})


def item(**fields: Any) -> memory_pb2.RememberRequest:
    return memory_pb2.RememberRequest(**{"user_id": "ada", "conversation_id": "c1", "turns": [turn()], **fields})


def wrong(read: Callable[[], object]) -> tuple[Reason, list[str]]:
    with pytest.raises(InvalidArgument) as caught:
        read()
    return caught.value.reason, [violation.field_path for violation in caught.value.violations]


def test_an_item_becomes_a_command() -> None:
    scope = common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_PROJECT, project_id="p1")
    command = READER.remember(item(turns=[turn("a"), turn("b")], scope=scope, request_id="r1"), now=NOW)
    assert [(t.content, t.time) for t in command.turns] == [
        ("a", NOW),
        ("b", NOW + timedelta(microseconds=1)),
    ]
    assert command.scope == Scope(ScopeLevel.PROJECT, "p1")
    assert (command.user_id, command.conversation_id, command.request_id) == ("ada", "c1", "r1")


@pytest.mark.parametrize("time", [datetime(1900, 1, 1, tzinfo=UTC), datetime(2200, 12, 31, 23, 59, 59, 999_999, UTC)])
def test_the_first_and_the_last_time_that_are_accepted(time: datetime) -> None:
    message = Timestamp()
    message.FromDatetime(time)
    assert READER.remember(item(turns=[turn(time=message)]), now=NOW).turns[0].time == time


def test_an_item_without_a_scope_is_global() -> None:
    assert READER.remember(item(), now=NOW).scope == GLOBAL_SCOPE


REMEMBER_FAULTS = {
    "no user": (item(user_id=""), Reason.INVALID_FIELD, ["user_id"]),
    "blank user": (item(user_id="  "), Reason.INVALID_FIELD, ["user_id"]),
    "no conversation": (item(conversation_id=""), Reason.INVALID_FIELD, ["conversation_id"]),
    "long user": (item(user_id="u" * 129), Reason.TEXT_TOO_LONG, ["user_id"]),
    "long conversation": (item(conversation_id="c" * 129), Reason.TEXT_TOO_LONG, ["conversation_id"]),
    "long request id": (item(request_id="r" * 129), Reason.TEXT_TOO_LONG, ["request_id"]),
    "NUL in an id": (item(user_id="a\x00b"), Reason.INVALID_FIELD, ["user_id"]),
    "control character in a user id": (item(user_id="a\x1fb"), Reason.INVALID_FIELD, ["user_id"]),
    "newline in a conversation id": (item(conversation_id="c\n"), Reason.INVALID_FIELD, ["conversation_id"]),
    "delete in a request id": (item(request_id="r\x7f"), Reason.INVALID_FIELD, ["request_id"]),
    "blank request id": (item(request_id=" "), Reason.INVALID_FIELD, ["request_id"]),
    "NUL in a scope": (
        item(scope=common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_PROJECT, project_id="p\x00")),
        Reason.INVALID_FIELD,
        ["scope.project_id"],
    ),
    "blank scope": (
        item(scope=common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_TASK, task_id=" ")),
        Reason.INVALID_FIELD,
        ["scope.task_id"],
    ),
    "no turns": (item(turns=[]), Reason.INVALID_FIELD, ["turns"]),
    "too many turns": (item(turns=[turn()] * 257), Reason.TOO_MANY_ITEMS, ["turns"]),
    "no role": (item(turns=[turn(role=0)]), Reason.UNKNOWN_ENUM_VALUE, ["turns[0].role"]),
    "unknown role": (item(turns=[turn(), turn(role=99)]), Reason.UNKNOWN_ENUM_VALUE, ["turns[1].role"]),
    "no content": (item(turns=[turn(" ")]), Reason.INVALID_FIELD, ["turns[0].content"]),
    "long content": (item(turns=[turn("x" * 32_769)]), Reason.TEXT_TOO_LONG, ["turns[0].content"]),
    "NUL in the content": (item(turns=[turn("a\x00")]), Reason.INVALID_FIELD, ["turns[0].content"]),
    "long speaker": (item(turns=[turn(speaker="s" * 129)]), Reason.TEXT_TOO_LONG, ["turns[0].speaker"]),
    "confidence above 1": (item(turns=[turn(confidence=1.5)]), Reason.INVALID_FIELD, ["turns[0].confidence"]),
    "confidence not a number": (
        item(turns=[turn(confidence=float("nan"))]),
        Reason.INVALID_FIELD,
        ["turns[0].confidence"],
    ),
    "year before 1900": (item(turns=[turn(time=Timestamp(seconds=-2_208_988_801))]), *BAD_TIME),
    "year after 2200": (item(turns=[turn(time=Timestamp(seconds=7_289_654_400))]), *BAD_TIME),
    "end of the calendar": (item(turns=[turn(time=Timestamp(seconds=253_402_300_799, nanos=999_999_999))]), *BAD_TIME),
    "time out of range": (item(turns=[turn(time=Timestamp(seconds=2**62))]), *BAD_TIME),
    "nanoseconds out of range": (item(turns=[turn(time=Timestamp(nanos=1_000_000_000))]), *BAD_TIME),
    "negative nanoseconds": (item(turns=[turn(time=Timestamp(nanos=-1))]), *BAD_TIME),
    "NUL in a media type": (
        item(turns=[turn(attachments=[common_pb2.Attachment(mime_type="a\x00")])]),
        Reason.INVALID_FIELD,
        ["turns[0].attachments[0].mime_type"],
    ),
    "long media type": (
        item(turns=[turn(attachments=[common_pb2.Attachment(mime_type="a" * 256)])]),
        Reason.TEXT_TOO_LONG,
        ["turns[0].attachments[0].mime_type"],
    ),
    "NUL in a speaker": (item(turns=[turn(speaker="a\x00")]), Reason.INVALID_FIELD, ["turns[0].speaker"]),
    "NUL in a source": (item(turns=[turn(sources=["a\x00"])]), Reason.INVALID_FIELD, ["turns[0].sources[0]"]),
    "NUL in a metadata key": (
        item(turns=[turn(metadata={"a\x00": "b"})]),
        Reason.INVALID_FIELD,
        ["turns[0].metadata[a\x00]"],
    ),
    "NUL in a metadata value": (
        item(turns=[turn(metadata={"a": "b\x00"})]),
        Reason.INVALID_FIELD,
        ["turns[0].metadata[a]"],
    ),
    "more text in a turn than goes into answers": (
        item(turns=[turn(), turn("x" * 32_768, sources=["s" * 512] * 64, metadata={"k": "v"})]),
        Reason.TEXT_TOO_LONG,
        ["turns[1]"],
    ),
    "too many attachments": (
        item(turns=[turn(attachments=[common_pb2.Attachment(uri="u")] * 17)]),
        Reason.TOO_MANY_ITEMS,
        ["turns[0].attachments"],
    ),
    "long caption": (
        item(turns=[turn(attachments=[common_pb2.Attachment(caption="c" * 4_001)])]),
        Reason.TEXT_TOO_LONG,
        ["turns[0].attachments[0].caption"],
    ),
    "too many sources": (item(turns=[turn(sources=["s"] * 65)]), Reason.TOO_MANY_ITEMS, ["turns[0].sources"]),
    "long metadata": (
        item(turns=[turn(metadata={"k": "v" * 1_025})]),
        Reason.TEXT_TOO_LONG,
        ["turns[0].metadata[k]"],
    ),
    "impossible time": (
        item(turns=[turn(time=Timestamp(seconds=-(10**14)))]),
        Reason.INVALID_FIELD,
        ["turns[0].time"],
    ),
    "no scope level": (item(scope=common_pb2.Scope()), Reason.UNKNOWN_ENUM_VALUE, ["scope.level"]),
    "unknown scope level": (item(scope=UNKNOWN_SCOPE), Reason.UNKNOWN_ENUM_VALUE, ["scope.level"]),
    "project without its id": (
        item(scope=common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_PROJECT)),
        Reason.INVALID_FIELD,
        ["scope.project_id"],
    ),
    "id below the level": (
        item(scope=common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_GLOBAL, task_id="t")),
        Reason.INVALID_FIELD,
        ["scope.task_id"],
    ),
}


@pytest.mark.parametrize("fault", REMEMBER_FAULTS)
def test_spec_7_2_a_faulty_item_is_refused_by_the_path_of_its_field(fault: str) -> None:
    request, reason, paths = REMEMBER_FAULTS[fault]
    assert wrong(lambda: READER.remember(request, now=NOW)) == (reason, paths)


def test_all_faults_of_an_item_are_named_at_once() -> None:
    request = item(user_id="", turns=[turn(), turn("x" * 32_769), turn(role=0)], scope=common_pb2.Scope())
    reason, paths = wrong(lambda: READER.remember(request, now=NOW, path="items[4]."))
    assert reason is Reason.INVALID_FIELD
    assert paths == [
        "items[4].user_id",
        "items[4].turns[1].content",
        "items[4].turns[2].role",
        "items[4].scope.level",
    ]


def test_a_full_item_is_taken() -> None:
    request = item(user_id="u" * 128, turns=[turn("x" * 32_768)] * 256)
    assert len(READER.remember(request, now=NOW).turns) == 256


def test_spec_6_1_items_of_a_batch_are_judged_one_by_one() -> None:
    batch = memory_pb2.RememberBatchRequest(items=[item(), item(user_id=""), item(conversation_id="c2")])
    first, second, third = READER.remember_batch(batch, now=NOW)
    assert isinstance(first, RememberCommand)
    assert isinstance(second, InvalidArgument)
    assert [v.field_path for v in second.violations] == ["items[1].user_id"]
    assert isinstance(third, RememberCommand)
    assert third.conversation_id == "c2"


BATCH_FAULTS = {
    "empty": (memory_pb2.RememberBatchRequest(), Reason.INVALID_FIELD, ["items"]),
    "too many items": (memory_pb2.RememberBatchRequest(items=[item()] * 101), Reason.TOO_MANY_ITEMS, ["items"]),
    "too many turns": (
        memory_pb2.RememberBatchRequest(items=[item(turns=[turn()] * 101)] * 10),
        Reason.TOO_MANY_ITEMS,
        ["items[].turns"],
    ),
}


@pytest.mark.parametrize("fault", BATCH_FAULTS)
def test_spec_7_2_a_batch_beyond_its_limits_is_refused_as_a_whole(fault: str) -> None:
    request, reason, paths = BATCH_FAULTS[fault]
    assert wrong(lambda: READER.remember_batch(request, now=NOW)) == (reason, paths)


def test_spec_3_5_of_turns_without_a_time_the_later_one_was_said_later() -> None:
    batch = memory_pb2.RememberBatchRequest(items=[item(turns=[turn("a"), turn("b")]), item(turns=[turn("c")])])
    commands = [one for one in READER.remember_batch(batch, now=NOW) if not isinstance(one, InvalidArgument)]
    times = [said.time for command in commands for said in command.turns]
    assert times == [NOW, NOW + timedelta(microseconds=1), NOW + timedelta(microseconds=2)]


def named(memory_id: str, kind: tiers_pb2.MemoryKind = tiers_pb2.MEMORY_KIND_EPISODE) -> memory_pb2.MemoryReference:
    return memory_pb2.MemoryReference(kind=kind, memory_id=memory_id)


def judgement(**fields: Any) -> memory_pb2.FeedbackRequest:
    return memory_pb2.FeedbackRequest(
        **{
            "request_id": "r",
            "user_id": "ada",
            "memories": [named(ID)],
            "value": memory_pb2.FEEDBACK_VALUE_GOOD,
            **fields,
        }
    )


@pytest.mark.parametrize(("value", "stored"), [("GOOD", 1), ("BAD", -1), ("NONE", 0)])
def test_a_judgement_is_read(value: str, stored: int) -> None:
    command = READER.feedback(judgement(value=f"FEEDBACK_VALUE_{value}"))
    assert (command.value, command.memories, command.recall_id) == (stored, ((MemoryKind.EPISODE, ID),), "")
    command = READER.feedback(judgement(value=f"FEEDBACK_VALUE_{value}", memories=[], recall_id=ID))
    assert (command.value, command.memories, command.recall_id) == (stored, (), ID)


FEEDBACK_FAULTS = {
    "no request id": (judgement(request_id=""), Reason.INVALID_FIELD, ["request_id"]),
    "no user": (judgement(user_id=""), Reason.INVALID_FIELD, ["user_id"]),
    "no memories": (judgement(memories=[]), Reason.INVALID_FIELD, ["memories"]),
    "too many memories": (judgement(memories=[named(ID)] * 201), Reason.TOO_MANY_ITEMS, ["memories"]),
    "not an id": (judgement(memories=[named(ID), named("x")]), Reason.INVALID_FIELD, ["memories[1].memory_id"]),
    "no kind": (
        judgement(memories=[memory_pb2.MemoryReference(memory_id=ID)]),
        Reason.UNKNOWN_ENUM_VALUE,
        ["memories[0].kind"],
    ),
    "memories and a recall": (judgement(recall_id=ID), Reason.INVALID_FIELD, ["memories"]),
    "not a recall": (judgement(memories=[], recall_id="x"), Reason.INVALID_FIELD, ["recall_id"]),
    "an omitted value takes nothing back": (judgement(value=0), Reason.UNKNOWN_ENUM_VALUE, ["value"]),
}


@pytest.mark.parametrize("fault", FEEDBACK_FAULTS)
def test_a_faulty_judgement_is_refused_by_the_path_of_its_field(fault: str) -> None:
    request, reason, paths = FEEDBACK_FAULTS[fault]
    assert wrong(lambda: READER.feedback(request)) == (reason, paths)


def test_ids_of_other_requests_are_checked() -> None:
    assert wrong(lambda: READER.user(""))[1] == ["user_id"]
    assert wrong(lambda: READER.user("ada", conversation_id=""))[1] == ["conversation_id"]
    assert wrong(lambda: READER.user("ada", conversation_id="c", request_id=""))[1] == ["request_id"]


def test_page_sizes() -> None:
    assert [READER.page_of_user("ada", size) for size in (0, 7, 200, 1_000)] == [50, 7, 200, 200]
    assert wrong(lambda: READER.page_of_user("ada", -1)) == (Reason.INVALID_FIELD, ["page_size"])
    both = wrong(lambda: READER.page_of_user("", -1, conversation_id=""))
    assert both == (Reason.INVALID_FIELD, ["user_id", "conversation_id", "page_size"])


def test_the_tier_of_a_listing() -> None:
    request = deliveries_pb2.ListDeadLettersRequest
    assert READER.dead_letters(request()) == (None, 50)
    assert READER.dead_letters(request(tier=tiers_pb2.TIER_PROFILE, page_size=7)) == (Tier.PROFILE, 7)
    unknown = request(tier=tiers_pb2.TIER_UNSPECIFIED)
    assert wrong(lambda: READER.dead_letters(unknown)) == (Reason.UNKNOWN_ENUM_VALUE, ["tier"])


def test_dead_letters_to_retry() -> None:
    assert READER.retry(
        deliveries_pb2.RetryDeadLettersRequest(request_id="r", delivery_ids=["3", "4"])
    ).delivery_ids == (
        3,
        4,
    )
    none = deliveries_pb2.RetryDeadLettersRequest(request_id="r")
    assert wrong(lambda: READER.retry(none)) == (Reason.INVALID_FIELD, ["delivery_ids"])
    many = deliveries_pb2.RetryDeadLettersRequest(request_id="r", delivery_ids=map(str, range(1_001)))
    strange = deliveries_pb2.RetryDeadLettersRequest(request_id="r", delivery_ids=["3", "x", "-1"])
    assert wrong(lambda: READER.retry(strange)) == (Reason.INVALID_FIELD, ["delivery_ids[1]", "delivery_ids[2]"])
    assert wrong(lambda: READER.retry(many)) == (Reason.TOO_MANY_ITEMS, ["delivery_ids"])
