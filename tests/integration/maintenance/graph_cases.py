"""Jobs of the semantic and the agentic tier with facts, notes and links for them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

from services.agentic.config import ConsolidationSettings, FadingSettings, PruningSettings
from services.agentic.former_vectors import NoteVectors
from services.agentic.maintenance.consolidation import ConsolidateNotes
from services.agentic.maintenance.fading import FadeLinks
from services.agentic.maintenance.made_notes import NoteMaker
from services.agentic.maintenance.making import NoteMaking
from services.agentic.maintenance.pruning import PruneNotes
from services.agentic.model import Link, LinkKey, LinkOrigin, LinkType, Note, NoteId, NoteStatus
from services.agentic.store import NoteFilter, NoteSearch, NoteWriter, WalkSettings
from services.agentic.stores.postgres import PostgresNoteStore
from services.common.ids import Uuid7Ids
from services.common.maintenance import Job
from services.common.model_change import ModelChangeSettings, ReembedRows
from services.common.owners import Owner
from services.common.scope import GLOBAL_SCOPE
from services.common.tier_embedder import TierEmbedder
from services.common.tokens import token_counter
from services.semantic.config import FactMergingSettings, FactRetentionSettings, SemanticSettings
from services.semantic.facts.model import ACTIVE, Fact, FactDraft, FactStatus
from services.semantic.facts.store import FactFilter, FactSearch
from services.semantic.facts.stores.postgres import PostgresFactStore
from services.semantic.facts.stores.postgres_upkeep import PostgresFactUpkeep
from services.semantic.facts.stores.postgres_vectors import PostgresFactVectors
from services.semantic.maintenance.merging import MergeFacts
from services.semantic.maintenance.retention import RetainFacts
from tests.contract.fact_samples import ANN, ANN_ELSEWHERE, DAY_ONE, EMBEDDER, enter, likes, said
from tests.contract.note_samples import ANN as NOTES_ANN
from tests.contract.note_samples import BOB, NOW, interaction_id, make_note, note_id
from tests.integration.maintenance.places import SECOND, JobCase, Place, Seen
from tests.support.embedding import HashingEmbedder

FACT_OWNERS: Final = (ANN, ANN_ELSEWHERE)
NOTE_OWNERS: Final = (NOTES_ANN, BOB)
REEMBEDDING: Final = ModelChangeSettings(batch_max=3, owners_page=1)
EVERY_STATUS: Final = FactFilter(statuses=frozenset(FactStatus))


@dataclass(frozen=True)
class FactCase:
    """A job on two users' facts."""

    name: str
    days: int
    index_count: int = 0
    comes_back: bool = True

    def drafts(self) -> list[FactDraft]:
        about = replace(likes("tea"), predicate="event", importance=0.5)
        texts = ["Ann has a dozen chairs", "Ann has twelve chairs", "Ann has twelve tables", "Ann watches a series"]
        texts += ["Ann keeps a dozen hens", "Ann keeps twelve hens"]
        return [replace(about, text=text, object=text.removeprefix("Ann ")) for text in texts]

    async def fill(self, place: Place) -> None:
        for owner in FACT_OWNERS:
            statements = [said(draft, day=day) for day, draft in enumerate(self.drafts())]
            lasting = replace(likes("nuts"), text="Ann is allergic to nuts", importance=0.95)
            await enter(_facts(place), owner, [*statements, said(lasting)])
            await enter(_facts(place), owner, [said(lasting, day=self.days)])  # time goes by until then
        place.clock.set(DAY_ONE + timedelta(days=self.days))

    def job(self, place: Place) -> Job[Any]:
        raise NotImplementedError

    async def settle(self, place: Place) -> None:
        """Nothing else works on facts."""

    async def seen(self, place: Place) -> Seen:
        found = [(owner, fact) for owner in FACT_OWNERS for fact in (await self.facts(place, owner)).values()]
        states = (
            f"{_named(owner, fact)} {fact.status.name} {fact.confidence:.4f} {fact.evidence_count} "
            f"{fact.merged_into_fact_id}"
            for owner, fact in found
        )
        return Seen(
            frozenset(_named(owner, fact) for owner, fact in found if fact.status in ACTIVE),
            frozenset(_named(owner, fact) for owner, fact in found),
            frozenset(states),
        )

    async def facts(self, place: Place, owner: Owner) -> Mapping[str, Fact]:
        listed = await _facts(place).list_facts(owner, which=EVERY_STATUS, after=None, limit=500)
        return {fact.fact_id: fact for fact in listed}

    async def check(self, place: Place) -> None:
        for owner in FACT_OWNERS:
            facts = await self.facts(place, owner)
            for fact in facts.values():
                if fact.status is FactStatus.MERGED_INTO:
                    assert fact.merged_into_fact_id is not None
                    winner = facts[fact.merged_into_fact_id]
                    assert winner.status in ACTIVE, "a fact was merged into one that is not found"
                    assert set(fact.derived_from) <= set(winner.derived_from), "the winner lacks evidence"


