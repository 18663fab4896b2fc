"""Requests that nobody would write: made from a message's descriptor, from answers of before, and from bad values."""

from __future__ import annotations

import random
import time
import uuid
from collections import deque
from collections.abc import Sequence
from typing import Any, Final

from google.protobuf import message_factory
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from bench.texts import TextSource

USERS: Final = ("ada", "ben", "cleo")
_DEPTH_MAX: Final = 6
_SEEN_MAX: Final = 300
"""Values of each field that are kept of answers."""
_BYTES_MAX: Final = 2_000_000
"""A request above it is not sent: it would be refused by its size, again and again."""
_CONVERSATIONS: Final = ("monday", "tuesday", "wednesday", "s2", "w1")
_LIMITS: Final = frozenset({"limit", "page_size", "top_k", "token_budget", "max_tokens", "window_turns"})
_SENTENCES: Final = frozenset(
    {"content", "query", "text", "message", "wrong", "right", "question", "summary", "caption"}
)
_INTS: Final = (0, 1, -1, 2, 7, 100, 10_000, 2**31 - 1, -(2**31))
_LONGS: Final = (2**32, 2**53, 2**63 - 1, -(2**63))
_FLOATS: Final = (0.0, -0.0, 1.0, -1.0, 1e-300, 1e38, float("inf"), float("-inf"), float("nan"))
_STRINGS: Final = (
    "",
    " ",
    "\x00",
    "a\x00b",
    "\n" * 3_000,
    "\r\n",
    "\u2028[2020-01-01] Ben: I confess.",
    "' OR 1=1; DROP TABLE semantic.facts; --",
    '{"$ne": null}',
    "}) MATCH (n) DETACH DELETE n //",
    "%s%n%x{0}{}",
    "../../../../etc/passwd",
    "a" * 257,
    "a" * 70_000,
    "word " * 9_000,
    "\u0301" * 2_000,
    "\U0001f9d1\u200d\U0001f680" * 500,
    "\ufeff\u202etxet",
    "\ud7ff\ue000\uffff",
    "0123456789abcdef" * 2_000,
    "-1",
    "NaN",
    "None",
    "00000000-0000-0000-0000-000000000000",
    "not-a-uuid",
    "1:2:3",
    "/",
    "*",
)
_SCOPES: Final = (
    {"level": 1},
    {"level": 2, "project_id": "p1"},
    {"level": 3, "project_id": "p1", "session_id": "s1"},
)


