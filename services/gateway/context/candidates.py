"""What a recall offers to each section of a context. Pure functions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from google.protobuf.timestamp_pb2 import Timestamp

from mneme.agentic.v1 import notes_pb2
from mneme.common.v1 import common_pb2
from mneme.episodic.v1 import episodic_pb2
from mneme.semantic.v1 import facts_pb2
from mneme.session.v1 import session_pb2
from services.common.turns import MessageRole
from services.gateway.context.model import Candidate, SectionKind, TurnSource
from services.gateway.context.structure import body_text, caption_text, marked
from services.gateway.journal.model import Tier
from services.gateway.recall.model import AppliedPattern, Recalled, RecalledMemory, TierState
from services.gateway.recall.patterns import PatternKind

_CATEGORY_WORDS = {
    facts_pb2.FACT_CATEGORY_INSTRUCTION: "standing instruction",
    facts_pb2.FACT_CATEGORY_CONSTRAINT: "constraint",
    facts_pb2.FACT_CATEGORY_COMMITMENT: "commitment",
}
_TIERS = {
    Tier.SESSION: SectionKind.RECENT_TURNS,
    Tier.EPISODIC: SectionKind.MEMORIES,
    Tier.SEMANTIC: SectionKind.FACTS,
    Tier.AGENTIC: SectionKind.NOTES,
}
_LISTED = frozenset({PatternKind.RESPONSE_FORMATTING, PatternKind.CO_EDIT, PatternKind.ERROR_FIX, PatternKind.REFACTOR})
"""What a model that reads the context is to know of; the other kinds concern the search alone."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ROLES = frozenset(int(role) for role in MessageRole)


def candidates(recalled: Recalled, *, overlap_rank_max: int) -> dict[SectionKind, Sequence[Candidate]]:
    """The candidates of each section: recent turns oldest first, all others best first; none without a text.

    Facts that something superseded come behind those that hold.

    Args:
        recalled: What was found.
        overlap_rank_max: A note is left out that was made of turns among the best so many memories, of the running
            conversation, or that lost a conflict: it would repeat them.
    """
    superseded_by, contradicted = recalled.superseded_by, recalled.contradicted
    likely_included = {turn.interaction_id for turn in recalled.recent_turns}
    likely_included.update(memory.episode.episode_id for memory in recalled.memories[:overlap_rank_max])
    likely_included.update(superseded_by)  # in the text with a mark, or left out: no note is to repeat it without
    procedures = [
        Candidate(_procedure(pattern), pattern.procedure_id, ())
        for pattern in recalled.reading.applied_patterns
        if pattern.kind in _LISTED
    ]
    offers = {
        SectionKind.PROCEDURES: procedures,
        SectionKind.RECENT_TURNS: [_recent_turn(turn, recalled) for turn in recalled.recent_turns],
        SectionKind.FACTS: [
            _fact(fact, superseded_by, contradicted, recalled.as_of)
            for fact in _holding_first([hit.fact for hit in recalled.facts], superseded_by, recalled.as_of)
        ],
        SectionKind.MEMORIES: [_memory(memory, superseded_by, contradicted, recalled) for memory in recalled.memories],
        SectionKind.NOTES: [
            _note(hit.note, superseded_by, contradicted)
            for hit in recalled.notes
            if not set(hit.note.derived_from) <= likely_included or not hit.note.derived_from
        ],
    }
    return {kind: [candidate for candidate in found if candidate.body] for kind, found in offers.items()}


def failed_sections(recalled: Recalled) -> frozenset[SectionKind]:
    """The sections whose tier failed, or could not be read."""
    failed = {_TIERS[r.tier] for r in recalled.reports if r.state is TierState.FAILED and r.tier in _TIERS}
    if recalled.reading.applied_profile is None:  # procedures are read with the profile
        failed.add(SectionKind.PROCEDURES)
    return frozenset(failed)


def _recent_turn(turn: session_pb2.SessionTurn, recalled: Recalled) -> Candidate:
    said = turn.turn
    source = TurnSource(
        "",
        turn.position,
        _role(said.role),
        said.speaker,
        _time(said),
        is_superseded=turn.interaction_id in recalled.superseded,
        is_partly=_is_partly(turn.interaction_id, recalled),
        is_contradicted=turn.interaction_id in recalled.reduced,
    )
    return Candidate(_body([said.content], said.attachments), turn.interaction_id, (turn.interaction_id,), source)


