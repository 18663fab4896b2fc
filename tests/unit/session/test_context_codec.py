"""Snapshots of context windows as they are stored, those of earlier versions included."""

from __future__ import annotations

import json

from services.session.context_window.model import ContextSnapshot, ItemKind, SnapshotItem
from services.session.context_window.stores.codec import decode_snapshot, encode_snapshot
from tests.contract.session_samples import NOON

SNAPSHOT = ContextSnapshot(
    snapshot_id="s1",
    create_time=NOON,
    reason="forced",
    token_count_before=20,
    token_count_after=10,
    stayed=(SnapshotItem("b", ItemKind.USER_MESSAGE, 10, 1.5, relevance=0.75),),
    removed=(SnapshotItem("a", ItemKind.TOOL_RESULT, 10, 0.25, "e1", 0.5),),
)


def test_spec_1_8_a_snapshot_is_read_as_it_was_written() -> None:
    assert decode_snapshot(encode_snapshot(SNAPSHOT)) == SNAPSHOT


def test_spec_1_8_snapshots_of_an_earlier_version_have_no_relevance_and_its_readers_know_the_items() -> None:
    fields = json.loads(encode_snapshot(SNAPSHOT))
    assert [len(item) for item in (*fields["stayed"], *fields["removed"])] == [5, 5]
    del fields["relevance"]
    found = decode_snapshot(json.dumps(fields).encode())
    assert [item.relevance for item in (*found.stayed, *found.removed)] == [None, None]
    assert [item.score for item in (*found.stayed, *found.removed)] == [1.5, 0.25]
