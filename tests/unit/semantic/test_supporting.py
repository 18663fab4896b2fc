"""Which statements support a fact that they are not of."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from services.common.owners import InteractionId, UserId
from services.common.scope import GLOBAL_SCOPE
from services.semantic.config import EvidenceSettings
from services.semantic.facts.evidence import derived_fact, fade_time
from services.semantic.facts.model import FactId, FactRecord, FactStatus, SimilarFact, Statement, StatementId, Support
from services.semantic.facts.supporting import Entered, says_the_same
from tests.contract.fact_samples import DAY_ONE, likes, said, vector

PAIRS = Path(__file__).parents[1] / "common" / "values" / "pairs.jsonl"
SETTINGS = EvidenceSettings()


def entered(text: str, *, predicate: str = "", valid_from: datetime | None = None) -> Entered:
    draft = replace(likes("x"), text=text, predicate=predicate, valid_from=valid_from)
    statement = Statement(StatementId("s"), DAY_ONE, draft, ())
    return Entered(FactId("f"), statement, GLOBAL_SCOPE, vector(text))


def test_spec_3_4_only_what_the_value_guard_finds_the_same_supports() -> None:
    pairs = [json.loads(line) for line in PAIRS.read_text("utf-8").splitlines()]
    found = [pair for pair in pairs if says_the_same(entered(pair["b"]), SimilarFact(FactId("g"), pair["a"], "", None))]
    assert {pair["relation"] for pair in found} == {"same"}
    assert len(found) >= 60  # of 66; the others cannot be read


@pytest.mark.parametrize(
    ("predicate", "other", "is_support"),
    [("has", "has", True), ("has", "", True), ("likes", "dislikes", False), ("allergic_to", "not_allergic_to", False)],
)
def test_spec_3_4_facts_of_another_slot_are_not_supported(predicate: str, other: str, is_support: bool) -> None:
    statement = entered("Ann has twelve chairs", predicate=predicate)
    assert says_the_same(statement, SimilarFact(FactId("g"), "Ann has a dozen chairs", other, None)) is is_support


def test_spec_3_4_what_happened_on_another_day_is_not_supported() -> None:
    day = datetime(2026, 3, 1, tzinfo=UTC)
    statement = entered("Ann bought twelve chairs", valid_from=day)
    for start, is_support in ((day, True), (None, True), (day + timedelta(days=1), False)):
        fact = SimilarFact(FactId("g"), "Ann bought a dozen chairs", "", start)
        assert says_the_same(statement, fact) is is_support


def record(*statements: Statement, supports: tuple[Support, ...] = ()) -> FactRecord:
    return FactRecord(FactId("f"), b"i", b"t", None, statements, GLOBAL_SCOPE, supports=supports)


def support(day: float, number: int = 9_001) -> Support:
    moment = DAY_ONE + timedelta(days=day)
    return Support(InteractionId(str(uuid.UUID(int=number))), moment, moment)


def test_spec_3_4_each_supporting_episode_adds_to_the_confidence_once() -> None:
    first = said(likes("tea"))
    own = Support(first.interaction_ids[0], DAY_ONE + timedelta(days=9), DAY_ONE)
    known = record(first, supports=(support(1), support(2, 9_002), own))
    fact = derived_fact(known, (), (), user_id=UserId("ann"), settings=SETTINGS)
    assert fact.confidence == pytest.approx(1 - 0.2 * 0.95**2)
    assert (fact.evidence_count, fact.status) == (3, FactStatus.STABLE)
    assert fact.last_confirmed_time == DAY_ONE + timedelta(days=2)
    assert fact.derived_from == first.interaction_ids


def test_spec_3_4_support_puts_the_fading_off() -> None:
    statement = said(replace(likes("tea"), importance=0.5))

    def fades(one: FactRecord) -> datetime:
        found = fade_time(one, derived_fact(one, (), (), user_id=UserId("ann"), settings=SETTINGS), SETTINGS)
        assert found is not None
        return found

    assert fades(record(statement, supports=(support(30),))) - fades(record(statement)) > timedelta(days=30)


def test_spec_3_5_what_has_ended_gets_no_support_and_a_correction_begins_anew() -> None:
    against = said(likes("coffee"), day=1)
    ended = derived_fact(
        record(said(likes("tea")), supports=(support(2),)), [against], (), user_id=UserId("ann"), settings=SETTINGS
    )
    assert ended.confidence == pytest.approx(0.8)
    assert ended.valid_to_time == DAY_ONE + timedelta(days=1)
    correction = replace(said(likes("green tea"), day=3), is_correction=True)
    corrected = derived_fact(
        record(said(likes("tea")), correction, supports=(support(2), support(4, 9_002))),
        (),
        (),
        user_id=UserId("ann"),
        settings=SETTINGS,
    )
    assert corrected.confidence == pytest.approx(0.81)
