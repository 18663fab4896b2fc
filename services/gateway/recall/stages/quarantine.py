"""Stage quarantine: what the reader must not see is dropped, whatever a tier returned."""

from __future__ import annotations

from dataclasses import replace

from mneme.common.v1 import common_pb2
from services.common.convert import scope_from_proto
from services.common.errors import InvalidArgument
from services.common.scope import Reader
from services.gateway.grants.model import MemoryKind, Readers
from services.gateway.recall.model import CoarseResult


def quarantine(result: CoarseResult, readers: Readers) -> CoarseResult:
    """Drops facts, notes and turns of the session outside of the reader's scope, those above it, and granted ones.

    The tiers filter facts and notes inside their stores; this is the second lock on the same door. A session is stored
    whole, and only here its turns are chosen for the reader. Candidate turns come as bare evidence without a scope:
    theirs is checked when their text is read (see `is_visible`).
    """
    of_turns, of_facts, of_notes = map(readers.of, (MemoryKind.EPISODE, MemoryKind.FACT, MemoryKind.NOTE))
    return replace(
        result,
        facts=tuple(hit for hit in result.facts if is_visible(hit.fact.scope, hit.fact.HasField("scope"), of_facts)),
        recent_turns=tuple(
            turn for turn in result.recent_turns if is_visible(turn.scope, turn.HasField("scope"), of_turns)
        ),
        notes=tuple(hit for hit in result.notes if is_visible(hit.note.scope, hit.note.HasField("scope"), of_notes)),
    )


def is_visible(scope: common_pb2.Scope, is_set: bool, reader: Reader) -> bool:  # noqa: FBT001 - mirrors HasField
    """Whether a reader may see what belongs to a scope; nobody sees what belongs to one that is not understood."""
    try:
        return reader.sees(scope_from_proto(scope, present=is_set, field_path="scope"))
    except InvalidArgument:  # of the tier's response: no fault of the caller's
        return False
