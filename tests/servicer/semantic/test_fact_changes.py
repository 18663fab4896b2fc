"""Updates and removals over gRPC."""

from __future__ import annotations

import uuid

import grpc
import pytest
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.timestamp_pb2 import Timestamp

from mneme.semantic.internal.v1 import semantic_pb2
from mneme.semantic.v1 import facts_pb2 as pb
from tests.servicer.semantic.conftest import ADMIN, ANN, READER, Running
from tests.servicer.semantic.refusals import refused
from tests.servicer.semantic.test_facts import all_facts, extract, interactions, searched, stated

FROM, TO = Timestamp(seconds=1_767_225_600), Timestamp(seconds=1_798_761_600)

SOME = pb.Fact(user_id="ann", fact_id=str(uuid.UUID(int=1)))


async def create(running: Running, request: pb.CreateFactRequest | None = None) -> pb.Fact:
    response = await running.facts.CreateFact(request or stated(), metadata=ANN)
    fact: pb.Fact = response.fact
    return fact


def update(fact: pb.Fact, *paths: str, request_id: str = "u1", **values: object) -> pb.UpdateFactRequest:
    request = pb.UpdateFactRequest(
        request_id=request_id, user_id=fact.user_id, fact_id=fact.fact_id, update_mask=FieldMask(paths=paths)
    )
    request.MergeFrom(pb.UpdateFactRequest(**values))  # type: ignore[arg-type]
    return request


async def test_spec_3_1_a_fact_is_created_with_its_validity(running: Running) -> None:
    fact = await create(running, stated(valid_from_time=FROM, valid_to_time=TO))
    assert (fact.valid_from_time, fact.valid_to_time) == (FROM, TO)
    reversed_request = stated("r2", "Ann likes ink.", valid_from_time=TO, valid_to_time=FROM)
    found = await refused(running.facts.CreateFact(reversed_request, metadata=ANN))
    assert found == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD", {"valid_to_time"})


async def test_spec_3_1_an_update_without_a_mask_sets_what_is_set(running: Running) -> None:
    fact = await create(running, stated(subject="Ann", valid_from_time=FROM))
    request = update(fact, text="Ann likes coffee.", confidence=0.5, etag=fact.etag)
    updated = (await running.facts.UpdateFact(request, metadata=ANN)).fact
    assert (updated.text, updated.confidence, updated.subject) == ("Ann likes coffee.", 0.5, "Ann")
    assert (updated.importance, updated.valid_from_time) == (fact.importance, FROM)
    assert (updated.revision, updated.etag != fact.etag) == (2, True)
    assert [version.reason for version in updated.versions] == [pb.FACT_VERSION_REASON_CORRECTED]
    assert await running.facts.UpdateFact(request, metadata=ANN) == pb.UpdateFactResponse(fact=updated)
    stale = update(fact, request_id="u2", text="Ann likes milk.", etag=fact.etag)
    assert (await refused(running.facts.UpdateFact(stale, metadata=ANN)))[:2] == (grpc.StatusCode.ABORTED, "CONFLICT")


async def test_spec_3_5_an_update_of_a_fact_that_ended_leaves_the_one_that_took_its_place(running: Running) -> None:
    def home(place: str) -> pb.CreateFactRequest:
        return stated(place, f"Ann lives in {place}.", subject="Ann", predicate="lives_in", object=place)

    leeds = await create(running, home("Leeds"))
    running.clock.advance(seconds=60)
    await create(running, home("York"))
    running.clock.advance(seconds=60)

    async def shown() -> dict[str, tuple[object, ...]]:
        return {f.object: (f.text, f.confidence, f.valid_to_time, f.versions) for f in await all_facts(running)}

    before = await shown()
    await running.facts.UpdateFact(update(leeds, importance=0.6), metadata=ANN)
    after = await shown()
    assert after["York"] == before["York"]
    assert after["Leeds"][:3] == before["Leeds"][:3]


async def test_spec_3_1_an_update_with_a_mask_sets_exactly_the_mask(running: Running) -> None:
    fact = await create(running, stated(subject="Ann", valid_from_time=FROM))
    request = update(fact, "subject", "valid_from_time", "category", text="not this", category=1)
    request.category = pb.FACT_CATEGORY_CONTEXT
    updated = (await running.facts.UpdateFact(request, metadata=ANN)).fact
    assert (updated.text, updated.subject, updated.category) == (fact.text, "", pb.FACT_CATEGORY_CONTEXT)
    assert not updated.HasField("valid_from_time")


@pytest.mark.parametrize(
    ("request_", "fields"),
    [
        (pb.UpdateFactRequest(), {"request_id", "user_id", "fact_id"}),
        (
            update(SOME, "text", "colour"),
            {"update_mask.paths[1]", "text"},
        ),
        (update(SOME, confidence=2.0), {"confidence"}),
        (update(SOME, text=" "), {"text"}),
        (update(SOME, category=0), {"category"}),
        (
            update(SOME, valid_from_time=TO, valid_to_time=FROM),
            {"valid_to_time"},
        ),
    ],
)
async def test_wrong_updates_are_refused(running: Running, request_: pb.UpdateFactRequest, fields: set[str]) -> None:
    code, _, found = await refused(running.facts.UpdateFact(request_, metadata=ANN))
    assert (code, found) == (grpc.StatusCode.INVALID_ARGUMENT, fields)


