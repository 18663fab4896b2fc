"""Notes whose vectors are of a former embedding model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from services.agentic.model import Note, NoteId
from services.agentic.store import NoteStore, NoteWriter
from services.common.embedding.vectors import Matrix
from services.common.model_change import EmbeddedText
from services.common.owners import Owner


class NoteVectors:
    """Implements `FormerVectorStore` on a store of notes; see there for what each method guarantees."""

    def __init__(self, store: NoteStore) -> None:
        """Read and write notes in `store`."""
        self._store = store

    async def owners(self, *, model: str, after: Owner | None, limit: int) -> Sequence[Owner]:
        """See `FormerVectorStore.owners`."""
        return await self._store.owners_of_other_models(model, after=after, limit=limit)

    async def lacks(self, owner: Owner, *, model: str) -> bool:
        """See `FormerVectorStore.lacks`."""
        return await self._store.has_active_of_other_models(owner, model)

    async def former(self, owner: Owner, *, model: str, before: str, limit: int) -> Sequence[str]:
        """See `FormerVectorStore.former`."""
        return await self._store.notes_of_other_models(owner, model, before=NoteId(before), limit=limit)

    async def texts(self, owner: Owner, row_ids: Sequence[str]) -> Sequence[EmbeddedText]:
        """See `FormerVectorStore.texts`. The text itself is the version: a note has no number of its state."""

        async def read(writer: NoteWriter) -> Mapping[NoteId, Note]:
            return await writer.get_notes([NoteId(row_id) for row_id in row_ids])

        found = await self._store.write(owner, read)
        return [EmbeddedText(note.note_id, note.embedded_text, note.embedded_text) for note in found.values()]

    async def replace(self, owner: Owner, texts: Sequence[EmbeddedText], vectors: Matrix, *, model: str) -> set[str]:
        """See `FormerVectorStore.replace`."""

        async def work(writer: NoteWriter) -> set[str]:
            now = await writer.get_notes([NoteId(each.row_id) for each in texts])
            kept = [
                number
                for number, each in enumerate(texts)
                if (note := now.get(NoteId(each.row_id))) is not None and note.embedded_text == each.version
            ]
            if kept:
                note_ids = [NoteId(texts[number].row_id) for number in kept]
                await writer.replace_vectors(note_ids, vectors[kept], model=model)
            return {texts[number].row_id for number in kept}

        return await self._store.write(owner, work)
