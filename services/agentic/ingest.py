"""The use case behind GenerateNotes: interactions in, linked notes out, each interaction once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from services.agentic import linking
from services.agentic.config import AgenticSettings
from services.agentic.generation.port import AskedQuestion, GenerationItem, NoteGenerator
from services.agentic.generation.rules import asked_question, speaker_name
from services.agentic.model import (
    GenerationResult,
    InteractionId,
    Link,
    Note,
    NoteDraft,
    NoteId,
    NoteSource,
    Owner,
    TenantId,
    UserId,
)
from services.agentic.store import NeighbourQuery, NoteStore, NoteWriter, TakenTurn, TurnKey
from services.common.clock import Clock
from services.common.embedding.vectors import Matrix
from services.common.ids import IdSource
from services.common.tier_embedder import TierEmbedder


@dataclass(frozen=True, slots=True)
class _Prepared:
    """An interaction with its notes, ready to be stored."""

    source: NoteSource
    notes: tuple[Note, ...]


class NoteIngest:
    """Makes notes of interactions, embeds and links them, and stores them in one transaction per user."""

    def __init__(
        self,
        store: NoteStore,
        embedder: TierEmbedder,
        generator: NoteGenerator,
        *,
        clock: Clock,
        ids: IdSource,
        settings: AgenticSettings,
    ) -> None:
        """All collaborators are owned by the caller."""
        self._store = store
        self._embedder = embedder
        self._generator = generator
        self._clock = clock
        self._ids = ids
        self._settings = settings

    async def take(self, tenant_id: TenantId, sources: Sequence[NoteSource]) -> list[GenerationResult]:
        """The notes of each interaction, in order; for one that was taken before, those of the first time.

        Users are independent: when one fails, those before it are stored, and a repeat of the batch goes on
        there.
        """
        by_user: dict[UserId, dict[InteractionId, NoteSource]] = {}
        for source in sources:
            by_user.setdefault(source.user_id, {}).setdefault(source.interaction_id, source)
        results: dict[tuple[UserId, InteractionId], GenerationResult] = {}
        for user_id, unique in by_user.items():
            taken = await self._take_of_user(Owner(tenant_id, user_id), list(unique.values()))
            results.update({(user_id, interaction_id): result for interaction_id, result in taken.items()})
        return [results[source.user_id, source.interaction_id] for source in sources]

    async def _take_of_user(
        self, owner: Owner, sources: Sequence[NoteSource]
    ) -> Mapping[InteractionId, GenerationResult]:
        known = await self._store.taken(owner, [s.interaction_id for s in sources])
        fresh = [source for source in sources if source.interaction_id not in known]
        if not fresh:
            return known
        items = await self._with_questions(owner, fresh)
        drafts = await self._generator.generate(items)
        prepared = [
            _Prepared(item.source, tuple(self._note(item.source, draft) for draft in of_item))
            for item, of_item in zip(items, drafts, strict=True)
        ]
        # The model runs before the lock is taken, so that a slow batch does not hold up the user's other
        # writes.
        vectors = await self._embedder.embed([n.embedded_text for p in prepared for n in p.notes])

        async def work(writer: NoteWriter) -> Mapping[InteractionId, GenerationResult]:
            taken = await writer.taken([p.source.interaction_id for p in prepared])
            return {**taken, **await self._store_prepared(writer, prepared, vectors, taken)}

        return {**known, **await self._store.write(owner, work)}

    async def _with_questions(self, owner: Owner, sources: Sequence[NoteSource]) -> list[GenerationItem]:
        """Each interaction with what the turn before it asked, be it in this batch or in an earlier one."""
        here = {TurnKey(s.conversation_id, s.position): s for s in sources}
        before = [TurnKey(s.conversation_id, s.position - 1) for s in sources]
        missing = [key for key in dict.fromkeys(before) if key.position >= 0 and key not in here]
        stored = await self._store.questions(owner, missing) if missing else {}
        items: list[GenerationItem] = []
        for source, key in zip(sources, before, strict=True):
            if key in here:
                speaker, text = speaker_name(here[key]), asked_question(here[key])
            else:
                speaker, text = stored.get(key, ("", ""))
            answers = bool(text) and speaker != speaker_name(source)
            items.append(GenerationItem(source, AskedQuestion(speaker, text) if answers else None))
        return items

    async def _store_prepared(
        self,
        writer: NoteWriter,
        prepared: Sequence[_Prepared],
        vectors: Matrix,
        taken: Mapping[InteractionId, GenerationResult],
    ) -> Mapping[InteractionId, GenerationResult]:
        fresh = [p.source.interaction_id not in taken for p in prepared]
        keep = np.array([kept for p, kept in zip(prepared, fresh, strict=True) for _ in p.notes], dtype=bool)
        chosen = [p for p, kept in zip(prepared, fresh, strict=True) if kept]
        notes = [note for p in chosen for note in p.notes]
        if notes:
            await add_linked_notes(writer, notes, vectors[keep], model=self._embedder.model_id, settings=self._settings)
        results = {
            p.source.interaction_id: GenerationResult(p.source.interaction_id, tuple(n.note_id for n in p.notes))
            for p in chosen
        }
        await writer.add_taken(
            [
                TakenTurn(
                    results[p.source.interaction_id],
                    p.source.conversation_id,
                    p.source.position,
                    question=asked_question(p.source),
                    speaker=speaker_name(p.source),
                )
                for p in chosen
            ]
        )
        return results

    def _note(self, source: NoteSource, draft: NoteDraft) -> Note:
        return Note(
            note_id=NoteId(self._ids.new_id()),
            user_id=source.user_id,
            content=draft.content,
            kind=draft.kind,
            importance=draft.importance,
            time=source.turn.time,
            create_time=self._clock.now(),
            keywords=draft.keywords,
            tags=draft.tags,
            attachments=draft.attachments,
            derived_from=(source.interaction_id,),
            scope=source.scope,
            speaker=speaker_name(source),
            conversation_id=source.conversation_id,
            position=source.position,
            spoken=draft.spoken,
        )


async def add_linked_notes(
    writer: NoteWriter, notes: Sequence[Note], vectors: Matrix, *, model: str, settings: AgenticSettings
) -> list[Link]:
    """Store new notes with links to their nearest neighbours; returns the links, strongest first.

    Notes of one call are linked to each other too.

    Args:
        writer: An open block of writes to the notes' user.
        notes: At least one, in the order of their interactions.
        vectors: Their vectors of length 1, `[notes, dimension]`.
        model: Id of the vectors' model.
        settings: Rules of linking.
    """
    rules = settings.linking
    query = NeighbourQuery(model, rules.links_per_note_max, rules.similarity_min, rules.candidates_max)
    stored = await writer.neighbours(vectors, [note.scope for note in notes], query)
    places = [TurnKey(note.conversation_id, note.position) for note in notes if note.conversation_id]
    preceding = await writer.preceding_notes(list(dict.fromkeys(places))) if places else {}
    predecessors: list[linking.Predecessor | None] = []
    for note in notes:
        found = preceding.get(TurnKey(note.conversation_id, note.position))
        predecessors.append(linking.Predecessor(*found) if found else None)
    now = notes[0].create_time
    near = linking.with_batch_neighbours(notes, vectors, stored, rules)
    links = [
        link
        for note, neighbours in zip(notes, near, strict=True)
        for link in linking.similarity_links(note, neighbours, rules, now)
    ]
    links += linking.sequence_links(notes, predecessors, rules, now)
    await writer.add_notes(notes, vectors, model=model)
    made = await writer.put_links(linking.strongest(links))
    return sorted(made, key=lambda link: (-link.strength, link.key.from_note_id, link.key.to_note_id, link.key.type))
