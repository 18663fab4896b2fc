"""Writes down what the embedded engines answer: `python -m tests.golden.record`. Read the diff before a commit."""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path

from services.cli.stack import StackSettings, run_stack
from services.common.logging import configure_logging
from tests.golden.transcript import ANSWERS, Transcript
from tests.support.stack import unlinked_by_use


async def record() -> None:
    """Replays the calls on a fresh embedded stack."""
    configure_logging(level="warning")
    with tempfile.TemporaryDirectory() as folder, unlinked_by_use():  # as in the tests
        async with run_stack(StackSettings(data_dir=Path(folder) / "data", port=0)) as stack:
            answers = await Transcript(stack.gateway_target, "user-of-the-record").replay()
    ANSWERS.write_text(json.dumps(answers, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    asyncio.run(record())
