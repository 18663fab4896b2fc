"""Pages of what prunings of a context window did."""

from __future__ import annotations

from mneme.session.v1 import context_window_pb2 as pb
from services.common.paging import PageTokens
from services.session.context_window.commands import list_identity
from services.session.context_window.convert import snapshots_response
from services.session.context_window.model import ContextSnapshot, ItemKind, SnapshotItem, SnapshotPage
from services.session.store import StoreResponse
from tests.support.clock import START

TOKENS = PageTokens(b"secret")
REQUEST = pb.ListContextSnapshotsRequest(user_id="ada", conversation_id="c1")


def page(*, has_more: bool) -> StoreResponse[SnapshotPage]:
    items = tuple(SnapshotItem(f"item-{number}", ItemKind.TOOL_RESULT, 1, 0.5) for number in range(50))
    snapshots = tuple(
        ContextSnapshot(
            snapshot_id=f"s{number}",
            create_time=START,
            reason="forced",
            token_count_before=50,
            token_count_after=0,
            stayed=(),
            removed=items,
        )
        for number in range(3)
    )
    return StoreResponse(SnapshotPage(snapshots, has_more))


def listed(bytes_max: int, *, has_more: bool = False) -> tuple[list[str], object]:
    found = snapshots_response(page(has_more=has_more), REQUEST, "acme", TOKENS, bytes_max=bytes_max)
    cursor = TOKENS.decode(found.next_page_token, tenant_id="acme", query=list_identity(REQUEST))
    return [snapshot.snapshot_id for snapshot in found.snapshots], cursor


def test_spec_1_8_a_page_of_snapshots_ends_before_it_is_too_large_for_an_answer() -> None:
    assert listed(1_000_000) == (["s0", "s1", "s2"], None)
    assert listed(1_000_000, has_more=True) == (["s0", "s1", "s2"], ("s2",))
    one_bytes = snapshots_response(page(has_more=False), REQUEST, "acme", TOKENS, bytes_max=1).ByteSize()
    assert listed(2 * one_bytes) == (["s0", "s1"], ("s1",))
    assert listed(1) == (["s0"], ("s0",)), "a page is never empty where there is more"
