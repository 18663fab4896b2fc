"""Turns without a word of a query that go on about a turn which it means."""

from __future__ import annotations

import pytest

from services.gateway.erasure.followups import Line, follow_ups


def lines(*texts: str) -> list[Line]:
    """Turns of one conversation; those of the assistant begin with "A:"."""
    return [
        Line(
            str(n),
            "c1",
            n,
            "Assistant" if text.startswith("A:") else "Ada",
            text.removeprefix("A:").strip(),
            text.startswith("A:"),
        )
        for n, text in enumerate(texts)
    ]


def going_on(
    *texts: str, topics: frozenset[str] = frozenset(), distance: int = 4, is_of_person: bool = False
) -> list[str]:
    """What goes on about the first turn."""
    said = lines(*texts)
    found = follow_ups(topics, {"0"}, said, distance, is_of_person=is_of_person)
    return [line.text for line in said if line.turn_id in found]


@pytest.mark.parametrize(
    ("meant", "text"),
    [
        ("I had a vasectomy in October.", "It hurt for a week."),
        ("I've been made redundant.", "They gave me three months' pay."),
        ("I had a row with my dad.", "he called me greedy"),
        ("I've got a tattoo on my ribs.", "Only the studio and you know about it."),
        ("I lost 8,000 on crypto.", "My wife doesn't know."),
        ("I'm on a waiting list for a new kidney.", "The doctors say it may take two years."),
        ("The neighbour reported us for the hedge.", "We've to cut it down by April."),
        ("My son was caught shoplifting.", "The manager let him off with a warning."),
        ("My ex Viktor lives in Gdansk.", "He still owes me 900 euros."),
        ("My eczema flares up.", "The dermatologist gave me a cream for it."),
        ("I had an abortion at nineteen.", "Only Beth knows about it."),
    ],
)
def test_spec_3_13_a_turn_without_a_subject_of_its_own_goes_on_about_the_one_before(meant: str, text: str) -> None:
    assert going_on(meant, "A: Noted.", text) == [text]


@pytest.mark.parametrize(
    ("meant", "text"),
    [
        ("I had a vasectomy in October.", "The cat was neutered in October as well."),
        ("I've been made redundant.", "The oven needs cleaning."),
        ("I've been made redundant.", "The oven is broken, it needs a part."),
        ("I've been made redundant.", "It rains a lot here."),
        ("I've been made redundant.", "That printer is slow."),
        ("I had a row with my dad.", "Will you be at choir tomorrow?"),
        ("I lost 8,000 on crypto.", "My wife knows the way to the cabin."),
        ("My brother told my boss about the job.", "He was furious."),
        ("I've got a tattoo on my ribs.", "My sister borrowed her car."),
        ("My eczema flares up.", "The oven broke, I bought a part for it."),
    ],
)
def test_spec_3_13_a_turn_with_a_subject_of_its_own_stays(meant: str, text: str) -> None:
    assert going_on(meant, text) == []


def test_what_follows_a_turn_with_another_subject_stays() -> None:
    assert going_on("I had a vasectomy.", "The shed burned down.", "It took the firemen an hour.") == []


def test_a_follow_up_of_a_follow_up_goes_and_one_too_far_behind_stays() -> None:
    assert going_on("I had a vasectomy.", "It hurt.", "It's better now.") == ["It hurt.", "It's better now."]
    assert going_on("I had a vasectomy.", "A: Oh.", "A: I see.", "It hurt.", distance=2) == []
    assert going_on("I had a vasectomy.", "A: Oh.", "It hurt.", distance=2) == ["It hurt."]


def test_of_a_person_only_what_is_said_of_them_goes() -> None:
    assert going_on("Bas broke the lamp.", "It cost 90 euros.", is_of_person=True) == []
    assert going_on("My flatmate Bas broke the lamp.", "He owes me 90 euros.", is_of_person=True) == [
        "He owes me 90 euros."
    ]


def test_words_of_the_matter_go_beside_a_turn_that_is_meant() -> None:
    topics = frozenset({"application"})
    meant = "I applied for a post at Lenz."
    assert going_on(meant, "The second interview is on 3 March.", topics=topics) == [
        "The second interview is on 3 March."
    ]
    assert going_on(meant, "My sister's interview is on 3 March.", topics=topics) == []


def test_spec_3_13_an_answer_that_repeats_a_number_of_a_turn_goes_with_it() -> None:
    lines = [
        Line("1", "c", 1, "Ada", "I earn 31,500 a year."),
        Line("2", "c", 2, "Bot", "Noted, 31,500.", is_assistant=True),
        Line("3", "c", 3, "Bot", "The museum opens at 10.", is_assistant=True),
    ]
    assert follow_ups({"earn"}, {"1"}, lines, 4) == ["2"]


