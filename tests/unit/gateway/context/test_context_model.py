"""How a token budget is shared out between the sections of a context."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from services.common.text import split_sentences
from services.gateway.context.model import (
    Candidate,
    ContextSettings,
    Section,
    SectionKind,
    build_sections,
    fit_line,
)

SETTINGS = ContextSettings()
RECENT, FACTS, MEMORIES, NOTES = (
    SectionKind.RECENT_TURNS,
    SectionKind.FACTS,
    SectionKind.MEMORIES,
    SectionKind.NOTES,
)

Offers = Mapping[SectionKind, Sequence[Candidate]]


def count_words(text: str) -> int:
    """Words and punctuation marks: adds up over lines and sentences, as a real tokenizer's pieces do."""
    return len(re.findall(r"\w+|[^\w\s]", text))


def line(number: int, *, words: int = 8, sentences: int = 1) -> Candidate:
    body = " ".join(["Word " * (words - 1) + f"w{number}."] * sentences)
    return Candidate("- ", body, f"m{number}", (f"m{number}",))


def build(offers: Offers, budget: int) -> dict[SectionKind, Section]:
    sections = build_sections(offers, token_budget=budget, count_tokens=count_words, settings=SETTINGS)
    return {section.kind: section for section in sections}


def ids(section: Section) -> list[str]:
    return [item.memory_id for item in section.items]


def body(lengths: Sequence[int]) -> str:
    """Sentences of so many words each."""
    return " ".join(" ".join(["Word"] + ["word"] * (words - 1)) + "." for words in lengths)


_SENTENCE_LENGTHS = st.lists(st.integers(min_value=1, max_value=25), min_size=1, max_size=5)
_CANDIDATES = st.lists(_SENTENCE_LENGTHS, max_size=10).map(
    lambda turns: [Candidate("Ada: ", body(lengths), f"m{n}", ()) for n, lengths in enumerate(turns)]
)
_OFFERS = st.fixed_dictionaries(dict.fromkeys(SectionKind, _CANDIDATES))
_BUDGETS = st.integers(min_value=64, max_value=1_500)


@settings(max_examples=60, deadline=None)
@given(offers=_OFFERS, budget=_BUDGETS)
def test_spec_5_9_the_text_never_exceeds_its_budget(offers: Offers, budget: int) -> None:
    sections = build(offers, budget)
    text = "\n\n".join(section.text for section in sections.values())
    assert count_words(text) <= budget
    for section in sections.values():
        assert count_words(section.text) == section.token_count <= section.token_budget


@settings(max_examples=60, deadline=None)
@given(offers=_OFFERS, budget=_BUDGETS)
def test_spec_5_9_every_section_has_a_share_that_others_cannot_take(offers: Offers, budget: int) -> None:
    together = build(offers, budget)
    for kind, share in SETTINGS.shares.items():
        own = int(budget * share)
        for section in _filled_alone(kind, offers[kind], own):
            assert kind in together
            assert together[kind].token_budget > own or together[kind].items == section.items


def _filled_alone(kind: SectionKind, candidates: Sequence[Candidate], tokens: int) -> Sequence[Section]:
    """The section out of its own share, without anything left over by others; nothing where it stays empty."""
    alone = ContextSettings(shares={kind: 1.0}, heirs=(), headings={kind: SETTINGS.headings[kind]})
    return build_sections({kind: candidates}, token_budget=tokens, count_tokens=count_words, settings=alone)


@settings(max_examples=60, deadline=None)
@given(offers=_OFFERS, budget=_BUDGETS)
def test_spec_5_9_recent_turns_end_with_the_newest_and_have_no_gap(offers: Offers, budget: int) -> None:
    section = build(offers, budget).get(RECENT)
    if section is not None:
        offered = [candidate.memory_id for candidate in offers[RECENT]]
        assert ids(section) == offered[-len(section.items) :]


@settings(max_examples=60, deadline=None)
@given(offers=_OFFERS, budget=_BUDGETS)
def test_spec_5_8_no_line_is_cut_inside_a_sentence(offers: Offers, budget: int) -> None:
    for kind, section in build(offers, budget).items():
        bodies = {candidate.memory_id: candidate.body for candidate in offers[kind]}
        for item in section.items:
            kept = split_sentences(item.text.removeprefix("Ada: "))
            assert kept
            assert split_sentences(bodies[item.memory_id])[: len(kept)] == kept


