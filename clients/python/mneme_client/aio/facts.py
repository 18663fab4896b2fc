"""Facts: statements that are held true, with their evidence."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence
from datetime import datetime

from mneme.common.v1 import model_comparison_pb2
from mneme.semantic.v1 import facts_pb2
from mneme_client import from_wire_resources, to_wire
from mneme_client import resources as r
from mneme_client.aio.operations import Operations
from mneme_client.calls import PAGE_SIZE_MAX, Call, SearchHits, read_hits, read_nothing, read_one, read_page
from mneme_client.enums import FactCategory, FactStatus, FactUse
from mneme_client.types import Scope

_SERVICE = "/mneme.semantic.v1.FactService"


class FactOperations(Operations):
    """Creates, reads, searches, updates and deletes facts."""

    async def create_fact(
        self,
        user_id: str,
        text: str,
        category: FactCategory,
        *,
        subject: str = "",
        predicate: str = "",
        object: str = "",  # noqa: A002 - the field's name
        confidence: float | None = None,
        importance: float | None = None,
        valid_from_time: datetime | None = None,
        valid_to_time: datetime | None = None,
        derived_from: Sequence[str] = (),
        scope: Scope | None = None,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> r.Fact:
        """States a fact. A statement that means a stored fact confirms that one, and ends those that it excludes.

        Args:
            user_id: Whose memory.
            text: The statement, at most 2,000 characters.
            category: What it is about.
            subject: Who or what it is about, where known. Without it, predicate and object the text is read for them.
            predicate: The relation, such as "lives_in", where known. One in words of your own has many values, but for
                such as "favourite_editor" or "timezone"; a later value ends an earlier one if the text says so.
            object: The value, where known.
            confidence: In [0, 1]; None means 0.9.
            importance: In [0, 1]; None means 0.5.
            valid_from_time: Since when it is true; None means unknown.
            valid_to_time: Until when it is true; None means that it still holds.
            derived_from: Ids of the interactions that support it, at most 64. It is removed with the last of them.
            scope: Who may see it; None means GLOBAL.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.
        """
        request = facts_pb2.CreateFactRequest(
            request_id=request_id or to_wire.new_request_id(),
            user_id=user_id,
            text=text,
            subject=subject,
            predicate=predicate,
            object=object,
            category=to_wire.enum_number(category),
            confidence=confidence,
            importance=importance,
            valid_from_time=to_wire.optional_timestamp(valid_from_time),
            valid_to_time=to_wire.optional_timestamp(valid_to_time),
            derived_from=derived_from,
            scope=to_wire.scope(scope),
        )
        read = read_one("fact", from_wire_resources.fact)
        return await self._call(
            Call(f"{_SERVICE}/CreateFact", request, facts_pb2.CreateFactResponse, read), timeout_seconds
        )

    async def get_fact(
        self, user_id: str, fact_id: str, *, scope: Scope | None = None, timeout_seconds: float | None = None
    ) -> r.Fact:
        """A fact with its versions, whatever its status; NOT_FOUND below a confidence of 0.3 but for administrators.

        With `scope`, that of a reader, only what it sees; None means every scope.
        """
        request = facts_pb2.GetFactRequest(user_id=user_id, fact_id=fact_id, reader_scope=to_wire.scope(scope))
        read = read_one("fact", from_wire_resources.fact)
        return await self._call(Call(f"{_SERVICE}/GetFact", request, facts_pb2.GetFactResponse, read), timeout_seconds)

    def list_facts(
        self,
        user_id: str,
        *,
        category: FactCategory | None = None,
        statuses: Collection[FactStatus] = (),
        subject: str = "",
        predicate: str = "",
        include_low_confidence: bool = False,
        page_size: int = PAGE_SIZE_MAX,
        scope: Scope | None = None,
        as_of_time: datetime | None = None,
        known_at_time: datetime | None = None,
        timeout_seconds: float | None = None,
    ) -> AsyncIterator[r.Fact]:
        """A user's facts with their versions, last confirmed first; pages are fetched as they are needed.

        Args:
            user_id: Whose memory.
            category: Only this one; None means all.
            statuses: Only these; empty means TENTATIVE and STABLE.
            subject: Only facts about this subject; empty means any.
            predicate: Only facts of this relation; empty means any.
            include_low_confidence: Also facts of a confidence below 0.3, for administrators.
            page_size: Facts in a page, at most 200.
            scope: The reader's: only what it sees. None means every scope.
            as_of_time: Facts that held at this time, also those archived or deprecated since; None means any time.
            known_at_time: What was believed at this time, with confidence, text and validity of then; None means now.
            timeout_seconds: Deadline of the call for each page.
        """
        request = facts_pb2.ListFactsRequest(
            user_id=user_id,
            category=to_wire.optional_enum_number(category),
            statuses=[to_wire.enum_number(status) for status in statuses],
            subject=subject,
            predicate=predicate,
            include_low_confidence=include_low_confidence,
            page_size=page_size,
            reader_scope=to_wire.scope(scope),
            as_of_time=to_wire.optional_timestamp(as_of_time),
            known_at_time=to_wire.optional_timestamp(known_at_time),
        )
        read = read_page("facts", from_wire_resources.fact)
        return self._pages(Call(f"{_SERVICE}/ListFacts", request, facts_pb2.ListFactsResponse, read), timeout_seconds)

    async def search_facts(
        self,
        user_id: str,
        query: str,
        *,
        use: FactUse = FactUse.EXPLICIT_SEARCH,
        limit: int = 10,
        scope: Scope | None = None,
        as_of_time: datetime | None = None,
        known_at_time: datetime | None = None,
        timeout_seconds: float | None = None,
    ) -> SearchHits[r.ScoredFact]:
        """The facts nearest to a query, best first, without versions.

        Args:
            user_id: Whose memory.
            query: At most 8,000 characters.
            use: What the facts are for; it decides how much confidence they need.
            limit: At most this many, 1 to 200. The worst are omitted where the response would exceed 3 MiB.
            scope: The reader's scope; None means GLOBAL.
            as_of_time: What held at this time, by what is known today; None means now.
            known_at_time: What was believed at this time; counts instead of `as_of_time`. None means now.
            timeout_seconds: Deadline of this call.
        """
        request = facts_pb2.SearchFactsRequest(
            user_id=user_id,
            query=query,
            use=to_wire.enum_number(use),
            reader_scope=to_wire.scope(scope),
            limit=limit,
            as_of_time=to_wire.optional_timestamp(as_of_time),
            known_at_time=to_wire.optional_timestamp(known_at_time),
        )
        read = read_hits(from_wire_resources.scored_fact)
        return await self._call(
            Call(f"{_SERVICE}/SearchFacts", request, facts_pb2.SearchFactsResponse, read), timeout_seconds
        )

    async def compare_fact_models(
        self,
        user_id: str,
        questions: Sequence[r.ModelQuestion],
        *,
        scope: Scope | None = None,
        timeout_seconds: float | None = None,
    ) -> r.TextModelComparison:
        """Compares the present embedding model with the second one that is configured, on a user's facts.

        Both models embed the facts for it, at most 1,000: it takes seconds.

        Args:
            user_id: Whose memory.
            questions: 1 to 50.
            scope: The reader's scope; None means GLOBAL.
            timeout_seconds: Deadline of this call.
        """
        request = facts_pb2.GetFactModelComparisonRequest(
            user_id=user_id,
            questions=[
                model_comparison_pb2.ComparedQuestion(query=each.query, relevant_ids=each.relevant_fact_ids)
                for each in questions
            ],
            reader_scope=to_wire.scope(scope),
        )
        response, read = facts_pb2.GetFactModelComparisonResponse, from_wire_resources.text_model_comparison
        return await self._call(Call(f"{_SERVICE}/GetFactModelComparison", request, response, read), timeout_seconds)

    async def update_fact(
        self,
        user_id: str,
        fact_id: str,
        *,
        text: str | None = None,
        subject: str | None = None,
        predicate: str | None = None,
        object: str | None = None,  # noqa: A002 - the field's name
        category: FactCategory | None = None,
        confidence: float | None = None,
        importance: float | None = None,
        valid_from_time: datetime | None = None,
        valid_to_time: datetime | None = None,
        clear: Collection[str] = (),
        etag: str = "",
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> r.Fact:
        """Corrects a fact; what was stored before is a version of it.

        Values that are None stay as they are. `clear` names the fields to clear: "subject", "predicate", "object",
        "valid_from_time" and "valid_to_time".

        Args:
            user_id: Whose memory.
            fact_id: The fact.
            text: The statement.
            subject: Who or what it is about.
            predicate: The relation.
            object: The value.
            category: What it is about.
            confidence: In [0, 1].
            importance: In [0, 1].
            valid_from_time: Since when it is true.
            valid_to_time: Until when it is true.
            clear: Names of fields.
            etag: The etag last read: the call fails with CONFLICT if the fact has changed since. Empty: unconditional.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.
        """
        values = to_wire.given(
            text=text,
            subject=subject,
            predicate=predicate,
            object=object,
            category=to_wire.optional_enum_number(category),
            confidence=confidence,
            importance=importance,
            valid_from_time=to_wire.optional_timestamp(valid_from_time),
            valid_to_time=to_wire.optional_timestamp(valid_to_time),
        )
        request = facts_pb2.UpdateFactRequest(
            request_id=request_id or to_wire.new_request_id(),
            user_id=user_id,
            fact_id=fact_id,
            update_mask=to_wire.field_mask(values, clear),
            etag=etag,
            **values,
        )
        read = read_one("fact", from_wire_resources.fact)
        return await self._call(
            Call(f"{_SERVICE}/UpdateFact", request, facts_pb2.UpdateFactResponse, read), timeout_seconds
        )

    async def delete_fact(
        self,
        user_id: str,
        fact_id: str,
        *,
        etag: str = "",
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> None:
        """Deletes a fact with its evidence, and the facts merged into it. It is not derived again from its sources.

        Args:
            user_id: Whose memory.
            fact_id: The fact.
            etag: The etag last read: the call fails with CONFLICT if the fact has changed since. Empty: unconditional.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.
        """
        request = facts_pb2.DeleteFactRequest(
            request_id=request_id or to_wire.new_request_id(), user_id=user_id, fact_id=fact_id, etag=etag
        )
        call = Call(f"{_SERVICE}/DeleteFact", request, facts_pb2.DeleteFactResponse, read_nothing)
        await self._call(call, timeout_seconds)
