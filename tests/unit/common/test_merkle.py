"""Merkle trees: the vectors of RFC 6962's tests, and proofs of every entry and size."""

from __future__ import annotations

import pytest

from services.common.merkle import (
    EMPTY_ROOT,
    Frontier,
    consistency_proof,
    inclusion_proof,
    leaf_hash,
    root_of,
    verify_consistency,
    verify_inclusion,
)

# The leaves and roots of the reference implementation of Certificate Transparency.
DATA = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
ROOTS = {
    1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
}
LEAVES = [leaf_hash(bytes.fromhex(text)) for text in DATA]


def test_spec_6_10_roots_are_those_of_rfc_6962() -> None:
    assert root_of([]) == EMPTY_ROOT
    for size, root in ROOTS.items():
        assert root_of(LEAVES[:size]).hex() == root


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 8, 13])
def test_spec_6_10_every_entry_and_every_earlier_size_has_a_proof(size: int) -> None:
    leaves = [leaf_hash(bytes([number])) for number in range(size)]
    root = root_of(leaves)
    for index, leaf in enumerate(leaves):
        proof = inclusion_proof(leaves, index)
        assert verify_inclusion(leaf, index, size, proof, root)
        assert not verify_inclusion(leaf_hash(b"other"), index, size, proof, root)
        assert size == 1 or not verify_inclusion(leaf, (index + 1) % size, size, proof, root)
        assert not verify_inclusion(leaf, index, size, [*proof, root], root)
        frontier = Frontier().extended(leaves[: index + 1])
        assert frontier.root == root_of(leaves[: index + 1])
        first, steps = index + 1, consistency_proof(leaves, index + 1)
        assert verify_consistency(first, size, steps, frontier.root, root)
        assert not verify_consistency(first, size, steps, EMPTY_ROOT, root)
        assert first == size or not verify_consistency(first, size, steps[1:], frontier.root, root)
