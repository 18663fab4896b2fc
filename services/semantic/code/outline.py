"""The outline of a repository within a budget of tokens. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from services.semantic.code.model import SymbolKind, SymbolRef
from services.semantic.code.repository import RepositoryIndex


@dataclass(frozen=True, slots=True)
class Outline:
    """Text for a language model."""

    text: str
    token_count: int
    file_count: int


def outline_of(
    index: RepositoryIndex,
    ranked: Sequence[tuple[str, Sequence[SymbolRef]]],
    *,
    token_budget: int,
    count_tokens: Callable[[str], int],
) -> Outline:
    """Files in the given order, each with the heads of its definitions, while the budget lasts.

    A file takes at most a fifth of what is left, so that one large file does not take it all; its definitions are those
    given first, then those that most of the repository refers to. They are shown in the order of their lines.
    """
    lines: list[str] = []
    used, files = 0, 0
    for path, first in ranked:
        share = max((token_budget - used) // 5, 40)
        block = _block(index, path, first, min(share, token_budget - used), count_tokens)
        if not block:
            break
        lines += block
        used = count_tokens("\n".join(lines))
        files += 1
    while lines and used > token_budget:  # joined lines may have a token more than their sum
        lines.pop()
        used = count_tokens("\n".join(lines))
    return Outline("\n".join(lines), used, files)


def _block(
    index: RepositoryIndex, path: str, first: Sequence[SymbolRef], budget: int, count_tokens: Callable[[str], int]
) -> list[str]:
    used = count_tokens(path + ":\n")
    if used > budget:
        return []
    file = index.file(path)
    shown = [at for at, s in enumerate(file.symbols) if s.kind is not SymbolKind.VARIABLE]
    wanted = {ref.index: place for place, ref in enumerate(first)}
    shown.sort(key=lambda at: (wanted.get(at, len(wanted)), -index.graph.reference_count(file.symbols[at].name), at))
    chosen: dict[int, str] = {}
    for at in shown[:100]:
        symbol = file.symbols[at]
        indent = "  " * (1 + symbol.qualified_name.count("."))
        line = f"{indent}{symbol.signature}"
        cost = count_tokens(line + "\n")
        if used + cost > budget:
            break
        chosen[at] = line
        used += cost
    return [f"{path}:", *(chosen[at] for at in sorted(chosen))]
