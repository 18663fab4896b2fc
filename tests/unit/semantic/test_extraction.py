"""Facts by rules, on worked examples."""

from __future__ import annotations

import time
import uuid
from datetime import UTC, datetime

import pytest

from services.common.interactions import SourceInteraction
from services.common.owners import InteractionId, UserId
from services.common.turns import MessageRole, Turn
from services.semantic.config import ExtractionSettings
from services.semantic.facts.extraction.extractor import ParsedFactExtractor
from services.semantic.facts.model import FactCategory, FactDraft
from tests.support.parsing import InProcessParser, pipeline

TUESDAY = datetime(2026, 3, 10, 12, tzinfo=UTC)


def source(
    text: str, *, speaker: str = "Nadia", role: MessageRole = MessageRole.USER, said: datetime = TUESDAY
) -> SourceInteraction:
    return SourceInteraction(InteractionId(str(uuid.uuid4())), UserId("u"), "c", 0, Turn(role, text, said, speaker))


def facts(text: str, *, speaker: str = "Nadia", **options: object) -> list[FactDraft]:
    return facts_of(source(text, speaker=speaker, **options))  # type: ignore[arg-type]


def facts_of(turn: SourceInteraction, settings: ExtractionSettings | None = None) -> list[FactDraft]:
    extractor = ParsedFactExtractor(InProcessParser(), settings)
    return extractor.facts_of(turn, pipeline().parse(extractor.texts_of(turn)))


def triples(text: str, **options: object) -> list[tuple[str, str, str]]:
    return [(f.subject, f.predicate, f.object) for f in facts(text, **options)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("said", "statement", "predicate", "value"),
    [
        # who somebody is
        ("My name is Sofia Alvarez.", "Nadia's name is Sofia Alvarez", "has_name", "Sofia Alvarez"),
        ("Call me Nadi, please.", "Nadia wants to be called Nadi", "preferred_name", "Nadi"),
        ("I live in Lisbon.", "Nadia lives in Lisbon", "lives_in", "Lisbon"),
        ("I'm based in New York these days.", "Nadia is based in New York", "lives_in", "New York"),
        ("i live in berlin", "Nadia lives in Berlin", "lives_in", "Berlin"),
        ("Well, I just moved to Porto!", "Nadia moved to Porto", "lives_in", "Porto"),
        ("I used to live in Ghent.", "Nadia used to live in Ghent", "lived_in", "Ghent"),
        ("I'm from Chile originally.", "Nadia is from Chile originally", "comes_from", "Chile"),
        ("I'm 34 years old.", "Nadia is 34 years old", "age", "34"),
        ("I work for Acme.", "Nadia works for Acme", "works_at", "Acme"),
        ("I've got a job at Crumb & Co.", "Nadia has got a job at Crumb & Co", "works_at", "Crumb & Co"),
        ("I'm a software engineer.", "Nadia is a software engineer", "works_as", "software engineer"),
        ("I teach maths at a school.", "Nadia teaches maths at a school", "teaches", "maths at a school"),
        ("I got promoted to team lead.", "Nadia got promoted to team lead", "works_as", "team lead"),
        ("I no longer work at Google.", "Nadia no longer works at Google", "left_job", "Google"),
        ("I study physics at Leiden.", "Nadia studies physics at Leiden", "studies", "physics"),
        ("I speak Dutch and French.", "Nadia speaks Dutch and French", "speaks", "Dutch and French"),
        # limits
        ("I'm allergic to nuts.", "Nadia is allergic to nuts", "allergic_to", "nuts"),
        ("I've got a peanut allergy.", "Nadia has got a peanut allergy", "allergic_to", "peanut"),
        ("I'm vegetarian, what can I cook?", "Nadia is vegetarian", "follows_diet", "vegetarian"),
        ("I don't eat meat anymore.", "Nadia does not eat meat anymore", "does_not_eat", "meat"),
        ("I've stopped drinking coffee.", "Nadia has stopped drinking coffee", "does_not_drink", "coffee"),
        ("I don't drink.", "Nadia does not drink", "does_not_drink", "alcohol"),
        ("I have asthma.", "Nadia has asthma", "has_condition", "asthma"),
        ("My budget is 2,000 euros.", "Nadia's budget is 2,000 euros", "has_budget", "2,000 euros"),
        # likes and dislikes
        ("I love hiking.", "Nadia loves hiking", "likes", "hiking"),
        ("I really like spicy food.", "Nadia likes spicy food", "likes", "spicy food"),
        ("I prefer tea to coffee.", "Nadia prefers tea to coffee", "prefers", "tea to coffee"),
        ("I can't stand cold water.", "Nadia cannot stand cold water", "dislikes", "cold water"),
        ("I've gone off chocolate.", "Nadia has gone off chocolate", "dislikes", "chocolate"),
        ("I'm not a morning person.", "Nadia is not a morning person", "dislikes", "mornings"),
        ("My favourite colour is green.", "Nadia's favourite colour is green", "favourite_colour", "green"),
        # people
        ("My dog's name is Biscuit.", "Nadia has a dog named Biscuit", "has_dog", "Biscuit"),
        ("My wife is called Clara.", "Nadia has a wife named Clara", "has_wife", "Clara"),
        ("My dentist is Dr. Brandt.", "Nadia has a dentist named Dr. Brandt", "has_dentist", "Dr. Brandt"),
        ("My teacher is called Mrs. Jones.", "Nadia has a teacher named Mrs. Jones", "has_teacher", "Mrs. Jones"),
        ("We have two kids.", "Nadia has two kids", "has_children", "two kids"),
        ("I adopted a dog named Max.", "Nadia adopted a dog named Max", "has_pet", "a dog named Max"),
        ("I'm pregnant.", "Nadia is pregnant", "expecting", "pregnant"),
        ("I'm divorced.", "Nadia is divorced", "relationship_status", "divorced"),
        # life
        ("I play the cello.", "Nadia plays the cello", "plays", "the cello"),
        ("I'm learning Spanish.", "Nadia is learning Spanish", "learning", "Spanish"),
        ("I bought a house in Porto.", "Nadia bought a house in Porto", "bought", "a house in Porto"),
        ("I want to learn to sail.", "Nadia wants to learn to sail", "wants_to", "learn to sail"),
        ("I carry an inhaler.", "Nadia carries an inhaler", "carries_medication", "an inhaler"),
    ],
)
def test_spec_3_2_a_statement_becomes_a_fact(said: str, statement: str, predicate: str, value: str) -> None:
    [fact] = facts(said)
    assert (fact.text, fact.subject, fact.predicate, fact.object) == (statement, "Nadia", predicate, value)


