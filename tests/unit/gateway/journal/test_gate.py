from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from services.common.turns import Attachment, MessageRole, Turn
from services.gateway.journal.gate import GateReason, GateSettings, Verdict, WriteGate
from tests.support.utterances import utterances

GATE = WriteGate(GateSettings(is_enabled=True))
NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)


def said(text: str, role: MessageRole = MessageRole.USER, importance: float | None = None) -> Turn:
    return Turn(role, text, NOW, importance=importance)


async def reason(text: str, role: MessageRole = MessageRole.USER) -> GateReason:
    (verdict,) = await GATE.judge([said(text, role)])
    return verdict.reason


async def test_spec_2_3_the_gate_judges_labelled_utterances() -> None:
    labelled = utterances()
    verdicts = [(u, (await reason(u.text)).is_gated) for u in labelled]
    assert len(labelled) >= 300
    assert [u.text for u, is_gated in verdicts if is_gated and not u.is_gated] == [], "said something and was dropped"
    gated = [is_gated for u, is_gated in verdicts if u.is_gated]
    assert sum(gated) / len(gated) >= 0.9


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Please remember that I park on level three.", GateReason.EXPLICIT_REQUEST),
        ("No, I meant the other one.", GateReason.CORRECTION),
        ("We decided to take the train.", GateReason.DECISION),
        ("My sister is a dentist.", GateReason.PERSONAL),
        ("The code is 4471.", GateReason.DETAIL),
        ("The bakery closes early.", GateReason.NEW_INFORMATION),
        ("yes", GateReason.ANSWER),
        ("Good morning, Ana!", GateReason.GREETING),
        ("Thanks, that's great!", GateReason.ACKNOWLEDGEMENT),
        ("...", GateReason.NOISE),
        ("Ich wohne in Hamburg.", GateReason.DETAIL),
    ],
)
async def test_spec_2_3_the_reason_is_what_was_found_first(text: str, expected: GateReason) -> None:
    assert await reason(text) is expected


@pytest.mark.parametrize("role", [MessageRole.SYSTEM, MessageRole.TOOL])
async def test_spec_2_3_what_applications_and_tools_say_is_kept(role: MessageRole) -> None:
    assert not (await reason("ok", role)).is_gated


async def test_spec_2_3_a_stated_importance_forces_that_a_turn_is_remembered() -> None:
    (verdict,) = await GATE.judge([said("Thanks!", importance=0.0)])
    assert verdict.reason is GateReason.STATED_IMPORTANCE


async def test_spec_2_3_an_acknowledgement_behind_a_question_is_an_answer() -> None:
    asked, answered = await GATE.judge([said("Shall we meet at five?"), said("Sounds good!")])
    assert asked.reason is GateReason.DETAIL
    assert answered.reason is GateReason.ANSWER


async def test_spec_2_3_a_greeting_that_asks_makes_no_answer() -> None:
    verdicts = await GATE.judge([said("How are you?"), said("Great, thanks!")])
    assert [verdict.reason.is_gated for verdict in verdicts] == [True, True]


async def test_spec_2_3_a_photo_with_a_caption_is_kept() -> None:
    turn = Turn(MessageRole.USER, "Wow!", NOW, attachments=(Attachment(caption="a red bicycle"),))
    (verdict,) = await GATE.judge([turn])
    assert not verdict.reason.is_gated


async def test_spec_2_3_the_gate_can_be_switched_off() -> None:
    (verdict,) = await WriteGate().judge([said("Thanks!")])
    assert verdict == Verdict(GateReason.UNJUDGED)


async def test_spec_2_3_details_hold_nothing_that_was_said() -> None:
    (verdict,) = await GATE.judge([said("My password is Zanzibar")])
    assert "Zanzibar" not in verdict.detail


@pytest.mark.parametrize(
    "unit", ["so ", "really very ", "thanks so ", "thank you very much ", "ha", "a", "Mel ", "bye "]
)
async def test_spec_2_3_repeated_words_take_no_long_time(unit: str) -> None:
    text = (unit * 240)[:239] + "x"
    took = []
    for _ in range(5):
        begin = time.thread_time()
        await reason(text)
        took.append(time.thread_time() - begin)
    assert min(took) < 0.05
