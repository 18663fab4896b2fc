from datetime import UTC, datetime

import pytest

from services.gateway.recall.question import QuestionEvidence, read_question, to_first_person

NOW = datetime(2026, 11, 21, tzinfo=UTC)
DOTLESS = "\N{LATIN SMALL LETTER DOTLESS I}"


def read(text: str, *speakers: str) -> QuestionEvidence:
    return read_question(text, speakers, NOW)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What did Ada paint last June?", "What did I paint last June?"),
        (
            "What is Ada's hobby, and what is Boris' dog called?",
            "What is my hobby, and what is my dog called?",
        ),
        ("Where does Ada’s sister live?", "Where does my sister live?"),  # noqa: RUF001
        ("what did ada paint?", "what did I paint?"),
        ("What did Adam paint in Nevada?", "What did Adam paint in Nevada?"),
        ("Will it rain? Will Will come?", "I it rain? I I come?"),
        ("What will I do?", "What will I do?"),
        ("", ""),
    ],
)
def test_names_of_speakers_become_first_person(text: str, expected: str) -> None:
    assert to_first_person(text, ["Ada", "Boris", "Will"]) == expected


def test_a_name_that_is_a_word_needs_its_capital() -> None:
    assert to_first_person("Ada said it will rain", ["Will"]) == "Ada said it will rain"


def test_first_names_stand_for_speakers_unless_two_share_them() -> None:
    speakers = ["Ada Byron", "Ada Lovelace", "Boris Vian"]
    assert read("Did Boris call Ada?", *speakers).named_speakers == (2,)
    assert read("Did Boris Vian call Ada Lovelace?", *speakers).named_speakers == (1, 2)
    assert to_first_person("Boris Vian's horn", speakers) == "my horn"


def test_roles_and_pronouns_are_no_names() -> None:
    question = read("What did the user tell you?", "user", "assistant", "you", "")
    assert question.first_person_text == question.text
    assert question.named_speakers == ()


def test_no_speakers_change_nothing() -> None:
    question = read("What did Ada paint?")
    assert question == QuestionEvidence(text=question.text, first_person_text=question.text)
    assert not question.is_personal


@pytest.mark.parametrize(
    ("text", "about_user", "about_assistant"),
    [
        ("What is my sister's name?", True, False),
        ("Where have I worked?", True, False),
        ("What did you recommend to me?", True, True),
        ("Which book was your suggestion?", False, True),
        ("Can you summarise the project?", False, False),
        ("Who is Ada?", False, False),
    ],
)
def test_it_is_told_whether_the_user_or_the_assistant_is_asked_about(
    text: str, about_user: bool, about_assistant: bool
) -> None:
    question = read(text, "user", "assistant")
    assert (question.about_user, question.about_assistant) == (about_user, about_assistant)
    assert question.is_personal is about_user


def test_times_are_read_with_the_question() -> None:
    (span,) = read("What did Ada do yesterday?", "Ada").time_ranges
    assert (span.start, span.end) == (
        datetime(2026, 11, 20, tzinfo=UTC).timestamp(),
        datetime(2026, 11, 21, tzinfo=UTC).timestamp(),
    )


@pytest.mark.parametrize("speaker", ["Irem", "İrem", f"{DOTLESS}rem"])
@pytest.mark.parametrize("text", [f"{DOTLESS}rem ne sever", "irem ne sever", "i̇rem ne sever", "İREM ne sever"])
def test_a_name_that_only_looks_alike_is_text(speaker: str, text: str) -> None:
    question = read(text, speaker)  # letters that are the same to a regular expression may be different names
    assert (question.first_person_text == text) is (question.named_speakers == ())


def test_a_dotless_i_is_another_letter() -> None:
    asked = f"{DOTLESS}rem ne sever"
    question = read(asked, "Irem")
    assert (question.named_speakers, question.first_person_text) == ((), asked)
    assert read("irem ne sever", "Irem").named_speakers == (0,)