def _is_partly(turn_id: str, recalled: Recalled) -> bool:
    marks = recalled.superseded.get(turn_id, ())
    return bool(marks) and not any(one.whole_turn for one in marks)


def _memory(
    memory: RecalledMemory, superseded_by: Mapping[str, str], contradicted: Collection[str], recalled: Recalled
) -> Candidate:
    said = memory.episode
    source = TurnSource(
        said.conversation_id,
        said.position,
        _role(said.role),
        said.speaker,
        _time(said),
        is_superseded=said.episode_id in superseded_by,
        is_partly=_is_partly(said.episode_id, recalled),
        is_contradicted=said.episode_id in contradicted,
    )
    body = _body([said.query, said.response], said.attachments)
    return Candidate(body, said.episode_id, (said.episode_id,), source)


def _holding_first(
    facts: Sequence[facts_pb2.Fact], superseded_by: Mapping[str, str], as_of: datetime | None
) -> list[facts_pb2.Fact]:
    def is_behind(fact: facts_pb2.Fact) -> bool:
        is_over = _never_held(fact) or not _is_to_come(fact.valid_to_time, as_of)
        return (bool(fact.superseded_by) and is_over) or fact.fact_id in superseded_by

    return sorted(facts, key=is_behind)


def _is_to_come(moment: Timestamp, as_of: datetime | None) -> bool:
    return as_of is not None and moment.ToMicroseconds() > (as_of - _EPOCH) // timedelta(microseconds=1)


def _never_held(fact: facts_pb2.Fact) -> bool:
    """Whether it ended when it was said or began, as what is corrected does, and a plan that was given up."""
    begin = max(fact.first_observed_time.ToMicroseconds(), fact.valid_from_time.ToMicroseconds())
    return bool(fact.superseded_by) and fact.valid_to_time.ToMicroseconds() <= begin


def _fact(
    fact: facts_pb2.Fact, superseded_by: Mapping[str, str], contradicted: Collection[str], as_of: datetime | None
) -> Candidate:
    marks: list[str] = [_CATEGORY_WORDS[fact.category]] if fact.category in _CATEGORY_WORDS else []
    if _is_to_come(fact.valid_from_time, as_of) and not _never_held(fact):
        begin = fact.valid_from_time.ToDatetime(tzinfo=UTC)
        marks += [f"from {begin:%Y-%m-%d}"] if str(begin.year) not in fact.text else []
    if fact.HasField("valid_to_time") and not _never_held(fact):
        marks.append(f"until {fact.valid_to_time.ToDatetime(tzinfo=UTC):%Y-%m-%d}")
    elif fact.superseded_by or fact.fact_id in superseded_by:
        marks.append("superseded")
    elif fact.fact_id in contradicted:
        marks.append("contradicted")
    return Candidate(marked(body_text(fact.text), marks), fact.fact_id, tuple(fact.derived_from))


def _note(note: notes_pb2.Note, superseded_by: Mapping[str, str], contradicted: Collection[str]) -> Candidate:
    marks = ["superseded"] if note.note_id in superseded_by else []
    if not marks and note.note_id in contradicted:
        marks.append("contradicted")
    return Candidate(marked(body_text(note.content), marks), note.note_id, tuple(note.derived_from))


def _procedure(pattern: AppliedPattern) -> str:
    body = body_text(pattern.replacement)
    return f"{body_text(pattern.pattern)}: {body}" if pattern.pattern else body


def _role(role: int) -> MessageRole:
    # A role that this gateway does not know is still somebody who said something.
    return MessageRole(role) if role in _ROLES else MessageRole.USER


def _time(said: common_pb2.Turn | episodic_pb2.Episode) -> datetime | None:
    if not said.HasField("time"):
        return None
    return _EPOCH + timedelta(seconds=said.time.seconds, microseconds=said.time.nanos // 1_000)


def _body(texts: Sequence[str], attachments: Iterable[common_pb2.Attachment]) -> str:
    captions = [caption_text(a.caption) for a in attachments if a.caption]
    return " ".join([body_text("\n".join(filter(None, texts))), *captions]).strip()
