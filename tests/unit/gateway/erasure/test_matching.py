"""Which texts a query in plain words means."""

from __future__ import annotations

import pytest

from services.gateway.erasure.matching import Rules, choose, reason_of
from services.gateway.erasure.queries import read, read_all
from services.gateway.erasure.roles import name_of_role
from services.gateway.erasure.statements import Statement, is_covered, wrong_statements
from services.gateway.erasure.wording import Chosen
from tests.unit.gateway.erasure.forget_cases import CASES, Texts
from tests.unit.gateway.erasure.forget_wordings import WORDINGS

ALL = [*CASES, *WORDINGS]


@pytest.mark.parametrize(("query", "texts"), ALL, ids=[f"{i} {query}" for i, (query, _) in enumerate(ALL)])
def test_spec_3_13_a_query_means_what_names_its_subject(query: str, texts: Texts) -> None:
    chosen = choose(read(query), list(texts), [similarity for similarity, _ in texts.values()], Rules())
    assert [list(texts)[index] for index in chosen] == [text for text, (_, is_meant) in texts.items() if is_meant]


@pytest.mark.parametrize(
    "query", ["everything", "all my data", "forget everything about me", "please forget", "?!", "it"]
)
def test_spec_3_13_a_query_that_names_nothing_chooses_nothing(query: str) -> None:
    wanted = read(query)
    assert wanted.is_empty
    assert choose(wanted, ["I live in Ulm.", "I like tea."], [0.9, 0.9], Rules()) == []


def test_spec_3_13_similarity_alone_chooses_few() -> None:
    rules = Rules(alone_max=3)
    assert len(choose(read("my religion"), ["I hum."] * 50, [0.6] * 50, rules)) == 3


@pytest.mark.parametrize(
    ("statement", "said", "is_whole"),
    [
        ("The van is from 2014.", "The van is from 2016.", True),
        ("The van is a grey Transit from 2014 with 180,000 km.", "The van is from 2014. The van is from 2016.", False),
        ("Freya Lund starts on 2 June as data analyst.", "Freya Lund starts on 16 June as data analyst.", True),
        ("Zoe's wedding is on 7 June in Bath, and Rob does the catering.", "Zoe's wedding is in Bath", False),
    ],
)
def test_spec_3_12_a_statement_that_says_more_is_wrong_in_part(statement: str, said: str, *, is_whole: bool) -> None:
    assert is_covered(statement, said) is is_whole


def test_spec_3_12_what_has_all_words_is_wrong_and_what_is_right_already_is_not() -> None:
    texts = ["Zoe's wedding is on 7 June in Bath.", "Zoe's hen party is in Bath.", "Zoe's wedding is in Bristol."]
    statements = [Statement(turn, 0, text) for turn, text in enumerate(texts)]
    wrong = wrong_statements(
        "Zoe's wedding is in Bath", "Zoe's wedding is in Bristol.", statements, [0.76, 0.69, 0.8], Rules()
    )
    assert [one.turn for one in wrong] == [0]


def test_spec_3_12_another_person_is_never_corrected() -> None:
    statements = [Statement(0, 0, "Tom resides in Rome."), Statement(1, 0, "Ada resides in Rome.")]
    wrong = wrong_statements("Ada lives in Rome", "Ada lives in Bari.", statements, [0.8, 0.8], Rules())
    assert [one.turn for one in wrong] == [1]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("my debts", "I owe my landlord 900."),
        ("my wages", "I earn 19 an hour."),
        ("my faith", "I'm a Sikh."),
        ("my illness", "I was diagnosed with gout."),
        ("my age", "I turned 52."),
        ("my debts at the bank", "i owe 3200 to the bank from the van thing"),
        ("my debts at the bank", "paying it off 150 a month to the bank"),
        ("my debts", "still owe 400 on the card"),
        ("my debts", "paid back 300 so far"),
        ("my debts", "owing 300 to the dentist"),
        ("my debts", "and now paying off the sofa till june"),
        ("my debts", "I'm paying the van off."),
        ("my job application", "applied at Siemens"),
        ("the quarrel with Ida", "I fell out with Ida in May."),
        ("the lawsuit", "We sued the roofer."),
    ],
)
def test_spec_3_13_a_private_matter_is_found_in_other_words(query: str, text: str) -> None:
    others = ["Ida likes plums.", "The roofer has a van."]
    assert choose(read(query), [text, *others], [0.3, 0.1, 0.1], Rules()) == [0]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("my debts", "My brother owes his landlord 900."),
        ("my faith", "I photographed Sikh temples."),
        ("my shoe size", "My sister's shoe size is 41."),
        ("my illness", "The gout of the king is in every book."),
        ("my age", "I'm 52 minutes late."),
        ("my debts at the bank", "meet saturday? on the bench by the river bank"),
        ("my debts", "tom owes 30 to the bar"),
        ("my debts", "paying it off takes years, they say"),
        ("my debts", "paying it off yet?"),
        ("my debts", "I practised a lot, and it's paying off."),
        ("my job application", "applied physics is a hard course"),
        ("my job application", "applied the paint to the fence"),
    ],
)
def test_spec_3_13_the_matter_of_somebody_else_stays(query: str, text: str) -> None:
    assert choose(read(query), [text], [0.35], Rules()) == []


