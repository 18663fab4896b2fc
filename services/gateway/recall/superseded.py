"""Statements that hold no more, as the semantic tier returned them, and what they mean for a recall."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time, timedelta
from typing import Final, TypeAlias

from mneme.semantic.v1 import supersessions_pb2
from services.common.cache import CacheKind, OwnerCache
from services.gateway.recall.model import RankedEpisode

Superseded: TypeAlias = Mapping[str, Sequence[supersessions_pb2.Supersession]]
"""Superseded statements by the id of their turn."""

PART: Final = "successor"
"""The part of a score that puts a turn before one whose statement it supersedes."""
_WORD: Final = re.compile(r"\w+")
_ALWAYS: Final = frozenset({supersessions_pb2.SUPERSESSION_REASON_CORRECTED})
_COVERS_FROM: Final = 0.6
"""Share of the words of the shorter one of two texts from which on they are taken to say the same thing."""
_QUOTED: Final = re.compile(r"^[^\n:]{1,128} asked: (?P<question>.{1,400}) [^\n:]{1,128} answered: ", re.DOTALL)
"""How notes quote the question that a turn answers."""
_QUOTED_MIN: Final = 12
"""Shorter statements may stand in a question by chance."""
_ENDS: Final = " .,;!?"
_ENTRY_BYTES: Final = 700
"""Memory of one cached statement, about."""


@dataclass(frozen=True, slots=True)
class OwnerSuperseded:
    """All superseded and reduced statements of a user."""

    revision: int | None = None  # None: not known
    by_turn: Superseded = field(default_factory=dict)
    reduced: Superseded = field(default_factory=dict)  # by the turns of either side

    @classmethod
    def of(
        cls,
        revision: int,
        found: Iterable[supersessions_pb2.Supersession],
        reduced: Iterable[supersessions_pb2.Supersession] = (),
    ) -> OwnerSuperseded:
        """What the semantic tier returned."""
        by_turn: dict[str, list[supersessions_pb2.Supersession]] = {}
        for one in found:
            by_turn.setdefault(one.memory_id, []).append(one)
        by_sides: dict[str, list[supersessions_pb2.Supersession]] = {}
        for one in reduced:
            for turn_id in (one.memory_id, one.superseded_by):
                by_sides.setdefault(turn_id, []).append(one)
        return cls(revision, by_turn, by_sides)

    @property
    def size_bytes(self) -> int:
        """Memory that they take, about."""
        return 500 + sum(_ENTRY_BYTES * len(found) for by in (self.by_turn, self.reduced) for found in by.values())

    def of_turns(self, turn_ids: Iterable[str], as_of: datetime, known_at: datetime | None = None) -> Superseded:
        """Those of these turns that were superseded at a time; see `at`."""
        found = {turn_id: self.by_turn[turn_id] for turn_id in turn_ids if turn_id in self.by_turn}
        return _at(found, as_of, known_at)

    def at(self, as_of: datetime, known_at: datetime | None = None) -> Superseded:
        """Those that were superseded at a time. Midnight, UTC, means the end of the day that begins.

        What was corrected never held.

        Args:
            as_of: The time.
            known_at: Those that were recorded later are left out; None: none.
        """
        return _at(self.by_turn, as_of, known_at)

    def reduced_at(self, as_of: datetime, known_at: datetime | None = None) -> Superseded:
        """The pairs of which neither stood at a time; see `at`."""
        return _at(self.reduced, as_of, known_at)


def until_seconds(as_of: datetime) -> float:
    """The end of what a time means, since the epoch: midnight, UTC, means the end of the day that begins."""
    moment = as_of.astimezone(UTC)
    return (moment + timedelta(days=1) if moment.time() == time() else moment).timestamp()


def _at(by_turn: Superseded, as_of: datetime, known_at: datetime | None) -> Superseded:
    if not by_turn:
        return {}
    recorded_until = math.inf if known_at is None else known_at.timestamp()
    until = until_seconds(as_of)
    left = {
        turn_id: [
            one
            for one in found
            if (one.reason in _ALWAYS or one.end_time.seconds <= until) and one.create_time.seconds <= recorded_until
        ]
        for turn_id, found in by_turn.items()
    }
    return {turn_id: found for turn_id, found in left.items() if found}


NOTHING: Final = OwnerSuperseded()


class SupersededCache:
    """What is known of users. The semantic tier sends it anew only where its revision has changed."""

    def __init__(self, cache: OwnerCache | None = None) -> None:
        """Within the budget of the process's cache; one of its own where None."""
        self._kind: CacheKind[OwnerSuperseded] = (cache or OwnerCache()).kind("superseded")

    def get(self, tenant_id: str, user_id: str) -> OwnerSuperseded:
        """What is cached of a user."""
        return self._kind.get((tenant_id, user_id)) or NOTHING

    def put(self, tenant_id: str, user_id: str, found: OwnerSuperseded) -> None:
        """Caches what the tier returned."""
        self._kind.put((tenant_id, user_id), found)


