"""What maintenance does with notes, on every driver of the note store."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest

from services.agentic.config import AgenticSettings, ConsolidationSettings, FadingSettings, PruningSettings
from services.agentic.former import FormerNotes
from services.agentic.maintenance.consolidation import ConsolidateNotes
from services.agentic.maintenance.fading import FadeLinks
from services.agentic.maintenance.made_notes import NoteMaker
from services.agentic.maintenance.making import NoteMaking
from services.agentic.maintenance.pruning import PruneNotes
from services.agentic.model import Link, LinkKey, LinkOrigin, LinkType, Note, NoteId, NoteKind, NoteStatus
from services.agentic.removal import NoteRemoval
from services.agentic.store import NoteFilter, NoteSearch, NoteStore, WalkSettings
from services.common.maintenance import Change, Job
from services.common.scope import GLOBAL_SCOPE
from services.common.tier_embedder import TierEmbedder
from services.common.tokens import token_counter
from tests.contract.note_samples import ANN, BOB, NOW, OTHER_TENANTS_ANN, interaction_id, make_note, note_id
from tests.support.clock import FakeClock
from tests.support.embedding import HashingEmbedder

RIDES = [
    "Ann rides her red bicycle to the harbour on 3 May.",
    "Ann rides her red bicycle to the harbour with Tom.",
    "Ann rides her red bicycle to the harbour every Monday.",
    "Ann rides her red bicycle to the harbour in 25 minutes.",
]


class NoteUpkeepContract:
    """Subclass it with a fixture `store` that returns a fresh, empty store."""

    @pytest.fixture
    def clock(self) -> FakeClock:
        return FakeClock(NOW + timedelta(days=1))

    @pytest.fixture
    def embedder(self) -> TierEmbedder:
        return TierEmbedder(HashingEmbedder())

    def consolidation(
        self, store: NoteStore, embedder: TierEmbedder, clock: FakeClock, **fields: Any
    ) -> ConsolidateNotes:
        settings = ConsolidationSettings(**{"share_max": 1.0, "cluster_similarity_min": 0.6, **fields})
        making, maker = NoteMaking(store, embedder, clock), NoteMaker(token_counter())
        return ConsolidateNotes(store, making, maker, clock, settings, model=embedder.model_id)

    async def put(self, store: NoteStore, embedder: TierEmbedder, *notes: Note) -> None:
        vectors = await embedder.embed([note.embedded_text for note in notes])
        await store.write(ANN, lambda writer: writer.add_notes(notes, vectors, model=embedder.model_id))

    def notes(self, *contents: str, **fields: Any) -> list[Note]:
        return [
            replace(
                make_note(number, minutes=number),
                content=content,
                derived_from=(interaction_id(number),),
                keywords=("bicycle", "harbour"),
                **fields,
            )
            for number, content in enumerate(contents, 1)
        ]

    async def run(self, job: Job[Any], clock: FakeClock) -> list[Change]:
        made: list[Change] = []
        async for step in job.steps(after="", owner=ANN):
            made += await job.apply(ANN, job.plan(step.state, clock.now()))
        return made

    async def active(self, store: NoteStore, status: NoteStatus = NoteStatus.ACTIVE) -> dict[NoteId, Note]:
        found = await store.list_notes(ANN, NoteFilter(status=status), after=None, limit=100)
        return {note.note_id: note for note in found}

    async def at(self, store: NoteStore, embedder: TierEmbedder, time: datetime) -> set[NoteId]:
        """The notes that a search finds as of a time (SPEC 3.7)."""
        vector = await embedder.embed_query("Ann")
        wanted = NoteSearch(vector, embedder.model_id, GLOBAL_SCOPE, 20, 0, WalkSettings())
        hits = await FormerNotes(store, candidates=20).search(ANN, wanted, known_at=time, held_at=None)
        return {hit.note.note_id for hit in hits}

    async def test_owners_are_listed_across_tenants_and_notes_in_pages(
        self, store: NoteStore, embedder: TierEmbedder
    ) -> None:
        vectors = await embedder.embed(["a", "b", "c"])
        for owner in (BOB, OTHER_TENANTS_ANN, ANN):
            notes = [make_note(number, owner) for number in (1, 2, 3)]
            await store.write(owner, lambda w, n=notes: w.add_notes(n, vectors, model=embedder.model_id))  # type: ignore[misc]
        assert await store.note_owners(after=None, limit=9) == [ANN, BOB, OTHER_TENANTS_ANN]
        assert await store.note_owners(after=ANN, limit=1) == [BOB]
        assert await store.note_owners(after=ANN, limit=9) == [BOB, OTHER_TENANTS_ANN]
        assert await store.note_owners(after=BOB, limit=1) == [OTHER_TENANTS_ANN]
        assert await store.note_owners(after=OTHER_TENANTS_ANN, limit=9) == []
        page = await store.active_notes(ANN, after=note_id(1), limit=1, model=embedder.model_id)
        assert [stored.note.note_id for stored in page] == [note_id(2)]
        assert page[0].vector is not None
        assert page[0].vector @ vectors[1] == pytest.approx(1.0)
        [other] = await store.active_notes(ANN, after=note_id(2), limit=9, model="other")
        assert other.vector is None

    async def test_spec_4_4_duplicates_are_merged_past_the_value_guard_and_come_back_by_undo(
        self, store: NoteStore, embedder: TierEmbedder, clock: FakeClock
    ) -> None:
        said = ("Ann is allergic to nuts.", "Ann is allergic to nuts.", "Ann is not allergic to nuts.")
        notes = self.notes(*said)
        await self.put(store, embedder, *notes[:1], replace(notes[1], importance=0.9), *notes[2:])
        job = self.consolidation(store, embedder, clock, duplicate_similarity_min=0.7)
        made = await self.run(job, clock)
        assert [(change.action, change.target, change.retires) for change in made] == [("merge", note_id(2), 1)]
        active, archived = await self.active(store), await self.active(store, NoteStatus.ARCHIVED)
        assert set(active) == {note_id(1), note_id(3)}
        assert active[note_id(1)].importance == 0.9
        assert archived[note_id(2)].successor_id == note_id(1)
        assert await self.at(store, embedder, clock.now() - timedelta(hours=1)) == {note_id(n) for n in (1, 2, 3)}
        assert await self.at(store, embedder, clock.now()) == {note_id(1), note_id(3)}
        assert await job.undo(ANN, made) == 1
        assert await job.undo(ANN, made) == 0
        restored = await self.active(store)
        assert {i: (n.importance, n.successor_id) for i, n in restored.items()} == {
            note_id(1): (0.5, None), note_id(2): (0.9, None), note_id(3): (0.5, None),
        }  # fmt: skip

    async def test_spec_4_4_what_was_changed_since_the_plan_is_left_alone(
        self, store: NoteStore, embedder: TierEmbedder, clock: FakeClock
    ) -> None:
        notes = self.notes("Ann likes tea.", "Ann likes tea.")
        await self.put(store, embedder, *notes)
        job = self.consolidation(store, embedder, clock)
        [step] = [step async for step in job.steps(after="", owner=ANN)]
        changes = job.plan(step.state, clock.now())
        changed = replace(notes[1], content="Ann likes coffee.", update_time=clock.now())
        await store.write(ANN, lambda writer: writer.update_notes([changed]))
        assert len(changes) == 1
        assert await job.apply(ANN, changes) == []

    async def test_spec_4_4_ten_runs_over_the_same_notes_change_them_once(
        self, store: NoteStore, embedder: TierEmbedder, clock: FakeClock
    ) -> None:
        await self.put(store, embedder, *self.notes(*RIDES, "Ann sings in a choir.", "Ann sings in a choir."))
        job = self.consolidation(store, embedder, clock)
        first = await self.run(job, clock)
        assert sorted(change.action for change in first) == ["make_concept", "merge"]
        after_first = await self.active(store)
        for _ in range(9):
            clock.advance(seconds=3_600)
            assert await self.run(job, clock) == []
        assert await self.active(store) == after_first
        [concept] = [note for note in after_first.values() if note.source_note_ids]
        assert concept.kind is NoteKind.CONCEPT
        assert concept.source_note_ids == tuple(note_id(number) for number in range(1, 5))
        assert all(detail in concept.content for detail in ("3 May", "Tom", "Monday", "25 minutes", "bicycle"))
        links = (await store.get(ANN, concept.note_id, links_max=9)).links
        assert {(link.key.from_note_id, link.key.type) for link in links} == {
            (note_id(number), LinkType.PART_OF) for number in range(1, 5)
        }
        [hit] = [hit for hit in await store.active_notes(ANN, after=NoteId(""), limit=99, model=embedder.model_id)
                 if hit.note.note_id == concept.note_id]  # fmt: skip
        assert hit.vector is not None, "the concept is searchable"
        assert await job.undo(ANN, first) == 2
        assert set(await self.active(store)) == {note_id(number) for number in range(1, 7)}

    async def test_spec_4_4_of_several_concepts_that_one_is_not_made_whose_source_was_changed(
        self, store: NoteStore, embedder: TierEmbedder, clock: FakeClock
    ) -> None:
        roses = [f"Ann plants roses in the old garden {when}." for when in ("in May", "with Tom", "at noon", "again")]
        await self.put(store, embedder, *self.notes(*RIDES, *roses))
        job = self.consolidation(store, embedder, clock)
        [step] = [step async for step in job.steps(after="", owner=ANN)]
        changes = job.plan(step.state, clock.now())
        assert [change.action for change in changes] == ["make_concept", "make_concept"]
        removal = NoteRemoval(store, embedder, clock=clock, settings=AgenticSettings())
        await removal.by_source(ANN, [interaction_id(6)])
        assert await job.apply(ANN, changes) == [changes[0]]
        concepts = [note for note in (await self.active(store)).values() if note.source_note_ids]
        assert [concept.note_id for concept in concepts] == [changes[0].target]
        assert await job.undo(ANN, changes) == 1
        assert set(await self.active(store)) == {note_id(number) for number in (1, 2, 3, 4, 5, 7, 8)}

    async def test_spec_4_4_the_vector_of_a_concept_is_the_mean_of_its_sources(
        self, store: NoteStore, embedder: TierEmbedder, clock: FakeClock
    ) -> None:
        notes = self.notes(*RIDES)
        await self.put(store, embedder, *notes)
        [made] = await self.run(self.consolidation(store, embedder, clock), clock)
        found = await store.active_notes(ANN, after=NoteId(""), limit=100, model=embedder.model_id)
        [concept] = [stored.vector for stored in found if stored.note.note_id == made.target]
        mean = (await embedder.embed([note.embedded_text for note in notes])).mean(axis=0)
        assert concept is not None
        assert concept == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)

    async def test_spec_4_4_no_concept_is_made_of_notes_whose_vectors_are_of_another_model(
        self, store: NoteStore, embedder: TierEmbedder, clock: FakeClock
    ) -> None:
        notes = self.notes(*RIDES)
        await self.put(store, embedder, *notes)
        job = self.consolidation(store, embedder, clock)
        [step] = [step async for step in job.steps(after="", owner=ANN)]
        changes = job.plan(step.state, clock.now())
        vectors = await embedder.embed([note.embedded_text for note in notes])
        ids = [note.note_id for note in notes]
        await store.write(ANN, lambda writer: writer.replace_vectors(ids, vectors, model="another"))
        assert await job.apply(ANN, changes) == []

    async def test_spec_4_4_a_note_is_merged_and_raised_in_one_run(
        self, store: NoteStore, embedder: TierEmbedder, clock: FakeClock
    ) -> None:
        notes = self.notes("Ann likes tea.", "Ann likes tea.")
        await self.put(store, embedder, notes[0], replace(notes[1], importance=0.7))
        await store.record_access(ANN, {note_id(1): 8}, time=clock.now())
        job = self.consolidation(store, embedder, clock)
        made = await self.run(job, clock)
        assert [change.action for change in made] == ["merge", "raise"]
        assert (await self.active(store))[note_id(1)].importance == pytest.approx(0.75)
        assert await self.run(job, clock) == []
        assert await job.undo(ANN, made[::-1]) == 2
        assert {i: n.importance for i, n in (await self.active(store)).items()} == {note_id(1): 0.5, note_id(2): 0.7}

    async def test_spec_4_4_an_importance_that_was_set_since_the_plan_is_not_raised(
        self, store: NoteStore, embedder: TierEmbedder, clock: FakeClock
    ) -> None:
        notes = self.notes("Ann likes tea.")
        await self.put(store, embedder, *notes)
        await store.record_access(ANN, {note_id(1): 8}, time=clock.now())
        job = self.consolidation(store, embedder, clock)
        [step] = [step async for step in job.steps(after="", owner=ANN)]
        changes = job.plan(step.state, clock.now())
        await store.write(ANN, lambda writer: writer.update_notes([replace(notes[0], importance=0.2)]))
        assert len(changes) == 1
        assert await job.apply(ANN, changes) == []
        assert (await self.active(store))[note_id(1)].importance == 0.2

    async def test_spec_4_4_a_concept_grows_by_what_is_new_in_its_topic(
        self, store: NoteStore, embedder: TierEmbedder, clock: FakeClock
    ) -> None:
        notes = self.notes(*RIDES, "Ann rides her red bicycle to the harbour at 08:25.")
        await self.put(store, embedder, *notes[:4])
        job = self.consolidation(store, embedder, clock)
        [made] = await self.run(job, clock)
        await self.put(store, embedder, notes[4])
        [grown] = await self.run(job, clock)
        assert (made.action, grown.action, grown.target) == ("make_concept", "update_concept", made.target)
        concept = (await self.active(store))[NoteId(made.target)]
        assert "08:25" in concept.content
        assert len(concept.source_note_ids) == 5
        assert await self.run(job, clock) == []
        assert await job.undo(ANN, [grown]) == 1
        assert len((await self.active(store))[NoteId(made.target)].source_note_ids) == 4

    async def test_spec_4_4_what_is_used_often_becomes_more_important(
        self, store: NoteStore, embedder: TierEmbedder, clock: FakeClock
    ) -> None:
        await self.put(store, embedder, *self.notes("Ann likes tea."))
        await store.record_access(ANN, {note_id(1): 70}, time=clock.now())
        job = self.consolidation(store, embedder, clock)
        made = await self.run(job, clock)
        assert (await self.active(store))[note_id(1)].importance == pytest.approx(0.6)
        assert await self.run(job, clock) == []
        assert await job.undo(ANN, made) == 1
        assert (await self.active(store))[note_id(1)].importance == 0.5

    async def test_spec_4_4_a_run_has_a_cap_on_what_it_raises_and_makes_and_the_next_goes_on(
        self, store: NoteStore, embedder: TierEmbedder, clock: FakeClock
    ) -> None:
        others = [f"Ann keeps animal number {number}, a {name}." for number, name in enumerate("abcdefghijklmnopqrstu")]
        notes = self.notes(*RIDES, *others)
        await self.put(store, embedder, *notes)
        await store.record_access(ANN, {note.note_id: 8 for note in notes}, time=clock.now())
        job = self.consolidation(store, embedder, clock, changes_share_max=0.0, cluster_notes_max=4)
        first = await self.run(job, clock)
        assert [change.action for change in first] == ["raise"] * 20
        rest = await self.run(job, clock)
        assert [change.action for change in rest][:5] == ["raise"] * 5
        assert "make_concept" in {change.action for change in rest}
        assert not {change.target for change in first} & {change.target for change in rest}
        assert await self.run(job, clock) == []

    async def test_spec_4_5_faded_notes_are_archived_as_a_summary_that_leads_back(
        self, store: NoteStore, embedder: TierEmbedder, clock: FakeClock
    ) -> None:
        faint = self.notes(*RIDES[:3], "Ann sings.", "Ann keeps a boat.")
        old = [replace(note, importance=0.12) for note in faint[:3]]
        await self.put(store, embedder, *old, replace(faint[3], importance=0.01), faint[4])
        later = NOW + timedelta(days=120)
        clock.advance(days=200)
        await store.record_access(ANN, {note_id(4): 1, note_id(5): 1}, time=later)
        maker = NoteMaker(token_counter())
        job = PruneNotes(store, NoteMaking(store, embedder, clock), maker, PruningSettings(), page=2)
        made = await self.run(job, clock)
        assert [(change.action, change.retires) for change in made] == [("summarise", 3)]
        active = await self.active(store)
        assert set(active) == {note_id(4), note_id(5), NoteId(made[0].target)}, "importance alone retires nothing"
        summary = active[NoteId(made[0].target)]
        assert summary.source_note_ids == tuple(note_id(number) for number in (1, 2, 3))
        assert all(detail in summary.content for detail in ("3 May", "Tom", "Monday"))
        archived = await self.active(store, NoteStatus.ARCHIVED)
        assert {note.successor_id for note in archived.values()} == {summary.note_id}
        assert await self.at(store, embedder, clock.now() - timedelta(hours=1)) == {note_id(n) for n in range(1, 6)}
        assert await self.at(store, embedder, clock.now()) == {note_id(4), note_id(5), summary.note_id}
        assert await self.run(job, clock) == []
        assert await job.undo(ANN, made) == 1
        assert len(await self.active(store)) == 5

    async def test_spec_4_3_idle_links_fade_by_time_and_go_when_they_are_weak(
        self, store: NoteStore, embedder: TierEmbedder, clock: FakeClock
    ) -> None:
        await self.put(store, embedder, *self.notes("a", "b", "c", "d"))

        def link(one: int, two: int, strength: float, origin: LinkOrigin) -> Link:
            return Link(LinkKey(note_id(one), note_id(two), LinkType.RELATED_TO), strength, origin, NOW, NOW)

        links = [
            link(1, 2, 0.5, LinkOrigin.SIMILARITY),
            link(1, 3, 0.102, LinkOrigin.USE),
            link(1, 4, 0.5, LinkOrigin.CALLER),
        ]
        await store.write(ANN, lambda writer: writer.put_links(links))
        job = FadeLinks(store, clock, FadingSettings(), page=2)
        clock.advance(days=400)
        assert await self.run(job, clock) == [], "no time passes for a user who is away"
        await store.record_access(ANN, {note_id(4): 1}, time=NOW + timedelta(days=65))
        made = await self.run(job, clock)
        assert await self.run(job, clock) == []
        found = {link.key.to_note_id: link for link in (await store.get(ANN, note_id(1), links_max=9)).links}
        assert set(found) == {note_id(2), note_id(4)}
        assert found[note_id(2)].strength == pytest.approx(0.5 * 0.95**2)
        assert found[note_id(2)].update_time == NOW + timedelta(days=60)
        assert found[note_id(4)].strength == 0.5
        assert await job.undo(ANN, made) == 2
        assert list((await store.get(ANN, note_id(1), links_max=9)).links) == [links[0], links[2], links[1]]

    async def test_spec_4_3_a_link_that_became_too_weak_goes_without_waiting_for_a_period(
        self, store: NoteStore, embedder: TierEmbedder, clock: FakeClock
    ) -> None:
        await self.put(store, embedder, *self.notes("a", "b", "c"))

        def link(two: int, origin: LinkOrigin) -> Link:
            return Link(LinkKey(note_id(1), note_id(two), LinkType.RELATED_TO), 0.09, origin, NOW, NOW)

        links = [link(2, LinkOrigin.SIMILARITY), link(3, LinkOrigin.CALLER)]
        await store.write(ANN, lambda writer: writer.put_links(links))
        job = FadeLinks(store, clock, FadingSettings(), page=2)
        made = await self.run(job, clock)
        assert [change.action for change in made] == ["remove_link"]
        assert list((await store.get(ANN, note_id(1), links_max=9)).links) == [links[1]]
        assert await job.undo(ANN, made) == 1

    async def test_spec_6_6_nothing_that_maintenance_made_outlives_its_source(
        self, store: NoteStore, embedder: TierEmbedder, clock: FakeClock
    ) -> None:
        contents = (*RIDES, "Ann likes tea.", "Ann likes tea.")
        await self.put(store, embedder, *self.notes(*contents))
        job = self.consolidation(store, embedder, clock)
        made = await self.run(job, clock)
        assert len(made) == 2
        removal = NoteRemoval(store, embedder, clock=clock, settings=AgenticSettings())
        await removal.by_source(ANN, [interaction_id(2), interaction_id(5)])
        active = await self.active(store)
        # The concept told of the second ride. What was merged into the erased note has a source of its own.
        assert set(active) == {note_id(number) for number in (1, 3, 4, 6)}
        assert active[note_id(6)].successor_id is None
        assert await self.active(store, NoteStatus.ARCHIVED) == {}
        assert await job.undo(ANN, made) == 0
        assert not [note for note in (await self.active(store)).values() if "Tom" in note.content]
