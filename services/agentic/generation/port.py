"""The port of note generation: by rules; a language model could take its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from services.agentic.model import NoteDraft
from services.common.interactions import SourceInteraction
from services.common.owners import InteractionId


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """What the turn before asked: an answer of two words is about it."""

    interaction_id: InteractionId
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class GenerationItem:
    """An interaction, with the question that it answers."""

    source: SourceInteraction
    asked: AskedQuestion | None = None


class NoteGenerator(Protocol):
    """Makes notes of interactions."""

    async def generate(self, items: Sequence[GenerationItem]) -> list[list[NoteDraft]]:
        """The notes of each interaction, in order; none for one that holds nothing worth a note.

        What is made of an interaction must not depend on the others of the batch, so that it does not matter
        how deliveries were cut into batches.
        """
        ...
