# Generated from aio/supersessions.py by `make client`, not to be edited.
"""Supersessions: which statements of a user hold no more, and which wait for a decision."""

from __future__ import annotations

from collections.abc import Iterator

from mneme.semantic.v1 import supersessions_pb2
from mneme_client import from_wire_supersessions as from_wire
from mneme_client import to_wire
from mneme_client.blocking.operations import Operations
from mneme_client.calls import PAGE_SIZE_MAX, Call, read_one, read_page
from mneme_client.enums_decisions import (
    SupersessionDecision,
    SupersessionState,
)
from mneme_client.results_supersessions import Supersession
from mneme_client.types import Scope

_SERVICE = "/mneme.semantic.v1.SupersessionService"


class SupersessionOperations(Operations):
    """Lists superseded statements, and decides about those that wait."""

    def list_supersessions(
        self,
        user_id: str,
        *,
        state: SupersessionState = SupersessionState.UNSPECIFIED,
        page_size: int = PAGE_SIZE_MAX,
        scope: Scope | None = None,
        timeout_seconds: float | None = None,
    ) -> Iterator[Supersession]:
        """A user's supersessions, newest first; pages are fetched as they are needed.

        Args:
            user_id: Whose.
            state: Only those in this state; `SupersessionState.PENDING` are those that wait for a decision.
            page_size: How many each call fetches.
            scope: The reader's: only pairs of which it sees both turns. None means every scope.
            timeout_seconds: Deadline of each call.
        """
        request = supersessions_pb2.ListSupersessionsRequest(
            user_id=user_id, state=to_wire.enum_number(state), page_size=page_size, reader_scope=to_wire.scope(scope)
        )
        read = read_page("supersessions", from_wire.supersession)
        response = supersessions_pb2.ListSupersessionsResponse
        return self._pages(Call(f"{_SERVICE}/ListSupersessions", request, response, read), timeout_seconds)

    def resolve_supersession(
        self,
        user_id: str,
        supersession_id: str,
        decision: SupersessionDecision,
        *,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> Supersession:
        """Decides which of two statements stands, or that both do. A decision can be changed by another one."""
        request = supersessions_pb2.ResolveSupersessionRequest(
            request_id=request_id or to_wire.new_request_id(),
            user_id=user_id,
            supersession_id=supersession_id,
            decision=to_wire.enum_number(decision),
        )
        read = read_one("supersession", from_wire.supersession)
        response = supersessions_pb2.ResolveSupersessionResponse
        return self._call(Call(f"{_SERVICE}/ResolveSupersession", request, response, read), timeout_seconds)
