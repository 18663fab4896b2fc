"""Delays between attempts, and the digest by which repeats are recognised."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.scope import Scope, ScopeLevel
from services.common.turns import Attachment, MessageRole, Turn
from services.gateway.journal.model import FeedbackCommand, RememberCommand, RetryPolicy, request_hash

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TURN = Turn(
    role=MessageRole.USER,
    content="I moved to Lyon.",
    time=NOON,
    speaker="Ada",
    attachments=(Attachment("s3://a", "image/png", "a cat"),),
    confidence=0.5,
    sources=("doc1",),
    metadata={"a": "1", "b": "2"},
)
COMMAND = RememberCommand("ada", "c1", (TURN,), request_id="r1")


def test_spec_6_1_delays_double_up_to_a_bound() -> None:
    policy = RetryPolicy(first_delay=timedelta(seconds=1), factor=2.0, delay_max=timedelta(seconds=10))
    assert [policy.delay(n).total_seconds() for n in range(1, 7)] == [1, 2, 4, 8, 10, 10]


@given(attempts=st.integers(min_value=1, max_value=10_000))
def test_spec_6_1_no_delay_is_shorter_than_the_one_before(attempts: int) -> None:
    policy = RetryPolicy()
    assert policy.first_delay <= policy.delay(attempts) <= policy.delay(attempts + 1) <= policy.delay_max


def with_turn(**fields: Any) -> RememberCommand:
    return replace(COMMAND, turns=(replace(TURN, **fields),))


DIFFERENT = {
    "user": replace(COMMAND, user_id="bob"),
    "conversation": replace(COMMAND, conversation_id="c2"),
    "scope": replace(COMMAND, scope=Scope(ScopeLevel.PROJECT, "p")),
    "one more turn": replace(COMMAND, turns=(TURN, TURN)),
    "role": with_turn(role=MessageRole.ASSISTANT),
    "content": with_turn(content="I moved to Lyon"),
    "speaker": with_turn(speaker="Bob"),
    "attachment": with_turn(attachments=()),
    "confidence": with_turn(confidence=None),
    "sources": with_turn(sources=("doc1", "doc2")),
    "metadata": with_turn(metadata={"a": "1"}),
    "ids shifted": replace(COMMAND, user_id="adac", conversation_id="1"),
}


@pytest.mark.parametrize("field", DIFFERENT)
def test_spec_6_3_another_request_has_another_digest(field: str) -> None:
    assert request_hash(DIFFERENT[field]) != request_hash(COMMAND)


SAME = {
    "later": with_turn(time=NOON + timedelta(hours=1)),
    "another request id": replace(COMMAND, request_id="r2"),
    "metadata in another order": with_turn(metadata={"b": "2", "a": "1"}),
}


@pytest.mark.parametrize("difference", SAME)
def test_spec_6_3_a_repeat_has_the_same_digest(difference: str) -> None:
    assert request_hash(SAME[difference]) == request_hash(COMMAND)


def test_the_digest_does_not_change_between_releases() -> None:
    # Request ids are remembered for days: an update in between must still recognise their repeats.
    plain = RememberCommand("ada", "c1", (Turn(role=MessageRole.USER, content="hello", time=NOON),))
    assert request_hash(plain).hex() == "e7138791659328ff7ca9db84605bbc91"
    judgement = FeedbackCommand("r1", "ada", ("0190a000-0000-7000-8000-000000000001",), 1)
    assert request_hash(judgement).hex() == "cce2e24d6986691ca4322bc046aa4ddb"


def test_a_text_that_is_no_valid_unicode_has_a_digest() -> None:
    assert len(request_hash(with_turn(content="\ud800"))) == 16


def test_spec_6_3_judgements_differ_by_value_and_memories() -> None:
    judgement = FeedbackCommand("r1", "ada", ("m1", "m2"), 1)
    others = [replace(judgement, value=-1), replace(judgement, memory_ids=("m1",)), replace(judgement, user_id="bob")]
    assert len({request_hash(judgement), *map(request_hash, others)}) == 4
