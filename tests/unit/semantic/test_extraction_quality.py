"""Facts of the labelled turns: precision and recall stay about where docs/extraction.md says."""

from __future__ import annotations

import functools
import time

from bench.extraction import Judgement, judge_all, parse_all, read_turns, scores
from services.semantic.facts.model import FactCategory
from tests.support.parsing import pipeline


@functools.cache
def judgements() -> tuple[Judgement, ...]:
    turns = read_turns()
    return tuple(judge_all(turns, parse_all(turns, pipeline())))


def test_spec_3_2_labelled_turns_of_several_styles_and_all_categories() -> None:
    turns = read_turns()
    assert len(turns) >= 400
    assert {turn.style for turn in turns} == {"chat", "formal", "terse", "lists", "slang", "people", "assistant"}
    found = {label.category for turn in turns for label in turn.labels}
    assert found == {category.name.lower() for category in FactCategory}


def test_spec_3_2_precision_and_recall_on_labelled_turns() -> None:
    tables = scores(judgements())
    everything = tables["all"]["all"]
    assert everything.precision >= 0.90
    assert everything.recall >= 0.80
    assert min(score.precision for score in tables["category"].values()) >= 0.80


def test_spec_3_2_turns_that_state_nothing_give_nothing() -> None:
    silent = [one for one in judgements() if not one.turn.labels]
    assert sum(not one.wrong for one in silent) >= 0.95 * len(silent)


def test_spec_3_2_a_short_turn_takes_at_most_15_ms_of_processor_time() -> None:
    turns = [turn for turn in read_turns() if len(turn.source.turn.content) < 200]
    parse_all(turns[:32], pipeline())
    begun = time.process_time()
    judge_all(turns, parse_all(turns, pipeline()))
    assert (time.process_time() - begun) / len(turns) < 0.015
