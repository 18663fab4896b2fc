"""Statements that hold no more, as the semantic tier returned them, and what they mean for a recall."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time, timedelta
from functools import cached_property
from typing import Final, TypeAlias

from mneme.semantic.internal.v1 import semantic_pb2
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
_FEW: Final = 500
"""Statements that are sorted by turn in less than a few milliseconds."""


class SupersededThen(Mapping[str, Sequence[supersessions_pb2.Supersession]]):
    """The superseded statements of a user that count at a time, by turn; each turn is judged when it is asked for."""

    def __init__(self, known: OwnerSuperseded, by_turn: Superseded, as_of: datetime, known_at: datetime | None) -> None:
        """Those of `by_turn`, which `known` holds; see `OwnerSuperseded.at`."""
        self._known = known
        self._by_turn = by_turn
        self._until = until_seconds(as_of)
        self._recorded_until = math.inf if known_at is None else known_at.timestamp()

    def __getitem__(self, turn_id: str) -> Sequence[supersessions_pb2.Supersession]:
        """Those of a turn, newest first."""
        found = [one for one in self._by_turn[turn_id] if self._counts(one)]
        if not found:
            raise KeyError(turn_id)
        return found

    def __iter__(self) -> Iterator[str]:
        """The turns."""
        return (turn_id for turn_id, found in self._by_turn.items() if any(map(self._counts, found)))

    def __len__(self) -> int:
        """How many turns."""
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        """Whether there is any."""
        return any(True for _ in self)

    def quoted_in(self, question: str) -> supersessions_pb2.Supersession | None:
        """What superseded a statement that stands in a question."""
        return self._known.quotable.first_in(question, self._counts)

    def _counts(self, one: supersessions_pb2.Supersession) -> bool:
        is_over = one.reason in _ALWAYS or one.end_time.seconds <= self._until
        return is_over and self._is_recorded(one) and not self._is_called_off(one)

    def _is_recorded(self, one: supersessions_pb2.Supersession) -> bool:
        return one.create_time.seconds <= self._recorded_until

    def _is_called_off(self, one: supersessions_pb2.Supersession) -> bool:
        """Whether what stands was over before its day: "I'm moving in June", and then "the move is off"."""
        return any(
            (other.whole_turn or other.statement == one.standing_statement)
            and other.end_time.ToMicroseconds() < one.end_time.ToMicroseconds()
            and self._is_recorded(other)
            for other in self._known.by_turn.get(one.superseded_by, ())
        )


@dataclass(frozen=True)
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
        """What the semantic tier returned, newest first."""
        return cls().with_added(revision, found, reduced)

    def with_added(
        self,
        revision: int,
        found: Iterable[supersessions_pb2.Supersession],
        reduced: Iterable[supersessions_pb2.Supersession] = (),
    ) -> OwnerSuperseded:
        """These and those that were added since, newest first; what is known already is passed over."""
        return OwnerSuperseded(
            revision,
            _with_added(self.by_turn, ((one.memory_id, one) for one in found)),
            _with_added(
                self.reduced, ((turn_id, one) for one in reduced for turn_id in (one.memory_id, one.superseded_by))
            ),
        )

    @cached_property
    def quotable(self) -> Quotable:
        """All of them, to look for in what notes quote."""
        return Quotable(self.by_turn)

    @property
    def size_bytes(self) -> int:
        """Memory that they take, about."""
        return 500 + sum(_ENTRY_BYTES * len(found) for by in (self.by_turn, self.reduced) for found in by.values())

    def at(self, as_of: datetime, known_at: datetime | None = None) -> SupersededThen:
        """Those that were superseded at a time. Midnight, UTC, means the end of the day that begins.

        What was corrected never held.

        Args:
            as_of: The time.
            known_at: Those that were recorded later are left out; None: none.
        """
        return SupersededThen(self, self.by_turn, as_of, known_at)

    def reduced_at(self, as_of: datetime, known_at: datetime | None = None) -> SupersededThen:
        """The pairs of which neither stood at a time; see `at`."""
        return SupersededThen(self, self.reduced, as_of, known_at)


def until_seconds(as_of: datetime) -> float:
    """The end of what a time means, since the epoch: midnight, UTC, means the end of the day that begins."""
    moment = as_of.astimezone(UTC)
    return (moment + timedelta(days=1) if moment.time() == time() else moment).timestamp()


def _with_added(by_turn: Superseded, added: Iterable[tuple[str, supersessions_pb2.Supersession]]) -> Superseded:
    of_turns: dict[str, list[supersessions_pb2.Supersession]] = {}
    for turn_id, one in added:
        of_turns.setdefault(turn_id, []).append(one)
    result = dict(by_turn)
    for turn_id, found in of_turns.items():
        known = {one.supersession_id for one in found}
        result[turn_id] = [*found, *(one for one in by_turn.get(turn_id, ()) if one.supersession_id not in known)]
    return result


NOTHING: Final = OwnerSuperseded()


class SupersededCache:
    """What is known of users. The semantic tier sends it anew only where its revision has changed."""

    def __init__(self, cache: OwnerCache | None = None) -> None:
        """Within the budget of the process's cache; one of its own where None."""
        self._kind: CacheKind[OwnerSuperseded] = (cache or OwnerCache()).kind("superseded")

    def get(self, tenant_id: str, user_id: str) -> OwnerSuperseded:
        """What is cached of a user."""
        return self._kind.get((tenant_id, user_id)) or NOTHING

    async def update(
        self,
        tenant_id: str,
        user_id: str,
        cached: OwnerSuperseded,
        response: semantic_pb2.SearchCandidatesResponse | semantic_pb2.GetMarksResponse,
    ) -> OwnerSuperseded:
        """Caches what the tier returned to a caller that had `cached`; returns what is known now."""
        if response.revision == cached.revision:
            return cached
        before = cached if response.incremental else NOTHING

        def updated() -> OwnerSuperseded:
            return before.with_added(response.revision, response.superseded, response.reduced)

        is_few = len(before.by_turn) + len(response.superseded) + len(response.reduced) < _FEW
        found = updated() if is_few else await asyncio.to_thread(updated)
        self._kind.put((tenant_id, user_id), found)
        return found


