"""What lies in a graph, as who can read its nodes or its files sees it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from services.common.neo4j.graph import Graph


async def labels_with(graph: Graph, text: str) -> set[str]:
    """Labels of the nodes that hold a text in any property."""
    rows = await graph.read("MATCH (n) RETURN labels(n)[0] AS label, properties(n) AS properties")
    plain = text.encode()
    return {
        row["label"]
        for row in rows
        if any(
            plain in bytes(value) if isinstance(value, bytes | bytearray) else text in str(value)
            for value in row["properties"].values()
        )
    }


async def files_with(folder: Path, word: str) -> set[str]:
    """Names of the files of a server's folder that hold a word, in whatever case."""
    return await asyncio.to_thread(_files_with, folder, word.lower())


def _files_with(folder: Path, word: str) -> set[str]:
    forms = [word.encode(encoding) for encoding in ("utf-8", "utf-16-le", "utf-16-be")]
    found: set[str] = set()
    for file in folder.rglob("*"):
        if file.is_file():
            content = file.read_bytes().lower()
            if any(form in content for form in forms):
                found.add(file.name)
    return found