@pytest.mark.parametrize(
    "said",
    [
        "I think so.",
        "Yeah, I know, right?",
        "I'm fine, thanks. How are you?",
        "I like it a lot.",
        "I love you!",
        "I like how you think.",
        "I love the idea.",
        "I'm so proud of you.",
        "I'm sure it will work.",
        "If I moved to Berlin, I would miss the sea.",
        "I wish I lived in Paris.",
        "Do you think I should move to Rome?",
        "I'd live in Rome if I could.",
        "I live in fear of the printer.",
        "I moved to React last month.",
        "I'm 5 minutes away.",
        "I'll think about it.",
        "I'll be there in five minutes.",
        "She said I work too much.",
        'Here is my draft: "I work at Nova and I love space."',
        "> I live in Paris\nWhat does this mean?",
        "```\n# I live in Paris\nname = 'I work at Acme'\n```",
        "Can you write me a poem about the sea?",
        "Please write a function that sorts a list.",
        "Please don't laugh.",
        "Never give up.",
        "I have grown used to it, what with the daily commute.",
        "I baked with him this morning.",
        "I'll post it by Friday.",
        "Your birthday is on the 5th of May.",
        "It is raining.",
        "",
        "...",
    ],
)
def test_spec_3_2_noise_gives_no_fact(said: str) -> None:
    assert facts(said) == []