def test_spec_3_13_what_is_of_a_relative_goes_by_the_relative() -> None:
    texts = ["The divorce of my brother is costly.", "My neighbour's divorce took a year.", "My brother plays chess."]
    assert choose(read("my brother's divorce"), texts, [0.7, 0.5, 0.4], Rules()) == [0]


def test_spec_3_13_a_name_in_lower_case_is_seen_by_its_relation() -> None:
    texts = ["my stepdad tom is a baker", "tom sings", "my uncle tommy is a baker too"]
    assert choose(read("tom, ida's stepdad"), texts, [0.6, 0.3, 0.3], Rules()) == [0, 1]
    assert choose(read("my friend tom"), texts, [0.6, 0.3, 0.3], Rules()) == [0, 1]


def test_spec_3_13_who_somebody_is_may_follow_the_name() -> None:
    texts = ["Mr Reed lives in Ripon.", "Mr Reed has the key.", "The reed grows by the pond."]
    assert choose(read("Mr Reed, our former gardener"), texts, [0.4, 0.3, 0.1], Rules()) == [0, 1]


def test_spec_3_12_another_thing_of_the_kind_is_not_wrong() -> None:
    texts = ["The hut has two beds and costs 80 a night.", "The other hut costs 80 a night as well."]
    statements = [Statement(number, 0, text) for number, text in enumerate(texts)]
    found = wrong_statements("The hut costs 80 a night", "The hut costs 90.", statements, [0.8, 0.8], Rules())
    assert [one.turn for one in found] == [0]


def test_spec_3_13_matters_are_found_in_the_log_by_their_words() -> None:
    assert {"owe", "overdraft"} <= read("my debts").told_terms
    assert not read("my religion").told_terms & {"the", "member"}
    assert not read("the piano").told_terms


def test_spec_3_13_what_the_speaker_told_somebody_of_goes_with_it() -> None:
    texts = [
        "I have diabetes type 2.",
        "I told my mother about the diabetes, she cried.",
        "I asked my doctor about my diabetes.",
        "Vera: I told my boss about the diabetes.",
        "My mother has diabetes.",
        "My mother told me about the diabetes.",
        "I told my boss about the diabetes of my aunt.",
        "I told my boss about my sister's diabetes.",
        "My sister told me about her diabetes.",
    ]
    for query in ("my diabetes", "everything about my diabetes"):
        assert choose(read(query), texts, [0.5] * len(texts), Rules()) == [0, 1, 2, 3]


