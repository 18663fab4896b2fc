"""Token vectors of one episode as one string of bytes, as stores keep them.

Little endian throughout:

    offset      bytes   what
    0           1       format, 1
    1           1       0
    2           2       d, components of a vector
    4           4       p, number of pieces of the text
    8           4       t, number of tokens of all pieces
    12          4 p     where each piece begins: index of its first token, from 0, ascending
    12+4p       2 t     ids of the word pieces
    12+4p+2t    d t     vectors, a signed byte for each component: round(127 x value) of a vector of length 1

A token takes d + 2 bytes: a turn of 30 words some 4 KB with 128 components.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from services.common.embedding.tokens import TokenSpace, TokenVectors

_FORMAT: Final = 1
_HEADER: Final = struct.Struct("<BxHII")


@dataclass(frozen=True, slots=True)
class PackedTokens:
    """Token vectors of one episode on their way to or from a store."""

    model: str  # identity of the space that they compare in
    data: bytes


@dataclass(frozen=True, slots=True, eq=False)
class EpisodeTokens:
    """Token vectors of one episode: those of its pieces, one behind the other. The arrays are read-only."""

    piece_starts: npt.NDArray[np.uint32]  # [pieces]
    ids: npt.NDArray[np.uint16]  # [tokens]
    vectors: npt.NDArray[np.int8]  # [tokens, dimension]


def pack(space: TokenSpace, pieces: Sequence[TokenVectors]) -> bytes:
    """Returns the bytes of an episode's pieces.

    Args:
        space: What all of them must belong to.
        pieces: In order.

    Raises:
        ValueError: A piece belongs to another space.
    """
    if any((piece.fingerprint, piece.vectors.shape[1]) != (space.fingerprint, space.dimension) for piece in pieces):
        raise ValueError("token vectors of another space cannot be packed")
    counts = [len(piece) for piece in pieces]
    starts = np.cumsum([0, *counts[:-1]][: len(counts)], dtype="<u4")
    parts = [_HEADER.pack(_FORMAT, space.dimension, len(pieces), sum(counts)), starts.tobytes()]
    parts += [piece.ids.astype("<u2", copy=False).tobytes() for piece in pieces]
    parts += [piece.vectors.astype(np.int8, copy=False).tobytes() for piece in pieces]
    return b"".join(parts)


def unpack(data: bytes) -> EpisodeTokens:
    """Returns what `pack` has packed, as views of the bytes.

    Raises:
        ValueError: The bytes are damaged, or of another format.
    """
    if len(data) < _HEADER.size:
        raise ValueError("packed token vectors are cut off")
    version, dimension, piece_count, token_count = _HEADER.unpack_from(data)
    if version != _FORMAT or len(data) != _HEADER.size + 4 * piece_count + token_count * (2 + dimension):
        raise ValueError("packed token vectors are damaged, or of a format that is not known")
    ids_at = _HEADER.size + 4 * piece_count
    vectors_at = ids_at + 2 * token_count
    return EpisodeTokens(
        piece_starts=np.frombuffer(data, dtype="<u4", count=piece_count, offset=_HEADER.size),
        ids=np.frombuffer(data, dtype="<u2", count=token_count, offset=ids_at),
        vectors=np.frombuffer(data, dtype=np.int8, offset=vectors_at).reshape(token_count, dimension),
    )
