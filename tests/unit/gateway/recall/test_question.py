from datetime import UTC, datetime

import pytest

from services.gateway.recall.question.reading import QuestionEvidence, read_question, to_first_person

NOW = datetime(2026, 11, 21, tzinfo=UTC)
BLOSSOM = "\N{CHERRY BLOSSOM}"
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("whats mias dog called", "whats my dog called"),
        ("where did mia's sister go", "where did my sister go"),
        ("What did mia paint", "What did I paint"),  # the capital is the telephone's
        ("What are mias hobbies", "What are my hobbies"),
        ("What did mia bring from Rome?", "What did I bring from Rome?"),
        ("Where did Tom meet mia?", "Where did I meet mia?"),  # whoever writes capitals, names by them
        ("Where did the mia go?", "Where did the mia go?"),
        ("What marks did Eva get?", "What marks did Eva get?"),
        ("what marks did eva get", "what marks did eva get"),
        ("How long will it rain?", "How long will it rain?"),
        ("what did long think", "what did I think"),
        ("MIA was a mission", "MIA was a mission"),
        ("What an idea", "What an idea"),
    ],
)
def test_names_count_in_lower_case_unless_they_may_be_words(text: str, expected: str) -> None:
    assert to_first_person(text, ["Mia", "Tom", "Mark", "Will", "Long", "An"]) == expected


@pytest.mark.parametrize(
    "speaker", ["mia_92", "@mia", "Mia \N{CHERRY BLOSSOM}", "\N{CHERRY BLOSSOM} mia", "mia92", "mia k.", "mia_chen"]
)
@pytest.mark.parametrize("text", ["what did mia say about the trip", "What did Mia say about the trip?"])
def test_nicknames_are_called_by_their_letters(speaker: str, text: str) -> None:
    question = read(text, speaker, "user_7", "Tom")
    assert question.named_speakers == (0,)
    assert question.first_person_text.lower().startswith("what did i say about the trip")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What did Mel and her kids make?", "What did I and her kids make?"),
        ("Is that Mel's dog?", "Is that my dog?"),
        ("Mel's dog?", "my dog?"),
        ("Did Melan call Alex?", "Did I call Alex?"),  # Alex may be either
        ("How is it? How did Howard do? I asked How.", "How is it? How did I do? I asked How."),
        ("Melon or Mela? Melo?", "Melon or I? Melo?"),
        ("what did mel make", "what did mel make"),
        ("Did Eva or Ann call in Jan or Mar?", "Did Eva or Ann call in Jan or Mar?"),
        ("Where did the Theory lead The Hobbit?", "Where did the Theory lead The Hobbit?"),
    ],
)
def test_short_forms_of_first_names_count_inside_sentences(text: str, expected: str) -> None:
    speakers = ["Melanie Moss", "Alexander", "Alexandra", "Howard", "Evan", "Anna", "Janet", "Marcus", "Theresa"]
    assert to_first_person(text, speakers) == expected


def test_a_short_form_is_not_that_of_another_one_who_has_the_name() -> None:
    assert read("Did Mel call?", "Melanie", "Mel").named_speakers == (1,)
    assert read("Did Mel call?", "Melanie", "Mel Moss", "Mel Stone").named_speakers == ()


def test_words_that_a_handle_begins_with_name_nobody() -> None:
    speakers = ("the_real_mia", "its_tom", "will_92", "blue_fox_7", "real_ada")
    for text in ("what is the real reason", "What will it be? The blue one?", "its over"):
        assert read(text, *speakers).named_speakers == ()
    assert read("What did Blue say?", *speakers).named_speakers == (3,)


def test_letters_of_a_nickname_that_two_share_or_that_are_a_role_name_nobody() -> None:
    assert read("what did mia tell the user", "mia_92", "mia_93", "user_7").named_speakers == ()


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
        ("what did u recommend", False, True),
        ("was that ur advice", False, True),
        ("Did the U.S. win? Did U.N. troops?", False, False),
        ("where have ive been", True, False),
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
