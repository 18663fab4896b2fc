"""A year of maintenance on a user who writes nothing, and on one who goes on writing (SPEC 2.8, 3.4, 4.3, 4.5)."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from services.agentic.config import ConsolidationSettings, FadingSettings, PruningSettings
from services.agentic.maintenance.consolidation import ConsolidateNotes
from services.agentic.maintenance.fading import FadeLinks
from services.agentic.maintenance.made_notes import NoteMaker
from services.agentic.maintenance.making import NoteMaking
from services.agentic.maintenance.pruning import PruneNotes
from services.agentic.model import Link, LinkKey, LinkOrigin, LinkType
from services.agentic.stores.postgres import PostgresNoteStore
from services.common.ids import Uuid7Ids
from services.common.interactions import SourceInteraction
from services.common.maintenance import Job
from services.common.postgres.server import EmbeddedPostgres
from services.common.scope import GLOBAL_SCOPE
from services.common.tier_embedder import TierEmbedder
from services.common.tokens import token_counter
from services.episodic.config import RetentionSettings
from services.episodic.maintenance.reconciliation import ReconcileIndex
from services.episodic.maintenance.retention import RetainEpisodes
from services.semantic.config import FactMergingSettings, FactRetentionSettings, SemanticSettings
from services.semantic.facts.arguments import SearchFacts
from services.semantic.facts.extraction.port import FactExtractor
from services.semantic.facts.model import FactDraft, FactUse
from services.semantic.facts.service import FactService
from services.semantic.facts.stores.postgres import PostgresFactStore
from services.semantic.facts.stores.postgres_upkeep import PostgresFactUpkeep
from services.semantic.maintenance.merging import MergeFacts
from services.semantic.maintenance.retention import RetainFacts
from tests.contract.episode_samples import OWNER, new_episode
from tests.contract.fact_samples import ANN, DAY_ONE, EMBEDDER, enter, likes, said
from tests.contract.note_samples import ANN as NOTES_ANN
from tests.contract.note_samples import interaction_id, make_note, note_id
from tests.integration.maintenance.episodic_cases import QUICK, Retain
from tests.integration.maintenance.graph_cases import Fade
from tests.integration.maintenance.places import MIGRATIONS, Place, Seen, opened
from tests.support.clock import FakeClock
from tests.support.postgres import fresh_postgres

NOISE = 6
"""Episodes, facts and notes of little importance."""
MADE = 10_000
"""Numbers of what is written later begin here."""


class NoFacts(FactExtractor):
    """Facts are entered here, not extracted."""

    async def extract(self, sources: Sequence[SourceInteraction]) -> list[list[FactDraft]]:
        raise AssertionError(sources)


@dataclass
class Life:
    """One user's memories in all tiers, with every job that could take some of them out of recall."""

    place: Place
    episodes = Retain("episodic.retain_episodes", index_count=1)
    notes = Fade("agentic.fade_links")

    @property
    def day(self) -> float:
        return (self.place.clock.now() - DAY_ONE).total_seconds() / 86_400

    @property
    def embedder(self) -> TierEmbedder:
        return TierEmbedder(EMBEDDER)

    async def write(self, number: int, importance: float) -> None:
        """An episode, a fact and a note that is linked to the one before."""
        now = self.place.clock.now()
        episode = new_episode(number, importance=importance, time=now, query=f"thing {number}")
        await self.episodes.store(self.place).insert(OWNER.tenant_id, [episode], now=now)
        await self.episodes.settle(self.place)
        fact = replace(likes(f"thing {number}"), importance=importance, confidence=0.7)
        await enter(PostgresFactStore(self.place.pool), ANN, [said(fact, day=self.day)])
        note = replace(
            make_note(number),
            content=f"Ann saw thing {number}.",
            importance=importance,
            create_time=now,
            update_time=now,
            derived_from=(interaction_id(number),),
        )
        vectors = await self.embedder.embed([note.embedded_text])

        async def work(writer: Any) -> None:
            await writer.add_notes([note], vectors, model=self.embedder.model_id)
            if number > 1 and number != MADE:
                key = LinkKey(note_id(number - 1), note_id(number), LinkType.RELATED_TO).canonical
                await writer.put_links([Link(key, 0.5, LinkOrigin.SIMILARITY, now, now)])

        await PostgresNoteStore(self.place.pool).write(NOTES_ANN, work)

    def jobs(self) -> list[Job[Any]]:
        place, ids = self.place, Uuid7Ids(self.place.clock)
        episodes, notes = self.episodes.store(place), PostgresNoteStore(place.pool)
        facts, upkeep = PostgresFactStore(place.pool), PostgresFactUpkeep(place.pool)
        making, maker = NoteMaking(notes, self.embedder, place.clock), NoteMaker(token_counter())
        consolidation = ConsolidationSettings(share_max=1.0)
        semantic = SemanticSettings(merging=FactMergingSettings(share_max=1.0))
        retention = RetentionSettings(newest_kept=2, share_max=1.0)
        pruning = PruningSettings(share_max=1.0, summary_notes_min=2)
        return [
            ReconcileIndex(episodes, place.index, QUICK),
            RetainEpisodes(episodes, place.index, place.clock, ids, retention),
            RetainFacts(upkeep, place.clock, FactRetentionSettings(share_max=1.0)),
            MergeFacts(upkeep, facts, self.embedder, ids, semantic),
            ConsolidateNotes(notes, making, maker, place.clock, consolidation, model=self.embedder.model_id),
            PruneNotes(notes, making, maker, pruning, page=100),
            FadeLinks(notes, place.clock, FadingSettings(), page=100),
        ]

    async def maintain(self, jobs: list[Job[Any]]) -> int:
        """Runs all jobs; returns how many changes they made."""
        applied = 0
        for job in jobs:
            report = await self.place.runner.run(job)
            assert report.is_claimed
            applied += report.applied
        await self.episodes.settle(self.place)
        return applied

    async def recallable(self) -> tuple[frozenset[str], list[str], Seen]:
        """Episodes that a search can return; what searches of facts return with their confidence; notes and links."""
        clock = self.place.clock
        service = FactService(
            PostgresFactStore(self.place.pool),
            self.embedder,
            NoFacts(),
            clock=clock,
            ids=Uuid7Ids(clock),
            settings=SemanticSettings(),
        )
        facts = []
        for use in (FactUse.EXPLICIT_SEARCH, FactUse.PASSIVE_CONTEXT):
            found = await service.search(SearchFacts(ANN, "Ann likes thing", None, use, GLOBAL_SCOPE, 100))
            facts += [f"{use.name} {hit.fact.text} {hit.confidence_now:.6f}" for hit in found]
        return (await self.episodes.seen(self.place)).recallable, sorted(facts), await self.notes.seen(self.place)


