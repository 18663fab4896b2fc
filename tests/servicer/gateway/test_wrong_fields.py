"""A refused request names every wrong field at once, whatever RPC it is for: its caller mends it in one go."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any

import grpc
import pytest
import pytest_asyncio

from tests.servicer.gateway.test_every_rpc import LISTS, NOBODY, SEARCHES, WRITES
from tests.support.every_method import METHODS, Caller, Ids
from tests.support.stack import RunningStack, refusal

pytestmark = pytest.mark.asyncio(loop_scope="session")

UNKNOWN = Ids(NOBODY, NOBODY, (NOBODY, str(uuid.UUID(int=8))), NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY)


def named(fields: Mapping[str, Callable[[Ids], Any]]) -> Sequence[str]:
    """Those of the methods whose requests name a user."""
    return sorted(name for name in fields if "user_id" in METHODS[name].input_type.fields_by_name)


@pytest_asyncio.fixture(loop_scope="session")
async def call_of_nobody(stack: RunningStack) -> AsyncIterator[Caller]:
    """A caller whose user has an id that no service accepts."""
    async with grpc.aio.insecure_channel(stack.target) as channel:
        yield Caller(channel, "\x01")


async def wrong_fields(call: Awaitable[Any]) -> set[str]:
    refused = await refusal(call)
    assert refused.code is grpc.StatusCode.INVALID_ARGUMENT
    return set(refused.paths)


@pytest.mark.parametrize("name", sorted({*named(WRITES)} - {"MemoryService.Remember"}))
async def test_spec_7_2_a_write_names_every_wrong_field(call_of_nobody: Caller, name: str) -> None:
    assert {"request_id", "user_id"} <= await wrong_fields(call_of_nobody(name, WRITES[name](UNKNOWN)[0]))


@pytest.mark.parametrize("name", named(LISTS))
async def test_spec_7_2_a_list_names_every_wrong_field(call_of_nobody: Caller, name: str) -> None:
    fields = {**LISTS[name](UNKNOWN), "page_size": -1}
    assert {"page_size", "user_id"} <= await wrong_fields(call_of_nobody(name, fields))


@pytest.mark.parametrize("name", sorted(SEARCHES))
async def test_spec_7_2_a_search_names_every_wrong_field(call_of_nobody: Caller, name: str) -> None:
    fields = {**SEARCHES[name], "limit": -1}
    assert {"limit", "user_id"} <= await wrong_fields(call_of_nobody(name, fields))
