"""How a token budget is shared out between the sections of a context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.common.text import split_sentences
from services.gateway.context.budget import Built, build_sections, section_shares
from services.gateway.context.model import (
    Candidate,
    ContextOrder,
    ContextRequest,
    ContextSettings,
    Section,
    SectionKind,
    SectionState,
)
from services.gateway.context.refinement import GAP, TokenCount
from tests.support.examples import share_of
from tests.unit.gateway.context.offers import Offers, count_words, line, turn

SETTINGS = ContextSettings()
RECENT, FACTS, MEMORIES, NOTES, PROCEDURES = (
    SectionKind.RECENT_TURNS,
    SectionKind.FACTS,
    SectionKind.MEMORIES,
    SectionKind.NOTES,
    SectionKind.PROCEDURES,
)
TURNS = (RECENT, MEMORIES)
QUESTION = "What about word3y1 and word7y2?"


def built(
    offers: Offers,
    budget: int,
    *,
    section_budgets: dict[SectionKind, int] | None = None,
    order: ContextOrder = ContextOrder.BEST_FIRST,
    count_tokens: TokenCount = count_words,
    chosen: ContextSettings = SETTINGS,
    **states: frozenset[SectionKind],
) -> Built:
    request = ContextRequest(budget, section_budgets or {}, order)
    return build_sections(offers, QUESTION, request, count_tokens=count_tokens, settings=chosen, **states)


def build(offers: Offers, budget: int, **parts: dict[SectionKind, int]) -> dict[SectionKind, Section]:
    return {section.kind: section for section in built(offers, budget, **parts).sections}  # type: ignore[arg-type]


def ids(section: Section) -> list[str]:
    return [item.memory_id for item in section.items]


_LENGTHS = st.lists(st.integers(min_value=2, max_value=30), min_size=1, max_size=6)
_TURN_LISTS = st.lists(st.tuples(_LENGTHS, st.integers(0, 2), st.booleans()), max_size=12)


def _sentences(number: int, lengths: Sequence[int]) -> str:
    return " ".join(
        f"S{number}x{n} " + " ".join(f"w{number}x{n}"[:9] for _ in range(k - 1)) + "." for n, k in enumerate(lengths)
    )


def _turns(drawn: Sequence[tuple[list[int], int, bool]], *, first: int) -> list[Candidate]:
    found: list[Candidate] = []
    for number, (lengths, session, is_like_the_one_before) in enumerate(drawn):
        text = _sentences(first + number, lengths)
        if is_like_the_one_before and found:
            text = found[-1].body
        found.append(turn(first + number, text, position=number, conversation=f"c{session}"))
    return found


@st.composite
def _offers(draw: st.DrawFn) -> dict[SectionKind, list[Candidate]]:
    memories = _turns(draw(_TURN_LISTS), first=0)
    return {
        MEMORIES: memories,
        RECENT: [*memories[:2], *_turns(draw(_TURN_LISTS), first=100)],
        FACTS: [
            Candidate(_sentences(200 + n, k), f"f{n}", ()) for n, k in enumerate(draw(st.lists(_LENGTHS, max_size=8)))
        ],
        NOTES: [
            Candidate(_sentences(300 + n, k), f"n{n}", ()) for n, k in enumerate(draw(st.lists(_LENGTHS, max_size=8)))
        ],
    }


_BUDGETS = st.integers(min_value=64, max_value=1_500)
_ORDERS = st.sampled_from(ContextOrder)


@settings(max_examples=share_of(80), deadline=None)
@given(offers=_offers(), budget=_BUDGETS, order=_ORDERS)
def test_spec_5_9_the_text_never_exceeds_its_budget(offers: Offers, budget: int, order: ContextOrder) -> None:
    context = built(offers, budget, order=order)
    assert context.token_count == count_words(context.text) <= budget
    for section in context.sections:
        assert count_words(section.text) == section.token_count <= section.token_budget


@settings(max_examples=share_of(60), deadline=None)
@given(offers=_offers(), budget=_BUDGETS)
def test_spec_5_9_the_budget_holds_where_counts_of_lines_do_not_add_up(offers: Offers, budget: int) -> None:
    def count(text: str) -> int:
        return count_words(text) + text.count("\n") * 2

    context = built(offers, budget, count_tokens=count)
    assert context.token_count == count(context.text) <= budget


@settings(max_examples=share_of(80), deadline=None)
@given(offers=_offers(), budget=_BUDGETS, order=_ORDERS)
def test_spec_5_9_every_line_is_in_the_text_and_cites_what_was_offered(
    offers: Offers, budget: int, order: ContextOrder
) -> None:
    context = built(offers, budget, order=order)
    told: list[str] = []
    sources = {c.memory_id: c for candidates in offers.values() for c in candidates}
    for section in context.sections:
        for item in section.items:
            assert item.text in context.text
            wanted = [i for m in (item.memory_id, *item.duplicate_ids) for i in sources[m].interaction_ids]
            assert list(item.interaction_ids) == wanted
            told += [item.memory_id, *item.duplicate_ids]
        if section.kind in TURNS:
            turns = [told_turn for passage in section.passages for told_turn in passage.turns]
            assert [t.memory_id for t in turns] == ids(section)
            assert all(passage.text in context.text for passage in section.passages)
    assert len(set(told)) == len(told)


@settings(max_examples=share_of(80), deadline=None)
@given(offers=_offers(), budget=_BUDGETS)
def test_spec_5_8_no_text_is_cut_inside_a_sentence(offers: Offers, budget: int) -> None:
    for kind, section in build(offers, budget).items():
        bodies = {candidate.memory_id: candidate.body for candidate in offers[kind]}
        for item in section.items:
            whole = split_sentences(bodies[item.memory_id])
            told = item.text.split("- " if kind in (FACTS, NOTES) else "Ada: ", maxsplit=1)[1]
            kept = [sentence for part in told.split(GAP) for sentence in split_sentences(part)]
            assert kept
            assert [sentence for sentence in whole if sentence in kept] == kept
            assert item.pruned == (len(kept) < len(whole)) == (GAP in told)


@settings(max_examples=share_of(60), deadline=None)
@given(offers=_offers(), budget=_BUDGETS)
def test_spec_5_9_every_section_has_a_share_that_others_cannot_take(offers: Offers, budget: int) -> None:
    together = build(offers, budget)
    for kind in (FACTS, NOTES, MEMORIES):
        own = int(budget * SETTINGS.shares[kind])
        others = [item for name, section in together.items() if name != kind for item in section.items]
        elsewhere = {found for item in others for found in (item.memory_id, *item.duplicate_ids)}
        offered = [candidate for candidate in offers[kind] if candidate.memory_id not in elsewhere]
        alone = replace(SETTINGS, shares={kind: 1.0}, heirs=(), headings={kind: SETTINGS.headings[kind]})
        for section in built({kind: offered}, own, chosen=alone).sections:
            assert kind in together
            if together[kind].token_budget <= own:
                assert [item.text for item in together[kind].items] == [item.text for item in section.items]


@settings(max_examples=share_of(60), deadline=None)
@given(offers=_offers(), budget=_BUDGETS)
def test_spec_5_9_recent_turns_push_no_fact_out(offers: Offers, budget: int) -> None:
    unshared = replace(SETTINGS, heirs=())
    own = {s.kind: s for s in built({**offers, RECENT: []}, budget, chosen=unshared).sections}
    crowded = build(offers, budget)
    for kind in (FACTS, NOTES):
        if kind in own:
            assert set(ids(own[kind])) <= set(ids(crowded[kind]))


@settings(max_examples=share_of(60), deadline=None)
@given(offers=_offers(), budget=_BUDGETS)
def test_spec_5_9_recent_turns_end_with_the_newest_and_have_no_gap(offers: Offers, budget: int) -> None:
    section = build(offers, budget).get(RECENT)
    if section is not None:
        offered = [candidate.memory_id for candidate in offers[RECENT]]
        assert ids(section) == offered[-len(section.items) :]


def test_spec_5_9_recent_turns_never_push_facts_out() -> None:
    facts = [line(n) for n in range(3)]
    alone = build({FACTS: facts}, 300)[FACTS]
    crowded = build({FACTS: facts, RECENT: [turn(n, words=20) for n in range(10, 100)]}, 300)
    assert ids(crowded[FACTS]) == ids(alone) == ["m0", "m1", "m2"]


def test_spec_5_9_memories_never_push_facts_out() -> None:
    # One fact is too long for its share, so the section would like more; memories inherit first and take it all.
    # What fitted into the facts' own share must stay there.
    facts = [line(0, words=12), line(1, words=11), line(2, words=100)]
    offers = {FACTS: facts, MEMORIES: [turn(n, words=5) for n in range(10, 110)]}
    assert ids(build(offers, 300)[FACTS])[:2] == ["m0", "m1"]


def test_spec_5_9_what_a_section_leaves_over_goes_to_the_others() -> None:
    memories = [turn(n) for n in range(100)]
    alone = build({MEMORIES: memories}, 300)[MEMORIES]
    crowd = {kind: [turn(1_000 * kind + n) for n in range(100)] for kind in (FACTS, NOTES, RECENT)}
    shared = build({MEMORIES: memories, **crowd}, 300)[MEMORIES]
    assert len(alone.items) > len(shared.items)
    assert alone.token_budget == 300
    assert alone.token_count > 270


def test_spec_5_9_what_memories_leave_over_goes_on_to_facts() -> None:
    offers = {FACTS: [line(n) for n in range(50)], MEMORIES: [turn(100)]}
    assert build(offers, 300)[FACTS].token_count > 0.5 * 300


def test_spec_5_9_a_request_gives_sections_budgets_of_their_own() -> None:
    offers = {
        FACTS: [line(n) for n in range(50)],
        NOTES: [line(n) for n in range(100, 150)],
        MEMORIES: [turn(n) for n in range(200, 300)],
    }
    sections = build(offers, 600, section_budgets={FACTS: 300, NOTES: 0})
    assert 285 < sections[FACTS].token_count < 320
    assert NOTES not in sections
    assert sections[MEMORIES].token_count > 260  # all that is left


def test_spec_5_9_sections_that_are_not_named_share_what_is_left_as_they_would_the_whole() -> None:
    request = ContextRequest(1_000, {FACTS: 200})
    shares = section_shares(request, SETTINGS, 1_000)
    assert shares[FACTS] == 200
    assert shares[MEMORIES] / shares[NOTES] == pytest.approx(5, rel=0.02)
    assert sum(shares.values()) == pytest.approx(1_000, abs=5)
    assert section_shares(ContextRequest(1_000), SETTINGS, 1_000)[MEMORIES] == 500


def test_spec_5_9_every_kind_of_section_is_reported() -> None:
    offers = {
        MEMORIES: [turn(1)],
        FACTS: [line(2)],
        RECENT: [turn(3, "Endless " + "word " * 500 + "sentence.")],
    }
    context = built(
        offers,
        200,
        section_budgets={FACTS: 0},
        failed=frozenset({NOTES, MEMORIES}),
    )
    states = {report.kind: report.state for report in context.reports}
    assert states == {
        FACTS: SectionState.EXCLUDED,
        PROCEDURES: SectionState.EMPTY,
        NOTES: SectionState.FAILED,
        MEMORIES: SectionState.INCLUDED,
        RECENT: SectionState.BUDGET_TOO_SMALL,
    }
    assert {r.kind: r.state for r in built({}, 200).reports}[MEMORIES] is SectionState.EMPTY


def test_spec_5_9_the_newest_turns_stay() -> None:
    section = build({RECENT: [turn(n) for n in range(100)]}, 64)[RECENT]
    assert ids(section)[-1] == "m99"
    assert 1 < len(section.items) < 100


def test_spec_5_9_a_recent_turn_that_does_not_fit_ends_the_conversation_there() -> None:
    endless = turn(9, "word " * 500)
    section = build({RECENT: [turn(1), endless, turn(2), turn(3)]}, 200)[RECENT]
    assert ids(section) == ["m2", "m3"]


def test_spec_5_9_a_memory_that_the_running_conversation_has_no_room_for_is_told_as_a_memory() -> None:
    window = [turn(1, words=10), *(turn(n, words=16) for n in range(2, 12))]
    sections = build({RECENT: window, MEMORIES: [window[0], window[-1]]}, 200)
    assert "m1" not in ids(sections[RECENT])
    assert ids(sections[MEMORIES]) == ["m1"]


def test_a_memory_that_does_not_fit_makes_room_for_the_next() -> None:
    section = build({MEMORIES: [turn(1), turn(9, "word " * 500), turn(2)]}, 200)[MEMORIES]
    assert ids(section) == ["m1", "m2"]


def test_spec_5_8_one_long_turn_does_not_fill_its_section_alone() -> None:
    offers = {MEMORIES: [turn(0, words=10, sentences=50), *(turn(n) for n in range(1, 200))]}
    section = build(offers, 500)[MEMORIES]
    assert count_words(section.items[0].text) < 0.4 * section.token_budget
    assert len(section.items) > 12
    assert section.items[0].pruned


def test_spec_5_8_what_is_left_over_goes_to_turns_that_were_pruned_best_first() -> None:
    offers = {MEMORIES: [turn(0, words=10, sentences=10), turn(1, words=10, sentences=20)]}
    first, second = build(offers, 250)[MEMORIES].items
    assert (first.pruned, second.pruned) == (False, True)


def test_spec_5_8_a_turn_that_says_nearly_the_same_is_cited_and_not_told() -> None:
    offers = {MEMORIES: [turn(1, "I love the long green trail."), turn(2), turn(3, "i love the long green trail!")]}
    context = built(offers, 300)
    (section,) = context.sections
    assert ids(section) == ["m1", "m2"]
    assert section.items[0].duplicate_ids == ("m3",)
    assert section.items[0].interaction_ids == ("i1", "i3")
    assert context.text.casefold().count("green trail") == 1
    report = next(r for r in context.reports if r.kind is MEMORIES)
    assert (report.candidate_count, report.included_count, report.duplicate_count) == (3, 3, 1)


def test_spec_5_8_a_fact_that_says_nearly_the_same_is_cited_and_not_told() -> None:
    facts = [Candidate("Ada loves green tea", "f1", ("i1",)), Candidate("Ada loves green tea.", "f2", ("i2",))]
    (item,) = build({FACTS: facts}, 300)[FACTS].items
    assert (item.memory_id, item.duplicate_ids, item.interaction_ids) == ("f1", ("f2",), ("i1", "i2"))


def test_sections_without_an_item_are_left_out_with_their_headings() -> None:
    context = built({}, 100)
    assert (context.sections, context.text, context.token_count) == ((), "", 0)


def test_sections_stand_in_the_order_of_the_text() -> None:
    offers: Offers = {NOTES: [line(3)], MEMORIES: [turn(1)], FACTS: [line(4)]}
    assert list(build({**offers, RECENT: [turn(2)]}, 400)) == [FACTS, NOTES, MEMORIES, RECENT]
    assert build(offers, 400)[FACTS].text.splitlines()[0] == "## Known facts"
