"""Use case BuildContext: a recall, written out within a token budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import Protocol

from mneme.common.v1 import common_pb2
from mneme.semantic.v1 import facts_pb2
from mneme.session.v1 import session_pb2
from services.common.auth import Principal
from services.gateway.context.model import (
    Candidate,
    ContextSettings,
    Section,
    SectionKind,
    TokenCount,
    build_sections,
)
from services.gateway.recall.model import Recalled, RecalledMemory, RecallQuery, TierReport

_CATEGORY_WORDS = {
    facts_pb2.FACT_CATEGORY_INSTRUCTION: "standing instruction",
    facts_pb2.FACT_CATEGORY_CONSTRAINT: "constraint",
    facts_pb2.FACT_CATEGORY_COMMITMENT: "commitment",
}


class Recaller(Protocol):
    """Answers recalls."""

    async def run(self, principal: Principal, query: RecallQuery, *, deadline_seconds: float) -> Recalled:
        """See `RecallPipeline.run`."""
        ...


@dataclass(frozen=True, slots=True)
class PromptContext:
    """Text for a prompt."""

    text: str
    token_count: int
    sections: tuple[Section, ...]
    reports: tuple[TierReport, ...]
    is_degraded: bool


class ContextBuilder:
    """Builds prompt contexts."""

    def __init__(self, recaller: Recaller, count_tokens: TokenCount, settings: ContextSettings) -> None:
        """Counts tokens with `count_tokens`, which must be the tokenizer that budgets are meant in."""
        self._recaller = recaller
        self._count_tokens = count_tokens
        self._settings = settings

    async def build(
        self, principal: Principal, query: RecallQuery, *, token_budget: int, deadline_seconds: float
    ) -> PromptContext:
        """Recalls, and writes down as much as the budget allows.

        Raises:
            MnemeError: As `RecallPipeline.run`.
        """
        recalled = await self._recaller.run(principal, query, deadline_seconds=deadline_seconds)
        sections = build_sections(
            candidates(recalled),
            token_budget=token_budget,
            count_tokens=self._count_tokens,
            settings=self._settings,
        )
        text = "\n\n".join(section.text for section in sections)
        return PromptContext(
            text=text,
            token_count=self._count_tokens(text),
            sections=sections,
            reports=recalled.reports,
            is_degraded=recalled.is_degraded,
        )


def candidates(recalled: Recalled) -> dict[SectionKind, Sequence[Candidate]]:
    """What an answer offers to each section, best first, nothing twice."""
    recent_ids = {turn.turn_id for turn in recalled.recent_turns}
    memories = [m for m in recalled.memories if m.episode.episode_id not in recent_ids]
    told = recent_ids | {m.episode.episode_id for m in memories}
    return {
        SectionKind.RECENT_TURNS: [_recent_turn(turn) for turn in recalled.recent_turns],
        SectionKind.FACTS: [_fact(hit.fact) for hit in recalled.facts],
        SectionKind.MEMORIES: [_memory(memory) for memory in memories],
        # A note made from turns that are told anyway would say the same again.
        SectionKind.NOTES: [
            Candidate("- ", hit.note.content, hit.note.note_id, tuple(hit.note.derived_from))
            for hit in recalled.notes
            if not set(hit.note.derived_from) <= told or not hit.note.derived_from
        ],
    }


def _recent_turn(turn: session_pb2.SessionTurn) -> Candidate:
    return Candidate(f"{_speaker(turn.turn)}: ", _body(turn.turn), turn.turn_id, (turn.turn_id,))


def _memory(memory: RecalledMemory) -> Candidate:
    episode = memory.episode
    when = episode.time.ToDatetime(tzinfo=UTC).strftime("%Y-%m-%d")
    turn = common_pb2.Turn(
        role=episode.role,
        speaker=episode.speaker,
        content="\n".join(part for part in (episode.query, episode.response) if part),
        attachments=episode.attachments,
    )
    return Candidate(f"[{when}] {_speaker(turn)}: ", _body(turn), episode.episode_id, (episode.episode_id,))


def _fact(fact: facts_pb2.Fact) -> Candidate:
    notes = [_CATEGORY_WORDS[fact.category]] if fact.category in _CATEGORY_WORDS else []
    if fact.HasField("valid_to_time"):
        notes.append(f"until {fact.valid_to_time.ToDatetime(tzinfo=UTC):%Y-%m-%d}")
    suffix = f" ({', '.join(notes)})" if notes else ""
    return Candidate("- ", fact.text + suffix, fact.fact_id, tuple(fact.derived_from))


def _speaker(turn: common_pb2.Turn) -> str:
    return turn.speaker or common_pb2.MessageRole.Name(turn.role).removeprefix("MESSAGE_ROLE_").lower()


def _body(turn: common_pb2.Turn) -> str:
    captions = [f"[photo: {a.caption}]" for a in turn.attachments if a.caption]
    return " ".join(part for part in [turn.content, *captions] if part)
