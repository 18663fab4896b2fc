"""Reading of what a request says about its task and about ranking."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mneme.gateway.v1 import context_pb2, recall_pb2
from services.common.errors import InvalidArgument, Reason
from services.gateway.journal.model import Tier
from services.gateway.recall.choices import Profile, ScoringChoice, TaskType
from services.gateway.recall.model import RecallQuery
from services.gateway.recall.ranking.profiles import ProfileSettings, weight_names
from services.gateway.requests import RequestLimits, RequestReader
from services.gateway.tokens import ConsistencyTokens

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TOKENS = ConsistencyTokens(b"s" * 32)
READER = RequestReader(RequestLimits(), TOKENS)


def recall(reader: RequestReader = READER, **fields: Any) -> RecallQuery:
    return reader.recall(recall_pb2.RecallRequest(**{"user_id": "ada", "query": "what?", **fields}), "acme", now=NOW)


def context(**fields: Any) -> RecallQuery:
    request = context_pb2.BuildContextRequest(**{"user_id": "ada", "query": "what?", **fields})
    return READER.build_context(request, "acme", now=NOW)[0]


def wrong(**fields: Any) -> tuple[Reason, list[str]]:
    found = []
    for read in (recall, context):
        with pytest.raises(InvalidArgument) as caught:
            read(**fields)
        found.append((caught.value.reason, sorted(violation.field_path for violation in caught.value.violations)))
    assert found[0] == found[1]
    return found[0]


def test_spec_5_6_without_a_choice_the_configured_profile_ranks() -> None:
    assert recall().scoring == context().scoring == ScoringChoice(Profile.EVIDENCE)
    chosen = replace(RequestLimits(), profiles=ProfileSettings(default=Profile.NARRATIVE))
    assert recall(RequestReader(chosen, TOKENS)).scoring == ScoringChoice(Profile.NARRATIVE)


@pytest.mark.parametrize("profile", Profile)
def test_spec_5_6_every_profile_takes_its_weights(profile: Profile) -> None:
    weights = dict.fromkeys(weight_names(profile), 0.5)
    scoring = recall_pb2.Scoring(profile=profile.value, weights=weights)
    assert (
        recall(scoring=scoring).scoring
        == context(scoring=scoring).scoring
        == ScoringChoice(profile, weights, is_named=True)
    )


def test_spec_5_6_weights_alone_are_those_of_the_configured_profile() -> None:
    assert recall(scoring=recall_pb2.Scoring(weights={"dense": 2.0})).scoring.weights == {"dense": 2.0}
    assert wrong(scoring=recall_pb2.Scoring(weights={"recency": 2.0})) == (Reason.INVALID_FIELD, ["scoring.weights"])


@pytest.mark.parametrize("weight", [-0.1, math.nan, math.inf, -math.inf, 1_000.1])
def test_spec_5_6_a_weight_is_a_number_of_a_range(weight: float) -> None:
    scoring = recall_pb2.Scoring(
        profile="narrative", weights={"recency": weight, "similarity": 1_000.0, "importance": 0.0}
    )
    assert wrong(scoring=scoring) == (Reason.INVALID_FIELD, ["scoring.weights[recency]"])


@pytest.mark.parametrize("profile", ["best", "Evidence", " evidence"])
def test_spec_5_6_an_unknown_profile_is_refused(profile: str) -> None:
    assert wrong(scoring=recall_pb2.Scoring(profile=profile)) == (Reason.INVALID_FIELD, ["scoring.profile"])


@given(name=st.text(max_size=20), weight=st.floats())
def test_spec_5_6_any_weight_is_taken_or_refused_by_its_path(name: str, weight: float) -> None:
    scoring = recall_pb2.Scoring(profile="assistant", weights={name: weight})
    is_good = name in weight_names(Profile.ASSISTANT) and 0.0 <= weight <= 1_000.0
    if is_good:
        assert recall(scoring=scoring).scoring.weights == {name: weight}
    else:
        assert wrong(scoring=scoring)[1][0].startswith("scoring.weights")


def test_spec_5_2_a_task_type_is_read() -> None:
    assert recall().task_type is None
    assert not recall().are_tiers_given
    for read in (recall, context):
        assert read(task_type=recall_pb2.TASK_TYPE_DEBUGGING).task_type is TaskType.DEBUGGING
    assert recall(task_type=recall_pb2.TASK_TYPE_FACTUAL, tiers=[int(Tier.EPISODIC)]).are_tiers_given
    on_the_wire = {value.number: value.name for value in recall_pb2.TaskType.DESCRIPTOR.values if value.number}
    assert on_the_wire == {int(task_type): f"TASK_TYPE_{task_type.name}" for task_type in TaskType}


def test_spec_5_2_an_unknown_task_type_is_refused() -> None:
    assert wrong(task_type=99) == (Reason.UNKNOWN_ENUM_VALUE, ["task_type"])
