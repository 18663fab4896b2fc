"""What items of a context window are worth, and which of them go. Pure functions (SPEC 1.8).

A tool result and the assistant response that called the tool are one unit: chat models refuse one without the other.
Everything else is a unit of its own. A unit goes or stays as a whole; it is worth as much as its best item, so that
nothing valuable goes because of its partner.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from services.session.context_window.config import PruningSettings
from services.session.context_window.model import ContextItem, ItemKind, ScoredItem, item_size_bytes

_MINUTE_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Moment:
    """When scores are meant for, and what is worked on then."""

    now: datetime
    current_task_id: str = ""  # empty: none


@dataclass(frozen=True, slots=True)
class Need:
    """How much a window has to lose."""

    token_count: int
    reason: str  # see `ContextSnapshot.reason`


@dataclass(frozen=True, slots=True)
class _Unit:
    items: tuple[ScoredItem, ...]
    is_sticky: bool

    @property
    def score(self) -> float:
        return max(scored.score for scored in self.items)

    @property
    def size_bytes(self) -> int:
        """About how many bytes it takes in a message."""
        return sum(item_size_bytes(one.item) for one in self.items)

    @property
    def rank(self) -> tuple[float, int]:
        """The lowest score first, ties by age."""
        return self.score, self.items[0].item.position


def need(
    token_count: int, incoming_tokens: int, max_tokens: int, *, force: bool, settings: PruningSettings
) -> Need | None:
    """How many tokens have to go; None where the window is below its threshold.

    Past the threshold, with what is about to be added, the configured share of the window goes, and as much more as
    makes room for the rest.
    """
    if token_count == 0:
        return None
    share = settings.removed_share * token_count
    threshold = settings.threshold_share * max_tokens
    if token_count + incoming_tokens > threshold:
        wanted = math.ceil(max(share, token_count + incoming_tokens - max_tokens))
        return Need(min(wanted, token_count), "threshold" if token_count > threshold else "incoming")
    return Need(math.ceil(share), "forced") if force else None


def score(item: ContextItem, dependents: int, moment: Moment, settings: PruningSettings) -> float:
    """What an item is worth, in [0, `score_max`].

    e^(-age / decay) x current task x (1 + bonus x dependents) x kind x relevance. An item from the future is new.
    """
    age_minutes = max((moment.now - item.create_time).total_seconds() / _MINUTE_SECONDS, 0.0)
    value = math.exp(-age_minutes / settings.decay_minutes)
    if moment.current_task_id and item.task_id == moment.current_task_id:
        value *= settings.current_task_factor
    value *= 1.0 + settings.dependent_bonus * dependents
    value *= settings.kind_factor(item.kind, calls_tools=bool(item.tool_calls)) * item.relevance
    return min(max(value, 0.0), settings.score_max)


def scored(items: Sequence[ContextItem], moment: Moment, settings: PruningSettings) -> tuple[ScoredItem, ...]:
    """All items with their scores, in their order."""
    dependents = Counter(needed for item in items for needed in set(item.dependency_ids))
    return tuple(ScoredItem(item, score(item, dependents[item.item_id], moment, settings)) for item in items)


def plan(
    items: Sequence[ContextItem], token_count: int, moment: Moment, settings: PruningSettings
) -> tuple[ScoredItem, ...]:
    """The items to remove so that at least so many tokens are gone, or all that may go: the lowest score first.

    Not more than `pruned_bytes_max`, so that a message holds them; the next pruning goes on.
    """
    chosen: list[ScoredItem] = []
    bytes_left = settings.pruned_bytes_max
    for unit in _lowest(_units(scored(items, moment, settings), set()), token_count, 0, overhead_tokens=0):
        bytes_left -= unit.size_bytes
        if bytes_left < 0 and chosen:
            break
        chosen += unit.items
    return tuple(chosen)


def select(
    items: Sequence[ContextItem],
    token_budget: int,
    moment: Moment,
    settings: PruningSettings,
    *,
    required_ids: Collection[str],
    overhead_tokens: int,
    bytes_max: int,
) -> tuple[ScoredItem, ...]:
    """The items to leave out so that the others fit into a budget, where that is possible: the lowest score first.

    They fit into the bytes of a message as well.
    """
    tokens = sum(item.token_count + overhead_tokens for item in items) - token_budget
    size_bytes = sum(map(item_size_bytes, items)) - bytes_max
    if tokens <= 0 and size_bytes <= 0:
        return ()
    units = _units(scored(items, moment, settings), required_ids)
    return tuple(
        one for unit in _lowest(units, tokens, size_bytes, overhead_tokens=overhead_tokens) for one in unit.items
    )


def _lowest(units: Sequence[_Unit], token_count: int, byte_count: int, *, overhead_tokens: int) -> list[_Unit]:
    """The lowest units that may go, until they have so many tokens and bytes together."""
    chosen: list[_Unit] = []
    for unit in sorted((unit for unit in units if not unit.is_sticky), key=lambda unit: unit.rank):
        if token_count <= 0 and byte_count <= 0:
            break
        chosen.append(unit)
        token_count -= sum(one.item.token_count + overhead_tokens for one in unit.items)
        byte_count -= unit.size_bytes
    return chosen


def _units(items: Sequence[ScoredItem], required_ids: Collection[str]) -> list[_Unit]:
    members: dict[str, list[ScoredItem]] = {}
    leader_of = _leaders([one.item for one in items])
    for one in items:
        members.setdefault(leader_of.get(one.item.item_id, one.item.item_id), []).append(one)
    return [
        _Unit(tuple(unit), any(one.item.is_sticky or one.item.item_id in required_ids for one in unit))
        for unit in members.values()
    ]


def _leaders(items: Sequence[ContextItem]) -> Mapping[str, str]:
    """For each tool result the response that called the tool, by their item ids; results without their call have none.

    Models may number their calls anew in each response, so a result belongs to the last response before it with its
    call, or to the first one behind it where there is none before.
    """
    callers: dict[str, list[ContextItem]] = {}
    for item in items:
        if item.kind is ItemKind.ASSISTANT_RESPONSE:
            for call in item.tool_calls:
                callers.setdefault(call.call_id, []).append(item)
    leaders: dict[str, str] = {}
    for item in items:
        if item.kind is ItemKind.TOOL_RESULT and (found := callers.get(item.tool_call_id)):
            before = [caller for caller in found if caller.position < item.position]
            leaders[item.item_id] = (before[-1] if before else found[0]).item_id
    return leaders
