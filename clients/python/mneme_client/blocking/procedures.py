# Generated from aio/procedures.py by `make client`, not to be edited.
"""Procedures: learned patterns of how to search and how to respond."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from mneme.semantic.v1 import procedures_pb2
from mneme_client import from_wire_procedures as from_wire
from mneme_client import to_wire
from mneme_client.blocking.operations import Operations
from mneme_client.calls import PAGE_SIZE_MAX, Call, read_nothing, read_one, read_page
from mneme_client.enums import ProcedureKind
from mneme_client.results_procedures import Procedure
from mneme_client.types import Scope

_SERVICE = "/mneme.semantic.v1.ProcedureService"


class ProcedureOperations(Operations):
    """Creates, reads, updates and deletes procedures. Outcomes are given to a recall as a whole, by `feedback`."""

    def create_procedure(
        self,
        user_id: str,
        kind: ProcedureKind,
        action: str,
        *,
        trigger: str = "",
        expands: bool = False,
        initial_confidence: float | None = None,
        derived_from: Sequence[str] = (),
        scope: Scope | None = None,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> Procedure:
        """States a procedure. Fails with ALREADY_EXISTS if one of the kind and scope does the same for the trigger.

        Args:
            user_id: Whose memory.
            kind: What it changes.
            action: What it does: for QUERY_REWRITING the words that take the place of the trigger, for
                RETRIEVAL_STRATEGY a scoring profile, for SOURCE_SELECTION a source, for others a sentence.
            trigger: The words of a query that it is for. Empty: every query, which QUERY_REWRITING does not allow.
            expands: A rewriting adds the action behind the trigger instead of replacing it.
            initial_confidence: Confidence before the first outcome, in [0, 1]; None means 0.7.
            derived_from: Turns that it rests on, at most 64; it is deleted with the last of them.
            scope: For whose recalls: those that see this scope. None means GLOBAL.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.
        """
        request = procedures_pb2.CreateProcedureRequest(
            request_id=request_id or to_wire.new_request_id(),
            user_id=user_id,
            kind=to_wire.enum_number(kind),
            trigger=trigger,
            action=action,
            expands=expands,
            initial_confidence=initial_confidence,
            derived_from=derived_from,
            scope=to_wire.scope(scope),
        )
        read = read_one("procedure", from_wire.procedure)
        response = procedures_pb2.CreateProcedureResponse
        return self._call(Call(f"{_SERVICE}/CreateProcedure", request, response, read), timeout_seconds)

    def get_procedure(
        self, user_id: str, procedure_id: str, *, scope: Scope | None = None, timeout_seconds: float | None = None
    ) -> Procedure:
        """One procedure. Fails with NOT_FOUND.

        With `scope`, that of a reader, only what it sees; None means every scope.
        """
        request = procedures_pb2.GetProcedureRequest(
            user_id=user_id, procedure_id=procedure_id, reader_scope=to_wire.scope(scope)
        )
        read = read_one("procedure", from_wire.procedure)
        response = procedures_pb2.GetProcedureResponse
        return self._call(Call(f"{_SERVICE}/GetProcedure", request, response, read), timeout_seconds)

    def list_procedures(
        self,
        user_id: str,
        *,
        kind: ProcedureKind | None = None,
        page_size: int = PAGE_SIZE_MAX,
        scope: Scope | None = None,
        timeout_seconds: float | None = None,
    ) -> Iterator[Procedure]:
        """A user's procedures, newest first; pages are fetched as they are needed.

        Args:
            user_id: Whose.
            kind: Only this kind; None means all.
            page_size: How many each call fetches.
            scope: The reader's: only what it sees. None means every scope.
            timeout_seconds: Deadline of each call.
        """
        request = procedures_pb2.ListProceduresRequest(
            user_id=user_id,
            kind=to_wire.optional_enum_number(kind),
            page_size=page_size,
            reader_scope=to_wire.scope(scope),
        )
        read = read_page("procedures", from_wire.procedure)
        response = procedures_pb2.ListProceduresResponse
        return self._pages(Call(f"{_SERVICE}/ListProcedures", request, response, read), timeout_seconds)

    def update_procedure(
        self,
        user_id: str,
        procedure_id: str,
        *,
        trigger: str | None = None,
        action: str | None = None,
        expands: bool | None = None,
        initial_confidence: float | None = None,
        clear: Collection[str] = (),
        etag: str = "",
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> Procedure:
        """Changes a procedure; its outcomes stay. Values that are None stay as they are.

        Args:
            user_id: Whose memory.
            procedure_id: The procedure.
            trigger: The words of a query that it is for.
            action: What it does.
            expands: A rewriting adds the action behind the trigger instead of replacing it.
            initial_confidence: Confidence before the first outcome, in [0, 1].
            clear: Names of fields to clear: "trigger" and "expands".
            etag: The etag last read: the call fails with CONFLICT if it has changed since. Empty: unconditional.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.
        """
        values = to_wire.given(trigger=trigger, action=action, expands=expands, initial_confidence=initial_confidence)
        request = procedures_pb2.UpdateProcedureRequest(
            request_id=request_id or to_wire.new_request_id(),
            user_id=user_id,
            procedure_id=procedure_id,
            update_mask=to_wire.field_mask(values, clear),
            etag=etag,
            **values,
        )
        read = read_one("procedure", from_wire.procedure)
        response = procedures_pb2.UpdateProcedureResponse
        return self._call(Call(f"{_SERVICE}/UpdateProcedure", request, response, read), timeout_seconds)

    def delete_procedure(
        self,
        user_id: str,
        procedure_id: str,
        *,
        etag: str = "",
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> None:
        """Deletes a procedure; it may be learned again. Fails with NOT_FOUND, and with CONFLICT on another etag."""
        request = procedures_pb2.DeleteProcedureRequest(
            request_id=request_id or to_wire.new_request_id(), user_id=user_id, procedure_id=procedure_id, etag=etag
        )
        call = Call(f"{_SERVICE}/DeleteProcedure", request, procedures_pb2.DeleteProcedureResponse, read_nothing)
        self._call(call, timeout_seconds)
