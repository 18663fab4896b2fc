"""From the text of a file to what is stored of it. Pure: the same text gives the same result."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Set
from dataclasses import replace
from typing import Final

from tree_sitter import Node, QueryCursor, Tree

from services.semantic.code.chunks import chunks_of, summary_of
from services.semantic.code.declared import declared_names
from services.semantic.code.definitions import included_by_call, made_by_call, name_node, name_of, text_of
from services.semantic.code.imports import imported_names
from services.semantic.code.languages import Grammar, grammar_of, language_of, spec_of
from services.semantic.code.lines import definitions_by_line
from services.semantic.code.manifests import Manifest, is_manifest, read_manifest
from services.semantic.code.model import FileStatus, Import, ParsedFile, Reference, ReferenceKind, Symbol, SymbolKind
from services.semantic.code.modules import SCRIPT_LANGUAGES
from services.semantic.code.qualified_names import qualifier_of, split_name
from services.semantic.code.scopes import Found, Scope, sources_of, with_sources
from services.semantic.code.scripts.reading import CALLED, ScriptReading
from services.semantic.code.trees import RecentTrees
from services.semantic.code.typed_names import typed_names

SIGNATURE_CHARS_MAX: Final = 200
_PARSED_BYTES_MAX: Final = 2 * 1024 * 1024
_NAME_CHARS_MAX: Final = 128
_CONSTANT: Final = re.compile(rb"[A-Z][A-Z0-9_]{2,}")
_SYMBOLS_MAX: Final = 20_000
_TYPES_MAX: Final = 5_000
_REQUIRE: Final = re.compile(
    r"""(?:(?:const|let|var)\s+([\w$]+|\{[^}]*\})\s*=\s*)?(?:require|await import)\(\s*["']([^"']+)["']\s*\)"""
)


def digest_of(content: bytes) -> str:
    """What a file's content is recognised by: SHA-256 in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def parse_file(path: str, content: bytes, *, trees: RecentTrees | None = None) -> ParsedFile:
    """Reads a file, faster where `trees` has an earlier text of it.

    Never fails: what cannot be parsed is known by its words.
    """
    text = content.decode("utf-8", errors="replace")
    spec = spec_of(path)
    language = language_of(path)
    line_count = text.count("\n") + (not text.endswith("\n") and bool(text))
    common = ParsedFile(path, digest_of(content), language, FileStatus.TEXT_ONLY, line_count)
    if is_manifest(path):
        return _manifest_file(common, content)
    if spec is None or len(content) > _PARSED_BYTES_MAX:
        symbols = definitions_by_line(text) if spec is None else ()
        return _finished(common, text, FileStatus.TEXT_ONLY, symbols)
    try:
        grammar = grammar_of(spec)
        tree = grammar.parser.parse(content) if trees is None else trees.parse(path, content, grammar.parser)
        return _Reading(common, content, text, grammar, tree).result()
    except RecursionError:
        return _finished(common, text, FileStatus.TEXT_ONLY, ())


def _manifest_file(common: ParsedFile, content: bytes) -> ParsedFile:
    try:
        found = read_manifest(common.path, content)
    except RecursionError:
        found = Manifest()
    return replace(
        common, status=FileStatus.PARSED, package=found.package[:300], exports=found.paths, types=found.extended
    )


def text_file(path: str, content: bytes) -> ParsedFile:
    """Reads a file by its words alone, for what a grammar cannot cope with."""
    text = content.decode("utf-8", errors="replace")
    common = ParsedFile(path, digest_of(content), language_of(path), FileStatus.TEXT_ONLY, text.count("\n") + 1)
    return _finished(common, text, FileStatus.TEXT_ONLY, ())


def _finished(
    common: ParsedFile, text: str, status: FileStatus, symbols: Iterable[Symbol], **more: object
) -> ParsedFile:
    found = tuple(symbols)
    return ParsedFile(
        path=common.path, digest=common.digest, language=common.language, status=status, line_count=common.line_count,
        symbols=found, chunks=chunks_of(text, found), summary=summary_of(text), **more,  # type: ignore[arg-type]
    )  # fmt: skip


