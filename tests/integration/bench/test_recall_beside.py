"""The recall benchmark beside the memories of others, in a copy of their store."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from bench.recall import main
from mneme_client import Client
from tests.support.stack import running_stack

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.ci("a benchmark on an installation of its own")]

CONVERSATION = {
    "session_1": [
        {"speaker": "Ann", "dia_id": "D1:1", "text": "My boat is blue."},
        {"speaker": "Ben", "dia_id": "D1:2", "text": "Mine sank near Malta."},
    ],
    "session_1_date_time": "1:56 pm on 8 May, 2023",
    "qa": [{"question": "Which colour has the boat of Ann?", "category": 4, "evidence": ["D1:1"]}],
}


async def test_it_finds_as_much_and_leaves_their_store_as_it_was(tmp_path: Path, model_folder: Path) -> None:
    store, data, out = tmp_path / "store", tmp_path / "data", tmp_path / "out.json"
    async with running_stack(store, model_folder) as stack, Client(stack.gateway_target) as client:
        await client.remember("other", "conversation", "Ann has a red boat.")
    data.mkdir()
    (data / "one.json").write_text(json.dumps(CONVERSATION))

    code = await asyncio.to_thread(main, ["--data", str(data), "--out", str(out), "--beside", str(store)])

    report = json.loads(out.read_text())
    assert code == 0
    assert report["settings"]["beside"]
    assert report["overall"]["recall@1"]["value"] == 1.0  # an answer from the other's memories would have ended the run
    async with running_stack(store, model_folder) as stack, Client(stack.gateway_target) as client:
        listed = [found.interaction_count async for found in client.list_conversations("other")]
    assert listed == [1]
