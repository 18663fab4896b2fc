"""From the model to messages of mneme.agentic.internal.v1. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mneme.agentic.internal.v1 import notes_pb2 as pb
from services.agentic.convert import DecayOf, write_hits
from services.agentic.internal_commands import GenerationBatch
from services.agentic.model import GenerationResult, ScoredNote
from services.agentic.removal import OwnerRemoval, SourceRemoval
from services.agentic.use import UseCounts
from services.common.interactions import SourceInteraction


def generation_response(batch: GenerationBatch, results: Iterable[GenerationResult]) -> pb.GenerateNotesResponse:
    """One result for each interaction of the batch, in order."""
    remaining = iter(results)
    return pb.GenerateNotesResponse(
        results=[
            _generation_result(next(remaining)) if isinstance(item, SourceInteraction) else item for item in batch.items
        ]
    )


def search_notes_response(
    hits: Sequence[ScoredNote], *, bytes_max: int, decay: DecayOf, lacks_notes: bool
) -> pb.SearchNotesResponse:
    """The best hits, in order, as many as fit."""
    response = pb.SearchNotesResponse(degraded=lacks_notes)
    response.omitted_count = write_hits(response.hits, hits, bytes_max=bytes_max, decay=decay)
    return response


def record_use_response(counts: UseCounts) -> pb.RecordUseResponse:
    """What the batch changed."""
    return pb.RecordUseResponse(
        counted_uses=counts.uses, strengthened_links=counts.strengthened, created_links=counts.created
    )


def remove_by_source_response(removal: SourceRemoval) -> pb.RemoveBySourceResponse:
    """How much was removed."""
    removed = removal.removed
    return pb.RemoveBySourceResponse(
        removed_notes=removed.notes, changed_notes=removal.changed_notes, removed_links=removed.links
    )


def remove_owner_response(removal: OwnerRemoval) -> pb.RemoveOwnerResponse:
    """How much was removed."""
    removed = removal.removed
    return pb.RemoveOwnerResponse(
        removed_notes=removed.notes,
        removed_links=removed.links,
        destroyed_data_keys=removed.data_keys,
        has_more=removal.has_more,
    )


def _generation_result(result: GenerationResult) -> pb.GenerateNotesResult:
    return pb.GenerateNotesResult(
        response=pb.GeneratedNotes(interaction_id=result.interaction_id, note_ids=result.note_ids)
    )
