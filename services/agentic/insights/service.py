"""Use cases that look at a user's notes as a whole; they change nothing."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import IntEnum
from typing import Final

from services.agentic.access import AccessRecorder
from services.agentic.config import AgenticSettings, InsightSettings
from services.agentic.insights import reports
from services.agentic.insights.question import AskedQuestion, Intent, ParsedQuestion, parse_question, read_question
from services.agentic.maintenance.reading import NoteReading, UserNotes
from services.agentic.model import LinkType, Note, NoteId, ScoredNote
from services.agentic.store import NoteSearch, NoteStore
from services.agentic.upkeep_store import StoredNote
from services.common.clock import Clock
from services.common.embedding.vectors import Vector
from services.common.owners import Owner
from services.common.scope import Reader
from services.common.speaker_names import Names
from services.common.tier_embedder import TierEmbedder

_WORD: Final = re.compile(r"[^\W_]+")


class SuggestionKind(IntEnum):
    """What a suggestion is about; the numbers are those of the wire format."""

    RELATED_TOPIC = 1
    GAP = 2
    CONTRADICTION = 3


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One of them."""

    kind: SuggestionKind
    topic: str
    note_ids: tuple[NoteId, ...]
    score: float  # in [0, 1]


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """What was found for a question."""

    parsed: ParsedQuestion
    notes: tuple[Note, ...] = ()
    note_count: int = 0  # that fit, listed or not
    topics: tuple[tuple[str, int], ...] = field(default=())


class InsightService:
    """Suggestions, questions, reflection, health."""

    def __init__(
        self,
        store: NoteStore,
        embedder: TierEmbedder,
        recorder: AccessRecorder,
        *,
        clock: Clock,
        settings: AgenticSettings,
    ) -> None:
        """All collaborators are owned by the caller."""
        self._store = store
        self._embedder = embedder
        self._recorder = recorder
        self._clock = clock
        self._settings = settings
        page = settings.consolidation.notes_page
        self._reading = NoteReading(store, model=embedder.model_id, page=page, with_links=True)

    async def health(self, owner: Owner) -> reports.Health:
        """Measures of a user's active notes."""
        state = await self._reading.read(owner)
        return await asyncio.to_thread(reports.measure, state, self._settings.consolidation, self._settings.pruning)

    async def reflect(
        self, owner: Owner, reader: Reader, start_time: datetime | None, end_time: datetime | None
    ) -> reports.Reflection:
        """A period of the notes that a reader may see; the last days where none is given."""
        end = end_time or self._clock.now()
        state = _seen(await self._reading.read(owner), reader)
        start = start_time or end - timedelta(days=self._settings.insights.reflection_days)
        topics_max = self._settings.insights.reflection_topics_max
        return await asyncio.to_thread(reports.reflect, state, start, end, topics_max=topics_max)

    async def ask(self, owner: Owner, reader: Reader, question: str, *, limit: int) -> QuestionResult:
        """What the notes say to a question in plain English, with how it was read."""
        now = self._clock.now()
        parsed = parse_question(question, now)
        if parsed.refusal:
            return QuestionResult(parsed)
        state = _seen(await self._reading.read(owner), reader)
        asked = read_question(question, now, _speakers(state.notes))
        vectors = [await self._embedder.embed_query(text) for text in dict.fromkeys((asked.topic, asked.text)) if text]
        fitting = await asyncio.to_thread(fitting_notes, state.notes, asked, vectors, self._settings.insights)
        if parsed.intent is Intent.AGGREGATE:
            topics = reports.topics_of(fitting, limit) if parsed.by_topic else ()
            return QuestionResult(asked.parsed, note_count=len(fitting), topics=topics)
        notes = tuple(fitting[:limit])
        self._recorder.record(owner, [note.note_id for note in notes])
        return QuestionResult(asked.parsed, notes, len(fitting))

    async def suggest(self, owner: Owner, reader: Reader, queries: Sequence[str], *, limit: int) -> list[Suggestion]:
        """Topics that links lead to from recent queries, or from the notes used last; gaps; contradictions."""
        state = _seen(await self._reading.read(owner), reader)
        settings = self._settings.insights
        gaps: list[Suggestion] = []
        reached: list[ScoredNote] = []
        seeds: set[NoteId] = set()
        names = _speakers(state.notes)
        spoken = [names.to_first_person(query) for query in queries]
        for query, vector in zip(queries, await self._embedder.embed(spoken) if spoken else (), strict=True):
            hits = await self._search(owner, reader, vector, hops=2)
            best = max((hit.similarity for hit in hits), default=0.0)
            if best < settings.gap_similarity_max:
                gaps.append(Suggestion(SuggestionKind.GAP, query, (), 1.0 - max(0.0, best)))
                continue
            reached += [hit for hit in hits if hit.path]
            # What is merely not linked to one query may be reached from another one.
            near = [hit for hit in hits if not hit.path and hit.similarity >= settings.topic_similarity_min]
            seeds |= {hit.note.note_id for hit in near}
        if not queries:
            used = sorted(state.notes, key=lambda stored: stored.note.last_access_time or stored.note.create_time)
            seeds = {stored.note.note_id for stored in used[-settings.used_notes :]}
            reached = _linked(state, seeds)
        related = _topics(reached, seeds, settings.topic_words)
        about = seeds | {hit.note.note_id for hit in reached}
        contradictions = _contradictions(state, about, settings.topic_words)
        return [*related[:limit], *gaps[:limit], *contradictions[:limit]]

    async def _search(self, owner: Owner, reader: Reader, vector: Vector, *, hops: int) -> list[ScoredNote]:
        limit, walk = self._settings.insights.hits_max, self._settings.walk
        search = NoteSearch(vector, self._embedder.model_id, reader, limit, hops, walk)
        return await self._store.search(owner, search)


