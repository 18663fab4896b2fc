"""What users expect a memory to know: diets, birthdays, sums, and facts that end where their clause ends."""

from __future__ import annotations

import pytest

from tests.unit.semantic.test_extraction import facts, triples


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("I'm vegetarian, so no meat recipes please.", "vegetarian"),
        ("I'm a strict vegetarian.", "vegetarian"),
        ("I'm veggie.", "vegetarian"),
        ("We are vegetarians.", "vegetarian"),
        ("I eat vegetarian.", "vegetarian"),
        ("I always eat vegan.", "vegan"),
        ("I follow a vegan diet.", "vegan"),
        ("I'm on a gluten-free diet.", "gluten-free"),
        ("I'm gluten-free.", "gluten-free"),
        ("I keep kosher.", "kosher"),
    ],
)
def test_spec_3_2_a_diet_has_one_name_however_it_is_said(said: str, value: str) -> None:
    assert triples(said) == [("Nadia", "follows_diet", value)]


@pytest.mark.parametrize("said", ["I'm on a diet.", "I eat kosher meat.", "I follow the news.", "I ate vegan."])
def test_spec_3_2_what_is_no_diet(said: str) -> None:
    assert triples(said) == []


@pytest.mark.parametrize(
    ("said", "subject", "text"),
    [
        ("My birthday is on April 4.", "Nadia", "Nadia's birthday is on April 4 (04-04)"),
        ("My birthday's on April 4.", "Nadia", "Nadia's birthday is on April 4 (04-04)"),
        ("My birthday's April 4.", "Nadia", "Nadia's birthday is on April 4 (04-04)"),
        ("Tom's birthday is on April 4.", "Tom", "Tom's birthday is on April 4 (04-04)"),
        ("My sister's birthday is April 4.", "Nadia's sister", "Nadia's sister's birthday is on April 4 (04-04)"),
        ("My friend Tom's birthday is on April 4.", "Tom", "Nadia's friend Tom's birthday is on April 4 (04-04)"),
        (
            "My sister Anna is 30. Her birthday is on April 4.",
            "Anna",
            "Nadia's sister Anna's birthday is on April 4 (04-04)",
        ),
    ],
)
def test_spec_3_2_birthdays(said: str, subject: str, text: str) -> None:
    fact = facts(said)[-1]
    assert (fact.subject, fact.predicate, fact.object, fact.text) == (subject, "birthday", "04-04", text)


@pytest.mark.parametrize(
    "said",
    [
        "Tom's birthday party is on Saturday.",
        "Tom's birthday isn't on April 4.",
        "Is Tom's birthday on April 4?",
        "I think Tom's birthday is on April 4.",
        "Your sister's birthday is on April 4.",
        "Her birthday is on April 4.",
        "Tom's birthday is soon.",
    ],
)
def test_spec_3_2_what_is_no_birthday(said: str) -> None:
    assert triples(said) == []


@pytest.mark.parametrize(
    ("said", "texts"),
    [
        ("My salary is 1,900 euros.", ["Nadia's salary is 1,900 euros"]),
        ("I earn 1,900 euros a month.", ["Nadia earns 1,900 euros a month"]),
        ("I got a raise: 2,050 now.", ["Nadia got a raise: 2,050"]),
        ("I got a raise.", ["Nadia got a raise"]),
        ("I have a dog: he is called Rex.", ["Nadia has a dog"]),
        ("My salary is too low.", []),
        ("I earn 10 points every day.", []),
    ],
)
def test_spec_3_2_sums_are_kept(said: str, texts: list[str]) -> None:
    assert [fact.text for fact in facts(said)] == texts


@pytest.mark.parametrize(
    ("said", "texts"),
    [
        (
            "I opened my front door last night and there on the hall table, wrapped in a tea towel, was the cookbook.",
            ["Nadia opened their front door last night (2026-03-09)"],
        ),
        ("I live in Ghent and work at Barco.", ["Nadia lives in Ghent", "Nadia works at Barco"]),
        ("I play the piano and study at Leiden.", ["Nadia plays the piano", "Nadia studies at Leiden"]),
        # Look-alikes: one clause.
        ("I love tea and coffee.", ["Nadia loves tea and coffee"]),
        ("I speak Dutch and French.", ["Nadia speaks Dutch and French"]),
    ],
)
def test_spec_3_2_a_fact_ends_where_the_next_clause_begins(said: str, texts: list[str]) -> None:
    assert [fact.text for fact in facts(said)] == texts