def with_successors(ranked: Sequence[RankedEpisode], superseded: Superseded, *, count_max: int) -> list[RankedEpisode]:
    """Returns the ranking with each turn that supersedes one of it, put before that one where it is not ranked itself.

    Args:
        ranked: Best first.
        superseded: By turn.
        count_max: At most so many are added.
    """
    known = {episode.episode_id for episode in ranked}
    result: list[RankedEpisode] = []
    for episode in ranked:
        chain = [episode]
        for place in chain:
            for one in superseded.get(place.episode_id, ()):
                if one.superseded_by not in known and len(known) - len(ranked) < count_max:
                    known.add(one.superseded_by)
                    chain.append(
                        replace(
                            episode,
                            episode_id=one.superseded_by,
                            retrievers=(),
                            parts=((PART, episode.score),),
                            text_chars=0,
                        )
                    )
        result += reversed(chain)
    return result


def covering(superseded: Superseded, sources: Iterable[str], text: str) -> supersessions_pb2.Supersession | None:
    """Returns what superseded a text that was made from turns; None where it stands on one that is not superseded.

    Args:
        superseded: By turn.
        sources: The turns that the text was made from.
        text: Of a fact or a note.
    """
    found: supersessions_pb2.Supersession | None = None
    for source in sources:
        found = next(
            (one for one in superseded.get(source, ()) if one.whole_turn or overlaps(one.statement, text)), None
        )
        if found is None:
            return None
    return found


def quoted(superseded: Superseded, text: str) -> supersessions_pb2.Supersession | None:
    """Returns what superseded the question that a note quotes before its answer; None where it quotes none.

    "Ada asked: no I'm not a member, is it worth it? Assistant answered: ..." shows what Ada said then, though nothing
    superseded the answer, which is all that the note was made from.

    Args:
        superseded: By turn.
        text: Of the note.
    """
    asked = _QUOTED.search(text)
    if asked is None:
        return None
    question = asked["question"]
    for found in superseded.values():
        for one in found:
            if len(said := one.statement.strip(_ENDS)) >= _QUOTED_MIN and said in question:
                return one
    return None


class Quotable:
    """Superseded statements that notes may quote, to look through many notes for: `quoted` goes through all of them."""

    def __init__(self, superseded: Superseded) -> None:
        """Looks for these, by turn."""
        self._by_start: dict[str, list[tuple[str, supersessions_pb2.Supersession]]] = {}
        for one in (one for found in superseded.values() for one in found):
            if len(said := one.statement.strip(_ENDS)) >= _QUOTED_MIN:
                self._by_start.setdefault(said[:_QUOTED_MIN], []).append((said, one))

    def quoted(self, text: str) -> supersessions_pb2.Supersession | None:
        """What superseded the question that a note quotes before its answer; see `quoted`."""
        asked = _QUOTED.search(text)
        if asked is None:
            return None
        question = asked["question"]
        for place in range(len(question) - _QUOTED_MIN + 1):
            for said, one in self._by_start.get(question[place : place + _QUOTED_MIN], ()):
                if question.startswith(said, place):
                    return one
        return None


def overlaps(one: str, other: str) -> bool:
    """Returns whether two texts say the same thing, by the words of the shorter one."""
    words, others = set(_words(one)), set(_words(other))
    return bool(words and others) and len(words & others) >= _COVERS_FROM * min(len(words), len(others))


def _words(text: str) -> Iterator[str]:
    return (word[:-1] if word.endswith("s") else word for word in _WORD.findall(text.casefold()))
