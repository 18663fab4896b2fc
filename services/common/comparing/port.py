"""The port of what compares statements."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from services.common.settings_types import Count, Seconds
from services.common.values.holding import Said, supersedes
from services.common.values.keys import statement_keys
from services.common.values.model import Relation

SaidPair: TypeAlias = tuple[Said, Said]
"""An earlier and a later statement."""


@dataclass(frozen=True, slots=True)
class ComparerSettings:
    """How statements are compared."""

    in_own_process: bool = True
    """Whether statements are compared in a process of its own (25 MB, some 60 in use) instead of a thread."""
    batch_pairs: Count = 128
    """Pairs of one message to the process; callers take turns between messages."""
    batch_texts: Count = 64
    """Statements of one message whose words are read."""
    timeout_seconds: Seconds = 60.0
    """For one message; then the process is killed and started anew. Its priority is low."""
    load_timeout_seconds: Seconds = 60.0
    """For the start of the process."""


class Comparer(Protocol):
    """Compares statements. Results depend on the statements alone."""

    async def relations(self, pairs: Sequence[SaidPair]) -> list[Relation]:
        """What the later statement of each pair is to the earlier one, in order; see `supersedes`.

        Raises:
            StoreUnavailable: The process was stopped or took too long.
        """
        ...

    async def keys(self, texts: Sequence[str]) -> list[frozenset[str]]:
        """The words by which each statement is found, in order; see `statement_keys`.

        Raises:
            StoreUnavailable: The process was stopped or took too long.
        """
        ...

    async def aclose(self) -> None:
        """Stop it. Calls under way fail."""
        ...


class ThreadComparer:
    """Compares in threads of the service: other calls wait for the interpreter's lock meanwhile."""

    async def relations(self, pairs: Sequence[SaidPair]) -> list[Relation]:
        """See `Comparer.relations`."""
        return await asyncio.to_thread(lambda: [supersedes(*pair) for pair in pairs])

    async def keys(self, texts: Sequence[str]) -> list[frozenset[str]]:
        """See `Comparer.keys`."""
        return await asyncio.to_thread(lambda: [statement_keys(text) for text in texts])

    async def aclose(self) -> None:
        """Nothing is to be stopped."""
