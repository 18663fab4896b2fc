"""What the span of a call says by OpenTelemetry's GenAI conventions for memory (`gen_ai.memory.client`).

The name of such a span is its operation. Content, that is what is asked and what is remembered or found, is recorded
only where the application opts in.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

Attributes: TypeAlias = dict[str, str | int]

OPERATIONS: Final[Mapping[str, str]] = {
    "Remember": "upsert_memory",  # whether turns become new facts or confirm known ones is the service's decision
    "RememberBatch": "upsert_memory",
    "RememberStream": "upsert_memory",
    "Recall": "search_memory",
    "RecallStream": "search_memory",
    "BuildContext": "search_memory",
    "SearchEpisodes": "search_memory",
    "SearchFacts": "search_memory",
    "SearchNotes": "search_memory",
    "CreateFact": "create_memory",
    "CreateNote": "create_memory",
    "UpdateFact": "update_memory",
    "UpdateNote": "update_memory",
    "DeleteFact": "delete_memory",
    "DeleteNote": "delete_memory",
    "Erase": "delete_memory",
    "Forget": "delete_memory",
    "Correct": "update_memory",
}
"""Operations by the name of the RPC. Calls that are not here have spans by the conventions for RPC alone."""

_RECORD_IDS: Final = ("fact_id", "note_id")


def request_attributes(operation: str, request: Any, *, with_content: bool) -> Attributes:
    """What is known before the call.

    Args:
        operation: One of `OPERATIONS`.
        request: Of the call; None for a stream of requests.
        with_content: Whether to record the query.
    """
    asked = getattr(request, "recall", request)  # RecallStream wraps what Recall is asked
    found: Attributes = {"gen_ai.operation.name": operation, "gen_ai.provider.name": "mneme"}
    users = {item.user_id for item in getattr(asked, "items", ())} or {getattr(asked, "user_id", "")}
    optional = {
        "gen_ai.memory.store.id": users.pop() if len(users) == 1 else "",  # the store is a user's memory
        "gen_ai.memory.record.id": next(filter(None, (getattr(asked, name, "") for name in _RECORD_IDS)), ""),
        "gen_ai.memory.query.text": getattr(asked, "query", "") if with_content else "",
        "gen_ai.conversation.id": getattr(asked, "conversation_id", ""),
    }
    return found | {name: value for name, value in optional.items() if value}


def response_records(operation: str, request: Any, response: Any) -> Iterator[dict[str, Any]]:
    """The memories that a call wrote, found or deleted, as the conventions' schema of records has them.

    A response of a stream counts by itself; parts of a RecallStream before the last one hold nothing.
    """
    if operation == "delete_memory":
        yield from ({"id": getattr(request, name), "content": None} for name in _RECORD_IDS if hasattr(request, name))
        return
    whole = response.response if hasattr(response, "response") and not hasattr(response, "results") else response
    for result in getattr(whole, "results", ()):
        yield from response_records(operation, None, result.response)
    turns = getattr(request, "turns", ())
    for index, reference in enumerate(getattr(whole, "interactions", ())):
        yield {"id": reference.interaction_id, "content": turns[index].content if index < len(turns) else None}
    for memory in getattr(whole, "memories", ()):
        yield {"id": memory.memory_id, "content": memory.turn.content, "score": memory.score}
    for reason in getattr(whole, "reasons", ()):
        yield {"id": reason.memory_id, "content": None, "score": reason.score}
    for hit in (*getattr(whole, "facts", ()), *getattr(whole, "notes", ()), *getattr(whole, "hits", ())):
        yield _record(hit) | {"score": hit.score if hasattr(hit, "score") else hit.similarity}
    if any(hasattr(whole, name) for name in ("fact", "note")):
        yield _record(whole)


def records_json(records: list[dict[str, Any]]) -> str:
    """The records as the attribute `gen_ai.memory.records`."""
    return json.dumps(records, ensure_ascii=False)


def _record(holder: Any) -> dict[str, Any]:
    """A fact, a note or an episode with its id and text."""
    if hasattr(holder, "fact"):
        return {"id": holder.fact.fact_id, "content": holder.fact.text}
    if hasattr(holder, "note"):
        return {"id": holder.note.note_id, "content": holder.note.content}
    episode = holder.episode
    return {"id": episode.episode_id, "content": "\n".join(filter(None, (episode.query, episode.response)))}
