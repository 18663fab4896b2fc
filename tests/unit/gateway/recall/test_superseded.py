"""Statements that hold no more, in a recall."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from mneme.semantic.internal.v1.semantic_pb2 import GetMarksResponse
from mneme.semantic.v1 import supersessions_pb2
from services.common.cache import OwnerCache
from services.gateway.recall.model import RankedEpisode
from services.gateway.recall.superseded import (
    NOTHING,
    OwnerSuperseded,
    SupersededCache,
    covering,
    quoted,
    successors,
    with_successors,
)


def one(
    loser: str, winner: str, statement: str = "I live in Ghent.", *, whole: bool = True, end: str = "2025-03-02T10:00",
    reason: Any = supersessions_pb2.SUPERSESSION_REASON_UPDATED,
) -> supersessions_pb2.Supersession:  # fmt: skip
    message = supersessions_pb2.Supersession(
        supersession_id=f"{loser}/{winner}",
        memory_id=loser,
        superseded_by=winner,
        statement=statement,
        whole_turn=whole,
        reason=reason,
    )
    message.end_time.FromDatetime(datetime.fromisoformat(end))
    return message


def ranked(*names: str) -> list[RankedEpisode]:
    return [RankedEpisode(name, 1.0 / place, (), ()) for place, name in enumerate(names, 1)]


@pytest.mark.parametrize(
    ("as_of", "is_marked"),
    [("2025-03-01T23:00", False), ("2025-03-02T09:00", False), ("2025-03-02T11:00", True), ("2025-03-02T00:00", True)],
)
def test_spec_3_7_what_was_superseded_later_is_not_marked_then(as_of: str, *, is_marked: bool) -> None:
    known = OwnerSuperseded.of(1, [one("a", "b")])
    assert ("a" in known.at(datetime.fromisoformat(as_of).replace(tzinfo=UTC))) is is_marked


def test_spec_3_12_what_was_corrected_never_held() -> None:
    known = OwnerSuperseded.of(1, [one("a", "b", reason=supersessions_pb2.SUPERSESSION_REASON_CORRECTED)])
    assert known.at(datetime(2020, 1, 1, tzinfo=UTC))


def test_the_turn_that_stands_comes_before_the_one_that_it_supersedes() -> None:
    known = OwnerSuperseded.of(1, [one("old", "new"), one("new", "newest")]).by_turn
    found = with_successors(ranked("x", "old", "y"), known, count_max=10)
    assert [episode.episode_id for episode in found] == ["x", "newest", "new", "old", "y"]


def test_a_turn_that_is_ranked_is_not_added_again() -> None:
    known = OwnerSuperseded.of(1, [one("old", "new")]).by_turn
    found = with_successors(ranked("old", "new"), known, count_max=10)
    assert [episode.episode_id for episode in found] == ["old", "new"]


def test_no_more_turns_are_added_than_allowed() -> None:
    known = OwnerSuperseded.of(1, [one("a", "a2"), one("b", "b2")]).by_turn
    assert len(with_successors(ranked("a", "b"), known, count_max=1)) == 3


def test_a_circle_ends() -> None:
    known = OwnerSuperseded.of(1, [one("a", "b"), one("b", "a")]).by_turn
    assert [episode.episode_id for episode in with_successors(ranked("a"), known, count_max=5)] == ["b", "a"]


def test_a_fact_is_superseded_with_all_turns_that_it_was_made_from() -> None:
    known = OwnerSuperseded.of(1, [one("a", "b")]).by_turn
    assert covering(known, ["a"], "Ada lives in Ghent") is not None
    assert covering(known, ["a", "c"], "Ada lives in Ghent") is None
    assert covering(known, [], "Ada lives in Ghent") is None


def test_of_a_turn_that_says_more_only_what_says_the_same_is_superseded() -> None:
    known = OwnerSuperseded.of(1, [one("a", "b", "I live in Ghent near the river.", whole=False)]).by_turn
    assert covering(known, ["a"], "Ada lives in Ghent near the river") is not None
    assert covering(known, ["a"], "Ada plays the tuba") is None


def test_a_note_is_superseded_with_the_question_that_it_quotes() -> None:
    known = OwnerSuperseded.of(1, [one("a", "b", "No, I'm not a member of the union")]).by_turn
    answer = "Assistant answered: They check heating bills."
    assert quoted(known, f"Ada asked: No, I'm not a member of the union, is it worth it? {answer}") is not None
    assert quoted(known, f"Ada asked: Is the union worth it? {answer}") is None
    assert quoted(known, "Ada: No, I'm not a member of the union, I asked: why? They answered: because.") is None


def test_spec_3_7_a_quoted_question_counts_from_when_its_statement_was_superseded() -> None:
    known = OwnerSuperseded.of(1, [one("a", "b", "No, I'm not a member of the union")])
    note = "Ada asked: No, I'm not a member of the union, is it worth it? Assistant answered: Yes."
    assert quoted(known.at(datetime(2025, 3, 3, tzinfo=UTC)), note) is not None
    assert quoted(known.at(datetime(2025, 3, 1, tzinfo=UTC)), note) is None


def test_the_successors_of_turns_are_found_through_those_between() -> None:
    known = OwnerSuperseded.of(1, [one("a", "b"), one("b", "c"), one("x", "y")]).by_turn
    assert successors(known, ["a", "q"]) == {"b", "c"}


async def test_what_is_cached_is_of_one_user() -> None:
    cache = SupersededCache(OwnerCache())
    await cache.update("acme", "ada", NOTHING, GetMarksResponse(revision=3, superseded=[one("a", "b")]))
    assert cache.get("acme", "ada").revision == 3
    assert cache.get("acme", "ben").revision is None


async def test_added_marks_join_those_that_are_cached() -> None:
    cache = SupersededCache(OwnerCache())
    before = await cache.update("acme", "ada", NOTHING, GetMarksResponse(revision=3, superseded=[one("a", "b")]))
    pair = one("p", "q")
    added = GetMarksResponse(revision=4, incremental=True, superseded=[one("a", "c"), one("a", "b")], reduced=[pair])
    after = await cache.update("acme", "ada", before, added)
    assert [found.superseded_by for found in after.by_turn["a"]] == ["c", "b"]
    assert after.reduced == {"p": [pair], "q": [pair]}
    assert after == cache.get("acme", "ada")
    assert before.by_turn == {"a": [one("a", "b")]}


async def test_marks_that_were_removed_are_gone_from_the_cache() -> None:
    cache = SupersededCache(OwnerCache())
    before = await cache.update("acme", "ada", NOTHING, GetMarksResponse(revision=3, superseded=[one("a", "b")]))
    after = await cache.update("acme", "ada", before, GetMarksResponse(revision=4, superseded=[one("x", "y")]))
    assert set(after.by_turn) == {"x"}


async def test_marks_of_the_same_revision_stay() -> None:
    cache = SupersededCache(OwnerCache())
    before = await cache.update("acme", "ada", NOTHING, GetMarksResponse(revision=3, superseded=[one("a", "b")]))
    assert await cache.update("acme", "ada", before, GetMarksResponse(revision=3)) is before


def test_marks_of_a_time_are_those_of_each_turn_then() -> None:
    known = OwnerSuperseded.of(1, [one("a", "b")])
    later, earlier = known.at(datetime(2025, 3, 3, tzinfo=UTC)), known.at(datetime(2025, 3, 1, tzinfo=UTC))
    assert (list(later), len(later), bool(later)) == (["a"], 1, True)
    assert (list(earlier), len(earlier), bool(earlier)) == ([], 0, False)
    assert earlier.get("a") is None
