"""Compares two embedding models on a user's notes, before a change of the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from services.agentic.model import Note
from services.agentic.store import NoteFilter, NotePosition, NoteStore
from services.common.model_comparison import (
    ComparedQuestion,
    ComparedText,
    ComparedTexts,
    TextComparer,
    TextComparison,
)
from services.common.owners import Owner
from services.common.scope import Reader

_PAGE: Final = 200


class NoteComparer:
    """Has two models embed the active notes. Writes nothing."""

    def __init__(self, store: NoteStore, comparer: TextComparer, *, rows_max: int) -> None:
        """Compare at most `rows_max` notes of a user."""
        self._store = store
        self._comparer = comparer
        self._rows_max = rows_max

    async def compare(self, owner: Owner, questions: Sequence[ComparedQuestion], *, reader: Reader) -> TextComparison:
        """What both models find among the notes that the reader sees, newest first.

        Raises:
            FailedPrecondition: There is no second model.
            StoreUnavailable: The store or a model cannot be used.
        """
        self._comparer.second()
        texts = await self._texts(owner, frozenset(reader.visible_keys()))
        return await self._comparer.compare(owner, texts, questions)

    async def _texts(self, owner: Owner, visible: frozenset[str]) -> ComparedTexts:
        found: list[Note] = []
        after: NotePosition | None = None
        while len(found) <= self._rows_max:
            page = await self._store.list_notes(owner, NoteFilter(), after=after, limit=_PAGE)
            found += page
            if len(page) < _PAGE:
                break
            after = NotePosition(page[-1].create_time, page[-1].note_id)
        texts = [
            ComparedText(note.note_id, note.embedded_text)
            for note in found[: self._rows_max]
            if note.scope.key in visible
        ]
        return ComparedTexts(texts, len(found) > self._rows_max)
