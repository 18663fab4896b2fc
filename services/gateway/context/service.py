"""Use case BuildContext: a recall, written out within a token budget."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Protocol

from services.common.auth import Principal
from services.gateway.context.budget import build_sections
from services.gateway.context.candidates import candidates, failed_sections
from services.gateway.context.model import ContextRequest, ContextSettings, Section, SectionKind, SectionReport
from services.gateway.context.refinement import TokenCount
from services.gateway.recall.model import Recalled, RecallQuery, TierReport

_ABSENT: Final = frozenset({SectionKind.PROCEDURES})
"""Sections that no tier fills."""


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
    section_reports: tuple[SectionReport, ...]
    reports: tuple[TierReport, ...]
    is_degraded: bool


class ContextBuilder:
    """Builds prompt contexts."""

    def __init__(self, recaller: Recaller, count_tokens: TokenCount, settings: ContextSettings) -> None:
        """Counts tokens with `count_tokens`, which must be the tokenizer that budgets are meant in."""
        self._recaller = recaller
        self._count_tokens = _remembering(count_tokens, settings)
        self._settings = settings

    async def build(
        self, principal: Principal, query: RecallQuery, request: ContextRequest, *, deadline_seconds: float
    ) -> PromptContext:
        """Recalls, and writes down as much as the budget allows.

        Raises:
            MnemeError: As `RecallPipeline.run`.
        """
        recalled = await self._recaller.run(principal, query, deadline_seconds=deadline_seconds)
        return self.write(recalled, query.text, request)

    def write(self, recalled: Recalled, question: str, request: ContextRequest) -> PromptContext:
        """Writes an answer down for a question."""
        built = build_sections(
            candidates(recalled, told_rank_max=self._settings.told_rank_max),
            question,
            request,
            count_tokens=self._count_tokens,
            settings=self._settings,
            failed=failed_sections(recalled.reports),
            absent=_ABSENT,
        )
        return PromptContext(
            text=built.text,
            token_count=built.token_count,
            sections=built.sections,
            section_reports=built.reports,
            reports=recalled.reports,
            is_degraded=recalled.is_degraded,
        )


def _remembering(count_tokens: TokenCount, settings: ContextSettings) -> TokenCount:
    """The same, which counts a text once: what a memory says never changes, and the same are told again and again."""
    kept = lru_cache(maxsize=settings.counts_kept)(count_tokens)
    return lambda text: kept(text) if len(text) <= settings.counted_chars_max else count_tokens(text)
