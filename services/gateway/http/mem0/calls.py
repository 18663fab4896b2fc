"""The calls of mem0's client, each from the request's parts to the JSON of the response."""

from __future__ import annotations

import ast
import math
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from mneme.gateway.v1 import memory_pb2, recall_pb2
from services.gateway.http.mem0.filters import Condition, created_between, read_filter
from services.gateway.http.mem0.json_values import read_json
from services.gateway.http.mem0.memories import Memory, Said, memories_of, parse_memory_id, said_in, write_metadata
from services.gateway.http.mem0.messages import read_turns, timestamp_of
from services.gateway.http.mem0.places import ENTITIES
from services.gateway.http.mem0.refused import RefusedError
from services.gateway.http.mem0.upstream import Upstream, turns_of

_RECALLED_MAX: Final = 200
_PAGE_MAX: Final = 200
_PAGE_DEFAULT: Final = 100
_FILTER_CHARS_MAX: Final = 1_024
_TENANT_NAMES: Final = ("org_id", "project_id")
_JUDGEMENTS: Final = {
    None: memory_pb2.FEEDBACK_VALUE_NONE,
    "POSITIVE": memory_pb2.FEEDBACK_VALUE_GOOD,
    "NEGATIVE": memory_pb2.FEEDBACK_VALUE_BAD,
    "VERY_NEGATIVE": memory_pb2.FEEDBACK_VALUE_BAD,
}


async def add(upstream: Upstream, body: Mapping[str, Any]) -> dict[str, Any]:
    """Remembers messages, in a conversation named by the run or in one of their own."""
    named = {name: body.get(name) for name in ("user_id", *ENTITIES)}
    place = read_filter(body.get("filters"), named).place()
    metadata = write_metadata(_object(body, "metadata"), body.get("expiration_date"))
    turns = read_turns(
        body.get("messages"), metadata, timestamp=body.get("timestamp"), infer=body.get("infer") is not False
    )
    conversation_id = place.run_id or f"mem0-{uuid.uuid4()}"
    written = await upstream.remember(place.user_id, conversation_id, turns, place.scope)
    is_visible = await upstream.is_visible(place.user_id, written.consistency_token)
    results = []
    for turn, reference in zip(turns, written.interactions, strict=True):
        said = Said(reference.interaction_id, turn.content, datetime.now(UTC), turn.role, place.scope, {})
        event = "NONE" if reference.verdict.gated else "ADD"
        results.append({"id": Memory(place.user_id, [said]).memory_id, "memory": said.text, "event": event})
    status = "SUCCEEDED" if is_visible else "PENDING"
    return {"results": results, "status": status, "consistency_token": written.consistency_token}


