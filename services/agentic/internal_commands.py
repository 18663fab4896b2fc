"""From requests of mneme.agentic.internal.v1 to commands. Pure functions; they check form, never state."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from mneme.agentic.internal.v1 import notes_pb2 as pb
from services.agentic.commands import VectorForm, check_search_bounds
from services.agentic.config import NoteLimits
from services.agentic.model import InteractionId, NoteSource, Owner, TenantId, UserId
from services.agentic.service import SearchNotes
from services.common import convert as common
from services.common.auth import Principal
from services.common.errors import InvalidArgument
from services.common.errors_grpc import item_status
from services.common.reading import reader_from_proto
from services.common.scope import GLOBAL_SCOPE
from services.common.validation import Violations


@dataclass(frozen=True, slots=True)
class GenerationBatch:
    """The interactions of a request, in order: those that are in form, and why the others are not."""

    items: tuple[NoteSource | pb.GenerateNotesResult, ...]

    @property
    def sources(self) -> list[NoteSource]:
        """Those that are in form."""
        return [item for item in self.items if isinstance(item, NoteSource)]


def generation_batch(request: pb.GenerateNotesRequest, *, now: datetime, limits: NoteLimits) -> GenerationBatch:
    """The interactions to take.

    Raises:
        InvalidArgument: There are none, or too many. A malformed one is a result of its own.
    """
    violations = Violations()
    count_max = limits.batch_interactions_max
    violations.count("interactions", len(request.interactions), count_max=count_max, count_min=1)
    violations.raise_if_any()
    items: list[NoteSource | pb.GenerateNotesResult] = []
    for i, message in enumerate(request.interactions):
        try:
            items.append(_note_source(message, f"interactions[{i}]", now=now, limits=limits))
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
    v.raise_if_any()
    return SearchNotes(
        owner=Owner(TenantId(caller.tenant_id), UserId(request.user_id)),
        query="",
        vector=vector_form.read(request.query_vector),
        reader=reader_from_proto(request.reader_scope, present=request.HasField("reader_scope")),
        limit=request.limit or limits.search_limit_default,
        hops=request.hops if request.HasField("hops") else limits.hops_default,
    )


def _note_source(message: pb.NoteSource, path: str, *, now: datetime, limits: NoteLimits) -> NoteSource:
    v = Violations()
    v.uuid(f"{path}.interaction_id", message.interaction_id)
    v.identifier(f"{path}.user_id", message.user_id, chars_max=limits.id_chars_max)
    v.identifier(f"{path}.conversation_id", message.conversation_id, chars_max=limits.id_chars_max)
    if message.position < 0:
        v.add(f"{path}.position", "must not be negative")
    scope = GLOBAL_SCOPE
    turn = None
    try:
        scope = common.scope_from_proto(message.scope, present=message.HasField("scope"), field_path=f"{path}.scope")
        turn = common.turn_from_proto(message.turn, now=now, field_path=f"{path}.turn", limits=limits.turn)
    except InvalidArgument as error:
        v.include(error)
    v.raise_if_any("the interaction is not valid")
    assert turn is not None
    return NoteSource(
        interaction_id=InteractionId(str(UUID(message.interaction_id))),
        user_id=UserId(message.user_id),
        conversation_id=message.conversation_id,
        position=message.position,
        turn=turn,
        scope=scope,
    )
