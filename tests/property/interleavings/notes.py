"""Notes, the jobs on them, and what the other process does to them."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any, Final

from services.agentic.access import AccessRecorder
from services.agentic.config import AgenticSettings
from services.agentic.model import Link, LinkKey, LinkOrigin, LinkType, Note, NoteId, NoteStatus
from services.agentic.removal import NoteRemoval
from services.agentic.service import DeleteNote, NoteChanges, NoteService, UpdateNote
from services.agentic.store import NoteFilter
from services.agentic.stores.postgres import PostgresNoteStore
from services.common.idempotency.model import IdempotencyKey
from services.common.ids import Uuid7Ids
from services.common.maintenance.postgres import PostgresMaintenanceStore
from services.common.owners import InteractionId
from services.common.postgres.types import Pool
from services.common.tier_embedder import TierEmbedder
from tests.contract.fact_samples import EMBEDDER
from tests.contract.note_samples import NOW, interaction_id, make_note, note_id
from tests.integration.maintenance.graph_cases import Consolidate, Fade, FillNotes, Prune, ReembedNotes
from tests.integration.maintenance.places import JobCase
from tests.property.interleavings.other import CallHome, Disturbance, Disturber, Kind
from tests.property.interleavings.vectors import check_vectors
from tests.property.interleavings.world import World
from tests.support.clock import FakeClock

_WORDS: Final = ("anchor", "basil", "cedar", "delta", "ember", "fjord", "garnet", "kettle", "lantern", "meadow")
_JOBS: Final[tuple[JobCase, ...]] = (
    Consolidate("agentic.consolidate"),
    Consolidate("agentic.consolidate"),
    Prune("agentic.prune_notes"),
    Fade("agentic.fade_links"),
    ReembedNotes("agentic.reembed_notes"),
    FillNotes("agentic.fill_second_vectors"),
)
_VECTORS: Final = "SELECT note_id, model, embedding::text AS vector FROM agentic.note_vectors WHERE user_id = $1"


class NoteDisturber:
    """Uses the services as a replica of the tier does."""

    def __init__(self, pool: Pool, clock: FakeClock) -> None:
        store, embedder, settings = PostgresNoteStore(pool), TierEmbedder(EMBEDDER), AgenticSettings()
        recorder = AccessRecorder(store, clock, settings.access)
        self._store = store
        self._notes = NoteService(store, embedder, recorder, clock=clock, ids=Uuid7Ids(clock), settings=settings)
        log = PostgresMaintenanceStore(pool)
        self._removal = NoteRemoval(store, embedder, clock=clock, settings=settings, maintenance=log)

    async def do(self, disturbance: Disturbance) -> str:
        owner, target = disturbance.owner, NoteId(disturbance.target)
        key = IdempotencyKey("ann", disturbance.request_id, "")
        match disturbance.kind:
            case Kind.ERASE:
                await self._removal.by_source(owner, [InteractionId(disturbance.source)])
            case Kind.FORGET:
                await self._notes.delete(DeleteNote(owner, key, target, ""))
            case Kind.CORRECT:
                before = (await self._store.get(owner, target, links_max=0)).note.content
                await self._notes.update(UpdateNote(owner, key, target, NoteChanges(content=disturbance.text), ""))
                return before
            case Kind.ERASE_ALL:
                await self._removal.of_owner(owner)
        return ""


def note_disturber(pool: Pool, clock: FakeClock, home: CallHome) -> Disturber:
    """The other process's."""
    del home
    return NoteDisturber(pool, clock)


