"""Reads which class a variable, parameter or field is declared to be, in languages that write it beside the name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from services.semantic.code.qualified_names import split_name

_TEXT_MAX: Final = 200
_MODIFIER: Final = re.compile(
    r"[*&\s]{0,20}(?:(?:const|mut|dyn|impl|ref|final|volatile|'\w{1,20})\s{1,20}|[*&]\s{0,20}){0,8}"
)
_WRAPPED: Final = re.compile(r"(?:std::)?(?:unique_ptr|shared_ptr|Box|Rc|Arc)<(.{1,200})>")
_ARGUMENTS: Final = re.compile(r"(?<=\w)\[.{1,200}\]")
_NO_CLASS: Final = frozenset("auto var".split())  # noqa: SIM905
_LISTED: Final = ("array_type", "slice_type", "map_type", "function_type", "channel_type", "array_declarator")


def declared_names(node: Node) -> Iterator[tuple[str, str]]:
    """Names that a declaration makes with the class that it says, with dots: "order" and "shop.Order"."""
    type_node = node.child_by_field_name("type")
    if type_node is None or type_node.type in _LISTED:
        return
    name = class_name((type_node.text or b"").decode("utf-8", errors="replace"))
    if not name:
        return
    declarators = [*node.children_by_field_name("declarator"), *node.children_by_field_name("pattern")]
    declarators += [child for child in node.named_children if child.type == "variable_declarator"]
    for one in [*node.children_by_field_name("name"), *declarators]:
        inner = _identifier(one)
        if inner is not None:
            yield (inner.text or b"").decode("utf-8", errors="replace"), name


def class_name(text: str) -> str:
    """The class in a type such as "*shop.Order[T]", "const geo::Square &"; empty where it is none."""
    if len(text) > _TEXT_MAX:
        return ""
    for _ in range(3):
        text = _MODIFIER.sub("", text, count=1).strip().rstrip("&*? ")
        wrapped = _WRAPPED.fullmatch(text)
        if wrapped is None:
            break
        text = wrapped[1]
    name, qualifier = split_name(_ARGUMENTS.sub("", text))
    if not name or qualifier == "?" or name in _NO_CLASS or "[" in text[:1]:
        return ""
    return f"{qualifier}.{name}".replace("::", ".") if qualifier else name


def _identifier(node: Node) -> Node | None:
    """The name in a declarator, which may be a pointer or have a value."""
    for _ in range(6):
        if node.type in ("identifier", "field_identifier"):
            return node
        if node.type in _LISTED:
            return None
        inner = node.child_by_field_name("declarator") or node.child_by_field_name("name")
        if inner is None and node.type == "reference_declarator":
            inner = next(iter(node.named_children), None)
        if inner is None:
            return None
        node = inner
    return None
