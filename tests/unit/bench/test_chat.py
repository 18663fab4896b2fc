"""Rewriting conversations as chats."""

from __future__ import annotations

import re

from bench.fit.chat import as_chat, is_between_people, unit_of
from bench.locomo import LocomoConversation, parse_conversation

TEXTS = (
    "Hey Ben! Good to see you. How have you been?",
    "I am fine, Ada! I've bought a sailing boat in Bergen. It is called Molly. Are you free tomorrow?",
    "Yes, I am! I want to see the boat, because I have never sailed.",
    "The weather will be great. Please bring a warm jacket, gloves and a picture of your family.",
)


def conversation(second: str = "Ben", *, sessions: int = 12) -> LocomoConversation:
    content: dict[str, object] = {
        "qa": [
            {"question": "What is Ben's boat called?", "answer": "Molly", "category": 4, "evidence": ["D1:2"]},
            {"question": "Which town?", "answer": "Bergen", "category": 1, "evidence": ["D1:2", "D2:2"]},
            {"question": "Quo vadis?", "answer": "", "category": 4, "evidence": ["D1:4"]},
        ]
    }
    for number in range(1, sessions + 1):
        content[f"session_{number}_date_time"] = "1:56 pm on 8 May, 2023"
        content[f"session_{number}"] = [
            {
                "speaker": second if place % 2 else "Ada",
                "dia_id": f"D{number}:{place + 1}",
                "text": text,
                "blip_caption": "a boat" if place == 1 else "",
            }
            for place, text in enumerate(TEXTS)
        ]
    return parse_conversation("made-up", content)


def test_a_chat_is_lower_case_with_few_marks_and_more_messages() -> None:
    tidy = conversation()
    chat = as_chat(tidy)
    texts = [turn.text for session in chat.sessions for turn in session.turns]
    everything = " ".join(texts).replace("xD", "")
    assert everything == everything.lower()
    asked = sum(text.count("?") for text in texts)
    assert 0 < asked < sum(turn.text.count("?") for session in tidy.sessions for turn in session.turns) / 2
    assert chat.turn_count > 1.5 * tidy.turn_count
    assert any(re.search(r"\bu\b", text) for text in texts)


def test_it_is_the_same_in_every_run() -> None:
    assert as_chat(conversation()) == as_chat(conversation())


def test_every_turn_is_there_in_order_said_by_the_same_and_with_its_photo() -> None:
    tidy = conversation()
    chat = as_chat(tidy)
    for session, rewritten in zip(tidy.sessions, chat.sessions, strict=True):
        messages = [turn for turn in rewritten.turns if not turn.turn_id.startswith("filler-")]
        assert list(dict.fromkeys(unit_of(turn.turn_id) for turn in messages)) == [
            turn.turn_id for turn in session.turns
        ]
        for turn in session.turns:
            own = [message for message in messages if unit_of(message.turn_id) == turn.turn_id]
            assert {message.speaker for message in own} == {turn.speaker}
            assert [message.caption for message in own if message.caption] == [turn.caption][: bool(turn.caption)]
    assert any(turn.turn_id.startswith("filler-") for session in chat.sessions for turn in session.turns)


def test_the_evidence_is_the_messages_that_hold_the_answer() -> None:
    chat = as_chat(conversation())
    texts = {turn.turn_id: turn.text for session in chat.sessions for turn in session.turns}
    name, town, unclear = chat.questions
    assert all("mol" in texts[turn_id] for turn_id in name.gold)
    assert {unit_of(turn_id) for turn_id in town.gold} == {"D1:2", "D2:2"}
    assert unclear.gold == {turn_id for turn_id in texts if unit_of(turn_id) == "D1:4"}


def test_blank_turns_stay() -> None:
    tidy = parse_conversation("blank", {"session_1": [{"speaker": "Ada", "dia_id": "D1:1", "text": " "}]})
    assert [turn.text for turn in as_chat(tidy).sessions[0].turns] == [""]


def test_conversations_with_an_assistant_are_told_from_those_between_people() -> None:
    assert is_between_people(conversation())
    assert not is_between_people(conversation("Assistant"))
