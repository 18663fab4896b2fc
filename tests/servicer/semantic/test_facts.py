"""FactService over gRPC."""

from __future__ import annotations

import asyncio
import math
import uuid
from collections.abc import Sequence
from typing import Any

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from mneme.common.internal.v1.interactions_pb2 import SourceInteraction
from mneme.common.v1 import common_pb2
from mneme.semantic.internal.v1 import semantic_pb2
from mneme.semantic.v1 import facts_pb2 as pb
from tests.servicer.semantic.conftest import ANN, OTHER_TENANT, READER, Running
from tests.servicer.semantic.refusals import refused
from tests.support.item_errors import reason_and_path

LINES = (
    ("Nadia", "I live in Leeds and I work at Hartley Green."),
    ("Owen", "Haha, great!"),
    ("Nadia", "I'm allergic to cashews."),
    ("Owen", "I love sourdough bread."),
)


def interactions(lines: Sequence[tuple[str, str]] = LINES, user_id: str = "ann") -> list[SourceInteraction]:
    return [
        SourceInteraction(
            interaction_id=str(uuid.uuid5(uuid.NAMESPACE_OID, f"{user_id} {speaker} {text}")),
            user_id=user_id,
            conversation_id="c",
            position=i,
            turn=common_pb2.Turn(
                role=common_pb2.MESSAGE_ROLE_USER,
                speaker=speaker,
                content=text,
                time=Timestamp(seconds=1_767_300_000 + i * 60),
            ),
        )
        for i, (speaker, text) in enumerate(lines)
    ]


def stated(request_id: str = "r1", text: str = "Ann likes tea.", **fields: object) -> pb.CreateFactRequest:
    request = pb.CreateFactRequest(
        request_id=request_id, user_id="ann", text=text, category=pb.FACT_CATEGORY_PREFERENCE
    )
    request.MergeFrom(pb.CreateFactRequest(**fields))  # type: ignore[arg-type]
    return request


def searched(query: str = "food", **fields: object) -> pb.SearchFactsRequest:
    request = pb.SearchFactsRequest(user_id="ann", query=query, use=pb.FACT_USE_EXPLICIT_SEARCH)
    request.MergeFrom(pb.SearchFactsRequest(**fields))  # type: ignore[arg-type]
    return request


async def extract(running: Running, lines: Sequence[tuple[str, str]] = LINES) -> semantic_pb2.ExtractFactsResponse:
    request = semantic_pb2.ExtractFactsRequest(interactions=interactions(lines))
    response: semantic_pb2.ExtractFactsResponse = await running.internal.ExtractFacts(request, metadata=ANN)
    return response


async def all_facts(running: Running, metadata: Any = READER) -> list[pb.Fact]:
    response = await running.facts.ListFacts(pb.ListFactsRequest(user_id="ann"), metadata=metadata)
    return list(response.facts)


async def test_spec_3_1_facts_are_extracted_with_their_evidence(running: Running) -> None:
    response = await extract(running)
    assert [len(result.response.fact_ids) for result in response.results] == [2, 0, 1, 1]
    request = pb.GetFactRequest(user_id="ann", fact_id=response.results[0].response.fact_ids[0])
    fact = (await running.facts.GetFact(request, metadata=READER)).fact
    assert (fact.text, fact.subject, fact.predicate, fact.object) == (
        "Nadia lives in Leeds",
        "Nadia",
        "lives_in",
        "Leeds",
    )
    assert fact.category == pb.FACT_CATEGORY_PERSONAL_INFO
    assert list(fact.derived_from) == [response.results[0].response.interaction_id]
    assert (fact.evidence_count, fact.revision, fact.status) == (1, 1, pb.FACT_STATUS_TENTATIVE)
    assert fact.first_observed_time.seconds == 1_767_300_000


async def test_texts_of_a_batch_are_embedded_at_once(running: Running) -> None:
    await extract(running)
    assert len(running.embedder.documents) == len(set(running.embedder.documents)) == 4
    await extract(running)
    assert len(running.embedder.documents) == 4


