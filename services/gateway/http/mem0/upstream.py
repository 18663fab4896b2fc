"""The gateway's own handlers, as one request of mem0's client calls them."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import grpc
from google.protobuf.timestamp_pb2 import Timestamp

from mneme.common.v1 import common_pb2
from mneme.episodic.v1 import episodic_pb2, episodic_pb2_grpc
from mneme.gateway.v1 import erasure_pb2, erasure_pb2_grpc, memory_pb2, memory_pb2_grpc, recall_pb2, tiers_pb2
from mneme.semantic.v1 import supersessions_pb2
from services.common.rpc.in_process import InProcessChannel
from services.gateway.http.mem0.memories import Said, recalled, said_in
from services.gateway.http.mem0.refused import RefusedError

Metadata: TypeAlias = tuple[tuple[str, str], ...]

_EPISODES_PAGE: Final = 200
_DEPTH_MAX: Final = 64  # corrections of corrections that a search follows
_LOOK_SECONDS: Final = 0.1
"""Between two looks at an erasure that is not done."""
_NO_PLACE: Final = common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_GLOBAL, context_id="mem0 wait")
"""Where nothing is: a recall that waits for a write counts no memory as used."""


class Handlers:
    """Stubs of the gateway's services over a channel within the process."""

    def __init__(self, channel: InProcessChannel) -> None:
        """Calls pass the same authentication, limits, audit and traces as by gRPC."""
        self.memories = memory_pb2_grpc.MemoryServiceStub(channel)
        self.erasures = erasure_pb2_grpc.ErasureServiceStub(channel)
        self.episodes = episodic_pb2_grpc.EpisodicServiceStub(channel)


