"""Names of parameters and local variables in TypeScript and JavaScript, and in which part of a file they hold."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from tree_sitter import Node

_FUNCTION_VALUES: Final = ("arrow_function", "function_expression", "generator_function", "class")
_LOADS: Final = ("call_expression", "await_expression")
_LOADED: Final = (b"require(", b"await import(")
_NO_CLOSURES: Final = ("statement_block", "for_in_statement", "for_statement", "catch_clause")
_PATTERNS: Final = ("rest_pattern", "object_assignment_pattern", "assignment_pattern")


class Binding(NamedTuple):
    """A parameter or a local variable."""

    node: Node
    """What declares it: a parameter, a declarator, a loop over items, a type parameter."""
    steps: str
    """How it is reached from the value of that: empty, or such as ".name" where it is taken apart."""
    is_definition: bool = False
    """Whether it is a function or class with a name, which the file's definitions have, or a module."""


class Bindings:
    """Blocks of a file with the names that are declared in them. Names at the top of the file are not among them."""

    def __init__(self, captures: Mapping[str, Sequence[Node]]) -> None:
        """Reads what a query captured as `closure`, `block`, `class` and `local`."""
        closures = captures.get("closure", ())
        blocks = {(node.start_byte, -node.end_byte): node for node in captures.get("class", ())}
        blocks |= {(node.start_byte, -node.end_byte): node for node in captures.get("block", ())}
        blocks |= {(node.start_byte, -node.end_byte): node for node in closures}
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._parents: list[int] = []
        self._names: list[dict[str, Binding]] = []
        self._nodes: list[Node] = []
        stack: list[int] = []
        for (start, end), node in sorted(blocks.items()):
            while stack and self._ends[stack[-1]] <= start:
                stack.pop()
            self._parents.append(stack[-1] if stack else -1)
            stack.append(len(self._starts))
            self._starts.append(start)
            self._ends.append(-end)
            self._names.append({})
            self._nodes.append(node)
        for node, names in zip(self._nodes, self._names, strict=True):
            _declare(names, node)
        for node in in_order(captures, "local"):
            at = self.block_at(node.start_byte)
            if at >= 0:
                value = node.child_by_field_name("value")
                is_definition = value is not None and (
                    value.type in _FUNCTION_VALUES or (value.type in _LOADS and (value.text or b"").startswith(_LOADED))
                )
                name = node.child_by_field_name("name")
                if name is not None:
                    _bind(self._names[at], name, node, "", is_definition=is_definition)

    def block_at(self, byte: int) -> int:
        """The innermost block around a place of the file; -1 at the top."""
        at = bisect_right(self._starts, byte) - 1
        while at >= 0 and self._ends[at] <= byte:
            at = self._parents[at]
        return at

    def find(self, name: str, byte: int) -> Binding | None:
        """The parameter or local variable that a name means at a place; None where it is none."""
        at = self.block_at(byte)
        while at >= 0:
            found = self._names[at].get(name)
            if found is not None:
                return None if found.is_definition else found
            at = self._parents[at]
        return None

    def closure_at(self, byte: int) -> int:
        """Where the innermost function around a place begins; -1 outside of all."""
        at = self.block_at(byte)
        while at >= 0:
            if self._nodes[at].type not in _NO_CLOSURES:
                return self._starts[at]
            at = self._parents[at]
        return -1


def _declare(names: dict[str, Binding], block: Node) -> None:
    """What a block itself declares: parameters, type parameters, the variable of a loop."""
    kind = block.type
    if kind == "for_in_statement":
        left = block.child_by_field_name("left")
        if left is not None and block.child_by_field_name("kind") is not None:
            _bind(names, left, block, "[]")
        return
    if kind == "catch_clause":
        caught = block.child_by_field_name("parameter")
        if caught is not None:
            _bind(names, caught, block, "?")
        return
    if kind == "statement_block":
        return
    parameters = block.child_by_field_name("parameters")
    for node in parameters.named_children if parameters is not None else ():
        pattern = node.child_by_field_name("pattern") or node
        _bind(names, pattern, node, "")
    single = block.child_by_field_name("parameter")
    if single is not None:
        _bind(names, single, single, "")
    generics = block.child_by_field_name("type_parameters")
    for node in generics.named_children if generics is not None else ():
        name = node.child_by_field_name("name")
        if name is not None:
            names.setdefault(f"<{text_of(name)}>", Binding(node, ""))


def _bind(names: dict[str, Binding], pattern: Node, node: Node, steps: str, *, is_definition: bool = False) -> None:
    """Declare the names of a pattern such as "{a, b: [c]}"."""
    kind = pattern.type
    if kind == "identifier":
        names[text_of(pattern)] = Binding(node, steps, is_definition)
    elif kind == "shorthand_property_identifier_pattern":
        name = text_of(pattern)
        names[name] = Binding(node, f"{steps}.{name}", is_definition)
    elif kind == "object_pattern":
        for child in pattern.named_children:
            _bind(names, child, node, steps, is_definition=is_definition)
    elif kind == "pair_pattern":
        key, value = pattern.child_by_field_name("key"), pattern.child_by_field_name("value")
        if key is not None and value is not None:
            _bind(names, value, node, f"{steps}.{text_of(key)}", is_definition=is_definition)
    elif kind == "array_pattern":
        for child in pattern.named_children:
            _bind(names, child, node, f"{steps}[*]", is_definition=is_definition)
    elif kind in _PATTERNS:
        inner = pattern.child_by_field_name("left") or next(iter(pattern.named_children), None)
        if inner is not None:
            _bind(names, inner, node, steps, is_definition=is_definition)


def in_order(captures: Mapping[str, Sequence[Node]], name: str) -> list[Node]:
    """Captured nodes by where they begin: a query gives them in any order."""
    return sorted(captures.get(name, ()), key=lambda node: node.start_byte)


def text_of(node: Node) -> str:
    """The text of a node."""
    return (node.text or b"").decode("utf-8", errors="replace")