async def test_a_repeat_of_a_batch_changes_nothing(running: Running) -> None:
    first = await extract(running)
    before = await all_facts(running)
    assert await extract(running) == first
    assert await all_facts(running) == before


async def test_the_same_batch_at_once_is_extracted_once(running: Running) -> None:
    responses = await asyncio.gather(*(extract(running) for _ in range(5)))
    assert all(response == responses[0] for response in responses)
    assert {fact.revision for fact in await all_facts(running)} == {1}


async def test_a_malformed_interaction_does_not_hold_up_the_others(running: Running) -> None:
    good, nameless, roleless = interactions(LINES[:3])
    nameless.user_id = ""
    roleless.turn.role = common_pb2.MESSAGE_ROLE_UNSPECIFIED
    request = semantic_pb2.ExtractFactsRequest(interactions=[nameless, good, roleless])
    response = await running.internal.ExtractFacts(request, metadata=ANN)
    errors = [reason_and_path(result.error) for result in response.results]
    assert errors == [
        ("INVALID_FIELD", "interactions[0].user_id"),
        ("", ""),
        ("UNKNOWN_ENUM_VALUE", "interactions[2].turn.role"),
    ]
    assert len(response.results[1].response.fact_ids) == 2


@pytest.mark.parametrize(("count", "reason"), [(0, "INVALID_FIELD"), (257, "TOO_MANY_ITEMS")])
async def test_batches_are_bounded(running: Running, count: int, reason: str) -> None:
    request = semantic_pb2.ExtractFactsRequest(interactions=interactions(LINES[:1]) * count)
    assert await refused(running.internal.ExtractFacts(request, metadata=ANN)) == (
        grpc.StatusCode.INVALID_ARGUMENT,
        reason,
        {"interactions"},
    )


async def test_a_stated_fact_is_read_as_it_was_written(running: Running) -> None:
    source = str(uuid.uuid4())
    request = stated(
        subject="Ann", predicate="likes", object="tea", importance=0.2, derived_from=[source, source.upper()]
    )
    fact = (await running.facts.CreateFact(request, metadata=ANN)).fact
    assert (fact.confidence, fact.importance, list(fact.derived_from)) == (0.9, 0.2, [source])
    read = await running.facts.GetFact(pb.GetFactRequest(user_id="ann", fact_id=fact.fact_id), metadata=READER)
    assert read.fact == fact


async def test_a_stated_fact_confirms_an_extracted_one(running: Running) -> None:
    response = await extract(running, LINES[3:])
    request = stated(text="Owen loves sourdough bread", subject="Owen", predicate="likes", object="Sourdough bread")
    fact = (await running.facts.CreateFact(request, metadata=ANN)).fact
    assert [fact.fact_id] == list(response.results[0].response.fact_ids)
    assert fact.status == pb.FACT_STATUS_STABLE
    assert [version.reason for version in fact.versions] == [pb.FACT_VERSION_REASON_CONFIRMED]


async def test_spec_6_3_a_repeated_request_gets_the_first_answer(running: Running) -> None:
    first = await running.facts.CreateFact(stated(), metadata=ANN)
    running.clock.advance(minutes=1)
    await running.facts.CreateFact(stated("r2"), metadata=ANN)
    assert await running.facts.CreateFact(stated(), metadata=ANN) == first
    [fact] = await all_facts(running)
    assert fact.revision == 2


async def test_a_request_id_is_not_used_twice(running: Running) -> None:
    await running.facts.CreateFact(stated(), metadata=ANN)
    assert await refused(running.facts.CreateFact(stated(text="Another."), metadata=ANN)) == (
        grpc.StatusCode.INVALID_ARGUMENT,
        "REQUEST_ID_REUSED",
        {"request_id"},
    )
    await running.facts.CreateFact(stated(text="Another."), metadata=OTHER_TENANT)


