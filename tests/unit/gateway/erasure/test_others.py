"""Things of others whose name has a word of what is the speaker's."""

from __future__ import annotations

import pytest

from services.gateway.erasure.others import is_of_others
from services.gateway.erasure.queries import read


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("my tattoo of a heron", "The tattoo studio in Mill Lane has let its upper floor to my school."),
        ("my wheelchair", "The wheelchair rugby team won."),
        ("my dog", "The dog park beside our office is closed."),
        ("my allergy to nuts", "The allergy clinic moved next to our gym."),
        ("my e-mail address", "The e-mail address of the society is office@mill.example."),
        ("my phone number", "The phone number of my mother is 0171 22."),
        ("my address", "The address for the parish hall is 2 Low Road."),
        ("my wifi password", "The wifi password at the library is books."),
        ("my salary", "The salary of the director was in the paper."),
    ],
)
def test_spec_3_13_what_only_has_a_word_of_the_speakers_thing_stays(query: str, text: str) -> None:
    assert is_of_others(read(query), text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("my tattoo of a heron", "The tattoo itches at night."),
        ("my tattoo of a heron", "I went back to the tattoo studio, the beak was crooked."),
        ("my tattoo of a heron", "My tattoo is from the tattoo studio in Mill Lane."),
        ("my tattoo of a heron", "The tattoo from the studio itches."),
        ("my yoga", "The yoga studio says I may come on Mondays."),
        ("the tattoo studio", "The tattoo studio in Mill Lane is closed."),
        ("my fertility treatment", "The fertility clinic changed the dose."),
        ("my e-mail address", "The e-mail address is ranjan@oldmill.example."),
        ("my wifi password", "The wifi password of our flat is tulip9."),
        ("my address", "The address of the flat is 4 Mill Lane."),
        ("my password for the bank", "The password for the bank is tulip9."),
        ("my surgery", "The surgery at the hospital went well."),
    ],
)
def test_spec_3_13_what_is_the_speakers_own_is_of_nobody_else(query: str, text: str) -> None:
    assert not is_of_others(read(query), text)
