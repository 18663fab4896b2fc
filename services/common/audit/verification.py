"""Checks a downloaded audit log against checkpoints, without any service."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from services.common.audit.checkpoint import Checkpoint
from services.common.merkle import Frontier, leaf_hash


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """An entry of the log."""

    index: int
    commitment: bytes  # SHA-256 of salt and body; the leaf of the tree
    salt: bytes | None  # None once the user is erased
    body: str | None  # a JSON object; None once the user is erased


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a log is worth."""

    entries: int
    blinded: int
    problems: Sequence[str]  # empty: the log is as the checkpoints say


def commitment_of(salt: bytes, body: str) -> bytes:
    """What a leaf says of its entry; without the salt nothing can be guessed from it."""
    return hashlib.sha256(salt + body.encode()).digest()


def verify_log(entries: Iterable[AuditEntry], checkpoints: Sequence[Checkpoint]) -> Verdict:
    """Reads a log once, and compares it with every checkpoint at the checkpoint's size.

    An entry that was changed, dropped, added or moved changes the root from there on; one that is cut off at the end
    leaves the log shorter than its checkpoint.
    """
    problems: list[str] = []
    waiting = sorted(checkpoints, key=lambda checkpoint: checkpoint.size)
    frontier, blinded = Frontier(), 0
    others = sorted({checkpoint.origin for checkpoint in checkpoints})[1:]
    problems += [f"a checkpoint is of another log: {origin}" for origin in others]
    while waiting and waiting[0].size == 0:
        problems += _compared(waiting.pop(0), frontier)
    for entry in entries:
        if entry.index != frontier.size:
            problems.append(f"entry {frontier.size} is missing: the next one is {entry.index}")
            break
        if entry.salt is None or entry.body is None:
            blinded += 1
        elif commitment_of(entry.salt, entry.body) != entry.commitment:
            problems.append(f"entry {entry.index} was altered: it does not fit its commitment")
        frontier = frontier.extended([leaf_hash(entry.commitment)])
        while waiting and waiting[0].size == frontier.size:
            problems += _compared(waiting.pop(0), frontier)
    problems += [
        f"the log has {frontier.size} entries, the checkpoint {checkpoint.size}: entries are missing at the end"
        for checkpoint in waiting
    ]
    return Verdict(frontier.size, blinded, problems)


def _compared(checkpoint: Checkpoint, frontier: Frontier) -> list[str]:
    if checkpoint.root == frontier.root:
        return []
    return [f"the first {checkpoint.size} entries are not those of the checkpoint: altered, dropped, added or moved"]