async def test_all_wrong_fields_are_named(running: Running) -> None:
    request = pb.CreateFactRequest(
        text="x" * 2_001, category=pb.FACT_CATEGORY_CONTEXT, confidence=1.5, derived_from=["no id"]
    )
    request.scope.level = common_pb2.SCOPE_LEVEL_TASK
    code, reason, fields = await refused(running.facts.CreateFact(request, metadata=ANN))
    assert (code, reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD")
    assert fields == {"request_id", "user_id", "text", "confidence", "derived_from[0]", "scope.task_id"}


@pytest.mark.parametrize(
    ("request_", "reason", "fields"),
    [
        (pb.SearchFactsRequest(user_id="ann", query="x"), "UNKNOWN_ENUM_VALUE", {"use"}),
        (searched(query=""), "INVALID_FIELD", set()),
        (searched(limit=201), "INVALID_FIELD", {"limit"}),
        (searched(query_vector=common_pb2.Vector(model="x", values=[1.0])), "INVALID_VECTOR", {"query_vector"}),
        (
            searched(reader_scope=common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_UNSPECIFIED)),
            "UNKNOWN_ENUM_VALUE",
            {"reader_scope.level"},
        ),
    ],
)
async def test_wrong_searches_are_refused(
    running: Running, request_: pb.SearchFactsRequest, reason: str, fields: set[str]
) -> None:
    if not fields:
        request_, fields = pb.SearchFactsRequest(user_id="ann", use=pb.FACT_USE_PASSIVE_CONTEXT), {"query"}
    found = await refused(running.facts.SearchFacts(request_, metadata=READER))
    assert found == (grpc.StatusCode.INVALID_ARGUMENT, reason, fields)


async def test_spec_3_3_the_use_decides_what_is_found(running: Running) -> None:
    for i, confidence in enumerate((0.2, 0.4, 0.7)):
        request = stated(f"r{i}", f"Ann likes tea number {i}.", confidence=confidence)
        await running.facts.CreateFact(request, metadata=ANN)
    found = {}
    for use in (pb.FACT_USE_EXPLICIT_SEARCH, pb.FACT_USE_PASSIVE_CONTEXT):
        response = await running.facts.SearchFacts(searched("tea", use=use), metadata=READER)
        found[use] = {round(hit.fact.confidence, 1) for hit in response.hits}
    assert found == {pb.FACT_USE_EXPLICIT_SEARCH: {0.4, 0.7}, pb.FACT_USE_PASSIVE_CONTEXT: {0.7}}


async def test_spec_3_4_the_use_looks_at_the_confidence_with_its_decay(running: Running) -> None:
    """0.7 x exp(-0.01 days): 0.5 after 33.6 days, 0.3 after 84.7."""
    await running.facts.CreateFact(stated("r1", "Ann likes tea.", confidence=0.7, importance=0.3), metadata=ANN)
    await running.facts.CreateFact(stated("r2", "Ann likes tea at noon.", confidence=0.7, importance=0.9), metadata=ANN)

    async def found(use: pb.FactUse, **fields: int) -> dict[str, pb.FactAdmission]:
        response = await running.facts.SearchFacts(searched("Ann likes tea.", use=use, **fields), metadata=READER)
        return {hit.fact.text: hit.admission for hit in response.hits if "tea" in hit.fact.text}

    async def live(days: float) -> None:
        running.clock.advance(days=days)
        here = stated(f"h{running.clock.now()}", "Ann is here.", confidence=0.31, importance=0.9)
        await running.facts.CreateFact(here, metadata=ANN)

    both = {"Ann likes tea.": pb.FACT_ADMISSION_CONFIDENT, "Ann likes tea at noon.": pb.FACT_ADMISSION_CONFIDENT}
    await live(days=33)
    assert await found(pb.FACT_USE_PASSIVE_CONTEXT) == both
    await live(days=1)
    assert await found(pb.FACT_USE_PASSIVE_CONTEXT) == {"Ann likes tea at noon.": pb.FACT_ADMISSION_CONFIDENT}
    assert await found(pb.FACT_USE_PASSIVE_CONTEXT, limit=1) == {"Ann likes tea at noon.": pb.FACT_ADMISSION_CONFIDENT}
    assert await found(pb.FACT_USE_EXPLICIT_SEARCH) == {**both, "Ann likes tea.": pb.FACT_ADMISSION_EXPLICIT}
    response = await running.facts.SearchFacts(searched("Ann likes tea."), metadata=READER)
    confidences = {hit.fact.text: hit.current_confidence for hit in response.hits}
    assert confidences["Ann likes tea."] == pytest.approx(0.7 * math.exp(-0.34), abs=1e-6)
    assert confidences["Ann likes tea at noon."] == 0.7
    await live(days=51)
    assert await found(pb.FACT_USE_EXPLICIT_SEARCH) == {"Ann likes tea at noon.": pb.FACT_ADMISSION_CONFIDENT}
    await running.facts.CreateFact(stated("r3", "Ann likes coffee.", confidence=0.7, importance=0.3), metadata=ANN)
    response = await running.facts.SearchFacts(
        searched("Ann likes coffee.", use=pb.FACT_USE_PASSIVE_CONTEXT), metadata=READER
    )
    assert "Ann likes coffee." in {hit.fact.text for hit in response.hits}


