"""Filters of mem0's API: what they match, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from services.gateway.http.mem0.filters import created_between, read_filter, read_time
from services.gateway.http.mem0.places import Place, place_of
from services.gateway.http.mem0.refused import RefusedError

MEMORY = {
    "id": "m1",
    "memory": "Pay the Invoice of March",
    "agent_id": None,
    "app_id": None,
    "run_id": "r1",
    "metadata": {"kind": "task", "visits": 3},
    "created_at": "2026-03-01T10:00:00+00:00",
    "updated_at": "2026-03-02T10:00:00+00:00",
}


@pytest.mark.parametrize(
    ("condition", "is_wanted"),
    [
        ({"metadata": {"kind": "task"}}, True),
        ({"metadata": {"kind": "fact"}}, False),
        ({"metadata": {"visits": {"gt": 2, "lte": 3}}}, True),
        ({"metadata": {"visits": {"gt": "2"}}}, False),  # a number and a text do not compare
        ({"metadata": {"missing": {"ne": 1}}}, True),
        ({"keywords": {"icontains": "invoice"}}, True),
        ({"keywords": {"contains": "invoice"}}, False),
        ({"memory_ids": ["m1", "m2"]}, True),
        ({"memory_ids": {"in": ["m2"]}}, False),
        ({"created_at": {"gte": "2026-03-01", "lt": "2026-03-02"}}, True),
        ({"updated_at": {"lt": "2026-03-02T11:00:00+02:00"}}, False),
        ({"NOT": [{"keywords": {"contains": "Invoice"}}]}, False),
        ({"NOT": {"metadata": {"kind": "fact"}}}, True),
        ({"OR": [{"metadata": {"kind": "fact"}}, {"keywords": {"contains": "March"}}]}, True),
        ({"OR": [{"metadata": {"kind": "fact"}}, {"AND": [{"metadata": {"kind": "task"}}]}]}, True),
        ({"run_id": "*"}, True),
        ({"run_id": {"in": ["r1", "r2"]}}, True),
        ({"run_id": {"ne": "r1"}}, False),
        ({"run_id": "r1", "agent_id": "*"}, False),
    ],
)
def test_spec_9_5_conditions(condition: dict[str, Any], is_wanted: bool) -> None:
    wanted = read_filter({"AND": [{"user_id": "ana"}, {"run_id": "*"}, condition]})
    assert all(holds(MEMORY) for holds in wanted.all_conditions()) is is_wanted


def test_spec_9_5_an_entity_that_is_not_named_must_be_null() -> None:
    wanted = read_filter({"user_id": "ana"})
    assert not all(holds(MEMORY) for holds in wanted.all_conditions())
    assert all(holds({**MEMORY, "run_id": None}) for holds in wanted.all_conditions())


@pytest.mark.parametrize(
    "filters",
    [
        None,
        [],
        {"agent_id": "a"},
        {"user_id": "*"},
        {"user_id": {"in": ["a", "b"]}},
        {"AND": [{"user_id": "a"}, {"user_id": "b"}]},
        {"OR": [{"user_id": "a"}]},
        {"user_id": "a", "NOT": [{"run_id": "r"}]},
        {"user_id": "a", "categories": {"in": ["food"]}},
        {"user_id": "a", "tenant": "other"},
        {"user_id": "a", "metadata": {"k": {"near": 1}}},
        {"user_id": "a", "metadata": "k"},
        {"user_id": "a", "memory_ids": {"in": "m1"}},
        {"user_id": "a", "created_at": {"gt": "yesterday"}},
        {"user_id": "a", "keywords": {"NOT": "x"}},
        {"AND": [{"user_id": "a"}, *({"metadata": {"k": 1}} for _ in range(100))]},
    ],
)
def test_spec_9_5_what_cannot_be_answered_is_refused(filters: Any) -> None:
    with pytest.raises(RefusedError):
        read_filter(filters)


def test_spec_9_5_filters_are_bounded_in_depth() -> None:
    filters: dict[str, Any] = {"user_id": "a"}
    for _ in range(10):
        filters = {"AND": [filters]}
    with pytest.raises(RefusedError, match="nested"):
        read_filter(filters)
    negated: dict[str, Any] = {"keywords": "x"}
    for _ in range(10):
        negated = {"NOT": negated}
    with pytest.raises(RefusedError, match="nested"):
        read_filter({"user_id": "a", **negated})


def test_spec_9_5_a_search_names_one_place() -> None:
    assert read_filter({"user_id": "ana", "run_id": {"eq": "r"}}, {"agent_id": "a"}).place() == Place(
        "ana", agent_id="a", run_id="r"
    )
    for entity in ({"run_id": "*"}, {"agent_id": {"in": ["a"]}}, {"app_id": None}):
        with pytest.raises(RefusedError, match="one entity"):
            read_filter({"user_id": "ana", **entity}).place()


def test_spec_9_5_a_date_as_an_end_means_all_of_that_day() -> None:
    assert all(holds(MEMORY) for holds in created_between("2026-03-01", "2026-03-01"))
    assert not all(holds(MEMORY) for holds in created_between(None, "2026-02-28"))


def test_spec_9_5_times_are_read_as_seconds_dates_and_rfc_3339() -> None:
    assert read_time(1_767_225_600) == read_time("2026-01-01") == read_time("2026-01-01T01:00:00+01:00")
    not_times: list[Any] = [True, None, [], "soon", 1e30]
    for wrong in not_times:
        with pytest.raises(RefusedError):
            read_time(wrong)


@pytest.mark.parametrize(
    "place",
    [
        Place("ana"),
        Place("ana", agent_id="planner"),
        Place("ana", agent_id="a&b=c", app_id="x y", run_id="Zürich"),
        Place("ana", agent_id="0" * 36, app_id="1" * 36, run_id="2" * 36),
    ],
)
def test_spec_9_5_a_place_is_a_context_of_its_own(place: Place) -> None:
    assert place_of("ana", place.scope) == place


def test_spec_9_5_scopes_of_others_are_no_places() -> None:
    scope = Place("ana").scope
    scope.context_id = "agent-a"
    assert place_of("ana", scope) is None
    with pytest.raises(RefusedError, match="128"):
        _ = Place("ana", agent_id="a" * 128).scope