def test_spec_3_13_who_is_introduced_in_a_turn_goes_with_it() -> None:
    lines = [
        Line("1", "c", 1, "Ada", "I see a therapist on Fridays, her name is Reyes."),
        Line("2", "c", 2, "Ada", "Reyes says I should write down my dreams."),
        Line("3", "c", 3, "Ada", "Ruben says the tap drips."),
    ]
    assert follow_ups({"therapy"}, {"1"}, lines, 4) == ["2"]


def test_an_answer_to_a_question_about_it_goes() -> None:
    assert going_on("I had a vasectomy.", "A: Does it hurt?", "Yes, a lot.") == ["Does it hurt?", "Yes, a lot."]
    assert going_on("I had a vasectomy.", "A: Noted. Tea?", "Black tea, please.") == []


def test_spec_3_13_a_sentence_that_opens_with_the_name_of_the_query_is_about_somebody() -> None:
    lines = [Line("1", "c", 1, "Ada", "Dani pays 430 for the room."), Line("2", "c", 2, "Ada", "She hums at night.")]
    assert follow_ups((), {"1"}, lines, 4, is_of_person=True, names={"dani"}) == ["2"]
    assert follow_ups((), {"1"}, lines, 4, is_of_person=True) == []


def test_spec_3_13_what_is_said_to_who_asked_is_passed_over() -> None:
    lines = [
        Line("1", "c", 1, "Ada", "Dawn, our lodger, left with the pan."),
        Line("2", "c", 2, "Ada", "Note it. She owes us three weeks."),
        Line("3", "c", 3, "Ada", "If it rains, ask her sister."),
    ]
    assert follow_ups((), {"1"}, lines, 4, is_of_person=True, names={"dawn"}) == ["2"]


@pytest.mark.parametrize(
    ("head", "about", "text", "goes_on"),
    [
        ("dealer", "I owe the dealer on Pier Road 1,800.", "I missed two payments to the dealer already", True),
        ("lock", "The lock of the boathouse is 3-1-7.", "The lock of the shed is 5-5-2.", False),
        ("trip", "The trip to Rome cost 900.", "The trip to Oslo was cheaper.", False),
        ("dealer", "I owe the dealer on Pier Road 1,800.", "My brother owes the dealer nothing.", False),
        ("diet", "I'm on a low-salt diet.", "The glaze needs salt, the diet is only mine.", False),
        ("", "My password for the bank is Larch-22.", "The bank opens at nine.", False),
    ],
)
def test_spec_3_13_what_is_told_of_the_thing_itself_goes_on(head: str, about: str, text: str, *, goes_on: bool) -> None:
    lines = [Line(str(place), "c", place, "Ada", said) for place, said in enumerate((about, text))]
    assert follow_ups(set(), {"0"}, lines, 4, head=head) == (["1"] if goes_on else [])


def test_spec_3_13_what_is_known_to_be_of_another_thing_stays_and_what_follows_it() -> None:
    said = lines(
        "My job interview at Krones is on Tuesday.",
        "The second interview is on Friday.",
        "I bought a tie for the interview.",
    )
    assert follow_ups({"interview", "job"}, {"0"}, said, 4, head="interview") == ["1", "2"]
    assert follow_ups({"interview", "job"}, {"0"}, said, 4, head="interview", apart={"1"}) == []


@pytest.mark.parametrize(
    ("topics", "head", "about", "text", "goes_on"),
    [
        ("inherit", "inherit", "I inherited 40,000.", "The inheritance is in an account at the Sparkasse.", True),
        ("inherit", "inherit", "I inherited 40,000.", "The inheritance of my cousin is larger.", False),
        ("sing lesson", "lesson", "I take singing lessons.", "The singing lessons are with Frau Noll.", True),
        ("sing lesson", "lesson", "I take singing lessons.", "The swimming lessons are with Frau Noll.", False),
        ("hair lose", "lose", "I'm losing my hair, this hair loss.", "The foam against hair loss costs 40.", True),
        ("hair lose", "lose", "I'm losing my hair, this hair loss.", "Dad's foam against hair loss is blue.", False),
        ("divorce", "divorce", "I filed for divorce.", "Tom filed for divorce.", False),
        ("rehab", "rehab", "I was in rehab.", "Cousin Al is in rehab for his hip.", False),
    ],
)
def test_spec_3_13_what_says_the_thing_in_full_goes_on(
    topics: str, head: str, about: str, text: str, *, goes_on: bool
) -> None:
    said = lines(about, text)
    assert follow_ups(frozenset(topics.split()), {"0"}, said, 4, head=head) == (["1"] if goes_on else [])
