"""Stage assemble: what goes into the response, which must not be longer than a message."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from google.protobuf.message import Message

from mneme.session.v1 import session_pb2
from services.common.paging import fitting, listed_bytes
from services.gateway.grants.model import MemoryKind
from services.gateway.recall.answer.conflicts import Resolved
from services.gateway.recall.model import CoarseResult, RecalledFact, RecalledMemory, RecalledNote

TOO_LONG: Final = "the last memories, facts and notes or the oldest turns would have made the response too long"


@dataclass(frozen=True, slots=True)
class Assembled:
    """What goes into the response."""

    memories: tuple[RecalledMemory, ...]
    facts: tuple[RecalledFact, ...]
    notes: tuple[RecalledNote, ...]
    recent_turns: tuple[session_pb2.SessionTurn, ...]
    reason: str = ""  # why some of it is not; empty where all is


NOTHING: Final = Assembled((), (), (), ())
"""A response that was not sent."""


def assemble(resolved: Resolved, coarse: CoarseResult, *, bytes_max: int) -> Assembled:
    """The best of each kind and the newest turns, as far as they fit into one response; one of each at least."""
    parts: Sequence[Sequence[Message]] = (
        [memory.episode for memory in resolved.memories],
        [fact.fact for fact in resolved.facts],
        [note.note for note in resolved.notes],
        coarse.recent_turns[::-1],
    )
    sizes = [listed_bytes(part) for part in parts]
    if sum(sizes) <= bytes_max:
        return Assembled(resolved.memories, resolved.facts, resolved.notes, coarse.recent_turns)
    shares = fair_shares(sizes, total=bytes_max)
    memories, facts, notes, turns = (fitting(part, bytes_max=share) for part, share in zip(parts, shares, strict=True))
    return Assembled(
        resolved.memories[:memories],
        resolved.facts[:facts],
        resolved.notes[:notes],
        coarse.recent_turns[len(coarse.recent_turns) - turns :],
        reason=TOO_LONG,
    )


def fair_shares(wanted: Sequence[int], *, total: int) -> list[int]:
    """Shares of a total: who wants less than an equal share gets that, the others share the rest equally."""
    shares = [0] * len(wanted)
    for served, index in enumerate(sorted(range(len(wanted)), key=wanted.__getitem__)):
        shares[index] = min(wanted[index], total // (len(wanted) - served))
        total -= shares[index]
    return shares


def by_source(derived: Iterable[tuple[str, Sequence[str]]]) -> dict[str, tuple[str, ...]]:
    """Returns ids of derived memories by the episode that they come from."""
    found: dict[str, tuple[str, ...]] = {}
    for identifier, sources in derived:
        for source in sources:
            found[source] = (*found.get(source, ()), identifier)
    return found


def returned_ids(found: Assembled) -> list[tuple[MemoryKind, str]]:
    """Returns what a response names, by kind and id."""
    return [
        *((MemoryKind.EPISODE, memory.memory_id) for memory in found.memories),
        *((MemoryKind.FACT, fact.memory_id) for fact in found.facts),
        *((MemoryKind.NOTE, note.memory_id) for note in found.notes),
    ]
