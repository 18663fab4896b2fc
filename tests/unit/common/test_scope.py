"""Who sees what: places, isolated contexts and grants."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mneme.common.v1 import common_pb2
from services.common.auth import Principal, Role, set_current_principal
from services.common.convert import scope_from_proto, scope_to_proto
from services.common.errors import InvalidArgument
from services.common.reading import reader_from_proto
from services.common.scope import GLOBAL_SCOPE, GrantedReader, Scope, ScopeLevel

_IDS = st.sampled_from(["", "a", "b", "2", "ctx"])


@st.composite
def scopes(draw: st.DrawFn) -> Scope:
    level = draw(st.sampled_from(ScopeLevel))
    ids = [draw(_IDS) if place < level - 1 else "" for place in range(3)]
    if level > ScopeLevel.GLOBAL and not ids[level - 2]:
        ids[level - 2] = "x"
    return Scope(level, *ids, context_id=draw(_IDS))  # type: ignore[misc]  # three ids are never five arguments


PROJECT = Scope(ScopeLevel.PROJECT, "p1")
SESSION = Scope(ScopeLevel.SESSION, "p1", "s1")
SIBLING = Scope(ScopeLevel.SESSION, "p1", "s2")
TASK = Scope(ScopeLevel.TASK, "p1", "s1", "t1")
AGENT = Scope(ScopeLevel.SESSION, "p1", "s1", context_id="agent-a")
AGENT_TASK = Scope(ScopeLevel.TASK, "p1", "s1", "t1", context_id="agent-a")
OTHER_AGENT = Scope(ScopeLevel.SESSION, "p1", "s1", context_id="agent-b")


@given(scopes(), scopes())
def test_spec_5_3_a_key_is_one_place(one: Scope, other: Scope) -> None:
    assert Scope.from_key(one.key) == one
    assert (one.key == other.key) == (one == other)


@given(scopes())
def test_spec_5_3_a_scope_survives_the_wire(scope: Scope) -> None:
    assert scope_from_proto(scope_to_proto(scope), present=True, field_path="scope") == scope


@given(scopes(), scopes())
def test_spec_5_3_nothing_is_seen_across_the_border_of_a_context(one: Scope, other: Scope) -> None:
    if one.context_id != other.context_id:
        assert not one.sees(other)


@given(scopes(), scopes())
def test_spec_5_3_what_is_seen_is_at_the_same_level_or_above(one: Scope, other: Scope) -> None:
    if one.sees(other):
        assert other == one or other.level < one.level


def test_spec_5_3_an_isolated_context_has_places_of_its_own() -> None:
    assert AGENT_TASK.visible_keys() == (
        Scope(context_id="agent-a").key,
        Scope(ScopeLevel.PROJECT, "p1", context_id="agent-a").key,
        AGENT.key,
        AGENT_TASK.key,
    )
    shared = [GLOBAL_SCOPE, PROJECT, SESSION, TASK]
    for inside, outside in itertools.product([AGENT, AGENT_TASK], [*shared, OTHER_AGENT]):
        assert not inside.sees(outside)
        assert not outside.sees(inside)


def test_spec_5_3_keys_of_the_shared_hierarchy_are_those_of_before_contexts() -> None:
    assert [scope.key for scope in (GLOBAL_SCOPE, PROJECT, SESSION, TASK)] == [
        "1",
        "2\x1fp1",
        "3\x1fp1\x1fs1",
        "4\x1fp1\x1fs1\x1ft1",
    ]


def test_spec_5_3_a_granted_place_is_seen_by_itself() -> None:
    reader = GrantedReader(PROJECT, (SESSION, PROJECT))
    assert reader.visible_keys() == (GLOBAL_SCOPE.key, PROJECT.key, SESSION.key)
    assert reader.sees(SESSION)
    assert not reader.sees(TASK)
    assert not reader.sees(SIBLING)
    isolated = GrantedReader(AGENT, (OTHER_AGENT,))
    assert isolated.sees(OTHER_AGENT)
    assert not isolated.sees(SESSION)
    assert not isolated.sees(Scope(context_id="agent-b"))


def test_a_context_id_is_checked_like_the_others() -> None:
    message = common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_GLOBAL, context_id="a\x1fb")
    with pytest.raises(InvalidArgument) as caught:
        scope_from_proto(message, present=True, field_path="scope")
    assert [violation.field_path for violation in caught.value.violations] == ["scope.context_id"]


@pytest.fixture(autouse=True)
def nobody_afterwards() -> Iterator[None]:
    yield
    set_current_principal(None)


def test_spec_5_3_a_reader_sees_what_its_identity_says_is_granted_to_it() -> None:
    set_current_principal(Principal("acme", "agent", Role.READER, granted_scopes=(SIBLING.key,)))
    reader = reader_from_proto(scope_to_proto(PROJECT), present=True)
    assert reader.visible_keys() == (GLOBAL_SCOPE.key, PROJECT.key, SIBLING.key)


@pytest.mark.parametrize("principal", [None, Principal("acme", "agent", Role.ADMIN)], ids=["nobody", "a key"])
def test_spec_5_3_a_reader_without_grants_sees_its_path_alone(principal: Principal | None) -> None:
    set_current_principal(principal)
    assert reader_from_proto(scope_to_proto(PROJECT), present=True) == PROJECT
    assert reader_from_proto(common_pb2.Scope(), present=False) == GLOBAL_SCOPE
