"""Finds names by a part of them, by their spelling without case and underscores, or by similar letters."""

from __future__ import annotations

import difflib
import heapq
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

_LINE_END: Final = 10
_CLASSES: Final = 64
"""Classes that letters are counted by. Where several letters share one, a bound is higher, and never too low."""


class Names:
    """A fixed set of names. Texts are searched as one, which takes a tenth of the time of looking at each name."""

    def __init__(self, names: Iterable[str]) -> None:
        """These names; some milliseconds for 100,000."""
        self._names = list(names)
        spelled = "\n".join(self._names)
        if spelled.count("\n") >= max(len(self._names), 1):  # a name with a line break
            spelled = "\n".join(name.replace("\n", " ") for name in self._names)
        self._spelled = spelled.lower().encode("utf-8", errors="replace") + b"\n"
        self._ends = _line_ends(self._spelled)
        # The same lines without underscores.
        self._bare = b"\n" + self._spelled.replace(b"_", b"")
        self._bare_ends = _line_ends(self._bare)
        self._counts: NDArray[np.uint8] | None = None

    def containing(self, text: str) -> list[str]:
        """Names with a text in them, whatever its case, and names that are equal but for case and underscores."""
        low = text.lower().encode("utf-8", errors="replace")
        if not low or b"\n" in low:
            return []
        found: dict[int, None] = {}
        at = self._spelled.find(low)
        while at >= 0:
            line = bisect_left(self._ends, at)
            found[line] = None
            at = self._spelled.find(low, self._ends[line])
        bare = low.replace(b"_", b"")
        at = self._bare.find(b"\n%b\n" % bare) if bare else -1
        while at >= 0:
            found[bisect_left(self._bare_ends, at)] = None
            at = self._bare.find(b"\n%b\n" % bare, at + 1)
        return [self._names[line] for line in found]

    def similar(self, text: str, *, limit: int, ratio_min: float) -> list[tuple[float, str]]:
        """The names most similar to a text by difflib's ratio, best first; ties by name.

        The letters that two texts share bound their ratio from above: only names whose bound is high are compared.
        """
        if not text or not self._names:
            return []
        counts = self._counted()
        lengths = counts.sum(axis=1, dtype=np.int32)
        own = _letter_counts(text.lower().encode("utf-8", errors="replace") + b"\n", 1)[0]
        shared = np.minimum(counts, own).sum(axis=1, dtype=np.int32)
        bounds = 2.0 * shared / np.maximum(lengths + len(text), 1)
        near = np.abs(lengths - len(text)) <= 1 + len(text) // 4
        chosen = np.flatnonzero(near & (bounds >= ratio_min))
        matcher = difflib.SequenceMatcher(b=text)
        best: list[float] = []
        found: list[tuple[float, str]] = []
        for line in chosen[np.argsort(-bounds[chosen], kind="stable")]:
            if len(best) == limit and bounds[line] < best[0]:
                break
            matcher.set_seq1(self._names[line])
            ratio = matcher.ratio()
            if ratio < ratio_min:
                continue
            found.append((ratio, self._names[line]))
            heapq.heappush(best, ratio)
            if len(best) > limit:
                heapq.heappop(best)
        return sorted(found, key=lambda one: (-one[0], one[1]))[:limit]

    def _counted(self) -> NDArray[np.uint8]:
        if self._counts is None:
            self._counts = _letter_counts(self._spelled, len(self._names))
        return self._counts


def _line_ends(text: bytes) -> Sequence[int]:
    return np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == _LINE_END).tolist()


def _letter_counts(text: bytes, lines: int) -> NDArray[np.uint8]:
    """How often each class of letters stands in each line, shape (lines, 64); at most 255."""
    letters = np.frombuffer(text, dtype=np.uint8)
    is_counted = (letters != _LINE_END) & ((letters & 0xC0) != 0x80)  # of a letter of several bytes the first
    line = np.cumsum(letters == _LINE_END)
    cell = line[is_counted] * _CLASSES + letters[is_counted] % _CLASSES
    counts = np.bincount(cell, minlength=lines * _CLASSES)[: lines * _CLASSES]
    return np.minimum(counts, 255).astype(np.uint8).reshape(lines, _CLASSES)
