from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mneme.common.v1 import common_pb2
from services.common.errors import InvalidArgument, Reason
from services.common.paging import Cursor, PageTokens, cut_page, fitting, listed_bytes

TOKENS = PageTokens(b"a secret of at least thirty-two bytes")
QUERY: Cursor = ("ListSessions", "alice", 1)

cursors = st.lists(
    st.text(max_size=20) | st.integers() | st.floats(allow_nan=False, allow_infinity=False), max_size=4
).map(tuple)


@given(cursors, cursors)
def test_a_cursor_comes_back(cursor: Cursor, query: Cursor) -> None:
    token = TOKENS.encode(cursor, tenant_id="acme", query=query)

    assert TOKENS.decode(token, tenant_id="acme", query=query) == cursor


def test_tokens_travel_in_urls() -> None:
    token = TOKENS.encode(("é\x00/+?", 1, 0.1), tenant_id="acme", query=QUERY)

    assert token.isascii()
    assert token.replace("-", "").replace("_", "").isalnum()


def test_the_first_page_has_no_token() -> None:
    assert TOKENS.decode("", tenant_id="acme", query=QUERY) is None
    assert TOKENS.next_token(None, tenant_id="acme", query=QUERY) == ""


@pytest.mark.parametrize(
    ("tenant", "query"),
    [
        ("other", QUERY),
        ("acme", ("ListSessions", "bob", 1)),
        ("acme", ("ListTurns", "alice", 1)),
        ("acme", QUERY[:2]),
    ],
)
def test_a_token_is_bound_to_query_and_tenant(tenant: str, query: Cursor) -> None:
    token = TOKENS.encode(("x",), tenant_id="acme", query=QUERY)

    with pytest.raises(InvalidArgument) as caught:
        TOKENS.decode(token, tenant_id=tenant, query=query)
    assert caught.value.reason is Reason.INVALID_PAGE_TOKEN
    assert [v.field_path for v in caught.value.violations] == ["page_token"]


def test_parts_cannot_move_between_tenant_and_query() -> None:
    token = TOKENS.encode(("x",), tenant_id="a", query=("b", "c"))

    with pytest.raises(InvalidArgument):
        TOKENS.decode(token, tenant_id="ab", query=("c",))


@given(st.text(max_size=60).filter(bool))
def test_noise_is_refused(token: str) -> None:
    with pytest.raises(InvalidArgument):
        TOKENS.decode(token, tenant_id="acme", query=QUERY)


def test_every_flipped_byte_is_noticed() -> None:
    token = TOKENS.encode(("cursor", 5), tenant_id="acme", query=QUERY)

    # The last character of base64 may carry bits that mean nothing.
    for i in range(len(token) - 1):
        changed = token[:i] + ("A" if token[i] != "A" else "B") + token[i + 1 :]
        with pytest.raises(InvalidArgument):
            TOKENS.decode(changed, tenant_id="acme", query=QUERY)


def test_another_secret_makes_other_tokens() -> None:
    token = PageTokens(b"another secret of thirty-two bytes!").encode(("x",), tenant_id="acme", query=QUERY)

    with pytest.raises(InvalidArgument):
        TOKENS.decode(token, tenant_id="acme", query=QUERY)


@pytest.mark.parametrize(("bytes_max", "count"), [(0, 1), (11, 1), (12, 1), (23, 1), (24, 2), (36, 3), (99, 3)])
def test_a_page_takes_whole_messages_as_far_as_they_fit_and_one_at_the_least(bytes_max: int, count: int) -> None:
    messages = [common_pb2.Attachment(uri="x" * 4)] * 3  # of 12 bytes each, in a list
    assert fitting(messages, bytes_max=bytes_max) == count


def test_an_empty_page_fits() -> None:
    assert fitting([], bytes_max=1) == 0


sizes_of_elements = st.lists(st.integers(1, 300), max_size=40)


@given(sizes_of_elements, st.integers(1, 10), st.integers(1, 900))
def test_pages_hold_every_element_once_and_in_order_and_are_never_empty(
    sizes: list[int], page_size: int, bytes_max: int
) -> None:
    elements = [common_pb2.Attachment(uri=str(i), caption="x" * size) for i, size in enumerate(sizes)]
    told: list[common_pb2.Attachment] = []
    begin: int | None = 0
    while begin is not None:
        stored = elements[begin : begin + page_size]
        page, cursor = cut_page(
            stored,
            has_more=begin + page_size < len(elements),
            bytes_max=bytes_max,
            cursor_of=lambda index, begin=begin: (begin + index + 1,),  # type: ignore[misc]
        )
        assert page or not elements
        answer = common_pb2.Turn(attachments=page)
        assert answer.ByteSize() <= listed_bytes(page)
        assert len(page) == 1 or listed_bytes(page) <= bytes_max
        told += page
        begin = int(cursor[0]) if cursor is not None else None
    assert told == elements
