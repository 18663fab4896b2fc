"""From facts to messages of mneme.semantic.v1. Pure functions; requests are read in `commands.py`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mneme.semantic.v1 import facts_pb2 as pb
from services.common import convert as common
from services.common.auth import Principal
from services.common.paging import Cursor, PageTokens, cut_page, fitting
from services.semantic.facts.commands import ExtractionBatch, list_query
from services.semantic.facts.model import ExtractionResult, Fact, FactVersion, ScoredFact
from services.semantic.facts.service import FactPage
from services.semantic.model import SourceInteraction


def extraction_response(batch: ExtractionBatch, results: Iterable[ExtractionResult]) -> pb.ExtractFactsResponse:
    """One result for each interaction of the batch, in order."""
    remaining = iter(results)
    return pb.ExtractFactsResponse(
        results=[_result(next(remaining)) if isinstance(item, SourceInteraction) else item for item in batch.items]
    )


def list_facts_response(
    page: FactPage, request: pb.ListFactsRequest, caller: Principal, *, tokens: PageTokens, bytes_max: int
) -> pb.ListFactsResponse:
    """A page, cut where it grows beyond `bytes_max`, with the token of the next one."""

    def cursor_of(index: int) -> Cursor:
        return page.facts[index].last_confirmed_time.isoformat(), page.facts[index].fact_id

    facts, cursor = cut_page(
        [fact_to_proto(fact) for fact in page.facts],
        has_more=page.next is not None,
        bytes_max=bytes_max,
        cursor_of=cursor_of,
    )
    token = tokens.next_token(cursor, tenant_id=caller.tenant_id, query=list_query(request))
    return pb.ListFactsResponse(facts=facts, next_page_token=token)


def search_facts_response(hits: Sequence[ScoredFact], *, bytes_max: int) -> pb.SearchFactsResponse:
    """The nearest hits, in order, as many as fit."""
    messages = [pb.ScoredFact(fact=fact_to_proto(hit.fact), similarity=hit.similarity) for hit in hits]
    count = fitting(messages, bytes_max=bytes_max)
    return pb.SearchFactsResponse(hits=messages[:count], left_out_count=len(messages) - count)


def fact_to_proto(fact: Fact) -> pb.Fact:
    """The fact as a message."""
    message = pb.Fact(
        fact_id=fact.fact_id,
        user_id=fact.user_id,
        text=fact.text,
        subject=fact.subject,
        predicate=fact.predicate,
        object=fact.object,
        category=pb.FactCategory.Name(int(fact.category)),
        confidence=fact.confidence,
        importance=fact.importance,
        first_observed_time=common.timestamp(fact.first_observed_time),
        last_confirmed_time=common.timestamp(fact.last_confirmed_time),
        derived_from=fact.derived_from,
        evidence_count=fact.evidence_count,
        contradictions=fact.contradictions,
        status=pb.FactStatus.Name(int(fact.status)),
        merged_into_fact_id=fact.merged_into_fact_id or "",
        versions=[_version(version) for version in fact.versions],
        scope=common.scope_to_proto(fact.scope),
        revision=fact.revision,
    )
    if fact.valid_from_time is not None:
        message.valid_from_time.CopyFrom(common.timestamp(fact.valid_from_time))
    if fact.valid_to_time is not None:
        message.valid_to_time.CopyFrom(common.timestamp(fact.valid_to_time))
    return message


def _version(version: FactVersion) -> pb.FactVersion:
    return pb.FactVersion(
        text=version.text,
        confidence=version.confidence,
        replaced_time=common.timestamp(version.replaced_time),
        reason=version.reason,
    )


def _result(result: ExtractionResult) -> pb.ExtractFactsResult:
    return pb.ExtractFactsResult(interaction_id=result.interaction_id, fact_ids=result.fact_ids)
