"""Vectors of notes by their embedding models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from services.agentic.model import CaptionVector, Note, NoteId
from services.agentic.store import NoteStore, NoteWriter
from services.common.embedding.vectors import Matrix
from services.common.model_change import EmbeddedText
from services.common.owners import Owner


class NoteVectors:
    """Implements `FormerVectorStore` on a store of notes; see there for what each method guarantees."""

    def __init__(self, store: NoteStore, *, captions_max: int) -> None:
        """Read and write notes in `store`, with vectors of so many captions each."""
        self._store = store
        self._captions_max = captions_max

    @property
    def keeps_two(self) -> bool:
        """See `FormerVectorStore.keeps_two`."""
        return self._store.keeps_two_models

    async def owners(self, *, model: str, after: Owner | None, limit: int) -> Sequence[Owner]:
        """See `FormerVectorStore.owners`."""
        return await self._store.owners_of_other_models(model, after=after, limit=limit)

    async def count(self, *, model: str, limit: int) -> int:
        """See `FormerVectorStore.count`."""
        return await self._store.count_of_other_models(model, limit=limit)

    async def lacks(self, owner: Owner, *, model: str) -> bool:
        """See `FormerVectorStore.lacks`."""
        return await self._store.has_active_of_other_models(owner, model)

    async def former(self, owner: Owner, *, model: str, before: str, limit: int) -> Sequence[str]:
        """See `FormerVectorStore.former`."""
        return await self._store.notes_of_other_models(owner, model, before=NoteId(before), limit=limit)

    async def texts(self, owner: Owner, row_ids: Sequence[str]) -> Sequence[EmbeddedText]:
        """See `FormerVectorStore.texts`. Behind each note's own text come its captions, under the same id.

        The texts themselves are the version: a note has no number of its state.
        """

        async def read(writer: NoteWriter) -> Mapping[NoteId, Note]:
            return await writer.get_notes([NoteId(row_id) for row_id in row_ids])

        found = await self._store.write(owner, read)
        return [
            EmbeddedText(note.note_id, self._version(note), text)
            for note in found.values()
            for text in (note.embedded_text, *(caption for _, caption in note.captions(self._captions_max)))
        ]

    async def replace(
        self, owner: Owner, texts: Sequence[EmbeddedText], vectors: Matrix, *, model: str, beside: str = ""
    ) -> set[str]:
        """See `FormerVectorStore.replace`."""
        numbers: dict[NoteId, list[int]] = {}
        for number, each in enumerate(texts):
            numbers.setdefault(NoteId(each.row_id), []).append(number)

        async def work(writer: NoteWriter) -> set[str]:
            now = await writer.get_notes(list(numbers))
            kept = [
                note
                for note_id, (own, *_) in numbers.items()
                if (note := now.get(note_id)) is not None and self._version(note) == texts[own].version
            ]
            note_ids = [note.note_id for note in kept]
            if kept:
                own_vectors = vectors[[numbers[note_id][0] for note_id in note_ids]]
                await writer.replace_vectors(note_ids, own_vectors, model=model, beside=beside)
                captions = [
                    CaptionVector(note.note_id, place, vectors[number])
                    for note in kept
                    for (place, _), number in zip(
                        note.captions(self._captions_max), numbers[note.note_id][1:], strict=True
                    )
                ]
                await writer.put_captions(note_ids, captions, model=model, beside=beside)
            return set(note_ids)

        return await self._store.write(owner, work)

    async def owners_with_others(self, *, model: str, after: Owner | None, limit: int) -> Sequence[Owner]:
        """See `FormerVectorStore.owners_with_others`."""
        return await self._store.owners_of_two_models(model, after=after, limit=limit)

    async def drop_others(self, owner: Owner, *, model: str) -> int:
        """See `FormerVectorStore.drop_others`."""
        return await self._store.write(owner, lambda writer: writer.drop_vectors_of_other_models(model))

    def _version(self, note: Note) -> str:
        return repr((note.embedded_text, note.captions(self._captions_max)))
