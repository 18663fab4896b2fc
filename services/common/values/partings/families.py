"""Words of one pursuit or thing, and rivals, of which one is in use at a time, as `families.toml` lists them.

Pure functions.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from services.common.values.words.tokens import lemma

_FILE: Final = Path(__file__).with_name("families.toml")


class _Data(NamedTuple):
    families: tuple[frozenset[str], ...]
    rivals: dict[str, frozenset[str]]
    names: dict[str, tuple[str, ...]]  # of the rivals, as they are listed


@lru_cache(maxsize=1)
def _data() -> _Data:
    tables = tomllib.loads(_FILE.read_text("utf-8"))
    families = tuple(frozenset(map(lemma, words.split())) for words in tables["families"].values())
    rivals = {
        kind: frozenset(" ".join(map(lemma, word.split("_"))) for word in words.split())
        for kind, words in tables["rivals"].items()
    }
    return _Data(families, rivals, {kind: tuple(words.split()) for kind, words in tables["rivals"].items()})


def families() -> tuple[frozenset[str], ...]:
    """Returns the families, each as its words in base form."""
    return _data().families


def rival_names(kind: str) -> tuple[str, ...]:
    """Returns the names of the rivals of one kind, in the order of the file, with underscores for spaces."""
    return _data().names[kind]


def related(words: frozenset[str]) -> frozenset[str]:
    """Returns words with those of their families: "run" with "marathon"."""
    return words.union(*(family for family in families() if family & words))


def rivals_in(words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yields the kind and the name of each of the rivals of `families.toml` among some words."""
    said = f" {' '.join(lemma(part) for word in words for part in word.lower().split())} "
    for kind, names in _data().rivals.items():
        for name in names:
            if f" {name} " in said:
                yield kind, name