async def search(upstream: Upstream, body: Mapping[str, Any], named: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Recalls the turns of one place, which the filters name, or fields beside them."""
    _check_shape(body)
    wanted = read_filter(body.get("filters"), named)
    place = wanted.place()
    count = _number(body, "top_k", 10, 1, 1_000)
    threshold = body.get("threshold")
    if threshold is not None and (isinstance(threshold, bool) or not isinstance(threshold, int | float)):
        raise RefusedError("threshold must be a number")
    # Older versions, expired memories and those that fail a condition make room for others.
    reads_all = wanted.conditions or threshold
    limit = _RECALLED_MAX if reads_all else min(_RECALLED_MAX, 2 * count + 10)
    request = recall_pb2.RecallRequest(
        user_id=place.user_id,
        query=_text(body, "query"),
        limit=limit,
        scope=place.scope,
        drop_superseded=body.get("latest_only") is True,
    )
    if body.get("reference_date") is not None:
        request.as_of_time.CopyFrom(timestamp_of(body["reference_date"]))
    found = await upstream.recall(request)
    current = turns_of(found)
    memories = memories_of(place.user_id, [*current, *await upstream.ancestors(place.user_id, current)])
    by_turn = {memory.versions[-1].interaction_id: memory for memory in memories}
    results = []
    for hit in found:
        memory, similarity = by_turn.get(hit.memory_id), _similarity(hit)
        if memory is None or (threshold and similarity < threshold) or not _is_shown(memory, body):
            continue
        shown = {**memory.as_json(), "score": _unit_score(hit.score), "similarity": similarity}
        if _fits(shown, wanted.conditions):
            results.append(_fields(shown, body))
    return {"results": results[:count]}


async def get_all(upstream: Upstream, body: Mapping[str, Any], query: Mapping[str, str]) -> dict[str, Any]:
    """Lists memories, newest first, by pages."""
    page, size = _paging(query)
    return _page(await _listed(upstream, body), body, page, size)


async def search_v1(upstream: Upstream, body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """`search` of client 1.x: ids may stand beside the filters, and the response is a list."""
    found: list[dict[str, Any]] = (await search(upstream, body, _named(body)))["results"]
    return found


async def get_all_v1(
    upstream: Upstream, body: Mapping[str, Any], query: Mapping[str, str]
) -> dict[str, Any] | list[dict[str, Any]]:
    """`get_all` of client 1.x: everything as a list, or a page where the request names one."""
    asked = {name: source[name] for source in (body, query) for name in ("page", "page_size") if name in source}
    (page, size), count = _paging(asked), _number(body, "top_k", 1_000_000, 1, 1_000_000)
    fitting = await _listed(upstream, body, _named(body))
    return _page(fitting, body, page, size) if asked else [_fields(one, body) for one in fitting[:count]]


def _named(body: Mapping[str, Any]) -> dict[str, Any]:
    """What a request of client 1.x asks for beside its filters."""
    return {name: body[name] for name in ("user_id", *ENTITIES, "metadata") if name in body}


async def _listed(
    upstream: Upstream, body: Mapping[str, Any], named: Mapping[str, Any] | None = None
) -> list[dict[str, Any]]:
    _check_shape(body)
    wanted = read_filter(body.get("filters"), named)
    between = created_between(body.get("start_date"), body.get("end_date"))
    conditions = [*wanted.all_conditions(), *between]
    memories = memories_of(wanted.user_id, await upstream.listed(wanted.user_id))
    shown = (one.as_json() for one in memories if one.place is not None and _is_shown(one, body))
    return [one for one in shown if _fits(one, conditions)]


def _paging(source: Mapping[str, Any]) -> tuple[int, int]:
    """The page that is asked for, and how many memories it holds."""
    return _number(source, "page", 1, 1, 1_000_000), _number(source, "page_size", _PAGE_DEFAULT, 1, _PAGE_MAX)


def _page(fitting: Sequence[dict[str, Any]], body: Mapping[str, Any], page: int, size: int) -> dict[str, Any]:
    start = (page - 1) * size
    return {
        "count": len(fitting),
        "next": f"?page={page + 1}&page_size={size}" if start + size < len(fitting) else None,
        "previous": f"?page={page - 1}&page_size={size}" if page > 1 else None,
        "results": [_fields(one, body) for one in fitting[start : start + size]],
    }


async def get(upstream: Upstream, memory_id: str) -> dict[str, Any]:
    """One memory as it is now."""
    return (await _memory(upstream, memory_id)).as_json()


async def history(upstream: Upstream, memory_id: str) -> list[dict[str, Any]]:
    """The versions of one memory."""
    return (await _memory(upstream, memory_id)).history()


async def update(upstream: Upstream, memory_id: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Corrects a memory: the text becomes its next version."""
    if fixed := [name for name in ("metadata", "expiration_date") if name in body]:
        raise RefusedError(f"{', '.join(fixed)} cannot be changed: update only takes text")
    text = _text(body, "text")
    time = timestamp_of(body["timestamp"]) if body.get("timestamp") is not None else None
    memory = await _memory(upstream, memory_id)
    token = await upstream.correct(memory.user_id, memory.versions[-1].interaction_id, text, time)
    await upstream.is_visible(memory.user_id, token)
    return {"id": memory.memory_id, "memory": text, "message": "Memory updated successfully!"}


async def delete(upstream: Upstream, memory_id: str) -> dict[str, str]:
    """Erases a memory with all its versions."""
    memory = await _memory(upstream, memory_id)
    await upstream.erase_turns(memory.user_id, [said.interaction_id for said in memory.versions])
    return {"message": "Memory deleted successfully!"}


async def delete_all(upstream: Upstream, query: Mapping[str, str]) -> dict[str, str]:
    """Erases what get_all lists for the same user, agent, application and run."""
    entities = ("user_id", *ENTITIES)
    # Client 1.x names the organisation and the project of `ping`, which are the tenant.
    of_tenant = {name for name in _TENANT_NAMES if query.get(name) == upstream.tenant_id}
    unknown = set(query) - {"filters", *entities} - of_tenant
    if unknown:
        raise RefusedError(f"{', '.join(sorted(unknown))} cannot limit a deletion")
    wanted = read_filter(_literal(query.get("filters", "{}")), {k: v for k, v in query.items() if k in entities})
    if wanted.conditions:
        raise RefusedError("filters: only user_id, agent_id, app_id and run_id can limit a deletion")
    place = wanted.place()
    await upstream.erase_scope(place.user_id, place.scope)
    return {"message": "Memories deleted successfully!"}


async def delete_user(upstream: Upstream, user_id: str) -> dict[str, str]:
    """Erases everything of a user, in every place."""
    await upstream.erase_user(user_id)
    return {"message": "Entity deleted successfully!"}


async def feedback(upstream: Upstream, body: Mapping[str, Any]) -> dict[str, Any]:
    """Judges a memory."""
    given = body.get("feedback")
    if not isinstance(given, str | None) or given not in _JUDGEMENTS:
        raise RefusedError("feedback must be POSITIVE, NEGATIVE, VERY_NEGATIVE or null")
    memory = await _memory(upstream, _text(body, "memory_id"))
    await upstream.judge(memory.user_id, memory.versions[-1].interaction_id, _JUDGEMENTS[given])
    return {"id": memory.memory_id, "feedback": given, "feedback_reason": body.get("feedback_reason")}


async def _memory(upstream: Upstream, memory_id: str) -> Memory:
    """A memory by its id, or by that of a later version. Corrections are in the conversation of what they correct."""
    user_id, interaction_id = parse_memory_id(memory_id)
    episode = await upstream.episode(user_id, interaction_id)
    turns = [said_in(episode), *await upstream.listed(user_id, episode.conversation_id)]
    for memory in memories_of(user_id, turns):
        if any(said.interaction_id == interaction_id for said in memory.versions):
            return memory
    return Memory(user_id, [said_in(episode)])


def _is_shown(memory: Memory, body: Mapping[str, Any]) -> bool:
    return body.get("show_expired") is True or not memory.is_expired(datetime.now(UTC).date())


def _fits(memory: Mapping[str, Any], conditions: Sequence[Condition]) -> bool:
    return all(condition(memory) for condition in conditions)


def _fields(memory: dict[str, Any], body: Mapping[str, Any]) -> dict[str, Any]:
    names = body.get("fields")
    return memory if not names else {k: v for k, v in memory.items() if k in (*names, "id", "memory", "score")}


def _unit_score(score: float) -> float:
    """A score in (0, 1), as mem0's callers expect it. It keeps the order and is no probability."""
    return 1.0 / (1.0 + math.exp(-max(-500.0, min(500.0, score))))


def _similarity(hit: recall_pb2.Memory) -> float:
    """Cosine similarity to the query; 0 where the memory was found by its words alone."""
    return max((one.score for one in hit.explanation.retrievers if one.retriever == "dense"), default=0.0)


def _check_shape(body: Mapping[str, Any]) -> None:
    """Refuses what would shape a response as it cannot be."""
    if body.get("categories"):
        raise RefusedError("categories: memories have no categories in Mneme")
    if not isinstance(body.get("fields"), list | None):
        raise RefusedError("fields must be a list of names")


def _object(body: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = body.get(name)
    if value is not None and not isinstance(value, dict):
        raise RefusedError(f"{name} must be an object")
    return value or {}


def _text(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not value.strip():
        raise RefusedError(f"{name} is required")
    return value


def _number(source: Mapping[str, Any], name: str, default: int, low: int, high: int) -> int:
    try:
        value = int(source.get(name, default))
    except (TypeError, ValueError):
        value = low - 1
    if not low <= value <= high:
        raise RefusedError(f"{name} must be a number from {low} to {high}")
    return value


def _literal(text: str) -> Any:
    """Filters in a query string: JSON, or the Python literal that mem0's Python client sends."""
    for parse in (read_json, ast.literal_eval):
        try:
            return parse(text[: _FILTER_CHARS_MAX + 1]) if len(text) <= _FILTER_CHARS_MAX else None
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    raise RefusedError("filters: must be an object")
