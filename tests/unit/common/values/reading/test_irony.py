"""Sentences that mean the opposite of what they say."""

from __future__ import annotations

import pytest

from services.common.values.holding import Said, supersedes
from services.common.values.model import Relation
from services.common.values.reading.irony import goes_on_ironically, is_ironic

ENDS = {Relation.UPDATE, Relation.CONTRADICT}


@pytest.mark.parametrize(
    "text",
    [
        "Yeah right, I adore queues.",
        "oh great, i just LOVE the rain",
        "Sure, because I'm SO fond of wasps.",
        "Just what I always wanted.",
        "Another form? Oh joy.",
        "I love Mondays. Not.",
        "I play the kazoo now, ladies and gentlemen.",
        "Photographed PDF is my favourite format, as the whole world knows.",
        "wow i totally adore waiting 50 min for the night bus",
        "wonderful, nights again and the coffee machine is dead.",
    ],
)
def test_spec_3_1_irony_that_shows_is_seen(text: str) -> None:
    assert any(is_ironic(part) for part in (text, text.rsplit("? ", maxsplit=1)[-1]))


@pytest.mark.parametrize(
    "text",
    [
        "I love my kids, truly.",
        "I just love painting.",
        "Great, I passed the test!",
        "Wow, I really love this song!",
        "Yeah, sure is.",
    ],
)
def test_spec_3_1_joy_is_no_irony(text: str) -> None:
    assert not is_ironic(text)


def test_spec_3_5_irony_ends_nothing() -> None:
    hated = Said("I hate queues.", "Ada")
    assert supersedes(hated, Said("Oh sure, I just love queues now.", "Ada")) not in ENDS
    assert supersedes(hated, Said("I love queues now.", "Ada")) in ENDS


def test_spec_3_1_an_ironic_tone_goes_on() -> None:
    assert goes_on_ironically("I just adore candlelight at work.")
    assert not goes_on_ironically("I have two lamps.")
