"""From requests about procedures to what is asked for. Pure functions; they check form, never state."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from mneme.semantic.internal.v1 import semantic_pb2 as internal_pb
from mneme.semantic.v1 import procedures_pb2 as pb
from services.common import convert as common
from services.common.auth import Principal
from services.common.errors import InvalidArgument
from services.common.idempotency.requests import idempotency_key
from services.common.owners import InteractionId, Owner
from services.common.paging import Cursor, PageTokens
from services.common.reading import chosen_reader, reader_identity
from services.common.scope import GLOBAL_SCOPE, Reader, Scope
from services.common.validation import Violations
from services.semantic.commands import owner_of
from services.semantic.config import FactLimits, ProcedureSettings
from services.semantic.procedures.arguments import CreateProcedure, DeleteProcedure, UpdateProcedure
from services.semantic.procedures.model import (
    JudgedRecall,
    Observed,
    ProcedureDraft,
    ProcedureKind,
    ProcedurePosition,
    check_draft,
)
from services.semantic.procedures.observing import OBSERVED_KINDS

_UPDATABLE: Final = ("trigger", "action", "expands", "initial_confidence")
"""What a mask may name."""
_TASKS_MAX: Final = 2**31 - 1
_OBSERVED_KINDS: Final = frozenset(map(int, OBSERVED_KINDS))


@dataclass(frozen=True, slots=True)
class ListProcedures:
    """A page of a user's procedures."""

    owner: Owner
    kind: ProcedureKind | None
    page_size: int
    after: ProcedurePosition | None
    reader: Reader | None  # only what it sees; None: every scope


def create_command(
    request: pb.CreateProcedureRequest, caller: Principal, *, limits: FactLimits, settings: ProcedureSettings
) -> CreateProcedure:
    """The procedure to store.

    Raises:
        InvalidArgument: A field is missing, malformed or over its limit; all of them are named.
    """
    v = _writing(request, limits)
    scope = _scope(v, request.scope, present=request.HasField("scope"), field_path="scope")
    draft = None
    if v.enum("kind", request.kind, ProcedureKind):
        kind = ProcedureKind(request.kind)
        draft = ProcedureDraft(kind, *_texts(request.trigger, request.action), request.expands, scope.key)
        try:
            check_draft(draft, settings)
        except InvalidArgument as error:
            v.include(error)
    if request.HasField("initial_confidence"):
        v.number("initial_confidence", request.initial_confidence, low=0.0, high=1.0)
    v.count("derived_from", len(request.derived_from), count_max=settings.derived_from_max)
    for i, interaction_id in enumerate(request.derived_from[: settings.derived_from_max]):
        v.uuid(f"derived_from[{i}]", interaction_id)
    v.raise_if_any()
    if draft is None:
        raise AssertionError("unreachable: an unknown kind is a violation")
    given = request.initial_confidence if request.HasField("initial_confidence") else settings.initial_confidence
    return CreateProcedure(
        owner=owner_of(request.user_id, caller),
        key=idempotency_key(request, caller),
        draft=draft,
        initial_confidence=given,
        derived_from=tuple(dict.fromkeys(InteractionId(str(UUID(i))) for i in request.derived_from)),
    )


def update_command(request: pb.UpdateProcedureRequest, caller: Principal, *, limits: FactLimits) -> UpdateProcedure:
    """Which values to set; whether they fit the kind of the procedure is checked where it is known.

    Raises:
        InvalidArgument: A field is missing, malformed or over its limit, or the mask names an unknown one.
    """
    v = _writing(request, limits)
    v.uuid("procedure_id", request.procedure_id)
    v.text("etag", request.etag, chars_max=limits.id_chars_max, required=False)
    for i, path in enumerate(request.update_mask.paths):
        if path not in _UPDATABLE:
            v.add(f"update_mask.paths[{i}]", f"{path[:64]!r} is no field that can be updated")
    names = [name for name in _UPDATABLE if request.HasField(name)]
    if request.update_mask.paths:
        names = [name for name in _UPDATABLE if name in request.update_mask.paths]
    for name in ("action", "initial_confidence"):
        if name in names and not request.HasField(name):
            v.add(name, "cannot be cleared")
    v.number("initial_confidence", request.initial_confidence, low=0.0, high=1.0)
    v.raise_if_any()
    draft: dict[str, Any] = {name: getattr(request, name) for name in names if name != "initial_confidence"}
    texts = dict(zip(("trigger", "action"), _texts(request.trigger, request.action), strict=True))
    draft.update({name: text for name, text in texts.items() if name in draft})
    return UpdateProcedure(
        owner=owner_of(request.user_id, caller),
        key=idempotency_key(request, caller),
        procedure_id=str(UUID(request.procedure_id)),
        etag=request.etag,
        draft=draft,
        initial_confidence=request.initial_confidence if "initial_confidence" in names else None,
    )


def delete_command(request: pb.DeleteProcedureRequest, caller: Principal, *, limits: FactLimits) -> DeleteProcedure:
    """Which procedure to delete.

    Raises:
        InvalidArgument: A field is missing or malformed.
    """
    v = _writing(request, limits)
    v.uuid("procedure_id", request.procedure_id)
    v.text("etag", request.etag, chars_max=limits.id_chars_max, required=False)
    v.raise_if_any()
    return DeleteProcedure(
        owner_of(request.user_id, caller),
        idempotency_key(request, caller),
        str(UUID(request.procedure_id)),
        request.etag,
    )


