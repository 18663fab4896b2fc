# Generated from aio/memory.py by `make client`, not to be edited.
"""Remembering and recalling: the calls that an agent makes at each turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from mneme.gateway.v1 import context_pb2, memory_pb2, recall_pb2
from mneme_client import (
    from_wire,
    from_wire_context,
    from_wire_recall,
    results,
    results_context,
    to_wire,
    to_wire_recall,
)
from mneme_client.blocking.operations import Operations
from mneme_client.calls import PAGE_SIZE_MAX, Call, read_all, read_page
from mneme_client.enums import ContextOrder, ContextSectionKind, FeedbackValue, MemoryKind, TaskType, Tier
from mneme_client.errors import MnemeClientError
from mneme_client.types import ConflictChoice, RememberItem, Scope, Scoring, TurnInput
from mneme_client.waiting import VISIBILITY_QUERY, VisibilityWait

_SERVICE = "/mneme.gateway.v1.MemoryService"

STREAM_TIMEOUT_SECONDS = 300.0
"""Default deadline of a stream, which takes as long as its source needs."""


class MemoryOperations(Operations):
    """Remembers, recalls, builds contexts and takes feedback."""

    def remember(
        self,
        user_id: str,
        conversation_id: str,
        turns: TurnInput | Sequence[TurnInput],
        *,
        scope: Scope | None = None,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> results.RememberResult:
        """Remembers one or more turns of one conversation. When this returns they are durable; all or none.

        Args:
            user_id: Whose memory.
            conversation_id: The conversation; it need not exist.
            turns: What was said, in order, 1 to 256 turns. A plain text is said by the user, now; a message
                of a chat API, with role and content, is taken as it is.
            scope: Who may see it; None means everyone who reads this user's memory.
            request_id: Idempotency key; None makes a new one. Give one to repeat the call across restarts.
            timeout_seconds: Deadline of this call.

        Raises:
            MnemeClientError: The service refused, or could not be reached in time.
            ValueError: A time is naive.
        """
        item = RememberItem(user_id, conversation_id, turns, scope, request_id)
        request, response = to_wire.remember_request(item), memory_pb2.RememberResponse
        return self._call(Call(f"{_SERVICE}/Remember", request, response, from_wire.remember_result), timeout_seconds)

    def remember_batch(
        self, items: Sequence[RememberItem], *, timeout_seconds: float | None = None
    ) -> tuple[results.RememberResult | results.ItemError, ...]:
        """Remembers turns of many conversations with one commit; each item succeeds or fails by itself.

        Args:
            items: 1 to 100 items with at most 1,000 turns in all.
            timeout_seconds: Deadline of this call.

        Returns:
            One outcome for each item, in order.

        Raises:
            MnemeClientError: The call as a whole failed.
        """
        request = memory_pb2.RememberBatchRequest(items=[to_wire.remember_request(item) for item in items])
        response = memory_pb2.RememberBatchResponse
        call = Call(f"{_SERVICE}/RememberBatch", request, response, read_all("results", from_wire.item_outcome))
        return self._call(call, timeout_seconds)

    def remember_stream(
        self,
        items: Iterable[RememberItem],
        *,
        on_outcome: Callable[[int, results.RememberResult | results.ItemError], None] | None = None,
        timeout_seconds: float = STREAM_TIMEOUT_SECONDS,
    ) -> results.StreamResult:
        """Remembers any number of items as they come; each succeeds or fails by itself.

        A list or tuple is resumed after the last acknowledged item when the connection is lost. Any other source cannot
        be: repeat the call with the same request ids, and items that are durable already are recognised.

        Args:
            items: The items. An iterator is read as fast as the service takes them, in a thread of gRPC.
            on_outcome: Called with the index and the outcome of each item, as it becomes durable or is refused.
            timeout_seconds: Deadline of the whole stream.

        Raises:
            MnemeClientError: The connection was lost. Items sent before may be durable.
            Exception: What reading the source raised, as it is. Items sent before may be durable.
        """
        outcomes = from_wire.StreamOutcomes(on_outcome)
        self._transport.remember_stream(items, timeout_seconds, outcomes.add)
        return outcomes.result()

    def feedback(
        self,
        user_id: str,
        value: FeedbackValue,
        *,
        memory_ids: Sequence[str] = (),
        fact_ids: Sequence[str] = (),
        note_ids: Sequence[str] = (),
        recall_id: str = "",
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> results.FeedbackResult:
        """Judges memories of an earlier response: turns, facts and notes by their ids, or all that a recall returned.

        Args:
            user_id: Whose memory.
            value: The judgement; NONE takes an earlier one back.
            memory_ids: Recalled turns. All ids together are at most 200, and none where there is a `recall_id`.
            fact_ids: Recalled facts.
            note_ids: Recalled notes.
            recall_id: The recall, as its response names it.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.

        Raises:
            MnemeClientError: With NOT_FOUND where the recall is not known (any more).
        """
        request = memory_pb2.FeedbackRequest(
            request_id=request_id or to_wire.new_request_id(),
            user_id=user_id,
            value=to_wire.enum_number(value),
            memories=[
                *to_wire.memory_references(MemoryKind.EPISODE, memory_ids),
                *to_wire.memory_references(MemoryKind.FACT, fact_ids),
                *to_wire.memory_references(MemoryKind.NOTE, note_ids),
            ],
            recall_id=recall_id,
        )
        response = memory_pb2.FeedbackResponse
        return self._call(Call(f"{_SERVICE}/Feedback", request, response, from_wire.feedback_result), timeout_seconds)

    def list_judged_recalls(
        self, user_id: str, *, page_size: int = PAGE_SIZE_MAX, timeout_seconds: float | None = None
    ) -> Iterator[results.JudgedRecall]:
        """A user's recalls of which something was judged good, newest first; pages are fetched as they are needed.

        Args:
            user_id: Whose memory.
            page_size: Recalls that are looked at for a page, at most 200.
            timeout_seconds: Deadline of the call for each page.
        """
        request = memory_pb2.ListJudgedRecallsRequest(user_id=user_id, page_size=page_size)
        read = read_page("recalls", from_wire.judged_recall)
        call = Call(f"{_SERVICE}/ListJudgedRecalls", request, memory_pb2.ListJudgedRecallsResponse, read)
        return self._pages(call, timeout_seconds)

    def recall(
        self,
        user_id: str,
        query: str,
        *,
        limit: int = 10,
        scope: Scope | None = None,
        conversation_id: str = "",
        consistency_token: str = "",
        as_of_time: datetime | None = None,
        tiers: Sequence[Tier] = (),
        task_type: TaskType = TaskType.UNSPECIFIED,
        scoring: Scoring | None = None,
        conflicts: ConflictChoice | None = None,
        include_tentative_facts: bool = False,
        known_at_time: datetime | None = None,
        timeout_seconds: float | None = None,
    ) -> results.RecallResult:
        """Finds what matters for a query, over all tiers, with the reasons.

        Args:
            user_id: Whose memory.
            query: The question or message, at most 8,192 characters.
            limit: At most this many memories, 1 to 200.
            scope: The reader's scope; None means GLOBAL.
            conversation_id: The running conversation, whose recent turns are returned as well.
            consistency_token: Wait until the writes of this token can be found.
            as_of_time: What "yesterday" is resolved against; None means now.
            tiers: Tiers to ask; empty means all.
            task_type: What the response is for; given, only the tiers of that type are asked.
            scoring: How turns are ranked; None means as the service is configured.
            conflicts: What becomes of memories that contradict each other; None means as the service is configured.
            include_tentative_facts: Also facts of a confidence from 0.3 to 0.5, for a search that the user asked for.
            known_at_time: What was believed at this time; None means now. `as_of_time` says when things shall be true.
            timeout_seconds: Deadline of this call.

        Returns:
            What was found. `degraded` says that a tier failed and something may be missing.
        """
        request = to_wire_recall.recall_request(
            user_id,
            query,
            limit=limit,
            scope=scope,
            conversation_id=conversation_id,
            consistency_token=consistency_token,
            as_of_time=as_of_time,
            tiers=tiers,
            task_type=task_type,
            scoring=scoring,
            conflicts=conflicts,
            include_tentative_facts=include_tentative_facts,
            known_at_time=known_at_time,
        )
        response = recall_pb2.RecallResponse
        call = Call(f"{_SERVICE}/Recall", request, response, from_wire_recall.recall_result)
        return self._call(call, timeout_seconds)

    def recall_stream(
        self,
        user_id: str,
        query: str,
        *,
        limit: int = 10,
        scope: Scope | None = None,
        conversation_id: str = "",
        consistency_token: str = "",
        as_of_time: datetime | None = None,
        tiers: Sequence[Tier] = (),
        task_type: TaskType = TaskType.UNSPECIFIED,
        scoring: Scoring | None = None,
        conflicts: ConflictChoice | None = None,
        include_tentative_facts: bool = False,
        known_at_time: datetime | None = None,
        timeout_seconds: float | None = None,
    ) -> Generator[results.RecallPart, None]:
        """Recalls and yields the results of each tier as soon as it responds, and at last the whole result.

        The arguments are those of `recall`, and so is the `result` of the last part. A tier that fails has a part with
        that state. Leave the loop early inside `contextlib.closing`, and the service stops working at once.

        Raises:
            MnemeClientError: The service refused, could not be reached in time, or no tier responded. A call that is
                lost after its first part is not repeated.
        """
        request = to_wire_recall.recall_request(
            user_id,
            query,
            limit=limit,
            scope=scope,
            conversation_id=conversation_id,
            consistency_token=consistency_token,
            as_of_time=as_of_time,
            tiers=tiers,
            task_type=task_type,
            scoring=scoring,
            conflicts=conflicts,
            include_tentative_facts=include_tentative_facts,
            known_at_time=known_at_time,
        )
        stream_request = recall_pb2.RecallStreamRequest(recall=request)
        response = recall_pb2.RecallStreamResponse
        call = Call(f"{_SERVICE}/RecallStream", stream_request, response, from_wire_recall.recall_part)
        timeout = self._timeout_seconds if timeout_seconds is None else timeout_seconds
        return self._transport.stream(call, timeout)

    def build_context(
        self,
        user_id: str,
        query: str,
        *,
        token_budget: int = 2_000,
        section_budgets: Mapping[ContextSectionKind, int] | None = None,
        order: ContextOrder = ContextOrder.UNSPECIFIED,
        scope: Scope | None = None,
        conversation_id: str = "",
        consistency_token: str = "",
        as_of_time: datetime | None = None,
        task_type: TaskType = TaskType.UNSPECIFIED,
        scoring: Scoring | None = None,
        conflicts: ConflictChoice | None = None,
        known_at_time: datetime | None = None,
        timeout_seconds: float | None = None,
    ) -> results_context.ContextResult:
        """Recalls and returns text of at most `token_budget` tokens (64 to 100,000), ready for a prompt.

        `section_budgets` reserves tokens for single sections, 0 leaves one out; the others share the rest. `order` is
        that of memories, BEST_FIRST by default. The other arguments are those of `recall`.
        """
        request = to_wire_recall.context_request(
            user_id,
            query,
            token_budget=token_budget,
            section_budgets=section_budgets or {},
            order=order,
            scope=scope,
            conversation_id=conversation_id,
            consistency_token=consistency_token,
            as_of_time=as_of_time,
            task_type=task_type,
            scoring=scoring,
            conflicts=conflicts,
            known_at_time=known_at_time,
        )
        response = context_pb2.BuildContextResponse
        call = Call(f"{_SERVICE}/BuildContext", request, response, from_wire_context.context_result)
        return self._call(call, timeout_seconds)

    def wait_until_visible(self, user_id: str, *consistency_tokens: str, timeout_seconds: float = 60.0) -> None:
        """Waits until the writes of the tokens can be found. `recall` with a token does so by itself.

        Raises:
            TimeoutError: They could not be found in time.
            MnemeClientError: The service refused.
        """
        wait = VisibilityWait(self._retry, timeout_seconds)
        for token in consistency_tokens:
            while True:
                try:
                    found = self.recall(
                        user_id,
                        VISIBILITY_QUERY,
                        limit=1,
                        consistency_token=token,
                        timeout_seconds=wait.call_timeout_seconds(),
                    )
                    if found.consistent:
                        break
                except MnemeClientError as error:
                    wait.check(error)
                time.sleep(wait.delay_seconds())
