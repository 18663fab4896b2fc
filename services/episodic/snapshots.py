"""Light columns of users' episodes, kept in memory and brought up to date before each use."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence
from typing import TypeAlias, TypeVar

from services.episodic.config import SnapshotSettings
from services.episodic.model import EpisodeId, EpisodeKey, Owner
from services.episodic.store import ColumnChanges, EpisodeColumns, EpisodeStore

SnapshotRow: TypeAlias = tuple[EpisodeKey, bytes, str, int, str, float, int, int, int, float, str]
"""The fields of `EpisodeColumns`, in their order, of one episode, and the key of its scope: one look-up finds both, and
among 10,000 episodes a look-up waits for memory."""

_Value = TypeVar("_Value", str, int, float)


class Snapshot:
    """One owner's searchable episodes as of a change number."""

    def __init__(self) -> None:
        """Nothing, as of change number 0."""
        self.number = 0
        self.indexing_again = False  # further episodes are on their way into the index again
        self._rows: dict[EpisodeKey, SnapshotRow] = {}
        self._keys_by_id: dict[bytes, EpisodeKey] = {}
        self._counts: Counter[str] = Counter()  # of episodes by scope

    def __len__(self) -> int:
        """Number of episodes."""
        return len(self._rows)

    def apply(self, changes: ColumnChanges, *, since: int) -> None:
        """Take in the changes after number `since`.

        An answer that was overtaken by a later one, which somebody else asked for, is ignored.
        """
        if self.number != since and changes.number <= self.number:
            return
        self.indexing_again = changes.indexing_again
        if changes.begins_anew:
            self._rows.clear()
            self._keys_by_id.clear()
            self._counts.clear()
        self.number = changes.number
        columns = changes.columns
        rows = zip(
            columns.keys,
            columns.episode_ids,
            _shared(columns.session_ids),
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

    def columns(self, keys: Iterable[EpisodeKey], scope_keys: Sequence[str]) -> EpisodeColumns:
        """Columns of the searchable episodes at these places that are in one of the scopes."""
        rows = self._rows
        return EpisodeColumns.of_rows(
            [row for key in keys if (row := rows.get(key)) is not None and row[-1] in scope_keys]
        )


class SnapshotCache:
    """Snapshots of the owners that were searched last. Belongs to one event loop.

    What a search sees is what was committed before it asked: each use costs one small query, which returns
    the changes alone. Any number of replicas may keep snapshots of one owner.
    """

    def __init__(self, store: EpisodeStore, settings: SnapshotSettings | None = None) -> None:
        """Keep columns of episodes in `store`."""
        self._store = store
        self._settings = settings or SnapshotSettings()
        self._snapshots: OrderedDict[Owner, Snapshot] = OrderedDict()
        self._episodes_count = 0

    async def current(self, owner: Owner) -> Snapshot | None:
        """The owner's snapshot, up to date; None where the owner has too many episodes to be kept.

        Raises:
            StoreUnavailable: The store cannot be asked.
        """
        known = self._snapshots.get(owner)
        since = known.number if known is not None else 0
        limit = self._settings.owner_episodes_max
        changes = await self._store.changes(owner, since=since, limit=limit)
        # Meanwhile another search may have put one in, and eviction may have taken ours out.
        kept = self._snapshots.pop(owner, None)
        if kept is not None:
            self._episodes_count -= len(kept)
        if not changes.is_complete:
            return None
        snapshot = known if known is not None else kept if kept is not None else Snapshot()
        snapshot.apply(changes, since=since)
        if len(snapshot) > limit:
            return None
        self._snapshots[owner] = snapshot
        self._episodes_count += len(snapshot)
        while self._episodes_count > self._settings.episodes_max and len(self._snapshots) > 1:
            _, dropped = self._snapshots.popitem(last=False)
            self._episodes_count -= len(dropped)
        return snapshot


def _shared(values: Iterable[_Value]) -> list[_Value]:
    """The values, equal ones as one object: a search waits for memory once for each, and there is less of it."""
    known: dict[_Value, _Value] = {}
    return [known.setdefault(value, value) for value in values]
