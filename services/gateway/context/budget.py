"""Shares a token budget out between the sections of a context. Pure functions.

Each section has a share that no other can take; what it leaves over goes to the others. So recent turns never push
facts out, and facts do not keep tokens that memories need.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from services.gateway.context.filling import Filled, Room, Writer, fill_lines, fill_memories, fill_running
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
    absent: Collection[SectionKind] = (),
) -> Built:
    """Fills each section from its own share, then again with what the others left over.

    Candidates come best first, recent turns oldest first, of which the newest stay. Sections without an item are left
    out, but reported.

    Args:
        offers: What wants in, by section.
        question: What sentences are chosen by.
        request: The budget and how it is to be used.
        count_tokens: Counts the tokens of a text. The text never exceeds the budget, even where counts of lines do not
            add up to that of their joined text.
        settings: The shares.
        failed: Sections whose tier failed.
        absent: Sections that no tier fills.
    """
    texts = [c.body for candidates in offers.values() for c in candidates[: settings.weighed_texts_max]]
    writer = Writer(question, texts, count_tokens, settings)
    tokens = request.token_budget
    while True:
        budgets, filled = _share_out(offers, request, writer, tokens)
        sections = tuple(
            Section(kind, heading, filled[kind].items, filled[kind].token_count, budgets[kind], filled[kind].passages)
            for kind, heading in settings.headings.items()
            if kind in filled and filled[kind].items
        )
        text = "\n\n".join(section.text for section in sections)
        token_count = count_tokens(text)
        excess = token_count - request.token_budget
        if excess <= 0 or not sections:
            break
        tokens -= excess  # counts of lines did not add up; each round leaves at least so many tokens out
    reports = tuple(
        _report(
            kind,
            _wanting(kind, offers, filled),
            filled.get(kind, Filled()),
            budgets.get(kind, 0),
            request,
            failed,
            absent,
        )
        for kind in settings.headings
    )
    return Built(sections, reports, text, token_count)


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
    # The first heir is filled once, with all that the others leave over.
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
        # With more room a long text may take the place of two short ones: what was told once stays.
        if _told_ids(filled.get(kind)) <= _told_ids(found):
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
    room = Room(budget, share, writer.count(writer.settings.headings[kind]))
    if kind is SectionKind.MEMORIES:
        return fill_memories(candidates, writer, room, request.order)
    if kind is SectionKind.RECENT_TURNS:
        told = _told_ids(filled.get(SectionKind.MEMORIES))
        return fill_running(candidates, writer, room, told_elsewhere=told)
    return fill_lines(candidates, writer, room)


def _wanting(kind: SectionKind, offers: Offers, filled: Mapping[SectionKind, Filled]) -> Sequence[Candidate]:
    """What wants in: a memory that the running conversation tells does not."""
    candidates = offers.get(kind, ())
    if kind is not SectionKind.MEMORIES:
        return candidates
    told = _told_ids(filled.get(SectionKind.RECENT_TURNS))
    return [candidate for candidate in candidates if candidate.memory_id not in told]


def _told_ids(filled: Filled | None) -> frozenset[str]:
    """Ids of what is told or cited."""
    items = filled.items if filled is not None else ()
    return frozenset(i for item in items for i in (item.memory_id, *item.duplicate_ids))


def _report(
    kind: SectionKind,
    candidates: Sequence[Candidate],
    filled: Filled,
    budget: int,
    request: ContextRequest,
    failed: Collection[SectionKind],
    absent: Collection[SectionKind],
) -> SectionReport:
    if request.section_budgets.get(kind) == 0:
        state = SectionState.NOT_WANTED
    elif filled.items:
        state = SectionState.TOLD
    elif kind in absent:
        state = SectionState.ABSENT
    elif candidates:
        state = SectionState.NO_ROOM
    else:
        state = SectionState.FAILED if kind in failed else SectionState.EMPTY
    duplicates = sum(len(item.duplicate_ids) for item in filled.items)
    return SectionReport(
        kind=kind,
        state=state,
        token_budget=budget,
        token_count=filled.token_count,
        candidate_count=len(candidates),
        told_count=len(filled.items) + duplicates,
        duplicate_count=duplicates,
        pruned_count=sum(item.is_pruned for item in filled.items),
    )
