"""Writers, kills, restarts, and the verdict on what is there afterwards.

Of the callers, half go on repeating a call with its request id until it is acknowledged, as the client library
does, and half give up when a kill takes their answer away. So both sides are seen: what was acknowledged must be
there once, and what was not must be there entirely or not at all.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import grpc

from bench.common import BenchError, open_channel
from bench.durability_actors import LEAVERS, Actors
from bench.durability_child import Child, Kill
from bench.durability_model import MARKER_KEY, Call, DurabilityReport, Verdict, epoch_of
from bench.durability_verify import Stores, verify, verify_audit
from bench.gateway import Gateway
from bench.texts import TextSource
from mneme.common.v1 import common_pb2
from mneme.gateway.v1 import memory_pb2
from mneme_client import AuditCheckpoint, Client, RetryPolicy

_USERS: Final = 8
_CONVERSATIONS: Final = 3
_TURNS_MAX: Final = 3
_KILL_AFTER_SECONDS: Final = (0.3, 3.0)
_DATABASE_GAP_SECONDS: Final = (0.0, 0.5)
_CALL_SECONDS: Final = 10.0
_READY_SECONDS: Final = 300.0
"""Recovery after a kill included: a checkpoint syncs each file, which takes minutes on a slow disk."""
_POLL_SECONDS: Final = 0.05
_ONCE: Final = RetryPolicy(attempts_max=1)
_OVERLOADED: Final = (grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.RESOURCE_EXHAUSTED)
"""Answers of a service that lives: its callers go on."""
_REPEATING_CALLERS: Final = 32
_LEAVERS_SHARE: Final = 0.1
"""Calls of users who are erased in a later round."""
_CHECKPOINT_ROUNDS: Final = 10
"""A checkpoint of the audit log is taken in each of so many rounds."""


async def run_rounds(
    *,
    rounds: int,
    in_flight: int,
    seed: int,
    data_dir: Path,
    calls_per_round: int = 2_000,
    is_mixed: bool = True,
    told: Callable[[str], None] = lambda _: None,
) -> DurabilityReport:
    """Write, kill and restart for some rounds, let the store come to rest, and verify it.

    Args:
        rounds: Kills; what is killed takes turns through `Kill`.
        in_flight: Callers that write at the same time.
        seed: Of texts, choices and the moments of the kills.
        data_dir: Folder of the store; need not exist. Its neighbour with the suffix `.log` takes the output.
        calls_per_round: Most new calls between two kills.
        is_mixed: Whether erasures, imports and maintenance run beside the writers.
        told: Called with what was done, in words, for who watches: a long run says nothing else before its end.

    Returns:
        The verdict; nothing is raised for violations.

    Raises:
        BenchError: The services did not come up, or the backlog does not empty.
    """
    run = _Run(random.Random(seed), TextSource(seed), Child(data_dir), in_flight, is_mixed=is_mixed, told=told)
    try:
        await run.start()
        for number in range(rounds):
            variant = list(Kill)[number % len(Kill)]
            await run.write_and_kill(variant, calls_max=calls_per_round, round_number=number)
            await run.start()
            told(f"{number + 1} of {rounds} kills: {variant.value}")
        return await run.settle_and_verify()
    finally:
        await run.stop()


class _Run:
    """State of one run."""

    def __init__(
        self,
        choice: random.Random,
        texts: TextSource,
        child: Child,
        in_flight: int,
        *,
        is_mixed: bool,
        told: Callable[[str], None],
    ) -> None:
        self._choice = choice
        self._texts = texts
        self._child = child
        self._in_flight = in_flight
        self._is_mixed = is_mixed
        self._told = told
        self._calls: list[Call] = []
        self._actors = Actors(choice, texts, self._calls)
        self._checkpoints: list[AuditCheckpoint] = []
        self._kills: Counter[str] = Counter()
        self._start_seconds: list[float] = []
        self._started = 0.0

    async def start(self) -> None:
        """Start the child and wait until its gateway answers."""
        self._started = time.perf_counter()
        self._child.start()
        async with open_channel(self._child.addresses.gateway) as channel:
            gateway = Gateway(channel)
            while True:
                self._child.check_alive()
                try:
                    await gateway.backlog()
                    break
                except grpc.aio.AioRpcError as error:
                    if time.perf_counter() - self._started > _READY_SECONDS:
                        raise BenchError(f"the services do not answer: {error.details()}") from error
                await asyncio.sleep(_POLL_SECONDS)
        self._start_seconds.append(round(time.perf_counter() - self._started, 3))

    async def stop(self) -> None:
        """End the child."""
        await self._child.stop()

    async def write_and_kill(self, variant: Kill, *, calls_max: int, round_number: int) -> None:
        """Let all callers write beside erasures, an import and maintenance, and kill at a random moment."""
        unanswered = [call for call in self._calls if call.repeats and not call.is_acknowledged]
        work = itertools.chain(unanswered, self._new_calls(calls_max, round_number))
        address = self._child.addresses.gateway
        async with open_channel(address) as channel, Client(address, retry=_ONCE) as client:
            gateway = Gateway(channel)
            if round_number % _CHECKPOINT_ROUNDS == 0:
                await self._take_checkpoint()
            killed = asyncio.Event()
            callers = [asyncio.create_task(self._write(gateway, work)) for _ in range(self._in_flight)]
            if self._is_mixed:
                work_beside = self._actors.work(gateway, client, round_number=round_number, killed=killed)
                callers.append(asyncio.create_task(work_beside))
            try:
                await asyncio.sleep(self._choice.uniform(*_KILL_AFTER_SECONDS))
                gap = self._choice.uniform(*_DATABASE_GAP_SECONDS)
                await self._child.kill(variant, gap_seconds=gap)
                self._kills[variant] += 1
            finally:
                killed.set()
                # What was answered before the kill is still to be read from the connection.
                _, late = await asyncio.wait(callers, timeout=_CALL_SECONDS)
                for caller in late:
                    caller.cancel()
                await asyncio.gather(*callers, return_exceptions=True)
        _raise_failure(callers)

    async def _take_checkpoint(self) -> None:
        async with Client(self._child.addresses.gateway) as client:
            self._checkpoints.append(await client.get_audit_checkpoint())

    async def settle_and_verify(self) -> DurabilityReport:
        """Repeat what its callers still want, wait until nothing waits, and check every store."""
        restarted = self._started
        addresses = self._child.addresses
        async with contextlib.AsyncExitStack() as stack:
            gateway = Gateway(await stack.enter_async_context(open_channel(addresses.gateway)))
            client = await stack.enter_async_context(Client(addresses.gateway))
            await self._actors.finish(gateway, client)
            await self._answer_all(gateway)
            backlog = await gateway.wait_delivered(
                on_progress=lambda pending: self._told(f"{pending} deliveries wait"), poll_seconds=5.0
            )
            converge_seconds = time.perf_counter() - restarted
            verdict = Verdict()
            if backlog.dead:
                verdict.add("half", f"{backlog.dead} deliveries were given up")
            stores = Stores(
                gateway,
                episodic=await stack.enter_async_context(open_channel(addresses.episodic)),
                semantic=await stack.enter_async_context(open_channel(addresses.semantic)),
                agentic=await stack.enter_async_context(open_channel(addresses.agentic)),
            )
            users = sorted({call.user_id for call in self._calls})
            stored = await verify(stores, users, self._calls, verdict)
            await self._take_checkpoint()
            entries = await verify_audit(client, self._checkpoints, verdict)
        return self._report(verdict, stored=stored, entries=entries, converge_seconds=converge_seconds)

    def _report(self, verdict: Verdict, *, stored: int, entries: int, converge_seconds: float) -> DurabilityReport:
        turns = Counter[bool]()
        for call in self._calls:
            turns[call.is_acknowledged] += len(call.texts)
        return DurabilityReport(
            kills=self._kills.total(),
            kills_by_variant=dict(self._kills),
            calls=len(self._calls),
            repeated=sum(call.attempts > 1 for call in self._calls),
            acknowledged=turns[True],
            unacknowledged=turns[False],
            stored=stored,
            lost=verdict.counts["lost"],
            duplicated=verdict.counts["duplicated"],
            half=verdict.counts["half"],
            returned=verdict.counts["returned"],
            audit=verdict.counts["audit"],
            erasures=len(self._actors.removals),
            erased=sum(len(call.erased) for call in self._calls),
            imports=self._actors.imports,
            jobs=self._actors.jobs_run,
            audit_entries=entries,
            unexpected=dict(self._actors.unexpected),
            converge_seconds=round(converge_seconds, 3),
            restart_seconds=self._start_seconds[1:],
            problems=tuple(verdict.problems),
        )

    def _new_calls(self, count: int, round_number: int) -> Iterator[Call]:
        for _ in range(count):
            number = len(self._calls)
            leaves = self._choice.random() < _LEAVERS_SHARE
            epoch = epoch_of(round_number)
            call = Call(
                request_id=f"call-{number:06}",
                user_id=f"{LEAVERS}{epoch}" if leaves else f"user-{self._choice.randrange(_USERS)}",
                conversation_id=f"conversation-{epoch}-{self._choice.randrange(_CONVERSATIONS)}",
                epoch=epoch,
                texts=tuple(self._text(number) for _ in range(self._choice.randint(1, _TURNS_MAX))),
                repeats=self._choice.random() < 0.5,
            )
            self._calls.append(call)
            yield call

    def _text(self, number: int) -> str:
        return f"{self._texts.turn().text} That was entry {number}-{self._choice.randrange(1_000_000)}."

    async def _write(self, gateway: Gateway, work: Iterator[Call]) -> None:
        """One caller: takes the next call until the service is gone."""
        for call in work:
            try:
                await send_call(gateway, call)
            except grpc.aio.AioRpcError as error:
                if error.code() not in _OVERLOADED:
                    return

    async def _answer_all(self, gateway: Gateway) -> None:
        """Bring every call to its end whose caller does not give up; also one in ten that was answered already."""
        work = iter(
            [
                call
                for call in self._calls
                if (call.repeats and not call.is_acknowledged) or (call.is_acknowledged and self._choice.random() < 0.1)
            ]
        )
        deadline = time.monotonic() + _READY_SECONDS

        async def answer() -> None:
            for call in work:
                while True:
                    try:
                        await send_call(gateway, call)
                        break
                    except grpc.aio.AioRpcError as error:
                        if time.monotonic() > deadline:
                            raise BenchError(f"a repeat was not answered: {error.details()}") from error
                    await asyncio.sleep(_POLL_SECONDS)

        await asyncio.gather(*[answer() for _ in range(_REPEATING_CALLERS)])


async def send_call(gateway: Gateway, call: Call) -> None:
    """Make a call once and note its answer."""
    request = memory_pb2.RememberRequest(
        request_id=call.request_id, user_id=call.user_id, conversation_id=call.conversation_id
    )
    for text, marker in zip(call.texts, call.markers, strict=True):
        request.turns.add(role=common_pb2.MESSAGE_ROLE_USER, content=text, metadata={MARKER_KEY: marker})
    call.attempts += 1
    response = await gateway.memory.Remember(request, timeout=_CALL_SECONDS, metadata=gateway.metadata)
    interaction_ids = tuple(reference.interaction_id for reference in response.interactions)
    call.note_response(interaction_ids)


def _raise_failure(callers: list[asyncio.Task[None]]) -> None:
    for caller in callers:
        if not caller.cancelled() and (error := caller.exception()) is not None:
            raise error
