"""The values of `contrasts.toml`, and which of them a sentence names. Pure functions."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from services.common.values.partings.families import rival_names
from services.common.values.words.tokens import lemma

_FILE: Final = Path(__file__).with_name("contrasts.toml")
_WRITTEN: Final = frozenset({"language", "front_end", "server"})
"""Kinds of rivals of which many are in use: only what is written anew is another one."""


class ContrastClass(NamedTuple):
    """Values of which one holds at a time."""

    about: frozenset[str]
    way: str | None  # how its values come, where the past of it suffices
    is_plain: bool  # a later statement needs no word beside the value
    is_anywhere: bool  # where a value is says nothing: "a washing machine in the kitchen"
    is_joined: bool = False  # several may hold at a time: only "instead" says that another one has gone


class Found(NamedTuple):
    """A value in a sentence."""

    kind: str
    value: int  # number of the value within its class
    place: int  # of its first word
    end: int


class _Data(NamedTuple):
    classes: dict[str, ContrastClass]
    by_word: dict[str, list[tuple[tuple[str, ...], str, int, bool]]]
    """By first word: all words of a name, its class, the number of its value, and whether it needs a word beside it."""


@lru_cache(maxsize=1)
def _data() -> _Data:
    tables = tomllib.loads(_FILE.read_text("utf-8"))
    named = tables.pop("rivals")
    classes = {
        f"rival {kind}": ContrastClass(
            frozenset(about.split()), way="rewrite" if kind in _WRITTEN else "use", is_plain=True, is_anywhere=False
        )
        for kind, about in named.items()
    }
    by_word: dict[str, list[tuple[tuple[str, ...], str, int, bool]]] = {}

    def add(name: str, kind: str, number: int, *, is_bound: bool) -> None:
        words = tuple(name.lower().split("_"))
        by_word.setdefault(words[0], []).append((words, kind, number, is_bound))

    for kind in classes:
        for number, name in enumerate(rival_names(kind.removeprefix("rival "))):
            add(name, kind, number, is_bound=False)
    for kind, table in tables.items():
        about = frozenset(table.get("about", "").split())
        classes[kind] = ContrastClass(
            about, table.get("come"), bool(table.get("plain")), bool(table.get("anywhere")), bool(table.get("joined"))
        )
        for number, line in enumerate(table["values"].strip().splitlines()):
            bound, _, free = line.partition(":")
            for names, is_bound in ((free, False), (bound, bool(about))):
                for name in names.split():
                    add(name, kind, number, is_bound=is_bound)
    return _Data(classes, by_word)


def found_in(said: str, *, is_later: bool = False) -> tuple[Found, ...]:
    """The values that a spoken sentence names."""
    words = said.lower().split()
    data, known = _data(), {*words, *map(lemma, words)}
    found: list[Found] = []
    for place, word in enumerate(words):
        for names, kind, value, is_bound in data.by_word.get(word, ()):
            if tuple(words[place : place + len(names)]) != names:
                continue
            if (
                is_bound
                and not data.classes[kind].about & (known - {word})
                and not (is_later and data.classes[kind].is_plain)
            ):
                continue
            found.append(Found(kind, value, place, place + len(names)))
    return tuple(found)


def class_of(found: Found) -> ContrastClass:
    """Returns the class of a value."""
    return _data().classes[found.kind]
