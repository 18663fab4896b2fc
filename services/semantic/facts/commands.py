"""From requests of mneme.semantic.v1.FactService to commands. Pure functions; they check form, never state."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from mneme.semantic.v1 import facts_pb2 as pb
from services.common import convert as common
from services.common.auth import Principal, Role, role_missing
from services.common.errors import InvalidArgument
from services.common.idempotency.requests import idempotency_key
from services.common.model_change import ModelChangeSettings
from services.common.model_comparison import ComparedQuestion
from services.common.model_comparison_rpc import compared_questions
from services.common.owners import InteractionId, Owner
from services.common.paging import Cursor, PageTokens
from services.common.reading import chosen_reader, reader_from_proto
from services.common.scope import GLOBAL_SCOPE, Reader
from services.common.validation import Violations
from services.semantic.commands import owner_of
from services.semantic.config import FactLimits
from services.semantic.facts.arguments import CreateFact, DeleteFact, ListFacts, SearchFacts, UpdateFact
from services.semantic.facts.model import ACTIVE, FactCategory, FactDraft, FactId, FactStatus, FactUse
from services.semantic.facts.store import FactFilter, FactPosition

_REQUIRED: Final = ("text", "category", "confidence", "importance")
_TIMES: Final = ("valid_from_time", "valid_to_time")
_UPDATABLE: Final = (*_REQUIRED, "subject", "predicate", "object", *_TIMES)
"""What a mask may name."""


@dataclass(frozen=True, slots=True)
class VectorForm:
    """What a query vector must be like."""

    model: str
    dimension: int


def create_fact_command(request: pb.CreateFactRequest, caller: Principal, *, limits: FactLimits) -> CreateFact:
    """The fact to store.

    Raises:
        InvalidArgument: A field is missing, malformed or over its limit; all of them are named.
    """
    v = Violations()
    v.identifier("request_id", request.request_id, chars_max=limits.id_chars_max)
    v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    v.text("text", request.text, chars_max=limits.text_chars_max)
    for name in ("subject", "predicate", "object"):
        v.text(name, getattr(request, name), chars_max=limits.part_chars_max, required=False)
    v.enum("category", request.category, FactCategory)
    for name in ("confidence", "importance"):
        if request.HasField(name):
            v.number(name, getattr(request, name), low=0.0, high=1.0)
    v.count("derived_from", len(request.derived_from), count_max=limits.derived_from_max)
    for i, interaction_id in enumerate(request.derived_from[: limits.derived_from_max]):
        v.uuid(f"derived_from[{i}]", interaction_id)
    scope = GLOBAL_SCOPE
    try:
        scope = common.scope_from_proto(request.scope, present=request.HasField("scope"), field_path="scope")
    except InvalidArgument as error:
        v.include(error)
    valid_from, valid_to = _validity(v, request)
    v.raise_if_any()
    return CreateFact(
        owner=owner_of(request.user_id, caller),
        key=idempotency_key(request, caller),
        draft=FactDraft(
            text=request.text,
            category=FactCategory(request.category),
            confidence=request.confidence if request.HasField("confidence") else limits.stated_confidence,
            importance=request.importance if request.HasField("importance") else limits.stated_importance,
            subject=request.subject,
            predicate=request.predicate,
            object=request.object,
            valid_from=valid_from,
            valid_to=valid_to,
        ),
        derived_from=tuple(dict.fromkeys(InteractionId(str(UUID(i))) for i in request.derived_from)),
        scope=scope,
    )


def update_fact_command(request: pb.UpdateFactRequest, caller: Principal, *, limits: FactLimits) -> UpdateFact:
    """Which values to set.

    Raises:
        InvalidArgument: A field is missing, malformed or over its limit, or the mask names an unknown one.
    """
    v = Violations()
    v.identifier("request_id", request.request_id, chars_max=limits.id_chars_max)
    v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    v.uuid("fact_id", request.fact_id)
    v.text("etag", request.etag, chars_max=limits.id_chars_max, required=False)
    for i, path in enumerate(request.update_mask.paths):
        if path not in _UPDATABLE:
            v.add(f"update_mask.paths[{i}]", f"{path[:64]!r} is no field that can be updated")
    names = [name for name in _UPDATABLE if request.HasField(name)]
    if request.update_mask.paths:
        names = [name for name in _UPDATABLE if name in request.update_mask.paths]
    for name in _REQUIRED:
        if name in names and not request.HasField(name):
            v.add(name, "cannot be cleared")
    if request.HasField("text"):
        v.text("text", request.text, chars_max=limits.text_chars_max)
    for name in ("subject", "predicate", "object"):
        v.text(name, getattr(request, name), chars_max=limits.part_chars_max, required=False)
    if request.HasField("category"):
        v.enum("category", request.category, FactCategory)
    for name in ("confidence", "importance"):
        v.number(name, getattr(request, name), low=0.0, high=1.0)
    valid_from, valid_to = _validity(v, request)
    v.raise_if_any()
    given: dict[str, Any] = {name: getattr(request, name) for name in names if name not in _TIMES}
    if "category" in given:
        given["category"] = FactCategory(given["category"])
    times = {"valid_from_time": ("valid_from", valid_from), "valid_to_time": ("valid_to", valid_to)}
    given.update(dict(times[name] for name in names if name in _TIMES))
    return UpdateFact(
        owner=owner_of(request.user_id, caller),
        key=idempotency_key(request, caller),
        fact_id=FactId(str(UUID(request.fact_id))),
        values=given,
        etag=request.etag,
    )


def delete_fact_command(request: pb.DeleteFactRequest, caller: Principal, *, limits: FactLimits) -> DeleteFact:
    """Which fact to delete.

    Raises:
        InvalidArgument: A field is missing or malformed.
    """
    v = Violations()
    v.identifier("request_id", request.request_id, chars_max=limits.id_chars_max)
    v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    v.uuid("fact_id", request.fact_id)
    v.text("etag", request.etag, chars_max=limits.id_chars_max, required=False)
    v.raise_if_any()
    return DeleteFact(
        owner=owner_of(request.user_id, caller),
        key=idempotency_key(request, caller),
        fact_id=FactId(str(UUID(request.fact_id))),
        etag=request.etag,
    )


def fact_key(request: pb.GetFactRequest, caller: Principal, *, limits: FactLimits) -> tuple[Owner, FactId]:
    """Which fact to read.

    Raises:
        InvalidArgument: A field is missing or malformed.
    """
    violations = Violations()
    violations.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    violations.uuid("fact_id", request.fact_id)
    violations.raise_if_any()
    return owner_of(request.user_id, caller), FactId(str(UUID(request.fact_id)))


def list_facts_command(
    request: pb.ListFactsRequest, caller: Principal, *, limits: FactLimits, tokens: PageTokens
) -> ListFacts:
    """Which page to read.

    Raises:
        InvalidArgument: A field is missing or malformed, or the token is another query's.
        PermissionDenied: Facts of low confidence are asked for by somebody who is no administrator.
    """
    v = Violations()
    v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    if request.HasField("category"):
        v.enum("category", request.category, FactCategory)
    for i, status in enumerate(request.statuses):
        v.enum(f"statuses[{i}]", status, FactStatus)
    for name in ("subject", "predicate"):
        v.text(name, getattr(request, name), chars_max=limits.part_chars_max, required=False)
    page_size = v.page_size(request.page_size, default=limits.page_size_default, maximum=limits.page_size_max)
    known_at, held_at = _known_at(v, request), _moment(v, request, "as_of_time")
    v.raise_if_any()
    if request.include_low_confidence and not caller.may(Role.ADMIN):
        raise role_missing(Role.ADMIN)
    cursor = tokens.decode(request.page_token, tenant_id=caller.tenant_id, query=list_query(request))
    return ListFacts(
        owner=owner_of(request.user_id, caller),
        which=FactFilter(
            FactCategory(request.category) if request.HasField("category") else None,
            frozenset(map(FactStatus, request.statuses)) or ACTIVE,
            request.subject,
            request.predicate,
            reader=chosen_reader(request),
        ),
        page_size=page_size,
        after=FactPosition(datetime.fromisoformat(str(cursor[0])), FactId(str(cursor[1]))) if cursor else None,
        include_low_confidence=request.include_low_confidence,
        known_at=known_at,
        held_at=held_at,
    )


def comparison_command(
    request: pb.GetFactModelComparisonRequest, caller: Principal, *, limits: FactLimits, settings: ModelChangeSettings
) -> tuple[Owner, list[ComparedQuestion], Reader]:
    """Whose facts two models are compared on, with which questions, and who reads.

    Raises:
        InvalidArgument: A field is missing, malformed or over its limit.
    """
    v = Violations()
    v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    questions = compared_questions(v, request.questions, settings)
    reader: Reader = GLOBAL_SCOPE
    try:
        reader = reader_from_proto(request.reader_scope, present=request.HasField("reader_scope"))
    except InvalidArgument as error:
        v.include(error)
    v.raise_if_any()
    return owner_of(request.user_id, caller), questions, reader


def search_facts_command(
    request: pb.SearchFactsRequest, caller: Principal, *, limits: FactLimits, vector_form: VectorForm
) -> SearchFacts:
    """What to search for.

    Raises:
        InvalidArgument: A field is missing or malformed, or the vector is of another model.
    """
    v = Violations()
    v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    has_vector = request.HasField("query_vector")
    v.text("query", request.query, chars_max=limits.query_chars_max, required=not has_vector)
    v.enum("use", request.use, FactUse)
    v.number("limit", request.limit, low=0, high=limits.limit_max)
    vector = None
    reader: Reader = GLOBAL_SCOPE
    try:
        reader = reader_from_proto(request.reader_scope, present=request.HasField("reader_scope"))
        if has_vector:
            vector = common.vector_from_proto(
                request.query_vector,
                model=vector_form.model,
                dimension=vector_form.dimension,
                field_path="query_vector",
            )
    except InvalidArgument as error:
        v.include(error)
    known_at, held_at = _known_at(v, request), _moment(v, request, "as_of_time")
    v.raise_if_any()
    return SearchFacts(
        owner=owner_of(request.user_id, caller),
        query=request.query,
        vector=vector,
        use=FactUse(request.use),
        reader=reader,
        limit=request.limit or limits.limit_default,
        known_at=known_at,
        held_at=held_at,
    )


def list_query(request: pb.ListFactsRequest) -> Cursor:
    """What must be the same on the next page."""
    query = pb.ListFactsRequest()
    query.CopyFrom(request)
    query.ClearField("page_size")
    query.ClearField("page_token")
    return ("ListFacts", query.SerializeToString(deterministic=True).hex())


def _known_at(v: Violations, request: pb.ListFactsRequest | pb.SearchFactsRequest) -> datetime | None:
    return _moment(v, request, "known_at_time")


def _moment(v: Violations, request: pb.ListFactsRequest | pb.SearchFactsRequest, name: str) -> datetime | None:
    if not request.HasField(name):
        return None
    try:
        return common.moment(getattr(request, name), field_path=name)
    except InvalidArgument as error:
        v.include(error)
        return None


def _validity(
    v: Violations, request: pb.CreateFactRequest | pb.UpdateFactRequest
) -> tuple[datetime | None, datetime | None]:
    valid_from = valid_to = None
    try:
        if request.HasField("valid_from_time"):
            valid_from = common.moment(request.valid_from_time, field_path="valid_from_time")
        if request.HasField("valid_to_time"):
            valid_to = common.moment(request.valid_to_time, field_path="valid_to_time")
    except InvalidArgument as error:
        v.include(error)
    if valid_from is not None and valid_to is not None and valid_to < valid_from:
        v.add("valid_to_time", "must not be before valid_from_time")
    return valid_from, valid_to
