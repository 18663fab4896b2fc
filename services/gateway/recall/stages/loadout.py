"""Which tiers a task needs: the tool loadout.

A type that the caller gives decides which tiers are asked. One that is merely classified changes nothing unless the
service is configured so: a wrong guess would lose what was asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, TypeAlias

from services.common.embedding.vectors import Vector
from services.common.settings_types import Factor, Share
from services.gateway.journal.model import Tier
from services.gateway.recall.choices import TaskType
from services.gateway.recall.model import RECALL_TIERS, RecallQuery
from services.gateway.recall.question.task_types import UNTOLD, Intent, IntentClassifier

Tiers: TypeAlias = tuple[Tier, ...]

_WITH_PROCEDURES: Final = (TaskType.RECOMMENDATION, TaskType.PROCEDURAL, TaskType.DEBUGGING, TaskType.GENERAL)
_ALL: Final[Tiers] = (Tier.EPISODIC, Tier.SEMANTIC, Tier.AGENTIC)


class ClassifiedUse(StrEnum):
    """What a classified task type may do."""

    REPORT = "report"
    """Nothing but stand in the response."""
    FAVOUR = "favour"
    """Let the tiers of the type give more."""
    SKIP = "skip"
    """Skip the other tiers, as a given type does."""


@dataclass(frozen=True, slots=True)
class LoadoutSettings:
    """The tiers of each task type. The running conversation is always asked for its turns."""

    factual: Tiers = (Tier.SEMANTIC,)  # where a fact is looked up
    recommendation: Tiers = (Tier.SEMANTIC, Tier.AGENTIC)  # preferences, and what is known to go well
    conversational: Tiers = (Tier.EPISODIC, Tier.SEMANTIC)  # what was said, and facts
    procedural: Tiers = (Tier.AGENTIC, Tier.EPISODIC)  # how things are done, and examples
    debugging: Tiers = (Tier.EPISODIC, Tier.AGENTIC)  # earlier faults, and how they were mended
    general: Tiers = _ALL  # everything
    procedures: tuple[TaskType, ...] = _WITH_PROCEDURES  # types that procedures are for; rewritings are for all
    classified: ClassifiedUse = ClassifiedUse.REPORT  # what a type may do that the caller has not given
    sure_from: Share = 0.7  # confidence from which a classified type does it
    favour_factor: Factor = 1.5  # how many times as many facts or notes a favoured tier gives

    def __post_init__(self) -> None:
        """Checks the table: a type without tiers would find nothing."""
        for task_type in TaskType:
            tiers = self.tiers(task_type)
            if not tiers or not set(tiers) <= set(_ALL):
                names = ", ".join(tier.name.lower() for tier in _ALL)
                raise ValueError(f"{task_type.name.lower()} should have some of the tiers {names}")

    def tiers(self, task_type: TaskType) -> Tiers:
        """The tiers of a type."""
        found: Tiers = getattr(self, task_type.name.lower())
        return found


class Loadout:
    """Chooses the tiers of a recall."""

    def __init__(self, classifier: IntentClassifier | None = None, settings: LoadoutSettings | None = None) -> None:
        """Classifies questions by `classifier`; without one only a given type counts."""
        self._classifier = classifier
        self._settings = settings or LoadoutSettings()

    def given(self, query: RecallQuery) -> RecallQuery:
        """The query without the tiers that a given type does not need; tiers that the caller names are kept."""
        return self._skipping(query, query.task_type) if query.task_type is not None else query

    def needs_procedures(self, query: RecallQuery) -> bool:
        """Whether procedures of other kinds than rewriting are for a query: unless its type is given and needs none."""
        return query.task_type is None or query.task_type in self._settings.procedures

    def __call__(self, query: RecallQuery, vector: Vector, *, model: str | None = None) -> tuple[RecallQuery, Intent]:
        """Returns the task type, and the query with the tiers to ask.

        Args:
            query: What is asked, after `given`.
            vector: The embedded question.
            model: Fingerprint of the model of the vector; None: the one that serves.
        """
        if query.task_type is not None:
            return query, Intent(query.task_type, 1.0, is_given=True)
        intent = self._classifier.classify(vector, model=model) if self._classifier is not None else UNTOLD
        is_sure = intent.confidence >= self._settings.sure_from and intent.task_type is not TaskType.GENERAL
        if is_sure and self._settings.classified is ClassifiedUse.SKIP:
            query = self._skipping(query, intent.task_type)
        elif is_sure and self._settings.classified is ClassifiedUse.FAVOUR:
            query = replace(
                query,
                favoured=self._settings.tiers(intent.task_type),
                favour_factor=self._settings.favour_factor,
            )
        return query, intent

    def limit(self, query: RecallQuery, tier: Tier, limit: int) -> int:
        """How many facts or notes a tier is asked for."""
        return round(limit * self._settings.favour_factor) if tier in query.favoured else limit

    def _skipping(self, query: RecallQuery, task_type: TaskType) -> RecallQuery:
        if query.are_tiers_given:
            return query
        needed = {Tier.SESSION, *self._settings.tiers(task_type)}
        return replace(
            query,
            tiers=tuple(tier for tier in RECALL_TIERS if tier in needed),
            skip_reason=f"not needed for the task type {task_type.name.lower()}",
        )
