"""The port of statements and supersessions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, Protocol, TypeAlias

from services.common.idempotency.model import IdempotencyRecords
from services.common.owners import InteractionId, Owner
from services.semantic.supersession.model import (
    Assertion,
    Decision,
    Marks,
    Place,
    State,
    Supersession,
    SupersessionPosition,
)

Pair: TypeAlias = tuple[Assertion, Assertion]

Decide: TypeAlias = Callable[[Sequence[Pair]], Awaitable[Sequence[Supersession]]]
"""What follows from pairs of statements of one user, in either order. No pair comes twice."""

CandidatesMax: TypeAlias = Callable[[Assertion], int]
"""With how many others a statement is compared, at most."""

Rest: TypeAlias = Callable[[Assertion, Assertion, Supersession, Assertion | None], Supersession | None]
"""What follows for a statement from a superseded one: it may rest on it, or say that it is so again.

The arguments are the statement, the superseded one, the supersession, and the statement that superseded it where that
is about the same too.
"""

Once: TypeAlias = Callable[
    [IdempotencyRecords, Callable[[], Awaitable[Supersession]]],
    Awaitable[Supersession],
]
"""Runs work, or returns the first response to a request that is repeated."""


class DecideStored(Protocol):
    """What becomes of a stored pair."""

    def __call__(self, stored: Supersession, /, *, is_winner_whole: bool) -> Supersession:
        """The pair after the decision; `is_winner_whole` says whether the side that stands is all of its turn."""
        ...


STATEMENTS_MAX: Final = 32
"""New statements whose candidates drivers read in one query."""


def pairs_once(pairs: Iterable[Pair]) -> list[Pair]:
    """Pairs of statements, each once, whichever side comes first."""
    return list({frozenset((one.place, other.place)): (one, other) for one, other in pairs}.values())


def rested_pairs(
    rest: Rest,
    found: Iterable[tuple[Assertion, Assertion, Supersession]],
    known: Sequence[Supersession],
    around: Mapping[Place, Assertion],
) -> list[Supersession]:
    """What follows for statements beside superseded ones, but for pairs that were found before.

    Args:
        rest: Decides.
        found: What `premises_of` returns.
        known: What was found before.
        around: The statements about the same, by their places.
    """
    ids = {one.supersession_id for one in known}
    rests = (rest(statement, premise, ended, around.get(ended.winner)) for statement, premise, ended in found)
    return list({one.supersession_id: one for one in rests if one and one.supersession_id not in ids}.values())


def premises_of(
    pairs: Sequence[Pair], supersessions: Sequence[Supersession]
) -> Iterator[tuple[Assertion, Assertion, Supersession]]:
    """Statements, each beside those of its candidates that are superseded, and their supersessions."""
    by_loser: dict[Place, list[Supersession]] = {}
    for one in supersessions:
        by_loser.setdefault(one.loser, []).append(one)
    for statement, candidate in pairs:
        for ended in by_loser.get(candidate.place, ()):
            yield statement, candidate, ended


def original_pair(one: Supersession) -> tuple[Place, Place]:
    """The earlier and the later statement, whichever of them stands."""
    return (one.winner, one.loser) if one.is_turned else (one.loser, one.winner)


class SupersessionStore(Protocol):
    """What every driver must do. Writes of one user are serialized; each but `remove_owner` is one transaction."""

    async def add(
        self,
        owner: Owner,
        assertions: Sequence[Assertion],
        decide: Decide,
        *,
        candidates_max: CandidatesMax,
        rest: Rest | None = None,
    ) -> Sequence[Supersession]:
        """Adds statements, and the supersessions that follow from them and from those that are stored.

        A statement that is stored already is passed over. It is compared with those of other turns that share content
        words, at most `candidates_max` of it: first those that share the rarest words, of equal ones the latest. The
        score is that of TF-IDF: the sum of ln((n + 1) / (f + 0.5)) over the shared words, where f other statements have
        the word, and n is the sum of f over all words of the new statement.

        A pair that was decided about keeps its decision. Statements that share content words with a superseded one are
        read as resting on it, by `rest`; these marks follow decisions about the pair of their premise but where the
        user decided about them, and go with its turn.

        Returns:
            The supersessions that are new.
        """
        ...

    async def put(self, owner: Owner, supersessions: Sequence[Supersession]) -> int:
        """Adds supersessions; pairs that are there are passed over. Returns how many are new.

        One whose loser has an empty statement stands for all of its turn.
        """
        ...

    async def marks(self, owner: Owner, *, cached_revision: int | None, limit: int, incremental: bool = False) -> Marks:
        """The newest supersessions that are not rejected, and their revision; none where that is the caller's.

        Args:
            owner: Whose.
            cached_revision: The revision that the caller has; None: none.
            limit: How many at most.
            incremental: Whether those suffice that were added since that revision, where none was changed or removed.
                Some of them may be known to the caller.
        """
        ...

    async def corrected(
        self, owner: Owner, interaction_ids: Sequence[InteractionId], *, limit: int
    ) -> Sequence[tuple[InteractionId, str]]:
        """The statements of these turns that are marked as corrected, at most so many; an empty one is all of its turn.

        They come in the order of the turns' ids, those of one turn by their numbers.
        """
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
        """Removes everything of a user. Returns how many supersessions are gone.

        A driver may do it in several transactions. One that fails leaves removed what earlier ones removed: a repeat
        removes the rest, and counts it alone.
        """
        ...
