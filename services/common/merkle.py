"""Merkle trees as in RFC 6962: roots, and proofs that a leaf is in a tree and that one tree continues another."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

EMPTY_ROOT: Final = hashlib.sha256(b"").digest()
"""Root of the tree without leaves."""


def leaf_hash(data: bytes) -> bytes:
    """The hash of a leaf. Its prefix differs from that of nodes, so that no node can pass for a leaf."""
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of two subtrees."""
    return hashlib.sha256(b"\x01" + left + right).digest()


@dataclass(frozen=True, slots=True)
class Frontier:
    """A tree that only grows, as the roots of its complete subtrees: all that appending needs."""

    size: int = 0
    """Number of leaves."""
    roots: tuple[bytes, ...] = ()
    """Of the complete subtrees, largest first: one for each bit of `size` that is set."""

    def extended(self, leaves: Iterable[bytes]) -> Frontier:
        """The tree with more leaves, which are hashes of leaves."""
        size, roots = self.size, list(self.roots)
        for leaf in leaves:
            added, rest = leaf, size
            while rest & 1:
                added, rest = node_hash(roots.pop(), added), rest >> 1
            roots.append(added)
            size += 1
        return Frontier(size, tuple(roots))

    @property
    def root(self) -> bytes:
        """The root of the whole tree."""
        if not self.roots:
            return EMPTY_ROOT
        *larger, root = self.roots
        for left in reversed(larger):
            root = node_hash(left, root)
        return root


def root_of(leaves: Sequence[bytes]) -> bytes:
    """The root over hashes of leaves."""
    return Frontier().extended(leaves).root


def inclusion_proof(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """The hashes that lead from a leaf to the root, lowest first.

    Args:
        leaves: Hashes of all leaves.
        index: Of the leaf, in [0, number of leaves).
    """
    if len(leaves) == 1:
        return []
    middle = _split(len(leaves))
    if index < middle:
        return [*inclusion_proof(leaves[:middle], index), root_of(leaves[middle:])]
    return [*inclusion_proof(leaves[middle:], index - middle), root_of(leaves[:middle])]


def consistency_proof(leaves: Sequence[bytes], first: int) -> list[bytes]:
    """The hashes that show that the tree of the first leaves is the beginning of the tree of all.

    Args:
        leaves: Hashes of all leaves.
        first: Leaves of the earlier tree, in [1, number of leaves].
    """
    return _subproof(leaves, first, is_whole=True)


def verify_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Whether a leaf's hash stands at an index of the tree with this size and root (RFC 9162, 2.1.3.2)."""
    if not 0 <= index < size:
        return False
    position, last, found = index, size - 1, leaf
    for step in proof:
        if last == 0:
            return False
        if position & 1 or position == last:
            found = node_hash(step, found)
            while not position & 1 and position:
                position, last = position >> 1, last >> 1
        else:
            found = node_hash(found, step)
        position, last = position >> 1, last >> 1
    return last == 0 and found == root


def verify_consistency(first: int, second: int, proof: Sequence[bytes], first_root: bytes, second_root: bytes) -> bool:
    """Whether the tree of the first size is the beginning of the other (RFC 9162, 2.1.4.2)."""
    if first == second:
        return not proof and first_root == second_root
    if not 0 < first < second or not proof:
        return False
    steps = list(proof) if first & (first - 1) else [first_root, *proof]
    position, last = first - 1, second - 1
    while position & 1:
        position, last = position >> 1, last >> 1
    earlier = later = steps[0]
    for step in steps[1:]:
        if last == 0:
            return False
        if position & 1 or position == last:
            earlier, later = node_hash(step, earlier), node_hash(step, later)
            while not position & 1 and position:
                position, last = position >> 1, last >> 1
        else:
            later = node_hash(later, step)
        position, last = position >> 1, last >> 1
    return last == 0 and earlier == first_root and later == second_root


def _split(size: int) -> int:
    """The largest power of two below a size."""
    return 1 << (size - 1).bit_length() - 1


def _subproof(leaves: Sequence[bytes], first: int, *, is_whole: bool) -> list[bytes]:
    if first == len(leaves):
        return [] if is_whole else [root_of(leaves)]
    middle = _split(len(leaves))
    if first <= middle:
        return [*_subproof(leaves[:middle], first, is_whole=is_whole), root_of(leaves[middle:])]
    return [*_subproof(leaves[middle:], first - middle, is_whole=False), root_of(leaves[:middle])]