def _seen(state: UserNotes, reader: Reader) -> UserNotes:
    """What a reader may see."""
    keys = set(reader.visible_keys())
    notes = [stored for stored in state.notes if stored.note.scope.key in keys]
    ids = {stored.note.note_id for stored in notes}
    links = [link for link in state.links if link.key.from_note_id in ids and link.key.to_note_id in ids]
    return replace(state, notes=notes, links=links)


def fitting_notes(
    stored: Sequence[StoredNote], asked: AskedQuestion, vectors: Sequence[Vector], settings: InsightSettings
) -> list[Note]:
    """All notes that a question asks for: the nearest first, or the newest where it names no topic.

    Args:
        stored: All that the reader sees.
        asked: How the question was read.
        vectors: Of its topic, and of the question itself; none where it names no topic.
        settings: From which similarity on a note is about a topic.
    """
    parsed = asked.parsed
    names = _speakers(stored)
    wanted = [one for one in stored if _fits(one.note, parsed) and _is_of(one.note, asked, names)]
    if not vectors:
        return sorted((one.note for one in wanted), key=_time, reverse=True)[: parsed.count_max]
    words = asked.topic.casefold().split()
    near = [(_similarity(one, vectors), one.note) for one in wanted]
    about = [pair for pair in near if pair[0] >= settings.topic_similarity_min or _holds(pair[1], words)]
    if not about and parsed.intent is not Intent.AGGREGATE:
        about = [pair for pair in near if pair[0] >= settings.nearest_similarity_min]
    if parsed.newest:
        return sorted((note for _, note in about), key=_time, reverse=True)[: parsed.count_max]
    return [note for _, note in sorted(about, key=lambda pair: -pair[0])]


def _speakers(stored: Sequence[StoredNote]) -> Names:
    """The names of those who speak in notes."""
    return Names.of(tuple(sorted({one.note.speaker for one in stored})))


def _is_of(note: Note, asked: AskedQuestion, names: Names) -> bool:
    """Whether a note may be meant where the question names speakers: others' notes must name one of them too.

    Notes of nobody's name, such as those that a caller wrote, may be meant too where the question has a topic.
    """
    if not asked.named or not set(asked.named).isdisjoint(names.named_in(f"{note.speaker}: {note.content}")):
        return True
    return bool(asked.topic) and not names.named_in(note.speaker)


def _similarity(stored: StoredNote, vectors: Sequence[Vector]) -> float:
    """To the nearest of some vectors; -1 where the note has none."""
    return -1.0 if stored.vector is None else max(float(stored.vector @ vector) for vector in vectors)


def _time(note: Note) -> datetime:
    return note.time


def _holds(note: Note, words: Sequence[str]) -> bool:
    """Whether all words of a topic stand in a note."""
    said = set(_WORD.findall(note.content.casefold()))
    return all(part in said for word in words for part in _WORD.findall(word))


def _fits(note: Note, parsed: ParsedQuestion) -> bool:
    return (
        (parsed.kind is None or note.kind is parsed.kind)
        and (parsed.start_time is None or note.time >= parsed.start_time)
        and (parsed.end_time is None or note.time < parsed.end_time)
    )


def _linked(state: UserNotes, seeds: set[NoteId]) -> list[ScoredNote]:
    """Notes one link away from some, by the strength of the link."""
    notes = {stored.note.note_id: stored.note for stored in state.notes}
    found: dict[NoteId, float] = {}
    for link in state.links:
        ends = {link.key.from_note_id, link.key.to_note_id}
        for end in ends - seeds if ends & seeds else ():
            found[end] = max(found.get(end, 0.0), link.strength)
    return [ScoredNote(notes[note_id], strength, 0.0) for note_id, strength in found.items()]


def _topics(reached: Sequence[ScoredNote], seeds: set[NoteId], topic_words: int) -> list[Suggestion]:
    """One suggestion for each topic, the best of its notes first."""
    found: dict[str, Suggestion] = {}
    for hit in sorted(reached, key=lambda hit: (-hit.score, hit.note.note_id)):
        topic = ", ".join(hit.note.keywords[:topic_words])
        if not topic or hit.note.note_id in seeds:
            continue
        known = found.get(topic)
        if known is None:
            score = min(1.0, max(0.0, hit.score))
            found[topic] = Suggestion(SuggestionKind.RELATED_TOPIC, topic, (hit.note.note_id,), score)
        elif hit.note.note_id not in known.note_ids:
            found[topic] = replace(known, note_ids=(*known.note_ids, hit.note.note_id))
    return list(found.values())


def _contradictions(state: UserNotes, near: set[NoteId], topic_words: int) -> list[Suggestion]:
    """Contradictions, those near the queries first."""
    notes = {stored.note.note_id: stored.note for stored in state.notes}
    found = []
    for link in state.links:
        if link.key.type is LinkType.CONTRADICTS:
            ends = (link.key.from_note_id, link.key.to_note_id)
            topic = ", ".join(notes[ends[0]].keywords[:topic_words])
            found.append((not near & set(ends), Suggestion(SuggestionKind.CONTRADICTION, topic, ends, link.strength)))
    return [each for _, each in sorted(found, key=lambda item: (item[0], -item[1].score, item[1].note_ids))]
