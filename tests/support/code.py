"""Repositories that a test writes out."""

from __future__ import annotations

from collections.abc import Mapping

from services.semantic.code.graph import CodeGraph
from services.semantic.code.parser import parse_file


def graph_of(files: Mapping[str, str]) -> CodeGraph:
    """The graph of some files, by path."""
    graph = CodeGraph()
    for path, text in files.items():
        graph.put(parse_file(path, text.encode()))
    return graph


def definitions_of(files: Mapping[str, str]) -> set[str]:
    """Qualified names of all definitions."""
    return {symbol.qualified_name for file in graph_of(files).files.values() for symbol in file.symbols}


def relations_of(files: Mapping[str, str]) -> dict[str, float]:
    """What each reference means, as "calls Order.total tax", with its confidence; "-" is a file as a whole."""
    graph = graph_of(files)
    found = {}
    for path, file in graph.files.items():
        for reference in file.references:
            source = file.symbols[reference.source].qualified_name if reference.source >= 0 else "-"
            for one in graph.resolve(path, reference):
                meant = graph.symbol(one.ref).qualified_name
                found[f"{reference.kind.name.lower()} {source} {meant}"] = one.confidence
    return found


def imports_of(files: Mapping[str, str], path: str) -> dict[str, list[str]]:
    """The files that a file imports, by the module as it is written."""
    return {one.module: list(paths) for one, paths in graph_of(files).imports_of(path)}
