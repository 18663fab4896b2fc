"""Token vectors of one episode as one string of bytes, as stores hold them.

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
_HEADS: Final = np.dtype([("format", "u1"), ("zero", "u1"), ("dimension", "<u2"), ("pieces", "<u4"), ("tokens", "<u4")])


@dataclass(frozen=True, slots=True)
class PackedTokens:
    """Token vectors of one episode on their way to or from a store."""

    model: str  # identity of the space that they compare in
    data: bytes


@dataclass(frozen=True, slots=True, eq=False)
class PackedShapes:
    """What n strings of packed bytes say of themselves; where they are not sound, nothing that is to be believed."""

    sound: npt.NDArray[np.bool_]  # [n]: whole, and of this format
    dimensions: npt.NDArray[np.int64]  # [n]
    pieces: npt.NDArray[np.int64]  # [n]
    tokens: npt.NDArray[np.int64]  # [n]


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


def packed_shapes(packed: Sequence[bytes]) -> PackedShapes:
    """Returns what is in packed bytes, of which some may be damaged."""
    size = _HEADER.size
    heads = np.frombuffer(b"".join([data[:size].ljust(size, b"\0") for data in packed]), dtype=_HEADS)
    dimensions, pieces, tokens = (heads[name].astype(np.int64) for name in ("dimension", "pieces", "tokens"))
    lengths = np.fromiter(map(len, packed), dtype=np.int64, count=len(packed))
    # As floating point numbers, which damaged bytes cannot make too large; exact for what is whole.
    expected = size + 4.0 * pieces + tokens * (2.0 + dimensions)
    return PackedShapes((heads["format"] == _FORMAT) & (lengths == expected), dimensions, pieces, tokens)


def unpack(packed: Sequence[bytes]) -> EpisodeTokens:
    """Returns what `pack` has packed, of several episodes at once.

    Args:
        packed: All sound and of one dimension; at least one.

    Raises:
        ValueError: Some bytes are damaged, of another format, or of another dimension than the others.
    """
    shapes = packed_shapes(packed)
    dimension = int(shapes.dimensions[0])
    if not shapes.sound.all():
        raise ValueError("packed token vectors are damaged, or of a format that is not known")
    if (shapes.dimensions != dimension).any():
        raise ValueError("packed token vectors of different dimensions")
    ids_at = _HEADER.size + 4 * shapes.pieces
    vectors_at = ids_at + 2 * shapes.tokens
    places = list(zip(packed, ids_at.tolist(), vectors_at.tolist(), strict=True))
    starts = b"".join([data[_HEADER.size : first] for data, first, _ in places])
    ids = b"".join([data[first:second] for data, first, second in places])
    vectors = b"".join([data[second:] for data, _, second in places])
    piece_starts = np.frombuffer(starts, dtype="<u4").astype(np.int64)
    piece_starts += np.repeat(np.cumsum(shapes.tokens) - shapes.tokens, shapes.pieces)
    return EpisodeTokens(
        piece_starts=piece_starts,
        ids=np.frombuffer(ids, dtype="<u2"),
        vectors=np.frombuffer(vectors, dtype=np.int8).reshape(int(shapes.tokens.sum()), dimension),
        sizes=shapes.tokens,
    )
