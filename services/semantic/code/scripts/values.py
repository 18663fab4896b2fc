"""Of which class an expression of TypeScript or JavaScript is, over the files of a repository; see expressions.py."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from services.semantic.code.entries import Entry
from services.semantic.code.model import Import, Symbol, SymbolKind, SymbolRef
from services.semantic.code.modules import Modules
from services.semantic.code.scripts.kinds import GLOBALS, PRIMITIVES, SURE, Value, ValueKind

_EXPORTED: Final = 0.9
_INHERITED: Final = 0.85
_TYPED: Final = 0.8
_INFERRED: Final = 0.7
_DEPTH_MAX: Final = 12
_BASES_MAX: Final = 30
_WIDTH_MAX: Final = 6
"""Values that an expression may have, as many as are followed."""
_EVALUATIONS_MAX: Final = 300
"""Expressions that are evaluated for one reference: types may be made of each other."""
_STEP: Final = re.compile(r"\.([#\w$]+)|(\(\))|(\[\]|\[\*\])|(@\d+\.\d+)")
_SAME_ITEMS: Final = frozenset(
    "filter slice concat sort reverse toSorted toReversed values flat splice".split()  # noqa: SIM905
)
_ONE_ITEM: Final = frozenset("at find findLast get pop shift next".split())  # noqa: SIM905
_WITH_MEMBERS: Final = (SymbolKind.CLASS, SymbolKind.VARIABLE)
_FUNCTIONS: Final = (SymbolKind.FUNCTION, SymbolKind.METHOD)


_OUTSIDE: Final = (Value(ValueKind.OUTSIDE),)


class Values:
    """Evaluates expressions in files that change."""

    def __init__(self, files: Mapping[str, Entry], modules: Modules) -> None:
        """Looks up in these; the caller updates them."""
        self._files = files
        self._modules = modules
        self._left = 0

    def begin(self) -> None:
        """Begin with another reference: each may take so many evaluations."""
        self._left = _EVALUATIONS_MAX

    def named(self, path: str, scope: int, name: str, depth: int = 0) -> Sequence[Value]:
        """What a name means in a file, inside of a symbol; nothing where the file does not say.

        Args:
            path: Of the file.
            scope: Index of the innermost symbol around the name; -1 at the top.
            name: A single one.
            depth: Steps that lead here.
        """
        entry = self._files[path]
        around = scope
        while around >= 0:
            symbol = entry.file.symbols[around]
            inner = entry.members.get((symbol.qualified_name, name))
            if inner is not None and (symbol.kind is not SymbolKind.CLASS or _is_namespace(symbol)):
                return (Value(ValueKind.DEFINITION, SymbolRef(path, inner)),)
            around = symbol.parent
        at = entry.top.get(name)
        if at is not None:
            return (Value(ValueKind.DEFINITION, SymbolRef(path, at)),)
        one = entry.aliases.get(name)
        if one is not None:
            return self._imported(path, one, depth, {})
        return _OUTSIDE if name in GLOBALS else ()

    def of(self, path: str, scope: int, text: str, depth: int = 0) -> Sequence[Value]:
        """What an expression means; nothing where that is not known."""
        self._left -= 1
        if depth > _DEPTH_MAX or self._left < 0 or not text:
            return ()
        if text.startswith("~"):
            found = self.of(path, scope, text[1:], depth + 1)
            return [one._replace(confidence=min(one.confidence, _INFERRED)) for one in found]
        if text == "{}":
            return (Value(ValueKind.OBJECT, SymbolRef(path, scope)),)
        if text.startswith("<"):
            end = text.find(">")
            values, rest = self.typed(path, scope, text[1:end], depth + 1), text[end + 1 :]
        else:
            head = re.split(r"[.(\[@]", text, maxsplit=1)[0]
            values, rest = self._head(path, scope, head, depth + 1), text[len(head) :]
        steps = [match.groups() for match in _STEP.finditer(rest)]
        for place, (name, call, item, given) in enumerate(steps):
            if not values:
                return ()
            if name:
                values = self.member(values, name, depth + 1)
            elif call:
                before = steps[place - 1][0] if place else None
                values = self._called(values, before, depth + 1)
            elif item:
                values = self._items(values, depth + 1, is_part=item == "[*]")
            else:
                values = self._given(values, given[1:], depth + 1)
        return values

    def _items(self, values: Sequence[Value], depth: int, *, is_part: bool) -> Sequence[Value]:
        """Items of collections. A part of what is no collection is taken for it, as the value beside a key."""
        found: list[Value] = []
        for value in values:
            held = self._held(value, depth) if value.kind is ValueKind.DEFINITION and not value.items else (value,)
            for one in held:
                if one.items:
                    found.append(one._replace(items=one.items - 1))
                elif is_part or one.kind is ValueKind.OUTSIDE:
                    found.append(one)
        return found

    def _given(self, values: Sequence[Value], place: str, depth: int) -> Sequence[Value]:
        """What functions get that are passed to functions: "0.1" is the second parameter of the first argument."""
        for value in values:
            if value.kind is ValueKind.OUTSIDE:
                return _OUTSIDE
            if value.ref is None or value.items or depth > _DEPTH_MAX:
                continue
            path, at = value.ref
            types = self._files[path].file.types
            text = types.get(f"{at}@{place}")
            if text is not None:
                return self.of(path, at, f"~{text}", depth + 1)
            argument, _, parameter = place.partition(".")
            for one in self.of(path, at, types.get(f"{at}@{argument}", ""), depth + 1):
                text = self._files[one.ref.path].file.types.get(f"{one.ref.index}@{parameter}") if one.ref else None
                if one.ref is not None and text:
                    return self.of(*one.ref, f"~{text}", depth + 1)
        return ()

    def typed(self, path: str, scope: int, text: str, depth: int = 0) -> Sequence[Value]:
        """Objects of a type, as a place in a file names it."""
        if depth > _DEPTH_MAX:
            return ()
        found: list[Value] = []
        for part in text.split("|")[:_WIDTH_MAX]:
            bare = part.rstrip("[]")
            items = (len(part) - len(bare)) // 2
            if bare.startswith("()"):
                results = self.typed(path, scope, bare[2:], depth + 1)
                found += [one._replace(kind=ValueKind.RESULT) for one in results if one.kind is ValueKind.OBJECT]
            elif bare.startswith("="):
                found += self.of(path, scope, part[1:], depth + 1)
            else:
                found += [one._replace(items=items) for one in self.type_named(path, scope, bare, depth)]
        return found

    def member(self, values: Sequence[Value], name: str, depth: int = 0) -> Sequence[Value]:
        """What a member of values is: of the first that has it."""
        outside: Sequence[Value] = ()
        for value in values[:_WIDTH_MAX]:
            if value.items:
                if name in _SAME_ITEMS or name in _ONE_ITEM or name == "entries":
                    return (value,)
                outside = _OUTSIDE
                continue
            if value.kind is ValueKind.OUTSIDE:
                outside = _OUTSIDE
            elif value.kind is ValueKind.MODULE:
                found = self.exported(value.files, name, depth + 1, {})
                if not found and depth < _DEPTH_MAX:
                    found = self.member(self.default_of(value.files, depth + 1), name, depth + 1)
                if found:
                    return found
                outside = _OUTSIDE
            elif value.ref is not None:
                found = self._member(value.ref, name, depth + 1, value.ref, {})
                if not found and value.kind is ValueKind.DEFINITION:
                    found = self.member(self._held(value, depth + 1), name, depth + 1) if depth < _DEPTH_MAX else ()
                elif not found:
                    outside = _OUTSIDE
                if found:
                    return [one._replace(confidence=min(one.confidence, value.confidence)) for one in found]
        return outside

    def exported(
        self, paths: Sequence[str], name: str, depth: int, seen: dict[tuple[str, str], int]
    ) -> Sequence[Value]:
        """What files export by a name, themselves or from others."""
        listed = [path for path in paths if seen.get((path, name), _DEPTH_MAX + 1) > depth]
        for path in listed:
            seen[path, name] = depth
        for path in listed:
            entry = self._files[path]
            local = entry.file.exports.get(name, name)
            at = entry.top.get(local)
            if at is not None:
                return (Value(ValueKind.DEFINITION, SymbolRef(path, at)),)
            one = entry.aliases.get(local)
            if one is not None and depth < _DEPTH_MAX:
                found = self._imported(path, one, depth + 1, seen)
                if found:
                    return found
        if depth >= _DEPTH_MAX:
            return ()
        for path in listed:
            entry = self._files[path]
            for star in entry.stars:
                found = self.exported(self._modules.files_of(entry.file, star), name, depth + 1, seen)
                if found and found[0].kind is not ValueKind.OUTSIDE:
                    return [one._replace(confidence=min(one.confidence, _EXPORTED)) for one in found]
        return ()

    def _imported(self, path: str, one: Import, depth: int, seen: dict[tuple[str, str], int]) -> Sequence[Value]:
        entry = self._files[path]
        files = self._modules.files_of(entry.file, one)
        if not files:
            return _OUTSIDE
        if one.name in ("", "*"):
            return (Value(ValueKind.MODULE, files=files),)
        found = self.exported(files, one.name, depth + 1, seen)
        if not found and one.name == "default":
            return self.default_of(files, depth + 1) or (Value(ValueKind.MODULE, files=files),)
        return found

    def default_of(self, files: Sequence[str], depth: int = 0) -> Sequence[Value]:
        """What files export as a whole, or by default."""
        for path in files:
            entry = self._files[path]
            if "default" in entry.file.exports:
                return self.exported([path], "default", depth, {})
            if entry.default is not None:
                return (Value(ValueKind.DEFINITION, SymbolRef(path, entry.default)),)
        return ()

    def _head(self, path: str, scope: int, name: str, depth: int) -> Sequence[Value]:
        """What an expression begins with."""
        if name == "this":
            owner = self._class_around(path, scope)
            return (Value(ValueKind.OBJECT, owner),) if owner is not None else ()
        if name == "super":
            owner = self._class_around(path, scope)
            return list(self._bases(owner, depth)) if owner is not None else ()
        return self.named(path, scope, name, depth)

    def _class_around(self, path: str, scope: int) -> SymbolRef | None:
        entry = self._files[path]
        around = scope
        while around >= 0:
            symbol = entry.file.symbols[around]
            if symbol.kind is SymbolKind.CLASS and not _is_namespace(symbol):
                return SymbolRef(path, around)
            around = symbol.parent
            if symbol.container and entry.file.symbols[around].kind is SymbolKind.VARIABLE and around >= 0:
                return SymbolRef(path, around)  # a method of an object
            if symbol.kind is SymbolKind.METHOD and around < 0 and symbol.container in entry.qualified:
                return SymbolRef(path, entry.qualified[symbol.container])  # of a prototype
        return None

    def type_named(self, path: str, scope: int, name: str, depth: int = 0) -> Sequence[Value]:
        """Objects of the class, interface or type that a name such as "shop.Order" means."""
        if name in PRIMITIVES:
            return _OUTSIDE
        if name == "this":
            owner = self._class_around(path, scope)
            return (Value(ValueKind.OBJECT, owner, confidence=_TYPED),) if owner is not None else ()
        head, *rest = name.split(".")
        entry = self._files[path]
        values: Sequence[Value] = ()
        around = scope
        while around >= 0 and not values:
            symbol = entry.file.symbols[around]
            at = entry.classes.get(f"{symbol.qualified_name}.{head}")
            values = (Value(ValueKind.DEFINITION, SymbolRef(path, at)),) if at is not None else ()
            around = symbol.parent
        if not values:
            at = entry.classes.get(head)
            values = (
                (Value(ValueKind.DEFINITION, SymbolRef(path, at)),)
                if at is not None
                else self.named(path, -1, head, depth + 1)
            )
        for step in rest:
            values = self.member(values, step, depth + 1)
        if not values:
            return _OUTSIDE  # a global type, such as one of the language
        return [
            Value(ValueKind.OBJECT, self._type_of(one.ref), confidence=min(_TYPED, one.confidence))
            if one.kind is ValueKind.DEFINITION and one.ref is not None
            else one
            for one in values
        ]

    def _type_of(self, ref: SymbolRef) -> SymbolRef:
        """The type of a name that is also a value: "const Schema" beside "interface Schema"."""
        entry = self._files[ref.path]
        at = entry.classes.get(entry.file.symbols[ref.index].qualified_name)
        return SymbolRef(ref.path, at) if at is not None else ref

    def _called(self, values: Sequence[Value], name: str | None, depth: int) -> Sequence[Value]:
        """What a call of values results in. The name is that of the member which is called."""
        found: list[Value] = []
        for value in values:
            if value.items:
                more = -1 if name in _ONE_ITEM else 1 if name == "entries" else 0
                found.append(value._replace(items=value.items + more))
            elif value.kind is ValueKind.RESULT:
                found.append(value._replace(kind=ValueKind.OBJECT))
            elif value.kind is ValueKind.OUTSIDE:
                found.append(value)
            elif value.kind is ValueKind.DEFINITION and value.ref is not None:
                held = self._held(value, depth)
                is_function = self._symbol(value.ref).kind in _FUNCTIONS
                for one in held:
                    if one.kind is ValueKind.RESULT:
                        found.append(one._replace(kind=ValueKind.OBJECT))
                    elif is_function:
                        found.append(one)
        return found

    def _held(self, value: Value, depth: int) -> Sequence[Value]:
        """What a variable is, or what a function results in."""
        ref = value.ref
        if ref is None or depth > _DEPTH_MAX:
            return ()
        types, symbol = self._files[ref.path].file.types, self._symbol(ref)
        text = types.get(str(ref.index)) or types.get(f"{symbol.parent}.{symbol.name}", "")
        if text == "<this>" and value.owner is not None:
            return (Value(ValueKind.OBJECT, value.owner, confidence=min(_TYPED, value.confidence)),)
        found = self.of(ref.path, ref.index, text, depth + 1)
        limit = min(value.confidence, _TYPED)
        return [one._replace(confidence=min(one.confidence, limit)) for one in found]

    def _member(
        self, ref: SymbolRef, name: str, depth: int, owner: SymbolRef, seen: dict[SymbolRef, None]
    ) -> Sequence[Value]:
        """A member of a definition, its own or inherited.

        Args:
            ref: The definition.
            name: Of the member.
            depth: Steps that lead here.
            owner: The definition that was asked first.
            seen: Definitions that were looked at before this one.
        """
        entry = self._files[ref.path]
        symbol = entry.file.symbols[ref.index]
        at = entry.members.get((symbol.qualified_name, name))
        confidence = _INHERITED if seen else SURE
        if at is not None:
            return (Value(ValueKind.DEFINITION, SymbolRef(ref.path, at), owner=owner, confidence=confidence),)
        if symbol.kind not in _WITH_MEMBERS:
            return ()
        text = entry.file.types.get(f"{ref.index}.{name}")
        if text is not None:
            found = self.of(ref.path, ref.index, text, depth + 1)
            return [one._replace(confidence=min(one.confidence, _TYPED)) for one in found]
        if symbol.kind is not SymbolKind.CLASS or len(seen) >= _BASES_MAX or depth > _DEPTH_MAX:
            return ()
        seen[ref] = None
        aliased = entry.file.types.get(str(ref.index))
        others = self.of(ref.path, symbol.parent, aliased, depth + 1) if aliased else ()
        for other in (*others, *self._bases(ref, depth + 1)):
            if other.ref is not None and other.ref not in seen and not other.items and other.kind is ValueKind.OBJECT:
                found = self._member(other.ref, name, depth + 1, owner, seen)
                if found:
                    return found
        return ()

    def _bases(self, ref: SymbolRef, depth: int) -> Iterator[Value]:
        entry = self._files[ref.path]
        scope = entry.file.symbols[ref.index].parent
        for reference in entry.bases.get(ref.index, ()):
            qualifier = "" if reference.qualifier == "?" else reference.qualifier
            text = f"{qualifier}.{reference.name}" if qualifier else reference.name
            yield from self.type_named(ref.path, scope, text, depth + 1)

    def _symbol(self, ref: SymbolRef) -> Symbol:
        return self._files[ref.path].file.symbols[ref.index]


def _is_namespace(symbol: Symbol) -> bool:
    return symbol.signature.startswith(("namespace ", "module ", "export namespace ", "declare namespace "))
