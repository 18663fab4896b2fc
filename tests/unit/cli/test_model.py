"""`mneme model compare`: questions from a file, in batches, and what is said of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import grpc
import pytest
from typer.testing import CliRunner, Result

from mneme.agentic.v1 import notes_pb2
from mneme.common.v1 import model_comparison_pb2
from mneme.episodic.v1 import episodic_pb2 as pb
from mneme.gateway.v1 import memory_pb2
from mneme.semantic.v1 import facts_pb2
from mneme_client import MemoryKind
from services.cli.main import app


class _Tiers:
    """The three methods that the command calls."""

    def __init__(self) -> None:
        self.episodes: list[pb.GetModelComparisonRequest] = []
        self.facts: list[facts_pb2.GetFactModelComparisonRequest] = []
        self.notes: list[notes_pb2.GetNoteModelComparisonRequest] = []

    def handlers(self) -> list[Any]:
        methods: list[tuple[Any, str, str, Any, Any]] = [
            (memory_pb2, "MemoryService", "ListJudgedRecalls", self._judged, memory_pb2.ListJudgedRecallsRequest),
            (pb, "EpisodicService", "GetModelComparison", self._episodes, pb.GetModelComparisonRequest),
            (
                facts_pb2,
                "FactService",
                "GetFactModelComparison",
                self._facts,
                facts_pb2.GetFactModelComparisonRequest,
            ),
            (
                notes_pb2,
                "NoteService",
                "GetNoteModelComparison",
                self._notes,
                notes_pb2.GetNoteModelComparisonRequest,
            ),
        ]
        made = []
        for module, service, method, handle, request in methods:
            handler: Any = grpc.unary_unary_rpc_method_handler(
                handle,
                request_deserializer=request.FromString,
                response_serializer=lambda response: response.SerializeToString(),
            )
            name = module.DESCRIPTOR.services_by_name[service].full_name
            made.append(grpc.method_handlers_generic_handler(name, {method: handler}))
        return made

    async def _judged(
        self, request: memory_pb2.ListJudgedRecallsRequest, _context: Any
    ) -> memory_pb2.ListJudgedRecallsResponse:
        if not request.page_token:
            return memory_pb2.ListJudgedRecallsResponse(next_page_token="second")
        recalls = [memory_pb2.JudgedRecall(query=query) for query in ("Who has a boat?", "When?", "Who has a boat?")]
        for kind in (MemoryKind.EPISODE, MemoryKind.FACT, MemoryKind.NOTE):
            recalls[0].good_memories.add(kind=cast("Any", kind.value), memory_id=f"right {kind.name}")
        recalls[1].good_memories.add(kind=cast("Any", MemoryKind.FACT.value), memory_id="a fact")
        return memory_pb2.ListJudgedRecallsResponse(recalls=recalls if request.user_id == "ada" else [])

    async def _episodes(self, request: pb.GetModelComparisonRequest, _context: Any) -> pb.GetModelComparisonResponse:
        self.episodes.append(request)
        compared = [
            pb.ModelQuestionComparison(overlap=0.5, first_recall=0.25, second_recall=1.0)
            if question.relevant_episode_ids
            else pb.ModelQuestionComparison(overlap=0.9)
            for question in request.questions
        ]
        return pb.GetModelComparisonResponse(
            questions=compared, first_model="old", second_model="new", first_piece_count=7, second_piece_count=6
        )

    async def _facts(
        self, request: facts_pb2.GetFactModelComparisonRequest, _context: Any
    ) -> facts_pb2.GetFactModelComparisonResponse:
        self.facts.append(request)
        compared = [model_comparison_pb2.QuestionComparison(overlap=1.0) for _ in request.questions]
        return facts_pb2.GetFactModelComparisonResponse(
            questions=compared, first_model="old", second_model="new", compared_count=1000, truncated=True
        )

    async def _notes(
        self, request: notes_pb2.GetNoteModelComparisonRequest, _context: Any
    ) -> notes_pb2.GetNoteModelComparisonResponse:
        self.notes.append(request)
        compared = [
            model_comparison_pb2.QuestionComparison(overlap=0.0, first_recall=1.0, second_recall=0.5)
            for _ in request.questions
        ]
        return notes_pb2.GetNoteModelComparisonResponse(
            questions=compared, first_model="old", second_model="new", compared_count=3
        )


@pytest.fixture
async def served() -> AsyncIterator[tuple[_Tiers, str]]:
    tiers, server = _Tiers(), grpc.aio.server()
    server.add_generic_rpc_handlers(tuple(tiers.handlers()))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    yield tiers, f"127.0.0.1:{port}"
    await server.stop(grace=None)


async def compare(target: str, file: Path | None, *options: str, user: str = "ada") -> Result:
    given = [] if file is None else ["--questions", str(file)]
    words = ["--target", target, "model", "compare", "--user", user, *given, *options]
    return await asyncio.to_thread(CliRunner().invoke, app, words, env={"COLUMNS": "200"})


async def test_spec_8_4_the_summary_has_overlap_and_recall(served: tuple[_Tiers, str], tmp_path: Path) -> None:
    tiers, target = served
    file = tmp_path / "questions.jsonl"
    right = {"query": "Who has a boat?", "relevant": ["e1", "e2"], "relevant_facts": ["f"], "relevant_notes": ["n"]}
    file.write_text(f"When did it rain?\n\n{json.dumps(right)}\n")
    result = await compare(target, file)
    assert result.exit_code == 0
    assert result.output.splitlines() == [
        "first:  old",
        "second: new",
        "episodes: overlap@10 of 2 questions 0.700; recall@10 of 1 with right answers: first 0.250, second 1.000",
        "  pieces: first 7, second 6",
        "  The second index is not filled yet: wait for the job episodic.fill_second_index.",
        "facts: overlap@10 of 2 questions 1.000",
        "  1000 facts compared, the newest ones",
        "notes: overlap@10 of 2 questions 0.000; recall@10 of 2 with right answers: first 1.000, second 0.500",
        "  3 notes compared",
    ]
    (request,) = tiers.episodes
    assert [question.query for question in request.questions] == ["When did it rain?", "Who has a boat?"]
    assert list(request.questions[1].relevant_episode_ids) == ["e1", "e2"]
    assert [list(question.relevant_ids) for question in tiers.facts[0].questions] == [[], ["f"]]
    assert [list(question.relevant_ids) for question in tiers.notes[0].questions] == [[], ["n"]]


async def test_spec_8_4_one_kind_alone_is_compared(served: tuple[_Tiers, str], tmp_path: Path) -> None:
    tiers, target = served
    file = tmp_path / "questions.txt"
    file.write_text("Who has a boat?")
    result = await compare(target, file, "--kind", "facts")
    assert result.exit_code == 0
    assert (len(tiers.episodes), len(tiers.facts), len(tiers.notes)) == (0, 1, 0)


async def test_spec_8_4_questions_of_judged_recalls_are_asked_with_what_was_judged_good(
    served: tuple[_Tiers, str], tmp_path: Path
) -> None:
    tiers, target = served
    file = tmp_path / "questions.txt"
    file.write_text("And this one?")
    assert (await compare(target, None, "--judged")).exit_code == 0
    assert (await compare(target, file, "--judged", "--kind", "notes")).exit_code == 0
    (episodes,), (facts,), (notes, others) = tiers.episodes, tiers.facts, tiers.notes
    assert [question.query for question in episodes.questions] == ["Who has a boat?", "When?"]
    assert list(episodes.questions[0].relevant_episode_ids) == ["right EPISODE"]
    assert [list(question.relevant_ids) for question in facts.questions] == [["right FACT"], ["a fact"]]
    assert [list(question.relevant_ids) for question in notes.questions] == [["right NOTE"], []]
    assert [question.query for question in others.questions] == ["And this one?", "Who has a boat?", "When?"]


async def test_spec_8_4_without_questions_nothing_is_compared(served: tuple[_Tiers, str]) -> None:
    tiers, target = served
    nothing, unjudged = await compare(target, None), await compare(target, None, "--judged", user="bob")
    assert (nothing.exit_code, unjudged.exit_code) == (1, 1)
    assert "no recall of bob is known" in unjudged.output
    assert tiers.episodes == []


async def test_spec_8_4_many_questions_are_asked_in_batches(served: tuple[_Tiers, str], tmp_path: Path) -> None:
    tiers, target = served
    file = tmp_path / "questions.txt"
    file.write_text("".join(f"question {n}\n" for n in range(120)))
    result = await compare(target, file, "--json")
    found = json.loads(result.output)
    assert [len(found[kind]["questions"]) for kind in ("episodes", "facts", "notes")] == [120] * 3
    for requests in (tiers.episodes, tiers.facts, tiers.notes):
        assert [len(request.questions) for request in requests] == [50, 50, 20]


@pytest.mark.parametrize("text", ["", '{"query": 1}', '{"query": "x", "relevant": "e1"}', "{", "x\n" * 1_001])
async def test_a_file_that_cannot_be_used_is_refused(served: tuple[_Tiers, str], tmp_path: Path, text: str) -> None:
    tiers, target = served
    file = tmp_path / "questions.txt"
    file.write_text(text)
    assert (await compare(target, file)).exit_code == 1
    assert tiers.episodes == []
