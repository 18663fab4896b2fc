"""LangChain's standard tests of retrievers, against a running gateway at MNEME_TARGET."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_tests.integration_tests import RetrieversIntegrationTests
from mneme_langchain import MnemeRetriever

from mneme_client import SyncClient, Turn

USER_ID = f"langchain-{uuid.uuid4().hex[:8]}"
STATEMENTS = ("Lea moved to Lisbon.", "Lisbon has trams.", "Lea rides trams.", "Lea works in Lisbon.")


@pytest.fixture(scope="module")
def client() -> Iterator[SyncClient]:
    with SyncClient(os.environ["MNEME_TARGET"]) as opened:
        written = opened.remember(USER_ID, "c1", [Turn(text, speaker="Lea") for text in STATEMENTS])
        opened.wait_until_visible(USER_ID, written.consistency_token)
        yield opened


class TestMnemeRetriever(RetrieversIntegrationTests):
    """All standard tests."""

    @pytest.fixture(autouse=True)
    def _open(self, client: SyncClient) -> None:
        self.client = client

    @property
    def retriever_constructor(self) -> type[MnemeRetriever]:
        return MnemeRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"client": self.client, "user_id": USER_ID}

    @property
    def retriever_query_example(self) -> str:
        return "Where does Lea live?"


def test_a_document_names_its_memory(client: SyncClient) -> None:
    best = MnemeRetriever(client=client, user_id=USER_ID, k=1).invoke("Who moved to Lisbon?")[0]
    assert best.page_content in STATEMENTS
    assert best.id
    assert best.metadata["conversation_id"] == "c1"
    assert best.metadata["speaker"] == "Lea"


def test_another_user_has_no_documents(client: SyncClient) -> None:
    assert MnemeRetriever(client=client, user_id=f"{USER_ID}-other").invoke("Lisbon") == []
