"""Light columns of users' episodes, cached and brought up to date before each use."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias, TypeVar
from uuid import UUID

import numpy as np

from services.common.cache import CacheKind, OwnerCache, OwnerKey
from services.episodic.columns import ROWS_ON_LOOP_MAX, EpisodeColumns
from services.episodic.model import EpisodeId, EpisodeKey, Owner
from services.episodic.store import ColumnChanges, EpisodeStore

SnapshotRow: TypeAlias = tuple[EpisodeKey, bytes, str, int, str, float, int, int, int, float, str]
"""The fields of `EpisodeColumns`, in their order, of one episode, and the key of its scope: one look-up finds both, and
among 10,000 episodes a look-up waits for memory."""

_ROW_BYTES: Final = 600
"""Memory of a row, with its places in two dictionaries, about."""
_SNAPSHOT_BYTES: Final = 2_000
"""Memory of a snapshot without rows."""
_Value = TypeVar("_Value", str, int, float)


class Snapshot:
    """One owner's searchable episodes as of a revision."""

    def __init__(self) -> None:
        """Nothing, as of revision 0."""
        self.revision = 0
        self.indexing_again = False  # further episodes are on their way into the index again
        self._rows: dict[EpisodeKey, SnapshotRow] = {}
        self._keys_by_id: dict[bytes, EpisodeKey] = {}
        self._counts: Counter[str] = Counter()  # of episodes by scope

    def __len__(self) -> int:
        """Number of episodes."""
        return len(self._rows)

    @property
    def size_bytes(self) -> int:
        """Memory, about."""
        return _SNAPSHOT_BYTES + len(self._rows) * _ROW_BYTES

    def apply(self, changes: ColumnChanges, *, since: int) -> None:
        """Apply the changes after revision `since`.

        Changes that were overtaken by later ones, which another search has read, are ignored.
        """
        if self.revision != since and changes.revision <= self.revision:
            return
        self.indexing_again = changes.indexing_again
        if changes.begins_anew:
            self._rows.clear()
            self._keys_by_id.clear()
            self._counts.clear()
        self.revision = changes.revision
        columns = changes.columns
        rows: Iterable[SnapshotRow] = zip(
            columns.keys,
            columns.episode_ids,
            _shared(columns.conversation_ids),
            columns.positions,
            _shared(columns.speakers),
            columns.times,
            _shared(columns.lengths),
            _shared(columns.traits),
            columns.feedbacks,
            _shared(columns.importances),
            _shared(changes.scope_keys),
            strict=True,
        )
        if not self._rows and all(changes.searchable):
            self._rows = dict(zip(columns.keys, rows, strict=True))
            self._keys_by_id = dict(zip(columns.episode_ids, columns.keys, strict=True))
            self._counts = Counter(row[-1] for row in self._rows.values())  # one episode may come twice
            return
        for row, searchable in zip(rows, changes.searchable, strict=True):
            key, identity = row[0], row[1]
            before = self._rows.get(key)
            if before is not None:
                self._counts[before[-1]] -= 1
            if searchable:
                self._counts[row[-1]] += 1
                self._rows[key] = row
                self._keys_by_id[identity] = key
            else:
                self._rows.pop(key, None)
                self._keys_by_id.pop(identity, None)

    def keys_of(self, episode_ids: Iterable[EpisodeId]) -> list[EpisodeKey]:
        """Places of those of the episodes that are searchable."""
        found = (self._keys_by_id.get(episode_id.bytes) for episode_id in episode_ids)
        return [key for key in found if key is not None]

    def visible(self, keys: Iterable[EpisodeKey], scope_keys: Sequence[str]) -> list[EpisodeKey]:
        """Those of the places that hold a searchable episode in one of the scopes."""
        rows = self._rows
        return [key for key in keys if (row := rows.get(key)) is not None and row[-1] in scope_keys]

    def count(self, scope_keys: Sequence[str]) -> int:
        """Number of all searchable episodes in these scopes, each scope named once."""
        return sum(self._counts[scope_key] for scope_key in scope_keys)

    def every(self, scope_keys: Sequence[str]) -> list[EpisodeKey]:
        """Places of all searchable episodes in these scopes."""
        return [key for key, row in self._rows.items() if row[-1] in scope_keys]

    def of_times(
        self, spans: Sequence[tuple[float, float]], scope_keys: Sequence[str], *, limit: int
    ) -> list[EpisodeId]:
        """The newest searchable episodes of some spans of time, in one of the scopes; those of the latest span first.

        Args:
            spans: From, and until exclusively, in seconds since the Unix epoch.
            scope_keys: The scopes.
            limit: At most this many.
        """
        rows = list(self._rows.values())
        times = np.fromiter((row[5] for row in rows), np.float64, len(rows))
        found: dict[bytes, None] = {}
        for start, end in sorted(spans, reverse=True):
            places = ((times >= start) & (times < end)).nonzero()[0]
            for place in places[np.argsort(-times[places], kind="stable")].tolist():
                if len(found) == limit:
                    break
                if rows[place][-1] in scope_keys:
                    found[rows[place][1]] = None
        return [EpisodeId(UUID(bytes=name)) for name in found]

    def columns(self, keys: Iterable[EpisodeKey], scope_keys: Sequence[str]) -> EpisodeColumns:
        """Columns of the searchable episodes at these places that are in one of the scopes."""
        rows = self._rows
        return EpisodeColumns.of_rows(
            [row for key in keys if (row := rows.get(key)) is not None and row[-1] in scope_keys]
        )