@pytest.fixture
async def life(postgres_server: EmbeddedPostgres, tmp_path: Path) -> AsyncIterator[Life]:
    async with contextlib.AsyncExitStack() as stack:
        urls = await stack.enter_async_context(fresh_postgres(postgres_server, migrations=MIGRATIONS))
        clock = FakeClock(DAY_ONE)
        begun = Life(await stack.enter_async_context(opened(Life.episodes, urls.app, tmp_path, clock)))
        for number in range(1, NOISE + 1):
            await begun.write(number, importance=0.12)
        yield begun


@pytest.mark.ci("a year of runs of seven jobs takes half a minute")
async def test_spec_6_9_a_year_of_maintenance_takes_nothing_from_a_user_who_is_away(life: Life) -> None:
    jobs = life.jobs()
    for _ in range(24):
        life.place.clock.advance(hours=1)
        await life.maintain(jobs)
    first_day = await life.recallable()
    # The notes have a concept note above them.
    assert [len(first_day[0]), len(first_day[1]), len(first_day[2].recallable)] == [NOISE, 2 * NOISE, NOISE + 1]
    for number in range(0, 365, 3):
        life.place.clock.advance(days=3)
        # Those of a process that has just begun, every second time: the others leave out users who are settled.
        assert await life.maintain(jobs if number % 2 else life.jobs()) == 0
    assert await life.recallable() == first_day


@pytest.mark.ci("a year of runs of seven jobs takes half a minute")
async def test_spec_6_9_what_is_small_fades_while_a_user_goes_on(life: Life) -> None:
    jobs = life.jobs()
    first_links = [text for text in (await life.recallable())[2].further if "RELATED_TO" in text]
    assert len(first_links) == NOISE - 1
    for number in range(MADE, MADE + 37):
        life.place.clock.advance(days=10)
        await life.write(number, importance=0.9)
        await life.maintain(jobs)
    episodes, facts, notes = await life.recallable()
    noise = [f"thing {number}" for number in range(1, NOISE + 1)]
    found = [*episodes, *facts, *(text for text in notes.recallable if " FACT " in text)]  # others are made of them
    assert not [text for text in found if any(text.endswith((each, f"{each}.")) for each in noise)]
    assert len(episodes) == 37
    assert not [link for link in notes.further if link in first_links]
