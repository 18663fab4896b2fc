"""The port of the fact store. `tests/contract/fact_store.py` is the suite every driver passes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from services.common.embedding.vectors import Vector
from services.common.idempotency.model import IdempotencyRecords
from services.common.owners import InteractionId, Owner, TenantId, UserId
from services.common.scope import Reader, Scope
from services.semantic.facts.identity import Keys
from services.semantic.facts.merge_groups import MergeGroup, MergeGroupWriter, MergePosition, MergeState
from services.semantic.facts.model import (
    ACTIVE,
    ExtractionResult,
    Fact,
    FactCategory,
    FactId,
    FactRecord,
    FactStatus,
    ScoredFact,
    SimilarFact,
    Statement,
    StatementId,
    Support,
)

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class FactFilter:
    """Which facts of a user."""

    category: FactCategory | None = None  # None: all
    statuses: frozenset[FactStatus] = ACTIVE
    subject: str = ""  # whatever its case; empty: all
    predicate: str = ""  # whatever its case; empty: all
    confidence_min: float = 0.0
    reader: Reader | None = None  # only what it sees; None: every scope


@dataclass(frozen=True, slots=True)
class FactPosition:
    """Where in a user's list, last confirmed first, a page begins: after this fact."""

    last_confirmed_time: datetime
    fact_id: FactId


@dataclass(frozen=True, slots=True)
class FactSearch:
    """What to search for, among the active facts unless it says otherwise."""

    vector: Vector  # of length 1
    model: str  # only vectors of this model are compared
    reader: Reader
    limit: int  # hits, >= 1
    confidence: float  # threshold, in [0, 1]
    includes_threshold: bool  # whether a fact of exactly that confidence is a hit
    fading_after: datetime | None = None  # facts that fade do so after it; None: whenever
    includes_retired: bool = False  # also deprecated and archived facts; merged ones are never found


@dataclass(frozen=True, slots=True)
class FactChange:
    """A new state of a fact."""

    record: FactRecord  # with all its statements, and the keys it is found by
    fact: Fact
    new_statements: tuple[Statement, ...]
    vector: Vector | None  # of its text, length 1; None: the text is as it was
    model: str  # that made the vector
    new_supports: tuple[Support, ...] = ()


class FactWriter(Protocol):
    """Writes to one user's facts; visible to others all at once when the work ends without an error."""

    @property
    def idempotency(self) -> IdempotencyRecords:
        """The tenant's idempotency records, written with all else or not at all."""
        ...

    @property
    def merge_groups(self) -> MergeGroupWriter:
        """The user's groups of similar facts, written with all else or not at all."""
        ...

    async def extracted(self, interaction_ids: Sequence[InteractionId]) -> Mapping[InteractionId, ExtractionResult]:
        """Results of those of the interactions that were extracted before."""
        ...

    async def add_extracted(self, results: Sequence[ExtractionResult]) -> None:
        """Mark interactions as extracted; none of them was before."""
        ...

    async def records(self, keys: Sequence[Keys]) -> list[FactRecord]:
        """Facts with an identity, a text or a topic of the keys, and all facts of the topics of these; by id."""
        ...

    async def similar(
        self, vector: Vector, scope: Scope, *, model: str, cosine_min: float, limit: int
    ) -> list[SimilarFact]:
        """Active facts of exactly a scope without an end, the most similar first; ties by id.

        Those that were written in this work may be missing.
        """
        ...

    async def records_of(self, fact_ids: Sequence[FactId], *, are_reduced: bool = False) -> list[FactRecord]:
        """Facts by their ids as far as there are any, and all facts of their topics; by id.

        Args:
            fact_ids: The facts.
            are_reduced: Evidence of these facts was removed: they are marked so, and have all their statements.
        """
        ...

    async def remove_evidence(self, interaction_ids: Sequence[InteractionId]) -> list[FactId]:
        """Remove interactions from the statements and supports of facts, and the statements that have none left.

        What supported a fact that was merged into another one supported that one too.

        The interactions are marked as extracted without a result, also those that were not extracted yet, so that they
        are never extracted again. Statements without an interaction from the beginning stay.

        Returns:
            The facts whose evidence changed, by id. Their states are as they were: derive them anew.
        """
        ...

    async def remove_statements(self, fact_id: FactId, statement_ids: Sequence[StatementId]) -> None:
        """Remove statements of a fact. Its state is as it was: derive it anew."""
        ...

    async def merged_into(self, fact_ids: Sequence[FactId]) -> list[FactId]:
        """The facts that were merged into these, by id."""
        ...

    async def unlink(self, fact_id: FactId) -> None:
        """Remove the links between a fact and those it contradicts, on both sides."""
        ...

    async def remove(self, fact_ids: Sequence[FactId]) -> None:
        """Remove facts with their statements and links, from the results of extractions and from merge groups too.

        A group that waits goes with the first of its facts, one that is united with its survivor, any with its last
        but one.
        """
        ...

    async def put(self, changes: Sequence[FactChange]) -> None:
        """Store new states of facts, new ones among them, and their new statements and supports."""
        ...


