"""Settings of the semantic tier. Frozen; read from the environment by `app.py` alone."""

from __future__ import annotations

from dataclasses import dataclass, field

from services.common.turns import MessageRole, TurnLimits


@dataclass(frozen=True, slots=True)
class ExtractionSettings:
    """How facts are found in interactions by rules."""

    roles: frozenset[MessageRole] = frozenset({MessageRole.USER})
    """Whose turns are read. An assistant's statements are no facts about the user."""
    nameless_subject: str = "The user"
    """Subject of the facts of a speaker without a name."""
    list_items: bool = True
    """Whether list items in the turns of people are read."""
    facts_per_turn_max: int = 32
    """Facts of one turn; what a long text states beyond them is left out."""
    text_chars_max: int = 400
    """Length of a fact's text: what is longer is a story and no fact."""
    asked_importance_bonus: float = 0.15
    """Added to the importance of what somebody asks to be remembered."""


@dataclass(frozen=True, slots=True)
class EvidenceSettings:
    """How evidence changes a fact."""

    confirmation_rate: float = 0.05
    """Each confirmation adds rate x (1 - confidence)."""
    superseding_confidence_min: float = 0.5
    """Least confidence of a statement that ends the validity of an earlier one."""
    versions_max: int = 100
    """Newest earlier states kept with a fact; its evidence is kept in full."""
    topic_facts_max: int = 64
    """Facts of one topic, last said first, that a new statement is weighed against. Earlier ones are settled."""
    statements_max: int = 128
    """Newest statements of a fact that its state follows from. Earlier ones count as evidence."""
    derived_from_max: int = 64
    """Newest interactions that a fact names; `evidence_count` counts them all."""


@dataclass(frozen=True, slots=True)
class UseSettings:
    """How much confidence a use of facts needs."""

    explicit_confidence_min: float = 0.3
    """Least confidence of a fact that is asked for."""
    passive_confidence_above: float = 0.5
    """Facts that are put into a prompt unasked must be above this."""


@dataclass(frozen=True, slots=True)
class FactLimits:
    """Bounds of requests; each exceeded one is an error that names the field."""

    batch_interactions_max: int = 256
    """Interactions in one ExtractFacts or ObserveInteractions."""
    id_chars_max: int = 128
    """User ids, conversation ids, request ids."""
    text_chars_max: int = 2_000
    """The statement of a fact."""
    part_chars_max: int = 512
    """Subject, predicate or object."""
    derived_from_max: int = 64
    """Interactions behind a stated fact."""
    query_chars_max: int = 8_000
    """A search query."""
    page_size_default: int = 50
    """Facts in a page where none is asked for."""
    page_size_max: int = 200
    """Facts in a page; more is cut to it."""
    top_k_default: int = 10
    """Hits of a search where none is asked for."""
    top_k_max: int = 200
    """Hits of a search."""
    stated_confidence: float = 0.9
    """Confidence of a stated fact where none is given."""
    stated_importance: float = 0.5
    """Importance of a stated fact where none is given."""
    turn: TurnLimits = field(default_factory=TurnLimits)
    """One turn."""


@dataclass(frozen=True, slots=True)
class ProfileLimits:
    """Bounds of preferences; the contract documents them."""

    value_chars_max: int = 64
    """Response format, detail level, citation style."""
    language_chars_max: int = 35
    """A BCP 47 tag."""
    sources_max: int = 64
    """Preferred, and excluded sources."""
    source_chars_max: int = 128
    """One source."""
    other_entries_max: int = 64
    """Other preferences."""
    other_key_chars_max: int = 64
    """Their keys."""
    other_value_chars_max: int = 512
    """Their values."""
    peak_hours_max: int = 5
    """Hours of the day in the statistics."""


@dataclass(frozen=True, slots=True)
class SemanticSettings:
    """All settings of the tier."""

    extraction: ExtractionSettings = field(default_factory=ExtractionSettings)
    evidence: EvidenceSettings = field(default_factory=EvidenceSettings)
    use: UseSettings = field(default_factory=UseSettings)
    facts: FactLimits = field(default_factory=FactLimits)
    profile: ProfileLimits = field(default_factory=ProfileLimits)
    graph_search_candidates: int = 512
    """Facts that a search takes from Neo4j's vector index: for users with fewer, searches are exact."""
    receipt_retention_seconds: float = 7 * 86_400.0
    """How long the answer to a request id is kept for its repeats."""
