"""Use case BuildContext: a recall, written out within a token budget."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Protocol

from services.common.auth import Principal
from services.common.text_cache import text_cache
from services.common.tokens import TokenCounter
from services.gateway.context.budget import build_sections
from services.gateway.context.candidates import candidates, failed_sections
from services.gateway.context.model import ContextRequest, ContextSettings, Section, SectionReport
from services.gateway.context.refinement import TokenCount
from services.gateway.recall.answer.assembly import Assembled
from services.gateway.recall.model import Recalled, RecallQuery
from services.gateway.recall.recording import Record


class Recaller(Protocol):
    """Runs recalls."""

    async def run(
        self, principal: Principal, query: RecallQuery, *, deadline_seconds: float, records: bool = True
    ) -> Recalled:
        """See `RecallPipeline.run`."""
        ...

    @property
    def record(self) -> Record:
        """See `RecallPipeline.record`."""
        ...


@dataclass(frozen=True, slots=True)
class PromptContext:
    """Text for a prompt."""

    text: str
    token_count: int
    tokenizer: str  # name of what counted
    sections: tuple[Section, ...]
    section_reports: tuple[SectionReport, ...]
    recalled: Recalled  # what it was written from

    @property
    def memory_ids(self) -> frozenset[str]:
        """Ids of the memories that are in the text or cited there."""
        items = (item for section in self.sections for item in section.items)
        return frozenset(found for item in items for found in (item.memory_id, *item.duplicate_ids))

    @property
    def returned(self) -> Assembled:
        """What of the recall is in the text or cited there."""
        included, recalled = self.memory_ids, self.recalled
        return Assembled(
            tuple(memory for memory in recalled.memories if memory.memory_id in included),
            tuple(fact for fact in recalled.facts if fact.memory_id in included),
            tuple(note for note in recalled.notes if note.memory_id in included),
            tuple(turn for turn in recalled.recent_turns if turn.interaction_id in included),
        )


class ContextBuilder:
    """Builds prompt contexts."""

    def __init__(self, recaller: Recaller, counter: TokenCounter, settings: ContextSettings) -> None:
        """Counts tokens with `counter`, by which budgets are meant."""
        self._recaller = recaller
        self._tokenizer = counter.name
        self._count_tokens = _cached(counter.count_tokens, settings)
        self._settings = settings

    async def build(
        self, principal: Principal, query: RecallQuery, request: ContextRequest, *, deadline_seconds: float
    ) -> PromptContext:
        """Recalls, and writes down as much as the budget allows. That alone counts as returned.

        Raises:
            MnemeError: As `RecallPipeline.run`.
        """
        ends = time.monotonic() + deadline_seconds
        recalled = await self._recaller.run(principal, query, deadline_seconds=deadline_seconds, records=False)
        if _byte_count(recalled) <= self._settings.written_inline_bytes_max:
            context = self.write(recalled, query.text, request)
        else:  # many long texts take longer than other calls should wait
            context = await asyncio.to_thread(self.write, recalled, query.text, request)
        await self._recaller.record(
            principal,
            query,
            recalled.recall_id,
            context.returned,
            recalled.reading.applied_patterns,
            seconds_left=max(0.0, ends - time.monotonic()),
        )
        return context

    def write(self, recalled: Recalled, question: str, request: ContextRequest) -> PromptContext:
        """Writes down what was found for a question."""
        built = build_sections(
            candidates(recalled, overlap_rank_max=self._settings.overlap_rank_max),
            question,
            request,
            count_tokens=self._count_tokens,
            settings=self._settings,
            failed=failed_sections(recalled),
        )
        return PromptContext(
            text=built.text,
            token_count=built.token_count,
            tokenizer=self._tokenizer,
            sections=built.sections,
            section_reports=built.reports,
            recalled=recalled,
        )


def _byte_count(recalled: Recalled) -> int:
    """About what the texts take that a context is written from."""
    found = (
        *(memory.episode for memory in recalled.memories),
        *recalled.recent_turns,
        *(fact.fact for fact in recalled.facts),
        *(note.note for note in recalled.notes),
    )
    return sum(message.ByteSize() for message in found)


def _cached(count_tokens: TokenCount, settings: ContextSettings) -> TokenCount:
    """The same with a cache: many contexts hold the same memories."""
    cached = text_cache(settings.counts_cached)(count_tokens)
    return lambda text: cached(text) if len(text) <= settings.counted_chars_max else count_tokens(text)
