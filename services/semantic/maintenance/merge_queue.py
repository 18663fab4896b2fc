"""The queue of groups of similar facts that nobody has decided about: how a run of the merging job changes it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, TypeAlias, cast

from services.common.maintenance import Change
from services.common.maintenance.grounds import grounds
from services.common.maintenance.model import Json
from services.semantic.facts.merge_groups import MergeGroup, MergeGroupId, MergeGroupWriter
from services.semantic.facts.model import FactId

Apart: TypeAlias = Mapping[FactId, frozenset[FactId]]
"""For each fact those that were decided to say something else."""

_QUEUE: Final = "queue_merge"
_WITHDRAW: Final = "withdraw_merge"


def apart_of(groups: Iterable[MergeGroup]) -> Apart:
    """Returns what groups whose facts are kept apart mean for each of these."""
    found: dict[FactId, set[FactId]] = defaultdict(set)
    for group in groups:
        for fact_id in group.fact_ids:
            found[fact_id].update(group.fact_ids)
    return {fact_id: frozenset(others - {fact_id}) for fact_id, others in found.items()}


def planned(
    wanted: Sequence[Sequence[FactId]],
    waiting: Sequence[MergeGroup],
    *,
    groups_max: int,
    now: datetime,
    texts: Mapping[FactId, str],
    undone: frozenset[str],
) -> list[Change]:
    """The changes that make the groups of now wait and no others: what changed since is proposed as it is now.

    Args:
        wanted: Groups of facts that may say the same, the most similar first.
        waiting: Those that wait.
        groups_max: How many may wait.
        now: When.
        texts: What the facts say.
        undone: Grounds of changes that were taken back: these are left out, and others take their places.
    """

    def change(action: str, group: MergeGroup) -> Change:
        return _change(action, group, [texts[fact_id] for fact_id in group.fact_ids if fact_id in texts])

    groups = {group.group_id: group for group in (MergeGroup.waiting(facts, at=now) for facts in wanted)}
    known = {group.group_id: group for group in waiting}
    withdrawn = [change(_WITHDRAW, group) for group_id, group in known.items() if group_id not in groups]
    obsolete = [each for each in withdrawn if undone.isdisjoint(each.grounds)]
    room = groups_max - (len(known) - len(obsolete))
    queued = [change(_QUEUE, group) for group_id, group in groups.items() if group_id not in known]
    new = [each for each in queued if undone.isdisjoint(each.grounds)][: max(0, room)]
    return [*obsolete, *new]


async def applied(writer: MergeGroupWriter, changes: Sequence[Change]) -> list[Change]:
    """Makes those of the changes that are of the queue; which were made."""
    withdrawn = {change.target: change for change in changes if change.action == _WITHDRAW}
    queued = {change.target: change for change in changes if change.action == _QUEUE}
    gone = await writer.withdraw([MergeGroupId(target) for target in withdrawn]) if withdrawn else []
    new = await writer.queue([_group(change) for change in queued.values()]) if queued else []
    return [*(withdrawn[group_id] for group_id in gone), *(queued[group_id] for group_id in new)]


async def undone(writer: MergeGroupWriter, changes: Sequence[Change]) -> int:
    """Takes those of the changes back that are of the queue; how many."""
    queued = [MergeGroupId(change.target) for change in changes if change.action == _QUEUE]
    withdrawn = [_group(change) for change in changes if change.action == _WITHDRAW]
    gone = await writer.withdraw(queued) if queued else []
    again = await writer.queue(withdrawn) if withdrawn else []
    return len(gone) + len(again)


def _change(action: str, group: MergeGroup, texts: Sequence[str]) -> Change:
    facts: dict[str, Json] = {"facts": list(group.fact_ids), "time": group.create_time.isoformat()}
    return Change(action, group.group_id, 0, facts, (grounds(action, group.fact_ids, texts=texts),))


def _group(change: Change) -> MergeGroup:
    facts = cast("Sequence[str]", change.facts["facts"])
    return MergeGroup.waiting(map(FactId, facts), at=datetime.fromisoformat(str(change.facts["time"])))
