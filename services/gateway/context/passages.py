"""Writes turns as passages: neighbouring turns of one conversation under one header with date and speakers.

    [2026-03-01] Ada: I moved to Lisbon.              one turn

    [2026-03-01] Ada, Ben                             several
    Ada: I moved to Lisbon.
    Ben: How is it?
    …                                                 a turn between is missing
    Ada: Sunny.

structure.py says why no text that was said can pass for a heading, or for the line of another speaker.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from services.gateway.context.model import ContextOrder, Item, Passage, PassageTurn
from services.gateway.context.refinement import GAP, TokenCount
from services.gateway.context.structure import indented


class PassageLayout:
    """Turns as they will stand in a section, with the tokens that they take.

    Counts assume that the tokens of lines add up, line break included; so they do where a tokenizer splits at spaces.
    """

    def __init__(self, count_tokens: TokenCount, *, gap_max: int) -> None:
        """Begins without a turn; up to `gap_max` turns may be missing between two of a passage."""
        self._count_tokens = count_tokens
        self._gap_max = gap_max
        self._groups: dict[tuple[str, str], dict[str, PassageTurn]] = {}  # by conversation and day, by memory id
        self._frames: dict[tuple[str, str], int] = {}  # tokens of what stands around the texts of a group
        self._texts: dict[str, int] = {}  # tokens of a turn's text, by memory id
        self.token_count = 0

    def frame_cost(self, turn: PassageTurn) -> int:
        """How many tokens more the section takes with a new turn, beside those of its text; may be below 0."""
        place = _place(turn)
        group = self._groups.get(place, {})
        return self._frame_tokens([*group.values(), turn]) - self._frames.get(place, 0)

    def put(self, turn: PassageTurn, text_tokens: int) -> None:
        """Takes a turn in, in the place of one with the same id."""
        place = _place(turn)
        if turn.memory_id not in self._texts:
            cost = self.frame_cost(turn)
            self._frames[place] = self._frames.get(place, 0) + cost
            self.token_count += cost
        self._groups.setdefault(place, {})[turn.memory_id] = turn
        self.token_count += text_tokens - self._texts.get(turn.memory_id, 0)
        self._texts[turn.memory_id] = text_tokens

    def passages(self, order: ContextOrder) -> tuple[Passage, ...]:
        """All of it, in order."""
        found = [
            _passage(run) for group in self._groups.values() for run in _runs(group.values(), gap_max=self._gap_max)
        ]
        if order is ContextOrder.CHRONOLOGICAL:
            return tuple(sorted(found, key=_oldest_first))
        return tuple(sorted(found, key=lambda passage: passage.rank))

    def _frame_tokens(self, group: Iterable[PassageTurn]) -> int:
        total = 0
        for run in _runs(group, gap_max=self._gap_max):
            header, lines = _layout(run)
            total += self._count_tokens(f"\n{header}") if header else 0
            total += sum(self._count_tokens(f"\n{prefix.rstrip()}") for prefix, _ in lines)
            total += sum(_gaps(run)) * self._count_tokens(f"\n{GAP}")
        return total


def running_passage(turns: Sequence[PassageTurn]) -> Passage:
    """The running conversation: lines without a header, oldest first as given."""
    items = tuple(_item(turn.source.line_start, turn) for turn in turns)
    return Passage("\n".join(item.text for item in items), tuple(turns), items)


def _place(turn: PassageTurn) -> tuple[str, str]:
    return turn.source.conversation_id, turn.source.date


def _runs(turns: Iterable[PassageTurn], *, gap_max: int) -> Iterator[list[PassageTurn]]:
    """Turns of one conversation and day, cut where more than `gap_max` of them are missing between two."""
    run: list[PassageTurn] = []
    for turn in sorted(turns, key=lambda turn: (turn.source.position, turn.memory_id)):
        if run and turn.source.position - run[-1].source.position > gap_max + 1:
            yield run
            run = []
        run.append(turn)
    if run:
        yield run


def _gaps(run: Sequence[PassageTurn]) -> list[bool]:
    """For each turn whether one is missing before it."""
    positions = [turn.source.position for turn in run]
    return [False, *(later - earlier > 1 for earlier, later in pairwise(positions))]


def _layout(run: Sequence[PassageTurn]) -> tuple[str, list[tuple[str, PassageTurn]]]:
    """Header, and what stands before each turn's text."""
    date = f"[{run[0].source.date}] " if run[0].source.date else ""
    if len(run) == 1:
        return "", [(f"{date}{run[0].source.line_start}", run[0])]
    speakers = ", ".join(dict.fromkeys(turn.source.label for turn in run))
    return f"{date}{speakers}", [(turn.source.line_start, turn) for turn in run]


def _passage(run: Sequence[PassageTurn]) -> Passage:
    header, lines = _layout(run)
    items = tuple(_item(prefix, turn) for prefix, turn in lines)
    written = [header] if header else []
    for item, gap in zip(items, _gaps(run), strict=True):
        written += [GAP, item.text] if gap else [item.text]
    return Passage("\n".join(written), tuple(run), items)


def _item(prefix: str, turn: PassageTurn) -> Item:
    sources = [*turn.interaction_ids, *(i for duplicate in turn.duplicates for i in duplicate.interaction_ids)]
    return Item(
        text=prefix + indented(turn.text),
        memory_id=turn.memory_id,
        interaction_ids=tuple(dict.fromkeys(sources)),
        pruned=turn.pruned,
        duplicate_ids=tuple(duplicate.memory_id for duplicate in turn.duplicates),
    )


def _oldest_first(passage: Passage) -> tuple[str, str, int]:
    first = passage.turns[0].source
    return (first.time.isoformat() if first.time is not None else "", first.conversation_id, first.position)
