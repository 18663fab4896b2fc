"""From results to messages of mneme.semantic.internal.v1; requests are read in `commands.py`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final

from mneme.semantic.internal.v1 import semantic_pb2 as pb
from mneme.semantic.v1 import facts_pb2, supersessions_pb2
from services.common.interactions import SourceInteraction
from services.common.owners import Owner
from services.semantic.commands import ExtractionBatch
from services.semantic.facts.model import ExtractionResult
from services.semantic.procedures.convert import procedure_to_proto
from services.semantic.procedures.model import Procedure
from services.semantic.profile.model import Learned
from services.semantic.supersession.convert import supersession_to_proto
from services.semantic.supersession.model import Marks

_FEW: Final = 200
"""Marks that are converted in less than a few milliseconds."""


def extraction_response(batch: ExtractionBatch, results: Iterable[ExtractionResult]) -> pb.ExtractFactsResponse:
    """One result for each interaction of the batch, in order."""
    remaining = iter(results)
    return pb.ExtractFactsResponse(
        results=[_result(next(remaining)) if isinstance(item, SourceInteraction) else item for item in batch.items]
    )


async def candidates_response(facts: facts_pb2.SearchFactsResponse, marks: Marks) -> pb.SearchCandidatesResponse:
    """Facts, and the superseded and reduced statements where the caller has not cached them."""
    superseded, reduced = await _marks_to_proto(marks)
    return pb.SearchCandidatesResponse(
        facts=facts,
        revision=marks.revision,
        superseded=superseded,
        reduced=reduced,
        incremental=marks.is_incremental,
        degraded=facts.degraded,
    )


async def marks_response(marks: Marks) -> pb.GetMarksResponse:
    """The superseded and reduced statements where the caller has not cached them."""
    superseded, reduced = await _marks_to_proto(marks)
    return pb.GetMarksResponse(
        revision=marks.revision, superseded=superseded, reduced=reduced, incremental=marks.is_incremental
    )


async def _marks_to_proto(marks: Marks) -> tuple[list[supersessions_pb2.Supersession], ...]:
    """Superseded and reduced statements; many of them on a thread, since they take longer than the loop may wait."""

    def converted() -> tuple[list[supersessions_pb2.Supersession], ...]:
        kinds = (marks.superseded or (), marks.reduced)
        return tuple([supersession_to_proto(one) for one in found] for found in kinds)

    is_few = len(marks.superseded or ()) + len(marks.reduced) < _FEW
    return converted() if is_few else await asyncio.to_thread(converted)


def reading_profile(
    learned: Learned, revision: int, procedures: Iterable[Procedure], owner: Owner
) -> pb.GetReadingProfileResponse:
    """What a profile asks of a recall, and the procedures that may be applied."""
    return pb.GetReadingProfileResponse(
        preferred_sources=learned.preferences.preferred_sources,
        excluded_sources=learned.preferences.excluded_sources,
        fact_confidence_min=learned.fact_confidence_min,
        procedures_revision=revision,
        procedures=[procedure_to_proto(procedure, owner.user_id) for procedure in procedures],
    )


def _result(result: ExtractionResult) -> pb.ExtractFactsResult:
    extracted = pb.ExtractedFacts(interaction_id=result.interaction_id, fact_ids=result.fact_ids)
    return pb.ExtractFactsResult(response=extracted)
