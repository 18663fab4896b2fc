"""Settings of the semantic tier. Frozen; read from the environment by `app.py` alone."""

from __future__ import annotations

from dataclasses import dataclass, field

from services.common.idempotency.model import RETENTION_SECONDS
from services.common.maintenance.settings import MaintenanceSettings
from services.common.model_change import ModelChangeSettings
from services.common.paging import RESPONSE_BYTES_MAX
from services.common.settings_types import Count, CountOrNone, GroupSize, Positive, ResponseBytes, Seconds, Share, table
from services.common.turns import MessageRole, TurnLimits
from services.semantic.code.config import CodeSettings
from services.semantic.supersession.model import ClearPolicy, QueuePolicy


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
    stated_wait_seconds: Seconds = 2.0
    """For the reading of a fact that a caller states as a text alone; what takes longer is stored as it is."""


@dataclass(frozen=True, slots=True)
class ModelExtractionSettings:
    """Facts that a language model adds to those of the rules, where one is configured."""

    roles: frozenset[MessageRole] = frozenset({MessageRole.USER})
    """Whose turns it reads."""
    chars_min: Count = 20
    """A shorter turn is left to the rules."""
    chars_max: Count = 8_000
    """A longer one too."""
    facts_max: Count = 8
    """Facts that it may add to one turn."""
    confidence: Share = 0.6
    """Confidence of an added fact, until it is confirmed."""
    importance: Share = 0.5
    """Importance of an added fact."""
    batch_seconds: Seconds = 15.0
    """Time for one batch of turns; facts that come later are not waited for."""


@dataclass(frozen=True, slots=True)
class EvidenceSettings:
    """How evidence changes a fact."""

    confirmation_rate: Share = 0.05
    """Each confirmation adds rate x (1 - confidence)."""
    rejection_rate: Share = 0.2
    """A bad judgement by Feedback takes away rate x confidence; a good one counts as a confirmation."""
    superseding_confidence_min: Share = 0.5
    """Least confidence of a statement that ends the validity of an earlier one."""
    clear_policy: ClearPolicy = ClearPolicy.SUPERSEDE
    """What becomes of two statements that contradict each other clearly, which are of one slot and both believed: with
    supersede the later one stands, and with reduce neither ends and the facts of both are believed half as much, until
    the user decides. It holds for statements that arrive; recalls have `gateway.conflicts.policy`.
    """
    versions_max: Count = 100
    """Newest earlier states stored with a fact; its evidence is stored in full."""
    topic_facts_max: Count = 64
    """Facts of one topic, last said first, that a new statement is compared with. Earlier ones stay as they are."""
    statements_max: Count = 128
    """Newest statements of a fact that its state follows from. Earlier ones count as evidence."""
    derived_from_max: CountOrNone = 64
    """Newest interactions that a fact names; `evidence_count` counts them all."""
    support_cosine_min: Share = 0.75
    """Similarity from which on a new statement is compared with a fact that it may support."""
    support_candidates_max: CountOrNone = 8
    """Similar facts that a new statement is compared with, the most similar first."""
    contradiction_cosine_above: Share = 0.85
    """Similarity above which a statement is compared with a fact that may contradict it, where the slot of one of them
    is not known."""
    contradiction_candidates_max: CountOrNone = 8
    """Similar facts that such a statement is compared with, the most similar first."""
    contradiction_texts_max: Count = 16
    """Facts of one topic, last said first, that are compared by their texts. Earlier ones stay as they are."""
    supports_max: Count = 128
    """Newest interactions that support a fact in other words which its state follows from. Earlier ones count."""
    decay_per_day: Positive = 0.01
    """Rate at which the confidence in a fact falls without new evidence."""
    deprecated_below: Share = 0.3
    """Confidence under which a fact is deprecated."""
    lasting_importance_min: Share = 0.7
    """Facts at least this important do not fade: an allergy mentioned once still holds after a year."""


