"""Token vectors of candidates, from memory where they were read before."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TypeAlias
from uuid import UUID

import structlog

from services.common.embedding.tokens import TokenSpace
from services.episodic.late_interaction import CandidateTokens, candidate_tokens, sentence_end_table
from services.episodic.model import EpisodeId, Owner
from services.episodic.token_format import unpack
from services.episodic.token_store import TokenStore

_log = structlog.get_logger(__name__)

_ENTRY_BYTES: int = 600
"""What an entry takes beside its vectors, about."""

_Name: TypeAlias = bytes
"""Episode id and owner. What an episode says never changes, so that an entry is good for ever."""


class TokenCache:
    """Reads token vectors of one space, and keeps those that were searched last. Belongs to one event loop."""

    def __init__(self, store: TokenStore, space: TokenSpace, *, bytes_max: int) -> None:
        """Keep up to `bytes_max` bytes of what is in `store`."""
        self._store = store
        self._space = space
        self._ends = sentence_end_table(space.sentence_ends)
        self._bytes_max = bytes_max
        self._entries: OrderedDict[_Name, CandidateTokens] = OrderedDict()
        self._bytes = 0

    @property
    def byte_count(self) -> int:
        """Bytes that are kept, about."""
        return self._bytes

    async def read(self, owner: Owner, episode_ids: Sequence[bytes]) -> list[CandidateTokens | None]:
        """Token vectors of the owner's episodes, in order; None where there are none.

        What is not kept is read with one statement.

        Args:
            owner: Whose.
            episode_ids: 16 bytes each.

        Raises:
            StoreUnavailable: The store cannot be asked.
        """
        suffix, entries = owner.key.encode(), self._entries
        found: dict[bytes, CandidateTokens] = {}
        missing: list[bytes] = []
        for episode_id in episode_ids:
            name = episode_id + suffix
            entry = entries.get(name)
            if entry is None:
                missing.append(episode_id)
            else:
                entries.move_to_end(name)
                found[episode_id] = entry
        if missing:
            ids = [EpisodeId(UUID(bytes=raw)) for raw in missing]
            stored = await self._store.tokens(owner, ids, model=self._space.fingerprint)
            for identity, raw in zip(ids, missing, strict=True):
                entry = self._unpacked(stored.get(identity))
                if entry is not None:
                    found[raw] = entry
                    self._keep(raw + suffix, entry)
        return [found.get(episode_id) for episode_id in episode_ids]

    def _unpacked(self, data: bytes | None) -> CandidateTokens | None:
        if data is None:
            return None
        try:
            stored = unpack(data)
        except ValueError as error:
            _log.warning("stored token vectors cannot be read", error=str(error))
            return None
        if stored.vectors.shape[1] != self._space.dimension:
            _log.warning("stored token vectors have another dimension", dimension=stored.vectors.shape[1])
            return None
        return candidate_tokens(stored, self._ends)

    def _keep(self, name: _Name, entry: CandidateTokens) -> None:
        replaced = self._entries.pop(name, None)  # by another search meanwhile
        if replaced is not None:
            self._bytes -= replaced.byte_count + _ENTRY_BYTES
        self._entries[name] = entry
        self._bytes += entry.byte_count + _ENTRY_BYTES
        while self._bytes > self._bytes_max:
            _, dropped = self._entries.popitem(last=False)
            self._bytes -= dropped.byte_count + _ENTRY_BYTES
