"""Erase, Forget and Correct at every moment of a maintenance job, with processes that die: nothing derived outlives its
source, nothing else is lost, and what was made can be taken back.

`MNEME_INTERLEAVINGS` says how many cases run; `make prove-interleavings` runs 500.
"""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from services.agentic.access import AccessRecorder
from services.agentic.config import AgenticSettings, ConsolidationSettings, FadingSettings, PruningSettings
from services.agentic.maintenance.consolidation import ConsolidateNotes
from services.agentic.maintenance.fading import FadeLinks
from services.agentic.maintenance.made_notes import NoteMaker
from services.agentic.maintenance.making import NoteMaking
from services.agentic.maintenance.pruning import PruneNotes
from services.agentic.model import Link, LinkKey, LinkOrigin, LinkType, Note, NoteId, NoteStatus
from services.agentic.removal import NoteRemoval
from services.agentic.service import DeleteNote, NoteChanges, NoteService, UpdateNote
from services.agentic.store import NoteFilter, NoteStore
from services.agentic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA, PostgresNoteStore
from services.common.errors import Conflict, NotFound, StoreUnavailable
from services.common.idempotency.model import IdempotencyKey
from services.common.ids import Uuid7Ids
from services.common.maintenance import Job, MaintenanceRunner
from services.common.maintenance.postgres import PostgresMaintenanceStore
from services.common.owners import Owner, TenantId, UserId
from services.common.postgres.pool import PoolSettings, create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.tier_embedder import TierEmbedder
from services.common.tokens import token_counter
from tests.contract.note_samples import NOW, interaction_id, make_note, note_id
from tests.support.clock import FakeClock
from tests.support.embedding import HashingEmbedder
from tests.support.maintenance import MAINTENANCE
from tests.support.postgres import fresh_postgres

CASES = int(os.environ.get("MNEME_INTERLEAVINGS", "24"))
WORDS = ("anchor", "basil", "cedar", "delta", "ember", "fjord", "garnet", "kettle", "lantern", "meadow", "nectar")
Action = Callable[[], Awaitable[None]]


@dataclass
class Moments:
    """Counts the calls of a job to its stores; something happens before or after some of them."""

    count: int = 0
    actions: dict[int, list[Action]] = field(default_factory=dict)
    is_within: bool = False  # of an action: what it calls does not count

    async def pass_one(self) -> None:
        if self.is_within:
            return
        self.count += 1
        self.is_within = True
        try:
            for action in self.actions.pop(self.count, ()):
                await action()
        finally:
            self.is_within = False


class Interrupted:
    """A store whose every asynchronous call passes a moment before it and one after it."""

    def __init__(self, store: Any, moments: Moments) -> None:
        self._store = store
        self._moments = moments

    def __getattr__(self, name: str) -> Any:
        original = getattr(self._store, name)

        async def call(*arguments: Any, **options: Any) -> Any:
            await self._moments.pass_one()
            result = await original(*arguments, **options)
            await self._moments.pass_one()
            return result

        return call