@dataclass(frozen=True, slots=True)
class FactRetentionSettings:
    """The job that deprecates facts that faded and archives those beyond the cap; both can be undone."""

    is_enabled: bool = True
    """Whether it runs by itself."""
    interval_seconds: Seconds = 86_400.0
    """Between two runs."""
    facts_max: Count = 5_000
    """Active facts of a user; the least important, of equal ones the oldest, are archived."""
    share_max: Share = 0.05
    """Of a user's active facts that one run takes out of use at most."""
    step_max: Count = 1_000
    """Facts of a user that one run looks at."""
    owners_page: Count = 100
    """Owners listed by one statement."""


@dataclass(frozen=True, slots=True)
class FactMergingSettings:
    """The job that merges facts that say the same; it can be undone."""

    is_enabled: bool = True
    """Whether it runs by itself."""
    interval_seconds: Seconds = 86_400.0
    """Between two runs."""
    cosine_above: Share = 0.85
    """Similarity above which two facts are compared."""
    confidence_above: Share = 0.6
    """Confidence that one of a group needs."""
    newest_max: Count = 500
    """Facts of a user, the last confirmed first, that a run compares with all others."""
    facts_max: Count = 5_000
    """Facts of a user that they are compared with."""
    pairs_max: Count = 2_000
    """Similar pairs of a user that are read in one run, the most similar first."""
    share_max: Share = 0.05
    """Of a user's active facts that one run merges at most."""
    group_facts_max: GroupSize = 8
    """Facts of a group that waits for a decision; a larger one is divided."""
    groups_max: Count = 100
    """Groups of a user that wait for a decision, the most similar first."""
    decisions_max: Count = 2_000
    """Newest groups of a user whose facts are not proposed again, since they are to be kept apart."""


@dataclass(frozen=True, slots=True)
class UseSettings:
    """How much confidence a use of facts needs."""

    explicit_confidence_min: Share = 0.3
    """Least confidence of a fact that is asked for."""
    passive_confidence_above: Share = 0.5
    """Facts that are put into a prompt unasked must be above this."""
    former_candidates: Count = 100
    """Nearest facts, retired ones included, of which a search as of a time looks at how they were then."""


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
class SupersessionQueueSettings:
    """The job that decides by the policy about pairs that wait; it can be undone."""

    interval_seconds: Seconds = 3_600.0
    """Between two runs, where the policy decides anything."""
    age_min_seconds: Seconds = 604_800.0
    """How long a pair waits for the user first: a week."""
    decided_max: Count = 100
    """Pairs of a user of which one run marks a side, or reduces both, at most."""
    page_size: Count = 40
    """Pairs of a user that are read at once."""
    owners_page: Count = 100
    """Users listed by one statement."""
    model_pairs_max: Count = 8
    """Pairs that a language model is asked about in one request."""
    reason_chars_max: Count = 300
    """Characters of its reason that are stored."""


@dataclass(frozen=True, slots=True)
class SupersessionSettings:
    """How statements that hold no more are found."""

    policy: QueuePolicy = QueuePolicy.RECENCY
    """What decides about pairs that wait, as two statements of the same time do, if the user does not: recency and user
    leave them to the user, confidence and importance compare the facts read in them, language_model asks it, and with
    reduce the facts of both are believed half as much.
    """

    turn_chars_max: Count = 8_000
    """Characters of a turn that are read."""
    sentences_max: Count = 32
    """Sentences of a turn that are compared with others."""
    sentence_chars_max: Count = 800
    """A longer sentence is not compared."""
    keys_max: Count = 32
    """Content words by which a statement is found."""
    candidates_per_word: Count = 2
    """Earlier and later statements that a new one is compared with for each content word that it has: those that share
    the rarest ones.
    """
    candidates_min: Count = 12
    """As many are compared with a statement of few words."""
    candidates_max: Count = 24
    """No more are compared with a statement of many words."""
    marks_max: Count = 20_000
    """Superseded statements of a user that recalls know of: the newest."""
    queue: SupersessionQueueSettings = field(default_factory=SupersessionQueueSettings)

    def candidates_of(self, word_count: int) -> int:
        """How many others a statement of so many content words is compared with."""
        return min(max(self.candidates_min, word_count * self.candidates_per_word), self.candidates_max)


