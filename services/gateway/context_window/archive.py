"""Items of context windows as interactions of the journal, and back. Pure functions.

They stand in a conversation of their own beside the one that they are from, so that they are no turns of it: its
session is rebuilt without them, and an erasure of the conversation finds both.
"""

from __future__ import annotations

import hashlib
from datetime import UTC
from typing import Final
from uuid import UUID, uuid5

from google.protobuf import json_format

from mneme.session.v1 import context_window_pb2 as pb
from services.common.convert import scope_from_proto
from services.common.turns import MessageRole, Turn
from services.gateway.journal.model import ARCHIVE_SUFFIX, ITEM_KEY, Interaction, RememberCommand, Tier

_PART_KEY: Final = "mneme.context."
_RENDERED_KEY: Final = "mneme.context_rendered"
_PART_CHARS: Final = 1_000
_EPISODES: Final = UUID("0f6f2f0a-7c1e-4b0a-9a53-2d4f6f0c9b11")
_ROLES: Final = {
    pb.CONTEXT_ITEM_KIND_USER_MESSAGE: MessageRole.USER,
    pb.CONTEXT_ITEM_KIND_ASSISTANT_RESPONSE: MessageRole.ASSISTANT,
    pb.CONTEXT_ITEM_KIND_SYSTEM_PROMPT: MessageRole.SYSTEM,
    pb.CONTEXT_ITEM_KIND_TASK_STATE: MessageRole.SYSTEM,
}


def archive_conversation(conversation_id: str) -> str:
    """The conversation that a conversation's removed items stand in."""
    return f"{conversation_id}{ARCHIVE_SUFFIX}"


def base_conversation(conversation_id: str) -> str:
    """The conversation whose removed items stand in this one; itself where it is another one."""
    return conversation_id.removesuffix(ARCHIVE_SUFFIX)


def archive_command(tenant_id: str, user_id: str, conversation_id: str, item: pb.ContextItem) -> RememberCommand:
    """What makes an item durable. Its id depends on all of the item: the same one is stored once."""
    where = archive_conversation(conversation_id)
    return RememberCommand(
        user_id,
        where,
        (_turn(item),),
        scope_from_proto(item.scope, present=item.HasField("scope"), field_path="scope"),
        interaction_ids=(_episode_id(tenant_id, user_id, where, item),),
        tiers=(Tier.EPISODIC,),
    )


def archived_item(interaction: Interaction) -> pb.ContextItem:
    """The item that an interaction was."""
    metadata = interaction.turn.metadata
    parts = sorted((int(key[len(_PART_KEY) :]), text) for key, text in metadata.items() if key.startswith(_PART_KEY))
    item = json_format.Parse("".join(text for _, text in parts), pb.ContextItem())
    if _RENDERED_KEY not in metadata:
        item.content = interaction.turn.content
    return item


def _turn(item: pb.ContextItem) -> Turn:
    rest = pb.ContextItem()
    rest.CopyFrom(item)
    rest.ClearField("content")
    rest.ClearField("position")
    text = json_format.MessageToJson(rest, indent=None, ensure_ascii=False)
    parts = [text[start : start + _PART_CHARS] for start in range(0, len(text), _PART_CHARS)]
    metadata = {ITEM_KEY: item.item_id} | {f"{_PART_KEY}{index}": part for index, part in enumerate(parts)}
    content = item.content
    if not content:
        metadata[_RENDERED_KEY] = "1"
        content = "\n".join(f"calls {call.name}({call.arguments})" for call in item.tool_calls)
    return Turn(
        role=_ROLES.get(item.kind, MessageRole.TOOL),
        content=content,
        time=item.create_time.ToDatetime(tzinfo=UTC),
        metadata=metadata,
    )


def _episode_id(tenant_id: str, user_id: str, conversation_id: str, item: pb.ContextItem) -> str:
    same = pb.ContextItem()
    same.CopyFrom(item)
    same.ClearField("position")
    digest = hashlib.sha256(same.SerializeToString(deterministic=True)).hexdigest()
    return str(uuid5(_EPISODES, "\x1f".join([tenant_id, user_id, conversation_id, digest])))