class _Reading:
    """Reads one file with a grammar."""

    def __init__(self, common: ParsedFile, content: bytes, text: str, grammar: Grammar, tree: Tree) -> None:
        self._common = common
        self._content = content
        self._text = text
        self._language = common.language
        self._tree = tree
        self._captures = QueryCursor(grammar.query).captures(self._tree.root_node)
        self._script = ScriptReading(self._captures) if self._language in SCRIPT_LANGUAGES else None

    def result(self) -> ParsedFile:
        imports = self._imports()
        scopes = self._scopes({one.alias for one in imports})
        symbols = self._symbols(scopes)
        has_error = self._tree.root_node.has_error
        return _finished(
            self._common, self._text, FileStatus.PARTLY_PARSED if has_error else FileStatus.PARSED, symbols,
            imports=imports, references=self._references(scopes, symbols, imports), package=self._package(),
            types=self._types(scopes), exports=self._script.exports() if self._script is not None else {},
        )  # fmt: skip

    def _scopes(self, imported: Set[str]) -> list[Scope]:
        found: dict[tuple[int, int, str], Scope] = {}
        for node in self._captures.get("class", ()):
            self._add(found, node, SymbolKind.CLASS)
        for node in self._captures.get("function", ()):
            self._add(found, node, SymbolKind.FUNCTION)
        for node in self._captures.get("implementation", ()):
            of = node.child_by_field_name("type")
            if of is not None:
                name, _ = split_name(text_of(of))
                found[node.start_byte, node.end_byte, name] = Scope(node.start_byte, node.end_byte, name, None, node)
        for node in self._captures.get("assigned", ()):
            left = node.child_by_field_name("left")
            name, qualifier = split_name(text_of(left)) if left is not None else ("", "")
            if name and left is not None and len(name) <= _NAME_CHARS_MAX:
                container = (
                    "" if qualifier in ("exports", "module", "?", "this") else qualifier.removesuffix(".prototype")
                )
                scope = Scope(node.start_byte, node.end_byte, name, SymbolKind.FUNCTION, node, container)
                found[node.start_byte, node.end_byte, name] = scope
        for node in self._captures.get("pair", ()):
            key = node.child_by_field_name("key") or node.child_by_field_name("property")
            if key is not None:
                name = text_of(key)
                scope = Scope(node.start_byte, node.end_byte, name, SymbolKind.METHOD, node, name_start=key.start_byte)
                found[node.start_byte, node.end_byte, name] = scope
        for node in self._captures.get("member_call", ()) if self._language == "ruby" else ():
            for at, name, kind in made_by_call(node):
                whole = node if node.child_by_field_name("block") is not None else at
                begin, end = whole.byte_range
                found[begin, end, name] = Scope(begin, end, name, kind, whole, name_start=at.start_byte)
        taken = {scope.name_start for scope in found.values()}
        for node in self._captures.get("variable", ()):
            at = name_node(node) or node
            name = text_of(at)
            if at.start_byte in taken or name in imported or not name or len(name) > _NAME_CHARS_MAX:
                continue
            whole = node.parent if node.parent is not None and node.parent.type not in _BODIES else node
            if whole.type == "type" and whole.parent is not None:  # "type X = ..." of Python
                whole = whole.parent
            scope = Scope(whole.start_byte, whole.end_byte, name, SymbolKind.VARIABLE, whole, name_start=at.start_byte)
            found[at.start_byte, whole.end_byte, name] = scope
        ordered = sorted(found.values(), key=lambda scope: (scope.start, -scope.end))
        return ordered[:_SYMBOLS_MAX]

    def _add(self, found: dict[tuple[int, int, str], Scope], node: Node, kind: SymbolKind) -> None:
        named = name_of(node)
        if named is None:
            return
        name_node, name, qualifier = named
        if not name or len(name) > _NAME_CHARS_MAX:
            return
        if node.type == "method_declaration" and self._language == "go":
            receiver = node.child_by_field_name("receiver")
            types = (
                re.findall(r"\*?\s*([^\W\d]\w*)\s*(?:\[[^\]]*\])?\s*\)$", text_of(receiver))
                if receiver is not None
                else []
            )
            qualifier = types[-1] if types else ""
            kind = SymbolKind.METHOD
        container = qualifier.replace("::", ".").strip(".?")
        begin = node.start_byte
        # Two captures of one definition, such as a typedef around a struct, count once.
        if (begin, node.end_byte, name) not in found:
            found[begin, node.end_byte, name] = Scope(
                begin, node.end_byte, name, kind, node, container, name_start=name_node.start_byte
            )

    def _symbols(self, scopes: list[Scope]) -> list[Symbol]:
        symbols: list[Symbol] = []
        stack: list[Scope] = []
        for scope in scopes:
            while stack and stack[-1].end < scope.end:
                stack.pop()
            around = [one for one in stack if one.end >= scope.end]
            is_field = scope.node.type in _FIELDS and len(around) > 1  # of the class around the constructor
            outer = around[-2 if is_field else -1] if around else None
            containers = [outer.container, outer.name] if outer is not None else []
            if outer is not None and outer.kind is SymbolKind.VARIABLE and scope.kind is SymbolKind.METHOD:
                outer_class = False
            else:
                outer_class = outer is not None and outer.kind in (SymbolKind.CLASS, None)
            scope.container = ".".join(part for part in (*containers, scope.container) if part)[:400]
            scope.parent = outer.index if outer is not None else -1
            if scope.kind is SymbolKind.FUNCTION and (outer_class or (outer is None and scope.container)):
                scope.kind = SymbolKind.METHOD
            if scope.kind is SymbolKind.VARIABLE and outer is not None and outer.kind in _CALLABLE:
                scope.index = scope.parent  # a local variable is no definition
                continue
            if scope.kind is None:
                scope.index = scope.parent
            else:
                scope.index = len(symbols)
                symbols.append(self._symbol(scope))
            if scope.kind is not SymbolKind.VARIABLE or scope.end - scope.start > 200 or self._is_object(scope.node):
                stack.append(scope)
        return symbols

    def _is_object(self, node: Node) -> bool:
        """Whether a variable of a script is an object that is written out, whose functions are its methods."""
        value = node.child_by_field_name("value") if self._script is not None else None
        return value is not None and value.type == "object"

    def _symbol(self, scope: Scope) -> Symbol:
        node = scope.node
        body = node.child_by_field_name("body")
        end = min(body.start_byte, scope.end) if body is not None and body.start_byte > scope.start else scope.end
        head = self._content[scope.start : min(end, scope.start + 600)].decode("utf-8", errors="replace")
        if body is None:
            head = head.split("\n", 1)[0]
        signature = " ".join(head.split()).rstrip("{:= ")[:SIGNATURE_CHARS_MAX]
        assert scope.kind is not None
        return Symbol(
            scope.name,
            scope.kind,
            scope.container,
            node.start_point.row + 1,
            node.end_point.row + 1,
            signature,
            scope.parent,
        )

    def _imports(self) -> list[Import]:
        found: list[Import] = []
        for node in self._captures.get("import", ()):
            for module, name, alias in imported_names(self._language, text_of(node)):
                found.append(Import(module[:300], name[:128], alias[:128], node.start_point.row + 1))
        if self._language == "ruby":
            for node in self._captures.get("member_call", ()):
                method = node.child_by_field_name("method")
                if method is not None and text_of(method) in ("require", "require_relative", "load", "autoload"):
                    for module, name, alias in imported_names("ruby", text_of(node)):
                        found.append(Import(module[:300], name, alias, node.start_point.row + 1))
        if self._script is not None and ("require(" in self._text or "await import(" in self._text):
            for match in _REQUIRE.finditer(self._text):
                line = self._text.count("\n", 0, match.start()) + 1
                for part in (match[1] or "").strip("{} ").split(","):
                    name, _, alias = part.strip().partition(":")
                    taken = name.strip() if (match[1] or "").startswith("{") else ""
                    found.append(Import(match[2][:300], taken[:128], (alias or name).strip()[:128], line))
        return sorted(found, key=lambda one: one.line)

    def _package(self) -> str:
        nodes = self._captures.get("package", ())
        return text_of(nodes[0])[:300] if nodes else ""

    def _types(self, scopes: list[Scope]) -> dict[str, str]:
        """Where the text says of which class a variable is."""
        if self._script is not None:
            return self._script.types(scopes, lambda starts: sources_of(starts, scopes))
        found: dict[str, str] = {}
        declared = sorted(
            (node.start_byte, *one) for node in self._captures.get("typed", ()) for one in declared_names(node)
        )
        for source, (_, name, type_name) in zip(
            sources_of([one[0] for one in declared], scopes), declared, strict=True
        ):
            if source >= 0 and len(found) < _TYPES_MAX:
                found.setdefault(f"{source}.{name}", type_name)
        for scope in scopes:
            if scope.kind not in _CALLABLE or len(found) > _TYPES_MAX:
                continue
            body = self._content[scope.start : min(scope.end, scope.start + 20_000)].decode("utf-8", errors="replace")
            for name, type_name in typed_names(body):
                found.setdefault(f"{scope.index}.{name}", type_name)
        return found

    def _references(self, scopes: list[Scope], symbols: list[Symbol], imports: list[Import]) -> list[Reference]:
        defined = {scope.name_start for scope in scopes}
        taken: set[int] = set()
        found: list[Found] = []
        content = self._content

        def put(start: int, name: str, qualifier: str, kind: ReferenceKind) -> None:
            if name and len(name) <= _NAME_CHARS_MAX:
                found.append((start, name, qualifier, kind))

        def put_named(start: int, end: int, kind: ReferenceKind) -> None:
            text = content[start:end].decode("utf-8", errors="replace")
            put(start, *split_name(text), kind)
            taken.add(end)

        for node in self._captures.get("inherits", ()):
            if self._script is None:
                put_named(*node.byte_range, ReferenceKind.INHERITS)
                continue
            taken.add(node.end_byte)
            for base, qualifier in self._script.bases(node):
                put(node.start_byte, base, qualifier, ReferenceKind.INHERITS)
        for node in self._captures.get("call", ()) if self._script is None else self._script.calls():
            if self._script is None or node.type not in CALLED:
                put_named(*node.byte_range, ReferenceKind.CALLS)
                continue
            taken.add(node.end_byte)
            called = self._script.called(node)
            if called is not None:
                put(*called, ReferenceKind.CALLS)
        for node in self._captures.get("member_call", ()):
            name_node = node.child_by_field_name("name") or node.child_by_field_name("method")
            receiver = node.child_by_field_name("object") or node.child_by_field_name("receiver")
            for module in included_by_call(node) if self._language == "ruby" else ():
                put_named(*module.byte_range, ReferenceKind.INHERITS)
            if name_node is not None:
                qualifier = qualifier_of(text_of(receiver)) if receiver is not None else ""
                put(node.start_byte, text_of(name_node), qualifier, ReferenceKind.CALLS)
                taken.add(name_node.end_byte)
        # Captures come in any order. Of "a.B", its parts are captured too: the whole comes first.
        for start, negative_end in sorted([(n.start_byte, -n.end_byte) for n in self._captures.get("type", ())]):
            if start not in defined and -negative_end not in taken:
                put_named(start, -negative_end, ReferenceKind.REFERENCES)
        variables = {symbol.name for symbol in symbols if symbol.kind is SymbolKind.VARIABLE}
        variables |= {one.alias for one in imports if one.name not in ("", "*")}
        wanted = {name.encode() for name in variables}
        for node in self._captures.get("use", ()):  # all identifiers: most are none of these
            start, end = node.byte_range
            name = content[start:end]
            is_meant = name in wanted or (name.isupper() and _CONSTANT.fullmatch(name))
            if is_meant and start not in defined and end not in taken:
                used = name.decode("utf-8", errors="replace")
                if self._script is None or not self._script.is_local(used, start):
                    put(start, used, _before(node), ReferenceKind.USES)
        return with_sources(found, scopes, content)


def _before(node: Node) -> str:
    """The qualifier of a name that is a part of an expression such as "settings.DEBUG"."""
    parts = _PARTS.get(node.parent.type) if node.parent is not None else None
    if parts is None or node.parent is None or node.parent.child_by_field_name(parts[1]) != node:
        return ""
    outer = node.parent.child_by_field_name(parts[0])
    return qualifier_of(text_of(outer)) if outer is not None else ""


_PARTS: Final = {
    "attribute": ("object", "attribute"),
    "field_access": ("object", "field"),
    "member_access_expression": ("expression", "name"),
}
"""Expressions with a name behind another one: which fields hold both."""
_CALLABLE: Final = (SymbolKind.FUNCTION, SymbolKind.METHOD)
_FIELDS: Final = ("required_parameter", "optional_parameter")
"""Parameters that are also fields."""
_BODIES: Final = (
    "program",
    "translation_unit",
    "body_statement",
    "source_file",
    "pattern_list",
    "module",
    "block",
    "enum_body",
)
