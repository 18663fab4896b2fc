"""Two embedding models compared on notes, through the served tier."""

from __future__ import annotations

import grpc
import pytest

from mneme.agentic.v1 import notes_pb2 as pb
from mneme.common.v1 import common_pb2
from mneme.common.v1.model_comparison_pb2 import ComparedQuestion
from tests.servicer.agentic.conftest import ANN, OTHER_TENANT, READER, Running
from tests.support.embedding import HashingEmbedder

SECOND = HashingEmbedder(16, "second")


async def noted(running: Running, text: str, scope: common_pb2.Scope | None = None) -> str:
    request = pb.CreateNoteRequest(
        request_id=text, user_id="ann", content=text, kind=pb.NOTE_KIND_OBSERVATION, scope=scope
    )
    created: pb.CreateNoteResponse = await running.stub.CreateNote(request, metadata=ANN)
    return created.note.note_id


def asked(*questions: ComparedQuestion) -> pb.GetNoteModelComparisonRequest:
    return pb.GetNoteModelComparisonRequest(user_id="ann", questions=questions)


class TestWithASecondModel:
    @pytest.fixture
    def second_embedder(self) -> HashingEmbedder:
        return SECOND

    async def test_spec_8_4_active_notes_that_the_reader_sees_are_compared(self, running: Running) -> None:
        ids = [await noted(running, f"The tool number {n} hangs on hook{n}.") for n in range(12)]
        private = common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_PROJECT, project_id="p1")
        await noted(running, "The safe is behind the clock.", private)
        archived = pb.ArchiveNotesRequest(request_id="a", user_id="ann", note_ids=[ids.pop()])
        await running.stub.ArchiveNotes(archived, metadata=ANN)
        question = ComparedQuestion(query="What hangs on hook3?", relevant_ids=[ids[3]])
        request = asked(question, ComparedQuestion(query="safe"))
        response = await running.stub.GetNoteModelComparison(request, metadata=READER)
        assert (response.compared_count, response.truncated) == (11, False)
        assert (response.first_model, response.second_model) == (running.embedder.fingerprint, SECOND.fingerprint)
        first, other = response.questions
        assert first.first_recall == 1.0
        assert first.HasField("second_recall")
        assert 0.9 <= first.overlap <= 1.0
        assert not other.HasField("first_recall")
        again = await running.stub.GetNoteModelComparison(request, metadata=READER)
        assert again == response
        foreign = await running.stub.GetNoteModelComparison(request, metadata=OTHER_TENANT)
        assert foreign.compared_count == 0

    async def test_spec_7_2_bad_questions_are_refused(self, running: Running) -> None:
        for questions in ([], [ComparedQuestion(query=" ")], [ComparedQuestion(query="tea")] * 51):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await running.stub.GetNoteModelComparison(asked(*questions), metadata=READER)
            assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_spec_8_4_without_a_second_model_the_call_is_refused(running: Running) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await running.stub.GetNoteModelComparison(asked(ComparedQuestion(query="tea")), metadata=READER)
    assert refused.value.code() is grpc.StatusCode.FAILED_PRECONDITION