class Merge(FactCase):
    def job(self, place: Place) -> Job[Any]:
        easy = FactMergingSettings(cosine_above=0.5, share_max=1.0)
        settings = SemanticSettings(merging=easy, retention=FactRetentionSettings(owners_page=1))
        upkeep = PostgresFactUpkeep(place.pool)
        return MergeFacts(upkeep, _facts(place), TierEmbedder(EMBEDDER), Uuid7Ids(place.clock), settings)


class RetainOldFacts(FactCase):
    def job(self, place: Place) -> Job[Any]:
        settings = FactRetentionSettings(share_max=1.0, owners_page=1)
        return RetainFacts(PostgresFactUpkeep(place.pool), place.clock, settings)


class ReembedFacts(FactCase):
    """The vectors of facts become those of another model."""

    def job(self, place: Place) -> Job[Any]:
        return ReembedRows(self.name, PostgresFactVectors(place.pool), TierEmbedder(SECOND), REEMBEDDING)

    async def seen(self, place: Place) -> Seen:
        """Found is what the new model finds."""
        return replace(await super().seen(place), recallable=await self.found(place, SECOND))

    async def found(self, place: Place, embedder: HashingEmbedder) -> frozenset[str]:
        found = set[str]()
        for owner in FACT_OWNERS:
            vector, model = embedder.vector("Ann"), embedder.fingerprint
            search = FactSearch(vector, model, GLOBAL_SCOPE, 100, 0.0, includes_threshold=True)
            found |= {_named(owner, hit.fact) for hit in await _facts(place).search(owner, search)}
        return frozenset(found)


class FillFacts(ReembedFacts):
    """Facts get vectors of another model, beside those that they have."""

    def job(self, place: Place) -> Job[Any]:
        store, beside = PostgresFactVectors(place.pool), TierEmbedder(EMBEDDER)
        return ReembedRows(self.name, store, TierEmbedder(SECOND), REEMBEDDING, beside=beside)

    async def seen(self, place: Place) -> Seen:
        """Found is what the serving model finds, which nothing may take away."""
        seen = await FactCase.seen(self, place)
        filled = frozenset(f"filled {name}" for name in await self.found(place, SECOND))
        return replace(seen, recallable=await self.found(place, EMBEDDER), further=seen.further | filled)

    async def check(self, place: Place) -> None:
        await super().check(place)
        served = await self.found(place, EMBEDDER)
        assert len(served) == 2 * (len(self.drafts()) + 1), "the serving model does not find all"
        assert await self.found(place, SECOND) <= served


def _facts(place: Place) -> PostgresFactStore:
    return PostgresFactStore(place.pool)


def _named(owner: Owner, fact: Fact) -> str:
    return f"{owner.tenant_id}: {fact.text}"


@dataclass(frozen=True)
class NoteCase:
    """A job on two users' notes: two topics, duplicates, faded ones, and links that nobody uses."""

    name: str
    index_count: int = 0
    comes_back: bool = True

    async def fill(self, place: Place) -> None:
        embedder = _embedder()
        for start, owner in ((0, NOTES_ANN), (100, BOB)):
            notes = _notes(start, owner)
            vectors = await embedder.embed([note.embedded_text for note in notes])
            pairs = itertools.pairwise([note.note_id for note in notes])
            links = [
                Link(LinkKey(*pair, LinkType.RELATED_TO), 0.1 if number % 2 else 0.6, LinkOrigin.SIMILARITY, NOW, NOW)
                for number, pair in enumerate(pairs)
            ]
            await self._store(place).write(owner, lambda writer, n=notes, v=vectors, k=links: _put(writer, n, v, k))  # type: ignore[misc]
        place.clock.set(NOW + timedelta(days=200))
        for start, owner in ((0, NOTES_ANN), (100, BOB)):
            await self._store(place).record_access(owner, {note_id(start + 12): 70}, time=place.clock.now())

    def job(self, place: Place) -> Job[Any]:
        raise NotImplementedError

    async def settle(self, place: Place) -> None:
        """Nothing else works on notes."""

    async def seen(self, place: Place) -> Seen:
        recallable, stored, further = set[str](), set[str](), set[str]()
        for owner in NOTE_OWNERS:
            notes = await self._notes_of(place, owner)
            for note in notes.values():
                name = f"{owner.user_id} {note.kind.name} {note.content}"
                stored.add(name)
                further.add(f"{name} {note.status.name} {note.importance:.4f}")
                if note.status is NoteStatus.ACTIVE:
                    recallable.add(name)
                    for link in await self._store(place).list_links(
                        owner, note.note_id, link_type=None, after=None, limit=100
                    ):
                        ends = sorted(notes[end].content for end in (link.key.from_note_id, link.key.to_note_id))
                        further.add(f"{owner.user_id} {link.key.type.name} {ends} {link.strength:.4f}")
        return Seen(frozenset(recallable), frozenset(stored), frozenset(further))

    async def check(self, place: Place) -> None:
        for owner in NOTE_OWNERS:
            notes = await self._notes_of(place, owner)
            for note in notes.values():
                if note.status is NoteStatus.ARCHIVED:
                    assert note.successor_id is not None, "a note is out of use without a successor"
                    assert notes[note.successor_id].status is NoteStatus.ACTIVE, "its successor is not found"

    async def _notes_of(self, place: Place, owner: Owner) -> dict[NoteId, Note]:
        found: dict[NoteId, Note] = {}
        for status in NoteStatus:
            listed = await self._store(place).list_notes(owner, NoteFilter(status=status), after=None, limit=500)
            found.update({note.note_id: note for note in listed})
        return found

    def _store(self, place: Place) -> PostgresNoteStore:
        return PostgresNoteStore(place.pool)

    def _making(self, place: Place) -> NoteMaking:
        return NoteMaking(self._store(place), _embedder(), place.clock)


