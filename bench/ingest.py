"""Puts LoCoMo conversations into a store through the gateway, noting which turn became which interaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from bench.gateway import Gateway, retried
from bench.locomo import LocomoConversation, LocomoTurn
from mneme.common.v1 import common_pb2
from mneme.gateway.v1 import memory_pb2

_TURNS_MAX: Final = 256
"""Turns of one call, by the contract of Remember."""
_CHARS_MAX: Final = 500_000
"""Text of one call: far below the default message size of gRPC, 4 MiB."""
CONTENT_CHARS_MAX: Final = 32_768
"""The longest text that the service takes by default; what is longer is cut here, and said so."""
_CAPTION_CHARS_MAX: Final = 4_000
_SPEAKER_CHARS_MAX: Final = 128
_ASSISTANT: Final = "assistant"


@dataclass(slots=True)
class Ingested:
    """What became of a conversation."""

    user_id: str
    name: str = ""
    """The conversation's."""
    turn_ids: dict[str, str] = field(default_factory=dict)
    """Interaction id -> turn id."""
    tokens: list[str] = field(default_factory=list)
    """Consistency token of each call."""
    cut_turns: list[str] = field(default_factory=list)
    """Turns whose text was longer than the service takes."""
    empty_turns: list[str] = field(default_factory=list)
    """Turns without text or caption, which cannot be remembered."""
    undated_turns: int = 0
    """Turns whose session has no readable date: the service dates them now."""


async def ingest(gateway: Gateway, conversation: LocomoConversation, *, user_id: str) -> Ingested:
    """Remember every turn in order, one conversation of the service for each session.

    Args:
        gateway: Where to.
        conversation: What.
        user_id: Whose memory; it should hold nothing else.

    Returns:
        The mapping, known from the ids that Remember answers, never from texts.
    """
    ingested = Ingested(user_id, conversation.name)
    for session in conversation.sessions:
        turns = [turn for turn in session.turns if _has_content(turn, ingested)]
        for part, chunk in enumerate(_chunks(turns)):
            request = memory_pb2.RememberRequest(
                request_id=f"{user_id}/{session.name}/{part}",
                user_id=user_id,
                conversation_id=session.name,
                turns=[_turn(turn, ingested) for turn in chunk],
            )
            response = await retried(lambda request=request: gateway.remember(request))  # type: ignore[misc]
            ingested.tokens.append(response.consistency_token)
            for turn, reference in zip(chunk, response.interactions, strict=True):
                ingested.turn_ids[reference.interaction_id] = turn.turn_id
    return ingested


def _has_content(turn: LocomoTurn, ingested: Ingested) -> bool:
    if turn.text.strip() or turn.caption.strip():
        return True
    ingested.empty_turns.append(turn.turn_id)
    return False


def _chunks(turns: Sequence[LocomoTurn]) -> Iterator[list[LocomoTurn]]:
    chunk: list[LocomoTurn] = []
    chars = 0
    for turn in turns:
        length = min(len(turn.text), CONTENT_CHARS_MAX)
        if chunk and (len(chunk) == _TURNS_MAX or chars + length > _CHARS_MAX):
            yield chunk
            chunk, chars = [], 0
        chunk.append(turn)
        chars += length
    if chunk:
        yield chunk


def _turn(turn: LocomoTurn, ingested: Ingested) -> common_pb2.Turn:
    if len(turn.text) > CONTENT_CHARS_MAX:
        ingested.cut_turns.append(turn.turn_id)
    message = common_pb2.Turn(
        role=(
            common_pb2.MESSAGE_ROLE_ASSISTANT if turn.speaker.casefold() == _ASSISTANT else common_pb2.MESSAGE_ROLE_USER
        ),
        speaker=turn.speaker[:_SPEAKER_CHARS_MAX],
        content=turn.text[:CONTENT_CHARS_MAX],
    )
    if turn.time is None:
        ingested.undated_turns += 1
    else:
        message.time.FromDatetime(turn.time)
    if turn.caption.strip():
        message.attachments.add(uri="urn:bench:photo", caption=turn.caption[:_CAPTION_CHARS_MAX])
    return message
