"""Fills one section of a context with its candidates, best first. Pure functions over a budget of tokens."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from services.gateway.context.duplicates import NearDuplicates, without_duplicates
from services.gateway.context.model import (
    Candidate,
    ContextOrder,
    ContextSettings,
    Item,
    Passage,
    PassageTurn,
    TurnSource,
)
from services.gateway.context.passages import PassageLayout, running_passage
from services.gateway.context.refinement import (
    KeptText,
    QuestionTerms,
    Sentences,
    TokenCount,
    choose_sentences,
    sentence_worth,
    term_weights,
)
from services.gateway.context.structure import indented

_LINE_PREFIX: Final = "- "
_MISSES_MAX: Final = 8
"""Turns in a row that do not fit, after which none further down is tried."""


@dataclass(frozen=True, slots=True)
class Filled:
    """What is in a section."""

    items: tuple[Item, ...] = ()
    passages: tuple[Passage, ...] = ()
    token_count: int = 0  # heading and items; 0 without an item
    is_complete: bool = True  # no candidate is left out


@dataclass(frozen=True, slots=True)
class Budget:
    """What a section may take."""

    tokens: int  # in all
    share: int  # its own, whatever others leave over
    heading_tokens: int


class Writer:
    """Prunes texts to the sentences that a question needs. Belongs to one request, for which it caches counts."""

    def __init__(
        self,
        question: str,
        texts: Sequence[str],
        count_tokens: TokenCount,
        settings: ContextSettings,
    ) -> None:
        """Weighs the question's terms over `texts`."""
        self.settings: Final = settings
        self._count_tokens = count_tokens
        self._counts: dict[str, int] = {}
        self._question = QuestionTerms(question)
        self._sentences: dict[str, Sentences] = {}
        self._weights = term_weights(self._question, texts)

    def count(self, text: str) -> int:
        """What a text costs: its tokens, or more where it has more characters than so many tokens may have."""
        found = self._counts.get(text)
        if found is None:
            found = self._counts[text] = max(self._count_tokens(text), self._least_by_chars(text))
        return found

    def least(self, text: str) -> int:
        """What a text costs at least, without counting: a word is a token or more."""
        return max(text.count(" "), self._least_by_chars(text))

    def fit(self, body: str, tokens_max: int, *, first_tokens_max: int | None = None) -> KeptText | None:
        """The body within so many tokens: whole, or its sentences of most worth; None where not one fits.

        Args:
            body: The text.
            tokens_max: What it may take.
            first_tokens_max: Given, the best sentence may take so much though it is more, and sentences that are worth
                little beside it are left out even where the budget has tokens left.
        """
        if self.least(body) <= tokens_max and (tokens := self.count(f" {indented(body)}")) <= tokens_max:
            return KeptText(body, tokens, (0,), 1)
        if max(tokens_max, first_tokens_max or 0) <= 0:
            return None
        sentences = self._read(body)
        worth = sentence_worth(sentences, self._weights, self.settings.refinement)
        share = self.settings.refinement.worth_share_min if first_tokens_max is not None else 0.0
        return choose_sentences(
            sentences.texts,
            worth,
            tokens_max=tokens_max,
            count_tokens=self._count_sentence,
            least_tokens=self.least,
            first_tokens_max=first_tokens_max or 0,
            worth_min=share * max(worth, default=0.0),
        )

    def _count_sentence(self, sentence: str) -> int:
        return self.count(f" {indented(sentence)}")

    def _least_by_chars(self, text: str) -> int:
        return -(-len(text) // self.settings.chars_per_token_max)

    def _read(self, body: str) -> Sentences:
        found = self._sentences.get(body)
        if found is None:
            found = self._sentences[body] = Sentences.of(body, self._question)
        return found


def fill_lines(candidates: Sequence[Candidate], writer: Writer, budget: Budget) -> Filled:
    """Facts or notes, a line each, best first; a text that repeats an earlier one is cited on the line of that one."""
    settings = writer.settings
    # What another section did not leave over must not shorten lines that fit into the section's own share.
    line_max = max(settings.item_tokens_min, int(max(budget.tokens, budget.share) * settings.item_share_max))
    prefix_tokens = writer.count(f"\n{_LINE_PREFIX.rstrip()}")
    kept = without_duplicates(candidates, lambda c: c.body, similarity_min=settings.duplicate_similarity)
    items: list[Item] = []
    used = budget.heading_tokens
    is_complete = True
    for candidate, duplicates in kept:
        text = writer.fit(candidate.body, min(budget.tokens - used, line_max) - prefix_tokens)
        is_complete = is_complete and text is not None and not text.pruned
        if text is None:
            continue
        sources = [*candidate.interaction_ids, *(i for d in duplicates for i in d.interaction_ids)]
        items.append(
            Item(
                text=_LINE_PREFIX + indented(text.text),
                memory_id=candidate.memory_id,
                interaction_ids=tuple(dict.fromkeys(sources)),
                pruned=text.pruned,
                duplicate_ids=tuple(d.memory_id for d in duplicates),
            )
        )
        used += prefix_tokens + text.token_count
    return Filled(tuple(items), (), used if items else 0, is_complete)


def fill_running(
    candidates: Sequence[Candidate], writer: Writer, budget: Budget, *, included_elsewhere: Collection[str] = ()
) -> Filled:
    """The newest turns of the running conversation without a gap, oldest first.

    Args:
        candidates: Its turns, oldest first.
        writer: Cuts and counts.
        budget: What they may take.
        included_elsewhere: Ids of turns that are in another section; the conversation begins after them.
    """
    settings = writer.settings
    turn_max = max(settings.item_tokens_min, int(max(budget.tokens, budget.share) * settings.item_share_max))
    turns: list[PassageTurn] = []
    used = budget.heading_tokens
    is_complete = True
    for candidate in reversed(candidates):
        source = _source(candidate)
        prefix_tokens = writer.count(f"\n{source.line_start.rstrip()}")
        text = writer.fit(candidate.body, min(budget.tokens - used, turn_max) - prefix_tokens)
        is_complete = is_complete and text is not None and not text.pruned
        if text is None or candidate.memory_id in included_elsewhere:
            is_complete = is_complete and text is not None
            break  # a gap in a conversation would mislead
        turns.append(_passage_turn(candidate, text, rank=0))
        used += prefix_tokens + text.token_count
    if not turns:
        return Filled(is_complete=is_complete)
    passage = running_passage(turns[::-1])
    return Filled(passage.items, (passage,), used, is_complete)


def fill_memories(candidates: Sequence[Candidate], writer: Writer, budget: Budget, order: ContextOrder) -> Filled:
    """Recalled turns as passages: first many turns in few sentences, then more sentences of the best ones.

    The n-th turn may take 1/n of the share of the best one at first, but never less than a minimum, so that one long
    turn does not keep ten others out. The tokens left go to the turns that were pruned, best first.

    Args:
        candidates: Turns, best first.
        writer: Cuts and counts.
        budget: What they may take.
        order: Of the passages in the text.
    """
    filler = _MemoryFiller(writer, budget)
    filler.spread(candidates)
    filler.deepen()
    passages = filler.layout.passages(order) if filler.included else ()
    return Filled(
        tuple(item for passage in passages for item in passage.items),
        passages,
        budget.heading_tokens + filler.layout.token_count if passages else 0,
        filler.is_complete,
    )


class _MemoryFiller:
    def __init__(self, writer: Writer, budget: Budget) -> None:
        self._writer = writer
        self._tokens = budget.tokens - budget.heading_tokens
        self._best_max = int(budget.tokens * writer.settings.turn_share_max)
        self._sentence_max = int(budget.tokens * writer.settings.sentence_share_max)
        self.layout: Final = PassageLayout(writer.count, gap_max=writer.settings.passage_gap_max)
        self.included: list[tuple[Candidate, PassageTurn, int]] = []  # with the tokens of its text
        self.is_complete = True

    @property
    def _left(self) -> int:
        return self._tokens - self.layout.token_count

    def spread(self, candidates: Sequence[Candidate]) -> None:
        settings = self._writer.settings
        seen = NearDuplicates(settings.duplicate_similarity)
        places: list[int] = []  # of each text taken in by `seen`, in `included`; -1 where it did not fit
        misses = 0
        for rank, candidate in enumerate(candidates, start=1):
            if misses >= _MISSES_MAX:
                self.is_complete = False
                return
            number = seen.earlier(candidate.body)
            if number is not None and places[number] >= 0:
                self._cite(places[number], candidate)
                continue
            tokens_max = max(settings.item_tokens_min, self._best_max // (len(self.included) + 1))
            fits = self._put(candidate, rank, tokens_max)
            misses = 0 if fits else misses + 1
            self.is_complete = self.is_complete and fits
            if number is None:
                places.append(len(self.included) - 1 if fits else -1)
            elif fits:
                places[number] = len(self.included) - 1

    def deepen(self) -> None:
        for place, (candidate, turn, tokens) in enumerate(self.included):
            if not turn.pruned:
                continue
            text = self._writer.fit(candidate.body, tokens + self._left)
            if text is not None and text.token_count > tokens:
                grown = replace(turn, text=text.text, pruned=text.pruned)
                self._replace(place, grown, text.token_count)
            self.is_complete = self.is_complete and not self.included[place][1].pruned

    def _put(self, candidate: Candidate, rank: int, tokens_max: int) -> bool:
        frame = _passage_turn(candidate, _NOTHING, rank=rank)
        left = self._left - self.layout.frame_cost(frame)
        text = self._writer.fit(candidate.body, min(tokens_max, left), first_tokens_max=min(self._sentence_max, left))
        if text is None:
            return False
        turn = replace(frame, text=text.text, pruned=text.pruned)
        self.layout.put(turn, text.token_count)
        self.included.append((candidate, turn, text.token_count))
        return True

    def _cite(self, place: int, duplicate: Candidate) -> None:
        _, turn, tokens = self.included[place]
        self._replace(place, replace(turn, duplicates=(*turn.duplicates, duplicate)), tokens)

    def _replace(self, place: int, turn: PassageTurn, tokens: int) -> None:
        self.layout.put(turn, tokens)
        self.included[place] = (self.included[place][0], turn, tokens)


_NOTHING: Final = KeptText("", 0, (), 0)


def _passage_turn(candidate: Candidate, text: KeptText, *, rank: int) -> PassageTurn:
    return PassageTurn(
        memory_id=candidate.memory_id,
        interaction_ids=candidate.interaction_ids,
        source=_source(candidate),
        text=text.text,
        rank=rank,
        pruned=text.pruned,
    )


def _source(candidate: Candidate) -> TurnSource:
    if candidate.turn is None:
        raise AssertionError("only turns stand in passages")
    return candidate.turn
