"""From requests of the activity log to what is asked for. Pure functions; they check form, never state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from mneme.episodic.internal.v1 import activity_internal_pb2 as internal_pb
from mneme.episodic.v1 import activity_pb2 as pb
from services.common.auth import Principal
from services.common.convert import moment, scope_from_proto
from services.common.errors import InvalidArgument
from services.common.owners import Owner, TenantId, UserId
from services.common.paging import Cursor, PageTokens
from services.common.reading import reader_from_proto
from services.common.scope import Scope
from services.common.validation import Violations
from services.episodic.activity import convert
from services.episodic.activity.config import ActivityLimits
from services.episodic.activity.model import (
    FileOperation,
    LearningKind,
    PatternKind,
    Record,
    TaskIntent,
    TaskStatus,
)
from services.episodic.activity.store import Position

if TYPE_CHECKING:
    from google.protobuf.message import Message

_SECONDS_MAX: Final = 315_576_000_000
"""The longest duration of protobuf."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What all reads have."""

    owner: Owner
    scope_keys: tuple[str, ...]
    size: int = 0  # of a page
    after: Cursor | None = None  # of a page

    @property
    def position(self) -> Position | None:
        """Where a page of a list begins that is newest first."""
        if self.after is None:
            return None
        return Position(datetime.fromisoformat(str(self.after[0])), str(self.after[1]))


@dataclass(frozen=True, slots=True)
class TimeBounds:
    """Which times of records are accepted."""

    oldest: datetime
    newest: datetime


def owner_of(user_id: str, caller: Principal) -> Owner:
    """Whose log."""
    return Owner(TenantId(caller.tenant_id), UserId(user_id))


def pattern_owner(request: internal_pb.ListOwnerPatternsRequest, caller: Principal, limits: ActivityLimits) -> Owner:
    """Whose patterns are listed.

    Raises:
        InvalidArgument: The user id is missing or malformed.
    """
    v = Violations()
    v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    v.raise_if_any()
    return owner_of(request.user_id, caller)


def records_of(
    request: pb.RecordActivityRequest | pb.RecordActivityStreamRequest | internal_pb.AppendActivityRequest,
    bounds: TimeBounds,
    limits: ActivityLimits,
) -> list[Record]:
    """The records of a write.

    Raises:
        InvalidArgument: A field is missing, malformed or over its limit.
    """
    v = Violations()
    if isinstance(request, pb.RecordActivityRequest):
        v.identifier("request_id", request.request_id, chars_max=limits.id_chars_max)
    v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    v.count("records", len(request.records), count_max=limits.batch_max, count_min=1)
    v.raise_if_any()
    found: list[Record] = []
    for place, message in enumerate(request.records):
        path = f"records[{place}]."
        is_good = _check_record(v, path, message, bounds, limits)
        try:
            scope = scope_from_proto(message.scope, present=message.HasField("scope"), field_path=f"{path}scope")
        except InvalidArgument as error:
            v.include(error)
            continue
        if is_good:
            found.append(convert.record_from_proto(message, scope.key))
    v.raise_if_any()
    return found


def query_of(request: Any, caller: Principal, *, limits: ActivityLimits, tokens: PageTokens | None = None) -> Query:
    """What a read asks for; with `tokens`, a page.

    Raises:
        InvalidArgument: A field is missing, malformed or over its limit.
    """
    v = Violations()
    v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    fields = request.DESCRIPTOR.fields_by_name
    for name in ("conversation_id", "task_id", "tool_name", "except_task_id"):
        if name in fields:
            is_required = isinstance(request, pb.GetTaskRequest) and name == "task_id"
            v.identifier(name, getattr(request, name), chars_max=limits.id_chars_max, required=is_required)
    for name in ("path", "path_prefix"):
        if name in fields:
            is_required = isinstance(request, pb.GetFileHistoryRequest)
            v.identifier(name, getattr(request, name), chars_max=limits.path_chars_max, required=is_required)
    if "confidence_min" in fields:
        v.number("confidence_min", request.confidence_min, low=0, high=1)
    if "limit" in fields:
        v.number("limit", request.limit, low=0, high=limits.limit_max)
    if "query" in fields:
        is_task = isinstance(request, pb.SearchTasksRequest)
        v.text("query", request.query, chars_max=limits.query_chars_max if is_task else limits.search_chars_max)
    if "statuses" in fields:
        for place, status in enumerate(request.statuses):
            v.enum(f"statuses[{place}]", status, TaskStatus)
    for name, known in (("operation", FileOperation), ("kind", _kinds(request))):
        if name in fields and getattr(request, name):
            v.enum(name, getattr(request, name), known)
    size = 0
    if tokens is not None:
        size = v.page_size(request.page_size, default=limits.page_size_default, maximum=limits.page_size_max)
    v.raise_if_any()
    reader = reader_from_proto(request.reader_scope, present=request.HasField("reader_scope"))
    after = None
    if tokens is not None:
        after = tokens.decode(request.page_token, tenant_id=caller.tenant_id, query=list_query(request))
    return Query(
        owner=owner_of(request.user_id, caller), scope_keys=tuple(reader.visible_keys()), size=size, after=after
    )