def test_spec_3_13_what_is_called_known_goes_with_what_is_called_own() -> None:
    texts = [
        "I have a stammer.",
        "The stammer gets worse on the phone.",
        "My mother had a stammer.",
        "The hammer is red.",
    ]
    assert choose(read("my stammer"), texts, [0.8, 0.7, 0.6, 0.2], Rules()) == [0, 1]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("what I told you about the divorce", "The custody hearing is on 12 March."),
        ("all the stuff on my knee", "Physio is every Thursday at 5."),
        ("my pregnancy", "The midwife comes on Friday."),
        ("the job hunt", "I sent my CV to three agencies."),
        ("anything about money", "The rent went up to 1,150."),
        ("our house move", "The removal van is booked for seven."),
        ("my debts", "I'm paying back my brother at 50 a month."),
        ("the affair", "I've cheated on my husband."),
        ("everything about my therapy", "In our last session we talked about my father."),
    ],
)
def test_spec_3_13_a_matter_is_told_in_the_words_of_its_field(query: str, text: str) -> None:
    others = ["The cat sleeps.", "The roofer has a van."]
    assert choose(read(query), [text, *others], [0.11, 0.05, 0.05], Rules()) == [0]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("the divorce", "Tom has a custody hearing on 12 March."),
        ("the divorce", "Her custody hearing is on 12 March."),
        ("my knee", "My brother is on crutches."),
        ("my knee", "A physio earns little."),
        ("my brother's divorce", "I separated from Ida in May."),
        ("my debts", "My brother is paying back my mother."),
        ("my pregnancy", "I'm expecting a parcel from Leeds."),
        ("my drinking", "I drink my coffee black."),
        ("my religion", "I teach religion at the school."),
        ("my finances", "We had lunch at the Pension Adler."),
        ("my finances", "My nan gets a pension."),
        ("the affair", "Foreign affairs was my subject."),
        ("the treasure hunt", "I sent my CV to three agencies."),
        ("my back", "I'll be back on Monday."),
    ],
)
def test_spec_3_13_words_of_a_field_about_another_or_in_another_sense_stay(query: str, text: str) -> None:
    assert choose(read(query), [text], [0.36], Rules()) == []


def test_spec_3_13_where_the_speaker_has_one_another_and_the_kind_stay() -> None:
    texts = ["Our dog is a beagle.", "The neighbour's dog barks.", "I like hot dogs.", "The dog ate a shoe."]
    assert choose(read("everything to do with the dog"), texts, [0.5, 0.3, 0.3, 0.4], Rules()) == [0, 3]
    texts = ["We're getting married in May.", "My parents' wedding photo hangs in the hall."]
    assert choose(read("the wedding plans"), texts, [0.5, 0.5], Rules()) == [0]


def test_spec_3_13_a_measure_named_after_a_thing_is_not_the_thing() -> None:
    texts = ["My knee hurts.", "I bought knee-high boots.", "It's my knee that hurts."]
    assert choose(read("all the stuff on my knee"), texts, [0.6, 0.4, 0.6], Rules()) == [0, 2]


def test_spec_3_13_a_query_about_a_relative_does_not_mean_another_relative() -> None:
    texts = ["Mum has the flu.", "My dad was in hospital last week."]
    assert choose(read("what I said about my mum's illness"), texts, [0.5, 0.5], Rules()) == [0]


def test_spec_3_13_what_belongs_to_a_relative_is_not_sought_by_words_of_own_matters() -> None:
    assert not read("my brother's divorce").told_terms
    assert {"custody", "alimony"} <= read("my divorce").told_terms


@pytest.mark.parametrize(
    ("query", "text", "is_meant"),
    [
        ("my goddaughter May", "May plays the cello.", True),
        ("my goddaughter May", "In May we go to Brittany.", False),
        ("my goddaughter May", "The rent is due on 3 May.", False),
        ("my sister-in-law Summer", "Last summer was wet.", False),
        ("the woman Iris from yoga", "iris gave me her number", True),
        ("the woman Iris from yoga", "my iris scan at the airport failed", False),
    ],
)
def test_spec_3_13_a_name_is_no_month_and_no_common_noun(query: str, text: str, *, is_meant: bool) -> None:
    assert (choose(read(query), [text], [0.3], Rules()) == [0]) is is_meant


def test_spec_3_13_a_query_for_a_conversation_means_all_of_it_and_leaving_somebody_is_not_them() -> None:
    wanted = read("our conversation about leaving Stefan")
    assert wanted.is_talk
    assert choose(wanted, ["I'm thinking of leaving Stefan.", "Stefan likes rye bread."], [0.7, 0.4], Rules()) == [0]
    assert not read("my conversation class").is_talk


