"""Facts know the sentences of the turn that they were read in, by the numbers that supersessions use."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from services.common.comparing.port import ThreadComparer
from services.common.owners import Owner, TenantId
from services.common.parsing.port import Parser
from services.semantic.config import SupersessionSettings
from services.semantic.facts.extraction.extractor import ParsedFactExtractor
from services.semantic.facts.model import FactCategory, FactDraft
from services.semantic.facts.reading import places_of, read_turns
from services.semantic.supersession.model import corrected_number
from services.semantic.supersession.reading import assertions_of
from tests.unit.semantic.test_model_facts import source

SETTINGS = SupersessionSettings()
NOW = datetime(2026, 3, 2, tzinfo=UTC)


def drafts(*sentences: str) -> list[FactDraft]:
    return [FactDraft(f"fact {n}", FactCategory.CONTEXT, 0.9, 0.5, sentence=text) for n, text in enumerate(sentences)]


def test_spec_3_5_a_fact_is_placed_by_the_words_of_its_sentence() -> None:
    numbered = ["I live in Leeds", "I have a dog called Rex", "We met in May"]
    found = places_of(drafts("I have a dog called *Rex*!", "I live in Leeds.", "", "What is it?"), numbered)
    assert found == [(1,), (0,), (), ()]
    assert places_of(drafts("I live in Leeds."), []) == [()]
    assert places_of(drafts("I live in Leeds."), ["I live in Leeds", "We met", "I live in Leeds."]) == [(0, 2)]


def test_spec_3_5_facts_of_one_sentence_share_it() -> None:
    said = source("I live in Leeds with my dog Rex. I work as a nurse.")
    found = drafts("I live in Leeds with my dog Rex.", "I live in Leeds with my dog Rex.", "I work as a nurse.")
    [turns] = read_turns([said], [found], SETTINGS).values()
    statements = turns[0].statements(NOW)
    home, work = (corrected_number(text) for text in ("I live in Leeds with my dog Rex.", "I work as a nurse."))
    assert work < -1
    assert [one.sentences for one in statements] == [(0, home), (0, home), (1, work)], "and its corrections find each"
    assert [one.shares_sentence for one in statements] == [True, True, False]


@pytest.mark.parametrize(
    "turn",
    [
        "Good morning! Can you help me? I live in Leeds. I work as a nurse.",
        "How are things?\n\n- I live in Leeds\n- I work as a nurse",
        'I said "never again" on Monday. I live in **Leeds**. I work as a nurse, what do you do?',
    ],
)
async def test_spec_3_5_rules_read_facts_in_the_sentences_that_supersede(parser: Parser, turn: str) -> None:
    said = source(turn)
    [found] = await ParsedFactExtractor(parser).extract([said])
    [turns] = read_turns([said], [found], SETTINGS).values()
    owner = Owner(TenantId("acme"), said.user_id)
    numbered = {a.place.number: a.text for a in await assertions_of(owner, [said], SETTINGS, ThreadComparer())}
    placed = {one.draft.predicate: [numbered[n] for n in one.sentences if n >= 0] for one in turns[0].statements(NOW)}
    assert "Leeds" in placed["lives_in"][0]
    assert "nurse" in placed["works_as"][0]
    assert len(placed["lives_in"]) == len(placed["works_as"]) == 1