def since_of(request: pb.ListEditedTogetherRequest | pb.ListToolStatisticsRequest) -> datetime | None:
    """From when on; None where it is not given.

    Raises:
        InvalidArgument: It is out of range.
    """
    return moment(request.since, field_path="since") if request.HasField("since") else None


def within_of(request: pb.ListEditedTogetherRequest, limits: ActivityLimits) -> float | None:
    """How far apart edits may be, in seconds; None where it is not given.

    Raises:
        InvalidArgument: It, or the least count, is out of range.
    """
    v = Violations()
    v.number("count_min", request.count_min, low=0, high=limits.edited_count_max)
    seconds = request.within.seconds + request.within.nanos / 1e9
    if request.HasField("within") and not 0 < seconds <= limits.within_seconds_max:
        v.add("within", f"must be above 0 and at most {limits.within_seconds_max:g} s")
    v.raise_if_any()
    return seconds if request.HasField("within") else None


def list_query(request: Message) -> Cursor:
    """What must be the same for the next page: all but the page itself."""
    content = type(request)()
    content.CopyFrom(request)
    content.ClearField("page_size")
    content.ClearField("page_token")
    return (request.DESCRIPTOR.name, content.SerializeToString(deterministic=True).hex())


def removed_scope(request: internal_pb.RemoveActivityRequest, limits: ActivityLimits) -> Scope | None:
    """The scope that is removed, after all else was checked; None where it is something else.

    Raises:
        InvalidArgument: Nothing is named, or more than one kind of thing.
    """
    v = Violations()
    named = (request.conversation_id, request.HasField("scope"), request.all_of_user, request.all_of_tenant)
    if sum(map(bool, named)) != 1:
        v.add("conversation_id", "or scope or all_of_user or all_of_tenant is required, and only one")
    if request.all_of_tenant and request.user_id:
        v.add("user_id", "must be empty where everything of the tenant is removed")
    elif not request.all_of_tenant:
        v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    v.identifier("conversation_id", request.conversation_id, chars_max=limits.id_chars_max, required=False)
    v.raise_if_any()
    if not request.HasField("scope"):
        return None
    return scope_from_proto(request.scope, present=True, field_path="scope")


def _kinds(request: Any) -> type:
    return PatternKind if isinstance(request, pb.ListPatternsRequest) else LearningKind


def _check_record(
    v: Violations, path: str, message: pb.ActivityRecord, bounds: TimeBounds, limits: ActivityLimits
) -> bool:
    kind = message.WhichOneof("content")
    good = v.identifier(f"{path}record_id", message.record_id, chars_max=limits.id_chars_max)
    good &= v.identifier(f"{path}conversation_id", message.conversation_id, chars_max=limits.id_chars_max)
    good &= v.identifier(f"{path}task_id", message.task_id, chars_max=limits.id_chars_max, required=kind == "task")
    if not message.HasField("time"):
        v.add(f"{path}time", "is required")
        good = False
    else:
        try:
            time = moment(message.time, field_path=f"{path}time")
        except InvalidArgument as error:
            v.include(error)
            return False
        if not bounds.oldest <= time <= bounds.newest:
            v.add(f"{path}time", f"must be from {bounds.oldest:%Y-%m-%d} on, and at most a day ahead")
            good = False
    if kind is None:
        v.add(f"{path}content", "is required")
        return False
    return good & bool(_CHECKS[kind](v, f"{path}{kind}.", getattr(message, kind), limits))


