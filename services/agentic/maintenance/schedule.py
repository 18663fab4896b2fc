"""The tier's jobs and when they run."""

from __future__ import annotations

from services.agentic.config import AgenticSettings
from services.agentic.maintenance.consolidation import ConsolidateNotes
from services.agentic.maintenance.fading import FadeLinks
from services.agentic.maintenance.made_notes import NoteMaker
from services.agentic.maintenance.making import NoteMaking
from services.agentic.maintenance.pruning import PruneNotes
from services.agentic.store import NoteStore
from services.common.clock import Clock
from services.common.maintenance.tier import TierJob
from services.common.tier_embedder import TierEmbedder
from services.common.tokens import TokenCounter


def note_jobs(
    store: NoteStore, embedder: TierEmbedder, counter: TokenCounter, clock: Clock, settings: AgenticSettings
) -> list[TierJob]:
    """All jobs on notes and links; those that are switched off can still be run for one user."""
    making, maker = NoteMaking(store, embedder, clock), NoteMaker(counter)
    consolidation, pruning, fading = settings.consolidation, settings.pruning, settings.fading
    page = consolidation.notes_page
    return [
        TierJob(
            ConsolidateNotes(store, making, maker, clock, consolidation, model=embedder.model_id),
            "Merges duplicates, raises the importance of what is used often, and makes concept notes above topics.",
            consolidation.interval_seconds if consolidation.is_enabled else None,
        ),
        TierJob(
            PruneNotes(store, making, maker, pruning, page=page),
            "Archives notes that faded, several at a time, as a summary that leads back to them.",
            pruning.interval_seconds if pruning.is_enabled else None,
        ),
        TierJob(
            FadeLinks(store, clock, fading, page=page),
            "Weakens links that are not used, and removes those that became too weak.",
            fading.interval_seconds if fading.is_enabled else None,
        ),
    ]
