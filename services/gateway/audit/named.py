"""Which memories a request or a response names."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from services.gateway.wrapping import read_message, text_field

_MEMORIES: Final = "memories"
_ONE: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        (
            "fact_id",
            "note_id",
            "episode_id",
            "interaction_id",
            "memory_id",
            "from_note_id",
            "to_note_id",
            "procedure_id",
            "group_id",
        ),
        _MEMORIES,
    ),
    "supersession_id": "supersessions",
    "record_id": "activity_records",
    "task_id": "tasks",
    "item_id": "context_items",
    "snapshot_id": "snapshots",
}
_MANY: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("fact_ids", "note_ids", "episode_ids", "memory_ids", "interaction_ids", "procedure_ids"), _MEMORIES
    ),
    "item_ids": "context_items",
}
"""What the ids in fields of these names are of: memories, whose ids are UUIDs, or what has ids of another form."""
_TASKS: Final = frozenset({"Task", "GetTaskRequest"})
"""Messages whose `task_id` is what they are about. In others it is a filter, or where something belongs."""
_WITHOUT_CONTENT: Final = frozenset({"SnapshotItem", "ContextSnapshotItem"})
"""Messages that name items of a context window and hold nothing of them: the snapshot is named."""


@dataclass(frozen=True, slots=True)
class Named:
    """Ids in messages, each once, in order.

    What a memory was made from (`derived_from`) is not among them: it was not read with it.
    """

    memory_ids: tuple[str, ...] = ()
    others: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by what they are of; without those of none


def named_in(*messages: Message | None) -> Named:
    """Ids of what the messages, and what they contain, are about."""
    found: dict[str, dict[str, None]] = {}
    for message in messages:
        for kind, identifier in _ids(message) if message is not None else ():
            found.setdefault(kind, {})[identifier] = None
    memories = found.pop(_MEMORIES, {})
    return Named(tuple(memories), {kind: tuple(ids) for kind, ids in found.items()})


@dataclass(slots=True)
class StreamNames:
    """What the requests of a stream name of one user: the first ids of each kind, and how many more."""

    ids: dict[str, list[str]] = field(default_factory=dict)
    beyond: dict[str, int] = field(default_factory=dict)


class NamedInStream:
    """Collects what the requests of a stream name, by user. Ids beyond a bound are counted alone."""

    def __init__(self, ids_max: int) -> None:
        """Holds at most `ids_max` ids of a kind for each user."""
        self._ids_max = ids_max
        self.by_user: dict[str, StreamNames] = {}

    async def through(self, requests: AsyncIterator[Any], kind: type[Message]) -> AsyncIterator[Any]:
        """The requests, unchanged."""
        async for request in requests:
            message = read_message(request, kind)
            user_id = text_field(message, "user_id")
            if user_id:
                self._add(self.by_user.setdefault(user_id, StreamNames()), named_in(message))
            yield request

    def _add(self, names: StreamNames, named: Named) -> None:
        for kind, identifiers in {_MEMORIES: named.memory_ids, **named.others}.items():
            known = names.ids.setdefault(kind, []) if identifiers else []
            room = max(self._ids_max - len(known), 0)
            known += identifiers[:room]
            if len(identifiers) > room:
                names.beyond[kind] = names.beyond.get(kind, 0) + len(identifiers) - room


def _ids(message: Message) -> Iterator[tuple[str, str]]:
    for name, kind, is_many in _ways(message.DESCRIPTOR):
        value = getattr(message, name)
        if kind is not None:
            yield from ((kind, one) for one in (value if is_many else (value,)) if one)
        elif is_many:
            for one in value:
                yield from _ids(one)
        elif message.HasField(name):
            yield from _ids(value)


@cache
def _ways(descriptor: Descriptor) -> tuple[tuple[str, str | None, bool], ...]:
    """Fields that hold ids, or messages that do: name, what the ids are of or None, whether it is repeated."""
    return tuple(
        (one.name, _kind_of(one), one.is_repeated)
        for one in descriptor.fields
        if _leads_to_ids(one, frozenset({descriptor.full_name}))
    )


def _kind_of(one: FieldDescriptor) -> str | None:
    """What a field's ids are of; None where it holds none itself."""
    if one.message_type is not None or one.type != FieldDescriptor.TYPE_STRING:
        return None
    kind = (_MANY if one.is_repeated else _ONE).get(one.name)
    within = one.containing_type.name if one.containing_type is not None else ""
    if (kind == "tasks" and within not in _TASKS) or (kind == "context_items" and within in _WITHOUT_CONTENT):
        return None
    return kind


def _leads_to_ids(one: FieldDescriptor, passed: frozenset[str]) -> bool:
    """Whether the field holds ids, itself or further down; `passed` are the messages above it."""
    inner = one.message_type
    if inner is None:
        return _kind_of(one) is not None
    if inner.GetOptions().map_entry or inner.full_name in passed:
        return False
    return any(_leads_to_ids(further, passed | {inner.full_name}) for further in inner.fields)
