"""The port of statements and supersessions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeAlias

from services.common.idempotency.model import IdempotencyRecords
from services.common.owners import InteractionId, Owner
from services.semantic.supersession.model import (
    Assertion,
    Decision,
    Marks,
    State,
    Supersession,
    SupersessionPosition,
)

Decide: TypeAlias = Callable[[Assertion, Assertion], Supersession | None]
"""What follows from two statements of one user, in either order."""

Once: TypeAlias = Callable[
    [IdempotencyRecords, Callable[[], Awaitable[Supersession]]],
    Awaitable[Supersession],
]
"""Runs work, or returns the first response to a request that is repeated."""


def decided_pairs(decide: Decide, assertion: Assertion, candidates: Sequence[Assertion]) -> list[Supersession]:
    """What follows from a statement and each of its candidates. Takes milliseconds: drivers run it in a thread."""
    return [found for other in candidates if (found := decide(assertion, other)) is not None]


class SupersessionStore(Protocol):
    """What every driver must do. Writes of one user are serialized; each is one transaction."""

    async def add(
        self, owner: Owner, assertions: Sequence[Assertion], decide: Decide, *, candidates_max: int
    ) -> Sequence[Supersession]:
        """Adds statements, and the supersessions that follow from them and from those that are stored.

        A statement that is stored already is passed over. Those of the other turns that share most content words are
        compared, at most `candidates_max` for each, of equal ones the latest. A pair that was decided about keeps its
        decision.

        Returns:
            The supersessions that are new.
        """
        ...

    async def put(self, owner: Owner, supersessions: Sequence[Supersession]) -> int:
        """Adds supersessions; pairs that are there are passed over. Returns how many are new.

        One whose loser has an empty statement stands for all of its turn.
        """
        ...

    async def marks(self, owner: Owner, *, cached_revision: int | None, limit: int) -> Marks:
        """The newest applied supersessions, and their revision; none where that is the caller's."""
        ...

    async def list_page(
        self, owner: Owner, *, state: State | None, after: SupersessionPosition | None, limit: int
    ) -> Sequence[Supersession]:
        """Supersessions, newest first, ties by id."""
        ...

    async def resolve(self, owner: Owner, supersession_id: str, decision: Decision, once: Once) -> Supersession:
        """Decides about a pair, in the transaction in which `once` records the request.

        Raises:
            NotFound: There is none of this id among the owner's.
        """
        ...

    async def remove_sources(self, owner: Owner, interaction_ids: Sequence[InteractionId]) -> int:
        """Removes the statements of interactions, the supersessions in which they took part, and responses about these.

        Returns:
            How many supersessions are gone.
        """
        ...

    async def remove_owner(self, owner: Owner) -> int:
        """Removes everything of a user. Returns how many supersessions are gone."""
        ...
