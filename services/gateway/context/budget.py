"""Shares a token budget out between the sections of a context. Pure functions.

Each section has a share that no other can take; what it leaves goes to the others. So recent turns never push facts
out, and facts do not hold tokens that memories need.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from services.gateway.context.filling import Budget, Filled, Writer, fill_lines, fill_memories, fill_running
from services.gateway.context.model import (
    Candidate,
    ContextRequest,
    ContextSettings,
    Section,
    SectionKind,
    SectionReport,
    SectionState,
)
from services.gateway.context.refinement import TokenCount
from services.gateway.context.repeats import Repeats


@dataclass(frozen=True, slots=True)
class Built:
    """A context."""

    sections: tuple[Section, ...]  # in the order of the text
    reports: tuple[SectionReport, ...]  # one for every kind of section
    text: str
    token_count: int  # of `text`


Offers = Mapping[SectionKind, Sequence[Candidate]]


def build_sections(
    offers: Offers,
    question: str,
    request: ContextRequest,
    *,
    count_tokens: TokenCount,
    settings: ContextSettings,
    failed: Collection[SectionKind] = (),
) -> Built:
    """Fills each section from its own share, then again with what the others left.

    Candidates come best first, recent turns oldest first, of which the newest stay. Sections without an item are left
    out, but reported. A text that repeats one of another section is left out and cited there.

    Args:
        offers: The candidates of each section.
        question: What sentences are chosen by.
        request: The budget and how it is to be used.
        count_tokens: Counts the tokens of a text. The text never exceeds the budget, nor the characters that so many
            tokens may have, even where counts of lines do not add up to that of their joined text.
        settings: The shares.
        failed: Sections whose tier failed.
    """
    texts = [c.body for candidates in offers.values() for c in candidates[: settings.weighed_texts_max]]
    writer = Writer(question, texts, count_tokens, settings)
    repeats = Repeats(
        {kind: found for kind, found in offers.items() if request.section_budgets.get(kind) != 0},
        similarity_min=settings.duplicate_similarity,
        rank_max=settings.overlap_rank_max,
    )
    tokens = request.token_budget
    while True:
        budgets, filled = _share_out(repeats.without(offers), request, writer, tokens)
        if repeats.restore(_whole_ids(filled)):
            continue  # what they repeat is not in the text after all
        filled = {kind: repeats.cited(found) for kind, found in filled.items()}
        sections = tuple(
            _section(kind, heading, filled[kind], budgets[kind], count_tokens)
            for kind, heading in settings.headings.items()
            if kind in filled and filled[kind].items
        )
        text = "\n\n".join(section.text for section in sections)
        token_count = count_tokens(text)
        excess = max(token_count, -(-len(text) // settings.chars_per_token_max)) - request.token_budget
        if excess <= 0 or not sections:
            break
        tokens -= excess  # counts of lines did not add up; each round leaves at least so many tokens out
    counts = {section.kind: section.token_count for section in sections}
    reports = tuple(
        _report(
            kind,
            _wanting(kind, offers, filled),
            filled.get(kind, Filled()),
            (budgets.get(kind, 0), counts.get(kind, 0)),
            repeats.count(kind),
            request,
            failed,
        )
        for kind in settings.headings
    )
    return Built(sections, reports, text, token_count)


def _section(kind: SectionKind, heading: str, filled: Filled, token_budget: int, count_tokens: TokenCount) -> Section:
    section = Section(kind, heading, filled.items, 0, token_budget, filled.passages)
    return replace(section, token_count=count_tokens(section.text))


def _whole_ids(filled: Mapping[SectionKind, Filled]) -> frozenset[str]:
    """Ids of what is in the text in full, or cited there."""
    items = (item for found in filled.values() for item in found.items if not item.pruned)
    return frozenset(found for item in items for found in (item.memory_id, *item.duplicate_ids))


def section_shares(request: ContextRequest, settings: ContextSettings, tokens: int) -> dict[SectionKind, int]:
    """Tokens of each section's own: as the request names them, the default shares of the rest for the others."""
    named = dict(request.section_budgets)
    scale = min(1.0, tokens / max(1, sum(named.values())))  # only where a text had to shrink after all
    shares = {kind: int(budget * scale) for kind, budget in named.items()}
    rest = max(0, tokens - sum(shares.values()))
    others = {kind: share for kind, share in settings.shares.items() if kind not in named}
    whole = sum(others.values()) if named else 1.0
    return shares | {kind: int(rest * share / whole) for kind, share in others.items() if whole > 0}


