"""Settings of the agentic tier. Frozen; read from the environment by `app.py` alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from annotated_types import Ge, Le, Lt

from services.agentic.store import VERSIONS_MAX, WalkSettings
from services.common.idempotency.model import RETENTION_SECONDS
from services.common.maintenance.settings import MaintenanceSettings
from services.common.model_change import ModelChangeSettings
from services.common.paging import RESPONSE_BYTES_MAX
from services.common.settings_types import (
    Amount,
    Count,
    CountOrNone,
    Factor,
    Positive,
    PositiveShare,
    ResponseBytes,
    Seconds,
    Share,
    table,
)
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
    cued_salience_min: Amount = 1.0
    """The same for a turn that states a like or a dislike, is about health or asks to be remembered."""
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
    judged_notes_max: Count = 1_000
    """Notes that one RecordFeedback names."""
    batch_uses_max: Count = 256
    """Uses in one RecordUse."""
    use_notes_max: Count = 1_000
    """Notes of one use."""
    removed_sources_max: Count = 1_000
    """Interactions that one RemoveBySource names."""
    removed_notes_max: Count = 10_000
    """What one RemoveOwner may name as the most notes to remove."""
    links_returned_max: CountOrNone = 100
    """Links returned with a note."""
    turn: TurnLimits = field(default_factory=TurnLimits, metadata=table("turn"))
    """One turn, and the attachments and metadata of a note."""


@dataclass(frozen=True, slots=True)
class AccessSettings:
    """How access statistics are written after the responses."""

    flush_interval_seconds: Seconds = 1.0
    """How long a count may wait."""
    pending_notes_max: Count = 50_000
    """Notes with counts that wait; more are dropped: statistics never delay a response."""


@dataclass(frozen=True, slots=True)
class ConsolidationSettings:
    """The job that merges duplicates, raises the importance of what is used, and makes concept notes."""

    is_enabled: bool = True
    """Whether the job runs by itself."""
    interval_seconds: Seconds = 3_600.0
    """From one complete run to the next."""
    share_max: Share = 0.05
    """Of a user's active notes that one run retires at most."""
    changes_share_max: Share = 0.25
    """Of a user's active notes: how many one run raises, and concepts it makes or changes, at most, but always 20."""
    duplicate_similarity_min: Share = 0.95
    """Cosine from which two notes can be duplicates; the value guard decides."""
    duplicates_max: Count = 20
    """Notes of one group of duplicates; of larger groups nothing is merged."""
    cluster_similarity_min: Share = 0.7
    """Cosine from which two notes belong to one topic; more in topics that would grow too large."""
    cluster_notes_min: Count = 4
    """Notes of a topic that has a concept note."""
    cluster_notes_max: Count = 24
    """Notes of a topic at most."""
    concept_strength: Share = 0.7
    """Strength of the links between a concept note and its notes."""
    uses_raising: tuple[int, ...] = (8, 64, 512)
    """Uses of a note at which its importance is raised."""
    importance_step: Share = 0.05
    """By how much."""
    notes_page: Count = 100
    """Notes that are read at once."""


@dataclass(frozen=True, slots=True)
class PruningSettings:
    """The job that archives faded notes as summaries."""

    is_enabled: bool = True
    """Whether the job runs by itself."""
    interval_seconds: Seconds = 604_800.0
    """From one complete run to the next."""
    share_max: Share = 0.05
    """Of a user's active notes that one run retires at most."""
    strength_min: Share = 0.1
    """Of importance x decay, below which a note has faded."""
    scale_days: Positive = 365.0
    """Since the last use, after which half of a note's strength is left."""
    untouched_days: Positive = 90.0
    """Days without a use before a note can be archived, whatever its strength."""
    summary_notes_min: Count = 3
    """Notes of a summary; fewer wait for more."""
    summary_notes_max: Count = 20
    """Notes of a summary at most."""


