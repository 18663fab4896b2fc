"""How a fact's state follows from what was said."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import timedelta

import pytest

from services.common.scope import GLOBAL_SCOPE, Scope, ScopeLevel
from services.semantic.config import EvidenceSettings
from services.semantic.facts.evidence import confidence_at
from services.semantic.facts.identity import exclude_each_other, keys_of, normalised
from services.semantic.facts.model import Fact, FactDraft, FactId, FactStatus, Statement, VersionReason
from services.semantic.facts.working_set import FactWorkingSet
from services.semantic.supersession.model import ClearPolicy
from tests.contract.fact_samples import ANN, DAY_ONE, MODEL, likes, lives_in, new_id, said, vector


def derived(*statements: Statement, settings: EvidenceSettings | None = None) -> dict[str, Fact]:
    """The facts of the statements, by object."""
    working_set = FactWorkingSet(ANN.user_id, settings or EvidenceSettings(), new_id=new_id, model=MODEL)
    for statement in statements:
        working_set.enter(statement, GLOBAL_SCOPE, vector(statement.draft.text))
    return {change.fact.object or change.fact.text: change.fact for change in working_set.changes()}


def works_at(company: str, predicate: str = "works_at") -> FactDraft:
    return replace(lives_in(company), text=f"Ann {predicate} {company}", predicate=predicate)


def test_spec_3_4_the_confidence_with_decay_follows_from_when_a_fact_fades() -> None:
    settings = EvidenceSettings()
    fact = derived(said(replace(likes("tea"), importance=0.3)), said(replace(likes("tea"), importance=0.3), day=5))[
        "tea"
    ]
    told = DAY_ONE + timedelta(days=5)
    for days in (0, 20, 90, 400):
        expected = fact.confidence * math.exp(-0.01 * days)
        assert confidence_at(fact, told + timedelta(days=days), settings) == pytest.approx(expected)
    assert confidence_at(fact, told - timedelta(days=9_999), settings) == fact.confidence
    lasting = derived(said(replace(likes("tea"), importance=0.9)))["tea"]
    assert confidence_at(lasting, told + timedelta(days=9_999), settings) == lasting.confidence


def test_spec_3_4_a_confirmation_adds_to_confidence() -> None:
    fact = derived(*(said(likes("tea"), day=day) for day in range(3)))["tea"]
    assert fact.confidence == pytest.approx(1 - 0.2 * 0.95**2)
    assert [version.reason for version in fact.versions] == [VersionReason.CONFIRMED, VersionReason.CONFIRMED]
    assert [version.confidence for version in fact.versions] == [0.8, pytest.approx(1 - 0.2 * 0.95)]
    assert fact.versions[1].replaced_time == DAY_ONE + timedelta(days=2)
    assert (fact.evidence_count, fact.status) == (3, FactStatus.STABLE)


@pytest.mark.parametrize(("age", "day", "is_ended"), [("95", 60, False), ("35", 300, True), ("22", 60, False)])
def test_spec_3_5_an_age_ends_with_one_that_can_have_come_since(age: str, day: int, *, is_ended: bool) -> None:
    first, second = (replace(lives_in(value), text=f"Ann is {value}", predicate="age") for value in ("34", age))
    facts = derived(said(first), said(second, day=day))
    assert (facts["34"].valid_to_time is not None) is is_ended
    assert facts["34"].contradictions == (facts[age].fact_id,)


def test_a_surer_statement_raises_confidence_to_its_own() -> None:
    fact = derived(said(likes("tea", confidence=0.4)), said(likes("tea", confidence=0.9), day=1))["tea"]
    assert fact.confidence == pytest.approx(0.9 + 0.05 * 0.1)


def test_the_latest_wording_is_the_text() -> None:
    reworded = replace(likes("tea"), text="Ann is fond of tea")
    fact = derived(said(reworded, day=2), said(likes("tea"), day=1))["tea"]
    assert fact.text == "Ann is fond of tea"
    assert fact.versions[0].text == "Ann likes tea"


def test_a_later_value_ends_the_earlier_ones_validity() -> None:
    facts = derived(said(lives_in("Leeds")), said(lives_in("Bristol"), day=9))
    leeds, bristol = facts["Leeds"], facts["Bristol"]
    assert leeds.valid_to_time == DAY_ONE + timedelta(days=9)
    assert bristol.valid_to_time is None
    assert leeds.contradictions == (bristol.fact_id,)
    assert bristol.contradictions == (leeds.fact_id,)
    assert [version.reason for version in leeds.versions] == [VersionReason.SUPERSEDED]
    assert leeds.text == "Ann lives in Leeds"


def test_spec_3_5_with_reduce_a_believed_value_goes_on_beside_the_later_one() -> None:
    settings = EvidenceSettings(clear_policy=ClearPolicy.REDUCE)
    facts = derived(said(lives_in("Leeds")), said(lives_in("Bristol"), day=9), settings=settings)
    leeds, bristol = facts["Leeds"], facts["Bristol"]
    assert (leeds.valid_to_time, bristol.valid_to_time, leeds.versions) == (None, None, ())
    assert (leeds.contradictions, bristol.contradictions) == ((bristol.fact_id,), (leeds.fact_id,))
    assert (leeds.confidence, bristol.confidence) == (0.8, 0.8), "they are halved when they are read"


def test_spec_3_5_with_reduce_a_value_that_is_hardly_believed_ends() -> None:
    settings = EvidenceSettings(clear_policy=ClearPolicy.REDUCE)
    facts = derived(said(lives_in("Leeds", confidence=0.4)), said(lives_in("Bristol"), day=9), settings=settings)
    assert facts["Leeds"].valid_to_time == DAY_ONE + timedelta(days=9)


def test_a_value_that_is_told_again_holds_again() -> None:
    facts = derived(said(lives_in("Leeds")), said(lives_in("Bristol"), day=1), said(lives_in("Leeds"), day=2))
    assert facts["Leeds"].valid_to_time is None
    assert facts["Bristol"].valid_to_time == DAY_ONE + timedelta(days=2)
    assert [version.reason for version in facts["Leeds"].versions] == [
        VersionReason.SUPERSEDED,
        VersionReason.CONFIRMED,
    ]


def test_spec_3_5_a_correction_of_a_fact_that_ended_changes_nothing_of_its_successor() -> None:
    ended = replace(lives_in("Leeds"), valid_to=DAY_ONE + timedelta(days=9), importance=0.6)
    correction = replace(said(ended, day=20), is_correction=True)
    facts = derived(said(lives_in("Leeds")), said(lives_in("Bristol"), day=9))
    bristol = replace(facts["Bristol"], fact_id=FactId(""), contradictions=(), derived_from=())
    facts = derived(said(lives_in("Leeds")), said(lives_in("Bristol"), day=9), correction)
    assert facts["Leeds"].valid_to_time == DAY_ONE + timedelta(days=9)
    assert replace(facts["Bristol"], fact_id=FactId(""), contradictions=(), derived_from=()) == bristol


def test_spec_3_5_a_correction_that_says_that_a_fact_holds_ends_its_successor_without_a_change_of_its_words() -> None:
    correction = replace(said(lives_in("Leeds"), day=20), is_correction=True)
    facts = derived(said(lives_in("Leeds")), said(lives_in("Bristol"), day=9), correction)
    assert facts["Leeds"].valid_to_time is None
    assert (facts["Bristol"].text, facts["Bristol"].valid_to_time) == (
        "Ann lives in Bristol",
        DAY_ONE + timedelta(days=20),
    )


def test_spec_3_5_what_was_over_when_it_was_said_ends_nothing() -> None:
    before = replace(lives_in("Leeds"), valid_to=DAY_ONE - timedelta(days=900))
    facts = derived(said(lives_in("Bristol")), said(before, day=3))
    assert facts["Bristol"].valid_to_time is None
    assert facts["Bristol"].contradictions == (facts["Leeds"].fact_id,)


def test_validity_ends_when_the_successor_begins() -> None:
    start = DAY_ONE + timedelta(days=30)
    joins = replace(works_at("Nova", "starts_job"), valid_from=start)
    assert derived(said(works_at("Acme")), said(joins, day=3))["Acme"].valid_to_time == start


def test_doubts_end_nothing() -> None:
    facts = derived(said(lives_in("Leeds")), said(lives_in("Bristol", confidence=0.4), day=1))
    assert facts["Leeds"].valid_to_time is None
    assert facts["Leeds"].contradictions == (facts["Bristol"].fact_id,)


def test_leaving_a_job_ends_that_job_alone() -> None:
    facts = derived(said(works_at("Acme")), said(works_at("Acme ", "left_job"), day=2))
    by_predicate = {fact.predicate: fact for fact in facts.values()}
    assert "Acme" in facts
    assert by_predicate["left_job"].valid_to_time is None
    other = derived(said(works_at("Nova")), said(works_at("Acme", "left_job"), day=2))
    assert other["Nova"].valid_to_time is None


@pytest.mark.parametrize(
    ("one", "other", "excluded"),
    [
        (lives_in("Leeds"), lives_in("Bristol"), True),
        (lives_in("Leeds"), lives_in("Leeds, England"), False),
        (works_at("Acme"), works_at("Nova", "starts_job"), True),
        (works_at("Acme"), works_at("acme", "left_job"), True),
        (works_at("Acme"), works_at("Nova", "left_job"), False),
        (likes("tea"), replace(likes("tea"), predicate="dislikes"), True),
    ],
)
def test_what_excludes_each_other(one: FactDraft, other: FactDraft, excluded: bool) -> None:
    assert exclude_each_other(one, other) is excluded
    assert keys_of(one, GLOBAL_SCOPE).topic == keys_of(other, GLOBAL_SCOPE).topic


def test_other_subjects_and_scopes_have_other_topics() -> None:
    project = Scope(ScopeLevel.PROJECT, "p")
    topics = {
        keys_of(lives_in("Leeds"), GLOBAL_SCOPE).topic,
        keys_of(lives_in("Leeds"), project).topic,
        keys_of(replace(lives_in("Leeds"), subject="Bo"), GLOBAL_SCOPE).topic,
    }
    assert len(topics) == 3
    assert keys_of(works_at("a hospital"), GLOBAL_SCOPE).topic is None


def test_a_statement_without_parts_is_known_by_its_text() -> None:
    plain = replace(likes("tea"), subject="", predicate="", object="")
    assert len(derived(said(plain), said(likes("tea"), day=1))) == 1
    assert len(derived(said(likes("tea")), said(plain, day=1))) == 1
    facts = derived(said(plain), said(likes("tea"), day=1))
    assert facts["tea"].predicate == "likes"


def test_events_of_different_days_are_different() -> None:
    def trip(day: int) -> FactDraft:
        return replace(likes("a trip"), predicate="event", valid_from=DAY_ONE + timedelta(days=day))

    assert keys_of(trip(1), GLOBAL_SCOPE).identity != keys_of(trip(2), GLOBAL_SCOPE).identity
    assert keys_of(trip(1), GLOBAL_SCOPE).identity == keys_of(trip(1), GLOBAL_SCOPE).identity


@pytest.mark.parametrize(
    ("one", "other"), [("The Fox", "fox"), ("their  dog!", "dog"), ("Crumb & Co.", "crumb co"), ("a", "A")]
)
def test_normalised(one: str, other: str) -> None:
    assert normalised(one) == normalised(other)


def test_versions_are_bounded_and_evidence_is_not() -> None:
    settings = EvidenceSettings(versions_max=3)
    working_set = FactWorkingSet(ANN.user_id, settings, new_id=new_id, model=MODEL)
    ids = {working_set.enter(said(likes("tea"), day=day), GLOBAL_SCOPE, vector("Ann likes tea")) for day in range(10)}
    [change] = working_set.changes()
    assert ids == {change.fact.fact_id}
    assert len(change.fact.versions) == 3
    assert working_set.state(change.fact.fact_id).evidence_count == 10


def test_facts_of_one_topic_contradict_their_neighbours_in_time_alone() -> None:
    facts = derived(*(said(lives_in(f"town{day}"), day=day) for day in range(800)))
    assert max(len(fact.contradictions) for fact in facts.values()) == 2
    middle = facts["town400"]
    assert set(middle.contradictions) == {facts["town399"].fact_id, facts["town401"].fact_id}
    assert all(facts[f"town{day}"].valid_to_time == DAY_ONE + timedelta(days=day + 1) for day in range(799))
    assert facts["town799"].valid_to_time is None


def test_derived_from_is_bounded_and_the_count_is_true() -> None:
    settings = EvidenceSettings(derived_from_max=4, statements_max=8)
    working_set = FactWorkingSet(ANN.user_id, settings, new_id=new_id, model=MODEL)
    statements = [said(likes("tea"), day=day) for day in range(20)]
    for statement in statements:
        working_set.enter(statement, GLOBAL_SCOPE, vector("Ann likes tea"))
    [change] = working_set.changes()
    assert change.fact.evidence_count == 20
    assert change.fact.derived_from == tuple(i for s in statements[-4:] for i in s.interaction_ids)
    assert change.fact.first_observed_time == DAY_ONE
