"""Texts of one section that repeat a text of another: they are left out and cited there."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from services.gateway.context.duplicates import NearDuplicates
from services.gateway.context.filling import Filled
from services.gateway.context.model import Candidate, Item, Passage, PassageTurn, SectionKind

_PRECEDENCE: Final = (SectionKind.RECENT_TURNS, SectionKind.MEMORIES, SectionKind.FACTS, SectionKind.NOTES)
"""Of two texts that say nearly the same, that of the earlier section stays: words as they were said before extracts."""


@dataclass(frozen=True, slots=True)
class _Repeat:
    kind: SectionKind
    candidate: Candidate
    original_id: str


class Repeats:
    """The repeated texts of one request."""

    def __init__(
        self, offers: Mapping[SectionKind, Sequence[Candidate]], *, similarity_min: float, rank_max: int
    ) -> None:
        """Compares the best `rank_max` candidates of each section, and all recent turns."""
        seen = NearDuplicates(similarity_min)
        originals: list[tuple[SectionKind, Candidate]] = []
        self._repeats: dict[str, _Repeat] = {}
        running = {candidate.memory_id for candidate in offers.get(SectionKind.RECENT_TURNS, ())}
        for kind in _PRECEDENCE:
            candidates = offers.get(kind, ())
            for candidate in candidates if kind is SectionKind.RECENT_TURNS else candidates[:rank_max]:
                if kind is SectionKind.MEMORIES and candidate.memory_id in running:
                    continue  # the same turn, which is in one of the sections
                number = seen.earlier(candidate.body)
                if number is None:
                    originals.append((kind, candidate))
                elif originals[number][0] is not kind:
                    self._repeats[candidate.memory_id] = _Repeat(kind, candidate, originals[number][1].memory_id)

    def without(self, offers: Mapping[SectionKind, Sequence[Candidate]]) -> dict[SectionKind, Sequence[Candidate]]:
        """The candidates that repeat nothing."""
        if not self._repeats:
            return dict(offers)
        return {
            kind: [candidate for candidate in found if not self._is_repeat(kind, candidate)]
            for kind, found in offers.items()
        }

    def restore(self, included_ids: Collection[str]) -> bool:
        """Takes back those whose original is not in the text; returns whether there were any."""
        gone = [memory_id for memory_id, found in self._repeats.items() if found.original_id not in included_ids]
        for memory_id in gone:
            del self._repeats[memory_id]
        return bool(gone)

    def cited(self, filled: Filled) -> Filled:
        """A section whose items cite what repeats them."""
        citing: dict[str, list[Candidate]] = {}
        for found in self._repeats.values():
            citing.setdefault(found.original_id, []).append(found.candidate)
        if not citing:
            return filled
        return replace(
            filled,
            items=tuple(_citing(item, citing) for item in filled.items),
            passages=tuple(_passage_citing(passage, citing) for passage in filled.passages),
        )

    def count(self, kind: SectionKind) -> int:
        """How many candidates of a section repeat another."""
        return sum(found.kind is kind for found in self._repeats.values())

    def _is_repeat(self, kind: SectionKind, candidate: Candidate) -> bool:
        found = self._repeats.get(candidate.memory_id)
        return found is not None and found.kind is kind


def _citing(item: Item, citing: Mapping[str, Sequence[Candidate]]) -> Item:
    found = [one for memory_id in (item.memory_id, *item.duplicate_ids) for one in citing.get(memory_id, ())]
    sources = (*item.interaction_ids, *(source for one in found for source in one.interaction_ids))
    return replace(
        item,
        interaction_ids=tuple(dict.fromkeys(sources)),
        duplicate_ids=(*item.duplicate_ids, *(one.memory_id for one in found)),
    )


def _cited_by(turn: PassageTurn, citing: Mapping[str, Sequence[Candidate]]) -> list[Candidate]:
    ids = (turn.memory_id, *(duplicate.memory_id for duplicate in turn.duplicates))
    return [one for memory_id in ids for one in citing.get(memory_id, ())]


def _passage_citing(passage: Passage, citing: Mapping[str, Sequence[Candidate]]) -> Passage:
    return replace(
        passage,
        turns=tuple(replace(turn, duplicates=(*turn.duplicates, *_cited_by(turn, citing))) for turn in passage.turns),
        items=tuple(_citing(item, citing) for item in passage.items),
    )