def _check_texts(v: Violations, path: str, message: Any, names: Sequence[str], chars_max: int) -> bool:
    found = [v.text(f"{path}{name}", getattr(message, name), chars_max=chars_max, required=False) for name in names]
    return all(found)


def _check_tool(v: Violations, path: str, message: pb.ToolExecution, limits: ActivityLimits) -> bool:
    good = v.identifier(f"{path}tool_name", message.tool_name, chars_max=limits.id_chars_max)
    good &= _check_texts(v, path, message, ("parameters", "result"), limits.payload_chars_max)
    good &= _check_texts(v, path, message, ("error_message",), limits.text_chars_max)
    good &= v.number(f"{path}duration", message.duration.seconds, low=0, high=_SECONDS_MAX)
    good &= v.number(f"{path}duration", message.duration.nanos, low=0, high=999_999_999)
    return good & v.number(f"{path}context_tokens", message.context_tokens, low=0, high=2**62)


def _check_file(v: Violations, path: str, message: pb.FileInteraction, limits: ActivityLimits) -> bool:
    good = v.identifier(f"{path}path", message.path, chars_max=limits.path_chars_max)
    good &= v.identifier(f"{path}previous_path", message.previous_path, chars_max=limits.path_chars_max, required=False)
    good &= v.enum(f"{path}operation", message.operation, FileOperation)
    good &= _check_texts(v, path, message, ("reason", "changes_summary"), limits.text_chars_max)
    good &= v.number(f"{path}start_line", message.start_line, low=0, high=2**31 - 1)
    return good & v.number(f"{path}end_line", message.end_line, low=message.start_line, high=2**31 - 1)


def _check_task(v: Violations, path: str, message: pb.TaskState, limits: ActivityLimits) -> bool:
    good = _check_texts(v, path, message, ("description", "outcome"), limits.text_chars_max)
    good &= v.enum(f"{path}intent", message.intent, TaskIntent)
    return good & v.enum(f"{path}status", message.status, TaskStatus)


def _check_snapshot(v: Violations, path: str, message: pb.ContextSnapshot, limits: ActivityLimits) -> bool:
    good = v.identifier(f"{path}reason", message.reason, chars_max=limits.id_chars_max)
    good &= v.count(f"{path}items", len(message.items), count_max=limits.snapshot_items_max)
    good &= v.number(f"{path}total_tokens", message.total_tokens, low=0, high=2**62)
    for place, item in enumerate(message.items[: limits.snapshot_items_max]):
        of_item = f"{path}items[{place}]."
        good &= v.identifier(f"{of_item}item_id", item.item_id, chars_max=limits.id_chars_max)
        good &= v.identifier(f"{of_item}kind", item.kind, chars_max=limits.id_chars_max, required=False)
        good &= v.number(f"{of_item}token_count", item.token_count, low=0, high=2**31 - 1)
        good &= v.number(f"{of_item}relevance", item.relevance, low=0, high=1e9)
        good &= v.number(f"{of_item}score", item.score, low=0, high=1e9)
    return good


def _check_learning(v: Violations, path: str, message: pb.Learning, limits: ActivityLimits) -> bool:
    good = v.enum(f"{path}kind", message.kind, LearningKind)
    good &= v.text(f"{path}text", message.text, chars_max=limits.text_chars_max)
    good &= v.identifier(f"{path}path", message.path, chars_max=limits.path_chars_max, required=False)
    return good & v.number(f"{path}confidence", message.confidence, low=0, high=1)


_CHECKS: Final[dict[str, Any]] = {
    "tool_execution": _check_tool,
    "file_interaction": _check_file,
    "task": _check_task,
    "context_snapshot": _check_snapshot,
    "learning": _check_learning,
}


def time_bounds(now: datetime, *, months: int, future_seconds: float) -> TimeBounds:
    """Times of records that are accepted: those of the months that are stored, and a little ahead."""
    return TimeBounds(first_month(now, months), now + timedelta(seconds=future_seconds))


def first_month(now: datetime, months: int) -> datetime:
    """The first moment of the month that is so many months before this one."""
    number = now.year * 12 + now.month - 1 - months
    return now.replace(year=number // 12, month=number % 12 + 1, day=1, hour=0, minute=0, second=0, microsecond=0)
