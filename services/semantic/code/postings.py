"""An inverted index with BM25 over documents that come and go."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float32]

_B: Final = 0.75
_K1: Final = 1.2


class Postings:
    """Documents by their terms. Numbers of documents are given by the caller, each once, and rise."""

    def __init__(self, *, k1: float = _K1, b: float = _B) -> None:
        """Empty.

        Args:
            k1: How soon more of one term counts no more (Robertson and Zaragoza 2009, "The Probabilistic Relevance
                Framework", 3.2).
            b: How much long documents are held back, from 0 to 1.
        """
        self._k1, self._b = k1, b
        self._lists: dict[str, tuple[array[int], array[float]]] = {}
        self._frequency: dict[str, int] = {}
        self._lengths: array[float] = array("f")
        self._total = 0.0
        self._count = 0

    def add(self, document: int, terms: Mapping[str, float]) -> None:
        """Add a document, whose number is above all before it."""
        while len(self._lengths) < document:
            self._lengths.append(0.0)
        length = float(sum(terms.values()))
        self._lengths.append(length)
        self._total += length
        self._count += 1
        for term, count in terms.items():
            found = self._lists.get(term)
            if found is None:
                found = self._lists[term] = (array("i"), array("f"))
            found[0].append(document)
            found[1].append(count)
            self._frequency[term] = self._frequency.get(term, 0) + 1

    def remove(self, document: int, terms: Iterable[str]) -> None:
        """Take a document out. Its entries stay until the index is built anew; its caller leaves it out of results."""
        self._total -= self._lengths[document]
        self._count -= 1
        for term in terms:
            self._frequency[term] -= 1

    def idf(self, term: str) -> float:
        """How much a term says: 0 where no document has it."""
        frequency = self._frequency.get(term, 0)
        return math.log(1 + (self._count - frequency + 0.5) / (frequency + 0.5)) if frequency > 0 else 0.0

    def scores(self, weights: Mapping[str, float], size: int) -> Scores:
        """BM25 of each document number below `size` for terms with weights."""
        found: Scores = np.zeros(size, dtype=np.float32)
        if not self._count:
            return found
        norms = np.zeros(size, dtype=np.float32)
        lengths = np.array(self._lengths, dtype=np.float32)[:size]
        norms[: len(lengths)] = self._k1 * (1 - self._b + self._b * lengths / max(self._total / self._count, 1e-9))
        for term, weight in weights.items():
            idf = self.idf(term)
            if idf <= 0.0:
                continue
            documents, counts = self._lists[term]
            at = np.array(documents, dtype=np.int32)
            frequency = np.array(counts, dtype=np.float32)
            found[at] += (weight * idf * (self._k1 + 1)) * frequency / (frequency + norms[at])
        return found
