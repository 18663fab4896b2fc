"""Which memories a request or a response names."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

_ID: Final = frozenset(
    {"fact_id", "note_id", "episode_id", "interaction_id", "memory_id", "from_note_id", "to_note_id"}
)
_IDS: Final = frozenset({"fact_ids", "note_ids", "episode_ids", "memory_ids", "interaction_ids"})


def memories_named_in(*messages: Message | None) -> tuple[str, ...]:
    """Ids of memories in the messages and what they contain, each once, in order.

    What a memory was made from (`derived_from`) is not among them: it was not read with it.
    """
    return tuple(dict.fromkeys(found for message in messages if message is not None for found in _ids(message)))


def _ids(message: Message) -> Iterator[str]:
    for field, is_message, is_many in _ways(message.DESCRIPTOR):
        value = getattr(message, field)
        if not is_message:
            yield from value if is_many else (value,) * bool(value)
        elif is_many:
            for one in value:
                yield from _ids(one)
        elif message.HasField(field):
            yield from _ids(value)


@cache
def _ways(descriptor: Descriptor) -> tuple[tuple[str, bool, bool], ...]:
    """Fields that hold ids, or messages that do: name, whether it holds messages, whether it is repeated."""
    return tuple(
        (field.name, field.message_type is not None, field.is_repeated)
        for field in descriptor.fields
        if _leads_to_ids(field, frozenset({descriptor.full_name}))
    )


def _leads_to_ids(field: FieldDescriptor, passed: frozenset[str]) -> bool:
    """Whether the field holds ids of memories, itself or further down; `passed` are the messages above it."""
    inner = field.message_type
    if inner is None:
        return field.type == FieldDescriptor.TYPE_STRING and field.name in (_IDS if field.is_repeated else _ID)
    if inner.GetOptions().map_entry or inner.full_name in passed:
        return False
    return any(_leads_to_ids(further, passed | {inner.full_name}) for further in inner.fields)