def test_spec_5_9_recent_turns_never_push_facts_out() -> None:
    facts = [line(n) for n in range(3)]
    alone = build({FACTS: facts}, 300)[FACTS]
    crowded = build({FACTS: facts, RECENT: [line(n, words=20) for n in range(100)]}, 300)
    assert ids(crowded[FACTS]) == ids(alone) == ["m0", "m1", "m2"]


def test_spec_5_9_memories_never_push_facts_out() -> None:
    # One fact is too long for its share, so the section would like more; memories inherit first and take it all.
    # What fitted into the facts' own share must stay there.
    facts = [line(0, words=12), line(1, words=11), line(2, words=100)]
    offers = {FACTS: facts, MEMORIES: [line(n, words=5) for n in range(100)]}
    assert ids(build(offers, 300)[FACTS])[:2] == ["m0", "m1"]


def test_spec_5_9_what_a_section_leaves_over_goes_to_the_others() -> None:
    memories = [line(n) for n in range(100)]
    alone = build({MEMORIES: memories}, 300)[MEMORIES]
    shared = build({kind: [line(n) for n in range(100)] for kind in SectionKind}, 300)[MEMORIES]
    assert len(alone.items) > len(shared.items)
    assert alone.token_budget == 300
    assert alone.token_count > 300 - count_words(memories[0].prefix + memories[0].body)


def test_spec_5_9_what_memories_leave_over_goes_on_to_facts() -> None:
    offers = {FACTS: [line(n) for n in range(50)], MEMORIES: [line(0)]}
    facts = build(offers, 300)[FACTS]
    assert facts.token_count > 0.5 * 300


def test_spec_5_9_the_newest_turns_stay() -> None:
    section = build({RECENT: [line(n) for n in range(100)]}, 64)[RECENT]
    assert ids(section)[-1] == "m99"
    assert 1 < len(section.items) < 100


def test_spec_5_9_a_recent_turn_that_does_not_fit_ends_the_conversation_there() -> None:
    endless = Candidate("Ada: ", "word " * 500, "endless", ())
    section = build({RECENT: [line(1), endless, line(2), line(3)]}, 200)[RECENT]
    assert ids(section) == ["m2", "m3"]


def test_a_memory_that_does_not_fit_makes_room_for_the_next() -> None:
    endless = Candidate("Ada: ", "word " * 500, "endless", ())
    section = build({MEMORIES: [line(1), endless, line(2)]}, 200)[MEMORIES]
    assert ids(section) == ["m1", "m2"]


def test_one_long_turn_does_not_fill_its_section_alone() -> None:
    offers = {MEMORIES: [line(0, words=10, sentences=50), *(line(n) for n in range(1, 20))]}
    section = build(offers, 300)[MEMORIES]
    assert count_words(section.items[0].text) <= 0.35 * section.token_budget
    assert len(section.items) > 5


def test_sections_without_an_item_are_left_out_with_their_headings() -> None:
    sections = build_sections({}, token_budget=100, count_tokens=count_words, settings=SETTINGS)
    assert sections == ()


def test_sections_stand_in_the_order_of_the_text() -> None:
    offers = {kind: [line(1)] for kind in (RECENT, NOTES, MEMORIES, FACTS)}
    assert list(build(offers, 400)) == [FACTS, NOTES, MEMORIES, RECENT]
    assert build(offers, 400)[FACTS].text.splitlines()[0] == "Known facts:"


def test_spec_5_8_a_line_is_cut_after_a_whole_sentence() -> None:
    candidate = Candidate("Ada: ", "One two three. Four five six. Seven.", "m", ())
    assert fit_line(candidate, 100, count_words) == ("Ada: One two three. Four five six. Seven.", 12, True)
    assert fit_line(candidate, 11, count_words) == ("Ada: One two three. Four five six.", 10, False)
    assert fit_line(candidate, 6, count_words) == ("Ada: One two three.", 6, False)
    assert fit_line(candidate, 5, count_words) == ("", 0, False)
    assert fit_line(candidate, 0, count_words) == ("", 0, False)
    assert fit_line(candidate, -3, count_words) == ("", 0, False)