@dataclass(frozen=True, slots=True)
class FadingSettings:
    """The job that weakens links that are not used. Days count only while the user is active."""

    is_enabled: bool = True
    """Whether the job runs by itself."""
    interval_seconds: Seconds = 86_400.0
    """From one complete run to the next."""
    period_days: Positive = 30.0
    """Without a use, after which a link is weakened once."""
    factor: PositiveShare = 0.95
    """What is left of the strength after each period."""
    strength_min: Share = 0.1
    """A weaker link is removed."""
    pair_days: Positive = 180.0
    """Since notes without a link were last used together, after which their common uses are forgotten."""


@dataclass(frozen=True, slots=True)
class UseSettings:
    """What it does to links that their notes are used together in a response."""

    is_enabled: bool = True
    """Whether uses are counted."""
    notes_max: Annotated[int, Ge(2)] = 8
    """First notes of a response that count as used together: 28 pairs."""
    factor: Factor = 1.1
    """By which the strength of a link grows with each use, up to 1."""
    contexts: CountOrNone = 3
    """Common uses of notes without a link; one more links them."""
    strength: Share = 0.5
    """Of a link that is made so."""


@dataclass(frozen=True, slots=True)
class InsightSettings:
    """Suggestions and questions in plain English. Similarities fit all-MiniLM-L6-v2."""

    topic_similarity_min: Share = 0.45
    """Cosine to the topic of a question from which a note is about it; one that holds all its words is in any case."""
    nearest_similarity_min: Share = 0.38
    """The same where no note is so near and a question asks for notes, not for their number."""
    gap_similarity_max: Share = 0.3
    """Where no note is this near to a query, there is none about it."""
    hits_max: Count = 200
    """Notes that one query of suggestions finds."""
    topic_words: Annotated[int, Ge(1), Le(16)] = 3
    """Keywords of a note that stand for its topic in a suggestion."""
    used_notes: Count = 10
    """Notes used last that suggestions begin with where there are no queries."""
    reflection_days: Positive = 7.0
    """Length of the period of a reflection that names no beginning."""
    reflection_notes_max: Annotated[int, Ge(1), Le(200)] = 20
    """Notes in each list of a reflection; the counts cover all."""
    reflection_topics_max: Count = 10
    """Topics of a reflection."""


@dataclass(frozen=True, slots=True)
class AgenticSettings:
    """All settings of the tier."""

    generation: GenerationSettings = field(default_factory=GenerationSettings)
    linking: LinkingSettings = field(default_factory=LinkingSettings)
    walk: WalkSettings = field(default_factory=WalkSettings)
    limits: NoteLimits = field(default_factory=NoteLimits)
    access: AccessSettings = field(default_factory=AccessSettings)
    feedback_rate: Annotated[float, Ge(0.0), Lt(1.0)] = 0.2
    """Good feedback on a note or link adds rate x (1 - s) to its importance or strength s, bad takes away rate x s."""
    consolidation: ConsolidationSettings = field(default_factory=ConsolidationSettings)
    pruning: PruningSettings = field(default_factory=PruningSettings)
    fading: FadingSettings = field(default_factory=FadingSettings)
    use: UseSettings = field(default_factory=UseSettings)
    maintenance: MaintenanceSettings = field(default_factory=MaintenanceSettings)
    model_change: ModelChangeSettings = field(default_factory=ModelChangeSettings)
    insights: InsightSettings = field(default_factory=InsightSettings)
    captions_embedded_max: CountOrNone = 4
    """First captions of a note's attachments that get a vector of their own, beside the note's; 0: none."""
    cached_notes_min: Count = 1_500
    """Notes of a user, where notes are in PostgreSQL, from which on their vectors are cached; it compares fewer."""
    former_candidates: Count = 100
    """Nearest notes, and nearest archived ones, of which a search as of a time looks at how they were then."""
    versions_max: Count = VERSIONS_MAX
    """Earlier states of a note that are stored, the latest ones: as of a time before them the oldest one is shown."""
    graph_search_candidates: Count = 1_000
    """Notes that a search takes from Neo4j's vector index: for readers who see fewer, searches are exact."""
    idempotency_retention_seconds: Seconds = RETENTION_SECONDS
    """How long the response to a request id is stored for its repeats, at least."""
