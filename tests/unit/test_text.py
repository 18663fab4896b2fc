import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.text import is_question, split_pieces, split_sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        (" \n\t ", []),
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("i went home. it was good", ["i went home.", "it was good"]),
        ("Dr. Smith met Mr. J. R. Jones. They talked.", ["Dr. Smith met Mr. J. R. Jones.", "They talked."]),
        ("Bring fruit, e.g. apples. Thanks", ["Bring fruit, e.g. apples.", "Thanks"]),
        ("We met at 5 p.m. on Jan. 3. It rained.", ["We met at 5 p.m. on Jan. 3.", "It rained."]),
        ("We met at 5 p.m. It rained.", ["We met at 5 p.m.", "It rained."]),
        ("I said no. Then I left.", ["I said no.", "Then I left."]),
        ("It costs 3.50 in v1.2.3 now. Fine.", ["It costs 3.50 in v1.2.3 now.", "Fine."]),
        ('"Really?" she asked. "Yes!" he said.', ['"Really?"', "she asked.", '"Yes!"', "he said."]),
        ("Well... maybe later. Wow... Great", ["Well... maybe later.", "Wow...", "Great"]),
        ("It was I. Then it stopped.", ["It was I.", "Then it stopped."]),
        ("今日は雨です。明日は？晴れ", ["今日は雨です。", "明日は？", "晴れ"]),  # noqa: RUF001
        ("See https://a.example/x?y=1.2 now. Ok.", ["See https://a.example/x?y=1.2 now.", "Ok."]),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


def test_lines_end_sentences_unless_the_next_goes_on_in_lower_case() -> None:
    text = "A line that was\nwrapped by a mailer.\n\nA heading\nNext: \n- first item\n- second. Still second\n1. one"
    assert split_sentences(text) == [
        "A line that was\nwrapped by a mailer.",
        "A heading",
        "Next:",
        "- first item",
        "- second.",
        "Still second",
        "1. one",
    ]


def test_a_list_in_lower_case_is_not_joined() -> None:
    assert split_sentences("buy\na) milk\nb) eggs\n- bread") == ["buy", "a) milk", "b) eggs", "- bread"]


def test_pieces_are_filled_with_whole_sentences() -> None:
    text = "One two three. Four five six. Seven."
    assert split_pieces(text, 30) == ["One two three. Four five six.", "Seven."]
    assert split_pieces(text, 1_000) == [text]
    assert split_pieces("  \n ", 10) == []


def test_a_long_sentence_is_cut_between_words_and_a_long_word_anywhere() -> None:
    assert split_pieces("alpha beta gamma delta", 11) == ["alpha beta", "gamma delta"]
    assert split_pieces("x" * 25, 10) == ["x" * 10, "x" * 10, "x" * 5]


def test_a_piece_size_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        split_pieces("text", 0)


@given(st.text(alphabet="aB1 .!?\n-…。é", max_size=200), st.integers(min_value=1, max_value=60))
def test_nothing_is_lost_doubled_empty_or_too_long(text: str, max_chars: int) -> None:
    sentences, pieces = split_sentences(text), split_pieces(text, max_chars)
    for parts in (sentences, pieces):
        assert "".join("".join(parts).split()) == "".join(text.split())
        assert all(part == part.strip() and part for part in parts)
    assert all(len(piece) <= max_chars for piece in pieces)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("How are you?", True),
        ("I'm fine. And you? Tell me.", True),
        ("(is that so?)", True),
        ("what is my sister's name", True),
        ("do you remember the trip", True),
        ("r u coming", True),
        ("whats up with u", True),
        ("good to see you how have you been", True),
        ("i know what u mean", False),
        ("so are you", False),
        ("thats how they did it", False),
        ("What a day!", False),
        ("What I did was fine.", False),
        ("Do it now", False),
        ("See https://a.example/?q=1 for more", False),
        ("", False),
    ],
)
def test_questions_are_told_from_statements(text: str, expected: bool) -> None:
    assert is_question(text) is expected