@pytest.mark.parametrize(
    ("said", "suffix", "since"),
    [
        ("I'm going to run a marathon next Friday.", "next Friday (2026-03-20)", "2026-03-20"),
        ("Tomorrow I'm flying to Rome.", "flying to Rome tomorrow (2026-03-11)", "2026-03-11"),
        ("We're getting married in June.", "in June (2026-06)", "2026-06-01"),
        ("I have a dentist appointment on Thursday.", "on Thursday (2026-03-12)", "2026-03-12"),
        ("I've got a dentist appointment on Thursday.", "on Thursday (2026-03-12)", "2026-03-12"),
        ("I moved to Porto last month.", "last month (2026-02)", "2026-02-01"),
        ("I've been vegan since 2019.", "since 2019", "2019-01-01"),
        ("I'll be visiting my aunt on the 2nd of May 2027.", "on the 2nd of May 2027", "2027-05-02"),
        ("I'm travelling to Oslo in two weeks.", "in two weeks (2026-03-24)", "2026-03-24"),
        ("Yesterday I went to a pottery workshop.", "yesterday (2026-03-09)", "2026-03-09"),
        ("I sprained my ankle a week ago.", "a week ago (2026-03-03)", "2026-03-03"),
    ],
)
def test_spec_3_2_dates_count_from_the_turn(said: str, suffix: str, since: str) -> None:
    [fact] = facts(said)
    assert fact.text.endswith(suffix)
    assert fact.valid_from is not None
    assert fact.valid_from.date().isoformat() == since


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("Imec moved the interview to May 14.", "Imec moved the interview to May 14 (2026-05-14)"),
        ("I found a studio from July 1.", "Nadia found a studio from July 1 (2026-07-01)"),
        ("My landlord raised the rent from April.", "Nadia's landlord raised the rent from April (2026-04)"),
        ("I extended my lease until June 1.", "Nadia extended their lease until June 1 (2026-06-01)"),
        ("I booked a table for May 14.", "Nadia booked a table for May 14 (2026-05-14)"),
        # Look-alikes: these are over.
        ("I moved to Ghent in May.", "Nadia moved to Ghent in May (2025-05)"),
        ("I moved to Ghent on May 14.", "Nadia moved to Ghent on May 14 (2025-05-14)"),
        ("I worked at Imec from May 1.", "Nadia worked at Imec from May 1 (2025-05-01)"),
        ("I lived in Ghent until June.", "Nadia lived in Ghent until June (2025-06)"),
        ("I finished the report by May 1.", "Nadia finished the report by May 1 (2025-05-01)"),
        ("My landlord raised the rent on May 1.", "Nadia's landlord raised the rent on May 1 (2025-05-01)"),
    ],
)
def test_spec_3_2_a_time_that_a_change_sets_is_to_come(said: str, text: str) -> None:
    assert [fact.text for fact in facts(said)] == [text]


def test_one_sentence_may_state_several_facts() -> None:
    assert triples("I work at Acme as a data engineer, and I live in Lisbon with my sister Anna.") == [
        ("Nadia", "has_sister", "Anna"),
        ("Nadia", "works_at", "Acme"),
        ("Nadia", "works_as", "data engineer"),
        ("Nadia", "lives_in", "Lisbon"),
    ]


@pytest.mark.parametrize(
    ("said", "texts"),
    [
        ("I'm a software engineer at Barco.", ["Nadia is a software engineer", "Nadia works at Barco"]),
        (
            "I work as a nurse at St James's hospital, mostly night shifts.",
            ["Nadia works at St James's hospital", "Nadia works as a nurse, mostly night shifts"],
        ),
        (
            "I've worked at Barco as an engineer since 2019.",
            ["Nadia has worked at Barco since 2019", "Nadia has worked as an engineer since 2019"],
        ),
        ("I used to work as a nurse at Acme.", ["Nadia used to work at Acme", "Nadia used to work as a nurse"]),
        (
            "I started at Acme as a nurse in January.",
            ["Nadia started at Acme in January (2026-01)", "Nadia started as a nurse in January (2026-01)"],
        ),
        ("I joined Acme as a nurse.", ["Nadia joined Acme", "Nadia works as a nurse"]),
        ("My parents work at Acme as nurses.", ["Nadia's parents work at Acme", "Nadia's parents work as nurses"]),
        # Look-alikes: one fact has all of the clause.
        ("I was a teacher at Hillside School.", ["Nadia was a teacher at Hillside School"]),
        ("I work at Barco in Ghent.", ["Nadia works at Barco in Ghent"]),
        ("I'm a nurse, and I work at Barco.", ["Nadia is a nurse", "Nadia works at Barco"]),
    ],
)
def test_a_job_and_its_employer_do_not_say_the_same_twice(said: str, texts: list[str]) -> None:
    assert [fact.text for fact in facts(said)] == texts