def procedure_key(request: pb.GetProcedureRequest, caller: Principal, *, limits: FactLimits) -> tuple[Owner, str]:
    """Whose procedure, and which.

    Raises:
        InvalidArgument: A field is missing or malformed.
    """
    v = Violations()
    v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    v.uuid("procedure_id", request.procedure_id)
    v.raise_if_any()
    return owner_of(request.user_id, caller), str(UUID(request.procedure_id))


def list_query(request: pb.ListProceduresRequest) -> Cursor:
    """What must be the same for the next page."""
    return ("ListProcedures", request.user_id, int(request.kind), *reader_identity(request))


def list_command(
    request: pb.ListProceduresRequest, caller: Principal, *, limits: FactLimits, tokens: PageTokens
) -> ListProcedures:
    """Which page.

    Raises:
        InvalidArgument: A field is missing or malformed.
    """
    v = Violations()
    v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    if request.kind:
        v.enum("kind", request.kind, ProcedureKind)
    page_size = v.page_size(request.page_size, default=limits.page_size_default, maximum=limits.page_size_max)
    v.raise_if_any()
    cursor = tokens.decode(request.page_token, tenant_id=caller.tenant_id, query=list_query(request))
    after = None
    if cursor is not None:
        after = ProcedurePosition(datetime.fromisoformat(str(cursor[0])), str(cursor[1]))
    kind = ProcedureKind(request.kind) if request.kind else None
    return ListProcedures(owner_of(request.user_id, caller), kind, page_size, after, chosen_reader(request))


def judged_recall(
    request: internal_pb.JudgeRecallRequest, caller: Principal, *, limits: FactLimits
) -> tuple[Owner, JudgedRecall]:
    """Whose recall, and its judgement.

    Raises:
        InvalidArgument: A field is missing or malformed.
    """
    v = Violations()
    v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    v.uuid("recall_id", request.recall_id)
    v.uuid("judgement_id", request.judgement_id)
    if not request.HasField("feedback"):
        v.add("feedback", "is required")
    v.number("feedback", request.feedback, low=-1, high=1)
    v.count("procedure_ids", len(request.procedure_ids), count_max=limits.ids_max)
    for i, procedure_id in enumerate(request.procedure_ids[: limits.ids_max]):
        v.uuid(f"procedure_ids[{i}]", procedure_id)
    scope = _scope(v, request.reader_scope, present=request.HasField("reader_scope"), field_path="reader_scope")
    time = None
    try:
        time = common.moment(request.recall_time, field_path="recall_time")
    except InvalidArgument as error:
        v.include(error)
    v.raise_if_any()
    if time is None:
        raise AssertionError("unreachable: an unreadable time is a violation")
    return owner_of(request.user_id, caller), JudgedRecall(
        recall_id=str(UUID(request.recall_id)),
        judgement_id=str(UUID(request.judgement_id)),
        feedback=request.feedback,
        query=request.query,
        scope_key=scope.key,
        time=time,
        procedure_ids=tuple(dict.fromkeys(str(UUID(i)) for i in request.procedure_ids)),
    )


def observed_procedures(
    request: internal_pb.ObserveProceduresRequest,
    caller: Principal,
    *,
    limits: FactLimits,
    settings: ProcedureSettings,
) -> tuple[Owner, list[Observed]]:
    """Whose log, and what it shows.

    Raises:
        InvalidArgument: A field is missing, malformed or over its limit; all of them are named.
    """
    v = Violations()
    v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    v.count("procedures", len(request.procedures), count_max=settings.observed_max)
    found: list[Observed] = []
    for i, one in enumerate(request.procedures[: settings.observed_max]):
        at = f"procedures[{i}]"
        if int(one.kind) not in _OBSERVED_KINDS:
            v.add(f"{at}.kind", "must be CO_EDIT, ERROR_FIX or REFACTOR")
            continue
        v.text(f"{at}.trigger", one.trigger, chars_max=settings.trigger_chars_max)
        v.text(f"{at}.action", one.action, chars_max=settings.action_chars_max)
        v.number(f"{at}.observed_count", one.observed_count, low=1, high=_TASKS_MAX)
        v.number(f"{at}.contrary_count", one.contrary_count, low=0, high=_TASKS_MAX)
        scope = _scope(v, one.scope, present=one.HasField("scope"), field_path=f"{at}.scope")
        draft = ProcedureDraft(ProcedureKind(one.kind), *_texts(one.trigger, one.action), scope_key=scope.key)
        found.append(Observed(draft, one.observed_count, one.contrary_count))
    v.raise_if_any()
    return owner_of(request.user_id, caller), found


def _writing(
    request: pb.CreateProcedureRequest | pb.UpdateProcedureRequest | pb.DeleteProcedureRequest, limits: FactLimits
) -> Violations:
    v = Violations()
    v.identifier("request_id", request.request_id, chars_max=limits.id_chars_max)
    v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    return v


def _texts(trigger: str, action: str) -> tuple[str, str]:
    """As they are stored: equal ones are recognised whatever white space they were written with."""
    return " ".join(trigger.split()), action.strip()


def _scope(v: Violations, message: Any, *, present: bool, field_path: str) -> Scope:
    try:
        return common.scope_from_proto(message, present=present, field_path=field_path)
    except InvalidArgument as error:
        v.include(error)
        return GLOBAL_SCOPE
