"""Settings of the agentic tier. Frozen; read from the environment by `app.py` alone."""

from __future__ import annotations

from dataclasses import dataclass, field

from services.agentic.store import WalkSettings
from services.common.idempotency.model import RETENTION_SECONDS
from services.common.paging import RESPONSE_BYTES_MAX
from services.common.settings_types import Amount, Count, CountOrNone, ResponseBytes, Seconds, Share, table
from services.common.turns import TurnLimits


@dataclass(frozen=True, slots=True)
class ImportanceWeights:
    """Importance of a generated note = base + the weights of the cues it holds, at most 1."""

    base: Share = 0.3
    """What anything worth a note has."""
    personal: Share = 0.1
    """Somebody speaks of themselves or their people."""
    commitment: Share = 0.15
    """A promise, a decision, a plan."""
    preference: Share = 0.1
    """A like or a dislike."""
    emotion: Share = 0.1
    """Strong feeling."""
    detail: Share = 0.1
    """A date, a time or a number."""
    name: Share = 0.05
    """A proper name."""
    asked: Share = 0.3
    """The speaker asks for it to be remembered."""
    health: Share = 0.15
    """Health and safety: what is dangerous to forget."""


@dataclass(frozen=True, slots=True)
class GenerationSettings:
    """How notes are made from interactions by rules."""

    content_chars_max: Count = 600
    """Length of a note: what exceeds it is condensed to its salient sentences."""
    salience_min: Amount = 3.0
    """Least weight of a turn worth a note: 1 per content word, 1 more for a name, 1 more for a number."""
    answer_salience_min: Amount = 1.0
    """The same for an answer: the question says what its few words are about."""
    question_chars_max: CountOrNone = 160
    """How much of a question goes into the note of its answer."""
    keywords_max: Count = 16
    """Keywords of a note; the wire contract allows 16."""
    document_chars_min: Count = 400
    """Assistant turns of this length are condensed to headings and first sentences."""
    importance: ImportanceWeights = field(default_factory=ImportanceWeights)
    """The formula of importance."""


@dataclass(frozen=True, slots=True)
class LinkingSettings:
    """How new notes are linked."""

    similarity_min: Share = 0.45
    """Least cosine similarity of linked notes. Fits all-MiniLM-L6-v2; other models spread differently."""
    links_per_note_max: CountOrNone = 5
    """Links a new note makes to notes by similarity; later notes may add theirs to it."""
    candidates_max: Count = 20_000
    """Newest notes of the user that are compared: 30 MB of vectors at 384 numbers."""
    sequence_strength: Share = 0.65
    """Strength of the link to the note before in the same conversation; 0 makes none."""
    sequence_distance_max: CountOrNone = 3
    """Turns between two notes so linked, at most: further apart the talk has moved on."""
    contradiction_similarity_min: Share = 0.55
    """Least similarity of preferences of one speaker with opposite signs that contradict each other."""
    support_similarity_min: Share = 0.75
    """Least similarity of preferences of one speaker with the same sign that support each other."""


@dataclass(frozen=True, slots=True)
class NoteLimits:
    """Bounds of requests; each exceeded one is an error that names the field."""

    batch_interactions_max: Count = 256
    """Interactions in one GenerateNotes."""
    id_chars_max: Count = 128
    """User ids, conversation ids, request ids."""
    content_chars_max: Count = 8_000
    """A note that a caller writes."""
    query_chars_max: Count = 8_000
    """A search query."""
    tags_max: CountOrNone = 32
    """Labels of a note."""
    tag_chars_max: Count = 64
    """One label."""
    derived_from_max: CountOrNone = 64
    """Interactions a written note comes from."""
    page_size_default: Count = 50
    """Notes or links in a page that names no size."""
    page_size_max: Count = 200
    """Notes or links in a page; more is clamped."""
    page_bytes_max: ResponseBytes = RESPONSE_BYTES_MAX
    """Bytes of a page, or of the hits of a search; gRPC clients accept 4 MiB by default."""
    search_limit_default: Count = 10
    """Hits of a search that names no limit."""
    search_limit_max: Count = 200
    """Hits of a search."""
    hops_default: CountOrNone = 2
    """Links walked by a search that names no number."""
    hops_max: CountOrNone = 2
    """Links walked."""
    status_changes_max: Count = 10_000
    """Notes that one ArchiveNotes or RestoreNotes names."""
    removed_sources_max: Count = 1_000
    """Interactions that one RemoveBySource names."""
    links_returned_max: CountOrNone = 100
    """Links returned with a note."""
    turn: TurnLimits = field(default_factory=TurnLimits, metadata=table("turn"))
    """One turn, and the attachments and metadata of a note."""


@dataclass(frozen=True, slots=True)
class AccessSettings:
    """How access statistics are written behind the responses."""

    flush_interval_seconds: Seconds = 1.0
    """How long a count may wait."""
    pending_notes_max: Count = 50_000
    """Notes with counts that wait; more are dropped: statistics never delay a response."""


@dataclass(frozen=True, slots=True)
class AgenticSettings:
    """All settings of the tier."""

    generation: GenerationSettings = field(default_factory=GenerationSettings)
    linking: LinkingSettings = field(default_factory=LinkingSettings)
    walk: WalkSettings = field(default_factory=WalkSettings)
    limits: NoteLimits = field(default_factory=NoteLimits)
    access: AccessSettings = field(default_factory=AccessSettings)
    cached_notes_min: Count = 1_500
    """Notes of a user, where notes are in PostgreSQL, from which on their vectors are cached; it compares fewer."""
    graph_search_candidates: Count = 1_000
    """Notes that a search takes from Neo4j's vector index: for readers who see fewer, searches are exact."""
    idempotency_retention_seconds: Seconds = RETENTION_SECONDS
    """How long the response to a request id is stored for its repeats, at least."""
