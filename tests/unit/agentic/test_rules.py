"""Notes by rules: what is worth one, and what it says."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from services.agentic.config import GenerationSettings, ImportanceWeights
from services.agentic.generation.cues import Polarity, polarity
from services.agentic.generation.port import AskedQuestion, GenerationItem
from services.agentic.generation.rules import RuleNoteGenerator, asked_question
from services.agentic.generation.words import keywords
from services.agentic.model import NoteDraft, NoteKind
from services.common.interactions import SourceInteraction
from services.common.owners import InteractionId, UserId
from services.common.turns import Attachment, MessageRole, Turn

TIME = datetime(2026, 1, 1, tzinfo=UTC)


def source(
    text: str, *, speaker: str = "Ann", role: MessageRole = MessageRole.USER, photo: str = ""
) -> SourceInteraction:
    attachments = (Attachment("file:p", "image/png", photo),) if photo else ()
    turn = Turn(role, text, TIME, speaker, attachments)
    return SourceInteraction(InteractionId("i"), UserId("u"), "c", 1, turn)


def draft(
    text: str, *, asked: str = "", speaker: str = "Ann", role: MessageRole = MessageRole.USER
) -> NoteDraft | None:
    question = AskedQuestion(InteractionId("q"), "Bo", asked) if asked else None
    return RuleNoteGenerator().draft(GenerationItem(source(text, speaker=speaker, role=role), question))


def must(found: NoteDraft | None) -> NoteDraft:
    assert found is not None
    return found


@pytest.mark.parametrize(
    "text",
    [
        "I'm allergic to peanuts.",
        "I'm diabetic.",
        "I'm pregnant.",
        "I hate coriander.",
        "I like tea.",
        "Remember that I'm left-handed.",
    ],
)
def test_spec_4_2_a_preference_health_and_what_is_to_be_remembered_give_notes_in_few_words(text: str) -> None:
    assert must(draft(text)).content == f"Ann: {text}"
    plain = RuleNoteGenerator(GenerationSettings(cued_salience_min=3.0))
    assert plain.draft(GenerationItem(source(text))) is None


@pytest.mark.parametrize("text", ["I love that!", "I really like it.", "Please remember that!"])
def test_spec_4_2_a_preference_that_says_nothing_of_what_gives_no_note(text: str) -> None:
    assert draft(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "Hi there!",
        "Thanks, that's great!",
        "Haha, true.",
        "Ok, sounds good. See you soon!",
        "Happy new year!",
        "Nice to meet you, Maya.",
        "Thanks a lot, Leo!",
        "How is the courtyard?",
        "And? Tell me!",
        "Wow, amazing, so happy for you!",
        "What is the capital of France?",
    ],
)
def test_spec_4_2_small_talk_gives_no_note(text: str) -> None:
    assert draft(text) is None


def test_spec_4_2_a_name_behind_one_word_may_be_an_answer() -> None:
    answer = must(draft("Yes, Marguerite.", asked="Is it the seventy-one-year-old baker who taps the loaves?"))
    assert "Marguerite" in answer.content


@pytest.mark.parametrize("role", [MessageRole.SYSTEM, MessageRole.TOOL])
def test_texts_that_nobody_said_give_no_note(role: MessageRole) -> None:
    assert draft("The deployment of Mneme finished on Friday with 12 errors.", role=role) is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I can't stand cold water, I'd rather eat the wetsuit.", NoteKind.PREFERENCE),
        ("I love hiking in the Alps with my dog.", NoteKind.PREFERENCE),
        ("Yesterday we went to the harbour and saw three seals.", NoteKind.OBSERVATION),
        ("My sister works as a nurse in Leeds.", NoteKind.FACT),
        ("First soak the beans overnight, then boil them with salt, and finally add the lemon.", NoteKind.PROCEDURE),
        ("Gradient boosting is a method for building an ensemble of trees.", NoteKind.CONCEPT),
    ],
)
def test_spec_4_1_kinds(text: str, kind: NoteKind) -> None:
    assert must(draft(text)).kind is kind


def test_content_names_the_speaker_and_the_spoken_text_does_not() -> None:
    note = must(draft("My sister works as a nurse in Leeds. Really? How are you?"))
    assert note.content == "Ann: My sister works as a nurse in Leeds."
    assert note.spoken == "My sister works as a nurse in Leeds."


def test_short_answer_is_kept_with_its_question() -> None:
    assert draft("Waterproof, obviously.") is None
    note = must(draft("Waterproof, obviously.", asked="What sort of shoes?"))
    assert note.content == "Bo asked: What sort of shoes? Ann answered: Waterproof, obviously."
    assert note.spoken == "What sort of shoes? Waterproof, obviously."
    assert "answer" in note.tags


def test_question_that_tells_something_gives_a_note() -> None:
    assert "Persian cookbook" in must(draft("Can I borrow your grandad's Persian cookbook for Easter?")).content


def test_quoted_question_does_not_cut_its_sentence() -> None:
    note = must(draft('I sent out the dessert with "Will you?" piped on it after she had left.'))
    assert note.spoken == 'I sent out the dessert with "Will you?" piped on it after she had left.'


def test_photo_without_words_is_told_by_its_caption() -> None:
    item = GenerationItem(source("Look!", photo="A black cat asleep in a bowl"))
    note = must(RuleNoteGenerator().draft(item))
    assert note.content.startswith("Ann")
    assert note.attachments[0].caption == "A black cat asleep in a bowl"
    assert "photo" in note.tags
    assert "cat" in note.keywords


def test_long_turn_is_condensed_to_whole_sentences() -> None:
    filler = "So that is how it was and it went on like this for quite some time really. "
    salient = "Doctor Marlow moved the knee operation to Tuesday 3 March in Scarborough."
    note = must(draft("We talked about plans again. " + filler * 20 + salient))
    assert len(note.content) <= 600
    assert salient in note.content
    assert note.content.startswith("Ann: We talked about plans again.")


def test_long_answer_of_an_assistant_keeps_headings_and_first_sentences() -> None:
    body = "It takes a while and there is more to say about it than fits here. " * 4
    text = (
        f"Sure, here is a guide!\n\n## Soil\nLoose soil drains well. {body}\n\n## Water\nWater in the morning. {body}"
    )
    note = must(draft(text, role=MessageRole.ASSISTANT, speaker=""))
    assert note.content == "Soil: Loose soil drains well. Water: Water in the morning."
    assert note.kind is NoteKind.CONCEPT


@pytest.mark.parametrize("text", ["x" * 30_000, "so much " * 4_000, "a? " * 5_000, "first " * 5_000, "?!.,:;"])
def test_strange_texts_are_bounded_and_take_no_time(text: str) -> None:
    note = draft(text, asked="q" * 5_000)
    assert note is None or (len(note.content) <= 1_000 and len(note.keywords) <= 16)


def test_importance_is_base_and_the_weights_of_cues_at_most_one() -> None:
    weights = ImportanceWeights()
    plain = must(draft("The van is held together by stickers and string."))
    assert plain.importance == pytest.approx(weights.base)
    promise = must(draft("The courtyard will open, I promise, before the end of winter."))
    assert promise.importance == pytest.approx(weights.base + weights.commitment + weights.detail)
    heavy = RuleNoteGenerator(GenerationSettings(importance=ImportanceWeights(base=0.9)))
    note = must(heavy.draft(GenerationItem(source("Remember that I'm allergic to cashews, promise me you will."))))
    assert note.importance == 1.0


def test_keywords_keep_names_together_and_put_them_first() -> None:
    found = keywords(["I've entered the Great North Run in September with Fennel & Salt"], count_max=3)
    assert set(found) == {"Great North Run", "Fennel & Salt", "september"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("You? Any resolutions?", "You? Any resolutions?"),
        ("Nice. How's the ankle?", "How's the ankle?"),
        ("How was it? I was there too.", ""),
        ("And you?", ""),
        ("No question here.", ""),
    ],
)
def test_asked_question(text: str, expected: str) -> None:
    assert asked_question(source(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I love cold water.", Polarity.LIKES),
        ("I really don't like cold water.", Polarity.DISLIKES),
        ("I can’t stand chocolate.", Polarity.DISLIKES),  # noqa: RUF001
        ("I love tea and I hate coffee.", None),
        ("It looks like rain.", None),
    ],
)
def test_polarity(text: str, expected: Polarity | None) -> None:
    assert polarity(text) is expected
