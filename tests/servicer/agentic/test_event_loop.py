"""No step of GenerateNotes holds the event loop for long."""

from __future__ import annotations

import asyncio
import gc
import time
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np
import pytest

from mneme.common.internal.v1.interactions_pb2 import SourceInteraction
from mneme.common.v1 import common_pb2
from services.common.embedding.vectors import Matrix
from tests.servicer.agentic.conftest import ANN, Running
from tests.servicer.agentic.test_notes import generation

STEP_SHARE_MAX: Final = 0.25  # of the processor time of the loop; in one step, it was above 0.9
SENTENCE: Final = "I have entered the Great North Run in September with my sister Leila, who loves hills. "


def long_turns(count: int) -> list[SourceInteraction]:
    spoken = common_pb2.Turn().time
    spoken.FromDatetime(datetime(2026, 1, 1, tzinfo=UTC))
    return [
        SourceInteraction(
            interaction_id=str(uuid.uuid5(uuid.NAMESPACE_OID, f"long {i}")),
            user_id="ann",
            conversation_id="c",
            position=i,
            turn=common_pb2.Turn(
                role=common_pb2.MESSAGE_ROLE_USER,
                speaker=f"Speaker {i % 2}",
                content=(f"{i} {SENTENCE}" * 25)[:2_000],
                time=spoken,
            ),
        )
        for i in range(count)
    ]


async def test_long_turns_do_not_hold_the_event_loop(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    request = generation(long_turns(32))
    await running.internal.GenerateNotes(generation(long_turns(1)), metadata=ANN)
    longest = total = 0.0
    run = asyncio.Handle._run

    def timed(handle: Any) -> None:
        nonlocal longest, total
        begin = time.thread_time()  # of the loop's thread alone, whatever else the machine does
        run(handle)
        used = time.thread_time() - begin
        longest, total = max(longest, used), total + used

    async def embed_in_thread(texts: Sequence[str]) -> Matrix:
        return await asyncio.to_thread(lambda: np.stack([running.embedder.vector(text) for text in texts]))

    monkeypatch.setattr(running.embedder, "embed_documents", embed_in_thread)  # as real ones do
    gc.disable()  # a collection counts as the step that it happens to fall into
    try:
        monkeypatch.setattr(asyncio.Handle, "_run", timed)
        made = await running.internal.GenerateNotes(request, metadata=ANN)
    finally:
        monkeypatch.undo()
        gc.enable()
    assert sum(len(result.response.note_ids) for result in made.results) == 32
    assert longest < STEP_SHARE_MAX * total
