"""Facts that a language model finds beside those of the rules. Each is checked against the turn that it was read in."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Final

from pydantic import BaseModel

from services.common.interactions import SourceInteraction
from services.common.language_model.port import LanguageModel, Reasoned
from services.common.owners import TenantId
from services.common.values.comparison.compare import relation
from services.common.values.model import Relation
from services.common.values.sentences import content_words, is_statement
from services.semantic.config import ModelExtractionSettings
from services.semantic.facts.model import FactCategory, FactDraft

_INSTRUCTIONS: Final = (
    "Extract lasting facts about the speaker that the turn states outright: preferences, plans and promises, "
    "relations, constraints, home, work. No questions, no conditions, no guesses, nothing that others claim. "
    "Each fact is a short sentence in the third person that begins with the name of the speaker and uses the words "
    "of the turn; `quote` is the sentence of the turn that states it, word for word. Categories: preference, "
    "commitment, relationship, constraint, instruction, context, personal_info. An empty list is a good response."
)
_NUMBER: Final = re.compile(r"\d+(?:[.,:/]\d+)*")
_NEGATION: Final = re.compile(r"\b(?:not|no|never|none|without|neither|nor|cannot|\w+n['\u2019]t)\b", re.IGNORECASE)
_GRAMMAR: Final = ("the", "user", "speaker", "their", "they", "has", "have", "is", "does")


class _FoundFact(BaseModel):
    text: str
    category: str
    quote: str


class FoundFacts(Reasoned):
    """What the model returns."""

    facts: list[_FoundFact]


class ModelFacts:
    """Adds facts that a language model finds."""

    def __init__(self, model: LanguageModel, settings: ModelExtractionSettings, *, nameless_subject: str) -> None:
        """Asks `model`; without a usable response there are the facts of the rules."""
        self._model = model
        self._settings = settings
        self._nameless = nameless_subject

    async def added_to(
        self, tenant_id: TenantId, sources: Sequence[SourceInteraction], found: Sequence[list[FactDraft]]
    ) -> list[list[FactDraft]]:
        """The facts of each interaction: those that the rules found, and more.

        A batch has a time of its own; what the model has not returned by then is not waited for.
        """
        if not self._model.is_configured:
            return list(found)
        tasks = {
            i: asyncio.ensure_future(self._added(tenant_id, source, found[i]))
            for i, source in enumerate(sources)
            if self._is_read(source)
        }
        try:
            if tasks:
                await asyncio.wait(tasks.values(), timeout=self._settings.batch_seconds)
        finally:
            for task in tasks.values():
                task.cancel()
            results = await asyncio.gather(*tasks.values(), return_exceptions=True)
        added = {i: facts for i, facts in zip(tasks, results, strict=True) if isinstance(facts, list)}
        return [own + added.get(i, []) for i, own in enumerate(found)]

    def _is_read(self, source: SourceInteraction) -> bool:
        return (
            source.turn.role in self._settings.roles
            and self._settings.chars_min <= len(source.turn.content) <= self._settings.chars_max
        )

    async def _added(
        self, tenant_id: TenantId, source: SourceInteraction, present: Sequence[FactDraft]
    ) -> list[FactDraft]:
        subject = source.turn.speaker or self._nameless
        response = await self._model.respond(
            tenant_id, "facts", _INSTRUCTIONS, f"Speaker: {subject}\nTurn: {source.turn.content}", FoundFacts
        )
        if response is None:
            return []
        return await asyncio.to_thread(self._checked, response, source.turn.content, subject, present)

    def _checked(self, response: FoundFacts, turn: str, subject: str, present: Sequence[FactDraft]) -> list[FactDraft]:
        added: list[FactDraft] = []
        for fact in response.facts[: self._settings.facts_max]:
            category = FactCategory.__members__.get(fact.category.strip().upper())
            if category is None or not is_supported(fact.text, fact.quote, turn, subject):
                continue
            if any(_says_the_same(fact.text, known.text) for known in (*present, *added)):
                continue
            added.append(
                FactDraft(
                    text=fact.text.strip(),
                    category=category,
                    confidence=self._settings.confidence,
                    importance=self._settings.importance,
                    subject=subject,
                    sentence=fact.quote,
                )
            )
        return added


def is_supported(text: str, quote: str, turn: str, subject: str) -> bool:
    """Whether a turn says what a model claims that it says.

    The quote stands in the turn and states something; the words of the text are in the quote, its numbers all of them,
    and it denies something where the quote does and only there.
    """
    quote, text = " ".join(quote.split()), " ".join(text.split())
    if not text or not quote or quote not in " ".join(turn.split()) or not is_statement(quote):
        return False
    known = {_stem(word) for word in (*content_words(subject), *_GRAMMAR)}
    words = {_stem(word) for word in content_words(text)} - known
    said = {_stem(word) for word in content_words(quote)}
    return (
        bool(words)
        and words <= said
        and sorted(_NUMBER.findall(text)) == sorted(_NUMBER.findall(quote))
        and bool(_NEGATION.search(text)) == bool(_NEGATION.search(quote))
    )


def _says_the_same(text: str, known: str) -> bool:
    return relation(known, text) is Relation.SAME or content_words(text) <= content_words(known)


def _stem(word: str) -> str:
    return re.sub(r"(?:ies|es|s|ed|ing)$", "", word.casefold())
