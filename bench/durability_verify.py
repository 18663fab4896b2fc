"""Reads every store through its public API and checks it against the calls that were made."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from typing import Any, Final

from bench.common import Channel
from bench.durability_model import (
    MARKER_KEY,
    Call,
    Derived,
    LoggedTurn,
    Verdict,
    check_derived,
    check_episodes,
    check_log,
    check_window,
    erased_ids,
)
from bench.gateway import CALL_SECONDS, Gateway, retried
from mneme.agentic.v1 import notes_pb2, notes_pb2_grpc
from mneme.episodic.v1 import episodic_pb2, episodic_pb2_grpc
from mneme.gateway.v1 import conversations_pb2
from mneme.semantic.v1 import facts_pb2, facts_pb2_grpc
from mneme.session.v1 import session_pb2
from mneme_client import AuditCheckpoint, Client
from services.common.audit.checkpoint import read_checkpoint
from services.common.audit.verification import AuditEntry, verify_log

_PAGE_SIZE: Final = 200
_SEARCHES_MAX: Final = 300
"""Episodes that are searched for by their own text: the index is checked by sample, since a search takes a while."""
_SEARCH_TOP: Final = 50
_DEGRADED_SECONDS: Final = 60.0
"""How long a session is asked for again while its store is not reached."""
_POLL_SECONDS: Final = 0.2


class Stores:
    """Reads the log, the sessions and the tiers page by page."""

    def __init__(self, gateway: Gateway, *, episodic: Channel, semantic: Channel, agentic: Channel) -> None:
        """Use open channels."""
        self._gateway = gateway
        self._episodes = episodic_pb2_grpc.EpisodicServiceStub(episodic.channel)
        self._facts = facts_pb2_grpc.FactServiceStub(semantic.channel)
        self._notes = notes_pb2_grpc.NoteServiceStub(agentic.channel)

    async def log_of(self, user_id: str) -> list[LoggedTurn]:
        """Every interaction of a user."""
        conversations = _pages(
            self._gateway.conversations.ListConversations,
            lambda token: conversations_pb2.ListConversationsRequest(
                user_id=user_id, page_size=_PAGE_SIZE, page_token=token
            ),
        )
        names = [item.conversation_id async for page in conversations for item in page.conversations]
        turns = []
        for name in names:
            pages = _pages(
                self._gateway.conversations.ListInteractions,
                lambda token, name=name: conversations_pb2.ListInteractionsRequest(  # type: ignore[misc]
                    user_id=user_id, conversation_id=name, page_size=_PAGE_SIZE, page_token=token
                ),
            )
            turns += [
                LoggedTurn(
                    interaction_id=item.interaction_id,
                    user_id=user_id,
                    conversation_id=name,
                    position=item.position,
                    marker=item.turn.metadata.get(MARKER_KEY, ""),
                    content=item.turn.content,
                )
                async for page in pages
                for item in page.interactions
            ]
        return turns

    async def window_of(self, user_id: str, conversation_id: str) -> tuple[list[str], int]:
        """Turn ids of a session's window, and how many turns it keeps.

        A degraded response, while the session store is not reached, is not the store's: it is asked again.
        """
        request = session_pb2.GetSessionRequest(user_id=user_id, conversation_id=conversation_id)
        response = await retried(lambda: self._gateway.sessions.GetSession(request, timeout=CALL_SECONDS))
        deadline = time.monotonic() + _DEGRADED_SECONDS
        while response.degraded and time.monotonic() < deadline:
            await asyncio.sleep(_POLL_SECONDS)
            response = await retried(lambda: self._gateway.sessions.GetSession(request, timeout=CALL_SECONDS))
        return [turn.interaction_id for turn in response.session.turns], response.session.window_turns

    async def episode_ids_of(self, user_id: str) -> list[str]:
        """Ids of a user's active episodes."""
        pages = _pages(
            self._episodes.ListEpisodes,
            lambda token: episodic_pb2.ListEpisodesRequest(
                user_id=user_id,
                status=episodic_pb2.EPISODE_STATUS_ACTIVE,
                page_size=_PAGE_SIZE,
                page_token=token,
            ),
        )
        return [item.episode_id async for page in pages for item in page.episodes]

    async def found_by_text(self, turn: LoggedTurn) -> int:
        """How often a search for a turn's own text returns it."""
        request = episodic_pb2.SearchEpisodesRequest(user_id=turn.user_id, query=turn.content, limit=_SEARCH_TOP)
        response = await retried(lambda: self._episodes.SearchEpisodes(request, timeout=CALL_SECONDS))
        return sum(hit.episode.episode_id == turn.interaction_id for hit in response.hits)

    async def texts_found(self, user_id: str, text: str) -> set[str]:
        """The texts that a search for a text returns."""
        request = episodic_pb2.SearchEpisodesRequest(user_id=user_id, query=text, limit=_SEARCH_TOP)
        response = await retried(lambda: self._episodes.SearchEpisodes(request, timeout=CALL_SECONDS))
        return {hit.episode.query for hit in response.hits}

    async def derived_of(self, user_id: str) -> list[Derived]:
        """A user's facts and notes."""
        facts = _pages(
            self._facts.ListFacts,
            lambda token: facts_pb2.ListFactsRequest(user_id=user_id, page_size=_PAGE_SIZE, page_token=token),
        )
        derived = [
            Derived("fact", item.fact_id, user_id, item.text, tuple(item.derived_from))
            async for page in facts
            for item in page.facts
        ]
        notes = _pages(
            self._notes.ListNotes,
            lambda token: notes_pb2.ListNotesRequest(user_id=user_id, page_size=_PAGE_SIZE, page_token=token),
        )
        return derived + [
            Derived("note", item.note_id, user_id, item.content, tuple(item.derived_from))
            async for page in notes
            for item in page.notes
        ]


