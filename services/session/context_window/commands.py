"""From the messages of context windows to checked commands. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias

from mneme.session.internal.v1 import context_internal_pb2 as internal_pb
from mneme.session.v1 import context_window_pb2 as pb
from services.common.auth import Principal
from services.common.convert import moment, scope_from_proto
from services.common.errors import InvalidArgument, Reason
from services.common.idempotency.model import IdempotencyKey
from services.common.idempotency.requests import idempotency_key
from services.common.owners import Owner, TenantId, UserId
from services.common.paging import Cursor, PageTokens
from services.common.scope import GLOBAL_SCOPE
from services.common.validation import Violations
from services.session.context_window.config import WindowLimits
from services.session.context_window.model import (
    AddCommand,
    CommitCommand,
    ContextItem,
    ItemKind,
    PlanCommand,
    SnapshotItem,
    ToolCall,
    UpdateCommand,
)
from services.session.model import ConversationId, SessionKey

_ListRequest: TypeAlias = pb.ListContextItemsRequest | pb.ListContextSnapshotsRequest
_INTERNAL_ITEMS_MAX: Final = 512
_LINES_MAX: Final = 2**31 - 1


def window_key(request: Any, principal: Principal, *, limits: WindowLimits) -> SessionKey:
    """Checks which window a request names.

    Raises:
        InvalidArgument: Names every wrong field.
    """
    violations = Violations()
    key = _key(request, principal, limits, violations)
    violations.raise_if_any()
    return key


def delete_command(
    request: pb.DeleteContextWindowRequest, principal: Principal, *, limits: WindowLimits
) -> tuple[SessionKey, IdempotencyKey]:
    """Checks a DeleteContextWindow.

    Raises:
        InvalidArgument: Names every wrong field.
    """
    violations = _writing(request, limits)
    key = _key(request, principal, limits, violations)
    violations.raise_if_any()
    return key, idempotency_key(request, principal)


def update_command(
    request: pb.UpdateContextWindowRequest, principal: Principal, *, limits: WindowLimits
) -> UpdateCommand:
    """Checks an UpdateContextWindow.

    Raises:
        InvalidArgument: Names every wrong field.
    """
    violations = _writing(request, limits)
    key = _key(request, principal, limits, violations)
    max_tokens = request.max_tokens if request.HasField("max_tokens") else None
    if max_tokens is not None:
        violations.number("max_tokens", max_tokens, low=limits.max_tokens_min, high=limits.max_tokens_max)
    task_id = request.current_task_id if request.HasField("current_task_id") else None
    violations.identifier("current_task_id", task_id or "", chars_max=limits.id_chars_max, required=False)
    ttl = None
    if request.HasField("ttl"):
        low, high = limits.ttl_min.total_seconds(), limits.ttl_max.total_seconds()
        if violations.number("ttl", request.ttl.seconds + request.ttl.nanos / 1e9, low=low, high=high, unit="s"):
            ttl = timedelta(seconds=request.ttl.seconds, microseconds=request.ttl.nanos // 1_000)
    violations.raise_if_any()
    return UpdateCommand(
        key=key,
        max_tokens=max_tokens,
        current_task_id=task_id,
        ttl=ttl,
        idempotency_key=idempotency_key(request, principal),
    )


def add_command(
    request: pb.AddContextItemsRequest, principal: Principal, *, now: datetime, limits: WindowLimits
) -> AddCommand:
    """Checks an AddContextItems; items without a time are of `now`.

    Raises:
        InvalidArgument: Names every wrong field.
    """
    violations = _writing(request, limits)
    key = _key(request, principal, limits, violations)
    items: Sequence[ContextItem] = ()
    if violations.count("items", len(request.items), count_min=1, count_max=limits.add_items_max):
        items = _items("items", request.items, now, limits, violations)
    violations.raise_if_any()
    return AddCommand(
        key=key,
        items=tuple(items),
        create_if_missing=request.create_if_missing,
        idempotency_key=idempotency_key(request, principal),
    )


def prune_command(request: pb.PruneContextWindowRequest, principal: Principal, *, limits: WindowLimits) -> PlanCommand:
    """Checks a PruneContextWindow.

    Raises:
        InvalidArgument: Names every wrong field.
    """
    return PlanCommand(key=window_key(request, principal, limits=limits), force=request.force)


def plan_command(request: internal_pb.PlanContextRequest, principal: Principal, *, limits: WindowLimits) -> PlanCommand:
    """Checks a PlanContext.

    Raises:
        InvalidArgument: Names every wrong field.
    """
    return PlanCommand(
        key=window_key(request, principal, limits=limits),
        incoming_tokens=request.incoming_tokens,
        force=request.force,
        create_if_missing=request.create_if_missing,
        no_pruning=request.no_pruning,
        idempotency_key=IdempotencyKey(principal.principal_id, request.request_id, request.digest),
    )


def commit_command(
    request: internal_pb.CommitContextRequest, principal: Principal, *, now: datetime, limits: WindowLimits
) -> CommitCommand:
    """Checks a CommitContext.

    Raises:
        InvalidArgument: Names every wrong field.
    """
    violations = Violations()
    key = _key(request, principal, limits, violations)
    violations.count("added", len(request.added), count_max=_INTERNAL_ITEMS_MAX)
    added = _items("added", request.added, now, limits, violations)
    for index, one in enumerate(request.removed):
        violations.enum(f"removed[{index}].kind", one.kind, ItemKind)
    violations.raise_if_any()
    return CommitCommand(
        key=key,
        idempotency_key=IdempotencyKey(principal.principal_id, request.request_id, request.digest),
        revision=request.revision,
        create_if_missing=request.create_if_missing,
        removed=tuple(
            SnapshotItem(
                one.item_id,
                ItemKind(one.kind),
                one.token_count,
                one.score,
                one.episode_id,
                one.relevance if one.HasField("relevance") else None,
            )
            for one in request.removed
        ),
        reason=request.reason,
        added=tuple(added),
        current_task_id=request.current_task_id if request.HasField("current_task_id") else None,
        token_budget=request.token_budget,
        overhead_tokens=request.overhead_tokens,
        with_items=request.with_items,
        note=request.note,
    )


def page_of(
    request: _ListRequest, principal: Principal, *, limits: WindowLimits, tokens: PageTokens
) -> tuple[SessionKey, int, str | int | float | None]:
    """Checks a listing: the window, the size of the page, and what the page comes behind.

    Raises:
        InvalidArgument: Names every wrong field; the page token, when it was issued for another query.
    """
    violations = Violations()
    key = _key(request, principal, limits, violations)
    size = violations.page_size(request.page_size, default=limits.page_size_default, maximum=limits.page_size_max)
    violations.raise_if_any()
    cursor = tokens.decode(request.page_token, tenant_id=principal.tenant_id, query=list_identity(request))
    return key, size, cursor[0] if cursor is not None else None


def list_identity(request: _ListRequest) -> Cursor:
    """What must be the same for the next page."""
    return (type(request).__name__, request.user_id, request.conversation_id)


def _writing(request: Any, limits: WindowLimits) -> Violations:
    """What is wrong with the id of a write.

    The idempotency key itself is made of the message as it was sent: what the service fills in, such as times and ids,
    differs in a repeat.
    """
    violations = Violations()
    violations.identifier("request_id", request.request_id, chars_max=limits.id_chars_max)
    return violations


def _key(request: Any, principal: Principal, limits: WindowLimits, violations: Violations) -> SessionKey:
    violations.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    violations.identifier("conversation_id", request.conversation_id, chars_max=limits.conversation_id_chars_max)
    owner = Owner(TenantId(principal.tenant_id), UserId(request.user_id))
    return SessionKey(owner, ConversationId(request.conversation_id))


def _items(
    name: str, messages: Sequence[pb.ContextItem], now: datetime, limits: WindowLimits, violations: Violations
) -> list[ContextItem]:
    items: list[ContextItem] = []
    for index, message in enumerate(messages):
        path = f"{name}[{index}]"
        try:
            items.append(_item(message, path, now, limits))
        except InvalidArgument as error:
            violations.include(error)
    return items


def _item(message: pb.ContextItem, path: str, now: datetime, limits: WindowLimits) -> ContextItem:
    violations = Violations()
    ids = {"item_id": message.item_id, "task_id": message.task_id, "tool_name": message.tool_name}
    for name, value in ids.items():
        violations.identifier(f"{path}.{name}", value, chars_max=limits.id_chars_max, required=False)
    is_kind = violations.enum(f"{path}.kind", message.kind, ItemKind)
    kind = ItemKind(message.kind) if is_kind else ItemKind.USER_MESSAGE
    violations.text(
        f"{path}.content",
        message.content,
        chars_max=limits.turn.content_chars_max,
        required=not message.tool_calls,
    )
    violations.identifier(
        f"{path}.tool_call_id",
        message.tool_call_id,
        chars_max=limits.id_chars_max,
        required=kind is ItemKind.TOOL_RESULT,
    )
    relevance = message.relevance if message.HasField("relevance") else 1.0
    violations.number(f"{path}.relevance", relevance, low=0.0, high=1.0)
    for name, line in (("start_line", message.start_line), ("end_line", message.end_line)):
        violations.number(f"{path}.{name}", line, low=0, high=_LINES_MAX)
    violations.text(f"{path}.file_path", message.file_path, chars_max=limits.path_chars_max, required=False)
    violations.text(f"{path}.query", message.query, chars_max=limits.query_chars_max, required=False)
    _check_lists(message, path, limits, violations, kind)
    has_time, has_scope = message.HasField("create_time"), message.HasField("scope")
    create_time = now
    if has_time:
        create_time = violations.read(lambda: moment(message.create_time, field_path=f"{path}.create_time"), now)
    scope = violations.read(
        lambda: scope_from_proto(message.scope, present=has_scope, field_path=f"{path}.scope"), GLOBAL_SCOPE
    )
    violations.raise_if_any()
    return ContextItem(
        item_id=message.item_id,
        kind=kind,
        content=message.content,
        create_time=create_time,
        token_count=0,
        relevance=relevance,
        task_id=message.task_id,
        dependency_ids=tuple(message.dependency_ids),
        is_sticky=message.sticky if message.HasField("sticky") else kind is ItemKind.SYSTEM_PROMPT,
        scope=scope,
        tool_calls=tuple(ToolCall(call.id, call.name, call.arguments) for call in message.tool_calls),
        tool_call_id=message.tool_call_id,
        tool_name=message.tool_name,
        file_path=message.file_path,
        start_line=message.start_line,
        end_line=message.end_line,
        query=message.query,
    )


def _check_lists(
    message: pb.ContextItem, path: str, limits: WindowLimits, violations: Violations, kind: ItemKind
) -> None:
    violations.count(f"{path}.dependency_ids", len(message.dependency_ids), count_max=limits.dependencies_max)
    for index, needed in enumerate(message.dependency_ids):
        violations.identifier(f"{path}.dependency_ids[{index}]", needed, chars_max=limits.id_chars_max)
    if message.tool_calls and kind is not ItemKind.ASSISTANT_RESPONSE:
        violations.add(f"{path}.tool_calls", "only an assistant response calls tools")
    violations.count(f"{path}.tool_calls", len(message.tool_calls), count_max=limits.tool_calls_max)
    for index, call in enumerate(message.tool_calls):
        call_path = f"{path}.tool_calls[{index}]"
        violations.identifier(f"{call_path}.id", call.id, chars_max=limits.id_chars_max)
        violations.identifier(f"{call_path}.name", call.name, chars_max=limits.id_chars_max)
        violations.text(f"{call_path}.arguments", call.arguments, chars_max=limits.details_chars_max, required=False)
    details = len(message.file_path) + len(message.query) + sum(map(len, message.dependency_ids))
    details += sum(len(call.id) + len(call.name) + len(call.arguments) for call in message.tool_calls)
    if details > limits.details_chars_max:
        description = f"has {details} characters beside its content, at most {limits.details_chars_max} are allowed"
        facts = {"limit": str(limits.details_chars_max), "actual": str(details)}
        violations.add(path, description, reason=Reason.TEXT_TOO_LONG, facts=facts)
