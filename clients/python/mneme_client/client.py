"""The asyncio client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Self, TypeVar

from opentelemetry.trace import Tracer, get_tracer

from mneme_client import calls, from_wire, results, results_context
from mneme_client.calls import PAGE_SIZE_MAX, Call, Page
from mneme_client.channel import DEFAULT_TARGET, Tls, make_connection
from mneme_client.errors import MnemeClientError
from mneme_client.grant_operations import GrantOperations
from mneme_client.operations import DeliveryOperations
from mneme_client.retry import RetryPolicy
from mneme_client.tracing import TRACER_NAME
from mneme_client.transport import Transport
from mneme_client.types import (
    ConflictChoice,
    ContextOrder,
    ContextSectionKind,
    FeedbackValue,
    RememberItem,
    Scope,
    Scoring,
    TaskType,
    Tier,
    TurnInput,
)
from mneme_client.waiting import VISIBILITY_QUERY, VisibilityWait

Result = TypeVar("Result")

STREAM_TIMEOUT_SECONDS = 300.0
"""Deadline of a stream unless told otherwise: it takes as long as its source needs."""


class Client(DeliveryOperations, GrantOperations):
    """Remembers and recalls through Mneme's gateway. Belongs to the event loop that first uses it.

    Every call has a deadline. A call that fails with UNAVAILABLE, or that a closing server cancels, is repeated with
    the same request id until it succeeds or its deadline is near, so that nothing is written twice. Failures are
    `MnemeClientError`.

    Args:
        target: Address of the gateway, as gRPC writes them.
        api_key: Credential; None where the service runs in development mode.
        tls: Encrypt: True trusts the system's certificate authorities, `Tls` says more.
        default_timeout_seconds: Deadline of a call, repeats included, where it has none of its own.
        retry: When and how often a failed call is repeated.
        tracer: Makes the spans of calls; OpenTelemetry's global provider is asked for one if not given.
    """

    def __init__(
        self,
        target: str = DEFAULT_TARGET,
        api_key: str | None = None,
        *,
        tls: Tls | bool = False,
        default_timeout_seconds: float = 10.0,
        retry: RetryPolicy | None = None,
        tracer: Tracer | None = None,
    ) -> None:
        self._retry = retry or RetryPolicy()
        self._transport = Transport(
            make_connection(target, api_key, tls=tls), self._retry, tracer or get_tracer(TRACER_NAME)
        )
        self._timeout_seconds = default_timeout_seconds

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connection; calls under way are cancelled. Closing twice is allowed."""
        await self._transport.close()

    # ------------------------------------------------------------------------------------------- writing

    async def remember(
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
            turns: What was said, in order, 1 to 256 turns. A plain text is said by the user, now.
            scope: Who may see it; None means everyone who reads this user's memory.
            request_id: Idempotency key; None makes a new one. Give one to repeat the call across restarts.
            timeout_seconds: Deadline of this call.

        Raises:
            MnemeClientError: The service refused, or could not be reached in time.
            ValueError: A time is naive.
        """
        item = RememberItem(user_id, conversation_id, turns, scope, request_id)
        return await self._call(calls.remember(item), timeout_seconds)

    async def remember_batch(
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
        return await self._call(calls.remember_batch(items), timeout_seconds)

    async def remember_stream(
        self,
        items: AsyncIterable[RememberItem] | Iterable[RememberItem],
        *,
        on_outcome: Callable[[int, results.RememberResult | results.ItemError], None] | None = None,
        timeout_seconds: float = STREAM_TIMEOUT_SECONDS,
    ) -> results.StreamResult:
        """Remembers any number of items as they come; each succeeds or fails by itself.

        A list or tuple goes on behind the last acknowledged item when the connection is lost. Any other source cannot:
        repeat the call with the same request ids, and what was durable already is recognised.

        Args:
            items: The items. An iterator is read as fast as the service takes them, in the event loop.
            on_outcome: Called with the index and the outcome of each item, as it becomes durable or is refused.
            timeout_seconds: Deadline of the whole stream.

        Raises:
            MnemeClientError: The stream broke. Items sent before may be durable.
        """
        outcomes = from_wire.StreamOutcomes(on_outcome)
        await self._transport.remember_stream(items, timeout_seconds, outcomes.add)
        return outcomes.result()

    async def feedback(
        self,
        user_id: str,
        value: FeedbackValue,
        *,
        memory_ids: Sequence[str] = (),
        recall_id: str = "",
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> results.FeedbackResult:
        """Judges memories of an earlier answer: turns by their memory ids, or all that a recall returned.

        Args:
            user_id: Whose memory.
            value: The judgement; NONE takes an earlier one back.
            memory_ids: The recalled turns, at most 200; empty where there is a `recall_id`.
            recall_id: The recall, as its answer names it.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.
        """
        return await self._call(
            calls.feedback(user_id, value, memory_ids=memory_ids, recall_id=recall_id, request_id=request_id),
            timeout_seconds,
        )

    # ------------------------------------------------------------------------------------------- reading

    async def recall(
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
            task_type: What the answer is wanted for; given, only the tiers of that type are asked.
            scoring: How turns are ranked; None means as the service is configured.
            conflicts: What becomes of memories that contradict each other; None means as the service is configured.
            timeout_seconds: Deadline of this call.

        Returns:
            What was found. `degraded` says that a tier failed and something may be missing.
        """
        call = calls.recall(
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
        )
        return await self._call(call, timeout_seconds)

    async def recall_stream(
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
        timeout_seconds: float | None = None,
    ) -> AsyncGenerator[results.RecallPart, None]:
        """Recalls and yields what each tier gave as soon as it is there, and at last the whole answer.

        The arguments are those of `recall`, and so is the `result` of the last part. A tier that fails has a part that
        says so. Leave the loop early inside of `contextlib.aclosing`, and the service stops working at once.

        Raises:
            MnemeClientError: The service refused, could not be reached in time, or no tier has answered. A call that
                is lost after its first part is not repeated.
        """
        call = calls.recall(
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
        )
        timeout = self._timeout_seconds if timeout_seconds is None else timeout_seconds
        async for part in self._transport.stream(calls.recall_stream(call), timeout):
            yield part

    async def build_context(
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
        timeout_seconds: float | None = None,
    ) -> results_context.ContextResult:
        """Recalls and returns text of at most `token_budget` tokens (64 to 100,000), ready for a prompt.

        `section_budgets` keeps tokens for single sections, 0 leaves one out; others share what is left. `order` is
        that of memories, BEST_FIRST by default. The other arguments are those of `recall`.
        """
        call = calls.build_context(
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
        )
        return await self._call(call, timeout_seconds)

    async def wait_until_visible(self, user_id: str, *consistency_tokens: str, timeout_seconds: float = 60.0) -> None:
        """Waits until the writes of the tokens can be found. `recall` with a token does so by itself.

        Raises:
            TimeoutError: They could not be found in time.
            MnemeClientError: The service refused.
        """
        wait = VisibilityWait(self._retry, timeout_seconds)
        for token in consistency_tokens:
            while True:
                try:
                    found = await self.recall(
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
                await asyncio.sleep(wait.delay_seconds())

    async def get_profile(self, user_id: str, *, timeout_seconds: float | None = None) -> results.Profile:
        """The user's profile; an empty one where none was written."""
        return await self._call(calls.get_profile(user_id), timeout_seconds)

    # ------------------------------------------------------------------------------------- conversations

    async def list_conversations(
        self, user_id: str, *, page_size: int = PAGE_SIZE_MAX, timeout_seconds: float | None = None
    ) -> AsyncIterator[results.Conversation]:
        """All conversations of a user, the last written first; pages are fetched as they are needed."""
        token = ""
        while True:
            call = calls.list_conversations(user_id, page_size=page_size, page_token=token)
            page: Page[results.Conversation] = await self._call(call, timeout_seconds)
            for item in page.items:
                yield item
            if not (token := page.next_page_token):
                return

    async def list_interactions(
        self,
        user_id: str,
        conversation_id: str,
        *,
        page_size: int = PAGE_SIZE_MAX,
        timeout_seconds: float | None = None,
    ) -> AsyncIterator[results.Interaction]:
        """The transcript of a conversation, oldest first; pages are fetched as they are needed."""
        token = ""
        while True:
            call = calls.list_interactions(user_id, conversation_id, page_size=page_size, page_token=token)
            page: Page[results.Interaction] = await self._call(call, timeout_seconds)
            for item in page.items:
                yield item
            if not (token := page.next_page_token):
                return

    async def get_session(
        self, user_id: str, conversation_id: str, *, timeout_seconds: float | None = None
    ) -> results.SessionWindow:
        """The window of a running conversation.

        Raises:
            MnemeClientError: With NOT_FOUND when it never was, expired, or was ended.
        """
        return await self._call(calls.get_session(user_id, conversation_id), timeout_seconds)

    async def end_session(
        self,
        user_id: str,
        conversation_id: str,
        *,
        discard: bool = False,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> int:
        """Deletes a session and returns how many of its turns this call wrote to the log.

        Args:
            user_id: Whose session.
            conversation_id: The conversation.
            discard: Do not archive turns that are not in the log.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.
        """
        call = calls.end_session(user_id, conversation_id, discard=discard, request_id=request_id)
        return await self._call(call, timeout_seconds)

    async def _call(self, call: Call[Result], timeout_seconds: float | None) -> Result:
        timeout = self._timeout_seconds if timeout_seconds is None else timeout_seconds
        return await self._transport.call(call, timeout)
