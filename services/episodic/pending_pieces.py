"""Encodings that requests carry with their episodes, until the indexer comes to them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TypeAlias

from services.common.embedding.tokens import TextEncoding
from services.episodic.config import IndexerSettings
from services.episodic.model import EpisodeId, Owner

_Name: TypeAlias = tuple[Owner, EpisodeId]


class PendingPieces:
    """Encodings of episodes' pieces in memory, bounded: the oldest are evicted first."""

    def __init__(self, settings: IndexerSettings) -> None:
        """Hold as much as the settings say."""
        self._settings = settings
        self._pieces: OrderedDict[_Name, Sequence[TextEncoding]] = OrderedDict()
        self._count = 0
        self._bytes = 0

    def add(self, name: _Name, pieces: Sequence[TextEncoding]) -> None:
        """Holds the pieces of an episode, unless it has some already."""
        if name in self._pieces:
            return
        self._pieces[name] = pieces
        self._counted(pieces, sign=1)
        while self._count > self._settings.pending_vectors_max or self._bytes > self._settings.pending_bytes_max:
            _, dropped = self._pieces.popitem(last=False)
            self._counted(dropped, sign=-1)

    def take(self, name: _Name) -> Sequence[TextEncoding] | None:
        """Removes and returns the pieces of an episode; None where there are none."""
        pieces = self._pieces.pop(name, None)
        if pieces is not None:
            self._counted(pieces, sign=-1)
        return pieces

    def _counted(self, pieces: Sequence[TextEncoding], *, sign: int) -> None:
        self._count += sign * len(pieces)
        self._bytes += sign * sum(piece.byte_count for piece in pieces)
