"""The port of fact extraction: rules by default, a language model where one is configured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from services.common.interactions import SourceInteraction
from services.semantic.facts.model import FactDraft


class FactExtractor(Protocol):
    """Finds the facts that interactions state."""

    async def extract(self, sources: Sequence[SourceInteraction]) -> list[list[FactDraft]]:
        """The facts of each interaction, in order; none for one that states nothing worth keeping.

        What is found in an interaction must depend on it alone, so that it does not matter how deliveries were cut
        into batches and in which order they arrive.
        """
        ...
