"""`mneme model status`, `cut-over` and `back`: which model is asked for, and what is said of the processes."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import grpc
import pytest
from typer.testing import CliRunner, Result

from mneme.gateway.v1 import embedding_model_pb2 as pb
from mneme.gateway.v1 import embedding_model_pb2_grpc
from services.cli.main import app


class _Gateway(embedding_model_pb2_grpc.EmbeddingModelServiceServicer):
    """Holds two models; a second process follows when it has been asked about twice."""

    def __init__(self, held: tuple[str, ...] = ("old", "new"), *, former: str = "") -> None:
        self.held = held
        self.serving = "new" if former else "old"
        self.former = former
        self.follower = self.serving
        self.asked: list[tuple[str, bool]] = []

    async def GetEmbeddingModel(self, _request: Any, _context: Any) -> pb.GetEmbeddingModelResponse:
        response = pb.GetEmbeddingModelResponse(state=self._state())
        self.follower = self.serving
        return response

    async def CutOverEmbeddingModel(
        self, request: pb.CutOverEmbeddingModelRequest, _context: Any
    ) -> pb.CutOverEmbeddingModelResponse:
        self.asked.append((request.model, request.allow_gaps))
        self.former, self.serving = self.serving, request.model
        return pb.CutOverEmbeddingModelResponse(state=self._state())

    def _state(self) -> pb.EmbeddingModelState:
        return pb.EmbeddingModelState(
            serving_model=self.serving,
            former_model=self.former,
            held_models=self.held,
            processes=[
                pb.EmbeddingModelProcess(
                    process_id=f"p-{name}", service=name, held_models=self.held, serving_model=serving
                )
                for name, serving in (("episodic", self.follower), ("gateway", self.serving))
            ],
        )


def _run(gateway: _Gateway, *arguments: str) -> Result:
    async def main() -> Result:
        server = grpc.aio.server()
        embedding_model_pb2_grpc.add_EmbeddingModelServiceServicer_to_server(gateway, server)
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        try:
            command = ["--target", f"127.0.0.1:{port}", "model", *arguments]
            return await asyncio.to_thread(CliRunner().invoke, app, command)
        finally:
            await server.stop(0)

    return asyncio.run(main())


def test_spec_8_4_a_cut_over_takes_the_other_model_and_waits_until_all_follow() -> None:
    gateway = _Gateway()
    result = _run(gateway, "cut-over")
    assert result.exit_code == 0, result.output
    assert gateway.asked == [("new", False)]
    assert "serving: new" in result.output
    assert "former:  old" in result.output
    assert "episodic: holds both, serves with new (p-episodic)" in result.output


def test_spec_8_4_without_waiting_processes_that_have_not_followed_are_counted() -> None:
    result = _run(_Gateway(), "cut-over", "--to", "new", "--allow-gaps", "--wait", "0")
    assert "1 processes have not reported yet that they follow" in result.output


def test_spec_8_4_the_way_back_takes_the_former_model() -> None:
    gateway = _Gateway(former="old")
    assert _run(gateway, "back", "--allow-gaps").exit_code == 0
    assert gateway.asked == [("old", True)]


@pytest.mark.parametrize(
    ("gateway", "command", "reason"),
    [
        (_Gateway(("old",)), "cut-over", "holds old alone"),
        (_Gateway(former="old"), "cut-over", "serves since the last cut-over"),
        (_Gateway(), "back", "there is no former model"),
    ],
)
def test_spec_8_4_a_change_without_a_target_asks_for_nothing(gateway: _Gateway, command: str, reason: str) -> None:
    result = _run(gateway, command)
    assert result.exit_code == 1
    assert reason in result.output
    assert gateway.asked == []


def test_status_as_json_names_the_processes() -> None:
    found = json.loads(_run(_Gateway(), "status", "--json").output)
    assert (found["serving_model"], found["held_models"]) == ("old", ["old", "new"])
    assert [each["service"] for each in found["processes"]] == ["episodic", "gateway"]