async def test_spec_3_4_facts_of_a_user_who_is_away_do_not_fade(running: Running) -> None:
    stated_fact = stated("r1", "Ann likes tea.", confidence=0.7, importance=0.3)
    stored = await running.facts.CreateFact(stated_fact, metadata=ANN)
    running.clock.advance(days=4_000)
    for use in (pb.FACT_USE_PASSIVE_CONTEXT, pb.FACT_USE_EXPLICIT_SEARCH):
        response = await running.facts.SearchFacts(searched("Ann likes tea.", use=use), metadata=READER)
        assert [hit.current_confidence for hit in response.hits] == [pytest.approx(0.7)]
    await running.facts.GetFact(pb.GetFactRequest(user_id="ann", fact_id=stored.fact.fact_id), metadata=READER)
    await running.facts.CreateFact(stated("r2", "Ann likes coffee.", confidence=0.7, importance=0.3), metadata=ANN)
    response = await running.facts.SearchFacts(searched("Ann likes tea."), metadata=READER)
    assert [hit.fact.text for hit in response.hits] == ["Ann likes coffee."]


async def test_a_vector_searches_like_its_text(running: Running) -> None:
    await extract(running)
    by_text = await running.facts.SearchFacts(searched("allergic to cashews"), metadata=READER)
    vector = 3 * running.embedder.vector("allergic to cashews")
    message = common_pb2.Vector(model=running.embedder.fingerprint, values=vector.tolist())
    by_vector = await running.facts.SearchFacts(
        pb.SearchFactsRequest(user_id="ann", use=pb.FACT_USE_EXPLICIT_SEARCH, query_vector=message), metadata=READER
    )
    assert [hit.fact.fact_id for hit in by_vector.hits] == [hit.fact.fact_id for hit in by_text.hits]
    assert by_text.hits[0].fact.object == "cashews"
    message.ClearField("values")
    message.values.extend([0.0] * running.embedder.dimension)
    zero = pb.SearchFactsRequest(user_id="ann", use=pb.FACT_USE_EXPLICIT_SEARCH, query_vector=message)
    assert (await refused(running.facts.SearchFacts(zero, metadata=READER)))[1] == "INVALID_VECTOR"


async def test_pages_join(running: Running) -> None:
    await extract(running)
    everything = await all_facts(running)
    paged: list[pb.Fact] = []
    token = ""
    while True:
        request = pb.ListFactsRequest(user_id="ann", page_size=3, page_token=token)
        page = await running.facts.ListFacts(request, metadata=READER)
        paged += page.facts
        token = page.next_page_token
        if not token:
            break
    assert paged == everything
    assert len(paged) == 4


async def test_page_tokens_are_bound_to_their_query(running: Running) -> None:
    await extract(running)
    page = await running.facts.ListFacts(pb.ListFactsRequest(user_id="ann", page_size=1), metadata=READER)
    token = page.next_page_token
    wrong = [
        (pb.ListFactsRequest(user_id="bo", page_token=token), READER),
        (pb.ListFactsRequest(user_id="ann", statuses=[pb.FACT_STATUS_STABLE], page_token=token), READER),
        (pb.ListFactsRequest(user_id="ann", page_token=("y" if token[0] == "x" else "x") + token[1:]), READER),
        (pb.ListFactsRequest(user_id="ann", page_token=token), OTHER_TENANT),
    ]
    for request, metadata in wrong:
        found = await refused(running.facts.ListFacts(request, metadata=metadata))
        assert found == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_PAGE_TOKEN", {"page_token"})


