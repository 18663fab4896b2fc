"""Marks on what reads return: turns, episodes and notes that say what holds no more name what superseded it.

The tiers that hold them know nothing of it, since statements are compared in the semantic tier. The gateway asks it
beside every such read, for all of the user's marks unless it has cached the newest: a page costs one small call.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, cached_property
from typing import Any, Final

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from mneme.agentic.v1 import insights_pb2, notes_pb2
from mneme.semantic.internal.v1 import semantic_pb2
from mneme.semantic.v1 import supersessions_pb2
from services.common.auth import Principal, Role, current_principal_or_none
from services.common.clock import Clock
from services.common.errors import MnemeError
from services.common.reflections import to_markdown
from services.common.rpc.deadline import seconds_left
from services.common.rpc.server import ServiceBinding
from services.common.settings_types import PositiveShare, ResponseBytes, Seconds
from services.common.validation import may_be_identifier
from services.gateway.recall.superseded import (
    NOTHING,
    OwnerSuperseded,
    SupersededCache,
    SupersededThen,
    covering,
    quoted,
)
from services.gateway.upstream import Upstream
from services.gateway.wrapping import form_of, messages_of, read_message, text_field, wrapped_binding

MARKED_SERVICES: Final = frozenset(
    {
        "mneme.agentic.v1.InsightService",
        "mneme.agentic.v1.NoteService",
        "mneme.episodic.v1.EpisodicService",
        "mneme.gateway.v1.ConversationService",
        "mneme.session.v1.SessionService",
    }
)
"""Those whose reads are marked here. Recalls and contexts mark what they return by themselves."""
_WITHOUT_TURNS: Final = frozenset({"ListSessions"})
_ID_OF_TURN: Final[Mapping[str, str]] = {
    "mneme.episodic.v1.Episode": "episode_id",
    "mneme.gateway.v1.Interaction": "interaction_id",
    "mneme.session.v1.SessionTurn": "interaction_id",
}
"""Messages of turns, by full name, with the field that has the turn's id."""
_NOTE: Final = "mneme.agentic.v1.Note"
BYTES_MAX: Final = 256 * 1024
"""Of the statements in a response, beside the 3 MiB of what it lists: gRPC clients accept 4 MiB by default."""


@dataclass(frozen=True, slots=True)
class MarkSettings:
    """What marks on reads may cost."""

    wait_seconds: Seconds = 1.0  # for the semantic tier; a read whose marks are not there by then returns without them
    time_share: PositiveShare = 0.5  # of the time that the caller has left, where that is shorter
    bytes_max: ResponseBytes = BYTES_MAX  # of the statements in a response, beside the 3 MiB of what it lists


@dataclass(frozen=True)
class MarksThen:
    """A user's marks as of a time."""

    marks: OwnerSuperseded
    is_missing: bool  # they could not be read: what is known is from before
    as_of: datetime
    known_at: datetime | None

    @property
    def changes_nothing(self) -> bool:
        """Whether a response stays as it is."""
        return not self.is_missing and not self.marks.by_turn

    def of_turn(self, turn_id: str) -> Sequence[supersessions_pb2.Supersession]:
        """The marks of a turn."""
        return self._then.get(turn_id, ())

    def of_note(self, note: notes_pb2.Note) -> Sequence[supersessions_pb2.Supersession]:
        """The mark of what a note repeats."""
        found = covering(self._then, note.derived_from, note.content) or quoted(self._then, note.content)
        return () if found is None else (found,)

    @cached_property
    def _then(self) -> SupersededThen:
        return self.marks.at(self.as_of, self.known_at)


class Marks:
    """Reads the marks of users."""

    def __init__(self, upstream: Upstream, cache: SupersededCache, clock: Clock, settings: MarkSettings) -> None:
        """Shares `cache` with recalls."""
        self._upstream = upstream
        self.cache = cache
        self._clock = clock
        self._settings = settings

    async def read(self, principal: Principal, request: Message) -> MarksThen:
        """The marks of the user of a request, as of its times; `is_missing` says where the tier failed."""
        user_id = text_field(request, "user_id")
        marks, is_missing = await self._of(principal, user_id) if may_be_identifier(user_id) else (NOTHING, True)
        as_of, known_at = _time(request, "as_of_time"), _time(request, "known_at_time")
        return MarksThen(marks, is_missing, as_of or self._clock.now(), known_at)

    def write(self, response: Message, then: MarksThen) -> None:
        """Marks the turns, episodes and notes in a response, and what shows notes as text."""
        bytes_left = self._settings.bytes_max
        for message in _marked_in(response):
            bytes_left = mark(message, then, bytes_left)
        if isinstance(response, insights_pb2.GetReflectionResponse):
            response.markdown = to_markdown(response)

    async def _of(self, principal: Principal, user_id: str) -> tuple[OwnerSuperseded, bool]:
        cached = self.cache.get(principal.tenant_id, user_id)
        wait = min(self._settings.wait_seconds, seconds_left(self._settings.wait_seconds) * self._settings.time_share)
        request = semantic_pb2.GetMarksRequest(user_id=user_id, cached_revision=cached.revision, incremental=True)
        try:
            async with asyncio.timeout(wait):
                response = await self._upstream.facts.marks(principal, request, timeout_seconds=wait)
        except (MnemeError, TimeoutError):
            return cached, True
        return await self.cache.update(principal.tenant_id, user_id, cached, response), False


