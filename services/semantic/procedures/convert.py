"""From procedures to messages of mneme.semantic.v1. Pure functions; requests are read in `commands.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from mneme.semantic.v1 import procedures_pb2 as pb
from services.common import convert as common
from services.common.auth import Principal
from services.common.owners import UserId
from services.common.paging import PageTokens
from services.common.scope import Scope
from services.semantic.procedures.commands import list_query
from services.semantic.procedures.model import Procedure, ProcedurePosition


def procedure_to_proto(procedure: Procedure, user_id: str) -> pb.Procedure:
    """The procedure as a message."""
    draft = procedure.draft
    return pb.Procedure(
        procedure_id=procedure.procedure_id,
        user_id=user_id,
        kind=cast("pb.ProcedureKind", int(draft.kind)),
        trigger=draft.trigger,
        action=draft.action,
        expands=draft.expands,
        confidence=procedure.confidence,
        initial_confidence=procedure.initial_confidence,
        success_count=procedure.success_count,
        failure_count=procedure.failure_count,
        origin=cast("pb.ProcedureOrigin", int(procedure.origin)),
        derived_from=procedure.derived_from,
        scope=common.scope_to_proto(Scope.from_key(draft.scope_key)),
        create_time=common.timestamp(procedure.create_time),
        update_time=common.timestamp(procedure.update_time),
        etag=procedure.etag,
        observed_count=procedure.observed_count,
        contrary_count=procedure.contrary_count,
    )


def list_response(
    page: Sequence[Procedure],
    position: ProcedurePosition | None,
    request: pb.ListProceduresRequest,
    caller: Principal,
    *,
    tokens: PageTokens,
) -> pb.ListProceduresResponse:
    """A page with the token of the next one."""
    cursor = None if position is None else (position.create_time.isoformat(), position.procedure_id)
    token = tokens.next_token(cursor, tenant_id=caller.tenant_id, query=list_query(request))
    user_id = UserId(request.user_id)
    return pb.ListProceduresResponse(
        procedures=[procedure_to_proto(procedure, user_id) for procedure in page], next_page_token=token
    )