async def test_wrong_filters_are_refused(running: Running) -> None:
    request = pb.ListFactsRequest(user_id="ann", category=pb.FACT_CATEGORY_UNSPECIFIED, page_size=-1)
    assert (await refused(running.facts.ListFacts(request, metadata=READER)))[2] == {"category", "page_size"}


async def test_spec_7_1_other_tenants_find_nothing(running: Running) -> None:
    response = await extract(running)
    fact_id = response.results[0].response.fact_ids[0]
    request = pb.GetFactRequest(user_id="ann", fact_id=fact_id)
    assert (await refused(running.facts.GetFact(request, metadata=OTHER_TENANT)))[:2] == (
        grpc.StatusCode.NOT_FOUND,
        "NOT_FOUND",
    )
    other_user = pb.GetFactRequest(user_id="bo", fact_id=fact_id)
    assert (await refused(running.facts.GetFact(other_user, metadata=READER)))[0] is grpc.StatusCode.NOT_FOUND
    assert await all_facts(running, OTHER_TENANT) == []
    assert not (await running.facts.SearchFacts(searched(), metadata=OTHER_TENANT)).hits


async def test_readers_do_not_write(running: Running) -> None:
    calls = (
        running.facts.CreateFact(stated(), metadata=READER),
        running.facts.UpdateFact(pb.UpdateFactRequest(), metadata=READER),
        running.facts.DeleteFact(pb.DeleteFactRequest(), metadata=READER),
    )
    for call in calls:
        assert (await refused(call))[:2] == (grpc.StatusCode.PERMISSION_DENIED, "ROLE_MISSING")


async def test_a_change_is_kept_with_what_it_replaces(running: Running) -> None:
    await extract(running, [("Nadia", "I live in Leeds."), ("Nadia", "We moved from Leeds to Bristol yesterday.")])
    facts = {(fact.predicate, fact.object): fact for fact in await all_facts(running)}
    leeds, bristol = facts["lives_in", "Leeds"], facts["lives_in", "Bristol"]
    assert leeds.HasField("valid_to_time")
    assert not bristol.HasField("valid_to_time")
    assert list(leeds.contradictions) == [bristol.fact_id]
    assert [version.reason for version in leeds.versions] == [pb.FACT_VERSION_REASON_SUPERSEDED]


@pytest.mark.parametrize("open_tier", ["postgres"], indirect=True)  # the edge is the same on every store
async def test_pages_of_long_facts_end_before_they_are_too_large_for_an_answer(running: Running) -> None:
    sources = [str(uuid.UUID(int=n)) for n in range(64)]
    parts = dict.fromkeys(("subject", "predicate"), "🌍" * 500)
    for n in range(200):  # of 16 kB each
        texts = {"text": f"{n} " + "\U0001f30d" * 1_990, "object": f"{n} " + "\U0001f30d" * 500}
        await running.facts.CreateFact(stated(f"r{n}", **texts, **parts, derived_from=sources), metadata=ANN)
        running.clock.advance(seconds=1)
    request = pb.ListFactsRequest(user_id="ann", page_size=200)
    first = await running.facts.ListFacts(request, metadata=READER)
    request.page_token = first.next_page_token
    second = await running.facts.ListFacts(request, metadata=READER)
    found = await running.facts.SearchFacts(searched("\U0001f30d", limit=200), metadata=READER)

    assert 3_000_000 < first.ByteSize() < 4 * 1024 * 1024
    told = [int(fact.text.split()[0]) for page in (first, second) for fact in page.facts]
    assert told == list(reversed(range(200)))
    assert len(second.facts) > 0
    assert not second.next_page_token
    assert found.ByteSize() < 4 * 1024 * 1024
    assert len(found.hits) + found.omitted_count == 200
    assert found.omitted_count > 0
