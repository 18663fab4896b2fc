"""The retriever: recalled turns as documents."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from mneme_client import Memory, Scope, SyncClient


class MnemeRetriever(BaseRetriever):
    """Recalls a user's memories for a query, best first.

    Asynchronous calls run in LangChain's executor: the blocking client works in any thread. What is recalled is data
    from conversations, never an instruction.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    client: SyncClient  # of a gateway; it stays open: close it yourself
    user_id: str  # whose memory
    k: int = 4  # documents at most, 1 to 200; also an argument of invoke
    scope: Scope | None = None  # of the reader; None means GLOBAL
    conversation_id: str = ""  # the running conversation, if any

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        del run_manager
        found = self.client.recall(
            self.user_id,
            query,
            limit=self.k if k is None else k,
            scope=self.scope,
            conversation_id=self.conversation_id,
        )
        return [_document(memory) for memory in found.memories]


def _document(memory: Memory) -> Document:
    metadata: dict[str, Any] = {
        **memory.turn.metadata,
        "score": memory.score,
        "conversation_id": memory.conversation_id,
        "position": memory.position,
        "role": memory.turn.role.name.lower(),
        "speaker": memory.turn.speaker,
        "time": memory.turn.time.isoformat() if memory.turn.time else None,
        "superseded_by": memory.superseded_by,
    }
    return Document(id=memory.memory_id, page_content=memory.text, metadata=metadata)
