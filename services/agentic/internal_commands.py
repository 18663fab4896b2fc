"""From requests of mneme.agentic.internal.v1 to commands. Pure functions; they check form, never state."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from mneme.agentic.internal.v1 import notes_pb2 as pb
from services.agentic.commands import VectorForm, check_ids, check_search_bounds, check_time, owner_of
from services.agentic.config import NoteLimits
from services.agentic.model import NoteId
from services.agentic.service import SearchNotes
from services.agentic.use import NoteUse
from services.common.auth import Principal
from services.common.convert import moment
from services.common.convert_interactions import source_interaction_from_proto
from services.common.errors import InvalidArgument
from services.common.errors_grpc import item_status
from services.common.idempotency.model import IdempotencyKey
from services.common.idempotency.requests import idempotency_key
from services.common.interactions import SourceInteraction
from services.common.owners import InteractionId, Owner
from services.common.reading import reader_from_proto
from services.common.validation import Violations


@dataclass(frozen=True, slots=True)
class GenerationBatch:
    """The interactions of a request, in order: those that are valid, and why the others are not."""

    items: tuple[SourceInteraction | pb.GenerateNotesResult, ...]

    @property
    def sources(self) -> list[SourceInteraction]:
        """Those that are valid."""
        return [item for item in self.items if isinstance(item, SourceInteraction)]


def generation_batch(request: pb.GenerateNotesRequest, *, now: datetime, limits: NoteLimits) -> GenerationBatch:
    """The interactions to make notes from.

    Raises:
        InvalidArgument: There are none, or too many. A malformed one is a result of its own.
    """
    violations = Violations()
    count_max = limits.batch_interactions_max
    violations.count("interactions", len(request.interactions), count_max=count_max, count_min=1)
    violations.raise_if_any()
    items: list[SourceInteraction | pb.GenerateNotesResult] = []
    for i, message in enumerate(request.interactions):
        try:
            source = source_interaction_from_proto(
                message,
                f"interactions[{i}]",
                now=now,
                id_chars_max=limits.id_chars_max,
                turn_limits=limits.turn,
            )
            items.append(source)
        except InvalidArgument as error:
            items.append(pb.GenerateNotesResult(error=item_status(error)))
    return GenerationBatch(tuple(items))


def search_notes_command(
    request: pb.SearchNotesRequest, caller: Principal, *, limits: NoteLimits, vector_form: VectorForm
) -> SearchNotes:
    """What to search for.

    Raises:
        InvalidArgument: A field is missing or malformed, or the vector is of another model.
    """
    v = Violations()
    v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    check_search_bounds(v, request, limits)
    known_at, held_at = check_time(v, request, "known_at_time"), check_time(v, request, "as_of_time")
    v.raise_if_any()
    return SearchNotes(
        owner=owner_of(request.user_id, caller),
        query="",
        vector=vector_form.read(request.query_vector),
        reader=reader_from_proto(request.reader_scope, present=request.HasField("reader_scope")),
        limit=request.limit or limits.search_limit_default,
        hops=request.hops if request.HasField("hops") else limits.hops_default,
        known_at=known_at,
        held_at=held_at,
    )


def feedback_command(
    request: pb.RecordFeedbackRequest, caller: Principal, *, limits: NoteLimits
) -> tuple[Owner, list[NoteId], int, IdempotencyKey]:
    """Whose notes, which, how they are judged, and by which request.

    Raises:
        InvalidArgument: A field is missing or malformed, or there are too many ids.
    """
    v = Violations()
    v.identifier("request_id", request.request_id, chars_max=limits.id_chars_max)
    v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    ids = check_ids(v, "note_ids", request.note_ids, count_max=limits.judged_notes_max)
    if not request.HasField("feedback"):
        v.add("feedback", "is required")
    v.number("feedback", request.feedback, low=-1, high=1)
    v.raise_if_any()
    owner = owner_of(request.user_id, caller)
    return owner, [NoteId(i) for i in dict.fromkeys(ids)], request.feedback, idempotency_key(request, caller)


def use_command(request: pb.RecordUseRequest, caller: Principal, *, limits: NoteLimits) -> tuple[Owner, list[NoteUse]]:
    """Whose notes, and how they were used.

    Raises:
        InvalidArgument: A field is missing or malformed, or there are too many uses or notes.
    """
    v = Violations()
    v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    v.count("uses", len(request.uses), count_max=limits.batch_uses_max, count_min=1)
    v.raise_if_any()
    uses: dict[str, NoteUse] = {}
    for i, use in enumerate(request.uses):
        path = f"uses[{i}]"
        v.uuid(f"{path}.use_id", use.use_id)
        ids = check_ids(v, f"{path}.note_ids", use.note_ids, count_max=limits.use_notes_max)
        if not use.HasField("time"):
            v.add(f"{path}.time", "is required")
        v.raise_if_any()
        uses[use.use_id] = NoteUse(use.use_id, tuple(map(NoteId, ids)), moment(use.time, field_path=f"{path}.time"))
    return owner_of(request.user_id, caller), list(uses.values())


def remove_by_source_command(
    request: pb.RemoveBySourceRequest, caller: Principal, *, limits: NoteLimits
) -> tuple[Owner, list[InteractionId]]:
    """Which interactions to remove what was derived from.

    Raises:
        InvalidArgument: A field is missing or malformed.
    """
    v = Violations()
    v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    ids = check_ids(v, "interaction_ids", request.interaction_ids, count_max=limits.removed_sources_max)
    v.raise_if_any()
    return owner_of(request.user_id, caller), [InteractionId(i) for i in dict.fromkeys(ids)]


def remove_owner_command(request: pb.RemoveOwnerRequest, caller: Principal, *, limits: NoteLimits) -> Owner:
    """Whose notes to remove.

    Raises:
        InvalidArgument: The user is missing or malformed.
    """
    v = Violations()
    v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    v.number("notes_max", request.notes_max, low=0, high=limits.removed_notes_max)
    v.raise_if_any()
    return owner_of(request.user_id, caller)
