"""Ports of the episodic tier: the relational truth, and the index that searches pieces of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from services.common.embedding.vectors import Vector as Vector  # noqa: PLC0414 - part of the ports
from services.common.scope import Reader
from services.episodic.columns import EpisodeColumns
from services.episodic.comparison_store import ComparisonStore, IndexedEpisode
from services.episodic.model import Episode, EpisodeId, EpisodeKey, EpisodeStatus, NewEpisode, Owner, TenantId
from services.episodic.removal_store import RemovalStore
from services.episodic.retention_store import RetentionStore
from services.episodic.token_format import PackedTokens
from services.episodic.token_store import EpisodeName, TokenStore
from services.episodic.vector_reader import VectorReader


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreOutcome:
    """What became of one episode of a batch."""

    created: bool  # True if this call stored it
    status: EpisodeStatus | None  # after the call; None where nothing of that id is stored
    deleted: bool = False  # it was deleted before; otherwise, without a status, another episode holds its place


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeFilter:
    """Which of a user's episodes a list holds."""

    conversation_id: str | None = None
    status: EpisodeStatus | None = None
    start_time: datetime | None = None  # happened at this time or later
    end_time: datetime | None = None  # happened before
    reader: Reader | None = None  # only what it sees; None: every scope


@dataclass(frozen=True, slots=True)
class EpisodeCursor:
    """The last episode of a page: the next one begins behind it."""

    time: datetime
    episode_id: EpisodeId


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingEpisode:
    """An episode that waits to be indexed."""

    owner: Owner
    episode_id: EpisodeId
    key: EpisodeKey
    scope_key: str
    text: str
    time: datetime
    attempts: int  # failures so far
    summary: str = ""  # that is stored, of one that was indexed before


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnChanges:
    """What has changed among one owner's episodes."""

    revision: int  # of the owner, as of the read
    begins_anew: bool  # what was cached before is void
    columns: EpisodeColumns  # of the episodes that changed
    scope_keys: list[str]
    searchable: list[bool]  # False: it is no longer
    is_complete: bool  # False: there are more than were asked for
    indexing_again: bool = False  # episodes that were searchable are on their way into the index again


@dataclass(frozen=True, slots=True)
class EpisodeUse:
    """How an episode was used, and how far it can be trusted."""

    access_count: int
    last_access_time: float | None  # seconds since the Unix epoch; None if never
    confidence: float | None  # in [0, 1], where known


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessCount:
    """Uses of one episode since the last time they were written."""

    owner: Owner
    episode_id: EpisodeId
    count: int
    last_time: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """What was found out about an episode while it was indexed."""

    importance: float  # in [0, 1]; holds where the caller stated none
    summary: str = ""  # of a long text


UNASSESSED: Final = Assessment(importance=0.5)
"""Of an episode that nobody assessed."""


class PendingBatch(Protocol):
    """Episodes that one worker has claimed; inside `async with` no other worker gets them.

    Leaving the block with an exception, or dying, gives them back unchanged.
    """

    @property
    def episodes(self) -> Sequence[PendingEpisode]:
        """The claimed episodes, oldest first; may be empty."""
        ...

    async def mark_active(
        self,
        episodes: Sequence[PendingEpisode],
        piece_counts: Sequence[int],
        tokens: Mapping[EpisodeName, PackedTokens] | None = None,
        assessments: Sequence[Assessment] = (),
    ) -> None:
        """Makes claimed episodes searchable when the block is left; so many points of each must be in the index.

        Their token vectors, where there are any, are stored in the same transaction, and so is what was found out about
        them, one for one, or `UNASSESSED` where nothing was. An importance that is there already stays.
        """
        ...

    async def defer(self, episode: PendingEpisode, *, until: datetime) -> None:
        """Notes a failure: nobody claims the episode before `until`."""
        ...


