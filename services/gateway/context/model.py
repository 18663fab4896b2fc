"""What a prompt context is made of: sections, passages, their sources and settings. Frozen data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum

from services.common.settings_types import Count, CountOrNone, PositiveShare, Share
from services.common.turns import MessageRole
from services.gateway.context.refinement import RefinementSettings
from services.gateway.context.structure import speaker_label


class SectionKind(IntEnum):
    """What a section holds; the numbers are those of the wire format."""

    RECENT_TURNS = 1
    FACTS = 2
    MEMORIES = 3
    NOTES = 4
    PROCEDURES = 5


class SectionState(IntEnum):
    """What became of a section; the numbers are those of the wire format."""

    INCLUDED = 1
    EMPTY = 2
    BUDGET_TOO_SMALL = 3
    EXCLUDED = 4
    FAILED = 5


class ContextOrder(IntEnum):
    """In which order memories stand; the numbers are those of the wire format."""

    BEST_FIRST = 1
    CHRONOLOGICAL = 2


@dataclass(frozen=True, slots=True)
class TurnSource:
    """Where a turn was said, and the speaker."""

    conversation_id: str  # empty for the running one
    position: int
    role: MessageRole
    speaker: str  # the name; may be empty
    time: datetime | None
    is_superseded: bool = False  # it lost a conflict
    is_partly: bool = False  # only a part of it did
    is_contradicted: bool = False  # another one contradicts it, and neither is known to stand

    @property
    def line_start(self) -> str:
        """What stands before the text."""
        if self.is_superseded:
            return f"{self.label} (superseded in part): " if self.is_partly else f"{self.label} (superseded): "
        return f"{self.label} (contradicted): " if self.is_contradicted else f"{self.label}: "

    @property
    def label(self) -> str:
        """How the speaker is called; see `speaker_label`."""
        return speaker_label(self.speaker, self.role)

    @property
    def date(self) -> str:
        """The day it was said, UTC."""
        return self.time.date().isoformat() if self.time is not None else ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text for a section."""

    body: str  # as `body_text` gives it; may be pruned to some of its sentences
    memory_id: str
    interaction_ids: tuple[str, ...]
    turn: TurnSource | None = None  # of turns; None for facts and notes


@dataclass(frozen=True, slots=True)
class Item:
    """A line that is in a section, for citing."""

    text: str  # as it stands in the section
    memory_id: str
    interaction_ids: tuple[str, ...]
    pruned: bool = False
    duplicate_ids: tuple[str, ...] = ()  # memories that say nearly the same and are not in the text


@dataclass(frozen=True, slots=True)
class PassageTurn:
    """A turn that is in a passage."""

    memory_id: str
    interaction_ids: tuple[str, ...]
    source: TurnSource
    text: str  # what is left of it
    rank: int  # its place among the memories, from 1; 0 in the running conversation
    pruned: bool = False
    duplicates: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class Passage:
    """A run of neighbouring turns of one conversation."""

    text: str  # as it stands in the section
    turns: tuple[PassageTurn, ...]  # oldest first
    items: tuple[Item, ...]  # one for each turn

    @property
    def speakers(self) -> tuple[str, ...]:
        """Who speaks, in order of appearance."""
        return tuple(dict.fromkeys(turn.source.label for turn in self.turns))

    @property
    def rank(self) -> int:
        """The place of its best turn."""
        return min(turn.rank for turn in self.turns)


@dataclass(frozen=True, slots=True)
class Section:
    """One part of the context."""

    kind: SectionKind
    heading: str
    items: tuple[Item, ...]
    token_count: int  # heading and items
    token_budget: int  # what it was allowed in the end
    passages: tuple[Passage, ...] = ()  # of turns; empty for facts and notes

    @property
    def text(self) -> str:
        """The section as it stands in the context."""
        parts = self.passages or self.items
        return "\n".join([self.heading, *(part.text for part in parts)])


@dataclass(frozen=True, slots=True)
class SectionReport:
    """What became of one section."""

    kind: SectionKind
    state: SectionState
    token_budget: int = 0
    token_count: int = 0
    candidate_count: int = 0
    included_count: int = 0  # in the text or cited as duplicates
    duplicate_count: int = 0
    pruned_count: int = 0


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """How a context is to be written."""

    token_budget: int
    section_budgets: Mapping[SectionKind, int] = field(default_factory=dict)  # tokens; others have their default share
    order: ContextOrder = ContextOrder.BEST_FIRST


@dataclass(frozen=True, slots=True)
class ContextSettings:
    """How a budget is shared out."""

    # Each section's own share of the budget. Recent turns have theirs, so they never push facts out.
    shares: Mapping[SectionKind, float] = field(
        default_factory=lambda: {
            SectionKind.FACTS: 0.15,
            SectionKind.PROCEDURES: 0.05,
            SectionKind.NOTES: 0.10,
            SectionKind.MEMORIES: 0.50,
            SectionKind.RECENT_TURNS: 0.20,
        }
    )
    # Sections that get the tokens which others left, first to last.
    heirs: tuple[SectionKind, ...] = (
        SectionKind.MEMORIES,
        SectionKind.FACTS,
        SectionKind.NOTES,
        SectionKind.PROCEDURES,
        SectionKind.RECENT_TURNS,
    )
    # In the order of the text. A heading begins with #, as no line of a memory does.
    headings: Mapping[SectionKind, str] = field(
        default_factory=lambda: {
            SectionKind.FACTS: "## Known facts",
            SectionKind.PROCEDURES: "## Learned procedures",
            SectionKind.NOTES: "## Notes",
            SectionKind.MEMORIES: "## Relevant memories",
            SectionKind.RECENT_TURNS: "## Recent conversation",
        }
    )
    item_share_max: Share = 0.35  # of its section's budget, so that one long text does not fill it alone
    turn_share_max: Share = 0.20  # of the memories' budget, for the best turn at first; the n-th has 1/n of it
    item_tokens_min: Count = 40  # that every text may have, however small its section or far down its place
    sentence_share_max: Share = 0.15  # of the memories' budget, for the one sentence of a turn that answers best
    passage_gap_max: CountOrNone = 1  # turns that may be missing between two turns of one passage; "…" stands for them
    duplicate_similarity: PositiveShare = 0.8  # of word pairs, from which on a text is not repeated
    weighed_texts_max: Count = 40  # best texts of a section by which it is counted how rare the question's terms are
    overlap_rank_max: CountOrNone = 20  # memories that notes and facts are compared with, so as not to repeat them
    tokens_per_memory_min: Count = 12  # shortest line worth expecting; decides how many memories are recalled
    tokens_per_memory: Count = 200  # budget for each memory by which the retrievers are sized
    counts_cached: CountOrNone = 20_000  # texts whose number of tokens is cached, some 10 MB of them
    counted_chars_max: Count = 2_000  # the longest of these
    written_inline_bytes_max: CountOrNone = 65_536  # of all that was found; a context of more is written on a thread
    chars_per_token_max: Count = 8  # characters of a context for each token of its budget
    budget_default: Count = 2_000  # tokens
    budget_min: Count = 64  # tokens that may be asked for, at least
    budget_max: Count = 100_000  # tokens that may be asked for, at most
    refinement: RefinementSettings = field(default_factory=RefinementSettings)

    def __post_init__(self) -> None:
        """Checks that headings cannot be mistaken for memories."""
        for kind, heading in self.headings.items():
            if not heading.startswith("#") or len(heading.splitlines()) != 1:
                raise ValueError(f"the heading of {kind.name.lower()} should be one line that begins with #")
