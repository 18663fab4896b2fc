"""What somebody else wrote is no statement of the speaker who quotes it."""

from __future__ import annotations

import pytest

from services.common.text import split_sentences
from services.common.values.reading.quotations import quoted_places


def of_others(turn: str) -> list[str]:
    sentences = split_sentences(turn)
    return [sentences[place] for place in sorted(quoted_places(turn, sentences))]


@pytest.mark.parametrize(
    ("turn", "count"),
    [
        ('Look what landed in my mailbox: "Dear member, we no longer take cash. Send a card." As if!', 2),
        ('Got this text: "My bank is Trent Direct now." Weird.', 1),
        ("This is what the letter says: \u201cThe rent is 900 euros. We no longer take cash.\u201d Hm.", 2),
        ('Weird letter today. "Dear tenant, the rent is 900 euros. Please pay." Not mine.', 2),
        ("Got a note from the school: 'Your child's class moves to Room 9. It's settled.' Hm.", 2),
        ('My sister wrote: "Handed in my badge on Friday."', 1),
        ('Received: "Dear Ms Roth, your tutor is Mr Bell now.', 1),
        ('First line of the novel: "I left my wife on a Tuesday and moved to Lisbon." Too abrupt?', 1),
        ('The chorus goes like this: "I sold my car and I quit my job."', 1),
    ],
)
def test_spec_3_5_what_somebody_else_wrote_is_quoted(turn: str, count: int) -> None:
    assert len(of_others(turn)) == count


@pytest.mark.parametrize(
    "turn",
    [
        'I told them: "I no longer eat meat. Stop asking."',
        'My reply to the letter: "I no longer eat meat at all."',
        'Please save this note: "my locker is number 14 now"',
        'The working title is "The Long Road Back Home".',
        'The sign says "closed".',
        'The letter says "your rent is 760 euros", so my rent is 760 euros now.',
        "I got a letter 'cause we moved. James' flat is in Leeds.",
    ],
)
def test_spec_3_5_what_the_speaker_says_is_not(turn: str) -> None:
    assert of_others(turn) == []


def test_spec_3_5_what_the_speaker_takes_up_behind_a_quotation_is_stated() -> None:
    turn = 'The letter from the landlord: "From May the rent is 760 euros. Yours." So my rent is 760 euros now.'
    assert "So my rent is 760 euros now." not in of_others(turn)


def test_a_sentence_that_is_said_inside_and_outside_is_quoted_once() -> None:
    turn = 'Got this: "Good day to you. My rent is 760 euros. Bye." True: My rent is 760 euros.'
    sentences = ["My rent is 760 euros.", "My rent is 760 euros."]
    assert quoted_places(turn, sentences) == {0}
