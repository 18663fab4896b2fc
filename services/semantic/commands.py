"""From requests of mneme.semantic.internal.v1 to what is asked for. Pure functions; they check form, never state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from mneme.semantic.internal.v1 import semantic_pb2 as pb
from mneme.semantic.v1 import profile_pb2
from services.common.auth import Principal
from services.common.convert import scope_from_proto
from services.common.convert_interactions import source_interaction_from_proto
from services.common.errors import InvalidArgument
from services.common.errors_grpc import item_status
from services.common.idempotency.model import IdempotencyKey
from services.common.idempotency.requests import idempotency_key
from services.common.interactions import SourceInteraction
from services.common.owners import InteractionId, Owner, TenantId, UserId
from services.common.scope import Scope
from services.common.validation import Violations
from services.semantic.config import FactLimits
from services.semantic.facts.model import FactId


@dataclass(frozen=True, slots=True)
class ExtractionBatch:
    """The interactions of a request, in order: those that are in form, and why the others are not."""

    items: tuple[SourceInteraction | pb.ExtractFactsResult, ...]

    @property
    def sources(self) -> list[SourceInteraction]:
        """Those that are in form."""
        return [item for item in self.items if isinstance(item, SourceInteraction)]


def owner_of(user_id: str, caller: Principal) -> Owner:
    """Whose memory: the tenant is the credential's."""
    return Owner(TenantId(caller.tenant_id), UserId(user_id))


def extraction_batch(request: pb.ExtractFactsRequest, *, now: datetime, limits: FactLimits) -> ExtractionBatch:
    """The interactions to read.

    Raises:
        InvalidArgument: There are none, or too many. A malformed one is a result of its own.
    """
    items: list[SourceInteraction | pb.ExtractFactsResult] = []
    for item in _interactions(request, now=now, limits=limits):
        if isinstance(item, InvalidArgument):
            items.append(pb.ExtractFactsResult(error=item_status(item)))
        else:
            items.append(item)
    return ExtractionBatch(tuple(items))


def observed_interactions(
    request: pb.ObserveInteractionsRequest, *, now: datetime, limits: FactLimits
) -> list[SourceInteraction]:
    """The interactions to count.

    Raises:
        InvalidArgument: There are none or too many, or one of them is malformed: the batch is refused as a whole.
    """
    violations = Violations()
    sources: list[SourceInteraction] = []
    for item in _interactions(request, now=now, limits=limits):
        if isinstance(item, InvalidArgument):
            violations.include(item)
        else:
            sources.append(item)
    violations.raise_if_any()
    return sources


def judgement(
    request: pb.JudgeInteractionsRequest, caller: Principal, *, limits: FactLimits
) -> tuple[Owner, list[InteractionId], int]:
    """Whose interactions, which, and how they are judged.

    Raises:
        InvalidArgument: A field is missing or malformed, or there are too many ids.
    """
    feedback = _feedback(request)
    ids = _ids("interaction_ids", request.user_id, request.interaction_ids, limits)
    return owner_of(request.user_id, caller), [InteractionId(i) for i in ids], feedback


def fact_judgement(
    request: pb.RecordFeedbackRequest, caller: Principal, *, limits: FactLimits
) -> tuple[Owner, list[FactId], int, IdempotencyKey]:
    """Whose facts, which, how they are judged, and by which request.

    Raises:
        InvalidArgument: A field is missing or malformed, or there are too many ids.
    """
    violations = Violations()
    violations.identifier("request_id", request.request_id, chars_max=limits.id_chars_max)
    violations.raise_if_any()
    feedback = _feedback(request)
    ids = _ids("fact_ids", request.user_id, request.fact_ids, limits)
    return owner_of(request.user_id, caller), [FactId(i) for i in ids], feedback, idempotency_key(request, caller)


def profile_reader(
    request: pb.GetReadingProfileRequest | profile_pb2.GetProfileRequest, caller: Principal, *, limits: FactLimits
) -> tuple[Owner, Scope]:
    """Whose profile, and where its reader stands.

    Raises:
        InvalidArgument: A field is missing or malformed.
    """
    violations = Violations()
    violations.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    violations.raise_if_any()
    present = request.HasField("reader_scope")
    return owner_of(request.user_id, caller), scope_from_proto(
        request.reader_scope, present=present, field_path="reader_scope"
    )


def named_facts(
    request: pb.ArchiveFactsRequest | pb.RestoreFactsRequest, caller: Principal, *, limits: FactLimits
) -> tuple[Owner, list[FactId]]:
    """Whose facts, and which.

    Raises:
        InvalidArgument: A field is missing or malformed, or there are too many ids.
    """
    ids = _ids("fact_ids", request.user_id, request.fact_ids, limits)
    return owner_of(request.user_id, caller), [FactId(i) for i in ids]


def named_sources(
    request: pb.RemoveBySourceRequest, caller: Principal, *, limits: FactLimits
) -> tuple[Owner, list[InteractionId]]:
    """Whose interactions, and which.

    Raises:
        InvalidArgument: A field is missing or malformed, or there are too many ids.
    """
    ids = _ids("interaction_ids", request.user_id, request.interaction_ids, limits)
    return owner_of(request.user_id, caller), [InteractionId(i) for i in ids]


def named_owner(request: pb.RemoveOwnerRequest | pb.GetMarksRequest, caller: Principal, *, limits: FactLimits) -> Owner:
    """Whose memory to remove, or to read.

    Raises:
        InvalidArgument: The user id is missing or malformed.
    """
    violations = Violations()
    violations.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    violations.raise_if_any()
    return owner_of(request.user_id, caller)


def forgotten_scope(request: pb.ForgetQueriesRequest, caller: Principal, *, limits: FactLimits) -> tuple[Owner, Scope]:
    """Whose queries to remove, and of which scope.

    Raises:
        InvalidArgument: The user id or the scope is missing or malformed.
    """
    violations = Violations()
    violations.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    violations.raise_if_any()
    scope = scope_from_proto(request.scope, present=request.HasField("scope"), field_path="scope")
    return owner_of(request.user_id, caller), scope


def _interactions(
    request: pb.ExtractFactsRequest | pb.ObserveInteractionsRequest, *, now: datetime, limits: FactLimits
) -> list[SourceInteraction | InvalidArgument]:
    violations = Violations()
    count_max = limits.batch_interactions_max
    violations.count("interactions", len(request.interactions), count_max=count_max, count_min=1)
    violations.raise_if_any()
    found: list[SourceInteraction | InvalidArgument] = []
    for i, message in enumerate(request.interactions):
        try:
            found.append(
                source_interaction_from_proto(
                    message,
                    f"interactions[{i}]",
                    now=now,
                    id_chars_max=limits.id_chars_max,
                    turn_limits=limits.turn,
                )
            )
        except InvalidArgument as error:
            found.append(error)
    return found


def _feedback(request: pb.JudgeInteractionsRequest | pb.RecordFeedbackRequest) -> int:
    violations = Violations()
    if not request.HasField("feedback"):
        violations.add("feedback", "is required")
    violations.number("feedback", request.feedback, low=-1, high=1)
    violations.raise_if_any()
    return request.feedback


def _ids(name: str, user_id: str, ids: Sequence[str], limits: FactLimits) -> list[str]:
    violations = Violations()
    violations.identifier("user_id", user_id, chars_max=limits.id_chars_max)
    violations.count(name, len(ids), count_max=limits.ids_max, count_min=1)
    for i, value in enumerate(ids[: limits.ids_max]):
        violations.uuid(f"{name}[{i}]", value)
    violations.raise_if_any()
    return list(dict.fromkeys(str(UUID(value)) for value in ids))