def _share_out(
    offers: Offers, request: ContextRequest, writer: Writer, tokens: int
) -> tuple[dict[SectionKind, int], dict[SectionKind, Filled]]:
    shares = section_shares(request, writer.settings, tokens)
    wanted = [kind for kind in shares if request.section_budgets.get(kind) != 0]
    heirs = [kind for kind in writer.settings.heirs if kind in wanted]
    budgets = dict(shares)
    filled: dict[SectionKind, Filled] = {}
    # The first heir is filled once, with all that the others leave.
    for kind in [*(kind for kind in wanted if kind not in heirs[:1]), *heirs]:
        if kind in filled and filled[kind].is_complete:
            continue
        used = sum(other.token_count for name, other in filled.items() if name != kind)
        reserved = sum(shares[name] for name in wanted if name not in filled and name != kind)
        is_heir_now = kind in filled or kind in heirs[:1]
        budget = tokens - used - reserved if is_heir_now else shares[kind]
        if kind in filled and budget <= budgets[kind]:
            continue
        found = _fill(kind, offers, writer, request, budget, shares[kind], filled)
        # With a larger budget a long text may take the place of two short ones: what was included once stays.
        if _included_ids(filled.get(kind)) <= _included_ids(found):
            budgets[kind] = budget
            filled[kind] = found
    return budgets, filled


def _fill(
    kind: SectionKind,
    offers: Offers,
    writer: Writer,
    request: ContextRequest,
    budget: int,
    share: int,
    filled: Mapping[SectionKind, Filled],
) -> Filled:
    candidates = _wanting(kind, offers, filled)
    limits = Budget(budget, share, writer.count(f"\n\n{writer.settings.headings[kind]}"))
    if kind is SectionKind.MEMORIES:
        return fill_memories(candidates, writer, limits, request.order)
    if kind is SectionKind.RECENT_TURNS:
        included = _included_ids(filled.get(SectionKind.MEMORIES))
        return fill_running(candidates, writer, limits, included_elsewhere=included)
    return fill_lines(candidates, writer, limits)


def _wanting(kind: SectionKind, offers: Offers, filled: Mapping[SectionKind, Filled]) -> Sequence[Candidate]:
    """The candidates of a section: a memory that is in the running conversation is none."""
    candidates = offers.get(kind, ())
    if kind is not SectionKind.MEMORIES:
        return candidates
    included = _included_ids(filled.get(SectionKind.RECENT_TURNS))
    return [candidate for candidate in candidates if candidate.memory_id not in included]


def _included_ids(filled: Filled | None) -> frozenset[str]:
    """Ids of what is in the text or cited."""
    items = filled.items if filled is not None else ()
    return frozenset(i for item in items for i in (item.memory_id, *item.duplicate_ids))


def _report(
    kind: SectionKind,
    candidates: Sequence[Candidate],
    filled: Filled,
    tokens: tuple[int, int],
    repeat_count: int,
    request: ContextRequest,
    failed: Collection[SectionKind],
) -> SectionReport:
    if request.section_budgets.get(kind) == 0:
        state = SectionState.EXCLUDED
    elif filled.items:
        state = SectionState.INCLUDED
    elif len(candidates) > repeat_count:
        state = SectionState.BUDGET_TOO_SMALL
    else:
        state = SectionState.FAILED if kind in failed else SectionState.EMPTY
    wanted = {candidate.memory_id for candidate in candidates}
    own = sum(len(wanted.intersection(item.duplicate_ids)) for item in filled.items)
    duplicates = own + repeat_count
    token_budget, token_count = tokens
    return SectionReport(
        kind=kind,
        state=state,
        token_budget=token_budget,
        token_count=token_count,
        candidate_count=len(candidates),
        included_count=len(filled.items) + duplicates,
        duplicate_count=duplicates,
        pruned_count=sum(item.pruned for item in filled.items),
    )
