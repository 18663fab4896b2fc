"""Reads import statements of each language. Pure functions from the statement's text to names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

Name: TypeAlias = tuple[str, str, str]
"""Module, name taken from it ("" the module itself, "*" everything), and the name that it gets.

The last one is "*" for a class whose static members are seen by their names alone."""

_STRING: Final = re.compile(r"""["'`]([^"'`]+)["'`]""")
_COMMENTS: Final = re.compile(r"#[^\n]*|//[^\n]*|/\*.*?\*/", re.DOTALL)


def imported_names(language: str, text: str) -> list[Name]:
    """The names that an import statement brings in; none where it is not understood."""
    read = _READERS.get(language)
    return list(read(text)) if read is not None else []


def _python(text: str) -> Iterator[Name]:
    flat = " ".join(_COMMENTS.sub(" ", text).replace("(", " ").replace(")", " ").replace("\\", " ").split())
    found = re.match(r"from (\.*\s?[\w.]*) ?import (.*)", flat)
    if found is None:
        for part in flat.removeprefix("import ").split(","):
            module, _, alias = part.strip().partition(" as ")
            yield module, "", alias or module
        return
    module = found[1].replace(" ", "")
    for part in found[2].split(","):
        name, _, alias = part.strip().partition(" as ")
        if name:
            yield module, name, alias or name


def _javascript(text: str) -> Iterator[Name]:
    sources = _STRING.findall(text)
    if not sources:
        return
    module = sources[-1]
    flat = " ".join(_COMMENTS.sub(" ", text).split())
    is_export = flat.startswith("export")
    head = re.sub(r"^(import|export)\s*(type\s+)?", "", flat).split(" from ")[0]
    names = re.search(r"\{([^}]*)\}", head)
    for part in (names[1] if names else "").split(","):
        name, _, alias = part.strip().removeprefix("type ").partition(" as ")
        if name:
            yield module, name.strip(), (alias or name).strip()
    rest = re.sub(r"\{[^}]*\}", "", head).strip(" ,")
    if star := re.match(r"(?:(\w+)\s*,\s*)?\*(?: as ([\w$]+))?", rest):
        if star[1]:
            yield module, "default", star[1]
        yield module, "" if star[2] else "*", star[2] or "*"
    elif re.fullmatch(r"[\w$]+", rest):
        yield module, "default", rest
    elif whole := re.match(r"([\w$]+) ?= ?require\b", rest):
        yield module, "", whole[1]
    elif not names and not is_export:
        yield module, "", ""


def _go(text: str) -> Iterator[Name]:
    for alias, module in re.findall(r"""([\w.]+)?\s*["`]([^"`]+)["`]""", text):
        if alias == ".":
            yield module, "*", "*"
        else:
            last = module.rstrip("/").split("/")
            name = last[-2] if len(last) > 1 and re.fullmatch(r"v\d+", last[-1]) else last[-1]
            yield module, "", alias or name


def _java(text: str) -> Iterator[Name]:
    path = text.removeprefix("import").strip().rstrip(";").strip()
    is_static = path.startswith("static ")
    module, _, name = path.removeprefix("static ").strip().rpartition(".")
    if is_static and name == "*":
        module, _, name = module.rpartition(".")
        yield module, name, "*"
    else:
        yield module, name, name


def _rust(text: str) -> Iterator[Name]:
    flat = " ".join(_COMMENTS.sub(" ", text).split())
    if found := re.search(r"\bmod (\w+)\s*;", flat):
        yield f"self::{found[1]}", "", found[1]
        return
    body = re.sub(r"^(pub(\([^)]*\))?\s+)?use\s+", "", flat).rstrip("; ")
    yield from _rust_tree("", body, depth=0)


def _rust_tree(prefix: str, tree: str, *, depth: int) -> Iterator[Name]:
    tree = tree.strip()
    if depth > 16 or not tree:
        return
    brace = tree.find("{")
    if brace >= 0 and tree.endswith("}"):
        head = tree[:brace].strip().removesuffix("::")
        inner = prefix + ("::" if prefix and head else "") + head
        for part in _split_outside_braces(tree[brace + 1 : -1]):
            yield from _rust_tree(inner, part, depth=depth + 1)
        return
    path, _, alias = tree.partition(" as ")
    whole = prefix + ("::" if prefix else "") + path.strip()
    module, _, name = whole.rpartition("::")
    if name == "self":
        yield module, "", alias or module.rpartition("::")[2]
    elif name == "*":
        yield module, "*", "*"
    else:
        yield module, name, alias.strip() or name


def _split_outside_braces(text: str) -> Iterator[str]:
    depth, begin = 0, 0
    for i, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            yield text[begin:i]
            begin = i + 1
    yield text[begin:]


def _c(text: str) -> Iterator[Name]:
    if found := re.search(r"""#\s*include\s*(<[^>]+>|"[^"]+")""", text):
        yield found[1].strip('"'), "*", "*"


def _csharp(text: str) -> Iterator[Name]:
    body = re.sub(r"^(global\s+)?using\s+", "", text).strip().rstrip(";").strip()
    alias, equals, module = body.partition("=")
    if body.startswith("static "):
        module, _, name = body.removeprefix("static ").strip().rpartition(".")
        yield module, name, "*"
        return
    if equals:
        module, _, name = module.strip().rpartition(".")
        yield module, name, alias.strip()
    else:
        yield body, "*", "*"


def _ruby(text: str) -> Iterator[Name]:
    found = re.match(r"""(require_relative|require|load|autoload)\b(.*)""", text, re.DOTALL)
    strings = _STRING.findall(found[2]) if found else []
    if found and strings:
        path = strings[-1]
        yield (f"./{path}" if found[1] == "require_relative" else path), "*", "*"


_READERS: Final[Mapping[str, Callable[[str], Iterator[Name]]]] = {
    "python": _python,
    "javascript": _javascript,
    "typescript": _javascript,
    "go": _go,
    "java": _java,
    "rust": _rust,
    "c": _c,
    "cpp": _c,
    "csharp": _csharp,
    "ruby": _ruby,
}
