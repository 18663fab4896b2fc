"""What expressions and types of TypeScript and JavaScript say about the object that they mean.

The result is a text that `values.py` evaluates once all files are known:

    store.items.first()    as it is written, without arguments; local variables replaced by what they are made of
    <Order>.total          an object of a declared type, or one that was constructed
    <Order[]>[]            an item of a collection
    <()Order>()            the result of a function
    <=shop.defaults>       what `typeof` says
    operate@0.1            what a function that is passed as its first argument gets as its second
    {}                     an object whose functions are defined in the function that returns it
    pairs[*]               a part of it, if it is a collection of collections
    <A|B>                  an object that is either, or both
    <this>                 an object of the class that the method is called on

An empty text: nothing is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tree_sitter import Node

from services.semantic.code.scripts.bindings import Binding, Bindings, text_of

TEXT_CHARS_MAX: Final = 160
_DEPTH_MAX: Final = 14
_SAME_AS_ARGUMENT: Final = frozenset(
    "Promise PromiseLike Readonly Partial Required NonNullable Awaited Pick Omit Exclude Extract NoInfer".split()  # noqa: SIM905
)
"""Generic types whose objects have the members of the first argument, or nearly; promises are taken as awaited."""
_COLLECTIONS: Final = frozenset(
    """
    Array ReadonlyArray Set ReadonlySet WeakSet Iterable AsyncIterable Iterator AsyncIterator IterableIterator
    AsyncIterableIterator Generator AsyncGenerator
    """.split()  # noqa: SIM905
)
_KEYED: Final = frozenset(("Map", "ReadonlyMap", "WeakMap", "Record"))
_UNKNOWN: Final = frozenset(("any", "unknown", "object", "never", "void", "symbol"))
_ITEM_CALLBACKS: Final = frozenset(
    "forEach map filter find findLast findIndex some every flatMap".split()  # noqa: SIM905
)
_SAME_AS_PASSED: Final = {
    "Array.from": "", "Object.values": "", "Object.entries": ".entries()", "Object.freeze": "", "Object.assign": "",
    "Promise.all": "", "Promise.allSettled": "", "Promise.race": "[]", "Promise.any": "[]", "Promise.resolve": "",
}  # fmt: skip
"""Functions of the language that return what they are passed, or nearly."""
_AROUND_TYPES: Final = (
    "type_annotation", "parenthesized_type", "readonly_type", "union_type", "intersection_type",
)  # fmt: skip
_PLAIN: Final = ("predefined_type", "literal_type", "comment")
_TYPE_DEPTH_MAX: Final = 5
_CHILDREN_MAX: Final = 200
"""Parameters, arguments or properties: of longer lists nothing is looked up."""
_INNER: Final = frozenset(
    ("await_expression", "parenthesized_expression", "non_null_expression", "satisfies_expression")
)
_LITERALS: Final = {
    "string": "<string>", "template_string": "<string>", "number": "<number>", "regex": "<RegExp>",
    "true": "<boolean>", "false": "<boolean>",
}  # fmt: skip


class Expressions:
    """Reads the expressions and types of one file."""

    def __init__(self, bindings: Bindings) -> None:
        """Local names are looked up in `bindings`."""
        self._bindings = bindings
        self._known: dict[tuple[int, str], str] = {}
        self._calls: dict[int, str] = {}
        """By where calls end: of a chain, each is a part of all that follow."""

    def value(self, node: Node | None, depth: int = 0) -> str:
        """What an expression means."""
        if node is None or depth > _DEPTH_MAX:
            return ""
        kind = node.type
        found = ""
        if kind == "identifier":
            name = text_of(node)
            binding = self._bindings.find(name, node.start_byte)
            found = name if binding is None else self.bound(name, binding, depth + 1)
        elif kind in ("this", "super"):
            found = kind
        elif kind == "member_expression":
            found = self._member(node, depth)
        elif kind == "call_expression":
            found = self._call(node, depth)
        elif kind == "new_expression":
            found = self._constructed(node)
        elif kind in _INNER:
            found = self.value(first_of(node.named_children), depth + 1)
        elif kind == "as_expression":
            found = self._cast(node, depth)
        elif kind == "subscript_expression":
            inner = self.value(node.child_by_field_name("object"), depth + 1)
            found = f"{inner}[]" if inner else ""
        elif kind == "array":
            item = self.value(first_of(node.named_children), depth + 1)
            found = f"<{items_of(item[1:-1])}>" if item.startswith("<") and item.endswith(">") else ""
        elif kind in ("binary_expression", "ternary_expression", "assignment_expression"):
            found = self._either(node, depth)
        else:
            found = _LITERALS.get(kind, "")
        return found if len(found) <= TEXT_CHARS_MAX else ""

    def bound(self, name: str, binding: Binding, depth: int = 0) -> str:
        """What a parameter or local variable means."""
        key = (binding.node.start_byte, name)
        known = self._known.get(key)
        if known is None:
            self._known[key] = ""  # one that is made of itself means nothing
            known = self._known[key] = self._reached(binding, depth)
        return known

    def _reached(self, binding: Binding, depth: int) -> str:
        steps = binding.steps
        if steps == "?":
            return ""
        name = steps[1:] if steps.startswith(".") else ""
        if name.isidentifier():  # of "{ store }: { store: Store }"
            found = self._property(binding.node.child_by_field_name("type"), name)
            if found:
                return found
        origin = self._origin(binding.node, depth)
        return origin + steps if origin else ""

    def _property(self, node: Node | None, name: str, depth: int = 0) -> str:
        """The declared type of a property, where a type is written out."""
        if node is None or depth > _TYPE_DEPTH_MAX:
            return ""
        if node.named_child_count > _CHILDREN_MAX:
            return ""
        if node.type == "object_type":
            for one in node.named_children:
                key = one.child_by_field_name("name") if one.type == "property_signature" else None
                if key is not None and text_of(key) == name:
                    return self.declared(one.child_by_field_name("type"))
        if node.type not in _AROUND_TYPES:
            return ""
        return next((found for one in node.named_children if (found := self._property(one, name, depth + 1))), "")

    def _member(self, node: Node, depth: int) -> str:
        of, name_node = node.child_by_field_name("object"), node.child_by_field_name("property")
        if of is None or name_node is None:
            return ""
        name = text_of(name_node)
        if of.type == "identifier":
            binding = self._bindings.find(text_of(of), of.start_byte)
            if binding is not None and not binding.steps:
                found = self._property(binding.node.child_by_field_name("type"), name)
                if found:
                    return found
        inner = self.value(of, depth + 1)
        return f"{inner}.{name}" if inner else ""

    def _call(self, node: Node, depth: int) -> str:
        known = self._calls.get(node.end_byte)
        if known is None:
            known = self._calls[node.end_byte] = self._result(node, depth)
        return known

    def _result(self, node: Node, depth: int) -> str:
        called = node.child_by_field_name("function")
        if called is not None and called.type == "member_expression":
            of = called.child_by_field_name("object")
            if of is not None and of.type == "identifier":
                passed = _SAME_AS_PASSED.get("".join(text_of(called).split()))
                given = node.child_by_field_name("arguments") if passed is not None else None
                if given is not None:
                    inner = self.value(first_of(given.named_children), depth + 1)
                    return inner and inner + (passed or "")
        inner = self.value(called, depth + 1)
        return f"{inner}()" if inner else ""

    def type_text(self, node: Node | None, depth: int = 0) -> str:
        """What a type means, without the brackets around it."""
        if node is None or depth > _DEPTH_MAX:
            return ""
        kind = node.type
        found = ""
        if kind == "predefined_type":
            name = text_of(node)
            found = "" if name in _UNKNOWN else name
        elif kind == "type_identifier":
            found = self._named_type(text_of(node), node, depth)
        elif kind == "nested_type_identifier":
            found = "".join(text_of(node).split())
        elif kind == "generic_type":
            found = self._generic(node, depth)
        elif kind == "array_type":
            found = items_of(self.type_text(first_of(node.named_children), depth + 1))
        elif kind in ("union_type", "intersection_type"):
            found = self._joined(node.named_children, depth)
        elif kind == "this_type":
            found = "this"
        elif kind == "type_query":
            inner = self.value(first_of(node.named_children), depth + 1)
            found = f"={inner}" if inner and not inner.startswith("<") else inner.strip("<>")
        elif kind == "function_type":
            inner = self.type_text(node.child_by_field_name("return_type"), depth + 1)
            found = f"(){inner}" if inner and "|" not in inner else ""
        elif kind in ("type_annotation", "parenthesized_type", "readonly_type"):
            found = self.type_text(first_of(node.named_children), depth + 1)
        elif kind == "type_predicate":
            found = "boolean"
        elif kind == "literal_type":
            inner_node = first_of(node.named_children)
            found = _LITERALS.get(inner_node.type, "").strip("<>") if inner_node is not None else ""
        return found if len(found) <= TEXT_CHARS_MAX and "<" not in found and ">" not in found else ""

    def declared(self, node: Node | None) -> str:
        """An object of a declared type."""
        found = self.type_text(node)
        return f"<{found}>" if found else ""

    def _joined(self, nodes: Sequence[Node], depth: int) -> str:
        """Of several types those with names; else that of the first one."""
        named = [node for node in nodes if node.type not in _PLAIN]
        listed = [one for node in named for one in self.type_text(node, depth + 1).split("|") if one]
        return "|".join(dict.fromkeys(listed)) if named else self.type_text(nodes[0], depth + 1) if nodes else ""

    def _named_type(self, name: str, node: Node, depth: int) -> str:
        generic = self._bindings.find(f"<{name}>", node.start_byte)
        if generic is None:
            return name
        constraint = generic.node.child_by_field_name("constraint")
        return self.type_text(first_of(constraint.named_children), depth + 1) if constraint is not None else ""

    def _generic(self, node: Node, depth: int) -> str:
        name_node = node.child_by_field_name("name")
        listed = node.child_by_field_name("type_arguments")
        given = listed.named_children if listed is not None else []
        name = "".join(text_of(name_node).split()) if name_node is not None else ""
        if name in _SAME_AS_ARGUMENT and given:
            return self.type_text(given[0], depth + 1)
        if name in _COLLECTIONS and given:
            return items_of(self.type_text(given[0], depth + 1))
        if name in _KEYED and len(given) > 1:
            return items_of(self.type_text(given[1], depth + 1))
        return name

    def _constructed(self, node: Node) -> str:
        made = node.child_by_field_name("constructor")
        if made is None:
            return ""
        name = "".join(text_of(made).split())
        if not all(part.isidentifier() for part in name.replace("$", "_").split(".")):
            return ""
        head = made if made.type == "identifier" else None
        if head is not None and self._bindings.find(name, head.start_byte) is not None:
            return ""
        listed = node.child_by_field_name("type_arguments")
        given = listed.named_children if listed is not None else []
        if name in _KEYED or name in _COLLECTIONS:
            item = self.type_text(given[-1]) if given else ""
            return f"<{items_of(item) or name}>"
        return f"<{name}>"

    def _cast(self, node: Node, depth: int) -> str:
        children = node.named_children
        if len(children) < 2:  # "as const"
            return self.value(first_of(children), depth + 1)
        found = self.type_text(children[1], depth + 1)
        return f"<{found}>" if found else ""

    def _either(self, node: Node, depth: int) -> str:
        """The first part of an expression that has a meaning, where any of its parts may be the result."""
        if node.type == "binary_expression":
            operator = node.child_by_field_name("operator")
            if operator is None or operator.type not in ("||", "??", "&&"):
                return ""
            fields = ("right",) if operator.type == "&&" else ("left", "right")
        else:
            fields = ("right",) if node.type == "assignment_expression" else ("consequence", "alternative")
        return next((found for f in fields if (found := self.value(node.child_by_field_name(f), depth + 1))), "")

    def _origin(self, node: Node, depth: int) -> str:
        """What a parameter, a declarator or a loop gives to the names that it declares."""
        declared = node.child_by_field_name("type")
        if declared is not None and node.type != "type_parameter":
            return self.declared(declared)
        if node.type == "for_in_statement":
            operator = node.child_by_field_name("operator")
            is_items = operator is not None and operator.type == "of"
            return self.value(node.child_by_field_name("right"), depth + 1) if is_items else ""
        value = node.child_by_field_name("value") or node.child_by_field_name("right")
        return self.value(value, depth + 1) if value is not None else self._given(node, depth)

    def _given(self, parameter: Node, depth: int) -> str:
        """What a function that is passed to another one gets as a parameter."""
        function, place = parameter.parent, 0
        if function is not None and function.named_child_count > _CHILDREN_MAX:
            return ""
        if function is not None and function.type == "formal_parameters":
            place = function.named_children.index(parameter)
            function = function.parent
        listed = function.parent if function is not None else None
        call = listed.parent if listed is not None and listed.type == "arguments" else None
        if call is None or listed is None or function is None or listed.named_child_count > _CHILDREN_MAX:
            return ""
        argument = listed.named_children.index(function)
        if call.type == "new_expression":
            made = self._constructed(call)
            return f"{made}.constructor@{argument}.{place}" if made else ""
        called = call.child_by_field_name("function")
        if called is not None and called.type == "member_expression" and not argument and not place:
            name_node = called.child_by_field_name("property")
            name = text_of(name_node) if name_node is not None else ""
            if name == "then" or name in _ITEM_CALLBACKS:
                inner = self.value(called.child_by_field_name("object"), depth + 1)
                return inner and (inner if name == "then" else f"{inner}[]")
        inner = self.value(called, depth + 1)
        return f"{inner}@{argument}.{place}" if inner else ""


def items_of(item: str) -> str:
    """The type of a collection of items of a type."""
    return "|".join(f"{part}[]" for part in item.split("|")) if item else ""


def first_of(nodes: list[Node]) -> Node | None:
    """The first node that is no comment."""
    return next((node for node in nodes if node.type != "comment"), None)
