"""What a user took back stays so: no job does it again, until the memories change (SPEC 6.9)."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from services.agentic.model import Link, LinkKey
from services.agentic.store import NoteWriter
from services.agentic.stores.postgres import PostgresNoteStore
from services.common.owners import Owner
from services.common.postgres.server import EmbeddedPostgres
from services.common.tier_embedder import TierEmbedder
from services.semantic.facts.model import FactDraft
from services.semantic.facts.store import FactStore
from services.semantic.facts.stores.postgres import PostgresFactStore
from tests.contract.fact_samples import ANN as FACTS_ANN
from tests.contract.fact_samples import DAY_ONE, EMBEDDER, enter, likes, said
from tests.contract.note_samples import ANN as NOTES_ANN
from tests.contract.note_samples import note_id
from tests.integration.maintenance.cases import CASES
from tests.integration.maintenance.episodic_cases import OWNERS
from tests.integration.maintenance.graph_cases import EVERY_STATUS, FACT_OWNERS, NOTE_OWNERS, FactCase
from tests.integration.maintenance.places import MIGRATIONS, JobCase, Place, opened
from tests.support.clock import FakeClock
from tests.support.postgres import fresh_postgres

JOBS: Final[dict[str, tuple[Owner, ...]]] = {
    "episodic.retain_episodes": OWNERS,
    "semantic.retain_facts": FACT_OWNERS,
    "semantic.merge_facts": FACT_OWNERS,
    "agentic.consolidate": NOTE_OWNERS,
    "agentic.prune_notes": NOTE_OWNERS,
    "agentic.fade_links": NOTE_OWNERS,
}
"""Those that heed it, with the users whose memories there are."""


@contextlib.asynccontextmanager
async def filled(case: JobCase, postgres: EmbeddedPostgres, folder: Path) -> AsyncIterator[Place]:
    async with (
        fresh_postgres(postgres, migrations=MIGRATIONS) as urls,
        opened(case, urls.app, folder, FakeClock()) as place,
    ):
        await case.fill(place)
        yield place


@pytest.mark.parametrize("name", JOBS)
async def test_spec_6_9_what_was_taken_back_is_not_done_again(
    name: str, postgres_server: EmbeddedPostgres, tmp_path: Path
) -> None:
    case = CASES[name]
    async with filled(case, postgres_server, tmp_path) as place:
        before = (await case.seen(place)).recallable
        first = await place.runner.run(case.job(place))
        assert first.applied
        await case.settle(place)
        assert await place.runner.undo(case.job(place), first.run_id) == first.applied
        await case.settle(place)
        assert (await case.seen(place)).recallable == before
        for _ in range(3):  # each as by a replica that has just started
            place.clock.advance(seconds=3_600)
            planned = await place.runner.run(case.job(place), dry_run=True)
            again = await place.runner.run(case.job(place))
            assert (planned.planned, again.applied) == (0, 0)
        assert (await case.seen(place)).recallable == before


@pytest.mark.parametrize("name", JOBS)
async def test_spec_6_9_what_one_user_took_back_is_done_for_others(
    name: str, postgres_server: EmbeddedPostgres, tmp_path: Path
) -> None:
    case, (first, *others) = CASES[name], JOBS[name]
    async with filled(case, postgres_server, tmp_path) as place:
        report = await place.runner.run(case.job(place), owner=first)
        await place.runner.undo(case.job(place), report.run_id, owner=first)
        await case.settle(place)
        again = await place.runner.run(case.job(place))
        assert again.applied
        owners = {entry.owner for entry in await place.log.entries(again.run_id)}
        assert owners <= set(others)


def drafts(name: str) -> list[FactDraft]:
    """The facts of a case."""
    case = CASES[name]
    assert isinstance(case, FactCase)
    return case.drafts()


async def other_words(place: Place) -> None:
    """Each note says something else, in which those that said the same do so still."""
    embedder = TierEmbedder(EMBEDDER)

    async def write(writer: NoteWriter) -> None:
        notes = list((await writer.get_notes([note_id(number) for number in range(1, 13)])).values())
        changed = [replace(note, content=f"Today {note.content}", update_time=place.clock.now()) for note in notes]
        await writer.update_notes(changed)
        vectors = await embedder.embed([note.embedded_text for note in changed])
        await writer.replace_vectors([note.note_id for note in changed], vectors, model=embedder.model_id)

    await PostgresNoteStore(place.pool).write(NOTES_ANN, write)


async def used_and_faded(place: Place) -> None:
    """Notes are used; then time goes by until one of them is."""
    store = PostgresNoteStore(place.pool)
    await store.record_access(NOTES_ANN, {note_id(n): 1 for n in range(1, 13)}, time=place.clock.now())
    time = place.clock.advance(days=200)
    await store.record_access(NOTES_ANN, {note_id(12): 1}, time=time)


async def links_used(place: Place) -> None:
    """Links are strengthened; then time goes by until a note is used."""
    store = PostgresNoteStore(place.pool)

    async def write(writer: NoteWriter) -> None:
        for key in [each.key for each in await store.active_links(NOTES_ANN, after=None, limit=100)]:
            await writer.put_links([await stronger(writer, key)])

    async def stronger(writer: NoteWriter, key: LinkKey) -> Link:
        link = await writer.get_link(key)
        assert link is not None
        return replace(link, strength=min(1.0, link.strength * 1.1), update_time=place.clock.now())

    await store.write(NOTES_ANN, write)
    time = place.clock.advance(days=200)
    await store.record_access(NOTES_ANN, {note_id(12): 1}, time=time)


async def confirmed_and_faded(place: Place) -> None:
    """What has faded is said again; then time goes by until something else is."""
    store = PostgresFactStore(place.pool)
    day = (place.clock.now() - DAY_ONE).days + 1
    again = [said(draft, day=day) for draft in drafts("semantic.retain_facts")]
    await enter(store, FACTS_ANN, again)
    lasting = replace(likes("nuts"), text="Ann is allergic to nuts", importance=0.95)
    await enter(store, FACTS_ANN, [said(lasting, day=day + 300)])
    place.clock.set(DAY_ONE + timedelta(days=day + 300))


async def one_more(place: Place) -> None:
    """Something is said once more, in other words."""
    store: FactStore = PostgresFactStore(place.pool)
    known = drafts("semantic.merge_facts")
    chairs = replace(known[0], text="Ann has 12 chairs", object="12 chairs")
    await enter(store, FACTS_ANN, [said(chairs, day=(place.clock.now() - DAY_ONE).days)])
    assert len(await store.list_facts(FACTS_ANN, which=EVERY_STATUS, after=None, limit=100)) > len(known) + 1


CHANGES: Final[dict[str, Callable[[Place], Awaitable[Any]]]] = {
    "semantic.retain_facts": confirmed_and_faded,
    "semantic.merge_facts": one_more,
    "agentic.consolidate": other_words,
    "agentic.prune_notes": used_and_faded,
    "agentic.fade_links": links_used,
}


@pytest.mark.parametrize("name", CHANGES)
async def test_spec_6_9_once_the_memories_change_a_job_may_act_again(
    name: str, postgres_server: EmbeddedPostgres, tmp_path: Path
) -> None:
    case = CASES[name]
    async with filled(case, postgres_server, tmp_path) as place:
        first = await place.runner.run(case.job(place))
        await place.runner.undo(case.job(place), first.run_id)
        assert not (await place.runner.run(case.job(place))).applied
        await CHANGES[name](place)
        again = await place.runner.run(case.job(place))
        assert again.applied
        assert {entry.owner for entry in await place.log.entries(again.run_id)} == {JOBS[name][0]}
        await case.check(place)
