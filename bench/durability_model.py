"""What the durability run knows and reports: calls that were made, and the verdict on the stores."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Final

PROBLEMS_SHOWN: Final = 20
MARKER_KEY: Final = "bench-marker"
"""Metadata key of the marker that identifies a turn, whatever ids the service gives them."""
EPOCH_ROUNDS: Final = 4
"""Kills after which nobody writes to the conversations from before, so that they can be erased."""


def epoch_of(round_number: int) -> int:
    """The epoch of a round."""
    return round_number // EPOCH_ROUNDS


@dataclass(slots=True)
class Call:
    """One Remember with its request id, and what is known of its fate."""

    request_id: str
    user_id: str
    conversation_id: str
    texts: tuple[str, ...]
    """Content of each turn."""
    repeats: bool = False
    """Whether its caller goes on repeating it until it is acknowledged, kills or not."""
    epoch: int = 0
    """The epoch in which it was made first."""
    is_imported: bool = False
    """Whether it is a turn of an import, which is repeated as a whole."""
    attempts: int = 0
    interaction_ids: tuple[str, ...] = ()
    """As acknowledged; empty as long as it is not."""
    conflicting_answers: int = 0
    """Acknowledgements of a repeat that named other interactions."""
    erased: set[str] = field(default_factory=set)
    """Markers of its turns that an erasure names."""

    def note_response(self, interaction_ids: tuple[str, ...]) -> None:
        """Note an acknowledgement."""
        if self.is_acknowledged and self.interaction_ids != interaction_ids:
            self.conflicting_answers += 1
        self.interaction_ids = self.interaction_ids or interaction_ids

    @property
    def is_acknowledged(self) -> bool:
        """True once an answer came."""
        return bool(self.interaction_ids)

    @property
    def markers(self) -> tuple[str, ...]:
        """The marker of each turn."""
        return tuple(f"{self.request_id}#{number}" for number in range(len(self.texts)))


@dataclass(slots=True)
class Removal:
    """One Erase with its request id, repeated until it is acknowledged."""

    request_id: str
    user_id: str
    conversation_id: str = ""
    """The conversation that goes; "" with no `memory_ids` for all that is the user's."""
    memory_ids: tuple[str, ...] = ()
    """The turns that go."""
    erasure_id: str = ""
    """As acknowledged; empty as long as it is not."""

    @property
    def is_acknowledged(self) -> bool:
        """True once an answer came."""
        return bool(self.erasure_id)


@dataclass(frozen=True, slots=True)
class LoggedTurn:
    """A turn as the conversation log has it."""

    interaction_id: str
    user_id: str
    conversation_id: str
    position: int
    marker: str
    content: str


@dataclass(frozen=True, slots=True)
class Derived:
    """A fact or note: what it says and where it comes from."""

    kind: str
    identifier: str
    user_id: str
    text: str
    derived_from: tuple[str, ...]


@dataclass(slots=True)
class Verdict:
    """Violations, by kind of damage."""

    counts: Counter[str] = field(default_factory=Counter)
    """`lost`, `duplicated`, `half`, `returned`, `audit`."""
    problems: list[str] = field(default_factory=list)
    """The first of them in words."""

    def add(self, damage: str, problem: str) -> None:
        """Note one violation."""
        self.counts[damage] += 1
        if len(self.problems) < PROBLEMS_SHOWN:
            self.problems.append(f"{damage}: {problem}")


@dataclass(frozen=True, slots=True, kw_only=True)
class DurabilityReport:
    """The outcome of a durability run."""

    kills: int
    """How often something was killed."""
    kills_by_variant: Mapping[str, int]
    """The same by what was killed."""
    calls: int
    """Remember calls made, repeats not counted."""
    repeated: int
    """Of these, calls that were made again with the same request id."""
    acknowledged: int
    """Turns of calls that were acknowledged."""
    unacknowledged: int
    """Turns of calls whose caller never got an answer; they may be in the log or not."""
    stored: int
    """Turns in the conversation log at the end."""
    lost: int
    """Acknowledged turns that are missing from the log or from a tier that was to have them."""
    duplicated: int
    """Turns, episodes, facts or notes that are there more than once."""
    half: int
    """Things without their source, calls stored in part, windows that differ from the log, dead letters."""
    returned: int
    """Erased turns, and what was made of them, that are there."""
    audit: int
    """Problems of the audit log against the checkpoints that were taken during the run."""
    erasures: int
    """Erasures, all acknowledged and done at the end."""
    erased: int
    """Turns that they named."""
    imports: int
    """Imports that came to their end."""
    jobs: int
    """Maintenance jobs that were run on a user by request."""
    audit_entries: int
    """Entries of the audit log that were checked."""
    unexpected: Mapping[str, int]
    """Responses with the code INTERNAL, UNKNOWN or DATA_LOSS to erasures and jobs. They are no damage by themselves."""
    converge_seconds: float
    """From the last restart until nothing waits."""
    restart_seconds: Sequence[float]
    """Each start after a kill until the gateway answers."""
    problems: Sequence[str]
    """The first violations in words."""

    @property
    def is_clean(self) -> bool:
        """True when nothing was lost, duplicated or left half, nothing erased came back, and the audit log verifies."""
        return not (self.lost or self.duplicated or self.half or self.returned or self.audit)


