"""What a prompt context is made of: sections, passages, their sources and settings. Frozen data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum

from services.common.settings_types import Count, CountOrNone, PositiveShare, Share
from services.common.turns import MessageRole
from services.gateway.context.refinement import RefinementSettings


class SectionKind(IntEnum):
    """What a section holds; the numbers are those of the wire format."""

    RECENT_TURNS = 1
    FACTS = 2
    MEMORIES = 3
    NOTES = 4
    PROCEDURES = 5


class SectionState(IntEnum):
    """What became of a section; the numbers are those of the wire format."""

    TOLD = 1
    EMPTY = 2
    NO_ROOM = 3
    NOT_WANTED = 4
    FAILED = 5
    ABSENT = 6


class ContextOrder(IntEnum):
    """In which order memories stand; the numbers are those of the wire format."""

    BEST_FIRST = 1
    CHRONOLOGICAL = 2


@dataclass(frozen=True, slots=True)
class TurnSource:
    """Where and by whom a turn was said."""

    conversation_id: str  # empty for the running one
    position: int
    role: MessageRole
    speaker: str  # the name; may be empty
    time: datetime | None
    is_superseded: bool = False  # it lost a conflict

    @property
    def line_start(self) -> str:
        """What stands before the text."""
        return f"{self.label} (superseded): " if self.is_superseded else f"{self.label}: "

    @property
    def label(self) -> str:
        """The speaker's name on one line, or the role where there is none."""
        return " ".join(self.speaker.split()) or self.role.name.lower()

    @property
    def date(self) -> str:
        """The day it was said, UTC."""
        return self.time.date().isoformat() if self.time is not None else ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that would like to be in a section."""

    body: str  # may be cut between sentences
    memory_id: str
    interaction_ids: tuple[str, ...]
    turn: TurnSource | None = None  # None for what nobody said: facts and notes


@dataclass(frozen=True, slots=True)
class Item:
    """A line that is in a section, for citing."""

    text: str  # as it stands in the section
    memory_id: str
    interaction_ids: tuple[str, ...]
    is_pruned: bool = False
    duplicate_ids: tuple[str, ...] = ()  # memories that say nearly the same and are not told


@dataclass(frozen=True, slots=True)
class ToldTurn:
    """A turn that is in a passage."""

    memory_id: str
    interaction_ids: tuple[str, ...]
    source: TurnSource
    text: str  # what is told of it
    rank: int  # its place among the memories, from 1; 0 in the running conversation
    is_pruned: bool = False
    duplicates: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class Passage:
    """A run of neighbouring turns of one conversation."""

    text: str  # as it stands in the section
    turns: tuple[ToldTurn, ...]  # oldest first
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
    told_count: int = 0  # told or cited, duplicates included
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
    # Who gets the tokens that others left over, first to last.
    heirs: tuple[SectionKind, ...] = (
        SectionKind.MEMORIES,
        SectionKind.FACTS,
        SectionKind.NOTES,
        SectionKind.PROCEDURES,
        SectionKind.RECENT_TURNS,
    )
    # In the order of the text.
    headings: Mapping[SectionKind, str] = field(
        default_factory=lambda: {
            SectionKind.FACTS: "Known facts:",
            SectionKind.PROCEDURES: "Learned procedures:",
            SectionKind.NOTES: "Notes:",
            SectionKind.MEMORIES: "Relevant memories:",
            SectionKind.RECENT_TURNS: "Recent conversation:",
        }
    )
    item_share_max: Share = 0.35  # of its section's budget, so that one long text does not fill it alone
    turn_share_max: Share = 0.20  # of the memories' budget, for the best turn at first; the n-th has 1/n of it
    item_tokens_min: Count = 40  # that every text may have, however small its section or far down its place
    sentence_share_max: Share = 0.15  # of the memories' budget, for the one sentence of a turn that answers best
    passage_gap_max: CountOrNone = 1  # turns that may be missing between two turns of one passage; "…" stands for them
    duplicate_similarity: PositiveShare = 0.8  # of word pairs, from which on a text is not told a second time
    weighed_texts_max: Count = 40  # best texts of a section that tell how rare the question's terms are
    told_rank_max: CountOrNone = 20  # a note made of turns among the best so many memories would say the same again
    tokens_per_memory_min: Count = 12  # shortest line worth expecting; decides how many memories are recalled
    counts_kept: CountOrNone = 20_000  # texts whose number of tokens is remembered, some 10 MB of them
    counted_chars_max: Count = 2_000  # the longest of these
    budget_default: Count = 2_000  # tokens
    budget_min: Count = 64  # tokens that may be asked for, at least
    budget_max: Count = 100_000  # tokens that may be asked for, at most
    refinement: RefinementSettings = field(default_factory=RefinementSettings)
