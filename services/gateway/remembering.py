"""Use cases of writing: Remember in its three forms, and Feedback."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import dataclass, field, replace

from mneme.session.v1 import session_pb2
from services.common.auth import Principal
from services.common.errors import LimitExceeded, MnemeError
from services.common.settings_types import Amount, Count, table
from services.gateway.journal.admission import AdmissionSettings, BacklogBound, TenantTurns
from services.gateway.journal.dispatcher import Dispatcher
from services.gateway.journal.model import (
    Appended,
    Caller,
    FeedbackCommand,
    FeedbackRecorded,
    JournalLimits,
    RememberCommand,
    SequenceSpan,
    Tier,
)
from services.gateway.journal.notice import JournalNotice
from services.gateway.journal.recall_log import RecallLog
from services.gateway.journal.store import Journal
from services.gateway.sessions import SessionAccess, session_turns


@dataclass(frozen=True, slots=True)
class RememberSettings:
    """How writes are grouped."""

    limits: JournalLimits = field(default_factory=JournalLimits, metadata=table("gateway.limits.journal"))
    stream_group_turns: Count = 256  # turns of a stream that share one commit
    stream_group_seconds: Amount = 0.05  # how long a group waits for more


class Remembering:
    """Makes turns and judgements durable and sets off what follows from them."""

    def __init__(
        self,
        journal: Journal,
        sessions: SessionAccess,
        dispatcher: Dispatcher,
        notice: JournalNotice,
        recalls: RecallLog,
        settings: RememberSettings,
        admission: AdmissionSettings | None = None,
    ) -> None:
        """Wakes `dispatcher`, and other gateways through `notice`, after each write."""
        chosen = admission or AdmissionSettings()
        self._turns = TenantTurns(chosen)
        self._backlog = BacklogBound(
            lambda tenant_id, count_max: journal.pending_count(tenant_id, count_max=count_max),
            chosen,
            deliveries_per_turn=len(Tier),
        )
        self._journal = journal
        self._sessions = sessions
        self._dispatcher = dispatcher
        self._notice = notice
        self._recalls = recalls
        self._settings = settings

    async def aclose(self) -> None:
        """Stop what runs behind the calls."""
        await self._backlog.aclose()

    async def remember(self, principal: Principal, caller: Caller, command: RememberCommand) -> Appended:
        """Makes the turns of one command durable, and tries to put them into their session.

        Raises:
            InvalidArgument: The request id was used before with another request.
            LimitExceeded: Too much of the tenant waits to be written, or to be indexed.
            StoreUnavailable: Nothing is known to be written; repeat with the same request id.
        """
        await self._backlog.check(caller.tenant_id)
        async with contextlib.AsyncExitStack() as turn:
            await turn.enter_async_context(self._turns.turn(caller.tenant_id))
            (outcome,) = await self._append(caller, [command], tries_session=True)
            if isinstance(outcome, MnemeError):
                raise outcome
            if not self._turns.has_others(caller.tenant_id):
                await turn.aclose()  # nobody else waits for the event loop
            if not outcome.replayed:
                ids = outcome.interaction_ids

                def taken() -> None:
                    self._dispatcher.delivered_directly(caller.tenant_id, Tier.SESSION, ids)

                await self._sessions.append(principal, command, outcome, on_taken=taken)
                self.announce()
        return outcome

    async def remember_turns(
        self, caller: Caller, commands: Sequence[RememberCommand]
    ) -> list[session_pb2.SessionTurn] | None:
        """Makes the turns of one request durable with one commit, and returns them for their session.

        Returns:
            The turns with their places; None where an earlier use of the request id wrote them.

        Raises:
            InvalidArgument: The request id was used before with another request.
            LimitExceeded: Too much of the tenant waits to be written, or to be indexed.
            StoreUnavailable: Nothing is known to be written; repeat with the same request id.
        """
        await self._backlog.check(caller.tenant_id)
        turns: list[session_pb2.SessionTurn] = []
        async with self._turns.turn(caller.tenant_id):
            outcomes = await self._append(caller, commands, tries_session=True)
        for command, outcome in zip(commands, outcomes, strict=True):
            if isinstance(outcome, MnemeError):
                raise outcome
            if outcome.replayed:
                return None
            turns += session_turns(command, outcome)
        self.announce()
        return turns

    async def remember_mixed(
        self, caller: Caller, items: Sequence[RememberCommand | MnemeError]
    ) -> list[Appended | MnemeError]:
        """Makes the commands among the items durable with one commit. Their session turns go by delivery.

        Args:
            caller: On whose behalf.
            items: Commands, or in its place the error of an item that is not valid.

        Returns:
            What came of each item, in order.

        Raises:
            LimitExceeded: Too much of the tenant waits to be written, or to be indexed.
            StoreUnavailable: Nothing is known to be written; repeat with the same request ids.
        """
        await self._backlog.check(caller.tenant_id)
        return await self._remember_items(caller, items)

    async def _remember_items(
        self, caller: Caller, items: Sequence[RememberCommand | MnemeError]
    ) -> list[Appended | MnemeError]:
        commands = [item for item in items if isinstance(item, RememberCommand)]
        if commands:
            async with self._turns.turn(caller.tenant_id):
                outcomes = iter(await self._append(caller, commands))
        else:
            outcomes = iter(())
        self.announce()
        return [next(outcomes) if isinstance(item, RememberCommand) else item for item in items]

    async def remember_stream(
        self, caller: Caller, items: AsyncIterator[RememberCommand | MnemeError]
    ) -> AsyncGenerator[list[Appended | MnemeError], None]:
        """Makes the items of a stream durable in groups, as they come, and yields the outcomes of each group in order.

        A group is read while the one before is written, and no further: the caller's reading bounds the stream. Where
        the tenant's backlog is at its bound, the stream is held back before its items are refused.
        """
        span: SequenceSpan | None = None
        async with contextlib.aclosing(_grouped(items, self._settings)) as groups:
            async for group in groups:
                outcomes = await self._remember_group(caller, group)
                for index, outcome in enumerate(outcomes):
                    if isinstance(outcome, Appended):
                        span = outcome.span if span is None else span.joined(outcome.span)
                        outcomes[index] = replace(outcome, span=span)
                yield outcomes

    async def _remember_group(
        self, caller: Caller, group: Sequence[RememberCommand | MnemeError]
    ) -> list[Appended | MnemeError]:
        try:
            await self._backlog.wait(caller.tenant_id)
            return await self._remember_items(caller, group)
        except LimitExceeded as error:
            return [error if isinstance(item, RememberCommand) else item for item in group]

    async def feedback(self, caller: Caller, command: FeedbackCommand) -> FeedbackRecorded:
        """Makes a judgement durable.

        Raises:
            InvalidArgument: The request id was used before with another request.
            NotFound: There is no such recall.
            FailedPrecondition: The recall returned nothing.
        """
        if command.recall_id:
            judged = await self._recalls.judged(caller.tenant_id, command.user_id, command.recall_id)
            command = replace(command, memories=judged)
        async with self._turns.turn(caller.tenant_id):
            recorded = await self._journal.append_feedback(caller, command)
        self.announce()
        return recorded

    async def _append(
        self, caller: Caller, commands: Sequence[RememberCommand], *, tries_session: bool = False
    ) -> Sequence[Appended | MnemeError]:
        outcomes = await self._journal.append(caller, commands, tries_session=tries_session)
        turn_count = sum(len(o.interaction_ids) for o in outcomes if isinstance(o, Appended) and not o.replayed)
        self._backlog.written(caller.tenant_id, turn_count)
        return outcomes

    def announce(self) -> None:
        """Reports that the journal has something to deliver."""
        self._dispatcher.wake()
        self._notice.announce()


async def _grouped(
    items: AsyncIterator[RememberCommand | MnemeError], settings: RememberSettings
) -> AsyncGenerator[list[RememberCommand | MnemeError], None]:
    """Collects items until a group is full or nothing more came for a moment."""
    group: list[RememberCommand | MnemeError] = []
    turns = 0
    pending: asyncio.Future[RememberCommand | MnemeError] | None = None
    try:
        while True:
            if pending is None:
                pending = asyncio.ensure_future(anext(items))
            await asyncio.wait([pending], timeout=settings.stream_group_seconds if group else None)
            if not pending.done() or turns >= settings.stream_group_turns:
                yield group
                group, turns = [], 0
                continue
            try:
                item = pending.result()
            except StopAsyncIteration:
                break
            finally:
                pending = None
            group.append(item)
            turns += len(item.turns) if isinstance(item, RememberCommand) else 1
        if group:
            yield group
    finally:
        if pending is not None:
            pending.cancel()