def check_log(calls: Iterable[Call], log: Sequence[LoggedTurn], verdict: Verdict) -> None:
    """The conversation log against the calls: acknowledged is there once, unacknowledged whole or not, erased gone."""
    by_marker: defaultdict[str, list[LoggedTurn]] = defaultdict(list)
    for turn in log:
        by_marker[turn.marker].append(turn)
    for marker, turns in by_marker.items():
        if len(turns) > 1:
            verdict.add("duplicated", f"turn {marker} is {len(turns)} times in the log")
    for call in calls:
        present = [by_marker.pop(marker, []) for marker in call.markers]
        if call.conflicting_answers:
            verdict.add("duplicated", f"repeats of {call.request_id} returned other interaction ids")
        for marker, turns in zip(call.markers, present, strict=True):
            if turns and marker in call.erased:
                verdict.add("returned", f"erased turn {marker} is in the log")
        if call.is_acknowledged:
            for marker, wanted, turns in zip(call.markers, call.interaction_ids, present, strict=True):
                if marker not in call.erased and wanted not in {turn.interaction_id for turn in turns}:
                    verdict.add("lost", f"acknowledged turn {marker} is not in the log as {wanted}")
        elif not call.erased and any(present) and not all(present):
            verdict.add("half", f"call {call.request_id} is in the log in part")
    for marker in by_marker:
        verdict.add("half", f"the log holds turn {marker}, which nobody wrote")
    shortened = {(call.user_id, call.conversation_id) for call in calls if call.erased}
    _check_positions(log, shortened, verdict)


def erased_ids(calls: Iterable[Call]) -> set[str]:
    """Interactions that were acknowledged and then erased."""
    return {
        interaction_id
        for call in calls
        for marker, interaction_id in zip(call.markers, call.interaction_ids, strict=False)
        if marker in call.erased
    }


def check_episodes(
    log: Sequence[LoggedTurn], episode_ids: Sequence[str], verdict: Verdict, *, erased: Set[str] = frozenset()
) -> None:
    """Episodes against the log: exactly one for each interaction, none besides."""
    counts = Counter(episode_ids)
    known = {turn.interaction_id for turn in log}
    for interaction_id in known - counts.keys():
        verdict.add("lost", f"interaction {interaction_id} has no active episode")
    for episode_id, count in counts.items():
        if count > 1:
            verdict.add("duplicated", f"episode {episode_id} is listed {count} times")
        if episode_id not in known:
            verdict.add(
                "returned" if episode_id in erased else "half", f"episode {episode_id} has no interaction in the log"
            )


def check_derived(
    log: Sequence[LoggedTurn], derived: Sequence[Derived], verdict: Verdict, *, erased: Set[str] = frozenset()
) -> None:
    """Facts and notes against the log: each source exists and counts once, and nothing is derived twice."""
    known = {turn.interaction_id for turn in log}
    seen: Counter[tuple[str, str, str, tuple[str, ...]]] = Counter()
    for item in derived:
        if len(set(item.derived_from)) != len(item.derived_from):
            verdict.add("duplicated", f"{item.kind} {item.identifier} names a source twice")
        for source in set(item.derived_from) - known:
            damage = "returned" if source in erased else "half"
            verdict.add(damage, f"{item.kind} {item.identifier} comes from {source}, which is not in the log")
        seen[item.kind, item.user_id, item.text, tuple(sorted(item.derived_from))] += 1
    for (kind, _, text, _), count in seen.items():
        if count > 1:
            verdict.add("duplicated", f"{kind} {text!r} was derived {count} times from the same source")


def check_window(
    log: Sequence[LoggedTurn], window: Sequence[str], *, size: int, verdict: Verdict, is_shortened: bool = False
) -> None:
    """A session's window against its conversation: the last turns, in order, each once.

    Args:
        log: The turns of one conversation.
        window: Turn ids of the window.
        size: How many turns the window keeps.
        verdict: Where violations go.
        is_shortened: Turns of the conversation were erased: the window may hold fewer than its size.
    """
    expected = [turn.interaction_id for turn in sorted(log, key=lambda turn: turn.position)][-size:]
    if is_shortened:
        expected = expected[len(expected) - len(window) :] if len(window) < len(expected) else expected
    place_of = {turn.interaction_id: str(turn.position) for turn in log}
    expected_places = [place_of[turn_id] for turn_id in expected]
    if list(window) != expected:
        name = f"{log[0].user_id}/{log[0].conversation_id}"
        damage = "duplicated" if len(set(window)) != len(window) else "half"
        found = [place_of.get(turn_id, turn_id) for turn_id in window]
        verdict.add(damage, f"the window of {name} has {found}, the end of its log is {expected_places}")


def _check_positions(log: Sequence[LoggedTurn], shortened: Set[tuple[str, str]], verdict: Verdict) -> None:
    positions: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for turn in log:
        positions[turn.user_id, turn.conversation_id].append(turn.position)
    for (user_id, conversation_id), found in positions.items():
        has_gaps = (user_id, conversation_id) not in shortened and sorted(found) != list(range(len(found)))
        if has_gaps or len(set(found)) != len(found):
            verdict.add("half", f"positions of {user_id}/{conversation_id} have gaps or repeats")