def test_a_name_has_no_dot_of_the_sentence() -> None:
    assert triples("I went to Rome with my friend Jan.")[0] == ("Nadia", "has_friend", "Jan")
    assert triples("My friend Dr. Smith lives in Oslo.")[0] == ("Nadia", "has_friend", "Dr. Smith")


def test_a_move_tells_of_both_places() -> None:
    assert triples("We moved from Leeds to Bristol last month.") == [
        ("Nadia", "lives_in", "Bristol"),
        ("Nadia", "lived_in", "Leeds"),
    ]


def test_relatives_are_subjects_of_their_own() -> None:
    found = facts("My sister Anna works at Nova, and my brother lives in Oslo.")
    assert [(f.subject, f.predicate, f.object) for f in found] == [
        ("Nadia", "has_sister", "Anna"),
        ("Anna", "works_at", "Nova"),
        ("Nadia's brother", "lives_in", "Oslo"),
    ]
    assert [f.text for f in found[1:]] == ["Nadia's sister Anna works at Nova", "Nadia's brother lives in Oslo"]


def test_several_relatives_keep_the_plural() -> None:
    assert [f.text for f in facts("My parents live in Madrid.")] == ["Nadia's parents live in Madrid"]


def test_somebody_named_is_believed_less() -> None:
    [fact] = facts("Leila's getting married in May!")
    assert (fact.text, fact.subject) == ("Leila is getting married in May (2026-05)", "Leila")
    assert fact.confidence < facts("I'm getting married in May!")[0].confidence


def test_a_start_date_is_joined_to_the_job() -> None:
    [fact] = facts("I got it! I'm joining the Tide Museum! I start on Monday the 11th of May.")
    assert fact.text == "Nadia is joining the Tide Museum and starts on Monday the 11th of May (2026-05-11)"
    assert fact.valid_from == datetime(2026, 5, 11, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "order"),
    [
        ("Please always answer in German.", "always answer in German"),
        ("please don't use emojis", "don't use emojis"),
        ("From now on, reply in French.", "reply in French"),
        ("Never use bullet points in your answers.", "Never use bullet points in your answers"),
        ("Always cite sources when I ask about health.", "Always cite sources when I ask about health"),
    ],
)
def test_standing_orders_are_instructions(said: str, order: str) -> None:
    [fact] = facts(said, speaker="")
    assert (fact.category, fact.object) == (FactCategory.INSTRUCTION, order)


def test_what_is_to_be_remembered_weighs_more() -> None:
    [asked] = facts("Remember that I prefer window seats.")
    [told] = facts("I prefer window seats.")
    assert (asked.text, asked.predicate) == (told.text, "prefers")
    assert asked.importance > told.importance
    [other] = facts("Remember that the spare key is under my blue pot.", speaker="")
    assert other.text == "The user asked to remember: the spare key is under their blue pot"


def test_a_promise_to_somebody_keeps_its_words() -> None:
    [fact] = facts("I'll bring you a new jar in August.", speaker="Owen")
    assert fact.text == 'Owen said: "I\'ll bring you a new jar in August" (2026-08)'
    assert facts("I'll bring you a new jar in August.", speaker="") == []


@pytest.mark.parametrize(
    "said",
    [
        "I'm probably moving to Oslo.",
        "I might be moving to Oslo.",
        "Maybe I live in Oslo next year.",
        "Tom thinks I live in Oslo.",
        "My sister says I love olives.",
        "People claim that I work at Nova.",
        "If I moved to Oslo, I would ski.",
        "I think I'm allergic to nuts.",
        "I wish I had a dog.",
        "Imagine I lived in Oslo.",
        "I would live in Oslo.",
        "Do I live in Oslo?",
        "She asked whether I live in Oslo.",
        "I don't know if I live in Oslo.",
    ],
)
def test_spec_3_2_what_is_not_stated_gives_no_fact(said: str) -> None:
    assert facts(said) == []