class FactStore(Protocol):
    """Keeps facts, their evidence and vectors. Every method must see the owner's rows alone."""

    async def write(self, owner: Owner, work: Callable[[FactWriter], Awaitable[_T]]) -> _T:
        """Runs `work` on one user's facts, all or nothing, and returns what it returns.

        Works on one user must run one after the other, also across processes: what one reads cannot change until it
        ends. The driver may run `work` again from its beginning after a transient failure, so it must change nothing
        but what it writes through its writer.

        Raises:
            Conflict: Another work got in the way; nothing was written, and the caller may try again.
            StoreUnavailable: The engine cannot be reached.
            Exception: Whatever `work` raises, unchanged; nothing was written.
        """
        ...

    async def extracted(
        self, owner: Owner, interaction_ids: Sequence[InteractionId]
    ) -> Mapping[InteractionId, ExtractionResult]:
        """As in `FactWriter`, outside of a work: what is found stays true, what is not may come meanwhile."""
        ...

    async def get(self, owner: Owner, fact_id: FactId) -> Fact:
        """A fact with its versions.

        Raises:
            NotFound: There is none of this id among the owner's.
        """
        ...

    async def list_facts(
        self, owner: Owner, *, which: FactFilter, after: FactPosition | None, limit: int
    ) -> list[Fact]:
        """Facts, last confirmed first, ties by id, with their versions."""
        ...

    async def facts_of(self, owner: Owner, fact_ids: Sequence[FactId]) -> dict[FactId, Fact]:
        """Facts by their ids as far as there are any, without their versions."""
        ...

    async def active_time(self, owner: Owner) -> datetime | None:
        """When the user last stated or supported a fact, whatever became of it; None without any. By an index."""
        ...

    async def merge_groups(
        self,
        owner: Owner,
        *,
        state: MergeState | None,
        after: MergePosition | None,
        limit: int,
        reader: Reader | None = None,
    ) -> list[MergeGroup]:
        """Groups of similar facts, newest first, ties by id; only those of which the reader sees every fact."""
        ...

    async def archive(self, owner: Owner, fact_ids: Sequence[FactId]) -> int:
        """Archive active and deprecated facts; how many. One statement, however many facts."""
        ...

    async def restore(self, owner: Owner, fact_ids: Sequence[FactId]) -> int:
        """Give archived facts the status they had before; how many. One statement, however many facts."""
        ...

    async def remove_owner(self, owner: Owner) -> int:
        """Remove all facts and merge groups of a user, and erase the responses about them; how many facts there were.

        Extracted interactions stay recorded, without results, so that late deliveries are not extracted again.
        """
        ...

    async def users(self, tenant_id: TenantId, *, after: UserId, limit: int) -> list[UserId]:
        """Users of a tenant that have something here, after one, in the order of their ids.

        Users whose memory was removed may be among them.
        """
        ...

    async def search(self, owner: Owner, search: FactSearch) -> list[ScoredFact]:
        """Hits without versions, best first, ties by id. See `FactSearch`."""
        ...
