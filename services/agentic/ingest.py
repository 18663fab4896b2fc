"""The use case behind GenerateNotes: interactions in, linked notes out, each interaction once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from services.agentic.config import AgenticSettings
from services.agentic.embedded import EmbeddedNotes, embed_notes
from services.agentic.generation.port import AskedQuestion, GenerationItem, NoteGenerator
from services.agentic.generation.rules import asked_question, speaker_name
from services.agentic.links import add_linked_notes
from services.agentic.model import GenerationResult, Note, NoteDraft, NoteId
from services.agentic.store import NoteStore, NoteWriter, ProcessedTurn, TurnKey
from services.common.clock import Clock
from services.common.ids import IdSource
from services.common.interactions import SourceInteraction
from services.common.owners import InteractionId, Owner, TenantId, UserId
from services.common.tier_embedder import TierEmbedder


@dataclass(frozen=True, slots=True)
class _Prepared:
    """An interaction with its notes, ready to be stored."""

    turn: ProcessedTurn
    notes: tuple[Note, ...]

    @property
    def interaction_id(self) -> InteractionId:
        return self.turn.result.interaction_id


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

    async def generate(self, tenant_id: TenantId, sources: Sequence[SourceInteraction]) -> list[GenerationResult]:
        """The notes of each interaction, in order; for one that was processed before, those of the first time.

        Users are independent: when one fails, those before it are stored, and a repeat of the batch continues there.
        """
        by_user: dict[UserId, dict[InteractionId, SourceInteraction]] = {}
        for source in sources:
            by_user.setdefault(source.user_id, {}).setdefault(source.interaction_id, source)
        results: dict[tuple[UserId, InteractionId], GenerationResult] = {}
        fresh: dict[UserId, list[SourceInteraction]] = {}
        for user_id, unique in by_user.items():
            known = await self._store.processed(Owner(tenant_id, user_id), list(unique))
            results.update({(user_id, interaction_id): result for interaction_id, result in known.items()})
            if left := [source for source in unique.values() if source.interaction_id not in known]:
                fresh[user_id] = left
        # Both models see all users at once, and before a lock is taken: it is not held while they run.
        prepared = await self._prepare(tenant_id, fresh)
        notes = [n for of_user in prepared for p in of_user for n in p.notes]
        embedded = await embed_notes(self._embedder, notes, captions_max=self._settings.captions_embedded_max)
        begin = 0
        for user_id, of_user in zip(fresh, prepared, strict=True):
            end = begin + sum(len(p.notes) for p in of_user)
            of_notes = replace(embedded, vectors=embedded.vectors[begin:end])
            stored = await self._store_of_user(Owner(tenant_id, user_id), of_user, of_notes)
            results.update({(user_id, interaction_id): result for interaction_id, result in stored.items()})
            begin = end
        return [results[source.user_id, source.interaction_id] for source in sources]

    async def _prepare(
        self, tenant_id: TenantId, by_user: Mapping[UserId, Sequence[SourceInteraction]]
    ) -> list[list[_Prepared]]:
        """The notes of each user's interactions."""
        if not by_user:
            return []
        # Rules take milliseconds for a long turn: on a thread other calls need not wait for them.
        questions = await asyncio.to_thread(
            lambda: {user_id: [asked_question(source) for source in sources] for user_id, sources in by_user.items()}
        )
        items = [
            item
            for user_id, sources in by_user.items()
            for item in await self._with_questions(Owner(tenant_id, user_id), sources, questions[user_id])
        ]
        drafts = await self._generator.generate(items)
        generated = zip(items, drafts, strict=True)
        return [
            [
                self._prepared(item.source, question, of_item)
                for question, (item, of_item) in zip(questions[user_id], generated, strict=False)
            ]
            for user_id in by_user
        ]

    async def _store_of_user(
        self, owner: Owner, prepared: Sequence[_Prepared], embedded: EmbeddedNotes
    ) -> Mapping[InteractionId, GenerationResult]:
        async def work(writer: NoteWriter) -> Mapping[InteractionId, GenerationResult]:
            processed = await writer.processed([p.interaction_id for p in prepared])
            return {**processed, **await self._store_prepared(writer, prepared, embedded, processed)}

        return await self._store.write(owner, work)

    async def _with_questions(
        self, owner: Owner, sources: Sequence[SourceInteraction], questions: Sequence[str]
    ) -> list[GenerationItem]:
        """Each interaction with what the turn before it asked, be it in this batch or in an earlier one."""
        asked = {
            TurnKey(source.conversation_id, source.position): AskedQuestion(
                source.interaction_id, speaker_name(source), question
            )
            for source, question in zip(sources, questions, strict=True)
        }
        before = [TurnKey(s.conversation_id, s.position - 1) for s in sources]
        missing = [key for key in dict.fromkeys(before) if key.position >= 0 and key not in asked]
        stored = await self._store.questions(owner, missing) if missing else {}
        asked.update({key: AskedQuestion(q.interaction_id, q.speaker, q.text) for key, q in stored.items()})
        items: list[GenerationItem] = []
        for source, key in zip(sources, before, strict=True):
            question = asked.get(key)
            answers = question is not None and question.text and question.speaker != speaker_name(source)
            items.append(GenerationItem(source, question if answers else None))
        return items

    async def _store_prepared(
        self,
        writer: NoteWriter,
        prepared: Sequence[_Prepared],
        embedded: EmbeddedNotes,
        processed: Mapping[InteractionId, GenerationResult],
    ) -> Mapping[InteractionId, GenerationResult]:
        fresh = [p.interaction_id not in processed for p in prepared]
        keep = np.array([is_fresh for p, is_fresh in zip(prepared, fresh, strict=True) for _ in p.notes], dtype=bool)
        chosen = [p for p, is_fresh in zip(prepared, fresh, strict=True) if is_fresh]
        notes = [note for p in chosen for note in p.notes]
        if notes:
            kept = replace(embedded, vectors=embedded.vectors[keep])
            await add_linked_notes(writer, notes, kept, model=self._embedder.model_id, settings=self._settings)
        await writer.add_processed([p.turn for p in chosen])
        return {p.interaction_id: p.turn.result for p in chosen}

    def _prepared(self, source: SourceInteraction, question: str, drafts: Sequence[NoteDraft]) -> _Prepared:
        notes = tuple(self._note(source, draft) for draft in drafts)
        result = GenerationResult(source.interaction_id, tuple(note.note_id for note in notes))
        turn = ProcessedTurn(result, source.conversation_id, source.position, question, speaker_name(source))
        return _Prepared(turn, notes)

    def _note(self, source: SourceInteraction, draft: NoteDraft) -> Note:
        now = self._clock.now()
        return Note(
            note_id=NoteId(self._ids.new_id()),
            user_id=source.user_id,
            content=draft.content,
            kind=draft.kind,
            importance=draft.importance,
            time=source.turn.time,
            create_time=now,
            update_time=now,
            keywords=draft.keywords,
            tags=draft.tags,
            attachments=draft.attachments,
            derived_from=(source.interaction_id,),
            scope=source.scope,
            speaker=speaker_name(source),
            conversation_id=source.conversation_id,
            position=source.position,
            spoken=draft.spoken,
            question_id=draft.question_id,
            question_chars=draft.question_chars,
        )
