"""Checksums of sets of records that do not depend on the order in which they are read."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from services.common.copying.model import Kind, Record, canonical

_MODULUS: Final = 2**256
_SKETCH_ERROR: Final = 1e-5
"""Of one vector that was brought to length 1 twice, with a wide margin: float32 has 1e-7."""


@dataclass(frozen=True, slots=True)
class Checksum:
    """What a set of records comes to. Sums can be added up in any order and in any parts."""

    count: int = 0
    """Number of records."""
    digest: int = 0
    """Sum of the SHA-256 of each record without its `Kind.vectors`, modulo 2^256."""
    sketch: float = 0.0
    """Sum of the products of each of those vectors with signs drawn from its record's digest.

    A vector of length 1 adds some number around -1 to 1, and another one's another number, so that lost, changed and
    exchanged vectors show; rounding in the last place does not.
    """

    def __add__(self, other: Checksum) -> Checksum:
        """The checksum of both sets together."""
        return Checksum(self.count + other.count, (self.digest + other.digest) % _MODULUS, self.sketch + other.sketch)

    def agrees_with(self, other: Checksum) -> bool:
        """Whether both are of the same records."""
        # Errors of single vectors have either sign, so that their sum grows with the root of their number.
        tolerance = _SKETCH_ERROR * (1 + math.sqrt(self.count))
        return (self.count, self.digest) == (other.count, other.digest) and math.isclose(
            self.sketch, other.sketch, rel_tol=0, abs_tol=tolerance
        )

    @property
    def short(self) -> str:
        """The digest's first digits, for people."""
        return f"{self.digest:064x}"[:12]


def checksum_of(kind: Kind, records: Iterable[Record]) -> Checksum:
    """The checksum of some records.

    Raises:
        ValueError: A record has other fields than its kind.
    """
    count, digest, sketch = 0, 0, 0.0
    for record in records:
        if record.keys() != kind.fields:
            differing = ", ".join(sorted(record.keys() ^ kind.fields))
            raise ValueError(f"a record of {kind.name} has other fields than its kind: {differing}")
        exact = {name: value for name, value in record.items() if name not in kind.vectors}
        own = hashlib.sha256(canonical(exact)).digest()
        count += 1
        digest = (digest + int.from_bytes(own, "big")) % _MODULUS
        for name in kind.vectors:
            sketch += _sketch(own + name.encode(), record[name])
    return Checksum(count, digest, sketch)


def _sketch(seed: bytes, vector: bytes) -> float:
    values = np.frombuffer(vector, dtype="<f4").astype(np.float64)
    drawn = np.frombuffer(hashlib.shake_256(seed).digest((values.size + 7) // 8), dtype=np.uint8)
    signs = 1.0 - 2.0 * np.unpackbits(drawn, count=values.size)
    return float(values @ signs)
