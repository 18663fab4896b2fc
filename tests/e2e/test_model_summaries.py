"""The services are given a language model by their variables, and long turns have its summaries."""

from __future__ import annotations

from pathlib import Path

import pytest

from mneme_client import Client
from tests.support.language_model import fake_endpoint
from tests.support.stack import running_stack, until
from tests.support.summaries import LONG, SUMMARY, response


@pytest.mark.ci("starts the services with a language model")
@pytest.mark.parametrize("processes", [False, True], ids=["one process", "processes"])
async def test_spec_2_4_a_configured_language_model_summarises_long_turns(
    tmp_path: Path, model_folder: Path, monkeypatch: pytest.MonkeyPatch, processes: bool
) -> None:
    monkeypatch.setenv("MNEME_EMBEDDING_MODEL_DIR", str(model_folder))  # processes read their own environment
    async with fake_endpoint() as endpoint:
        endpoint.respond = lambda request: (
            response(SUMMARY)
            if "Summarise" in request["messages"][0]["content"]
            else '{"reasoning": "None.", "facts": []}'
        )
        host = {"llm_base_url": endpoint.url, "llm_model": "m"}
        async with (
            running_stack(tmp_path / "data", model_folder, processes=processes, host=host) as services,
            Client(services.gateway_target, default_timeout_seconds=40.0) as client,
        ):
            written = await client.remember("ada", "c1", [LONG, "Short."])
            ids = [interaction.interaction_id for interaction in written.interactions]

            async def is_written() -> bool:
                found = [episode async for episode in client.list_episodes("ada")]
                return {episode.episode_id: episode.summary for episode in found} == {ids[0]: SUMMARY, ids[1]: ""}

            await until(is_written)