@dataclass(frozen=True, slots=True)
class ProcedureSettings:
    """How procedures are learned, and their bounds; the contract documents the bounds."""

    initial_confidence: Share = 0.7
    """Confidence before the first outcome, where none is given."""
    guessed_confidence: Share = 0.5
    """The same of a learned rewriting that spells out no abbreviation: it is applied when it has helped twice."""
    learning_rate: Share = 0.1
    """How far one single outcome moves the initial confidence towards 1 or 0."""
    applied_above: Share = 0.6
    """Procedures above this confidence are applied."""
    pruned_below: Share = 0.3
    """Outcomes that bring the confidence below this delete a procedure."""
    per_kind_max: Count = 1_000
    """Procedures of one kind of a user; beyond that the least confident one is deleted."""
    applied_max: Count = 4_000
    """The most confident procedures of a user that recalls know of."""
    judged_max: Count = 1_000
    """Newest judged recalls of a user that are stored. Older judgements cannot be taken back."""
    rephrased_within_seconds: Seconds = 600.0
    """Time between a query and the same in other words."""
    rephrased_judged_max: Count = 8
    """Judged recalls within this time that a recall is compared with, newest first."""
    query_chars_max: Count = 500
    """A longer query is not learned from."""
    trigger_words_max: Count = 3
    """Words of a query that a learned rewriting replaces."""
    action_words_max: Count = 6
    """Words that a learned rewriting puts in their place."""
    definition_chars_max: Count = 8_000
    """Length of the beginning of a turn in which abbreviations are looked for."""
    definitions_max: Count = 8
    """Abbreviations of one turn."""
    trigger_chars_max: Count = 200
    """The trigger, and the action of a rewriting."""
    action_chars_max: Count = 500
    """The action of other kinds."""
    derived_from_max: Count = 64
    """Interactions that a procedure rests on."""
    observed_max: Count = 2_000
    """Procedures of a user that are made of the activity log at once."""


@dataclass(frozen=True, slots=True)
class SemanticSettings:
    """All settings of the tier."""

    extraction: ExtractionSettings = field(default_factory=ExtractionSettings)
    model_extraction: ModelExtractionSettings = field(default_factory=ModelExtractionSettings)
    evidence: EvidenceSettings = field(default_factory=EvidenceSettings)
    retention: FactRetentionSettings = field(default_factory=FactRetentionSettings)
    merging: FactMergingSettings = field(default_factory=FactMergingSettings)
    use: UseSettings = field(default_factory=UseSettings)
    supersession: SupersessionSettings = field(default_factory=SupersessionSettings)
    facts: FactLimits = field(default_factory=FactLimits)
    profile: ProfileLimits = field(default_factory=ProfileLimits)
    code: CodeSettings = field(default_factory=CodeSettings)
    learning: LearningSettings = field(default_factory=LearningSettings)
    procedures: ProcedureSettings = field(default_factory=ProcedureSettings)
    cached_facts_min: Count = 300
    """Facts of a user, where facts are in PostgreSQL, from which on their vectors are cached; it compares fewer."""
    graph_search_candidates: Count = 512
    """Facts that a search takes from Neo4j's vector index: for users with fewer, searches are exact."""
    maintenance: MaintenanceSettings = field(default_factory=MaintenanceSettings)
    model_change: ModelChangeSettings = field(default_factory=ModelChangeSettings)
    idempotency_retention_seconds: Seconds = RETENTION_SECONDS
    """How long the response to a request id is stored for its repeats, at least."""
