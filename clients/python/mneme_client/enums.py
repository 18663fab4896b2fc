"""The enums of the wire format, in requests and in results."""

from __future__ import annotations

from enum import IntEnum
from typing import Self


class WireEnum(IntEnum):
    """An enum of the wire format. A number of a newer server that this client does not know reads as 0."""

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        del value
        return cls(0)


class Role(WireEnum):
    """Who speaks in a turn."""

    UNSPECIFIED = 0
    USER = 1
    ASSISTANT = 2
    SYSTEM = 3
    TOOL = 4


class ScopeLevel(WireEnum):
    """How far a memory may be seen."""

    UNSPECIFIED = 0
    GLOBAL = 1
    PROJECT = 2
    SESSION = 3
    TASK = 4


class Tier(WireEnum):
    """A memory tier, or a part of one that takes deliveries of its own."""

    UNSPECIFIED = 0
    SESSION = 1
    EPISODIC = 2
    SEMANTIC = 3
    AGENTIC = 4
    PROFILE = 5


class FeedbackValue(WireEnum):
    """A judgement of memories."""

    UNSPECIFIED = 0
    GOOD = 1
    BAD = 2
    NONE = 3  # withdraws an earlier judgement


class TierState(WireEnum):
    """How a tier took part in a recall."""

    UNSPECIFIED = 0
    RESPONDED = 1
    SKIPPED = 2
    FAILED = 3


class MemoryKind(WireEnum):
    """What a recalled memory is."""

    UNSPECIFIED = 0
    EPISODE = 1
    FACT = 2
    NOTE = 3


class ErasureState(WireEnum):
    """How far an erasure is."""

    UNSPECIFIED = 0
    PENDING = 1
    DONE = 2


class ErasureStore(WireEnum):
    """A part of Mneme that holds memories."""

    UNSPECIFIED = 0
    JOURNAL = 1
    SESSION = 2
    EPISODIC = 3
    SEMANTIC = 4
    AGENTIC = 5


class PlannedReason(WireEnum):
    """Why `forget` chose a memory, or left it."""

    UNSPECIFIED = 0
    NAME = 1
    WORDS = 2
    MATTER = 3
    SIMILARITY = 4
    FOLLOW_UP = 5
    CONVERSATION = 6
    OWN_SUBJECT = 7  # it stands behind a turn that is meant, and stays
    ANOTHER = 8  # it is of another one of the name or of the kind, and stays
    UNSURE = 9  # it may be about another one, so it stays
    EXCEPTED = 10  # the query says that it stays


class ContextSectionKind(WireEnum):
    """What a section of a prompt's context holds."""

    UNSPECIFIED = 0
    RECENT_TURNS = 1
    FACTS = 2
    MEMORIES = 3
    NOTES = 4
    PROCEDURES = 5


class ContextSectionState(WireEnum):
    """Whether a section is in a prompt's context, and why not."""

    UNSPECIFIED = 0
    INCLUDED = 1
    EMPTY = 2
    BUDGET_TOO_SMALL = 3
    EXCLUDED = 4
    FAILED = 5


class ContextOrder(WireEnum):
    """In which order memories stand in a prompt's context."""

    UNSPECIFIED = 0
    BEST_FIRST = 1
    CHRONOLOGICAL = 2


class TaskType(WireEnum):
    """What a recall is for."""

    UNSPECIFIED = 0
    FACTUAL = 1
    RECOMMENDATION = 2
    CONVERSATIONAL = 3
    PROCEDURAL = 4
    DEBUGGING = 5
    GENERAL = 6


class ProcedureKind(WireEnum):
    """What a procedure changes."""

    UNSPECIFIED = 0
    QUERY_REWRITING = 1
    RETRIEVAL_STRATEGY = 2
    RESPONSE_FORMATTING = 3
    SOURCE_SELECTION = 4
    CO_EDIT = 5
    ERROR_FIX = 6
    REFACTOR = 7


class ConflictPolicy(WireEnum):
    """Which of two memories that contradict each other stands."""

    UNSPECIFIED = 0
    RECENCY = 1
    CONFIDENCE = 2
    IMPORTANCE = 3
    USER_OVERRIDE = 4
    REDUCE = 5


class ConflictKind(WireEnum):
    """How memories contradict each other."""

    UNSPECIFIED = 0
    NEGATION = 1
    VALUE = 2


class ConflictReason(WireEnum):
    """What made the winner of a conflict win."""

    UNSPECIFIED = 0
    LATER = 1
    CONFIDENCE = 2
    IMPORTANCE = 3
    USER_CHOICE = 4
    STILL_VALID = 5
    RANK = 6
    NEITHER = 7