def test_a_word_that_only_goes_with_a_topic_is_not_counted() -> None:
    texts = ["I'm on a waiting list for a new kidney.", "My husband likes kidney pie."]
    assert choose(read("everything about my kidney trouble"), texts, [0.6, 0.5], Rules()) == [0]


@pytest.mark.parametrize(
    ("query", "texts", "name"),
    [
        (
            "everything about my brother-in-law",
            ["My brother-in-law Ernst drinks.", "My brother Ernie lives in Ulm."],
            "ernst",
        ),
        ("my physio", ["My physio is called Rose.", "The rose has blackfly."], "rose"),
        ("my landlord", ["Mr Pike, my landlord, never answers."], "pike"),
        ("my landlord", ["Pike is my landlord."], "pike"),
        ("my therapist", ["My therapist's name is Paul Stern; I see him on Thursdays."], "paul"),
        ("my therapist", ["My therapist's name is Dr Stern."], "stern"),
        ("my therapist", ["My therapist's car is a Ford.", "My therapist's name escapes me."], None),
        ("my sister", ["My sister Pia is here.", "My sister Ute is there."], None),
        ("my brother's wife", ["My wife Eva sings."], None),
    ],
)
def test_spec_3_13_a_relation_means_the_one_person_who_is_named_by_it(
    query: str, texts: list[str], name: str | None
) -> None:
    wanted = name_of_role(read(query), texts)
    assert (wanted.names[0][0] if wanted is not None else None) == name


def test_a_note_with_its_speaker_names_nobody_by_a_relation() -> None:
    texts = ["Wilma: My brother-in-law Ernst drinks too much."]
    wanted = name_of_role(read("my brother-in-law"), texts)
    assert wanted is not None
    assert wanted.names == (("ernst",),)


@pytest.mark.parametrize(
    ("query", "text", "reason"),
    [
        ("Frank Osei", "Frank's desk is by the plotter.", Chosen.NAME),
        ("my cholesterol values", "Cholesterol again: 5.9.", Chosen.WORDS),
        ("my debts", "I owe the bank 900.", Chosen.MATTER),
        ("my stammer", "Talking is hard.", Chosen.SIMILARITY),
    ],
)
def test_the_reason_says_why_a_text_is_meant(query: str, text: str, reason: Chosen) -> None:
    assert reason_of(read(query), text) is reason


@pytest.mark.parametrize(
    "query",
    ["the row between my boss and the union", "my friend Leo and the boat", "my tax return", "Ana and my wedding"],
)
def test_spec_3_13_a_query_of_one_thing_is_read_as_a_whole(query: str) -> None:
    assert [text for text, _ in read_all(query)] == [query]


def test_spec_3_13_a_query_may_name_several_things() -> None:
    several = read_all("my betting losses and the betting debt")
    assert [text for text, _ in several] == ["my betting losses", "the betting debt"]
    assert len(read_all(" and ".join(f"my thing{n} topic" for n in range(9)))) == 6


def test_spec_3_12_a_query_names_the_speaker_where_a_statement_says_my_or_nothing() -> None:
    texts = [
        ("The wedding is in the mango barn on 14 June, buffet, 120 guests and no alcohol.", "Lakshmi"),
        ("My brother's wedding has 120 guests and one hundred opinions already.", "Lakshmi"),
        ("The wedding has 120 guests.", "Ravi"),
    ]
    statements = [Statement(turn, 0, text, speaker) for turn, (text, speaker) in enumerate(texts)]
    wrong = wrong_statements(
        "Lakshmi's wedding has 120 guests", "Lakshmi's wedding has 140 guests.", statements, [0.5, 0.6, 0.5], Rules()
    )
    assert [one.turn for one in wrong] == [0]


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("my betting and what I owe the bookmaker", ["my betting", "I owe the bookmaker"]),
        ("our wedding and how much I spent on the ring", ["our wedding", "I spent on the ring"]),
        ("my knee and what I paid for it", ["my knee and what I paid for it"]),
    ],
)
def test_spec_3_13_what_the_speaker_does_may_be_a_thing_of_its_own(query: str, parts: list[str]) -> None:
    assert [part for part, _ in read_all(query)] == parts
