"""Notes, links and what a walk over them finds. Pure data and pure functions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from typing import Any, Final, NamedTuple, NewType

from services.common.scope import GLOBAL_SCOPE, Scope
from services.common.turns import Attachment, Turn, searchable_text

TenantId = NewType("TenantId", str)
UserId = NewType("UserId", str)
NoteId = NewType("NoteId", str)
InteractionId = NewType("InteractionId", str)

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class NoteKind(IntEnum):
    """What a note holds; the numbers are those of the wire format."""

    FACT = 1
    CONCEPT = 2
    PROCEDURE = 3
    OBSERVATION = 4
    PREFERENCE = 5


class LinkType(IntEnum):
    """How two notes are related; the numbers are those of the wire format."""

    RELATED_TO = 1
    SUPPORTS = 2
    CONTRADICTS = 3
    DERIVED_FROM = 4
    PART_OF = 5

    @property
    def is_directed(self) -> bool:
        """Whether the two ends play different parts."""
        return self not in {LinkType.RELATED_TO, LinkType.CONTRADICTS}


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose memory: every read and write names it, and sees nothing of any other."""

    tenant_id: TenantId
    user_id: UserId


@dataclass(frozen=True, slots=True)
class Note:
    """One thing worth keeping."""

    note_id: NoteId
    user_id: UserId
    content: str  # plain words
    kind: NoteKind
    importance: float  # in [0, 1]
    time: datetime  # when what it tells happened; aware, UTC
    create_time: datetime  # aware, UTC
    keywords: tuple[str, ...] = ()  # most telling first
    tags: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    derived_from: tuple[InteractionId, ...] = ()
    access_count: int = 0  # searches that returned it
    last_access_time: datetime | None = None
    scope: Scope = GLOBAL_SCOPE
    speaker: str = ""  # whose statement it is, where known; preferences are compared by it
    conversation_id: str = ""  # where it was said; empty for notes that a caller wrote
    position: int = 0  # place in the conversation
    spoken: str = ""  # the content in the speaker's own words, without names put in; empty: the content itself

    @property
    def embedded_text(self) -> str:
        """What is embedded: the spoken words, with the captions of the attachments.

        Names put in front would draw all notes of a speaker together, whatever they are about.
        """
        return searchable_text(self.spoken or self.content, self.attachments)


@dataclass(frozen=True, slots=True)
class LinkKey:
    """Which link: its ends and its type."""

    from_note_id: NoteId
    to_note_id: NoteId
    type: LinkType

    @property
    def canonical(self) -> LinkKey:
        """The form that is stored: a link without direction begins at the smaller id, so it exists once."""
        if self.type.is_directed or self.from_note_id <= self.to_note_id:
            return self
        return LinkKey(self.to_note_id, self.from_note_id, self.type)


@dataclass(frozen=True, slots=True)
class Link:
    """An edge between two notes."""

    key: LinkKey  # canonical
    strength: float  # in [0, 1]
    create_time: datetime  # aware, UTC


@dataclass(frozen=True, slots=True)
class NoteSource:
    """An interaction to make notes from."""

    interaction_id: InteractionId
    user_id: UserId
    conversation_id: str
    position: int  # place in the conversation, from 0
    turn: Turn
    scope: Scope = GLOBAL_SCOPE


@dataclass(frozen=True, slots=True)
class NoteDraft:
    """What a generator makes of an interaction, before it has an id, a vector and links."""

    content: str
    spoken: str  # the same without names put in
    kind: NoteKind
    importance: float  # in [0, 1]
    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class GenerationResult:
    """The notes of one interaction; the same for a repeat."""

    interaction_id: InteractionId
    note_ids: tuple[NoteId, ...]


class WalkedLink(NamedTuple):
    """A step of a walk."""

    note_id: NoteId  # the note that it leaves
    strength: float  # of the link, in [0, 1]


@dataclass(frozen=True, slots=True)
class ScoredNote:
    """A hit of a search."""

    note: Note  # without speaker, place in a conversation and spoken words: linking alone reads these
    score: float  # the larger of its own similarity and the score of the best path to it
    similarity: float  # cosine to the query, in [-1, 1]
    path: tuple[WalkedLink, ...] = ()  # from a note found by similarity to this one; empty: its own similarity counts

    @property
    def hops(self) -> int:
        """Links between this note and the one found by similarity."""
        return len(self.path)


@dataclass(frozen=True, slots=True)
class WrittenNote:
    """A note with links: those made with it, or all it has."""

    note: Note
    links: tuple[Link, ...]


def whole_microseconds(moment: datetime) -> int:
    """Microseconds since 1970: exact, unlike a float timestamp."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def from_microseconds(microseconds: int) -> datetime:
    """The inverse of `whole_microseconds`."""
    return _EPOCH + timedelta(microseconds=microseconds)


def written_note_to_json(written: WrittenNote) -> str:
    """A note and its links as text: the first answer to a request, kept to answer its repeat."""
    note = written.note
    return json.dumps(
        {
            "note_id": note.note_id,
            "user_id": note.user_id,
            "content": note.content,
            "kind": int(note.kind),
            "importance": note.importance,
            "time": whole_microseconds(note.time),
            "create_time": whole_microseconds(note.create_time),
            "keywords": note.keywords,
            "tags": note.tags,
            "attachments": [[a.uri, a.mime_type, a.caption] for a in note.attachments],
            "metadata": dict(note.metadata),
            "derived_from": note.derived_from,
            "scope": note.scope.key,
            "links": [link_to_values(link) for link in written.links],
        },
        ensure_ascii=False,
    )


def written_note_from_json(text: str) -> WrittenNote:
    """The inverse of `written_note_to_json`."""
    values: dict[str, Any] = json.loads(text)
    note = Note(
        note_id=NoteId(values["note_id"]),
        user_id=UserId(values["user_id"]),
        content=values["content"],
        kind=NoteKind(values["kind"]),
        importance=values["importance"],
        time=from_microseconds(values["time"]),
        create_time=from_microseconds(values["create_time"]),
        keywords=tuple(values["keywords"]),
        tags=tuple(values["tags"]),
        attachments=tuple(Attachment(*parts) for parts in values["attachments"]),
        metadata=values["metadata"],
        derived_from=tuple(values["derived_from"]),
        scope=Scope.from_key(values["scope"]),
    )
    return WrittenNote(note, tuple(link_from_values(link) for link in values["links"]))


def link_to_values(link: Link) -> list[Any]:
    """A link as plain JSON values."""
    key = link.key
    return [
        key.from_note_id,
        key.to_note_id,
        int(key.type),
        link.strength,
        whole_microseconds(link.create_time),
    ]


def link_from_values(values: list[Any]) -> Link:
    """The inverse of `link_to_values`."""
    from_note_id, to_note_id, link_type, strength, create_time = values
    key = LinkKey(NoteId(from_note_id), NoteId(to_note_id), LinkType(link_type))
    return Link(key, strength, from_microseconds(create_time))


def link_to_json(link: Link) -> str:
    """A link as text, kept to answer the repeat of a request."""
    return json.dumps(link_to_values(link))


def link_from_json(text: str) -> Link:
    """The inverse of `link_to_json`."""
    return link_from_values(json.loads(text))
