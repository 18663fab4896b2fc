"""From the messages about groups of similar facts to results."""

from __future__ import annotations

from mneme.semantic.v1 import facts_pb2
from mneme_client.enums_decisions import (
    MergeGroupState,
)
from mneme_client.from_wire import moment
from mneme_client.from_wire_resources import fact
from mneme_client.results_merges import MergeGroup


def merge_group(message: facts_pb2.MergeGroup) -> MergeGroup:
    """A group."""
    return MergeGroup(
        group_id=message.group_id,
        state=MergeGroupState(message.state),
        facts=tuple(map(fact, message.facts)),
        survivor_fact_id=message.survivor_fact_id,
        create_time=moment(message, "create_time"),
        decide_time=moment(message, "decide_time"),
        etag=message.etag,
    )
