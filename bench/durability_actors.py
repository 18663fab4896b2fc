"""What runs beside the writers of the durability run: erasures, an import, and maintenance.

Each stops where a kill takes the services away, and goes on in the next round with what it had not finished.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter, defaultdict
from collections.abc import Awaitable, Sequence
from typing import Final

import grpc

from bench.durability_model import MARKER_KEY, Call, Removal, epoch_of
from bench.gateway import Gateway
from bench.texts import TextSource
from mneme.gateway.v1 import erasure_pb2, maintenance_pb2, maintenance_pb2_grpc, tiers_pb2
from mneme_client import Client, ItemError, MnemeClientError, RememberItem, RememberResult, Turn

CALL_SECONDS: Final = 10.0
_PAUSE_SECONDS: Final = (0.02, 0.3)
_ERASERS: Final = 3
_IMPORTED_TURNS: Final = 12
"""Of one import, in one conversation: it takes several rounds where kills are close."""
_MEMORIES_SHARE: Final = 0.6
"""Erasures of a single memory; the others are of conversations, and of users who left."""
_REPEATS_SHARE: Final = 0.5
"""Erasures that repeat one of an earlier round, where some have no answer: a kill may hit each several times."""
_UNEXPECTED: Final = (grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN, grpc.StatusCode.DATA_LOSS)
LEAVERS: Final = "leaver-"
"""Prefix of users who write in one round and are erased in a later one."""


class Actors:
    """Erases, imports and maintains beside the writers of a run.

    Args:
        choice: Of what is erased, maintained, and when.
        texts: Of imported turns.
        calls: Every call of the run; imported turns are added to it.
    """

    def __init__(self, choice: random.Random, texts: TextSource, calls: list[Call]) -> None:
        self.removals: list[Removal] = []
        self.jobs_run = 0
        self.imports = 0
        self.unexpected = Counter[str]()
        self._choice = choice
        self._texts = texts
        self._calls = calls
        self._jobs: Sequence[str] = ()
        self._import: list[Call] = []
        self._job_numbers = 0

    async def work(self, gateway: Gateway, client: Client, *, round_number: int, killed: asyncio.Event) -> None:
        """Erase, import and maintain until the services are gone.

        Args:
            gateway: Stubs of the running gateway.
            client: A client of the same gateway.
            round_number: No conversation and no user of its epoch is erased: calls of it are still being made.
            killed: Set once the services are gone.
        """
        waiting = [removal for removal in self.removals if not removal.is_acknowledged]
        erasers = [self._erase(gateway, waiting, round_number) for _ in range(_ERASERS)]
        results = await asyncio.gather(
            *erasers, self._maintain(gateway), self._bring_in(client, killed), return_exceptions=True
        )
        for result in results:
            if isinstance(result, Exception) and not isinstance(result, grpc.aio.AioRpcError):
                raise result

    async def finish(self, gateway: Gateway, client: Client) -> None:
        """Bring every erasure and the import to its end.

        Raises:
            grpc.aio.AioRpcError: An erasure was refused.
            MnemeClientError: The import was refused.
        """
        for removal in self.removals:
            if not removal.is_acknowledged:
                await self._send(gateway, removal)
        for removal in self.removals:
            await self._wait_done(gateway, removal)
        if any(not call.is_acknowledged for call in self._import):
            await self._import_turns(client)

    async def _erase(self, gateway: Gateway, waiting: list[Removal], round_number: int) -> None:
        while True:
            is_repeat = bool(waiting) and self._choice.random() < _REPEATS_SHARE
            removal = waiting.pop() if is_repeat else self._next_removal(round_number)
            if removal is not None and not await self._tried(self._send(gateway, removal)):
                return
            await asyncio.sleep(self._choice.uniform(*_PAUSE_SECONDS))

    def _next_removal(self, round_number: int) -> Removal | None:
        is_single = self._choice.random() < _MEMORIES_SHARE
        removal = self._of_a_memory() if is_single else self._of_a_group(round_number)
        if removal is not None:
            self.removals.append(removal)
        return removal

    def _of_a_memory(self) -> Removal | None:
        for call in self._choice.sample(self._calls, min(20, len(self._calls))):
            if call.is_acknowledged and not call.erased and not call.is_imported:
                place = self._choice.randrange(len(call.texts))
                call.erased |= {call.markers[place]}
                return Removal(self._next_id(), call.user_id, memory_ids=(call.interaction_ids[place],))
        return None

    def _of_a_group(self, round_number: int) -> Removal | None:
        """Of a conversation, or of a user who left, that nobody writes to any more: what is said later stays."""
        epoch = epoch_of(round_number)
        groups: defaultdict[tuple[str, str], list[Call]] = defaultdict(list)
        for call in self._calls[-20_000:]:
            if not call.is_imported:
                groups[call.user_id, "" if call.user_id.startswith(LEAVERS) else call.conversation_id].append(call)
        names = list(groups)
        for name in self._choice.sample(names, min(20, len(names))):
            calls = groups[name]
            settled = all(call.epoch < epoch and (call.is_acknowledged or not call.repeats) for call in calls)
            if settled and not all(call.erased == set(call.markers) for call in calls):
                for call in calls:
                    call.erased |= set(call.markers)
                return Removal(self._next_id(), name[0], conversation_id=name[1])
        return None

    def _next_id(self) -> str:
        return f"erasure-{len(self.removals):06}"

    async def _send(self, gateway: Gateway, removal: Removal) -> None:
        request = erasure_pb2.EraseRequest(request_id=removal.request_id, user_id=removal.user_id)
        if removal.memory_ids:
            for memory_id in removal.memory_ids:
                request.memories.memories.add(kind=tiers_pb2.MEMORY_KIND_EPISODE, memory_id=memory_id)
        elif removal.conversation_id:
            request.conversation_id = removal.conversation_id
        else:
            request.all_of_user = True
        response = await gateway.erasures.Erase(request, timeout=CALL_SECONDS, metadata=gateway.metadata)
        removal.erasure_id = response.erasure.erasure_id

    async def _wait_done(self, gateway: Gateway, removal: Removal) -> None:
        request = erasure_pb2.GetErasureRequest(erasure_id=removal.erasure_id)
        while True:
            response = await gateway.erasures.GetErasure(request, timeout=CALL_SECONDS, metadata=gateway.metadata)
            if response.erasure.state == erasure_pb2.ERASURE_STATE_DONE:
                return
            await asyncio.sleep(_PAUSE_SECONDS[-1])

    async def _maintain(self, gateway: Gateway) -> None:
        jobs = maintenance_pb2_grpc.MaintenanceServiceStub(gateway.channel)
        while True:
            if not self._jobs:
                request = maintenance_pb2.GetJobsRequest()
                response = await jobs.GetJobs(request, timeout=CALL_SECONDS, metadata=gateway.metadata)
                self._jobs = [job.name for job in response.jobs]
            users = sorted({call.user_id for call in self._calls[-500:]})
            if users:
                self._job_numbers += 1
                run = maintenance_pb2.RunJobRequest(
                    request_id=f"job-{self._job_numbers:06}",
                    user_id=self._choice.choice(users),
                    job=self._choice.choice(self._jobs),
                )
                if not await self._tried(jobs.RunJob(run, timeout=CALL_SECONDS, metadata=gateway.metadata)):
                    return
                self.jobs_run += 1
            await asyncio.sleep(self._choice.uniform(*_PAUSE_SECONDS))

    async def _bring_in(self, client: Client, killed: asyncio.Event) -> None:
        while not killed.is_set():
            if all(call.is_acknowledged for call in self._import):
                self._begin_import()
            try:
                await self._import_turns(client)
                self.imports += 1
            except MnemeClientError:  # also right after a start: a channel waits before it connects again
                await asyncio.sleep(_PAUSE_SECONDS[0])

    def _begin_import(self) -> None:
        self._import = [
            Call(
                request_id=f"import-{self.imports:04}-{number:04}",
                user_id=f"imported-{self.imports % 5}",
                conversation_id=f"import-{self.imports:04}",
                texts=(f"{self._texts.turn().text} Entry {self.imports}-{number} of the file.",),
                is_imported=True,
            )
            for number in range(_IMPORTED_TURNS)
        ]
        self._calls += self._import

    async def _import_turns(self, client: Client) -> None:
        """As `mneme import` does: a stream of single turns with request ids, from its beginning each time."""
        calls = self._import

        def note(index: int, outcome: RememberResult | ItemError) -> None:
            if isinstance(outcome, RememberResult):
                calls[index].note_response(tuple(reference.interaction_id for reference in outcome.interactions))

        await client.remember_stream([_item(call) for call in calls], on_outcome=note)

    async def _tried(self, call: Awaitable[object]) -> bool:
        """Whether the services are there; a call that they refuse is made again or left."""
        try:
            await call
        except grpc.aio.AioRpcError as error:
            if error.code() in _UNEXPECTED:
                self.unexpected[f"{error.code().name}: {error.details()}"] += 1
            return error.code() is not grpc.StatusCode.UNAVAILABLE
        return True


def _item(call: Call) -> RememberItem:
    turn = Turn(call.texts[0], metadata={MARKER_KEY: call.markers[0]})
    return RememberItem(call.user_id, call.conversation_id, turn, request_id=call.request_id)
