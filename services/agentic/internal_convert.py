"""From the model to messages of mneme.agentic.internal.v1. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mneme.agentic.internal.v1 import notes_pb2 as pb
from services.agentic.convert import write_hits
from services.agentic.internal_commands import GenerationBatch
from services.agentic.model import GenerationResult, NoteSource, ScoredNote


def generation_response(batch: GenerationBatch, results: Iterable[GenerationResult]) -> pb.GenerateNotesResponse:
    """One result for each interaction of the batch, in order."""
    remaining = iter(results)
    return pb.GenerateNotesResponse(
        results=[_generation_result(next(remaining)) if isinstance(item, NoteSource) else item for item in batch.items]
    )


def search_notes_response(hits: Sequence[ScoredNote], *, bytes_max: int) -> pb.SearchNotesResponse:
    """The best hits, in order, as many as fit."""
    response = pb.SearchNotesResponse()
    response.left_out_count = write_hits(response.hits, hits, bytes_max=bytes_max)
    return response


def _generation_result(result: GenerationResult) -> pb.GenerateNotesResult:
    return pb.GenerateNotesResult(
        response=pb.GeneratedNotes(interaction_id=result.interaction_id, note_ids=result.note_ids)
    )