class Consolidate(NoteCase):
    def job(self, place: Place) -> Job[Any]:
        chosen = ConsolidationSettings(share_max=1.0, cluster_similarity_min=0.6, cluster_notes_min=3)
        making, model = self._making(place), _embedder().model_id
        maker = NoteMaker(token_counter())
        return ConsolidateNotes(self._store(place), making, maker, place.clock, chosen, model=model)


class Prune(NoteCase):
    def job(self, place: Place) -> Job[Any]:
        chosen = PruningSettings(share_max=1.0, summary_notes_min=2)
        return PruneNotes(self._store(place), self._making(place), NoteMaker(token_counter()), chosen, page=4)


class Fade(NoteCase):
    def job(self, place: Place) -> Job[Any]:
        return FadeLinks(self._store(place), place.clock, FadingSettings(), page=4)


class ReembedNotes(NoteCase):
    """The vectors of notes become those of another model."""

    def job(self, place: Place) -> Job[Any]:
        return ReembedRows(
            self.name, NoteVectors(self._store(place), captions_max=4), TierEmbedder(SECOND), REEMBEDDING
        )

    async def seen(self, place: Place) -> Seen:
        """Found is what the new model finds."""
        return replace(await super().seen(place), recallable=await self.found(place, SECOND))

    async def found(self, place: Place, embedder: HashingEmbedder) -> frozenset[str]:
        found = set[str]()
        for owner in NOTE_OWNERS:
            search = NoteSearch(embedder.vector("Ann"), embedder.fingerprint, GLOBAL_SCOPE, 100, 0, WalkSettings())
            hits = await self._store(place).search(owner, search)
            found |= {f"{owner.user_id} {hit.note.kind.name} {hit.note.content}" for hit in hits}
        return frozenset(found)


class FillNotes(ReembedNotes):
    """Notes get vectors of another model, beside those that they have."""

    def job(self, place: Place) -> Job[Any]:
        store = NoteVectors(self._store(place), captions_max=4)
        return ReembedRows(self.name, store, TierEmbedder(SECOND), REEMBEDDING, beside=_embedder())

    async def seen(self, place: Place) -> Seen:
        """Found is what the serving model finds, which nothing may take away."""
        seen = await NoteCase.seen(self, place)
        filled = frozenset(f"filled {name}" for name in await self.found(place, SECOND))
        return replace(seen, recallable=await self.found(place, EMBEDDER), further=seen.further | filled)

    async def check(self, place: Place) -> None:
        await super().check(place)
        served = await self.found(place, EMBEDDER)
        assert served == (await NoteCase.seen(self, place)).recallable, "the serving model does not find all"
        assert await self.found(place, SECOND) <= served


def _notes(start: int, owner: Owner) -> Sequence[Note]:
    words = ("anchor", "basil", "cedar", "anchor")
    topics = ("rides her red bicycle to the harbour", "plants roses in the old garden")
    return [
        replace(
            make_note(number, owner, minutes=number),
            note_id=note_id(start + number),
            content=f"Ann {topics[number % 2]} with the {words[number % 4]}{'' if number % 4 in {0, 3} else number}.",
            importance=(0.05, 0.5, 0.9)[number % 3],
            derived_from=(interaction_id(start + number),),
            keywords=tuple(topics[number % 2].split()[-2:]),
        )
        for number in range(1, 13)
    ]


async def _put(writer: NoteWriter, notes: Sequence[Note], vectors: Any, links: Sequence[Link]) -> None:
    await writer.add_notes(notes, vectors, model=_embedder().model_id)
    await writer.put_links(links)


def _embedder() -> TierEmbedder:
    return TierEmbedder(EMBEDDER)


SEMANTIC_CASES: Final[tuple[JobCase, ...]] = (
    RetainOldFacts("semantic.retain_facts", days=200),
    Merge("semantic.merge_facts", days=10),
    ReembedFacts("semantic.reembed_facts", days=10),
    FillFacts("semantic.fill_second_vectors", days=10),
)
AGENTIC_CASES: Final[tuple[JobCase, ...]] = (
    Consolidate("agentic.consolidate"),
    Prune("agentic.prune_notes"),
    Fade("agentic.fade_links"),
    ReembedNotes("agentic.reembed_notes"),
    FillNotes("agentic.fill_second_vectors"),
)