class SnapshotCache:
    """Snapshots of the owners that were searched last. Belongs to one event loop.

    What a search sees is what was committed before it: each use costs one small query, which returns the changes
    alone. Any number of replicas may cache snapshots of one owner.
    """

    def __init__(
        self,
        store: EpisodeStore,
        cache: OwnerCache,
        *,
        owner_episodes_max: int,
        on_removal: Callable[[Owner], None] = lambda _: None,
    ) -> None:
        """Cache columns of episodes in `store`.

        Args:
            store: Where they are true.
            cache: The process's.
            owner_episodes_max: Owners with more are not cached.
            on_removal: Called when episodes of an owner were found to be removed.
        """
        self._store = store
        self._owner_episodes_max = owner_episodes_max
        self._on_removal = on_removal
        self._entries: CacheKind[Snapshot] = cache.kind("episode-columns")

    async def current(self, owner: Owner) -> Snapshot | None:
        """The owner's snapshot, up to date; None where the owner has too many episodes to be cached.

        Raises:
            StoreUnavailable: The store cannot be asked.
        """
        key = (owner.tenant_id, owner.user_id)
        if self._entries.is_refused(key):
            return None
        known = self._entries.get(key)
        since = known.revision if known is not None else 0
        changes = await self._store.changes(owner, since=since, limit=self._owner_episodes_max)
        if changes.begins_anew:
            self._on_removal(owner)
        # Meanwhile another search may have put one in, and ours may have been evicted.
        snapshot = known if known is not None else self._entries.peek(key)
        if snapshot is None:
            snapshot = await self._begun(key, changes)
        if changes.is_complete:
            snapshot.apply(changes, since=since)
            if len(snapshot) <= self._owner_episodes_max and self._entries.put(key, snapshot):
                return snapshot
        self._entries.refuse(key)
        return None

    async def _begun(self, key: OwnerKey, changes: ColumnChanges) -> Snapshot:
        """A snapshot for an owner who has none, with many changes applied to it off the event loop."""
        snapshot = Snapshot()
        if not changes.is_complete or len(changes.columns) <= ROWS_ON_LOOP_MAX:
            return snapshot
        await asyncio.to_thread(snapshot.apply, changes, since=0)
        meanwhile = self._entries.peek(key)
        return meanwhile if meanwhile is not None and meanwhile.revision >= snapshot.revision else snapshot


def _shared(values: Sequence[_Value]) -> list[_Value]:
    """The values, equal ones as one object: a search waits for memory once for each, and there is less of it."""
    known: dict[_Value, _Value] = {}
    return list(map(known.setdefault, values, values))