def successors(superseded: Superseded, turn_ids: Iterable[str]) -> set[str]:
    """Returns the turns that supersede any of these, and those that supersede them in turn."""
    found: set[str] = set()
    left = list(turn_ids)
    while left:
        for one in superseded.get(left.pop(), ()):
            if one.superseded_by not in found:
                found.add(one.superseded_by)
                left.append(one.superseded_by)
    return found


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
    if asked is None or not superseded:
        return None
    if isinstance(superseded, SupersededThen):
        return superseded.quoted_in(asked["question"])
    return Quotable(superseded).first_in(asked["question"])


class Quotable:
    """Superseded statements that notes may quote."""

    def __init__(self, superseded: Superseded) -> None:
        """Looks for these, by turn."""
        self._by_start: dict[str, list[tuple[str, supersessions_pb2.Supersession]]] = {}
        for one in (one for found in superseded.values() for one in found):
            if len(said := one.statement.strip(_ENDS)) >= _QUOTED_MIN:
                self._by_start.setdefault(said[:_QUOTED_MIN], []).append((said, one))

    def first_in(
        self, question: str, counts: Callable[[supersessions_pb2.Supersession], bool] = lambda _: True
    ) -> supersessions_pb2.Supersession | None:
        """The first of them that counts and stands in a question."""
        for place in range(len(question) - _QUOTED_MIN + 1):
            for said, one in self._by_start.get(question[place : place + _QUOTED_MIN], ()):
                if question.startswith(said, place) and counts(one):
                    return one
        return None


def overlaps(one: str, other: str) -> bool:
    """Returns whether two texts say the same thing, by the words of the shorter one."""
    words, others = set(_words(one)), set(_words(other))
    return bool(words and others) and len(words & others) >= _COVERS_FROM * min(len(words), len(others))


def _words(text: str) -> Iterator[str]:
    return (word[:-1] if word.endswith("s") else word for word in _WORD.findall(text.casefold()))
