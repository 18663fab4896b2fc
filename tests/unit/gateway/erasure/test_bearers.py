"""What else bears the name of somebody whom a query of Forget means, and when a word is no name."""

from __future__ import annotations

import pytest

from services.gateway.erasure.bearers import is_of_a_make
from services.gateway.erasure.named import named
from services.gateway.erasure.queries import read
from services.gateway.erasure.wording import words_of


def meant(query: str, *texts: str) -> list[str]:
    """The texts with a name that the query means."""
    return [texts[index] for index in named(read(query), [list(words_of(text)) for text in texts])]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("my ex Tyler", "My cousin moved to Tyler, Texas for the roses."),
        ("my ex Tyler", "The new album by Tyler is on repeat."),
        ("my ex Tyler", "A new track of Tyler, the Creator on repeat."),
        ("my flatmate Florence", "We fly to Florence on the 3rd."),
        ("my flatmate Florence", "Florence and the Machine play here in July."),
        ("my ex Austin", "The fair is in Austin again."),
        ("my student Brooklyn", "We walked across Brooklyn Bridge."),
        ("my manager Chase", "My Chase credit card expires in May."),
        ("Mercedes from the choir", "The Mercedes needs new tyres."),
        ("my late husband Frank", "Anne Frank is what the class is reading."),
        ("my dentist Dr Wells", "I'm reading a novel by H. G. Wells."),
        ("my teacher Mr Levi", "My Levi's jeans are torn."),
        ("our caretaker Mr Dyson", "Mrs Dyson sells honey."),
        ("our lodger Lincoln", "The office is in Lincoln, Nebraska."),
        ("my roommate Georgia", "The wine is from Georgia."),
        ("my grandmother Rose", "My aunt was once the Rose of Tralee."),
        ("Joy, our help in the house", "Ode to Joy is what our choir sings in June."),
        ("Joy, our help in the house", "Our choir sings Ode to Joy."),
        ("Joy, our help in the house", "The puppy is pure joy."),
        ("Joy, our help in the house", "The Joy of Cooking is on the shelf."),
        ("my brother Jude", "Hey Jude is what they played."),
        ("my brother Jude", "They played Hey Jude twice."),
    ],
)
def test_spec_3_13_what_bears_the_name_of_somebody_stays(query: str, text: str) -> None:
    assert meant(query, text) == []


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("my ex Tyler", "Tyler, the German guy, owes me money."),
        ("my ex Tyler", "I flew home, Tyler drove."),
        ("my ex Tyler", "I still believe in Tyler."),
        ("my ex Tyler", "The spare key is in Tyler's car."),
        ("my ex Tyler", "I gave the ticket to Tyler."),
        ("my ex Tyler", "Yesterday Tyler rang."),
        ("my ex Tyler", "Uncle Jo met Tyler on Friday."),
        ("my ex Tyler", "A cake by Tyler."),
        ("Joy, our help in the house", "Joy made a soup."),
        ("Joy, our help in the house", "I wrote a letter to Joy."),
        ("my brother Jude", "Hey Jude, are you there?"),
        ("Mrs Dyson", "Mr and Mrs Dyson sell honey."),
        ("my flatmate Florence", "Florence and the twins are here."),
        ("our boat Ilse", "The Ilse needs paint."),
        ("Lisbon", "We fly to Lisbon in May."),
    ],
)
def test_spec_3_13_what_is_said_of_somebody_goes(query: str, text: str) -> None:
    assert meant(query, text) == [text]


def test_spec_3_13_a_name_alone_is_somebodys_where_a_text_shows_it() -> None:
    place, person = "Grandpa studied in Madison, Wisconsin.", "Madison still owes me the deposit."
    assert meant("everything about Madison", place) == [place]
    assert meant("everything about Madison", place, person) == [person]


def test_spec_3_13_a_name_is_somebodys_where_a_comma_and_who_it_is_follow() -> None:
    place, person = "We fly to Florence on the 3rd.", "Florence, the girl who minds the cat, is ill."
    assert meant("everything about Florence", place, person) == [person]


@pytest.mark.parametrize(
    ("query", "text", "is_meant"),
    [
        ("my colleague Mark Denby", "Mark all the newsletters as read.", False),
        ("my colleague Mark Denby", "Mark Friday as free.", False),
        ("my colleague Mark Denby", "Mark's off until the 24th.", True),
        ("my colleague Mark Denby", "Mark in accounts owes me forty.", True),
        ("my colleague Mark Denby", "Mark reckons we are late.", True),
        ("my colleague Mark Denby", "Mark told me.", True),
        ("my colleague Mark Denby", "Mark and I went out.", True),
        ("our neighbour Grace", "Grace period for the invoice is ten days.", False),
        ("our neighbour Grace", "Grace never locks the gate.", True),
        ("my therapist Hope", "Hope the weather holds.", False),
        ("my therapist Hope", "Hope thinks I should write.", True),
        ("my neighbour Jack", "Jack up the car first.", False),
        ("my goddaughter Ruby", "Ruby on Rails is what we use.", False),
        ("my aunt Carol", "Carol singing starts at six.", False),
        ("my assistant Jasmine", "Jasmine rice needs twelve minutes.", False),
        ("my mate Will", "Will you remind me of the milk?", False),
        ("my mate Will", "Will sails on Sundays.", True),
        ("my mate Will", "my mate will has a boat", True),
        ("my mate Will", "will you remind me of the milk", False),
        ("my colleague Rob", "a man tried to rob the bank", False),
        ("my colleague Rob", "i gave it to rob", True),
        ("Bill the decorator", "bill the decorator painted my hall", True),
        ("Bill the decorator", "Bill the decorator painted my hall.", True),
        ("Bill the decorator", "bill the decorator's van is blue", True),
        ("Bill the decorator", "bill wants 300 for it", True),
        ("Bill the decorator", "bill the decorator for the damage", False),
        ("Bill the decorator", "bill the client by friday", False),
        ("Bill the decorator", "and the gas bill came?", False),
        ("Bill the decorator", "gas bill is 94", False),
        ("rose the florist", "rose sent a card", True),
        ("rose the florist", "prices rose again", False),
        ("Hope the physio", "hope the physio rings back", False),
        ("Will the joiner", "will wants 300", True),
        ("Will the joiner", "will the joiner come on monday", False),
        ("Will the joiner", "will you come", False),
    ],
)
def test_spec_3_13_a_word_that_opens_a_sentence_is_a_name_by_what_follows(
    query: str, text: str, *, is_meant: bool
) -> None:
    assert meant(query, text) == ([text] if is_meant else [])


@pytest.mark.parametrize(
    ("query", "is_of_somebody"),
    [
        ("Mrs Rose Mbeki of the parents' council", True),
        ("Rose Mbeki of the parents' council", True),
        ("Rose Mbeki at the bank", True),
        ("Rose Mbeki at the party", False),
        ("Costa Rica in winter", False),
        ("what I owe Sven", False),
    ],
)
def test_spec_3_13_where_somebody_belongs_says_who_that_is(query: str, *, is_of_somebody: bool) -> None:
    assert read(query).about_name is is_of_somebody


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My Bosch drill needs a plug.", True),
        ("Our Bosch sings.", False),
        ("The Bosch needs a plug.", True),
        ("The Bosch from next door is ill.", False),
    ],
)
def test_a_name_behind_my_and_before_a_thing_is_a_make(text: str, *, expected: bool) -> None:
    assert is_of_a_make(list(words_of(text)), 1) is expected
