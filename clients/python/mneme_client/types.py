"""What callers pass to the client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from mneme_client.enums import ConflictPolicy, Role, ScopeLevel


@dataclass(frozen=True, slots=True)
class Scope:
    """A place in the hierarchy GLOBAL > PROJECT > SESSION > TASK.

    A reader sees the memories of its own scope and of those above it on its path. An isolated context, such as an
    agent's, is a hierarchy of its own: from within nothing else is seen, and nobody else sees what is in it, without a
    grant.
    """

    level: ScopeLevel = ScopeLevel.GLOBAL
    project_id: str = ""  # required at PROJECT, optional below it
    session_id: str = ""  # required at SESSION, optional at TASK
    task_id: str = ""  # required at TASK
    context_id: str = ""  # of an isolated context; empty for the hierarchy that all share


@dataclass(frozen=True, slots=True)
class Attachment:
    """An image, a sound or a file by reference."""

    uri: str = ""
    mime_type: str = ""
    caption: str = ""  # what it shows, in words; searched with the text


@dataclass(frozen=True, slots=True)
class Turn:
    """What one speaker said once."""

    content: str
    role: Role = Role.USER
    speaker: str = ""  # distinguishes the people of one conversation; may be empty
    time: datetime | None = None  # aware; None means now, on writing
    attachments: tuple[Attachment, ...] = ()
    confidence: float | None = None  # in [0, 1], where known
    importance: float | None = None  # in [0, 1]: how much it matters to remember it; None: it is scored
    sources: tuple[str, ...] = ()  # what supports it
    metadata: Mapping[str, str] = field(default_factory=dict)  # returned with the turn, not searched


@dataclass(frozen=True, slots=True)
class Scoring:
    """How recalled turns are ranked."""

    profile: str = ""  # evidence, light, balanced, assistant, narrative or interaction; empty: the service's choice
    weights: Mapping[str, float] = field(default_factory=dict)  # what replaces weights of the profile, by name


@dataclass(frozen=True, slots=True)
class ConflictChoice:
    """How contradicting memories are resolved."""

    policy: ConflictPolicy = ConflictPolicy.UNSPECIFIED  # the service's choice, RECENCY by default
    preferred_memory_ids: Sequence[str] = ()  # memories and facts that win with USER_OVERRIDE; empty with any other
    drop_superseded: bool = False  # omit what loses; otherwise it is marked


TurnInput = Turn | str | Mapping[str, Any]
"""A turn, just what the user said, or a message of a chat API such as `{"role": "user", "content": "Hi"}`."""


@dataclass(frozen=True, slots=True)
class RememberItem:
    """Turns of one conversation, as one item of a batch or of a stream: all are taken or none."""

    user_id: str
    conversation_id: str
    turns: TurnInput | Sequence[TurnInput]
    scope: Scope | None = None  # None means GLOBAL
    request_id: str | None = None  # idempotency key; None means a new one
