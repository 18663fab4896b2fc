"""From requests of mneme.semantic.v1.FactService to commands. Pure functions; they check form, never state."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from mneme.semantic.v1 import facts_pb2 as pb
from services.common import convert as common
from services.common.auth import Principal
from services.common.convert_interactions import source_interaction_from_proto
from services.common.errors import InvalidArgument
from services.common.errors_grpc import item_status
from services.common.idempotency.requests import idempotency_key
from services.common.interactions import SourceInteraction
from services.common.owners import InteractionId, Owner
from services.common.paging import Cursor, PageTokens
from services.common.reading import reader_from_proto
from services.common.scope import GLOBAL_SCOPE, Reader
from services.common.validation import Violations
from services.semantic.commands import owner_of
from services.semantic.config import FactLimits
from services.semantic.facts.model import FactCategory, FactDraft, FactId, FactStatus, FactUse
from services.semantic.facts.service import CreateFact, ListFacts, SearchFacts
from services.semantic.facts.store import FactFilter, FactPosition


@dataclass(frozen=True, slots=True)
class VectorForm:
    """What a query vector must be like."""

    model: str
    dimension: int


@dataclass(frozen=True, slots=True)
class ExtractionBatch:
    """The interactions of a request, in order: those that are in form, and why the others are not."""

    items: tuple[SourceInteraction | pb.ExtractFactsResult, ...]

    @property
    def sources(self) -> list[SourceInteraction]:
        """Those that are in form."""
        return [item for item in self.items if isinstance(item, SourceInteraction)]


def extraction_batch(request: pb.ExtractFactsRequest, *, now: datetime, limits: FactLimits) -> ExtractionBatch:
    """The interactions to read.

    Raises:
        InvalidArgument: There are none, or too many. A malformed one is a result of its own.
    """
    violations = Violations()
    count_max = limits.batch_interactions_max
    violations.count("interactions", len(request.interactions), count_max=count_max, count_min=1)
    violations.raise_if_any()
    items: list[SourceInteraction | pb.ExtractFactsResult] = []
    for i, message in enumerate(request.interactions):
        path = f"interactions[{i}]"
        try:
            items.append(
                source_interaction_from_proto(
                    message, path, now=now, id_chars_max=limits.id_chars_max, turn_limits=limits.turn
                )
            )
        except InvalidArgument as error:
            items.append(pb.ExtractFactsResult(error=item_status(error)))
    return ExtractionBatch(tuple(items))


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
    valid_from: datetime | None = None
    try:
        scope = common.scope_from_proto(request.scope, present=request.HasField("scope"), field_path="scope")
        if request.HasField("valid_from_time"):
            valid_from = common.moment(request.valid_from_time, field_path="valid_from_time")
    except InvalidArgument as error:
        v.include(error)
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
        ),
        derived_from=tuple(dict.fromkeys(InteractionId(str(UUID(i))) for i in request.derived_from)),
        scope=scope,
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
    """
    v = Violations()
    v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    if request.HasField("category"):
        v.enum("category", request.category, FactCategory)
    if request.HasField("status"):
        v.enum("status", request.status, FactStatus)
    page_size = v.page_size(request.page_size, default=limits.page_size_default, maximum=limits.page_size_max)
    v.raise_if_any()
    cursor = tokens.decode(request.page_token, tenant_id=caller.tenant_id, query=list_query(request))
    return ListFacts(
        owner=owner_of(request.user_id, caller),
        which=FactFilter(
            FactCategory(request.category) if request.HasField("category") else None,
            FactStatus(request.status) if request.HasField("status") else None,
        ),
        page_size=page_size,
        after=FactPosition(datetime.fromisoformat(str(cursor[0])), FactId(str(cursor[1]))) if cursor else None,
    )


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
    v.number("top_k", request.top_k, low=0, high=limits.top_k_max)
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
    v.raise_if_any()
    return SearchFacts(
        owner=owner_of(request.user_id, caller),
        query=request.query,
        vector=vector,
        use=FactUse(request.use),
        reader=reader,
        top_k=request.top_k or limits.top_k_default,
    )


def list_query(request: pb.ListFactsRequest) -> Cursor:
    """What must be the same on the next page."""
    category = request.category if request.HasField("category") else 0
    status = request.status if request.HasField("status") else 0
    return ("ListFacts", request.user_id, category, status)
