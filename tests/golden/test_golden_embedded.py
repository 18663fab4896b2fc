"""The calls of the golden transcript on the embedded engines."""

import json

import pytest

from tests.golden.transcript import Transcript, differences, recorded
from tests.support.stack import RunningStack


@pytest.mark.asyncio(loop_scope="session")
async def test_embedded_engines_answer_as_recorded(stack: RunningStack, user_id: str) -> None:
    answers = await Transcript(stack.target, user_id).replay()
    found = differences(answers, recorded())
    assert not found, "\n".join(found[:40])


def test_the_recorded_answers_hold_no_ids_of_a_run() -> None:
    assert "#1" in json.dumps(recorded())
    assert "user-of-the-record" not in json.dumps(recorded())
