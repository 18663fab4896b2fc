import pytest

from services.common.turn_traits import Trait
from services.common.turns import Attachment, MessageRole
from services.episodic.traits import traits

SHOWN = Trait.QUESTION | Trait.ASSISTANT | Trait.REACTION | Trait.FIRST_PERSON | Trait.CAPTION


def of(text: str, role: MessageRole = MessageRole.USER, captions: tuple[str, ...] = ()) -> Trait:
    is_answer = role is MessageRole.ASSISTANT
    return traits(
        role,
        query="" if is_answer else text,
        response=text if is_answer else "",
        attachments=[Attachment(caption=caption) for caption in captions],
    )


@pytest.mark.parametrize(
    ("text", "captions", "expected"),
    [
        ("Where are my keys?", (), Trait.QUESTION | Trait.FIRST_PERSON),
        ("Wow, that's great!", (), Trait.REACTION),
        ("Thanks a lot", ("a cat",), Trait.REACTION | Trait.CAPTION),
        ("Cool, where?", (), Trait.QUESTION),
        ("Wow, the new museum by the river opened last week and everybody in town went to see it", (), Trait(0)),
        ("I\u2019ll come", (), Trait.FIRST_PERSON),
        ("the i-beam and a myth", (), Trait(0)),
        ("a bolt, i.e. a pin", (), Trait(0)),
        ("went there and i loved it", (), Trait.FIRST_PERSON),
        ("im home", (), Trait.FIRST_PERSON),
        ("so do i.", (), Trait.FIRST_PERSON),
        ("yesss", (), Trait.REACTION),
        ("\U0001f602", (), Trait.REACTION),
        ("omg so cute", (), Trait.REACTION),
        ("whats it done for u", (), Trait.QUESTION),
        ("", ("sunset",), Trait.CAPTION),
    ],
)
def test_spec_5_4_who_speaks_of_what_in_which_way(text: str, captions: tuple[str, ...], expected: Trait) -> None:
    assert of(text, captions=captions) & SHOWN == expected


def test_an_answer_is_the_assistants() -> None:
    assert of("The museum opens at ten.", MessageRole.ASSISTANT) & SHOWN == Trait.ASSISTANT


@pytest.mark.parametrize(
    ("trait", "texts", "others"),
    [
        (Trait.PAST, ["I went there", "We finally moved house", "I've been to Rome"], ["I go there", "the red bed"]),
        (
            Trait.TIME_EXPRESSION,
            ["see you on Monday", "last weekend", "two years ago", "on Jan 15", "in 2019", "at 5 pm", "c u tmrw"],
            ["see you", "the last one", "a mayor"],
        ),
        (Trait.NUMBER, ["room 12", "twice a week", "three dogs"], ["a room", "someone often"]),
        (Trait.QUOTE, ['she said "never again" to me', "the \u201cred line\u201d"], ["it's hers", 'a 5" pipe']),
        (Trait.NAMES, ["we met Anna there", "a trip to Rome"], ["We met her there", "when I came, I'm sure"]),
        (
            Trait.INSTRUCTION,
            [
                "Always answer in French.",
                "From now on use metric units",
                "Please never use emojis",
                "I want you to be brief",
            ],
            ["I always go there", "It never rains", "make tea"],
        ),
        (Trait.LIST, ["- a\n- b\n- c", "apples, pears, plums and figs"], ["- a\n- b", "apples and pears"]),
        (Trait.ENDS_ASKING, ["I am lost. Where is it?", "Where is it?"], ["Where is it? I am lost.", "I am lost."]),
        (Trait.MOSTLY_ASKING, ["Hi! Where is the station of this town?"], ["I have come all the way here. Why?", "Hi"]),
        (Trait.PREFERENCE, ["I prefer tea", "my favorite book", "I'd rather walk"], ["he went", "a book"]),
    ],
)
def test_spec_5_4_kinds_of_turns(trait: Trait, texts: list[str], others: list[str]) -> None:
    assert [text for text in texts if trait not in of(text)] == []
    assert [text for text in others if trait in of(text)] == []


def test_all_traits_fit_into_the_column_of_the_store() -> None:
    assert sum(Trait) < 2**15


def test_only_the_beginning_of_a_long_text_is_read() -> None:
    assert Trait.NAMES not in of("word " * 1_000 + "and Rome")
