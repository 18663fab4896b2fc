"""Leaves out what was not recorded yet at a time (SPEC 3.7)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from mneme.agentic.v1 import notes_pb2
from mneme.session.v1 import session_pb2
from services.common.ids import made_time
from services.gateway.recall.columns import episode_id_text
from services.gateway.recall.model import CoarseResult, TurnSources
from services.gateway.recall.stages.profile import without_excluded


def as_known(coarse: CoarseResult, known_at: datetime) -> CoarseResult:
    """The results without turns recorded later, and without facts and notes that rest on such turns alone.

    A turn's id says when it was recorded. Notes that rest on no turn are left out where they were written later.
    Recent turns whose ids do not say it, since their callers chose these, count as recorded when they were said.
    """
    ids = {episode_id_text(raw) for raw in coarse.episodes.ids} if coarse.episodes is not None else set()
    ids.update(source for hit in coarse.facts for source in hit.fact.derived_from)
    ids.update(source for hit in coarse.notes for source in hit.note.derived_from)
    later = frozenset(i for i in ids if (made := made_time(i)) is not None and made > known_at)
    excluded = coarse.sources.excluded | later
    return without_excluded(
        replace(
            coarse,
            notes=tuple(hit for hit in coarse.notes if hit.note.derived_from or not _is_later(hit.note, known_at)),
            recent_turns=tuple(turn for turn in coarse.recent_turns if _recorded_time(turn) <= known_at),
            sources=TurnSources(excluded, coarse.sources.preferred),
        )
    )


def _recorded_time(turn: session_pb2.SessionTurn) -> datetime:
    return made_time(turn.interaction_id) or turn.turn.time.ToDatetime(tzinfo=UTC)


def _is_later(note: notes_pb2.Note, known_at: datetime) -> bool:
    return note.HasField("create_time") and note.create_time.ToDatetime(tzinfo=UTC) > known_at