async def test_a_fact_is_deleted_once(running: Running) -> None:
    fact = await create(running)
    wrong = pb.DeleteFactRequest(request_id="d0", user_id="ann", fact_id=fact.fact_id, etag="x")
    assert (await refused(running.facts.DeleteFact(wrong, metadata=ANN)))[1] == "CONFLICT"
    request = pb.DeleteFactRequest(request_id="d1", user_id="ann", fact_id=fact.fact_id, etag=fact.etag)
    for _ in range(2):
        assert await running.facts.DeleteFact(request, metadata=ANN) == pb.DeleteFactResponse()
    assert await all_facts(running) == []
    again = pb.DeleteFactRequest(request_id="d2", user_id="ann", fact_id=fact.fact_id)
    assert (await refused(running.facts.DeleteFact(again, metadata=ANN)))[1] == "NOT_FOUND"
    nameless = await refused(running.facts.DeleteFact(pb.DeleteFactRequest(), metadata=ANN))
    assert nameless[2] == {"request_id", "user_id", "fact_id"}


async def test_spec_3_3_only_administrators_list_what_is_hardly_believed(running: Running) -> None:
    low = await create(running, stated(confidence=0.2))
    request = pb.ListFactsRequest(user_id="ann", include_low_confidence=True)
    assert (await refused(running.facts.ListFacts(request, metadata=ANN)))[:2] == (
        grpc.StatusCode.PERMISSION_DENIED,
        "ROLE_MISSING",
    )
    assert await all_facts(running) == []
    listed = await running.facts.ListFacts(request, metadata=ADMIN)
    assert [fact.fact_id for fact in listed.facts] == [low.fact_id]
    get = pb.GetFactRequest(user_id="ann", fact_id=low.fact_id)
    assert (await refused(running.facts.GetFact(get, metadata=ANN)))[1] == "NOT_FOUND"
    assert (await running.facts.GetFact(get, metadata=ADMIN)).fact.confidence == 0.2


async def test_spec_5_10_hits_say_why_they_were_admitted(running: Running) -> None:
    for i, confidence in enumerate((0.4, 0.7)):
        await create(running, stated(f"r{i}", f"Ann likes tea number {i}.", confidence=confidence))
    hits = (await running.facts.SearchFacts(searched("tea"), metadata=READER)).hits
    assert {(round(hit.fact.confidence, 1), hit.admission) for hit in hits} == {
        (0.4, pb.FACT_ADMISSION_EXPLICIT),
        (0.7, pb.FACT_ADMISSION_CONFIDENT),
    }


async def test_facts_are_archived_and_restored(running: Running) -> None:
    fact = await create(running)
    named = {"user_id": "ann", "fact_ids": [fact.fact_id, str(uuid.uuid4())]}
    request = semantic_pb2.ArchiveFactsRequest(**named)  # type: ignore[arg-type]
    assert (await running.internal.ArchiveFacts(request, metadata=ANN)).archived == 1
    assert not (await running.facts.SearchFacts(searched("tea"), metadata=READER)).hits
    assert await all_facts(running) == []
    archived = pb.ListFactsRequest(user_id="ann", statuses=[pb.FACT_STATUS_ARCHIVED])
    assert len((await running.facts.ListFacts(archived, metadata=READER)).facts) == 1
    restore = semantic_pb2.RestoreFactsRequest(**named)  # type: ignore[arg-type]
    assert (await running.internal.RestoreFacts(restore, metadata=ANN)).restored == 1
    assert len(await all_facts(running)) == 1


async def test_i4_what_was_derived_goes_with_its_source(running: Running) -> None:
    response = await extract(running)
    sources = [source.interaction_id for source in interactions()]
    request = semantic_pb2.RemoveBySourceRequest(user_id="ann", interaction_ids=sources[:1])
    removed = await running.internal.RemoveBySource(request, metadata=ANN)
    assert (removed.removed_facts, removed.reduced_facts) == (2, 0)
    remaining = {fact_id for result in response.results[1:] for fact_id in result.response.fact_ids}
    assert {fact.fact_id for fact in await all_facts(running)} == remaining
    late = await extract(running)
    assert [len(result.response.fact_ids) for result in late.results] == [0, 0, 1, 1]


async def test_i4_an_owner_goes_with_facts_profile_and_statistics(running: Running) -> None:
    await extract(running)
    observe = semantic_pb2.ObserveInteractionsRequest(interactions=interactions())
    await running.internal.ObserveInteractions(observe, metadata=ANN)
    request = semantic_pb2.RemoveOwnerRequest(user_id="ann")
    removed = await running.internal.RemoveOwner(request, metadata=ANN)
    assert (removed.removed_facts, removed.removed_profile) == (4, True)
    assert await running.internal.RemoveOwner(request, metadata=ANN) == semantic_pb2.RemoveOwnerResponse()
    assert await all_facts(running) == []
    assert (await running.internal.ObserveInteractions(observe, metadata=ANN)).counted == 0


@pytest.mark.parametrize("open_tier", ["postgres"], indirect=True)  # the edge is the same on every store
async def test_removals_name_what_is_wrong(running: Running) -> None:
    too_many = semantic_pb2.ArchiveFactsRequest(user_id="ann", fact_ids=[str(uuid.uuid4())] * 1_001)
    calls = {
        running.internal.RemoveBySource(semantic_pb2.RemoveBySourceRequest(), metadata=ANN): {
            "user_id",
            "interaction_ids",
        },
        running.internal.RestoreFacts(semantic_pb2.RestoreFactsRequest(user_id="ann", fact_ids=["x"]), metadata=ANN): {
            "fact_ids[0]"
        },
        running.internal.ArchiveFacts(too_many, metadata=ANN): {"fact_ids"},
        running.internal.RemoveOwner(semantic_pb2.RemoveOwnerRequest(), metadata=ANN): {"user_id"},
    }
    for call, fields in calls.items():
        assert (await refused(call))[2] == fields