def mark(message: Any, then: MarksThen, bytes_max: int) -> int:
    """Marks a turn, an episode or a note; returns how many of the bytes are left."""
    name = message.DESCRIPTOR.full_name
    found = then.of_note(message) if name == _NOTE else then.of_turn(getattr(message, _ID_OF_TURN[name]))
    message.marks_missing = then.is_missing
    return write_marks(message, found, bytes_max)


def write_marks(message: Any, found: Sequence[supersessions_pb2.Supersession], bytes_max: int) -> int:
    """Writes marks into a message; returns how many of the bytes are left.

    Statements that do not fit are left out, and the message says so.
    """
    if found:
        message.superseded_by = found[0].superseded_by
    for one in found:
        shown = without_others(one)
        bytes_max -= shown.ByteSize()
        if bytes_max < 0:
            message.marks_missing = True
            return 0
        message.superseded_statements.append(shown)
    return bytes_max


def without_others(one: supersessions_pb2.Supersession) -> supersessions_pb2.Supersession:
    """A mark without what other turns say, which a reader may not see: they are shown by themselves where it may."""
    shown = supersessions_pb2.Supersession()
    shown.CopyFrom(one)
    for field in ("standing_statement", "premise", "decision_reason"):
        shown.ClearField(field)
    return shown


def marked(binding: ServiceBinding, marks: Marks) -> ServiceBinding:
    """The same service, whose reads mark the turns, episodes and notes that they return."""
    if binding.full_name not in MARKED_SERVICES:
        return binding
    messages = messages_of(binding)

    def wrapped(path: str, handler: Any) -> Any:
        method = path.rpartition("/")[2]
        is_read = binding.roles.get(method) is Role.READER and method not in _WITHOUT_TURNS
        if handler is None or path not in messages or not is_read:
            return handler
        request_type, response_type = messages[path]
        if not holds_marked(response_type.DESCRIPTOR):
            return handler
        kind = form_of(handler)
        serve = getattr(handler, kind)

        async def serve_marked(request: Any, context: Any) -> Any:
            principal, asked = current_principal_or_none(), read_message(request, request_type)
            if principal is None or asked is None:
                return await serve(request, context)
            reading = asyncio.create_task(marks.read(principal, asked))
            try:
                response = await serve(request, context)
            except BaseException:
                reading.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await reading
                raise
            then = await reading
            if then.changes_nothing:
                return response
            message = response_type.FromString(response) if isinstance(response, bytes) else response
            marks.write(message, then)
            return message.SerializeToString() if isinstance(response, bytes) else message

        return handler._replace(**{kind: serve_marked})

    return wrapped_binding(binding, wrapped)


@cache
def holds_marked(descriptor: Descriptor) -> bool:
    """Whether a message holds turns, episodes or notes, at any depth."""
    parts = (field.message_type for field in descriptor.fields)
    return _is_marked(descriptor) or any(part is not None and holds_marked(part) for part in parts)


def _is_marked(descriptor: Any) -> bool:
    return descriptor.full_name == _NOTE or descriptor.full_name in _ID_OF_TURN


def _marked_in(message: Message) -> Iterator[Message]:
    """The turns, episodes and notes in a message."""
    if _is_marked(message.DESCRIPTOR):
        yield message
        return
    for field, value in message.ListFields():
        if field.type == FieldDescriptor.TYPE_MESSAGE and holds_marked(field.message_type):
            for one in value if field.is_repeated else (value,):
                yield from _marked_in(one)


def _time(request: Message, name: str) -> datetime | None:
    """A time of a request, aware; None where it has none."""
    if name not in request.DESCRIPTOR.fields_by_name or not request.HasField(name):
        return None
    with contextlib.suppress(ValueError, OverflowError):  # who serves the call refuses it
        found: datetime = getattr(request, name).ToDatetime(tzinfo=UTC)
        return found
    return None
