"""Judged candidates: what the gateway saw of each candidate of each question, and which of them were relevant.

Several candidates may be one piece of evidence, such as the messages of a chat that say the same: any of them will do.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Dataset:
    """q questions with n candidates altogether; the candidates of a question are neighbours."""

    names: tuple[str, ...]  # f features
    rows: npt.NDArray[np.float32]  # [n, f]
    evidence: npt.NDArray[np.int32]  # [n], which piece of its question's evidence each is, -1 for none
    counts: npt.NDArray[np.int64]  # [q], candidates of each question
    relevant_counts: npt.NDArray[np.int64]  # [q], pieces of evidence, candidates or not
    sets: npt.NDArray[np.str_]  # [q], the data set of each question
    conversations: npt.NDArray[np.str_]  # [q]
    categories: npt.NDArray[np.str_]  # [q]

    @property
    def is_relevant(self) -> npt.NDArray[np.bool_]:
        """Whether each is evidence, `[n]`."""
        return self.evidence >= 0

    @property
    def starts(self) -> npt.NDArray[np.int64]:
        """First row of each question, `[q]`."""
        return np.concatenate([[0], np.cumsum(self.counts)[:-1]]).astype(np.int64)

    def chosen(self, questions: npt.NDArray[np.bool_]) -> Dataset:
        """The same with those questions alone that are marked."""
        rows = np.repeat(questions, self.counts)
        return Dataset(
            self.names,
            self.rows[rows],
            self.evidence[rows],
            self.counts[questions],
            self.relevant_counts[questions],
            self.sets[questions],
            self.conversations[questions],
            self.categories[questions],
        )

    def save(self, file: Path) -> None:
        """Writes it as one compressed file of numpy."""
        columns = {name: getattr(self, name) for name in self.__slots__ if name != "names"}
        np.savez_compressed(file, names=np.array(self.names), **columns)

    @classmethod
    def load(cls, file: Path) -> Self:
        """Reads what `save` wrote."""
        with np.load(file) as stored:
            columns = {name: stored[name] for name in cls.__slots__ if name != "names"}
            return cls(names=tuple(str(name) for name in stored["names"]), **columns)

    @classmethod
    def joined(cls, parts: list[Dataset]) -> Dataset:
        """All questions of several, which must have the same features."""
        first = parts[0]
        if any(part.names != first.names for part in parts):
            raise ValueError("the data sets have different features")
        columns = (np.concatenate([getattr(part, name) for part in parts]) for name in cls.__slots__ if name != "names")
        return Dataset(first.names, *columns)
