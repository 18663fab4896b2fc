"""Episodes: what happened, turn by turn. They are written by `remember`; an episode's id is its interaction's."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime

from mneme.episodic.v1 import episodic_pb2
from mneme_client import from_wire_resources, to_wire
from mneme_client import resources as r
from mneme_client.aio.operations import Operations
from mneme_client.calls import PAGE_SIZE_MAX, Call, read_all, read_one, read_page
from mneme_client.enums import EpisodeStatus
from mneme_client.types import Scope

_SERVICE = "/mneme.episodic.v1.EpisodicService"


class EpisodeOperations(Operations):
    """Reads, searches, archives and restores episodes."""

    async def get_episode(
        self, user_id: str, episode_id: str, *, scope: Scope | None = None, timeout_seconds: float | None = None
    ) -> r.Episode:
        """An episode, whatever its status.

        With `scope`, that of a reader, only what it sees; None means every scope.
        """
        request = episodic_pb2.GetEpisodeRequest(
            user_id=user_id, episode_id=episode_id, reader_scope=to_wire.scope(scope)
        )
        read = read_one("episode", from_wire_resources.episode)
        return await self._call(
            Call(f"{_SERVICE}/GetEpisode", request, episodic_pb2.GetEpisodeResponse, read), timeout_seconds
        )

    def list_episodes(
        self,
        user_id: str,
        *,
        conversation_id: str = "",
        status: EpisodeStatus | None = None,
        start_time: datetime | None = None,
        end_time: datetime | None = None,
        page_size: int = PAGE_SIZE_MAX,
        scope: Scope | None = None,
        timeout_seconds: float | None = None,
    ) -> AsyncIterator[r.Episode]:
        """A user's episodes, newest first; pages are fetched as they are needed.

        Args:
            user_id: Whose memory.
            conversation_id: Only this conversation; empty means all.
            status: Only this one; None means all.
            start_time: Only what happened then or later.
            end_time: Only what happened before.
            page_size: Episodes in a page, at most 200.
            scope: The reader's: only what it sees. None means every scope.
            timeout_seconds: Deadline of the call for each page.
        """
        request = episodic_pb2.ListEpisodesRequest(
            user_id=user_id,
            conversation_id=conversation_id,
            status=to_wire.optional_enum_number(status),
            start_time=to_wire.optional_timestamp(start_time),
            end_time=to_wire.optional_timestamp(end_time),
            page_size=page_size,
            reader_scope=to_wire.scope(scope),
        )
        read = read_page("episodes", from_wire_resources.episode)
        call = Call(f"{_SERVICE}/ListEpisodes", request, episodic_pb2.ListEpisodesResponse, read)
        return self._pages(call, timeout_seconds)

    async def search_episodes(
        self,
        user_id: str,
        query: str,
        *,
        limit: int = 10,
        scope: Scope | None = None,
        as_of_time: datetime | None = None,
        known_at_time: datetime | None = None,
        timeout_seconds: float | None = None,
    ) -> tuple[r.ScoredEpisode, ...]:
        """The active episodes most similar to a query, best first. `recall` combines more evidence than this.

        Args:
            user_id: Whose memory.
            query: At most 8,000 characters.
            limit: At most this many, 1 to 200. The worst are omitted where the response would exceed 3 MiB.
            scope: The reader's scope; None means GLOBAL.
            as_of_time: Decay counts up to this time, and episodes that were archived since are found; None means now.
            known_at_time: Only what had been recorded by this time, also what was archived since; None means now.
            timeout_seconds: Deadline of this call.
        """
        request = episodic_pb2.SearchEpisodesRequest(
            user_id=user_id,
            query=query,
            reader_scope=to_wire.scope(scope),
            limit=limit,
            as_of_time=to_wire.optional_timestamp(as_of_time),
            known_at_time=to_wire.optional_timestamp(known_at_time),
        )
        read = read_all("hits", from_wire_resources.scored_episode)
        return await self._call(
            Call(f"{_SERVICE}/SearchEpisodes", request, episodic_pb2.SearchEpisodesResponse, read), timeout_seconds
        )

    async def compare_models(
        self,
        user_id: str,
        questions: Sequence[r.ModelQuestion],
        *,
        scope: Scope | None = None,
        timeout_seconds: float | None = None,
    ) -> r.ModelComparison:
        """Compares the present embedding model with the second one that is configured, on a user's episodes.

        Args:
            user_id: Whose memory.
            questions: 1 to 50.
            scope: The reader's scope; None means GLOBAL.
            timeout_seconds: Deadline of this call.
        """
        request = episodic_pb2.GetModelComparisonRequest(
            user_id=user_id,
            questions=[
                episodic_pb2.ModelQuestion(query=each.query, relevant_episode_ids=each.relevant_episode_ids)
                for each in questions
            ],
            reader_scope=to_wire.scope(scope),
        )
        response = episodic_pb2.GetModelComparisonResponse
        call = Call(f"{_SERVICE}/GetModelComparison", request, response, from_wire_resources.model_comparison)
        return await self._call(call, timeout_seconds)

    async def archive_episodes(
        self,
        user_id: str,
        episode_ids: Sequence[str] = (),
        *,
        conversation_id: str = "",
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> int:
        """Takes episodes out of every search at once, and returns how many were not archived before.

        Args:
            user_id: Whose memory.
            episode_ids: The episodes, at most 10,000. Ids that do not exist are ignored.
            conversation_id: All episodes of this conversation, instead of `episode_ids`.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.
        """
        request = episodic_pb2.ArchiveEpisodesRequest(
            request_id=request_id or to_wire.new_request_id(),
            user_id=user_id,
            episode_ids=episode_ids,
            conversation_id=conversation_id,
        )
        read = read_one("archived_count", int)
        call = Call(f"{_SERVICE}/ArchiveEpisodes", request, episodic_pb2.ArchiveEpisodesResponse, read)
        return await self._call(call, timeout_seconds)

    async def restore_episodes(
        self,
        user_id: str,
        episode_ids: Sequence[str] = (),
        *,
        conversation_id: str = "",
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> int:
        """Makes archived episodes searchable again, usually within a second, and returns how many.

        Args:
            user_id: Whose memory.
            episode_ids: The episodes, at most 10,000. Ids that do not exist are ignored.
            conversation_id: All archived episodes of this conversation, instead of `episode_ids`.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.
        """
        request = episodic_pb2.RestoreEpisodesRequest(
            request_id=request_id or to_wire.new_request_id(),
            user_id=user_id,
            episode_ids=episode_ids,
            conversation_id=conversation_id,
        )
        read = read_one("restored_count", int)
        call = Call(f"{_SERVICE}/RestoreEpisodes", request, episodic_pb2.RestoreEpisodesResponse, read)
        return await self._call(call, timeout_seconds)
