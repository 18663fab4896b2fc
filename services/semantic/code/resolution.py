"""From references to the definitions that they mean: by scope, imports, packages and classes, else by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from services.semantic.code.entries import Entry
from services.semantic.code.model import Import, Reference, ReferenceKind, Symbol, SymbolKind, SymbolRef
from services.semantic.code.modules import SCRIPT_LANGUAGES, Modules
from services.semantic.code.scripts.resolution import meant_by
from services.semantic.code.scripts.values import Values

_OWN: Final = ("self", "this", "cls", "Self", "@", "super", "base", "super()")
_BASES: Final = ("super", "base", "super()")
_DEPTH_MAX: Final = 5
GUESSES_MAX: Final = 3

SURE: Final = 0.95
_INHERITED: Final = 0.85
_PACKAGE: Final = 0.9
_TYPED: Final = 0.8
_STAR: Final = 0.75
_GUESSED: Final = 0.5


class Target(NamedTuple):
    """A definition that a reference may mean."""

    ref: SymbolRef
    confidence: float


class Resolver:
    """Resolves references in files that change. It sees them through what its graph hands over."""

    def __init__(
        self, files: Mapping[str, Entry], modules: Modules, definitions: Mapping[str, Mapping[SymbolRef, None]]
    ) -> None:
        """Looks up in these; the caller updates them.

        Args:
            files: By path.
            modules: Finds files by how others name them.
            definitions: By name.
        """
        self._files = files
        self._modules = modules
        self._definitions = definitions
        self._values = Values(files, modules)
        # What one look through bases found so far, by file, class and name; None for what it is still looking for: a
        # class may name itself among its bases, and many ways may lead to one.
        self._inherited: dict[tuple[str, int, str], Target | None] = {}

    def resolve(self, path: str, reference: Reference) -> Sequence[Target]:
        """The definitions that a reference may mean, the most likely first; none outside of the repository."""
        entry = self._files[path]
        name, qualifier = reference.name, reference.qualifier
        found: Sequence[Target]
        if entry.file.language in SCRIPT_LANGUAGES:
            meant = meant_by(self._values, path, reference)
            if meant is not None:
                return [Target(one.ref, one.confidence) for one in meant if one.ref is not None]
            return self._guess(path, reference, name)
        if not qualifier:
            found = self._plain(path, entry, reference)
        elif qualifier in _OWN:
            found = self._own(path, entry, reference)
        else:
            found = self._qualified(path, entry, reference)
        if found or (qualifier in _BASES and self._inherits_from_outside(path, entry, reference)):
            return found
        is_known = qualifier and (qualifier in entry.aliases or qualifier.split(".")[0] in entry.aliases)
        return (
            ()
            if is_known and not self._is_local(path, entry.aliases, qualifier)
            else self._guess(path, reference, name)
        )

    def _is_local(self, path: str, aliases: Mapping[str, Import], qualifier: str) -> bool:
        """Whether a qualifier comes from a file of the repository."""
        one = aliases.get(qualifier) or aliases[qualifier.split(".", maxsplit=1)[0]]
        return bool(self._modules.files_of(self._files[path].file, one))

    def _inherits_from_outside(self, path: str, entry: Entry, reference: Reference) -> bool:
        """Whether the class around a reference has bases, and the repository none of them."""
        around = reference.source
        while around >= 0 and entry.file.symbols[around].kind is not SymbolKind.CLASS:
            around = entry.file.symbols[around].parent
        bases = entry.bases.get(around, ())
        return bool(bases) and not any(self.resolve(path, base) for base in bases)

    def _plain(self, path: str, entry: Entry, reference: Reference) -> Sequence[Target]:
        name = reference.name
        around = reference.source
        while around >= 0:  # definitions inside of what is around it
            symbol = entry.file.symbols[around]
            inner = entry.members.get((symbol.qualified_name, name))
            is_visible = symbol.kind is not SymbolKind.CLASS or entry.file.language in ("java", "csharp", "cpp", "ruby")
            if inner is not None and is_visible:
                return [Target(SymbolRef(path, inner), SURE)]
            around = symbol.parent
        if name in entry.top:
            return [Target(SymbolRef(path, entry.top[name]), SURE)]
        if (one := entry.aliases.get(name)) is not None:
            return self._imported(path, one, depth=0)
        is_nested = entry.file.language in ("java", "csharp", "cpp", "ruby")
        # The bases of a class are looked up outside of it: looking inside asks for its bases.
        if is_nested and reference.kind is not ReferenceKind.INHERITS and (own := self._own(path, entry, reference)):
            return own
        for other in self._modules.siblings(entry.file):
            at = self._files[other].top.get(name)
            if at is not None and other != path:
                return [Target(SymbolRef(other, at), _PACKAGE)]
        for one in entry.stars:
            found = self._in_files(self._modules.files_of(entry.file, one), name, depth=0)
            if found is not None:
                return [Target(found, _STAR if entry.file.language == "python" else _PACKAGE)]
        for one in entry.statics:
            member = self._static(path, one, one.name, name)
            if member is not None:
                return [Target(member.ref, _PACKAGE)]
        return ()

    def _static(self, path: str, one: Import, owner: str, name: str) -> Target | None:
        """A member of a class in the files that an import means."""
        for other in self._modules.files_of(self._files[path].file, one):
            at = self._files[other].top.get(owner)
            if at is not None and self._files[other].file.symbols[at].kind is SymbolKind.CLASS:
                qualified = self._files[other].file.symbols[at].qualified_name
                if (found := self._member(other, qualified, name, depth=0)) is not None:
                    return found
        return None

    def _own(self, path: str, entry: Entry, reference: Reference) -> Sequence[Target]:
        """A member of the class around a reference, or of one that it inherits from."""
        around = reference.source
        while around >= 0:
            symbol = entry.file.symbols[around]
            owner = symbol.qualified_name if symbol.kind is SymbolKind.CLASS else symbol.container
            if symbol.kind in (SymbolKind.CLASS, SymbolKind.METHOD) and owner:
                found = self._member(path, owner, reference.name, depth=0, skip_own=reference.qualifier in _BASES)
                if found is not None:
                    return [found]
            around = symbol.parent
        return ()

    def _member(self, path: str, owner: str, name: str, *, depth: int, skip_own: bool = False) -> Target | None:
        """A member of a class, by the class's name with its containers, in the class or what it inherits from."""
        entry = self._files[path]
        at = entry.members.get((owner, name))
        if at is not None and not skip_own:
            return Target(SymbolRef(path, at), SURE if depth == 0 else _INHERITED)
        if not skip_own and entry.file.language in ("go", "rust", "csharp", "cpp"):
            for other in self._modules.siblings(entry.file):  # methods stand in any file of the package
                at = self._files[other].members.get((owner, name))
                if at is not None:
                    return Target(SymbolRef(other, at), _PACKAGE)
        if depth >= _DEPTH_MAX:
            return None
        class_at = entry.classes.get(owner)
        if class_at is None:
            return None
        looked_for = (path, class_at, name)
        if looked_for in self._inherited:
            return self._inherited[looked_for]
        is_first = not self._inherited
        self._inherited[looked_for] = None
        try:
            found = self._inherited[looked_for] = self._of_bases(path, class_at, name, depth=depth)
        finally:
            if is_first:
                self._inherited.clear()
        return found

    def _of_bases(self, path: str, class_at: int, name: str, *, depth: int) -> Target | None:
        """A member of what a class inherits from."""
        for reference in self._files[path].bases.get(class_at, ()):
            for base in self.resolve(path, reference):
                base_symbol = self._symbol(base.ref)
                is_itself = base.ref == SymbolRef(path, class_at)
                if base.confidence < _STAR or base_symbol.kind is not SymbolKind.CLASS or is_itself:
                    continue
                found = self._member(base.ref.path, base_symbol.qualified_name, name, depth=depth + 1)
                if found is not None:
                    return Target(found.ref, min(found.confidence, _INHERITED))
        return None

    def _qualified(self, path: str, entry: Entry, reference: Reference) -> Sequence[Target]:
        name = reference.name
        qualifier = reference.qualifier.replace("::", ".").replace("->", ".").replace("?.", ".")
        head = qualifier.split(".")[0]
        one = entry.aliases.get(qualifier) or entry.aliases.get(reference.qualifier)
        if one is not None:
            found = self._through(path, one, name)
            return [found] if found is not None else ()
        typed = self._class_of(path, entry, reference, qualifier)
        if typed is not None:
            found = self._member(typed.path, self._symbol(typed).qualified_name, name, depth=0)
            if found is not None:
                return [Target(found.ref, min(found.confidence, _TYPED))]
        found = self._of_class(path, entry, qualifier, name)
        if found is not None:
            return [found]
        if head in entry.aliases:
            rest = qualifier.split(".")[1:]
            targets = self._imported(path, entry.aliases[head], depth=0)
            for target in targets:
                owner = self._symbol(target.ref)
                found = self._member(target.ref.path, ".".join([owner.qualified_name, *rest]), name, depth=0)
                if found is not None:
                    return [found]
            found = self._through(path, entry.aliases[head], name) if not targets else None
            return [Target(found.ref, _TYPED)] if found is not None else ()
        if entry.file.language == "rust":
            module, _, last = reference.qualifier.rpartition("::")
            files = self._modules.files_of(entry.file, Import(reference.qualifier, "", last, 0))
            files = files or self._modules.files_of(entry.file, Import(module, last, last, 0))
            top = self._in_files(files, name, depth=0)
            return [Target(top, _PACKAGE)] if top is not None else ()
        return ()

    def _class_of(self, path: str, entry: Entry, reference: Reference, variable: str) -> SymbolRef | None:
        """The class of a variable, or of a field of one, where the text names it."""
        type_name = self._type_of(entry, reference, variable)
        if type_name is not None:
            return self._class_named(path, entry, type_name)
        outer, _, field = variable.rpartition(".")
        owner = self._class_of(path, entry, reference, outer) if outer else None
        if owner is None:
            return None
        inner = self._files[owner.path]
        type_name = inner.file.types.get(f"{owner.index}.{field}")
        return self._class_named(owner.path, inner, type_name) if type_name is not None else None

    def _type_of(self, entry: Entry, reference: Reference, variable: str) -> str | None:
        around = reference.source
        while around >= 0:
            found = entry.file.types.get(f"{around}.{variable.removeprefix('self.').removeprefix('this.')}")
            if found is not None:
                return found
            symbol = entry.file.symbols[around]
            if variable.startswith(("self.", "this.")) and symbol.kind is SymbolKind.METHOD:
                field = variable.split(".", 1)[1]
                for at, other in enumerate(entry.file.symbols):
                    if other.container == symbol.container and (t := entry.file.types.get(f"{at}.{field}")) is not None:
                        return t
            around = symbol.parent
        return None

    def _of_class(self, path: str, entry: Entry, owner: str, name: str) -> Target | None:
        """A member of a class that is named as it is seen in a file."""
        at = entry.top.get(owner)
        if at is not None and entry.file.symbols[at].kind is SymbolKind.CLASS and not entry.file.symbols[at].container:
            return self._member(path, owner, name, depth=0)
        found = self._class_named(path, entry, owner)
        return (
            self._member(found.path, self._symbol(found).qualified_name, name, depth=0) if found is not None else None
        )

    def _class_named(self, path: str, entry: Entry, name: str) -> SymbolRef | None:
        """The class that a name means, as it is seen in a file."""
        at = entry.classes.get(name)
        if at is not None:
            return SymbolRef(path, at)
        outer, _, last = name.rpartition(".")
        found: Sequence[Target] = ()
        if outer:
            found = self._qualified(path, entry, Reference(last, outer, ReferenceKind.REFERENCES, 0, -1))
        found = found or self._plain(path, entry, Reference(last, "", ReferenceKind.REFERENCES, 0, -1))
        is_class = bool(found) and self._symbol(found[0].ref).kind is SymbolKind.CLASS
        return found[0].ref if is_class else None

    def _imported(
        self, path: str, one: Import, *, depth: int, seen: dict[tuple[str, str], int] | None = None
    ) -> Sequence[Target]:
        """What an imported name is."""
        entry = self._files[path]
        files = self._modules.files_of(entry.file, one)
        wanted = one.name if one.name not in ("", "*") else one.alias
        found = self._in_files(files, wanted, depth=depth, seen=seen)
        if found is None and entry.file.language == "java":  # "import static shop.Tax.rate"
            member = self._static(path, one, one.module.rpartition(".")[2], wanted)
            found = member.ref if member is not None else None
        return [Target(found, SURE if depth == 0 else _PACKAGE)] if found is not None else ()

    def _through(self, path: str, one: Import, name: str) -> Target | None:
        """A name taken through an imported one: of a module, or a member of a class."""
        entry = self._files[path]
        for target in self._imported(path, one, depth=0) if one.name else ():
            symbol = self._symbol(target.ref)
            if symbol.kind is SymbolKind.CLASS:
                return self._member(target.ref.path, symbol.qualified_name, name, depth=0)
        found = self._in_files(self._modules.files_of(entry.file, one), name, depth=0)
        return Target(found, SURE) if found is not None else None

    def _in_files(
        self, paths: Iterable[str], name: str, *, depth: int, seen: dict[tuple[str, str], int] | None = None
    ) -> SymbolRef | None:
        """A name at the top of files, or what they import under it.

        Args:
            paths: Of the files.
            name: That is looked for.
            depth: How many imports lead here.
            seen: Files and names that were looked at, with the depth: many ways lead to a file that many import.
        """
        seen = {} if seen is None else seen
        listed = [path for path in paths if seen.get((path, name), _DEPTH_MAX + 1) > depth]
        for path in listed:
            seen[path, name] = depth
        for path in listed:
            at = self._files[path].top.get(name)
            if at is not None:
                return SymbolRef(path, at)
        if depth >= _DEPTH_MAX:
            return None
        for path in listed:
            entry = self._files[path]
            if (one := entry.aliases.get(name)) is not None:
                for target in self._imported(path, one, depth=depth + 1, seen=seen):
                    return target.ref
            for star in entry.stars:
                others = self._modules.files_of(entry.file, star)
                found = self._in_files(others, name, depth=depth + 1, seen=seen) if others else None
                if found is not None:
                    return found
        return None

    def _guess(self, path: str, reference: Reference, name: str) -> Sequence[Target]:
        """By the name alone, where few definitions have it: members for qualified names, others for plain ones."""
        if reference.kind is ReferenceKind.USES:
            return ()
        language = self._files[path].file.language
        is_member = bool(reference.qualifier)
        caller = SymbolRef(path, reference.source)
        found: list[SymbolRef] = []
        for ref in self._definitions.get(name, ()):
            file = self._files[ref.path].file
            symbol = file.symbols[ref.index]
            if is_member and ref == caller:
                continue  # a method that calls one of its own name mostly passes the call on
            is_fitting = symbol.kind is not SymbolKind.VARIABLE and (bool(symbol.container) or not is_member)
            if language in SCRIPT_LANGUAGES and not is_member and file.imports:
                continue  # what a module defines is seen nowhere else without an import
            if is_fitting and file.language == language:
                found.append(ref)
                if len(found) > GUESSES_MAX:
                    return ()
        return [Target(ref, _GUESSED / len(found)) for ref in sorted(found)]

    def _symbol(self, ref: SymbolRef) -> Symbol:
        return self._files[ref.path].file.symbols[ref.index]
