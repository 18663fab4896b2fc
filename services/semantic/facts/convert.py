"""From facts to messages of mneme.semantic.v1. Pure functions; requests are read in `commands.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from mneme.semantic.v1 import facts_pb2 as pb
from services.common import convert as common
from services.common.auth import Principal
from services.common.model_comparison import TextComparison
from services.common.model_comparison_rpc import comparisons_to_proto
from services.common.paging import Cursor, PageTokens, cut_page, fitting
from services.semantic.facts.arguments import FactPage
from services.semantic.facts.commands import list_query
from services.semantic.facts.model import Fact, FactVersion, ScoredFact


def list_facts_response(
    page: FactPage, request: pb.ListFactsRequest, caller: Principal, *, tokens: PageTokens, bytes_max: int
) -> pb.ListFactsResponse:
    """A page, cut where it grows beyond `bytes_max`, with the token of the next one."""

    def cursor_of(index: int) -> Cursor:
        if page.positions:
            return page.positions[index].last_confirmed_time.isoformat(), page.positions[index].fact_id
        return page.facts[index].last_confirmed_time.isoformat(), page.facts[index].fact_id

    facts, cursor = cut_page(
        [fact_to_proto(fact) for fact in page.facts],
        has_more=page.next is not None,
        bytes_max=bytes_max,
        cursor_of=cursor_of,
    )
    token = tokens.next_token(cursor, tenant_id=caller.tenant_id, query=list_query(request))
    return pb.ListFactsResponse(facts=facts, next_page_token=token)


def comparison_response(found: TextComparison) -> pb.GetFactModelComparisonResponse:
    """What two models find."""
    return pb.GetFactModelComparisonResponse(
        questions=comparisons_to_proto(found.questions),
        first_model=found.first_model,
        second_model=found.second_model,
        compared_count=found.compared,
        truncated=found.is_truncated,
    )


def search_facts_response(
    hits: Sequence[ScoredFact], *, confident_above: float, bytes_max: int, lacks_facts: bool
) -> pb.SearchFactsResponse:
    """The nearest hits, in order, as many as fit.

    Args:
        hits: What was found.
        confident_above: Confidence above which any use admits a fact.
        bytes_max: Of the response.
        lacks_facts: Whether the search passed over facts whose vectors are of a former embedding model.
    """
    response = pb.SearchFactsResponse(degraded=lacks_facts)
    for hit in hits:
        confidence = hit.fact.confidence if hit.confidence_now is None else hit.confidence_now
        is_confident = confidence > confident_above
        admission = pb.FACT_ADMISSION_CONFIDENT if is_confident else pb.FACT_ADMISSION_EXPLICIT
        message = response.hits.add(similarity=hit.similarity, admission=admission, current_confidence=confidence)
        _write_fact(message.fact, hit.fact)
    count = fitting(response.hits, bytes_max=bytes_max)
    response.omitted_count = len(hits) - count
    del response.hits[count:]
    return response


def fact_to_proto(fact: Fact) -> pb.Fact:
    """The fact as a message."""
    message = pb.Fact()
    _write_fact(message, fact)
    return message


def _write_fact(message: pb.Fact, fact: Fact) -> None:
    """Write a fact into a message, in place: each Recall reads some, and to make messages of messages copies them."""
    message.fact_id = fact.fact_id
    message.user_id = fact.user_id
    message.text = fact.text
    message.subject = fact.subject
    message.predicate = fact.predicate
    message.object = fact.object
    message.category = cast("pb.FactCategory", int(fact.category))
    message.confidence = fact.confidence
    message.importance = fact.importance
    common.write_timestamp(message.first_observed_time, fact.first_observed_time)
    common.write_timestamp(message.last_confirmed_time, fact.last_confirmed_time)
    message.derived_from.extend(fact.derived_from)
    message.evidence_count = fact.evidence_count
    if fact.contradictions:
        message.contradictions.extend(fact.contradictions)
    message.status = cast("pb.FactStatus", int(fact.status))
    if fact.merged_into_fact_id is not None:
        message.merged_into_fact_id = fact.merged_into_fact_id
    if fact.versions:
        message.versions.extend(map(_version, fact.versions))
    common.write_scope(message.scope, fact.scope)
    message.revision = fact.revision
    message.etag = fact.etag
    message.feedback = fact.feedback
    if fact.superseded_by is not None:
        message.superseded_by = fact.superseded_by
    if fact.valid_from_time is not None:
        common.write_timestamp(message.valid_from_time, fact.valid_from_time)
    if fact.valid_to_time is not None:
        common.write_timestamp(message.valid_to_time, fact.valid_to_time)


def _version(version: FactVersion) -> pb.FactVersion:
    return pb.FactVersion(
        text=version.text,
        confidence=version.confidence,
        replaced_time=common.timestamp(version.replaced_time),
        reason=cast("pb.FactVersionReason", int(version.reason)),
    )
