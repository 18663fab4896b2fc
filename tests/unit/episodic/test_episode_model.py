from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.turns import Attachment
from services.episodic.model import (
    POSITION_MAX,
    EpisodeKey,
    Owner,
    TenantId,
    UserId,
    decay_factor,
    episode_key,
    episode_pieces,
    episode_text,
    neighbour_keys,
    place,
)
from tests.support.clock import START

OWNER = Owner(TenantId("acme"), UserId("ann"))


def test_spec_2_6_hyperbolic_decay_halves_in_a_year() -> None:
    def factor(days: float) -> float:
        return decay_factor(START, now=START + timedelta(days=days), scale_days=365)

    assert factor(0) == 1.0
    assert factor(365) == pytest.approx(0.5)
    assert factor(3 * 365) == pytest.approx(0.25)
    assert factor(-10) == 1.0


@given(st.integers(0, POSITION_MAX), st.integers(0, 5))
def test_neighbours_are_the_turns_around_in_the_same_session(position: int, radius: int) -> None:
    expected = [
        episode_key(OWNER, "s", near)
        for near in range(position - radius, position + radius + 1)
        if near != position and 0 <= near <= POSITION_MAX
    ]
    both = [episode_key(OWNER, "t", POSITION_MAX), episode_key(OWNER, "s", position)]
    assert neighbour_keys(both[1:], radius) == expected
    assert neighbour_keys(both, radius) == [*neighbour_keys(both[:1], radius), *expected]


def test_keys_tell_tenants_users_sessions_and_positions_apart() -> None:
    keys = {
        episode_key(Owner(TenantId(tenant), UserId(user)), session, position)
        for tenant in ("a", "b")
        for user in ("a", "b")
        for session in ("a", "b")
        for position in (0, 1, POSITION_MAX)
    }
    assert len(keys) == 24


@given(st.integers(0, 2**112 - 1))
def test_places_fit_a_signed_integer_of_64_bits(key: int) -> None:
    key = key & ~(1 << 31)  # positions are below 2^31
    assert 0 <= place(EpisodeKey(key)) < 2**63


def test_the_text_joins_query_response_and_captions() -> None:
    cat = (Attachment(caption="a cat"),)
    assert episode_text("look", "nice", cat) == "look\nnice [photo: a cat]"
    assert episode_text("", "nice", ()) == "nice"
    assert episode_text(" ", "", cat) == "[photo: a cat]"


def test_pieces_beyond_the_limit_are_left_out() -> None:
    text = " ".join(f"Sentence number {n} is here." for n in range(50))
    pieces = episode_pieces(text, piece_chars=100, pieces_max=3)
    assert len(pieces) == 3
    assert text.startswith(pieces[0])
