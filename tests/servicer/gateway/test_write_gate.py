"""Remember with the write gate switched on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import grpc
import pytest

from mneme.common.v1 import common_pb2
from mneme.gateway.v1 import (
    conversations_pb2,
    conversations_pb2_grpc,
    gate_pb2,
    memory_pb2,
    memory_pb2_grpc,
    recall_pb2,
)
from services.common.postgres.server import EmbeddedPostgres
from services.gateway.journal.gate import GateSettings
from services.gateway.journal.stores.postgres import PostgresJournalSettings
from tests.support.stack import RunningStack, gated_gateway

if TYPE_CHECKING:
    from services.common.embedding.embedder import OnnxEmbedder

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_spec_2_3_remember_returns_verdicts_and_a_gated_turn_is_in_the_log_alone(
    stack: RunningStack, embedder: OnnxEmbedder, postgres_server: EmbeddedPostgres, user_id: str
) -> None:
    from services.gateway.config import GatewaySettings

    journal = replace(PostgresJournalSettings(), gate=GateSettings(is_enabled=True))
    settings = GatewaySettings(journal=journal, tells_other_gateways=False)
    texts = ("Thanks a lot!", "My sister Ana moved to Porto.")
    request = memory_pb2.RememberRequest(
        user_id=user_id,
        conversation_id="c1",
        turns=[common_pb2.Turn(role=common_pb2.MESSAGE_ROLE_USER, content=text) for text in texts],
    )
    async with (
        gated_gateway(stack, embedder, postgres_server, settings=settings) as gated,
        grpc.aio.insecure_channel(gated.target) as channel,
    ):
        memory = memory_pb2_grpc.MemoryServiceStub(channel)
        written = await memory.Remember(request)
        log = await conversations_pb2_grpc.ConversationServiceStub(channel).ListInteractions(
            conversations_pb2.ListInteractionsRequest(user_id=user_id, conversation_id="c1")
        )
        recalled = await memory.Recall(
            recall_pb2.RecallRequest(user_id=user_id, query="thanks", consistency_token=written.consistency_token)
        )
    verdicts = [reference.verdict for reference in written.interactions]
    assert [verdict.gated for verdict in verdicts] == [True, False]
    assert verdicts[0].reason == gate_pb2.GATE_REASON_ACKNOWLEDGEMENT
    assert verdicts[1].reason == gate_pb2.GATE_REASON_PERSONAL
    assert [said.turn.content for said in log.interactions] == list(texts)
    assert [said.verdict for said in log.interactions] == verdicts
    assert recalled.consistent
    assert [memory.turn.content for memory in recalled.memories] == [texts[1]]
