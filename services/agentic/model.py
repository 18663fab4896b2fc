"""Notes, links and what a walk over them finds. Pure data and pure functions."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from typing import Final, NamedTuple, NewType

from services.common.embedding.vectors import Vector
from services.common.owners import InteractionId, UserId
from services.common.scope import GLOBAL_SCOPE, Scope
from services.common.turns import Attachment, searchable_text

NoteId = NewType("NoteId", str)

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_ETAG_BYTES: Final = 12


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


class NoteStatus(IntEnum):
    """Whether searches find a note; the numbers are those of the wire format."""

    ACTIVE = 1
    ARCHIVED = 2


class LinkOrigin(IntEnum):
    """Why a link was made; the numbers are those of the wire format."""

    SIMILARITY = 1
    CONVERSATION = 2
    CALLER = 3
    USE = 4
    CONSOLIDATION = 5


_ORIGINS_FOLLOWING_USE: Final = frozenset({LinkOrigin.SIMILARITY, LinkOrigin.CONVERSATION, LinkOrigin.USE})


@dataclass(frozen=True, slots=True)
class Note:
    """One thing worth keeping."""

    note_id: NoteId
    user_id: UserId
    content: str  # plain words
    kind: NoteKind
    importance: float  # in [0, 1]
    time: datetime  # when what it says happened; aware, UTC
    create_time: datetime  # aware, UTC
    update_time: datetime  # aware, UTC; accesses do not count
    keywords: tuple[str, ...] = ()  # most salient first
    tags: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    derived_from: tuple[InteractionId, ...] = ()
    status: NoteStatus = NoteStatus.ACTIVE
    access_count: int = 0  # searches that returned it
    last_access_time: datetime | None = None
    scope: Scope = GLOBAL_SCOPE
    speaker: str = ""  # whose statement it is, where known; preferences are compared by it
    conversation_id: str = ""  # where it was said; empty for notes that a caller wrote
    position: int = 0  # place in the conversation
    spoken: str = ""  # the content in the speaker's own words, without names put in; empty: the content itself
    question_id: InteractionId | None = None  # the interaction whose question it answers
    question_chars: int = 0  # characters at the beginning of `spoken` that quote that question
    feedback: int = 0  # the last judgement: -1, 0 or 1; the importance follows from it too
    source_note_ids: tuple[NoteId, ...] = ()  # of a note that maintenance made: from which notes
    successor_id: NoteId | None = None  # of an archived note: the one that stands for it
    raised: int = 0  # how often maintenance raised the importance because of its use

    @property
    def embedded_text(self) -> str:
        """What is embedded: the spoken words, with the captions of the attachments.

        Names put in front would draw all notes of a speaker together, whatever they are about.
        """
        return searchable_text(self.spoken or self.content, self.attachments)

    def captions(self, count_max: int) -> tuple[tuple[int, str], ...]:
        """The first captions of its attachments, each with the place of its attachment."""
        found = [(place, each.caption) for place, each in enumerate(self.attachments) if each.caption.strip()]
        return tuple(found[:count_max])

    @property
    def etag(self) -> str:
        """A digest of all that callers see of it but its accesses."""
        return _digest(
            self.content,
            int(self.kind),
            self.importance,
            self.keywords,
            self.tags,
            tuple((a.uri, a.mime_type, a.caption) for a in self.attachments),
            sorted(self.metadata.items()),
            self.derived_from,
            whole_microseconds(self.time),
            int(self.status),
            whole_microseconds(self.update_time),
            self.feedback,
        )


class CaptionVector(NamedTuple):
    """The vector of one attachment's caption."""

    note_id: NoteId
    place: int  # of the attachment among the note's, from 0
    vector: Vector  # of length 1


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
    origin: LinkOrigin
    create_time: datetime  # aware, UTC
    update_time: datetime  # when the strength was last set; aware, UTC
    feedback: int = 0  # the last judgement: -1, 0 or 1; the strength follows from it too

    @property
    def etag(self) -> str:
        """A digest of what can change."""
        return _digest(self.strength, int(self.origin), whole_microseconds(self.update_time), self.feedback)

    @property
    def follows_use(self) -> bool:
        """Whether use and judgements strengthen it and idleness weakens it: nobody set it by hand."""
        return self.key.type is LinkType.RELATED_TO and self.origin in _ORIGINS_FOLLOWING_USE


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
    question_id: InteractionId | None = None  # see Note
    question_chars: int = 0


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
    similarity: float  # the best cosine to the query of its vector and those of its captions, in [-1, 1]
    path: tuple[WalkedLink, ...] = ()  # from a note found by similarity to this one; empty: its own similarity counts
    place: int | None = None  # of the attachment whose caption is what is similar, among the note's; None: the note is

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


def _digest(*parts: object) -> str:
    return hashlib.blake2b(repr(parts).encode(), digest_size=_ETAG_BYTES).hexdigest()
