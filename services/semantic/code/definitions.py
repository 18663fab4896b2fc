"""Where a definition has its name, and which calls define something. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from tree_sitter import Node

from services.semantic.code.model import SymbolKind
from services.semantic.code.qualified_names import split_name

_NAMES: Final = (
    "identifier", "field_identifier", "type_identifier", "qualified_identifier", "destructor_name", "operator_name",
    "property_identifier",
)  # fmt: skip
_OPERATOR: Final = re.compile(r"((?:\w{1,80}::){0,10})(operator\b.{1,40})", re.DOTALL)
_ATTRIBUTES: Final = ("attr_reader", "attr_writer", "attr_accessor")
_METHODS: Final = ("define_method", "alias_method", "define_singleton_method")


class Named(NamedTuple):
    """A name of a definition."""

    node: Node
    name: str
    qualifier: str


def name_of(node: Node) -> Named | None:
    """The name of a definition; None where it has none."""
    if node.type in ("operator_declaration", "indexer_declaration"):
        return _unnamed(node)
    found = name_node(node)
    if found is None:
        return None
    text = text_of(found)
    if found.type == "private_property_identifier":  # "#name", beside which "name" may be
        return Named(found, text, "")
    if (operator := _OPERATOR.fullmatch(text)) is not None:
        return Named(found, "".join(operator[2].split()), operator[1])
    return Named(found, *split_name(text))


def name_node(node: Node) -> Node | None:
    """The node with the name of a definition: a field of it, or of what it declares."""
    for _ in range(8):
        name = node.child_by_field_name("name")
        if name is not None:
            return name
        inner = node.child_by_field_name("declarator")
        if inner is None:
            inner = next((c for c in node.named_children if c.type.endswith("declarator")), None)
        if inner is None:
            return None
        if inner.type in _NAMES:
            return inner
        node = inner
    return None


def text_of(node: Node) -> str:
    """What stands there."""
    return (node.text or b"").decode("utf-8", errors="replace")


def made_by_call(node: Node) -> Iterator[tuple[Node, str, SymbolKind]]:
    """What a call in Ruby defines, each with where its name stands: "attr_reader :name" a field, others methods."""
    called = _called(node)
    if called not in _ATTRIBUTES and called not in _METHODS:
        return
    kind = SymbolKind.VARIABLE if called in _ATTRIBUTES else SymbolKind.FUNCTION
    for one in _arguments(node)[: None if called in _ATTRIBUTES else 1]:
        if one.type in ("simple_symbol", "string"):
            name = text_of(one).strip(":\"'")
            yield one, f"{name}=" if called == "attr_writer" else name, kind


def included_by_call(node: Node) -> Iterator[Node]:
    """Modules that a call in Ruby takes methods from, such as "include Comparable"."""
    if _called(node) in ("include", "prepend", "extend"):
        yield from (one for one in _arguments(node) if one.type in ("constant", "scope_resolution"))


def _called(node: Node) -> str:
    """The method of a call without a receiver."""
    method = node.child_by_field_name("method")
    return text_of(method) if method is not None and node.child_by_field_name("receiver") is None else ""


def _arguments(node: Node) -> list[Node]:
    arguments = node.child_by_field_name("arguments")
    return arguments.named_children if arguments is not None else []


def _unnamed(node: Node) -> Named | None:
    """An operator or an indexer of C#, which are named by a keyword."""
    operator = node.child_by_field_name("operator")
    if operator is not None:
        return Named(operator, f"operator{text_of(operator)}", "")
    this = next((child for child in node.children if child.type == "this"), None)
    return Named(this, "this[]", "") if this is not None else None
