from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from typing import Any

import grpc
import pytest

from mneme_client import Client, MnemeClientError, RememberItem, SyncClient
from tests.servicer.client.conftest import QUICK, Running
from tests.servicer.client.fake_gateway import FakeGateway, invalid


def _public(kind: type) -> dict[str, Any]:
    return {n: f for n, f in inspect.getmembers(kind, callable) if not n.startswith("_")}


def test_both_clients_offer_the_same_methods_with_the_same_arguments() -> None:
    ours, theirs = _public(SyncClient), _public(Client)
    assert ours.keys() == theirs.keys()
    for name, method in ours.items():
        parameters = inspect.signature(method).parameters
        others = inspect.signature(theirs[name]).parameters
        assert {n: (p.kind, p.default) for n, p in parameters.items()} == {
            n: (p.kind, p.default) for n, p in others.items()
        }, name


async def test_everything_works_without_an_event_loop(running: Running) -> None:
    def use() -> None:
        with SyncClient(running.target, retry=QUICK) as client:
            running.gateway.lose_answers = 1
            assert client.remember("u", "c", ["one", "two", "three"]).replayed
            running.gateway.lose_answers = 1
            items = [RememberItem("u", "d", "x"), RememberItem("u", "d", "")]
            assert client.remember_stream(items).refused[0].index == 1
            assert client.remember_stream(iter(items[:1])).accepted_count == 1
            assert [i.position for i in client.list_interactions("u", "c", page_size=2)] == [0, 1, 2]
            assert {c.conversation_id for c in client.list_conversations("u", page_size=1)} == {"c", "d"}
            running.gateway.visible_after_recalls = 1
            client.wait_until_visible("u", "token", timeout_seconds=30)
            assert client.recall("u", "q").recall_id == "recall-1"

    await asyncio.to_thread(use)
    assert len(running.gateway.log[("u", "c")]) == 3


async def test_errors_keep_their_facts(running: Running, gateway: FakeGateway) -> None:
    gateway.failures = [invalid()]

    def use() -> None:
        with SyncClient(running.target) as client, pytest.raises(MnemeClientError) as caught:
            client.get_backlog()
        assert caught.value.code is grpc.StatusCode.INVALID_ARGUMENT
        assert caught.value.violations[0].description == "is required"

    await asyncio.to_thread(use)


async def test_spec_9_2_what_a_source_raises_reaches_the_caller(running: Running) -> None:
    def items() -> Iterator[RememberItem]:
        yield RememberItem("u", "c", "one")
        raise OSError("the file is gone")

    def parts() -> Iterator[bytes]:
        yield from (item.conversation_id.encode() for item in [*items()])

    def use() -> None:
        with SyncClient(running.target) as client:
            with pytest.raises(OSError, match="the file is gone"):
                client.remember_stream(items())
            with pytest.raises(OSError, match="the file is gone"):
                client.import_user(parts())

    await asyncio.to_thread(use)