class FactCategory(WireEnum):
    """What a fact is about."""

    UNSPECIFIED = 0
    PREFERENCE = 1
    COMMITMENT = 2
    RELATIONSHIP = 3
    CONSTRAINT = 4
    INSTRUCTION = 5
    CONTEXT = 6
    PERSONAL_INFO = 7


class FactStatus(WireEnum):
    """How far a fact is established, and whether searches find it."""

    UNSPECIFIED = 0
    TENTATIVE = 1
    STABLE = 2
    DEPRECATED = 3
    MERGED_INTO = 4
    ARCHIVED = 5


class ProcedureOrigin(WireEnum):
    """How a procedure came to be known."""

    UNSPECIFIED = 0
    STATED = 1
    REPHRASED = 2
    DEFINED = 3
    OBSERVED = 4


class FactUse(WireEnum):
    """What facts are searched for; it decides how much confidence they need."""

    UNSPECIFIED = 0
    EXPLICIT_SEARCH = 1  # of at least 0.3
    PASSIVE_CONTEXT = 2  # above 0.5


class FactAdmission(WireEnum):
    """Why a search may return a fact."""

    UNSPECIFIED = 0
    CONFIDENT = 1
    EXPLICIT = 2


class FactVersionReason(WireEnum):
    """Why a state of a fact was replaced."""

    UNSPECIFIED = 0
    CONFIRMED = 1
    SUPERSEDED = 2
    CORRECTED = 3


class EpisodeStatus(WireEnum):
    """Where an episode is in its life cycle."""

    UNSPECIFIED = 0
    PENDING_EMBEDDING = 1
    ACTIVE = 2
    ARCHIVED = 3


class NoteStatus(WireEnum):
    """Whether searches find a note."""

    UNSPECIFIED = 0
    ACTIVE = 1
    ARCHIVED = 2


class LinkType(WireEnum):
    """How two notes are related."""

    UNSPECIFIED = 0
    RELATED_TO = 1
    SUPPORTS = 2
    CONTRADICTS = 3
    DERIVED_FROM = 4
    PART_OF = 5


class SuggestionKind(WireEnum):
    """What a suggestion is about."""

    UNSPECIFIED = 0
    RELATED_TOPIC = 1
    GAP = 2
    CONTRADICTION = 3


class QuestionIntent(WireEnum):
    """What a question wants."""

    UNSPECIFIED = 0
    RETRIEVE = 1
    FILTER = 2
    AGGREGATE = 3


class LinkOrigin(WireEnum):
    """Why a link was made."""

    UNSPECIFIED = 0
    SIMILARITY = 1
    CONVERSATION = 2
    CALLER = 3
    USE = 4  # used together in several responses
    CONSOLIDATION = 5  # maintenance made the second note of the first and others


class NoteKind(WireEnum):
    """What a note holds."""

    UNSPECIFIED = 0
    FACT = 1
    CONCEPT = 2
    PROCEDURE = 3
    OBSERVATION = 4
    PREFERENCE = 5


class CodeFileStatus(WireEnum):
    """How well a file of source code could be read."""

    UNSPECIFIED = 0
    PARSED = 1
    PARTLY_PARSED = 2
    TEXT_ONLY = 3


class SymbolKind(WireEnum):
    """What a definition is."""

    UNSPECIFIED = 0
    FUNCTION = 1
    CLASS = 2
    METHOD = 3
    VARIABLE = 4


class RelationKind(WireEnum):
    """How one part of the code relates to another."""

    UNSPECIFIED = 0
    CALLS = 1
    USES = 2
    INHERITS = 3
    REFERENCES = 4
    IMPORTS = 5
    CONTAINS = 6


class DocumentComparison(WireEnum):
    """How the value of a document is compared."""

    UNSPECIFIED = 0
    EQUAL = 1  # as JSON: 1 equals 1.0, true does not equal 1
    NOT_EQUAL = 2
    GREATER = 3  # both are numbers, or both are strings
    GREATER_OR_EQUAL = 4
    LESS = 5
    LESS_OR_EQUAL = 6


class ContextItemKind(WireEnum):
    """What an item of a context window is."""

    UNSPECIFIED = 0
    SYSTEM_PROMPT = 1
    USER_MESSAGE = 2
    ASSISTANT_RESPONSE = 3
    TOOL_RESULT = 4
    CODE_SNIPPET = 5
    TASK_STATE = 6
    GRAPH_QUERY = 7


class ContextSourceState(WireEnum):
    """What came of one source of a prepared context."""

    UNSPECIFIED = 0
    FOUND = 1
    EMPTY = 2
    NOT_ASKED = 3
    FAILED = 4
