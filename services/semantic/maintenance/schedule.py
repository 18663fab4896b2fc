"""The tier's jobs and when they run."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from services.common.background import BackgroundWork
from services.common.clock import Clock
from services.common.ids import IdSource
from services.common.language_model.port import LanguageModel
from services.common.maintenance import MaintenanceRunner
from services.common.maintenance.election import Leader
from services.common.maintenance.store import MaintenanceStore
from services.common.maintenance.tier import TierJob, TierMaintenance
from services.common.model_change import FormerVectors, FormerVectorStore, ReembedRows, SecondVectors
from services.common.tier_embedder import TierEmbedder
from services.semantic.config import SemanticSettings
from services.semantic.facts.store import FactStore
from services.semantic.facts.upkeep_store import FactUpkeepStore
from services.semantic.maintenance.merging import MergeFacts
from services.semantic.maintenance.queue import ResolveSupersessions
from services.semantic.maintenance.retention import RetainFacts
from services.semantic.supersession.adjudication import Adjudicator
from services.semantic.supersession.queue_store import SupersessionQueueStore
from services.semantic.supersession.resolving import is_deciding

FILL_FACTS: Final = "semantic.fill_second_vectors"
"""The job that makes the vectors of a second embedding model."""


@dataclass(frozen=True, slots=True)
class FactJobStores:
    """What the jobs read and write."""

    facts: FactStore
    upkeep: FactUpkeepStore
    vectors: FormerVectorStore
    queue: SupersessionQueueStore
    log: MaintenanceStore  # of claims and runs


@dataclass(frozen=True, slots=True)
class FactJobs:
    """The jobs on facts."""

    maintenance: TierMaintenance
    start: Callable[[BackgroundWork[str]], None]
    """Runs them until the background work is closed; those that are off can still be run for one user."""


def fact_jobs(
    stores: FactJobStores,
    former: FormerVectors,
    second: SecondVectors,
    embedder: TierEmbedder,
    clock: Clock,
    ids: IdSource,
    settings: SemanticSettings,
    language_model: LanguageModel,
    leader: Leader | None = None,
) -> FactJobs:
    """The jobs on facts, which nothing runs yet."""
    retention, merging = settings.retention, settings.merging
    deciding = settings.supersession
    adjudicator = Adjudicator(language_model, reason_chars_max=deciding.queue.reason_chars_max)
    decides = is_deciding(deciding.policy, has_model=adjudicator.is_configured)
    reembed = ReembedRows(
        "semantic.reembed_facts", stores.vectors, embedder, settings.model_change, beside=second.model
    )
    jobs = [
        TierJob(
            RetainFacts(stores.upkeep, clock, retention),
            "Deprecates facts that nobody confirmed for long, and archives those beyond the cap of a user.",
            retention.interval_seconds if retention.is_enabled else None,
        ),
        TierJob(
            MergeFacts(stores.upkeep, stores.facts, embedder, ids, settings),
            "Merges facts that say the same in other words.",
            merging.interval_seconds if merging.is_enabled else None,
        ),
        TierJob(
            ResolveSupersessions(stores.queue, clock, settings.supersession, adjudicator),
            "Decides by the configured policy about statements that contradict each other and wait for a decision.",
            deciding.queue.interval_seconds if decides else None,
        ),
        TierJob(reembed, "Embeds facts anew whose vectors are of a former embedding model."),
    ]
    if second.fill is not None:
        jobs.append(TierJob(second.fill, "Embeds facts by the second embedding model too, before a cut-over to it."))
    bounds, kept = settings.maintenance, settings.idempotency_retention_seconds
    runner = MaintenanceRunner(
        stores.log,
        clock=clock,
        ids=ids,
        leader=leader,
        seconds_max=bounds.run_seconds_max,
        undone_days=bounds.undone_days,
    )
    maintenance = TierMaintenance(runner, stores.log, jobs, clock, retention_seconds=kept, log_days=bounds.log_days)
    fill = functools.partial(second.keep_filling, runner.run)
    bring_over = functools.partial(former.keep_bringing_over, functools.partial(runner.run, reembed))

    def start(background: BackgroundWork[str]) -> None:
        if leader is not None:
            background.keep_running("lead-maintenance", leader.run)
        maintenance.start(background)
        background.keep_running("bring-vectors-over", bring_over)
        if second.fill is not None:
            background.keep_running("fill-second-vectors", fill)

    return FactJobs(maintenance, start)
