"""What a query says must stay."""

from __future__ import annotations

import pytest

from services.gateway.erasure.exceptions import is_kept, read_kept, split


@pytest.mark.parametrize(
    ("query", "asked", "kept"),
    [
        ("my neighbour Martha, not my grandmother", "my neighbour Martha", ("my grandmother",)),
        ("everything about Clara, but keep my sister", "everything about Clara", ("my sister",)),
        ("Paul, except my boss", "Paul", ("my boss",)),
        ("Martha (not the one from accounting)", "Martha", ("the one from accounting",)),
        ("the house, not the flat and not the garage", "the house", ("the flat", "the garage")),
        ("the trip except what I said about the hotel", "the trip", ("the hotel",)),
        ("my neighbour Martha, leave my sister alone", "my neighbour Martha", ("my sister",)),
        ("that I do not smoke", "that I do not smoke", ()),
        ("that I'm not vegan", "that I'm not vegan", ()),
        ("not my grandmother", "not my grandmother", ()),
    ],
)
def test_spec_3_13_a_query_may_except_something(query: str, asked: str, kept: tuple[str, ...]) -> None:
    assert split(query) == (asked, kept)


def test_spec_3_13_a_turn_with_what_is_excepted_stays() -> None:
    kept = read_kept(("the hotel bill", "my sister Clara"))
    assert is_kept(kept, "The hotel bill of the trip was 640 euros.")
    assert is_kept(kept, "My sister Clara came along.")
    assert not is_kept(kept, "The trip was wet.")
    assert not is_kept(kept, "My sister Berta came along.")
