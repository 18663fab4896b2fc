"""From requests about groups of similar facts to commands. Pure functions; they check form, never state."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from mneme.semantic.v1 import facts_pb2 as pb
from services.common.auth import Principal, Role
from services.common.idempotency.requests import idempotency_key
from services.common.paging import Cursor, PageTokens
from services.common.reading import chosen_reader, reader_identity
from services.common.validation import Violations
from services.semantic.commands import owner_of
from services.semantic.config import FactLimits
from services.semantic.facts.merge_groups import MergeDecision, MergeGroupId, MergePosition, MergeState
from services.semantic.facts.merging import ListMergeGroups, ResolveMergeGroup
from services.semantic.facts.model import FactId


def list_query(request: pb.ListMergeGroupsRequest) -> Cursor:
    """What must be the same for the next page."""
    return ("ListMergeGroups", request.user_id, int(request.state), *reader_identity(request))


def list_command(
    request: pb.ListMergeGroupsRequest, caller: Principal, *, limits: FactLimits, tokens: PageTokens
) -> ListMergeGroups:
    """Which page to read.

    Raises:
        InvalidArgument: A field is missing or malformed, or the token is another query's.
    """
    v = Violations()
    v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    if request.state:
        v.enum("state", request.state, MergeState)
    page_size = v.page_size(request.page_size, default=limits.page_size_default, maximum=limits.page_size_max)
    v.raise_if_any()
    cursor = tokens.decode(request.page_token, tenant_id=caller.tenant_id, query=list_query(request))
    return ListMergeGroups(
        owner=owner_of(request.user_id, caller),
        state=MergeState(request.state) if request.state else None,
        page_size=page_size,
        after=MergePosition(datetime.fromisoformat(str(cursor[0])), MergeGroupId(str(cursor[1]))) if cursor else None,
        include_low_confidence=caller.may(Role.ADMIN),
        reader=chosen_reader(request),
    )


def resolve_command(
    request: pb.ResolveMergeGroupRequest, caller: Principal, *, limits: FactLimits
) -> ResolveMergeGroup:
    """The decision.

    Raises:
        InvalidArgument: A field is missing or malformed, or a survivor is named without a union.
    """
    v = Violations()
    v.identifier("request_id", request.request_id, chars_max=limits.id_chars_max)
    v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    v.uuid("group_id", request.group_id)
    v.enum("decision", request.decision, MergeDecision)
    v.count("fact_ids", len(request.fact_ids), count_max=limits.ids_max)
    for i, fact_id in enumerate(request.fact_ids[: limits.ids_max]):
        v.uuid(f"fact_ids[{i}]", fact_id)
    if request.survivor_fact_id:
        v.uuid("survivor_fact_id", request.survivor_fact_id)
        if request.decision == pb.MERGE_DECISION_KEEP_APART:
            v.add("survivor_fact_id", "goes with MERGE_DECISION_UNITE alone")
    v.text("etag", request.etag, chars_max=limits.id_chars_max, required=False)
    v.raise_if_any()
    return ResolveMergeGroup(
        owner=owner_of(request.user_id, caller),
        key=idempotency_key(request, caller),
        group_id=MergeGroupId(str(UUID(request.group_id))),
        decision=MergeDecision(request.decision),
        fact_ids=tuple(FactId(str(UUID(fact_id))) for fact_id in request.fact_ids),
        survivor_id=FactId(str(UUID(request.survivor_fact_id))) if request.survivor_fact_id else None,
        etag=request.etag,
    )
