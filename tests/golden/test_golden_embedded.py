"""The calls of the golden transcript on the embedded engines."""

import json
from pathlib import Path

import pytest

from services.cli.stack_model import StackSettings
from services.cli.tier_settings import read_tier_settings
from tests.golden.transcript import Transcript, differences, recorded
from tests.support.stack import RunningStack, unlinked_by_use


@pytest.mark.asyncio(loop_scope="session")
async def test_embedded_engines_answer_as_recorded(stack: RunningStack, user_id: str) -> None:
    answers = await Transcript(stack.target, user_id).replay()
    found = differences(answers, recorded())
    assert not found, "\n".join(found[:40])


def test_no_answer_depends_on_when_uses_of_notes_are_counted(tmp_path: Path) -> None:
    with unlinked_by_use():
        tiers = read_tier_settings(StackSettings(data_dir=tmp_path, port=0))
    assert not tiers.agentic.use.is_enabled


def test_the_recorded_answers_hold_no_ids_of_a_run() -> None:
    assert "#1" in json.dumps(recorded())
    assert "user-of-the-record" not in json.dumps(recorded())
