"""What the speaker denies to have said states nothing, neither itself nor its opposite."""

from __future__ import annotations

import pytest

from tests.unit.semantic.test_extraction import triples


@pytest.mark.parametrize(
    "said",
    [
        "I never said that I hate my boss.",
        "I never claimed I love jazz.",
        "I never told you that I live in Ghent.",
        "I have never told you that I live in Ghent.",
        "I didn't say I'm vegetarian.",
        "I haven't said I live in Ghent.",
        "I'm not saying I hate my boss.",
        "I didn't mean to say that I hate my boss.",
        "I can't say that I like jazz.",
        "I deny that I hate my boss.",
        "It's not true that I live in Ghent.",
        "It isn't true that I work at Barco.",
        "It's not the case that I work at Barco.",
        "It's not that I hate my boss.",
        "It's untrue that I'm allergic to nuts.",
        "Nobody said I live in Ghent.",
        "I never said my sister lives in Oslo.",
        "I never said that my dog is called Rex.",
        "I never said I hate my boss or that I like jazz.",
        "I never said I live in Ghent because I work at Barco.",
        "I never said I don't live in Ghent.",
        "I never said I quit my job at Barco.",
        "Never said I hate my boss.",
    ],
)
def test_spec_3_2_what_is_denied_to_have_been_said_states_nothing(said: str) -> None:
    assert triples(said) == []


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("I said I hate my boss.", [("Nadia", "dislikes", "their boss")]),
        ("It's true that I live in Ghent.", [("Nadia", "lives_in", "Ghent")]),
        ("It's not true, I live in Ghent.", [("Nadia", "lives_in", "Ghent")]),
        ("It's not great that I live in Ghent.", [("Nadia", "lives_in", "Ghent")]),
        ("It was not until May that I moved to Ghent.", [("Nadia", "lives_in", "Ghent")]),
        ("I can't deny that I love jazz.", [("Nadia", "likes", "jazz")]),
        ("I never told you, but I live in Ghent.", [("Nadia", "lives_in", "Ghent")]),
        ("I never said that, I live in Ghent.", [("Nadia", "lives_in", "Ghent")]),
        ("I never said I work at Barco, I work at Imec.", [("Nadia", "works_at", "Imec")]),
        ("I never said I hate my boss, but I do hate my job.", [("Nadia", "dislikes", "their job")]),
        ("I haven't told my boss that I'm allergic to nuts.", [("Nadia", "allergic_to", "nuts")]),
        ("I told you I'm not allergic to nuts.", [("Nadia", "not_allergic_to", "nuts")]),
        ("I forgot to say that I'm vegetarian.", [("Nadia", "follows_diet", "vegetarian")]),
        ("I never said I hate my sister Anna.", [("Nadia", "has_sister", "Anna")]),
    ],
)
def test_spec_3_2_what_is_said_beside_a_denial_is_stated(said: str, found: list[tuple[str, str, str]]) -> None:
    assert triples(said) == found