class NoteWorld(World):
    """Two topics, some duplicates, some faded notes, each of an interaction of its own, and idle links."""

    cases = _JOBS

    @property
    def store(self) -> PostgresNoteStore:
        return PostgresNoteStore(self.place.pool)

    async def fill(self) -> None:
        self.clock.set(NOW)
        embedder, notes = TierEmbedder(EMBEDDER), list[Note]()
        for number in range(1, self.random.randint(9, 14)):
            is_repeated = self.random.random() < 0.4
            word = self.random.choice(_WORDS[:3]) if is_repeated else f"{_WORDS[number % len(_WORDS)]}{number}"
            topic = self.random.choice(["rides her red bicycle to the harbour", "plants roses in the old garden"])
            notes.append(
                replace(
                    make_note(number, self.owner, minutes=number),
                    note_id=note_id(self.number * 1_000 + number),
                    content=f"Ann {topic} with the {word}.",
                    importance=self.random.choice([0.05, 0.5, 0.9]),
                    derived_from=(interaction_id(self.number * 1_000 + number),),
                    keywords=tuple(topic.split()[-2:]),
                )
            )
        vectors = await embedder.embed([note.embedded_text for note in notes])
        ids = [note.note_id for note in notes]
        links = [
            Link(LinkKey(*pair, LinkType.RELATED_TO), self.random.choice([0.1, 0.6]), LinkOrigin.SIMILARITY, NOW, NOW)
            for pair in itertools.pairwise(ids)
        ]

        async def work(writer: Any) -> None:
            await writer.add_notes(notes, vectors, model=embedder.model_id)
            await writer.put_links(links)

        await self.store.write(self.owner, work)
        self.originals = {note.note_id: note.content for note in notes}
        self.sources = {note.note_id: note.derived_from[0] for note in notes}
        self.clock.advance(days=200)
        await self.store.record_access(self.owner, {ids[-1]: 70}, time=self.clock.now())

    async def check(self) -> None:
        notes: dict[str, Note] = {}
        for status in NoteStatus:
            listed = await self.store.list_notes(self.owner, NoteFilter(status=status), after=None, limit=200)
            notes.update({note.note_id: note for note in listed})
        # Who forgets a note forgets what was merged into it, which says the same.
        said = {self.originals[key] for key in self.forgotten}
        self.forgotten |= {key for key in set(self.originals) - set(notes) if self.originals[key] in said}
        assert not self.gone & set(notes), "what was erased is back"
        lost = set(self.originals) - self.gone - set(notes)
        assert not lost, f"notes that nobody removed are gone: {lost}"
        sources = {self.sources[key] for key in self.gone}
        for note in notes.values():
            assert not sources & set(note.derived_from), "a source outlives its erasure"
            assert not self.gone & set(note.source_note_ids), "a note made of what was erased is left"
            if note.successor_id is not None:
                assert note.status is NoteStatus.ARCHIVED
                assert note.successor_id in notes, "its successor is gone"
        await self._check_texts(notes)
        await self._check_vectors(notes)

    async def _check_vectors(self, notes: dict[str, Note]) -> None:
        """That notes have vectors of what they say, and of the serving model unless a job replaced those."""
        rows = await self.superuser.fetch(_VECTORS, self.owner.user_id)
        texts = {key: note.embedded_text for key, note in notes.items()}
        assert {str(row["note_id"]) for row in rows} == set(texts), "a note has no vector, or one outlives it"
        made = [note for note in notes.values() if note.source_note_ids]
        sources = {str(note.note_id): [texts[source] for source in note.source_note_ids] for note in made}
        vectors = [(str(row["note_id"]), row["model"], row["vector"], texts[str(row["note_id"])]) for row in rows]
        check_vectors(vectors, sources)
        if all(isinstance(job, FillNotes) or not isinstance(job, ReembedNotes) for job in self.jobs):
            served = {str(row["note_id"]) for row in rows if row["model"] == EMBEDDER.fingerprint}
            assert served == set(texts), "the serving model lost notes"

    async def _check_texts(self, notes: dict[str, Note]) -> None:
        made = {key: note for key, note in notes.items() if note.source_note_ids}
        texts = {note.content for key, note in notes.items() if key not in made}
        wrong = {self.corrected[key][0] for key in self.corrected}
        stale = ({self.originals[key] for key in self.gone} | wrong) - texts
        for note in made.values():
            left = [text for text in stale if text in note.content]
            assert not left, f"a made note says what was erased or corrected: {left}"
        for key, (_, after) in self.corrected.items():
            if key not in self.gone:
                assert notes[key].content == after, "a correction is lost"
        # What a note said before a correction is stored as its version, and goes with it.
        gone = {text for key in self.gone for text in (self.originals[key], *self.corrected.get(key, ()))}
        await self.check_rows(gone - {self.originals[key] for key in set(self.originals) - self.gone})