class Upstream:
    """The calls of one HTTP request, on behalf of its caller."""

    def __init__(
        self, handlers: Handlers, metadata: Metadata, *, tenant_id: str, listed_max: int, wait_seconds: float
    ) -> None:
        """Calls with a request's credential and trace.

        Args:
            handlers: Of the gateway.
            metadata: Of every call.
            tenant_id: Whose the credential is; the handlers take it from the credential themselves.
            listed_max: Turns that a list reads at most.
            wait_seconds: How long a write waits until searches find it, a deletion until nothing does; 0: not at all.
        """
        self._handlers = handlers
        self._metadata = metadata
        self.tenant_id = tenant_id
        self._listed_max = listed_max
        self._wait_seconds = wait_seconds

    async def remember(
        self, user_id: str, conversation_id: str, turns: Sequence[common_pb2.Turn], scope: common_pb2.Scope
    ) -> memory_pb2.RememberResponse:
        """Writes turns."""
        request = memory_pb2.RememberRequest(
            request_id=_request_id(), user_id=user_id, conversation_id=conversation_id, turns=turns, scope=scope
        )
        response: memory_pb2.RememberResponse = await self._call(self._handlers.memories.Remember, request)
        return response

    async def is_visible(self, user_id: str, consistency_token: str) -> bool:
        """Waits until searches find a write; False where they do not in time."""
        if not self._wait_seconds:
            return False
        request = recall_pb2.RecallRequest(
            user_id=user_id,
            query="hello",
            limit=1,
            scope=_NO_PLACE,
            consistency_token=consistency_token,
            tiers=[tiers_pb2.TIER_EPISODIC],  # searches here return what this tier finds; facts and notes may follow
        )
        try:
            found = await self._handlers.memories.Recall(request, metadata=self._metadata, timeout=self._wait_seconds)
        except grpc.aio.AioRpcError:  # the write itself is durable: only its visibility is not known
            return False
        return bool(found.consistent)

    async def recall(self, request: recall_pb2.RecallRequest) -> Sequence[recall_pb2.Memory]:
        """Recalled turns, best first."""
        response: recall_pb2.RecallResponse = await self._call(self._handlers.memories.Recall, request)
        return response.memories

    async def ancestors(self, user_id: str, turns: Sequence[Said]) -> list[Said]:
        """The turns that these correct, and those that they correct, and so on."""
        known = {said.interaction_id for said in turns}
        found: list[Said] = []
        wanted = {one for said in turns for one in said.corrects} - known
        for _ in range(_DEPTH_MAX):
            if not wanted:
                break
            request = episodic_pb2.BatchGetEpisodesRequest(user_id=user_id, episode_ids=sorted(wanted)[:500])
            response = await self._call(self._handlers.episodes.BatchGetEpisodes, request)
            known |= wanted
            new = [said_in(episode) for episode in response.episodes]
            found += new
            wanted = {one for said in new for one in said.corrects} - known
        return found

    async def episode(self, user_id: str, episode_id: str) -> episodic_pb2.Episode:
        """One turn."""
        request = episodic_pb2.GetEpisodeRequest(user_id=user_id, episode_id=episode_id)
        response: episodic_pb2.GetEpisodeResponse = await self._call(self._handlers.episodes.GetEpisode, request)
        return response.episode

    async def listed(self, user_id: str, conversation_id: str = "") -> list[Said]:
        """All turns of a user, or of a conversation, that searches may find; newest first.

        Raises:
            RefusedError: There are too many to list them all for one request.
        """
        found: list[Said] = []
        token = ""
        while True:
            request = episodic_pb2.ListEpisodesRequest(
                user_id=user_id, conversation_id=conversation_id, page_size=_EPISODES_PAGE, page_token=token
            )
            response = await self._call(self._handlers.episodes.ListEpisodes, request)
            shown = (e for e in response.episodes if e.status != episodic_pb2.EPISODE_STATUS_ARCHIVED)
            found += map(said_in, shown)
            token = response.next_page_token
            if not token:
                return found
            if len(found) >= self._listed_max:
                raise RefusedError(
                    f"there are more than {self._listed_max} turns: read them by mneme.episodic.v1.EpisodicService"
                )

    async def correct(self, user_id: str, interaction_id: str, text: str, time: Timestamp | None) -> str:
        """Puts a text in the place of a turn; returns the consistency token."""
        request = erasure_pb2.CorrectRequest(
            request_id=_request_id(),
            user_id=user_id,
            memory=_turns([interaction_id])[0],
            text=text,
            time=time,
            whole_turn=True,
        )
        response: erasure_pb2.CorrectResponse = await self._call(self._handlers.erasures.Correct, request)
        return response.consistency_token

    async def erase_turns(self, user_id: str, interaction_ids: Sequence[str]) -> None:
        """Erases turns."""
        await self._erase(user_id, memories=erasure_pb2.MemoryReferences(memories=_turns(interaction_ids)))

    async def erase_scope(self, user_id: str, scope: common_pb2.Scope) -> None:
        """Erases all of a place."""
        await self._erase(user_id, scope=erasure_pb2.ScopeTarget(scope=scope))

    async def erase_user(self, user_id: str) -> None:
        """Erases all of a user."""
        await self._erase(user_id, all_of_user=True)

    async def judge(self, user_id: str, interaction_id: str, value: int) -> None:
        """Records a judgement of a turn."""
        request = memory_pb2.FeedbackRequest(
            request_id=_request_id(),
            user_id=user_id,
            value=memory_pb2.FeedbackValue.Name(value),
            memories=_turns([interaction_id]),
        )
        await self._call(self._handlers.memories.Feedback, request)

    async def _erase(self, user_id: str, **target: Any) -> None:
        """Erases, and waits until nothing of it is found any more; an erasure that takes longer goes on by itself."""
        request = erasure_pb2.EraseRequest(request_id=_request_id(), user_id=user_id, **target)
        erasure = (await self._call(self._handlers.erasures.Erase, request)).erasure
        reading = erasure_pb2.GetErasureRequest(erasure_id=erasure.erasure_id)
        with contextlib.suppress(TimeoutError, grpc.aio.AioRpcError):  # it is durable: only its end is not known
            async with asyncio.timeout(self._wait_seconds):
                while erasure.state == erasure_pb2.ERASURE_STATE_PENDING:
                    await asyncio.sleep(_LOOK_SECONDS)
                    erasure = (await self._call(self._handlers.erasures.GetErasure, reading)).erasure

    async def _call(self, rpc: Any, request: Any) -> Any:
        return await rpc(request, metadata=self._metadata)


def turns_of(memories: Sequence[recall_pb2.Memory]) -> list[Said]:
    """Recalled turns, without those that a later version takes the place of."""
    return [recalled(memory) for memory in memories if not _is_replaced(memory)]


def _is_replaced(memory: recall_pb2.Memory) -> bool:
    corrected = supersessions_pb2.SUPERSESSION_REASON_CORRECTED
    return any(one.whole_turn and one.reason == corrected for one in memory.superseded_statements)


def _turns(interaction_ids: Sequence[str]) -> list[memory_pb2.MemoryReference]:
    return [memory_pb2.MemoryReference(kind=tiers_pb2.MEMORY_KIND_EPISODE, memory_id=one) for one in interaction_ids]


def _request_id() -> str:
    return f"mem0-{uuid.uuid4()}"
