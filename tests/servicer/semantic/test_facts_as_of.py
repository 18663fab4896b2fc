"""Facts as of a time: what was believed then, and what was true."""

from __future__ import annotations

from datetime import UTC, datetime

from mneme.semantic.v1 import facts_pb2 as pb
from tests.servicer.semantic.conftest import ANN, READER, Running
from tests.servicer.semantic.test_facts import stated


async def test_spec_3_7_what_was_believed_and_what_was_true(running: Running) -> None:
    """Ann moved on 1 February, which she told on 1 March."""
    ann = {"subject": "Ann", "predicate": "lives_in"}
    await running.facts.CreateFact(stated("leeds", text="Ann lives in Leeds", object="Leeds", **ann), metadata=ANN)
    running.clock.set(datetime(2026, 3, 1, tzinfo=UTC))
    moved = stated("york", text="Ann lives in York", object="York", **ann)
    moved.valid_from_time.FromDatetime(datetime(2026, 2, 1, tzinfo=UTC))
    await running.facts.CreateFact(moved, metadata=ANN)

    async def believed(day: datetime) -> dict[str, datetime | None]:
        request = pb.ListFactsRequest(user_id="ann", page_size=1)
        request.known_at_time.FromDatetime(day)
        found: dict[str, datetime | None] = {}
        while True:
            page = await running.facts.ListFacts(request, metadata=READER)
            for fact in page.facts:
                end = fact.valid_to_time.ToDatetime(UTC) if fact.HasField("valid_to_time") else None
                found[fact.object] = end
            if not page.next_page_token:
                return found
            request.page_token = page.next_page_token

    assert await believed(datetime(2025, 12, 31, tzinfo=UTC)) == {}
    assert await believed(datetime(2026, 2, 15, tzinfo=UTC)) == {"Leeds": None}  # believed then, and wrong
    ended = datetime(2026, 2, 1, tzinfo=UTC)
    assert await believed(datetime(2026, 3, 2, tzinfo=UTC)) == {"York": None, "Leeds": ended}
    search = pb.SearchFactsRequest(user_id="ann", query="Ann lives", use=pb.FACT_USE_EXPLICIT_SEARCH)
    search.known_at_time.FromDatetime(datetime(2026, 2, 15, tzinfo=UTC))
    hits = (await running.facts.SearchFacts(search, metadata=READER)).hits
    assert [(hit.fact.object, hit.fact.HasField("valid_to_time")) for hit in hits] == [("Leeds", False)]
