"""The graph of a repository in memory: definitions by name, references by name, and what they resolve to.

References are resolved when they are asked for. Nothing has to be mended when a definition moves to another file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from services.semantic.code.entries import Entry, entry_of
from services.semantic.code.manifests import is_manifest
from services.semantic.code.model import (
    Import,
    ParsedFile,
    Reference,
    Relation,
    RelationKind,
    Symbol,
    SymbolRef,
)
from services.semantic.code.modules import Modules
from services.semantic.code.names import Names
from services.semantic.code.resolution import GUESSES_MAX, SURE, Resolver, Target


class CodeGraph:
    """Files, and the relations between what they define. Not safe for several threads at once."""

    def __init__(self) -> None:
        """Empty."""
        self._entries: dict[str, Entry] = {}
        self._modules = Modules()
        self._definitions: dict[str, dict[SymbolRef, None]] = {}
        self._references: dict[str, dict[tuple[str, int], None]] = {}
        self._resolver = Resolver(self._entries, self._modules, self._definitions)
        # What follows is computed when it is asked for, and discarded with the changes that concern it.
        self._importers: dict[str, list[tuple[str, Import]]] | None = None
        self._near: dict[str, Mapping[str, float]] = {}  # neighbours by path
        self._names: Names | None = None

    def __len__(self) -> int:
        """Number of files."""
        return len(self._entries)

    @property
    def files(self) -> Mapping[str, ParsedFile]:
        """All files by path."""
        return {path: entry.file for path, entry in self._entries.items()}

    def file(self, path: str) -> ParsedFile | None:
        """A file, or None."""
        entry = self._entries.get(path)
        return entry.file if entry is not None else None

    def put(self, file: ParsedFile) -> None:
        """Add a file, or replace it."""
        old = self._entries.get(file.path)
        if old is not None and old.file.package == file.package and not is_manifest(file.path):
            # The paths and packages stay, and with them what the imports of all other files mean.
            names = self._names
            self._leave(old.file)
            self._enter(file)
            if not self._discard_of(old.file, file):
                self._names = names
            return
        self.drop(file.path)
        self._modules.add(file)
        self._enter(file)
        self._discard()

    def drop(self, path: str) -> None:
        """Remove a file, if it is there."""
        entry = self._entries.pop(path, None)
        if entry is None:
            return
        self._modules.remove(entry.file)
        self._leave(entry.file)
        self._discard()

    def _enter(self, file: ParsedFile) -> None:
        self._entries[file.path] = entry_of(file)
        for at, symbol in enumerate(file.symbols):
            defined = self._definitions.get(symbol.name)
            if defined is None:
                defined = self._definitions[symbol.name] = {}
                self._names = None
            defined[SymbolRef(file.path, at)] = None
        for at, reference in enumerate(file.references):
            self._references.setdefault(reference.name, {})[file.path, at] = None

    def _leave(self, file: ParsedFile) -> None:
        for at, symbol in enumerate(file.symbols):
            defined = self._definitions[symbol.name]
            del defined[SymbolRef(file.path, at)]
            if not defined:
                del self._definitions[symbol.name]
                self._names = None
        for at, reference in enumerate(file.references):
            places = self._references[reference.name]
            del places[file.path, at]
            if not places:
                del self._references[reference.name]

    def _discard(self) -> None:
        """Discard what was computed, after the paths changed."""
        self._importers = None
        self._near.clear()

    def _discard_of(self, old: ParsedFile, new: ParsedFile) -> bool:
        """Discard what was computed from the content of one file; whether it defines other names than before."""
        self._near.pop(new.path, None)
        if old.imports != new.imports:
            self._importers = None
        names = {symbol.name for symbol in old.symbols} ^ {symbol.name for symbol in new.symbols}
        for name in names:
            for path, _ in self._references.get(name, ()):
                self._near.pop(path, None)
        return bool(names)

    def are_related(self, path: str, other: str) -> bool:
        """Whether two files have languages whose files can refer to each other."""
        return _family(self._entries[path].file) == _family(self._entries[other].file)

    def symbol(self, ref: SymbolRef) -> Symbol:
        """The symbol of a reference to one."""
        return self._entries[ref.path].file.symbols[ref.index]

    def definitions(self, name: str) -> Collection[SymbolRef]:
        """Definitions of a name, in no order."""
        return self._definitions.get(name, {}).keys()

    def first_of(self, path: str, qualified_name: str) -> int | None:
        """The first symbol of a file with a qualified name; None without one."""
        return self._entries[path].qualified.get(qualified_name)

    def names(self) -> Names:
        """All names that are defined."""
        if self._names is None:
            self._names = Names(self._definitions)
        return self._names

    def reference_count(self, name: str) -> int:
        """Places that refer to a name, whatever they mean by it."""
        return len(self._references.get(name, ()))

    # ------------------------------------------------------------------------------------------- relations

    def incoming(self, path: str, symbol: SymbolRef | None) -> Iterator[Relation]:
        """What refers to a symbol, or for None to a file: what imports it or refers to what it defines elsewhere."""
        if symbol is None:
            for importer, one in self._importers_of(path):
                yield Relation(importer, None, path, None, RelationKind.IMPORTS, one.line, SURE)
            for at in range(len(self._entries[path].file.symbols)):
                ref = SymbolRef(path, at)
                yield from (found for found in self.incoming(path, ref) if found.from_path != path)
            return
        target = self.symbol(symbol)
        if target.parent >= 0:
            yield Relation(
                path, SymbolRef(path, target.parent), path, symbol, RelationKind.CONTAINS, target.start_line, 1.0
            )
        else:
            yield Relation(path, None, path, symbol, RelationKind.CONTAINS, target.start_line, 1.0)
        family = _family(self._entries[path].file)
        for found_path, at in list(self._references.get(target.name, ())):
            file = self._entries[found_path].file
            if _family(file) != family:
                continue
            reference = file.references[at]
            for found in self._resolver.resolve(found_path, reference):
                if found.ref == symbol:
                    yield _relation(found_path, reference, found)

    def outgoing(self, path: str, symbol: SymbolRef | None) -> Iterator[Relation]:
        """What a symbol refers to, with what stands inside of it; for None what a file imports and refers to."""
        file = self._entries[path].file
        if symbol is None:
            for at, one in enumerate(file.imports):
                for found in self._files_of(path, at):
                    if found != path:
                        yield Relation(path, None, found, None, RelationKind.IMPORTS, one.line, SURE)
            for at, inner in enumerate(file.symbols):
                if inner.parent < 0:
                    yield Relation(path, None, path, SymbolRef(path, at), RelationKind.CONTAINS, inner.start_line, 1.0)
        inside = _inside(file, symbol.index) if symbol is not None else None
        for at, inner in enumerate(file.symbols):
            if symbol is not None and inner.parent == symbol.index:
                yield Relation(path, symbol, path, SymbolRef(path, at), RelationKind.CONTAINS, inner.start_line, 1.0)
        for reference in file.references:
            if inside is not None and reference.source not in inside:
                continue
            for target in self._resolver.resolve(path, reference):
                if symbol is not None or target.ref.path != path:
                    yield _relation(path, reference, target)

    def imports_of(self, path: str) -> Sequence[tuple[Import, Sequence[str]]]:
        """What a file imports, by line, each with the files that it means."""
        imports = self._entries[path].file.imports
        return [(one, self._files_of(path, at)) for at, one in enumerate(imports)]

    def neighbours(self, path: str) -> Mapping[str, float]:
        """Files that a file refers to with how often: by imports, and by names that few files define."""
        known = self._near.get(path)
        if known is not None:
            return known
        entry = self._entries[path]
        found: dict[str, float] = defaultdict(float)
        for at in range(len(entry.file.imports)):
            for other in self._files_of(path, at):
                found[other] += 1.0
        for reference in entry.file.references:
            defined = {ref.path for ref in self._definitions.get(reference.name, ())}
            if len(defined) <= GUESSES_MAX:
                for other in defined:
                    found[other] += 1.0 / len(defined)
        found.pop(path, None)
        self._near[path] = found
        return found

    def resolve(self, path: str, reference: Reference) -> Sequence[Target]:
        """The definitions that a reference of a file may mean; see `Resolver.resolve`."""
        return self._resolver.resolve(path, reference)

    def _files_of(self, path: str, at: int) -> Sequence[str]:
        file = self._entries[path].file
        return self._modules.files_of(file, file.imports[at])

    def _importers_of(self, path: str) -> Sequence[tuple[str, Import]]:
        if self._importers is None:
            self._importers = defaultdict(list)
            for importer, entry in self._entries.items():
                for at, one in enumerate(entry.file.imports):
                    for found in self._files_of(importer, at):
                        if found != importer:
                            self._importers[found].append((importer, one))
        return self._importers.get(path, [])


def _family(file: ParsedFile) -> str:
    """The languages whose files import each other."""
    return _FAMILIES.get(file.language, file.language)


_FAMILIES: Final = {"typescript": "javascript", "cpp": "c"}


def _inside(file: ParsedFile, index: int) -> set[int]:
    """A symbol and all that stands in it."""
    found = {index}
    for at in range(index + 1, len(file.symbols)):
        if file.symbols[at].parent in found:
            found.add(at)
    return found


def _relation(path: str, reference: Reference, target: Target) -> Relation:
    source = SymbolRef(path, reference.source) if reference.source >= 0 else None
    kind = RelationKind(int(reference.kind))
    return Relation(path, source, target.ref.path, target.ref, kind, reference.line, target.confidence)
