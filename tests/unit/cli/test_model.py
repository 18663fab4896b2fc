"""`mneme model compare`: questions from a file, in batches, and what is said of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from typer.testing import CliRunner, Result

from mneme.episodic.v1 import episodic_pb2 as pb
from services.cli.main import app


class _Episodes:
    """The one method that the command calls."""

    def __init__(self) -> None:
        self.requests: list[pb.GetModelComparisonRequest] = []
        handler: Any = grpc.unary_unary_rpc_method_handler(
            self._compare,
            request_deserializer=pb.GetModelComparisonRequest.FromString,
            response_serializer=pb.GetModelComparisonResponse.SerializeToString,
        )
        name = pb.DESCRIPTOR.services_by_name["EpisodicService"].full_name
        self.handlers: Any = grpc.method_handlers_generic_handler(name, {"GetModelComparison": handler})

    async def _compare(self, request: pb.GetModelComparisonRequest, _context: Any) -> pb.GetModelComparisonResponse:
        self.requests.append(request)
        compared = [
            pb.ModelQuestionComparison(overlap=0.5, first_recall=0.25, second_recall=1.0)
            if question.relevant_episode_ids
            else pb.ModelQuestionComparison(overlap=0.9)
            for question in request.questions
        ]
        return pb.GetModelComparisonResponse(
            questions=compared, first_model="old", second_model="new", first_piece_count=7, second_piece_count=6
        )


@pytest.fixture
async def served() -> AsyncIterator[tuple[_Episodes, str]]:
    episodes, server = _Episodes(), grpc.aio.server()
    server.add_generic_rpc_handlers((episodes.handlers,))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    yield episodes, f"127.0.0.1:{port}"
    await server.stop(grace=None)


async def compare(target: str, file: Path, *options: str) -> Result:
    words = ["--target", target, "model", "compare", "--user", "ada", "--questions", str(file), *options]
    return await asyncio.to_thread(CliRunner().invoke, app, words, env={"COLUMNS": "200"})


async def test_spec_8_4_the_summary_has_overlap_and_recall(served: tuple[_Episodes, str], tmp_path: Path) -> None:
    episodes, target = served
    file = tmp_path / "questions.jsonl"
    file.write_text('When did it rain?\n\n{"query": "Who has a boat?", "relevant": ["e1", "e2"]}\n')
    result = await compare(target, file)
    assert result.exit_code == 0
    assert result.output.splitlines() == [
        "first:  old, 7 pieces",
        "second: new, 6 pieces",
        "overlap@10 of 2 questions: 0.700",
        "recall@10 of 1 judged questions: first 0.250, second 1.000",
        "The second index is not filled yet: wait for the job episodic.fill_second_index.",
    ]
    (request,) = episodes.requests
    assert [question.query for question in request.questions] == ["When did it rain?", "Who has a boat?"]
    assert list(request.questions[1].relevant_episode_ids) == ["e1", "e2"]


async def test_spec_8_4_many_questions_are_asked_in_batches(served: tuple[_Episodes, str], tmp_path: Path) -> None:
    episodes, target = served
    file = tmp_path / "questions.txt"
    file.write_text("".join(f"question {n}\n" for n in range(120)))
    result = await compare(target, file, "--json")
    assert len(json.loads(result.output)["questions"]) == 120
    assert [len(request.questions) for request in episodes.requests] == [50, 50, 20]


@pytest.mark.parametrize("text", ["", '{"query": 1}', '{"query": "x", "relevant": "e1"}', "{", "x\n" * 1_001])
async def test_a_file_that_cannot_be_used_is_refused(served: tuple[_Episodes, str], tmp_path: Path, text: str) -> None:
    episodes, target = served
    file = tmp_path / "questions.txt"
    file.write_text(text)
    assert (await compare(target, file)).exit_code == 1
    assert episodes.requests == []
