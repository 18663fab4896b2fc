"""Lists of supersessions as a reader in a scope sees them: the tier knows the turns of a pair, and not their places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from mneme.episodic.v1 import episodic_pb2
from mneme.semantic.v1 import supersessions_pb2 as pb
from services.common.auth import Principal, current_principal
from services.common.convert import scope_from_proto
from services.common.paging import Cursor
from services.common.reading import reader_identity
from services.common.rpc.deadline import seconds_left
from services.common.rpc.interceptors.base import Context
from services.gateway.door import Handler
from services.gateway.grants.model import MemoryKind, Readers
from services.gateway.grants.service import ReaderGrants
from services.gateway.servicer import UseCases

_PAGE_SIZE_DEFAULT: Final = 50
_PAGE_SIZE_MAX: Final = 200
"""As of the tier; the turns of so many pairs are read in one call."""


class SupersessionHandlers:
    """Methods of SupersessionService that the gateway serves itself."""

    def __init__(self, use_cases: UseCases, grants: ReaderGrants) -> None:
        """Reads the tiers of `use_cases` as readers with `grants`."""
        self._use = use_cases
        self._grants = grants

    def by_name(self) -> Mapping[str, Handler]:
        """The handlers by full name."""
        return {"mneme.semantic.v1.SupersessionService.ListSupersessions": self.list_supersessions}

    async def list_supersessions(
        self, request: pb.ListSupersessionsRequest, _context: Context
    ) -> pb.ListSupersessionsResponse:
        """See supersessions.proto."""
        caller = current_principal()
        if not request.HasField("reader_scope"):
            return await self._page(caller, request)
        self._use.reader.user(request.user_id)
        scope = scope_from_proto(request.reader_scope, present=True, field_path="reader_scope")
        readers = Readers(scope, await self._grants.to(caller.tenant_id, request.user_id, scope))
        return await self._seen_page(caller, request, readers)

    async def _seen_page(
        self, caller: Principal, request: pb.ListSupersessionsRequest, readers: Readers
    ) -> pb.ListSupersessionsResponse:
        """Pages of the tier are read until one is full of pairs of which the reader sees both turns.

        The token names a page of the tier and the last pair of it that was returned.
        """
        size = min(request.page_size or _PAGE_SIZE_DEFAULT, _PAGE_SIZE_MAX)
        query: Cursor = ("ListSupersessions", request.user_id, int(request.state), *reader_identity(request))
        cursor = self._use.pages.decode(request.page_token, tenant_id=caller.tenant_id, query=query)
        tier_token, time, last_id = cursor if cursor is not None else ("", 0, "")
        asked = pb.ListSupersessionsRequest(
            user_id=request.user_id,
            state=request.state,
            # A negative size is the tier's to refuse.
            page_size=_PAGE_SIZE_MAX if request.page_size >= 0 else request.page_size,
            page_token=str(tier_token),
        )
        chosen: list[tuple[str, pb.Supersession]] = []  # each with the token of its page
        while True:
            page = await self._page(caller, asked)
            behind = [one for one in page.supersessions if cursor is None or _is_behind(one, int(time), str(last_id))]
            chosen += [(asked.page_token, one) for one in await self._seen(caller, request, readers, behind)]
            if len(chosen) > size or not page.next_page_token:
                break
            asked.page_token = page.next_page_token
        response = pb.ListSupersessionsResponse(supersessions=[one for _, one in chosen[:size]])
        for one in response.supersessions:
            one.ClearField("premise")  # of a third turn, whose place is not known
        if len(chosen) > size:
            token, last = chosen[size - 1]
            following: Cursor = (token, last.create_time.ToMicroseconds(), last.supersession_id)
            response.next_page_token = self._use.pages.encode(following, tenant_id=caller.tenant_id, query=query)
        return response

    async def _seen(
        self,
        caller: Principal,
        request: pb.ListSupersessionsRequest,
        readers: Readers,
        pairs: Sequence[pb.Supersession],
    ) -> list[pb.Supersession]:
        """Those of the pairs of which the reader sees both turns."""
        wanted = list(dict.fromkeys(turn for one in pairs for turn in (one.memory_id, one.superseded_by)))
        principal = readers.principal(caller, MemoryKind.EPISODE)
        seen: set[str] = set()
        while wanted:
            asked = episodic_pb2.BatchGetEpisodesRequest(
                user_id=request.user_id, episode_ids=wanted, reader_scope=request.reader_scope
            )
            found = await self._use.upstream.episodic.batch_get(
                principal, asked, timeout_seconds=seconds_left(self._use.deadline_seconds)
            )
            seen.update(episode.episode_id for episode in found.episodes)
            wanted = list(found.omitted_episode_ids)
        return [one for one in pairs if one.memory_id in seen and one.superseded_by in seen]

    async def _page(self, caller: Principal, request: pb.ListSupersessionsRequest) -> pb.ListSupersessionsResponse:
        timeout_seconds = seconds_left(self._use.deadline_seconds)
        return await self._use.upstream.supersessions.list_page(caller, request, timeout_seconds=timeout_seconds)


def _is_behind(one: pb.Supersession, time: int, last_id: str) -> bool:
    """Whether a pair stands behind the last one of a page, in the order of the tier: newest first, ties by id."""
    own = one.create_time.ToMicroseconds()
    return own < time or (own == time and one.supersession_id > last_id)
