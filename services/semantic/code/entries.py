"""A file as references are resolved in it."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from services.semantic.code.model import Import, ParsedFile, Reference, ReferenceKind, SymbolKind


@dataclass(slots=True)
class Entry:
    """A file with what is looked up in it."""

    file: ParsedFile
    top: Mapping[str, int]
    """Definitions at the top by name; of several the last one, which is the one in force."""
    members: Mapping[tuple[str, str], int]
    """Definitions inside others, by container and name."""
    qualified: Mapping[str, int]
    """The first definition with each qualified name."""
    classes: Mapping[str, int]
    """The first class with each qualified name."""
    bases: Mapping[int, Sequence[Reference]]
    """What classes inherit from, by their index."""
    aliases: Mapping[str, Import]
    stars: Sequence[Import]
    statics: Sequence[Import]
    """Classes whose static members are seen by their names alone."""
    default: int | None = None
    """What a script exports by default, where it does not say by which name."""


def entry_of(file: ParsedFile) -> Entry:
    """A file with what is looked up in it."""
    top: dict[str, int] = {}
    members: dict[tuple[str, str], int] = {}
    qualified: dict[str, int] = {}
    classes: dict[str, int] = {}
    for at, symbol in enumerate(file.symbols):
        name = symbol.qualified_name
        qualified.setdefault(name, at)
        if symbol.kind is SymbolKind.CLASS:
            classes.setdefault(name, at)
        if symbol.container:
            members.setdefault((symbol.container, symbol.name), at)
            if file.language in ("csharp", "cpp") and symbol.kind is SymbolKind.CLASS:
                top.setdefault(symbol.name, at)  # its containers are mostly namespaces
            elif file.language in ("c", "cpp") and symbol.kind is SymbolKind.VARIABLE:
                top.setdefault(symbol.name, at)  # constants of an enumeration
        else:
            top[symbol.name] = at
    bases: dict[int, list[Reference]] = defaultdict(list)
    for reference in file.references:
        if reference.kind is ReferenceKind.INHERITS:
            bases[reference.source].append(reference)
    aliases = {one.alias: one for one in file.imports if one.alias not in ("", "*")}
    stars = [one for one in file.imports if one.name == "*"]
    statics = [one for one in file.imports if one.alias == "*" and one.name not in ("", "*")]
    default = _default_of(file, top) if file.language in ("javascript", "typescript") else None
    return Entry(file, top, members, qualified, classes, dict(bases), aliases, stars, statics, default)


def _default_of(file: ParsedFile, top: Mapping[str, int]) -> int | None:
    """The one class or function of a script with the name of its file, or the only one."""
    stem = posixpath.splitext(posixpath.basename(file.path))[0].lower()
    tops = [at for at in top.values() if file.symbols[at].kind is not SymbolKind.VARIABLE]
    named = [at for at in tops if file.symbols[at].name.lower() == stem]
    chosen = named or (tops if len(tops) == 1 else [])
    return chosen[0] if chosen else None
