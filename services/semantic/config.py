"""Settings of the semantic tier. Frozen; read from the environment by `app.py` alone."""

from __future__ import annotations

from dataclasses import dataclass, field

from services.common.idempotency.model import RETENTION_SECONDS
from services.common.paging import RESPONSE_BYTES_MAX
from services.common.settings_types import Count, CountOrNone, ResponseBytes, Seconds, Share, table
from services.common.turns import MessageRole, TurnLimits


@dataclass(frozen=True, slots=True)
class ExtractionSettings:
    """How facts are found in interactions."""

    roles: frozenset[MessageRole] = frozenset({MessageRole.USER})
    """Whose turns are read. An assistant's statements are no facts about the user."""
    nameless_subject: str = "The user"
    """Subject of the facts of a speaker without a name."""
    list_items: bool = True
    """Whether list items in the turns of people are read."""
    read_chars_max: Count = 8_000
    """Length of the beginning of a turn that is read."""
    facts_per_turn_max: Count = 32
    """Facts of one turn; what a long text states beyond them is left out."""
    text_chars_max: Count = 400
    """Length of a fact's text: what is longer is a story and no fact."""
    asked_importance_bonus: Share = 0.15
    """Added to the importance of what somebody asks to be remembered."""


@dataclass(frozen=True, slots=True)
class EvidenceSettings:
    """How evidence changes a fact."""

    confirmation_rate: Share = 0.05
    """Each confirmation adds rate x (1 - confidence)."""
    superseding_confidence_min: Share = 0.5
    """Least confidence of a statement that ends the validity of an earlier one."""
    versions_max: Count = 100
    """Newest earlier states stored with a fact; its evidence is stored in full."""
    topic_facts_max: Count = 64
    """Facts of one topic, last said first, that a new statement is compared with. Earlier ones stay as they are."""
    statements_max: Count = 128
    """Newest statements of a fact that its state follows from. Earlier ones count as evidence."""
    derived_from_max: CountOrNone = 64
    """Newest interactions that a fact names; `evidence_count` counts them all."""


@dataclass(frozen=True, slots=True)
class UseSettings:
    """How much confidence a use of facts needs."""

    explicit_confidence_min: Share = 0.3
    """Least confidence of a fact that is asked for."""
    passive_confidence_above: Share = 0.5
    """Facts that are put into a prompt unasked must be above this."""


@dataclass(frozen=True, slots=True)
class FactLimits:
    """Bounds of requests; each exceeded one is an error that names the field."""

    batch_interactions_max: Count = 256
    """Interactions in one ExtractFacts or ObserveInteractions."""
    ids_max: Count = 1_000
    """Facts or interactions named in one request of the gateway."""
    id_chars_max: Count = 128
    """User ids, conversation ids, request ids."""
    text_chars_max: Count = 2_000
    """The statement of a fact."""
    part_chars_max: Count = 512
    """Subject, predicate or object."""
    derived_from_max: CountOrNone = 64
    """Interactions behind a stated fact."""
    query_chars_max: Count = 8_000
    """A search query."""
    page_size_default: Count = 50
    """Facts in a page where none is asked for."""
    page_size_max: Count = 200
    """Facts in a page; more is cut to it."""
    page_bytes_max: ResponseBytes = RESPONSE_BYTES_MAX
    """Bytes of a page, or of the hits of a search; gRPC clients accept 4 MiB by default."""
    limit_default: Count = 10
    """Hits of a search where none is asked for."""
    limit_max: Count = 200
    """Hits of a search."""
    stated_confidence: Share = 0.9
    """Confidence of a stated fact where none is given."""
    stated_importance: Share = 0.5
    """Importance of a stated fact where none is given."""
    turn: TurnLimits = field(default_factory=TurnLimits, metadata=table("turn"))
    """One turn."""


@dataclass(frozen=True, slots=True)
class ProfileLimits:
    """Bounds of preferences; the contract documents them."""

    value_chars_max: Count = 64
    """Response format, detail level, citation style."""
    language_chars_max: Count = 35
    """A BCP 47 tag."""
    sources_max: CountOrNone = 64
    """Preferred, and excluded sources."""
    source_chars_max: Count = 128
    """One source."""
    other_entries_max: CountOrNone = 64
    """Other preferences."""
    other_key_chars_max: Count = 64
    """Their keys."""
    other_value_chars_max: Count = 512
    """Their values."""
    peak_hours_max: CountOrNone = 5
    """Hours of the day in the statistics."""
    topics_max: CountOrNone = 10
    """Topics in the statistics."""


@dataclass(frozen=True, slots=True)
class LearningSettings:
    """How a profile learns from turns that state preferences or were judged by Feedback."""

    lessons_max: Count = 500
    """Newest such turns that are read."""
    sources_max: Count = 64
    """Sources that are learned as preferred, and as excluded."""
    source_judgements_min: Count = 3
    """Good judgements, less the bad ones, from which on the source of a turn is preferred."""
    fact_confidence_default: Share = 0.5
    """Facts must be above this confidence to be used unasked, before anything is judged."""
    fact_confidence_low: Share = 0.5
    """The least that good judgements lower it to."""
    fact_confidence_high: Share = 0.8
    """The most that bad judgements raise it to."""
    fact_confidence_rate: Share = 0.02
    """What a bad judgement adds to it, and a good one takes away."""
    threshold_judgements: Count = 50
    """Newest judged turns that count for it."""


@dataclass(frozen=True, slots=True)
class SupersessionSettings:
    """How statements that hold no more are found."""

    turn_chars_max: Count = 8_000
    """Characters of a turn that are read."""
    sentences_max: Count = 32
    """Sentences of a turn that are compared with others."""
    sentence_chars_max: Count = 400
    """A longer sentence is not compared."""
    keys_max: Count = 16
    """Content words by which a statement is found."""
    candidates_max: Count = 16
    """Earlier and later statements that a new one is compared with: those that share most content words."""
    marks_max: Count = 20_000
    """Superseded statements of a user that recalls know of: the newest."""


@dataclass(frozen=True, slots=True)
class SemanticSettings:
    """All settings of the tier."""

    extraction: ExtractionSettings = field(default_factory=ExtractionSettings)
    evidence: EvidenceSettings = field(default_factory=EvidenceSettings)
    use: UseSettings = field(default_factory=UseSettings)
    supersession: SupersessionSettings = field(default_factory=SupersessionSettings)
    facts: FactLimits = field(default_factory=FactLimits)
    profile: ProfileLimits = field(default_factory=ProfileLimits)
    learning: LearningSettings = field(default_factory=LearningSettings)
    cached_facts_min: Count = 300
    """Facts of a user, where facts are in PostgreSQL, from which on their vectors are cached; it compares fewer."""
    graph_search_candidates: Count = 512
    """Facts that a search takes from Neo4j's vector index: for users with fewer, searches are exact."""
    idempotency_retention_seconds: Seconds = RETENTION_SECONDS
    """How long the first response to a request id is kept for its repeats."""