async def verify(stores: Stores, users: Iterable[str], calls: Sequence[Call], verdict: Verdict) -> int:
    """Check all users' stores; returns the number of turns in the log."""
    log: list[LoggedTurn] = []
    erased = erased_ids(calls)
    shortened = {(call.user_id, call.conversation_id) for call in calls if call.erased}
    for user_id in users:
        turns = await stores.log_of(user_id)
        log += turns
        check_episodes(turns, await stores.episode_ids_of(user_id), verdict, erased=erased)
        check_derived(turns, await stores.derived_of(user_id), verdict, erased=erased)
        conversations: defaultdict[str, list[LoggedTurn]] = defaultdict(list)
        for turn in turns:
            conversations[turn.conversation_id].append(turn)
        for conversation_id, members in conversations.items():
            window, size = await stores.window_of(user_id, conversation_id)
            is_shortened = (user_id, conversation_id) in shortened
            check_window(members, window, size=size, verdict=verdict, is_shortened=is_shortened)
    check_log(calls, log, verdict)
    await _check_index(stores, log, verdict)
    await _check_erased(stores, [call for call in calls if call.erased], verdict)
    return len(log)


async def _check_erased(stores: Stores, calls: Sequence[Call], verdict: Verdict) -> None:
    """What was erased is not found by its own words; a sample."""
    step = max(1, len(calls) // _SEARCHES_MAX)
    for call in calls[::step]:
        text = next(text for marker, text in zip(call.markers, call.texts, strict=True) if marker in call.erased)
        if text in await stores.texts_found(call.user_id, text):
            verdict.add("returned", f"a search finds an erased turn of {call.request_id}")


async def verify_audit(client: Client, checkpoints: Sequence[AuditCheckpoint], verdict: Verdict) -> int:
    """The audit log against checkpoints that were taken during the run; returns the number of entries."""
    entries = [
        AuditEntry(entry.index, entry.commitment, entry.salt or None, entry.body or None)
        async for entry in client.list_audit_entries()
    ]
    read = [read_checkpoint(checkpoint.note, checkpoint.public_key) for checkpoint in checkpoints]
    for problem in verify_log(entries, read).problems:
        verdict.add("audit", problem)
    return len(entries)


async def _check_index(stores: Stores, log: Sequence[LoggedTurn], verdict: Verdict) -> None:
    """The vector index has what the episodes say: each of a sample is found by its own text, once."""
    step = max(1, len(log) // _SEARCHES_MAX)
    waiting = iter(log[::step])

    async def search() -> None:
        for turn in waiting:
            count = await stores.found_by_text(turn)
            if count == 0:
                verdict.add("lost", f"the search for the text of {turn.interaction_id} does not find it")
            elif count > 1:
                verdict.add("duplicated", f"a search returns {turn.interaction_id} {count} times")

    async with asyncio.TaskGroup() as group:
        for _ in range(4):
            group.create_task(search())


async def _pages(method: Callable[..., Awaitable[Any]], request: Callable[[str], Any]) -> AsyncIterator[Any]:
    token = ""
    while True:
        message = request(token)
        page = await retried(lambda message=message: method(message, timeout=CALL_SECONDS))  # type: ignore[misc]
        yield page
        token = page.next_page_token
        if not token:
            return
