"""Puts what stands before what it supersedes, and says so in its score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from services.gateway.recall.model import RecalledFact, RecalledMemory, RecalledNote, ScorePart

PART: Final = "conflict"
"""The part of a score that puts a memory before one that it supersedes."""

_Hit = TypeVar("_Hit", RecalledMemory, RecalledFact, RecalledNote)
_Derived = TypeVar("_Derived", RecalledFact, RecalledNote)


def lifted_turns(memories: tuple[RecalledMemory, ...], pairs: Iterable[tuple[str, str]]) -> tuple[RecalledMemory, ...]:
    """Turns with each winner before its losers; the score of one that is lifted is that of the best of them.

    Args:
        memories: Best first.
        pairs: Ids of a winner and of a loser each.
    """
    return _lifted(memories, pairs, _raised_turn)


def lifted(hits: tuple[_Derived, ...], pairs: Iterable[tuple[str, str]]) -> tuple[_Derived, ...]:
    """The same for facts or notes."""
    return _lifted(hits, pairs, _raised)


def _lifted(
    hits: tuple[_Hit, ...], pairs: Iterable[tuple[str, str]], raised: Callable[[_Hit, _Hit], _Hit]
) -> tuple[_Hit, ...]:
    order = list(hits)
    for winner_id, loser_id in pairs:
        places = {hit.memory_id: place for place, hit in enumerate(order)}
        winner, loser = places.get(winner_id), places.get(loser_id)
        if winner is None or loser is None or winner < loser:
            continue
        hit = order.pop(winner)
        order.insert(loser, raised(hit, order[loser]))
    return tuple(order)


def _raised_turn(memory: RecalledMemory, loser: RecalledMemory) -> RecalledMemory:
    ranked, score = memory.ranked, loser.ranked.score
    return replace(memory, ranked=replace(ranked, score=score, parts=_with_part(ranked.parts, score - ranked.score)))


def _raised(hit: _Derived, loser: _Derived) -> _Derived:
    return replace(hit, score=loser.score, parts=_with_part(hit.parts, loser.score - hit.score))


def _with_part(parts: Sequence[ScorePart], by: float) -> tuple[ScorePart, ...]:
    before = dict(parts)
    before[PART] = before.get(PART, 0.0) + by
    return tuple(before.items())
