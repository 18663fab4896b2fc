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
from typing import Final, NamedTuple

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


class PackedShape(NamedTuple):
    """What packed bytes say of themselves."""

    dimension: int
    pieces: int
    tokens: int


@dataclass(frozen=True, slots=True, eq=False)
class EpisodeTokens:
    """Token vectors of k episodes: those of their pieces, one behind the other. The arrays are read-only."""

    piece_starts: npt.NDArray[np.int64]  # [pieces]: first token of each, counted through all episodes
    ids: npt.NDArray[np.uint16]  # [tokens]
    vectors: npt.NDArray[np.int8]  # [tokens, dimension]
    sizes: npt.NDArray[np.int64]  # [k]: tokens of each


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


def packed_shape(data: bytes) -> PackedShape:
    """Returns what is in packed bytes.

    Raises:
        ValueError: The bytes are damaged, or of another format.
    """
    if len(data) < _HEADER.size:
        raise ValueError("packed token vectors are cut off")
    version, dimension, pieces, tokens = _HEADER.unpack_from(data)
    if version != _FORMAT or len(data) != _HEADER.size + 4 * pieces + tokens * (2 + dimension):
        raise ValueError("packed token vectors are damaged, or of a format that is not known")
    return PackedShape(dimension, pieces, tokens)


def unpack(packed: Sequence[bytes]) -> EpisodeTokens:
    """Returns what `pack` has packed, of several episodes at once: hundreds are no dearer to handle than one.

    Args:
        packed: Each as `packed_shape` accepts it, all of one dimension; at least one.

    Raises:
        ValueError: Some bytes are damaged, of another format, or of another dimension than the others.
    """
    shapes = [packed_shape(data) for data in packed]
    dimension = shapes[0].dimension
    starts, ids, vectors = [], [], []
    for data, shape in zip(packed, shapes, strict=True):
        ids_at = _HEADER.size + 4 * shape.pieces
        vectors_at = ids_at + 2 * shape.tokens
        starts.append(data[_HEADER.size : ids_at])
        ids.append(data[ids_at:vectors_at])
        vectors.append(data[vectors_at:])
    table = np.array(shapes, dtype=np.int64)
    if (table[:, 0] != dimension).any():
        raise ValueError("packed token vectors of different dimensions")
    sizes = table[:, 2]
    piece_starts = np.frombuffer(b"".join(starts), dtype="<u4").astype(np.int64)
    piece_starts += np.repeat(np.cumsum(sizes) - sizes, table[:, 1])
    return EpisodeTokens(
        piece_starts=piece_starts,
        ids=np.frombuffer(b"".join(ids), dtype="<u2"),
        vectors=np.frombuffer(b"".join(vectors), dtype=np.int8).reshape(int(sizes.sum()), dimension),
        sizes=sizes,
    )