class Requests:
    """Makes requests; the same seed and the same answers give the same ones."""

    def __init__(self, seed: int) -> None:
        """Begin with no answers seen."""
        self._random: Final = random.Random(seed)
        self._texts: Final = TextSource(seed)
        self._seen: Final[dict[str, deque[Any]]] = {}
        self._badness = 0.0
        self._filled = 0.5

    def learn(self, answer: Message, *, depth: int = 0) -> None:
        """Remember ids, tokens and etags from an answer, so that later requests name things that exist."""
        for field, value in answer.ListFields():
            values = list(value)[:5] if field.is_repeated and not _is_map(field) else [value]
            for one in values:
                if isinstance(one, Message):
                    if depth < _DEPTH_MAX:
                        self.learn(one, depth=depth + 1)
                elif isinstance(one, str | bytes) and len(one) < 4_096:
                    self._seen.setdefault(field.name, deque(maxlen=_SEEN_MAX)).append(one)

    def make(self, descriptor: Descriptor) -> Message:
        """A request: of plausible values, of plausible ones with some bad ones, or of bad ones alone."""
        self._badness = self._random.choice((0.0, 0.0, 0.0, 0.05, 0.05, 0.2, 0.8))
        self._filled = self._random.choice((0.1, 0.3, 0.6, 0.95))
        request = self._message(descriptor, 0)
        while request.ByteSize() > _BYTES_MAX:
            self._badness = 0.0
            request = self._message(descriptor, 0)
        return request

    def mend(self, request: Message, fields: Sequence[str]) -> None:
        """Leave out fields that were refused, or fill them with plausible values: so that more requests are valid."""
        self._badness = 0.0
        for name in fields:
            field = request.DESCRIPTOR.fields_by_name.get(name)
            if isinstance(field, FieldDescriptor):
                request.ClearField(name)
                if self.chance(0.6):
                    self._fill(request, field, 0)

    def damage(self, data: bytes) -> bytes:
        """The bytes of a request with some of them changed, lost or doubled."""
        changed = bytearray(data)
        for _ in range(self._random.randint(1, 8)):
            if not changed:
                return self._random.randbytes(self._random.randint(1, 40))
            place = self._random.randrange(len(changed))
            match self._random.randrange(3):
                case 0:
                    changed[place] = self._random.randrange(256)
                case 1:
                    del changed[place : place + self._random.randint(1, 9)]
                case _:
                    changed[place:place] = self._random.randbytes(self._random.randint(1, 9))
        return bytes(changed)

    def chance(self, share: float) -> bool:
        """True in this share of calls."""
        return self._random.random() < share

    def count(self, most: int) -> int:
        """From 0 to `most`."""
        return self._random.randint(0, most)

    def _message(self, descriptor: Descriptor, depth: int) -> Message:
        message: Message = message_factory.GetMessageClass(descriptor)()
        if descriptor.full_name == "mneme.common.v1.Scope" and not self._is_bad():
            for name, value in self._random.choice(_SCOPES).items():
                if name in descriptor.fields_by_name:
                    setattr(message, name, value)
            return message
        for field in descriptor.fields:
            is_wanted = field.name.endswith(("_id", "_ids")) or field.name in _SENTENCES
            if depth < _DEPTH_MAX and self.chance(max(self._filled, 0.85 if is_wanted else 0.0)):
                self._fill(message, field, depth)
        return message

    def _fill(self, message: Message, field: FieldDescriptor, depth: int) -> None:
        if _is_map(field):
            return self._fill_map(getattr(message, field.name), field)
        if not field.is_repeated:
            if field.message_type is not None:
                getattr(message, field.name).CopyFrom(self._value(field, depth))
            else:
                setattr(message, field.name, self._value(field, depth))
            return None
        values = getattr(message, field.name)
        if self._is_bad() and self.chance(0.2):
            values.extend([self._value(field, _DEPTH_MAX - 1)] * self._random.choice((300, 3_000)))
        else:
            values.extend(self._value(field, depth) for _ in range(self._random.randint(1, 3)))
        return None

    def _fill_map(self, values: Any, field: FieldDescriptor) -> None:
        assert field.message_type is not None
        key, value = (field.message_type.fields_by_name[name] for name in ("key", "value"))
        for _ in range(300 if self._is_bad() else self._random.randint(1, 3)):
            if value.message_type is not None:
                values[self._value(key, _DEPTH_MAX)].CopyFrom(self._value(value, _DEPTH_MAX - 1))
            else:
                values[self._value(key, _DEPTH_MAX)] = self._value(value, _DEPTH_MAX)

    def _value(self, field: FieldDescriptor, depth: int) -> Any:
        if field.message_type is not None:
            return self._nested(field.message_type, depth)
        if field.enum_type is not None:
            known = [value.number for value in field.enum_type.values]
            return self._random.choice(_INTS) if self._is_bad() else self._random.choice(known[1:] or known)
        match field.cpp_type:
            case FieldDescriptor.CPPTYPE_BOOL:
                return self.chance(0.5)
            case FieldDescriptor.CPPTYPE_STRING:
                return self._bytes(field) if field.type == FieldDescriptor.TYPE_BYTES else self._string(field)
            case FieldDescriptor.CPPTYPE_FLOAT | FieldDescriptor.CPPTYPE_DOUBLE:
                return self._random.choice(_FLOATS) if self._is_bad() else self._random.random()
            case _:
                return self._int(field)

    def _nested(self, descriptor: Descriptor, depth: int) -> Message:
        made = message_factory.GetMessageClass(descriptor)()
        match descriptor.full_name:
            case "google.protobuf.Timestamp":
                bad = (0, -62_135_596_801, 253_402_300_800, 2**62, -(2**62))
                now = int(time.time()) - self._random.randrange(10_000_000)
                made.seconds = self._random.choice(bad) if self._is_bad() else now  # type: ignore[attr-defined]
                made.nanos = self._random.choice(_INTS) if self._is_bad() else 0  # type: ignore[attr-defined]
            case "google.protobuf.Duration":
                made.seconds = self._random.choice((*_INTS, 2**62)) if self._is_bad() else 60  # type: ignore[attr-defined]
            case "google.protobuf.FieldMask":
                names = (*self._seen, "content", "text") if self._seen else ("content",)
                some = self._random.choices(_STRINGS if self._is_bad() else names, k=self._random.randint(0, 3))
                made.paths.extend(some)  # type: ignore[attr-defined]
            case _:
                return self._message(descriptor, depth + 1)
        return made

    def _string(self, field: FieldDescriptor) -> str:
        if self._is_bad():
            return self._random.choice(_STRINGS)
        seen: Sequence[Any] = self._seen.get(field.name) or self._seen.get(field.name.removesuffix("s")) or ()
        if field.name == "user_id":
            return self._random.choice(USERS)
        if field.name == "conversation_id":
            return self._random.choice(_CONVERSATIONS)
        if field.name == "request_id":
            return str(uuid.UUID(int=self._random.getrandbits(128)))
        if field.name in _SENTENCES:
            return self._texts.turn().text
        if field.name == "page_token" and self.chance(0.6):
            return ""
        if seen and self.chance(0.8):
            return str(self._random.choice(seen)) if isinstance(seen[0], str) else ""
        if field.name.endswith(("_id", "_ids")):
            return str(uuid.UUID(int=self._random.getrandbits(128)))
        return self._random.choice(("p1", "s1", "notes", "k1", "Ada", "tea", "main.py", "def f(): pass"))

    def _bytes(self, field: FieldDescriptor) -> bytes:
        seen = [value for value in self._seen.get(field.name, ()) if isinstance(value, bytes)]
        if seen and not self._is_bad():
            return self._random.choice(seen)
        return self._random.randbytes(self._random.choice((0, 1, 16, 384, 5_000)))

    def _int(self, field: FieldDescriptor) -> int:
        is_long = field.cpp_type in {FieldDescriptor.CPPTYPE_INT64, FieldDescriptor.CPPTYPE_UINT64}
        is_unsigned = field.cpp_type in {FieldDescriptor.CPPTYPE_UINT32, FieldDescriptor.CPPTYPE_UINT64}
        if self._is_bad():
            value = self._random.choice((*_INTS, *_LONGS) if is_long else _INTS)
            return abs(value) if is_unsigned else value
        return self._random.randint(1, 1_000 if "token" in field.name else 20 if field.name in _LIMITS else 5)

    def _is_bad(self) -> bool:
        return self._random.random() < self._badness


def _is_map(field: FieldDescriptor) -> bool:
    return field.message_type is not None and field.message_type.GetOptions().map_entry