class EpisodeStore(TokenStore, RemovalStore, RetentionStore, ComparisonStore, Protocol):
    """Where episodes are true. What a call acknowledges survives a crash.

    Every method but those of background work acts for one tenant; rows of others do not exist for it. All raise
    `StoreUnavailable`, `DeadlineExceeded` or `Conflict`.
    """

    async def insert(self, tenant_id: TenantId, episodes: Sequence[NewEpisode], *, now: datetime) -> list[StoreOutcome]:
        """Stores episodes as PENDING_EMBEDDING in one transaction; one outcome each, in order.

        An id that its owner has already is left as it is, one that was deleted stays deleted. A place that another
        episode holds (conversation and position) is not overwritten: that item's status is None.
        """
        ...

    async def get(self, owner: Owner, episode_ids: Sequence[EpisodeId]) -> dict[EpisodeId, Episode]:
        """Those of the episodes that exist, whatever their status."""
        ...

    async def statuses(self, owner: Owner, episode_ids: Sequence[EpisodeId]) -> dict[EpisodeId, EpisodeStatus]:
        """Statuses of those of the episodes that exist."""
        ...

    async def list_episodes(
        self, owner: Owner, query: EpisodeFilter, *, limit: int, after: EpisodeCursor | None
    ) -> list[Episode]:
        """Episodes by (time, id) descending, behind the cursor."""
        ...

    async def changes(self, owner: Owner, *, since: int, limit: int) -> ColumnChanges:
        """What has changed among the owner's episodes after revision `since`; 0 asks for everything.

        Up to `limit` episodes; where there are more, the result is not complete and must not be cached.
        """
        ...

    async def columns_at(
        self, owner: Owner, keys: Sequence[EpisodeKey], *, scope_keys: Sequence[str]
    ) -> EpisodeColumns:
        """Columns of the active episodes at these places in these scopes, in any order."""
        ...

    async def columns_of(
        self, owner: Owner, episode_ids: Sequence[EpisodeId], *, scope_keys: Sequence[str]
    ) -> EpisodeColumns:
        """Columns of the active episodes among these in these scopes, in any order."""
        ...

    async def matching_columns(
        self, owner: Owner, query: str, *, scope_keys: Sequence[str], limit: int
    ) -> tuple[EpisodeColumns, list[float]]:
        """Columns and word scores of episodes: those that share words with the query, then the newest.

        Of active ones and those indexed again, for when the index cannot be asked: it reads all episodes of the user.
        """
        ...

    async def uses(self, owner: Owner, keys: Sequence[EpisodeKey]) -> dict[EpisodeKey, EpisodeUse]:
        """The use of the owner's episodes at these places, whatever their status; missing where there is none."""
        ...

    async def add_accesses(self, accesses: Sequence[AccessCount]) -> None:
        """Adds access counts across tenants; background work. Unknown episodes are ignored."""
        ...

    def claim_pending(self, *, limit: int, now: datetime) -> AbstractAsyncContextManager[PendingBatch]:
        """Claims pending episodes of any tenant, oldest first, that no worker holds; background work."""
        ...

    async def put_summary(self, owner: Owner, episode_id: EpisodeId, summary: str) -> bool:
        """Replaces the summary of an episode that has one, and says whether there is such an episode."""
        ...

    async def is_indexing_again(self, owner: Owner) -> bool:
        """Whether episodes of the owner that were searchable are on their way into the index again."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedPiece:
    """One piece of an episode's text on its way into the index."""

    owner: Owner
    key: EpisodeKey
    number: int  # of the piece within its episode, 0 to 65,535
    text: str
    vector: Vector
    scope_key: str
    time: datetime


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class IndexQuery:
    """A search of one reader. An index may hold what it computed for one for as long as the query lives."""

    owner: Owner
    text: str
    vector: Vector
    scope_keys: Sequence[str]  # of the places that the reader sees


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrieverHits:
    """Episodes of both retrievers with the score of their best piece, best first, ties by key."""

    dense: Mapping[EpisodeKey, float]  # cosine similarity, in [-1, 1]
    lexical: Mapping[EpisodeKey, float]  # BM25 with IDF over the owner's pieces; > 0
    dense_complete: bool  # True when the dense hits are every episode that the reader sees
    lexical_complete: bool  # True when it holds every one that shares a term with the query


class EpisodeIndex(VectorReader, Protocol):
    """Finds pieces of text by meaning and by words. Derived: it can be rebuilt from the store.

    It holds vectors of one model. Nobody but the owner finds a piece or changes a score: term statistics are taken over
    the owner's pieces. Engines may differ in which of equally scored pieces they leave out at a limit. All methods
    raise `StoreUnavailable`.
    """

    @property
    def model(self) -> str:
        """Fingerprint of the model whose vectors it holds."""
        ...

    @property
    def dimension(self) -> int:
        """Components of a vector."""
        ...

    async def put(self, pieces: Sequence[IndexedPiece]) -> None:
        """Adds or replaces pieces. They survive a crash, and searches see them, when the call returns."""
        ...

    async def search(self, query: IndexQuery, *, limit: int) -> RetrieverHits:
        """The best `limit` episodes of each retriever."""
        ...

    async def score(
        self, query: IndexQuery, *, dense: Sequence[EpisodeKey], lexical: Sequence[EpisodeKey]
    ) -> RetrieverHits:
        """Exact scores of the named episodes by each retriever; those that the reader does not see are missing.

        The result may hold others as well, never with a wrong score.
        """
        ...

    async def remove(self, owner: Owner, keys: Sequence[EpisodeKey]) -> None:
        """Removes every piece of these episodes. Unknown ones are ignored."""
        ...

    async def remove_owner(self, owner: Owner) -> None:
        """Removes every piece of the owner."""
        ...

    async def count(self, owner: Owner) -> int:
        """Number of the owner's pieces."""
        ...

    async def scan(self, *, after: EpisodeKey | None, limit: int) -> list[IndexedEpisode]:
        """What it holds of all owners, by key behind one; empty at the end.

        Background work. Each episode comes once and whole. About `limit` pieces are read, more where one episode has
        more. What is put or removed meanwhile may be missing.
        """
        ...

    async def check(self) -> None:
        """Returns where the engine can be reached, for the readiness of the service."""
        ...

    async def aclose(self) -> None:
        """Writes what is buffered and closes the engine."""
        ...