@dataclass
class World:
    """A user's notes, what was done to them, and what must hold."""

    number: int
    store: NoteStore
    log: PostgresMaintenanceStore
    random: random.Random = field(init=False)
    clock: FakeClock = field(default_factory=lambda: FakeClock(NOW))
    embedder: TierEmbedder = field(default_factory=lambda: TierEmbedder(HashingEmbedder()))
    originals: dict[NoteId, Note] = field(default_factory=dict)
    gone: set[NoteId] = field(default_factory=set)
    corrected: dict[NoteId, tuple[str, str]] = field(default_factory=dict)  # the text before, and the one now
    runs: list[tuple[Job[Any], str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = random.Random(self.number)
        self.owner = Owner(TenantId("acme"), UserId(f"user-{self.number}"))
        self.ids = Uuid7Ids(self.clock)
        settings = AgenticSettings()
        recorder = AccessRecorder(self.store, self.clock, settings.access)
        self.notes = NoteService(self.store, self.embedder, recorder, clock=self.clock, ids=self.ids, settings=settings)
        self.removal = NoteRemoval(self.store, self.embedder, clock=self.clock, settings=settings, maintenance=self.log)

    async def fill(self) -> None:
        """Two topics, some duplicates, some faded notes, each of an interaction of its own, and idle links."""
        notes: list[Note] = []
        for number in range(1, self.random.randint(9, 14)):
            is_repeated = self.random.random() < 0.4
            word = self.random.choice(WORDS[:3]) if is_repeated else f"{WORDS[number % len(WORDS)]}{number}"
            topic = self.random.choice(["rides her red bicycle to the harbour", "plants roses in the old garden"])
            content = f"Ann {topic} with the {word}."
            importance = self.random.choice([0.05, 0.5, 0.9])
            derived_from = (interaction_id(self.number * 1_000 + number),)
            notes.append(
                replace(
                    make_note(number, self.owner, minutes=number),
                    note_id=note_id(self.number * 1_000 + number),
                    content=content,
                    importance=importance,
                    derived_from=derived_from,
                    keywords=tuple(topic.split()[-2:]),
                )
            )
        vectors = await self.embedder.embed([note.embedded_text for note in notes])
        ids = [note.note_id for note in notes]
        links = [
            Link(LinkKey(*pair, LinkType.RELATED_TO), self.random.choice([0.1, 0.6]), LinkOrigin.SIMILARITY, NOW, NOW)
            for pair in itertools.pairwise(ids)
        ]

        async def work(writer: Any) -> None:
            await writer.add_notes(notes, vectors, model=self.embedder.model_id)
            await writer.put_links(links)

        await self.store.write(self.owner, work)
        self.originals = {note.note_id: note for note in notes}
        self.clock.advance(days=200)
        await self.store.record_access(self.owner, {ids[-1]: 70}, time=self.clock.now())

    def job(self, store: NoteStore) -> Job[Any]:
        making, maker = NoteMaking(store, self.embedder, self.clock), NoteMaker(token_counter())
        kind = self.random.choice([ConsolidateNotes, PruneNotes, FadeLinks])
        if kind is ConsolidateNotes:
            chosen = ConsolidationSettings(share_max=1.0, cluster_similarity_min=0.6, cluster_notes_min=3)
            return ConsolidateNotes(store, making, maker, self.clock, chosen, model=self.embedder.model_id)
        if kind is PruneNotes:
            return PruneNotes(store, making, maker, PruningSettings(share_max=1.0, summary_notes_min=2), page=4)
        return FadeLinks(store, self.clock, FadingSettings(), page=4)

    async def change(self) -> None:
        """Erases, forgets or corrects one of the user's notes."""
        left = sorted(set(self.originals) - self.gone)
        if len(left) < 3:
            return
        chosen = self.random.choice(left)
        request = IdempotencyKey("ann", self.ids.new_id(), "")
        match self.random.choice(["erase", "forget", "correct"]):
            case "erase":
                await self.removal.by_source(self.owner, self.originals[chosen].derived_from)
                self.gone.add(chosen)
            case "forget":
                stands_for = await self._merged_into(chosen)
                try:
                    await self.notes.delete(DeleteNote(self.owner, request, chosen, ""))
                except NotFound:
                    assert chosen in self.gone
                self.gone |= {chosen, *stands_for}
            case _:
                before = (await self.store.get(self.owner, chosen, links_max=0)).note.content
                after = f"Ann corrected it: {self.random.choice(WORDS)} {self.ids.new_id()}."
                command = UpdateNote(self.owner, request, chosen, NoteChanges(content=after), "")
                try:
                    await self.notes.update(command)
                except Conflict:
                    return
                self.corrected[chosen] = (before, after)

    async def _merged_into(self, note: NoteId) -> set[NoteId]:
        """Duplicates that were merged into a note: who forgets it forgets what says the same."""
        notes = await self.all_notes()
        return {each.note_id for each in notes.values() if each.successor_id == note and each.note_id in self.originals}

    async def die(self) -> None:
        raise StoreUnavailable("killed")

    async def all_notes(self) -> dict[NoteId, Note]:
        found: dict[NoteId, Note] = {}
        for status in NoteStatus:
            listed = await self.store.list_notes(self.owner, NoteFilter(status=status), after=None, limit=200)
            found.update({note.note_id: note for note in listed})
        return found

    async def run(self, *, is_disturbed: bool) -> None:
        """Runs a job to its end, through all that happens meanwhile."""
        moments = Moments()
        if is_disturbed:
            for _ in range(self.random.randint(1, 3)):
                action = self.random.choice([self.change, self.change, self.die])
                moments.actions.setdefault(self.random.randint(1, 24), []).append(action)
        job = self.job(Interrupted(self.store, moments))
        runner = MaintenanceRunner(Interrupted(self.log, moments), clock=self.clock, ids=self.ids)
        for _ in range(5):
            try:
                report = await runner.run(job, owner=self.owner)
            except StoreUnavailable:
                self.clock.advance(seconds=61)  # another replica may take over
                continue
            assert report.is_claimed
            moments.actions.clear()
            self.runs.append((job, report.run_id))
            return
        raise AssertionError("the job did not end")

    async def undo(self) -> None:
        runner = MaintenanceRunner(self.log, clock=self.clock, ids=self.ids)
        for job, run_id in reversed(self.runs):
            await runner.undo(job, run_id, owner=self.owner)
            assert await runner.undo(job, run_id, owner=self.owner) == 0
        self.runs.clear()

    async def check(self) -> None:
        """What must hold at any time."""
        notes = await self.all_notes()
        assert not self.gone & set(notes), "what was erased is back"
        made = {note_id: note for note_id, note in notes.items() if note.source_note_ids}
        lost = set(self.originals) - self.gone - set(notes)
        assert not lost, f"notes that nobody removed are gone: {lost}"
        sources = {source for key in self.gone for source in self.originals[key].derived_from}
        for note in notes.values():
            assert not sources & set(note.derived_from), "a source outlives its erasure"
            assert not self.gone & set(note.source_note_ids), "a note made of what was erased is left"
            if note.successor_id is not None:
                assert note.status is NoteStatus.ARCHIVED
                assert note.successor_id in notes, "its successor is gone"
        texts = {note.content for key, note in notes.items() if key not in made}
        erased = {self.originals[key].content for key in self.gone} | {self.corrected[key][0] for key in self.corrected}
        for note in made.values():
            stale = [text for text in erased - texts if text in note.content]
            assert not stale, f"a made note says what was erased or corrected: {stale}"
        for key, (_, after) in self.corrected.items():
            if key not in self.gone:
                assert notes[key].content == after, "a correction is lost"


@pytest.fixture
async def stores(postgres_server: EmbeddedPostgres) -> Any:
    async with (
        fresh_postgres(postgres_server, migrations=[(SCHEMA, MIGRATIONS_FOLDER), MAINTENANCE]) as urls,
        await create_pool(urls.app, PoolSettings(size_max=4)) as pool,
        aclosing(PostgresNoteStore(pool)) as store,
    ):
        yield store, PostgresMaintenanceStore(pool)


async def test_spec_6_9_whatever_happens_in_the_middle_of_a_job_nothing_derived_outlives_its_source(
    stores: tuple[PostgresNoteStore, PostgresMaintenanceStore],
) -> None:
    store, log = stores
    changed = applied = 0
    for number in range(CASES):
        world = World(number, store, log)
        try:
            await world.fill()
            for _ in range(world.random.randint(1, 2)):
                await world.run(is_disturbed=True)
                await world.check()
                world.clock.advance(seconds=3_600)
            if world.random.random() < 0.5:
                await world.change()
                await world.check()
            if world.random.random() < 0.5:
                await world.undo()
                await world.check()
        except AssertionError as error:
            raise AssertionError(f"case {number}: {error}") from error
        changed += len(world.gone) + len(world.corrected)
        applied += sum([len(await log.entries(run_id, owner=world.owner)) for _, run_id in world.runs])
    assert changed >= CASES / 2, "the cases disturb the jobs"
    assert applied >= CASES / 8, "the jobs change something"
