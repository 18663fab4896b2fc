"""Which tiers a task needs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from services.common.embedding.vectors import Vector
from services.common.settings_file import SettingsError, SettingsSource
from services.gateway.journal.model import Tier
from services.gateway.recall.choices import TaskType
from services.gateway.recall.model import RECALL_TIERS, RecallQuery
from services.gateway.recall.question.task_types import UNTOLD, Intent, IntentClassifier
from services.gateway.recall.stages.loadout import ClassifiedUse, Loadout, LoadoutSettings
from tests.support.embedding import HashingEmbedder
from tests.unit.gateway.tiers import NOON

QUERY = RecallQuery("ada", "why does it crash?", 10, NOON, conversation_id="c1")
ANY = np.zeros(64, dtype=np.float32)
NEEDED = {
    TaskType.FACTUAL: {Tier.SEMANTIC},
    TaskType.RECOMMENDATION: {Tier.SEMANTIC, Tier.AGENTIC},
    TaskType.CONVERSATIONAL: {Tier.EPISODIC, Tier.SEMANTIC},
    TaskType.PROCEDURAL: {Tier.AGENTIC, Tier.EPISODIC},
    TaskType.DEBUGGING: {Tier.EPISODIC, Tier.AGENTIC},
    TaskType.GENERAL: {Tier.EPISODIC, Tier.SEMANTIC, Tier.AGENTIC},
}


class _Sure(IntentClassifier):
    """Is as sure of one type as told."""

    def __init__(self, intent: Intent) -> None:
        super().__init__(HashingEmbedder(), examples={TaskType.GENERAL: ("x",)})
        self._intent = intent

    def classify(self, vector: Vector, *, model: str | None = None) -> Intent:
        del vector, model
        return self._intent


def loadout(intent: Intent, use: ClassifiedUse) -> Loadout:
    return Loadout(_Sure(intent), LoadoutSettings(classified=use))


@pytest.mark.parametrize("task_type", TaskType)
def test_spec_5_2_a_given_type_asks_its_tiers_alone(task_type: TaskType) -> None:
    query = Loadout().given(replace(QUERY, task_type=task_type))
    assert set(query.tiers) == {Tier.SESSION, *NEEDED[task_type]}
    assert query.skip_reason == f"not needed for the task type {task_type.name.lower()}"
    assert Loadout()(query, ANY) == (query, Intent(task_type, 1.0, is_given=True))


def test_spec_5_2_tiers_that_the_caller_names_are_asked_whatever_the_type() -> None:
    named = replace(QUERY, task_type=TaskType.FACTUAL, tiers=(Tier.EPISODIC,), are_tiers_given=True)
    assert Loadout().given(named) == named


def test_spec_5_2_without_a_type_nothing_is_skipped_beforehand() -> None:
    assert Loadout().given(QUERY) == QUERY


def test_spec_5_2_a_classified_type_lets_its_tiers_give_more_where_the_service_is_configured_so() -> None:
    intent = Intent(TaskType.FACTUAL, 0.9)
    query, told = loadout(intent, ClassifiedUse.FAVOUR)(QUERY, ANY)
    assert told == intent
    assert query.tiers == RECALL_TIERS
    assert (query.limit_of(Tier.SEMANTIC, 10), query.limit_of(Tier.AGENTIC, 10)) == (15, 10)


def test_spec_5_2_a_classified_type_skips_where_the_service_is_configured_so() -> None:
    query, _ = loadout(Intent(TaskType.FACTUAL, 0.9), ClassifiedUse.SKIP)(QUERY, ANY)
    assert query.tiers == (Tier.SESSION, Tier.SEMANTIC)
    assert query.limit_of(Tier.SEMANTIC, 10) == 10


@pytest.mark.parametrize("use", ClassifiedUse)
@pytest.mark.parametrize("intent", [Intent(TaskType.FACTUAL, 0.69), Intent(TaskType.GENERAL, 0.99), UNTOLD])
def test_spec_5_2_an_unsure_or_general_question_asks_all_alike(intent: Intent, use: ClassifiedUse) -> None:
    assert loadout(intent, use)(QUERY, ANY) == (QUERY, intent)


def test_spec_5_2_a_classified_type_changes_nothing_unless_told_to() -> None:
    intent = Intent(TaskType.FACTUAL, 0.9)
    assert Loadout(_Sure(intent))(QUERY, ANY) == (QUERY, intent)


def test_spec_5_2_the_table_is_a_setting() -> None:
    variables = {"MNEME_GATEWAY__LOADOUT__FACTUAL": '["semantic", "episodic"]'}
    settings = SettingsSource.read(None, variables).load(LoadoutSettings, "gateway.loadout")
    query = Loadout(settings=settings).given(replace(QUERY, task_type=TaskType.FACTUAL))
    assert set(query.tiers) == {Tier.SESSION, Tier.SEMANTIC, Tier.EPISODIC}


@pytest.mark.parametrize("tiers", ["[]", '["profile"]', '["nowhere"]'])
def test_a_type_needs_tiers_that_can_be_asked(tiers: str) -> None:
    source = SettingsSource.read(None, {"MNEME_GATEWAY__LOADOUT__FACTUAL": tiers})
    with pytest.raises(SettingsError):
        source.load(LoadoutSettings, "gateway.loadout")
