"""Sections of a prompt context and the rules by which tokens are shared out. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from services.common.settings_types import Count, Share
from services.common.text import split_sentences

TokenCount = Callable[[str], int]


class SectionKind(IntEnum):
    """What a section holds; the numbers are those of the wire format."""

    RECENT_TURNS = 1
    FACTS = 2
    MEMORIES = 3
    NOTES = 4


@dataclass(frozen=True, slots=True)
class Candidate:
    """A line that would like to be in a section."""

    prefix: str  # who and when; kept whole
    body: str  # what; may be cut after a sentence
    memory_id: str
    interaction_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """A line that is in a section."""

    text: str
    memory_id: str
    interaction_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """One part of the context."""

    kind: SectionKind
    heading: str
    items: tuple[Item, ...]
    token_count: int  # heading and items
    token_budget: int  # what it was allowed in the end

    @property
    def text(self) -> str:
        """The section as it stands in the context."""
        return "\n".join([self.heading, *(item.text for item in self.items)])


@dataclass(frozen=True, slots=True)
class ContextSettings:
    """How a budget is shared out."""

    # Each section's own share of the budget. Recent turns have theirs, so they never push facts out.
    shares: Mapping[SectionKind, float] = field(
        default_factory=lambda: {
            SectionKind.FACTS: 0.15,
            SectionKind.NOTES: 0.10,
            SectionKind.MEMORIES: 0.55,
            SectionKind.RECENT_TURNS: 0.20,
        }
    )
    # Who gets the tokens that others left over, first to last.
    heirs: tuple[SectionKind, ...] = (
        SectionKind.MEMORIES,
        SectionKind.FACTS,
        SectionKind.NOTES,
        SectionKind.RECENT_TURNS,
    )
    # In the order of the text.
    headings: Mapping[SectionKind, str] = field(
        default_factory=lambda: {
            SectionKind.FACTS: "Known facts:",
            SectionKind.NOTES: "Notes:",
            SectionKind.MEMORIES: "Relevant memories:",
            SectionKind.RECENT_TURNS: "Recent conversation:",
        }
    )
    item_share_max: Share = 0.35  # of its section's budget, so that one long turn does not fill it alone
    tokens_per_memory_min: Count = 12  # shortest line worth expecting; decides how many memories are recalled
    budget_default: Count = 2_000  # tokens
    budget_min: Count = 64  # tokens that may be asked for, at least
    budget_max: Count = 100_000  # tokens that may be asked for, at most


@dataclass(frozen=True, slots=True)
class _Filled:
    items: tuple[Item, ...]
    token_count: int
    is_complete: bool  # nothing that wanted in is left out


def build_sections(
    candidates: Mapping[SectionKind, Sequence[Candidate]],
    *,
    token_budget: int,
    count_tokens: TokenCount,
    settings: ContextSettings,
) -> tuple[Section, ...]:
    """Fills each section from its own share, then again with what the others left over.

    Candidates come best first; recent turns come oldest first and are taken from the end, so that the newest stay.
    Sections without an item are left out.

    Args:
        candidates: What wants in, by section.
        token_budget: Tokens for all sections together.
        count_tokens: Counts the tokens of a text. Counts of lines must add up to at least that of their joined text.
        settings: The shares.

    Returns:
        The sections in the order of the text, together never over the budget.
    """
    shares = {kind: int(token_budget * share) for kind, share in settings.shares.items()}
    budgets = dict(shares)
    filled = {
        kind: _fill(kind, candidates.get(kind, ()), count_tokens, settings, budget=share, share=share)
        for kind, share in shares.items()
    }
    spare = token_budget - sum(f.token_count for f in filled.values())
    for kind in settings.heirs:
        if filled[kind].is_complete:
            continue
        budgets[kind] = filled[kind].token_count + spare
        filled[kind] = _fill(
            kind, candidates.get(kind, ()), count_tokens, settings, budget=budgets[kind], share=shares[kind]
        )
        spare = budgets[kind] - filled[kind].token_count
    return tuple(
        Section(kind, heading, filled[kind].items, filled[kind].token_count, budgets[kind])
        for kind, heading in settings.headings.items()
        if filled[kind].items
    )


def _fill(
    kind: SectionKind,
    candidates: Sequence[Candidate],
    count_tokens: TokenCount,
    settings: ContextSettings,
    *,
    budget: int,
    share: int,
) -> _Filled:
    heading_tokens = count_tokens(settings.headings[kind])
    # What another section did not leave over must not shorten lines that fit into the section's own share.
    item_max = int(max(budget, share) * settings.item_share_max)
    newest_first = kind is SectionKind.RECENT_TURNS
    ordered = list(reversed(candidates)) if newest_first else list(candidates)
    items: list[Item] = []
    used = heading_tokens
    is_complete = True
    for candidate in ordered:
        line, tokens, is_whole = fit_line(candidate, min(budget - used, max(item_max, 1)), count_tokens)
        is_complete = is_complete and is_whole
        if not line:
            if newest_first:
                break  # a gap in a conversation would mislead
            continue
        items.append(Item(line, candidate.memory_id, candidate.interaction_ids))
        used += tokens
    if not items:
        return _Filled((), 0, is_complete)
    return _Filled(tuple(reversed(items) if newest_first else items), used, is_complete)


def fit_line(candidate: Candidate, tokens_max: int, count_tokens: TokenCount) -> tuple[str, int, bool]:
    """The candidate as a line of at most so many tokens, cut after a whole sentence if need be.

    Returns:
        The line, its tokens, and whether it is whole; an empty line where not even one sentence fits.
    """
    if tokens_max <= 0:
        return "", 0, False
    line = candidate.prefix + candidate.body
    tokens = count_tokens(line)
    if tokens <= tokens_max:
        return line, tokens, True
    kept = candidate.prefix
    kept_tokens = count_tokens(kept)
    sentences = split_sentences(candidate.body)
    count = 0
    for sentence in sentences:
        cost = count_tokens(sentence)
        if kept_tokens + cost > tokens_max:
            break
        kept_tokens += cost
        count += 1
    if not count:
        return "", 0, False
    line = candidate.prefix + " ".join(sentences[:count])
    return line, count_tokens(line), False
