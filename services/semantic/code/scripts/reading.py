"""What the parser asks of a file of TypeScript or JavaScript beyond its query."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, Protocol

from tree_sitter import Node

from services.semantic.code.scripts.bindings import Bindings, in_order, text_of
from services.semantic.code.scripts.expressions import Expressions, first_of

CALLED: Final = ("identifier", "member_expression", "await_expression", "non_null_expression")
"""Nodes that `ScriptReading.called` reads."""
_MADE: Final = ("identifier", "member_expression", "call_expression", "new_expression", "as_expression")
_NAMED_TYPE: Final = re.compile(rb"[A-Z]|typeof|this")
"""What the types of members hold that are looked at: most other ones are strings and numbers."""
_TYPES_MAX: Final = 20_000
_VALUES: Final = ("arrow_function", "function_expression", "generator_function")


class Definition(Protocol):
    """A definition of the file, as the parser holds it."""

    node: Node
    name: str
    index: int
    """Its place among the file's symbols."""
    parent: int
    """That of the symbol around it; -1 at the top."""


class ScriptReading:
    """Reads calls, types and exports of one file."""

    def __init__(self, captures: Mapping[str, Sequence[Node]]) -> None:
        """Reads what the query captured."""
        self._captures = captures
        self._bindings = Bindings(captures)
        self._expressions = Expressions(self._bindings)

    def is_local(self, name: str, byte: int) -> bool:
        """Whether a name means a parameter or local variable at a place."""
        return self._bindings.find(name, byte) is not None

    def calls(self) -> list[Node]:
        """What is called, of chains the inner calls first: what they mean is a part of what follows."""
        return sorted(self._captures.get("call", ()), key=lambda node: node.end_byte)

    def called(self, node: Node) -> tuple[int, str, str] | None:
        """Where the name of what is called begins, the name and its qualifier, for a node of a type in `CALLED`.

        None: what a parameter or local variable holds.
        """
        while node.type in ("await_expression", "non_null_expression"):  # "await load<T>()" is read so
            inner_node = first_of(node.named_children)
            if inner_node is None or inner_node.type not in CALLED:
                return None
            node = inner_node
        if node.type == "member_expression":
            name_node = node.child_by_field_name("property")
            if name_node is not None:
                qualifier = self._expressions.value(node.child_by_field_name("object"))
                return name_node.start_byte, text_of(name_node), qualifier or "?"
        name = text_of(node)
        binding = self._bindings.find(name, node.start_byte)
        if binding is None:
            return node.start_byte, name, ""
        # Of "const { parse } = util" it is util's.
        inner, dot, member = self._expressions.bound(name, binding).rpartition(".")
        is_taken = dot and inner and binding.steps.endswith(f".{member}")
        return (node.start_byte, member, f"{inner}!") if is_taken else None

    def bases(self, node: Node) -> Iterator[tuple[str, str]]:
        """Names and qualifiers of what a class or interface extends."""
        if node.type in ("identifier", "member_expression"):
            text = "".join(text_of(node).split())
        else:
            text = self._expressions.type_text(node)
        for part in text.split("|"):
            qualifier, _, name = part.rpartition(".")
            yield name, qualifier

    def types(
        self, definitions: Sequence[Definition], source_of: Callable[[Sequence[int]], Iterable[int]]
    ) -> dict[str, str]:
        """What definitions and their members are made of.

        Args:
            definitions: Those of the file.
            source_of: The innermost symbol around places that are given in their order.

        Returns:
            By the index of a symbol, or by "index.member" where the member is no symbol: a text of `Expressions`. For
            functions it is what they return, and by "index@argument.parameter" what functions get that are passed to
            them; by "index@parameter" what functions of a type get, and of which type an argument is.
        """
        found: dict[str, str] = {}
        returned = self._returned()
        for definition in definitions:
            if definition.index < 0 or definition.index == definition.parent or len(found) >= _TYPES_MAX:
                continue
            text = self._made_of(definition.node, returned)
            if text:
                found.setdefault(str(definition.index), text)
            for place, given in self._parameters(definition.node):
                found.setdefault(f"{definition.index}@{place}", given)
        members = sorted(self._members(), key=lambda one: one[0])
        for (_, name, text), source in zip(members, source_of([one[0] for one in members]), strict=True):
            if text and source >= 0 and len(found) < _TYPES_MAX:
                found.setdefault(f"{source}.{name}", text)
        return found

    def exports(self) -> dict[str, str]:
        """Names that the file gives to its definitions for others, where they are not their own."""
        found: dict[str, str] = {}
        for node in in_order(self._captures, "export"):
            if node.child_by_field_name("source") is not None:
                continue
            given = node.child_by_field_name("value") or node.child_by_field_name("declaration")
            if given is None and any(child.type == "=" for child in node.children):
                given = first_of(node.named_children)
            if given is not None:
                name = given if given.type == "identifier" else given.child_by_field_name("name")
                if name is not None:
                    found["default"] = text_of(name)
                continue
            for clause in node.named_children:
                for one in clause.named_children if clause.type == "export_clause" else ():
                    name, alias = one.child_by_field_name("name"), one.child_by_field_name("alias")
                    if name is not None and alias is not None:
                        found[text_of(alias)] = text_of(name)
        for node in in_order(self._captures, "common"):
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            if left is not None and right is not None and left.text == b"module.exports":
                found["default"] = text_of(right)
        return found

    def _returned(self) -> dict[int, list[Node]]:
        """Return statements by where their functions begin."""
        found: dict[int, list[Node]] = {}
        for node in in_order(self._captures, "return"):
            found.setdefault(self._bindings.closure_at(node.start_byte), []).append(node)
        return found

    def _made_of(self, node: Node, returned: Mapping[int, Sequence[Node]]) -> str:
        kind = node.type
        value = node.child_by_field_name("value") or node.child_by_field_name("right")
        if kind == "type_alias_declaration":
            text = self._expressions.type_text(value)
            return f"<{text}>" if text else ""
        function = value if value is not None and value.type in _VALUES else node
        if function.child_by_field_name("parameters") is not None or function.type == "arrow_function":
            return self._result(function, returned)
        declared = node.child_by_field_name("type")
        return self._expressions.declared(declared) if declared is not None else self._expressions.value(value)

    def _result(self, function: Node, returned: Mapping[int, Sequence[Node]]) -> str:
        """What a function returns: as it says, else what its first return statement with a known meaning does."""
        declared = function.child_by_field_name("return_type")
        if declared is not None:
            return self._expressions.declared(declared)
        body = function.child_by_field_name("body")
        if body is not None and body.type != "statement_block":
            text = self._returned_value(body)
            return text and f"~{text}"
        for node in returned.get(function.start_byte, ()):
            text = self._returned_value(first_of(node.named_children))
            if text and text != "this":
                return f"~{text}"
            if text:
                return "<this>"
        return ""

    def _returned_value(self, node: Node | None) -> str:
        while node is not None and node.type == "parenthesized_expression":
            node = first_of(node.named_children)
        return "{}" if node is not None and node.type == "object" else self._expressions.value(node)

    def _parameters(self, node: Node) -> Iterator[tuple[str, str]]:
        """Types of the parameters of functions that are passed to a function, or of which a type is."""
        value = node.child_by_field_name("value")
        if node.type == "type_alias_declaration":
            if value is not None and value.type == "function_type":
                yield from self._given(value, "")
            return
        listed = (value if value is not None and value.type in _VALUES else node).child_by_field_name("parameters")
        for place, one in enumerate(listed.named_children if listed is not None else ()):
            declared = one.child_by_field_name("type")
            given = declared and first_of(declared.named_children)
            while given is not None and given.type in ("parenthesized_type", "union_type"):
                given = first_of(given.named_children)
            if given is not None and given.type == "function_type":
                yield from self._given(given, f"{place}.")
            elif given is not None and given.type in ("type_identifier", "generic_type", "nested_type_identifier"):
                text = self._expressions.declared(given)
                if text:
                    yield str(place), text

    def _given(self, function: Node, prefix: str) -> Iterator[tuple[str, str]]:
        listed = function.child_by_field_name("parameters")
        for place, one in enumerate(listed.named_children if listed is not None else ()):
            text = self._expressions.declared(one.child_by_field_name("type"))
            if text:
                yield f"{prefix}{place}", text

    def _members(self) -> Iterator[tuple[int, str, str]]:
        """Members of classes and object types that are no symbols: place, name and what they are made of."""
        for node in in_order(self._captures, "member"):
            name, declared = node.child_by_field_name("name"), node.child_by_field_name("type")
            if name is not None and declared is not None and _NAMED_TYPE.search(declared.text or b""):
                yield node.start_byte, text_of(name), self._expressions.declared(declared)
        for node in in_order(self._captures, "entry"):
            key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
            if key is not None and value is not None and value.type in _MADE:
                yield node.start_byte, text_of(key), self._expressions.value(value)
        for node in in_order(self._captures, "own"):
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            name = left.child_by_field_name("property") if left is not None else None
            if name is not None:
                yield self._class_around(node), text_of(name), self._expressions.value(right)

    def _class_around(self, node: Node) -> int:
        """A place in the class, and in none of its methods, where an expression stands in one."""
        at: Node | None = node
        while at is not None and at.type != "method_definition":
            at = at.parent
        return at.start_byte - 1 if at is not None else node.start_byte
