"""What interactions state, not stored yet: facts, each with the numbers of the sentences that it was read in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from services.common.embedding.vectors import Vector
from services.common.interactions import SourceInteraction
from services.common.owners import UserId
from services.common.text import split_sentences
from services.semantic.config import SupersessionSettings
from services.semantic.facts.model import FactDraft, Statement, StatementId
from services.semantic.supersession.model import corrected_number
from services.semantic.supersession.reading import numbered_statements

_WORD: Final = re.compile(r"\w+")
_ALIKE_FROM: Final = 0.5
"""Share of the words of two sentences that both have, from which on they are one: facts are read without markup and
quotations, statements without questions."""


@dataclass(frozen=True, slots=True)
class ReadTurn:
    """An interaction with what it states."""

    source: SourceInteraction
    drafts: tuple[FactDraft, ...]
    places: tuple[tuple[int, ...], ...]  # of each fact: the numbers of its sentences
    corrected_by: tuple[tuple[int, ...], ...]  # of each fact: the numbers of corrections that end it

    def statements(self, now: datetime) -> list[Statement]:
        """The facts as statements, recorded now."""
        interaction_id = self.source.interaction_id
        read_in = [(*numbers, *found) for numbers, found in zip(self.places, self.corrected_by, strict=True)]
        counts = Counter(number for numbers in read_in for number in numbers)
        return [
            Statement(
                StatementId(interaction_id),
                self.source.turn.time,
                draft,
                (interaction_id,),
                recorded_time=now,
                sentences=numbers,
                shares_sentence=any(counts[number] > 1 for number in numbers),
            )
            for draft, numbers in zip(self.drafts, read_in, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class ReadFacts:
    """What interactions of a tenant state, not stored yet."""

    of_users: Mapping[UserId, Sequence[ReadTurn]]
    vectors: Mapping[str, Vector]  # by the text of a fact


def read_turns(
    sources: Sequence[SourceInteraction], found: Sequence[Sequence[FactDraft]], settings: SupersessionSettings
) -> dict[UserId, list[ReadTurn]]:
    """Returns turns with the facts found in them, by user. Takes milliseconds for a long one."""
    of_users: dict[UserId, list[ReadTurn]] = {}
    for source, drafts in zip(sources, found, strict=True):
        numbered = numbered_statements(source, settings) if drafts else []
        corrections = corrections_of(drafts, source.turn.content)
        turn = ReadTurn(source, tuple(drafts), tuple(places_of(drafts, numbered)), tuple(corrections))
        of_users.setdefault(source.user_id, []).append(turn)
    return of_users


def places_of(drafts: Sequence[FactDraft], numbered: Sequence[str]) -> list[tuple[int, ...]]:
    """Returns the numbers of the sentences that each fact was read in: the most alike, several where equally so.

    Args:
        drafts: The facts of a turn.
        numbered: What the turn states, each sentence at the place of its number.
    """
    words = [_words(sentence) for sentence in numbered]
    known: dict[str, tuple[int, ...]] = {"": ()}
    for draft in drafts:
        if draft.sentence not in known:
            known[draft.sentence] = _nearest(_words(draft.sentence), words)
    return [known[draft.sentence] for draft in drafts]


def corrections_of(drafts: Sequence[FactDraft], content: str) -> list[tuple[int, ...]]:
    """Returns the numbers of corrections of the sentence that each fact of a turn was read in."""
    sentences = split_sentences(content) if drafts else []
    return [tuple(corrected_number(sentences[at]) for at in found) for found in places_of(drafts, sentences)]


def _nearest(sentence: frozenset[str], numbered: Sequence[frozenset[str]]) -> tuple[int, ...]:
    shares = [len(sentence & words) / max(1, len(sentence | words)) for words in numbered]
    best = max(shares, default=0.0)
    return tuple(number for number, share in enumerate(shares) if share == best) if best >= _ALIKE_FROM else ()


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))
