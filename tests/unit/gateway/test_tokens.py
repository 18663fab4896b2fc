"""Consistency tokens: good for the tenant that they were issued to, and for nobody else."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.errors import InvalidArgument, Reason
from services.gateway.journal.model import SequenceSpan
from services.gateway.tokens import ConsistencyTokens

TOKENS = ConsistencyTokens(b"s" * 32)
SPAN = SequenceSpan(17, 23)

_SEQUENCES = st.integers(min_value=0, max_value=2**63 - 1)


@given(tenant_id=st.text(min_size=1), first=_SEQUENCES, last=_SEQUENCES)
def test_spec_5_11_a_token_names_the_span_it_was_made_of(tenant_id: str, first: int, last: int) -> None:
    span = SequenceSpan(first, last)
    assert TOKENS.decode(tenant_id, TOKENS.encode(tenant_id, span)) == span


def test_a_token_fits_into_a_url() -> None:
    assert set(TOKENS.encode("acme", SPAN)) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


def refused(tenant_id: str, token: str, tokens: ConsistencyTokens = TOKENS) -> InvalidArgument:
    with pytest.raises(InvalidArgument) as caught:
        tokens.decode(tenant_id, token)
    return caught.value


def test_spec_7_1_a_token_of_another_tenant_is_refused() -> None:
    error = refused("globex", TOKENS.encode("acme", SPAN))
    assert error.reason is Reason.INVALID_CONSISTENCY_TOKEN
    assert [v.field_path for v in error.violations] == ["consistency_token"]


def test_a_token_signed_with_another_secret_is_refused() -> None:
    refused("acme", TOKENS.encode("acme", SPAN), ConsistencyTokens(b"t" * 32))


@pytest.mark.parametrize("token", ["x", "AAAA", "äöü", "====", "not base64!", "\x00", "A" * 37, "A" * 39, "A" * 4_000])
def test_a_malformed_token_is_refused(token: str) -> None:
    assert refused("acme", token).reason is Reason.INVALID_CONSISTENCY_TOKEN


@pytest.mark.parametrize("byte", range(28))
def test_a_token_with_one_changed_byte_is_refused(byte: int) -> None:
    token = TOKENS.encode("acme", SPAN)
    raw = bytearray(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    assert len(raw) == 28
    raw[byte] ^= 0x01
    refused("acme", base64.urlsafe_b64encode(bytes(raw)).decode().rstrip("="))
