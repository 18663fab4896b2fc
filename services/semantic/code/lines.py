"""Finds definitions by their lines, for languages without a grammar. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from services.semantic.code.model import Symbol, SymbolKind

_MODIFIERS: Final = (
    r"(?:(?:pub|public|private|protected|internal|open|final|abstract|static|override|sealed|inline|suspend|async|export|"
    r"default|case|data|implicit|lazy|readonly|fileprivate|mutating|local|extern)\s+)*"
)
_CLASS: Final = re.compile(
    rf"^\s*{_MODIFIERS}(?:class|interface|trait|struct|enum|object|protocol|extension|actor|module|defmodule|defprotocol|"
    r"namespace|type|data|newtype|contract|message|service|mixin)\s+([A-Z_][\w.]*)"
)
_FUNCTION: Final = re.compile(
    rf"^\s*{_MODIFIERS}(?:function|func|fun|fn|def|defp|defmacro|sub|proc|method|rpc|task)\s+(?:[\w:.]+[.:])?([^\W\d]\w*[!?]?)"
)
_ASSIGNED: Final = re.compile(r"^\s*(?:local\s+)?([^\W\d]\w*)\s*(?:<-|=)\s*function\b")
_SHELL: Final = re.compile(r"^([^\W\d][\w-]*)\s*\(\)\s*\{")
_HASKELL: Final = re.compile(r"^([a-z_]\w*'?)\s*::\s")
_LISP: Final = re.compile(
    r"^\s*\((?:defn-?|defun|define|defmacro|defprotocol|defrecord|defmulti|defmethod|def)\s+\(?([^\s()]+)"
)


def definitions_by_line(text: str) -> Iterator[Symbol]:
    """Definitions whose lines begin as those of most languages do. Where they end is where the next one begins."""
    lines = text.splitlines()
    starts: list[tuple[int, str, SymbolKind]] = []
    for number, line in enumerate(lines, start=1):
        if len(line) > 400:
            continue
        if found := _CLASS.match(line):
            starts.append((number, found[1], SymbolKind.CLASS))
        elif found := next((m for p in (_FUNCTION, _ASSIGNED, _SHELL, _HASKELL, _LISP) if (m := p.match(line))), None):
            starts.append((number, found[1], SymbolKind.FUNCTION))
    for at, (number, name, kind) in enumerate(starts[:20_000]):
        end = starts[at + 1][0] - 1 if at + 1 < len(starts) else len(lines)
        yield Symbol(name, kind, "", number, end, " ".join(lines[number - 1].split())[:200].rstrip("{:= "))
