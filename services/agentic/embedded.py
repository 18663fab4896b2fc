"""Embeds notes: one vector for each, and one for each of its first captions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from services.agentic.model import CaptionVector, Note, NoteId
from services.common.embedding.vectors import Matrix
from services.common.tier_embedder import TierEmbedder

Captions = Mapping[NoteId, Sequence[CaptionVector]]
"""The vectors of captions by note; notes without any are not in it."""


@dataclass(frozen=True, slots=True)
class EmbeddedNotes:
    """The vectors of notes."""

    vectors: Matrix  # of length 1, `[notes, dimension]`
    captions: Captions = field(default_factory=dict)


async def embed_notes(embedder: TierEmbedder, notes: Sequence[Note], *, captions_max: int) -> EmbeddedNotes:
    """Embeds notes and their captions in one batch.

    A caption stands in the note's own text as well; among many words it hardly moves that vector, so what a picture
    shows is found by a vector of its own.

    Args:
        embedder: The tier's.
        notes: In any order.
        captions_max: Captions of a note that get a vector.
    """
    captions = [(note.note_id, *each) for note in notes for each in note.captions(captions_max)]
    vectors = await embedder.embed([*(note.embedded_text for note in notes), *(text for _, _, text in captions)])
    by_note: dict[NoteId, list[CaptionVector]] = {}
    for (note_id, place, _), vector in zip(captions, vectors[len(notes) :], strict=True):
        by_note.setdefault(note_id, []).append(CaptionVector(note_id, place, vector))
    return EmbeddedNotes(vectors[: len(notes)], by_note)


def captions_of(notes: Sequence[Note], captions: Captions) -> list[CaptionVector]:
    """Those of these notes, in their order."""
    return [each for note in notes for each in captions.get(note.note_id, ())]