@pytest.mark.parametrize(
    ("said", "texts"),
    [
        ("lives in Leuven now", []),
        ("I live in Leuven now, boxes still everywhere.", ["Nadia lives in Leuven"]),
        ("I live in Leuven, but Tom thinks I live in Rome.", ["Nadia lives in Leuven"]),
        ("I'm not allergic to peanuts after all.", ["Nadia is not allergic to peanuts"]),
        ("I moved to Ghent because I work at Nova.", ["Nadia moved to Ghent", "Nadia works at Nova"]),
        ("Moved to Ghent last month!", ["Nadia moved to Ghent last month (2026-02)"]),
        ("Allergic to nuts.", ["Nadia is allergic to nuts"]),
        ("I don't play the cello anymore.", ["Nadia does not play the cello anymore"]),
    ],
)
def test_spec_3_2_a_clause_is_cut_where_it_ends(said: str, texts: list[str]) -> None:
    assert [fact.text for fact in facts(said)] == texts


def test_speakers_without_a_name_are_the_user() -> None:
    [fact] = facts("I live in Lisbon.", speaker="  ")
    assert (fact.text, fact.subject) == ("The user lives in Lisbon", "The user")


def test_only_people_are_read_unless_set_otherwise() -> None:
    turn = source("I live in Lisbon.", role=MessageRole.ASSISTANT)
    assert facts_of(turn) == []
    settings = ExtractionSettings(roles=frozenset({MessageRole.ASSISTANT}))
    assert len(facts_of(turn, settings)) == 1


def test_lists_of_a_user_are_read_and_code_is_not() -> None:
    text = "About me:\n1. I am vegan\n2. I live in Ghent\n```python\n# I live in Rome\n```"
    assert triples(text) == [("Nadia", "follows_diet", "vegan"), ("Nadia", "lives_in", "Ghent")]


def test_facts_of_one_turn_are_bounded() -> None:
    text = " ".join(f"I love number {i} tea." for i in range(100))
    assert len(facts(text)) == ExtractionSettings().facts_per_turn_max


@pytest.mark.parametrize(
    "unit",
    ["I ", "and I ", "my sister ", "really ", "a, ", '"', "`", "I'm a very ", "on Friday ", "A.", "not ", "if ", "1. "],
)
def test_time_is_linear_in_length(unit: str) -> None:
    """A pattern that backtracks without bound would take seconds for these."""
    extractor = ParsedFactExtractor(InProcessParser())
    turn = source((unit * 8_000)[:8_000])
    parsed = pipeline().parse(extractor.texts_of(turn))
    started = time.process_time()
    extractor.facts_of(turn, parsed)
    assert time.process_time() - started < 1.0


async def test_batches_do_not_change_what_is_found() -> None:
    sources = [source(text) for text in ("I live in Oslo.", "Hello!", "I play the cello.") * 20]
    extractor = ParsedFactExtractor(InProcessParser())
    together = await extractor.extract(sources)
    assert together == [(await extractor.extract([one]))[0] for one in sources]


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("Let's do a role-play: I'm a farmer. I have three dogs.", []),
        ("I love Mondays. Not.", []),
        ("In my novel I live in Rome and I work as a spy.", []),
        ("I practically live at the gym.", []),
        ("Let's pretend I'm a pilot. Seriously now, I live in Leeds.", [("Nadia", "lives_in", "Leeds")]),
        ("My role-play group meets on Fridays. I have two dogs.", [("Nadia", "has_pet", "two dogs")]),
        ("After last night's match I'm about 95 years old, send help.", []),
        ("After that hill I'm 95 years old.", []),
        ("Slept in a field, i am now 112 years old.", []),
        ("I feel 95 today.", []),
        ("I moved here after school and I'm 34 years old.", [("Nadia", "age", "34")]),
        (
            'Look what came: "Hello. I live in Leeds now. Bye." I have two dogs.',
            [("Nadia", "has_pet", "two dogs")],
        ),
    ],
)
def test_spec_3_4_what_is_played_or_taken_back_gives_no_fact(said: str, found: list[tuple[str, str, str]]) -> None:
    assert triples(said) == found
