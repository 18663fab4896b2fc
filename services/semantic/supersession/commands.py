"""From requests about supersessions to what is asked for. Pure functions; they check form, never state."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from mneme.semantic.internal.v1 import semantic_pb2 as internal_pb
from mneme.semantic.v1 import supersessions_pb2 as pb
from services.common.auth import Principal
from services.common.convert import moment
from services.common.errors import InvalidArgument
from services.common.owners import InteractionId, Owner, TenantId, UserId
from services.common.paging import Cursor, PageTokens
from services.common.validation import Violations
from services.semantic.config import FactLimits
from services.semantic.supersession.model import Decision, State, SupersessionPosition


@dataclass(frozen=True, slots=True)
class ListSupersessions:
    """A page of a user's supersessions."""

    owner: Owner
    state: State | None
    page_size: int
    after: SupersessionPosition | None


@dataclass(frozen=True, slots=True)
class MarkSuperseded:
    """Statements, and the turn that corrects them."""

    owner: Owner
    statements: tuple[tuple[InteractionId, str], ...]
    standing_id: InteractionId
    end_time: datetime
    about: str = ""  # in words; empty: all that the statements say
    is_called_wrong: bool = False  # they are the words that were called wrong


def list_query(request: pb.ListSupersessionsRequest) -> Cursor:
    """What must be the same for the next page."""
    return ("ListSupersessions", request.user_id, int(request.state))


def list_command(
    request: pb.ListSupersessionsRequest, caller: Principal, *, limits: FactLimits, tokens: PageTokens
) -> ListSupersessions:
    """Which page.

    Raises:
        InvalidArgument: A field is missing or malformed.
    """
    v = Violations()
    v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    if request.state:
        v.enum("state", request.state, State)
    if request.page_size < 0:
        v.add("page_size", "must not be negative")
    if request.HasField("reader_scope"):
        v.add("reader_scope", "is the gateway's, which asks for the turns of pairs: their places are not known here")
    v.raise_if_any()
    cursor = tokens.decode(request.page_token, tenant_id=caller.tenant_id, query=list_query(request))
    after = None
    if cursor is not None:
        after = SupersessionPosition(datetime.fromisoformat(str(cursor[0])), str(cursor[1]))
    return ListSupersessions(
        owner=_owner(request.user_id, caller),
        state=State(request.state) if request.state else None,
        page_size=min(request.page_size or limits.page_size_default, limits.page_size_max),
        after=after,
    )


def resolve_command(
    request: pb.ResolveSupersessionRequest, caller: Principal, *, limits: FactLimits
) -> tuple[Owner, str, Decision]:
    """Which supersession, and the decision.

    Raises:
        InvalidArgument: A field is missing or malformed.
    """
    v = Violations()
    v.identifier("request_id", request.request_id, chars_max=limits.id_chars_max)
    v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    v.identifier("supersession_id", request.supersession_id, chars_max=limits.id_chars_max)
    v.enum("decision", request.decision, Decision)
    v.raise_if_any()
    return _owner(request.user_id, caller), request.supersession_id, Decision(request.decision)


def mark_command(
    request: internal_pb.MarkSupersededRequest, caller: Principal, *, limits: FactLimits
) -> MarkSuperseded:
    """Which statements, and the turn that corrects them.

    Raises:
        InvalidArgument: A field is missing or malformed, or there are too many statements.
    """
    v = Violations()
    v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    v.count("statements", len(request.statements), count_max=limits.ids_max, count_min=1)
    for i, named in enumerate(request.statements[: limits.ids_max]):
        v.uuid(f"statements[{i}].interaction_id", named.interaction_id)
        v.text(f"statements[{i}].statement", named.statement, chars_max=limits.text_chars_max, required=False)
    v.uuid("standing_interaction_id", request.standing_interaction_id)
    v.text("about", request.about, chars_max=limits.text_chars_max, required=False)
    end_time = None
    try:
        end_time = moment(request.end_time, field_path="end_time")
    except InvalidArgument as error:
        v.include(error)
    v.raise_if_any()
    if end_time is None:
        raise AssertionError("unreachable: an unreadable time is a violation")
    return MarkSuperseded(
        owner=_owner(request.user_id, caller),
        statements=tuple((_interaction_id(named.interaction_id), named.statement) for named in request.statements),
        standing_id=_interaction_id(request.standing_interaction_id),
        end_time=end_time,
        about=request.about,
        is_called_wrong=request.about_called_wrong,
    )


def _owner(user_id: str, caller: Principal) -> Owner:
    return Owner(TenantId(caller.tenant_id), UserId(user_id))


def _interaction_id(text: str) -> InteractionId:
    return InteractionId(str(UUID(text)))
