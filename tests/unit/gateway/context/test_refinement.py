"""Which sentences of a text are kept for a question."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.gateway.context.refinement import (
    KeptText,
    QuestionTerms,
    RefinementSettings,
    Sentences,
    choose_sentences,
    sentence_worth,
    term_weights,
)
from tests.support.examples import share_of
from tests.unit.gateway.context.offers import count_words

SETTINGS = RefinementSettings()
STORY = (
    "Good morning to you. The weather was fine on the way. We met my cousin Ruth at the harbour. "
    "Her boat is called Marigold. Then we went home by train. Dinner was late."
)


def prune(text: str, question: str, tokens_max: int, *, others: tuple[str, ...] = ()) -> KeptText | None:
    terms = QuestionTerms(question)
    sentences = Sentences.of(text, terms)
    worth = sentence_worth(sentences, term_weights(terms, [text, *others]), SETTINGS)
    return choose_sentences(sentences.texts, worth, tokens_max=tokens_max, count_tokens=count_words)


def test_spec_5_8_the_sentence_that_answers_is_kept_and_gaps_are_marked() -> None:
    kept = prune(STORY, "What is the name of the boat?", 10)
    assert kept == KeptText("… Her boat is called Marigold. …", 8, (3,), 6)
    assert kept.pruned


def test_spec_5_8_sentences_beside_the_one_that_answers_come_next() -> None:
    kept = prune(STORY, "What is the name of the boat?", 20)
    assert kept is not None
    assert kept.text == "… We met my cousin Ruth at the harbour. Her boat is called Marigold. …"


def test_spec_5_8_sentences_keep_their_order_whatever_they_are_worth() -> None:
    kept = prune(STORY, "Did dinner come after the harbour?", 18)
    assert kept is not None
    assert kept.text == "… We met my cousin Ruth at the harbour. … Dinner was late."


def test_spec_5_8_a_rare_term_is_worth_more_than_one_that_every_text_holds() -> None:
    text = "Ruth is here. Ruth sails. The kayak is blue."
    others = tuple(f"Ruth said {n}." for n in range(9))
    kept = prune(text, "Does Ruth have a kayak?", 7, others=others)
    assert kept is not None
    assert kept.text == "… The kayak is blue."


def test_spec_5_8_without_a_term_of_the_question_a_long_text_is_summarised() -> None:
    text = (
        "Hello there. The budget for the garden is small. Birds sing. The garden needs a fence within the budget. Bye."
    )
    kept = prune(text, "Completely unrelated?", 11)
    assert kept is not None
    assert "The budget for the garden is small." in kept.text
    assert "Bye" not in kept.text


def test_spec_5_8_inflected_words_are_the_same_term() -> None:
    assert QuestionTerms("How many budgets and meetings?").found_in("Budgeting before we meet again") == {
        "budget",
        "meet",
    }
    assert QuestionTerms("the and of").found_in("the and of") == frozenset()
    assert QuestionTerms("painted").stems == ("paint",)


def test_spec_5_8_a_sentence_that_does_not_fit_is_never_cut() -> None:
    assert prune("One two three four five six.", "six", 6) is None
    assert prune("", "six", 6) is None


def test_the_best_sentence_may_take_more_than_its_share_where_that_is_allowed() -> None:
    sentences = ("Short one.", "This one is long and has the answer.")
    common = {"tokens_max": 6, "count_tokens": count_words}
    kept = choose_sentences(sentences, (0.1, 1.0), **common)  # type: ignore[arg-type]
    assert kept is not None
    assert kept.sentences == (0,)
    kept = choose_sentences(sentences, (0.1, 1.0), first_tokens_max=12, **common)  # type: ignore[arg-type]
    assert kept is not None
    assert kept.sentences == (1,)


def test_sentences_of_little_worth_are_left_out_while_room_is_short() -> None:
    kept = choose_sentences(
        ("One.", "Two.", "Three."), (1.0, 0.2, 0.5), tokens_max=50, count_tokens=count_words, worth_min=0.4
    )
    assert kept is not None
    assert kept.text == "One. … Three."


@settings(max_examples=share_of(100), deadline=None)
@given(
    lengths=st.lists(st.integers(1, 12), min_size=1, max_size=12),
    worth=st.lists(st.floats(0, 1), min_size=12, max_size=12),
    tokens_max=st.integers(1, 60),
)
def test_spec_5_8_what_is_kept_fits_and_is_counted_exactly(
    lengths: list[int], worth: list[float], tokens_max: int
) -> None:
    sentences = [f"S{n} " + "w " * (length - 1) + "end." for n, length in enumerate(lengths)]
    kept = choose_sentences(sentences, worth[: len(sentences)], tokens_max=tokens_max, count_tokens=count_words)
    if kept is None:
        # Even a sentence at an end of the text needs one mark beside it where there are others.
        assert tokens_max < min(map(count_words, sentences)) + (2 if len(sentences) > 1 else 0)
        return
    assert kept.token_count == count_words(kept.text) <= tokens_max
    parts = [part.strip() for part in kept.text.split("…") if part.strip()]
    joined = " ".join(sentences[place] for place in kept.sentences)
    assert " ".join(parts).split() == joined.split()


@pytest.mark.parametrize("text", ["- one\n- two\n- three", "私は東京に住んでいます。犬がいます。", "…"])
def test_texts_without_usual_sentences_are_kept_whole_where_there_is_room(text: str) -> None:
    kept = prune(text, "anything", 100)
    assert kept is not None
    assert not kept.pruned


def test_a_text_of_very_many_sentences_takes_linear_time() -> None:
    sentences = [f"S{n} end." for n in range(20_000)]
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return 3

    kept = choose_sentences(sentences, [1.0] * len(sentences), tokens_max=50_000, count_tokens=count)
    assert kept is not None
    assert len(kept.sentences) > 16_000
    assert len(counted) <= len(sentences) + 1
