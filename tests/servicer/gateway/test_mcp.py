"""The MCP server over a real gateway, called by the protocol's own client."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator

import pytest
from mcp import Client as McpClient
from mcp.client.client import ConnectMode
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from mneme_client import Client, Scope
from services.cli.mcp.server import McpSettings, create_server
from services.common.tokens import token_counter
from tests.support.stack import RunningStack, until

pytestmark = pytest.mark.asyncio(loop_scope="session")

DEADLINE_SECONDS = 90.0
"""Of what a process does that has to start first, on a machine with much else to do."""


def settings(user_id: str) -> McpSettings:
    return McpSettings(user_id, "mcp-1", Scope())


async def call(server: McpClient, tool: str, **arguments: object) -> str:
    result = await server.call_tool(tool, arguments)
    assert not result.is_error, result
    return "".join(part.text for part in result.content if part.type == "text")


async def test_spec_9_3_few_terse_tools(client: Client, user_id: str) -> None:
    async with McpClient(create_server(client, settings(user_id))) as server:
        tools = (await server.list_tools()).tools
    described = "".join(tool.model_dump_json(exclude_none=True, by_alias=True) for tool in tools)
    assert {tool.name for tool in tools} == {"recall", "remember", "correct", "forget", "feedback"}
    assert token_counter().count_tokens(described) < 1_500
    assert "user_id" not in described  # the model does not choose whose memory it reads


async def test_spec_9_3_remember_recall_correct_and_forget(client: Client, user_id: str) -> None:
    async with McpClient(create_server(client, settings(user_id))) as server:
        remembered = await call(server, "remember", text="My van is from 2014.")
        memory_id = remembered.split()[-1].rstrip(".")

        async def is_found() -> bool:
            return memory_id in await call(server, "recall", query="How old is the van?")

        await until(is_found)
        assert await call(server, "feedback", memory_ids=[memory_id], good=True) == "Judged 1."
        await call(server, "correct", wrong="My van is from 2014.", right="My van is from 2016.")

        async def is_superseded() -> bool:
            return f"[{memory_id}]" not in (await call(server, "recall", query="van", limit=1))

        await until(is_superseded)
        plan = await call(server, "forget", query="everything about my van")
        assert "2014" in plan
        assert (await call(server, "forget", plan_token=plan.split()[-1])).startswith("Erased")
        assert memory_id not in await call(server, "recall", query="van")


async def test_spec_9_3_a_model_finds_what_it_has_just_stored(client: Client, user_id: str) -> None:
    async with McpClient(create_server(client, settings(user_id))) as server:
        for year in range(2001, 2009):
            await call(server, "remember", text=f"I bought a van in {year}.")
            assert str(year) in await call(server, "recall", query=f"van {year}")
        await call(server, "remember", text="I bought a red bicycle.")
        corrected = await call(server, "correct", wrong="I bought a red bicycle", right="I bought a green bicycle.")
        assert "superseded: I bought a red bicycle." in corrected
        assert "green bicycle" in await call(server, "recall", query="bicycle")
        await call(server, "remember", text="I own a canoe.")
        assert "1 turn, 1 fact, " in await call(server, "forget", query="the canoe")


async def test_spec_9_3_a_model_learns_in_words_that_nothing_is_wrong(client: Client, user_id: str) -> None:
    async with McpClient(create_server(client, settings(user_id))) as server:
        result = await server.call_tool("correct", {"wrong": "I play chess", "right": "I play go."})
    assert result.is_error
    assert "No memory says that" in str(result.content)


async def test_spec_9_3_a_context_as_resource_and_prompt(client: Client, user_id: str) -> None:
    written = await client.remember(user_id, "c1", "I am allergic to peanuts.")
    await client.wait_until_visible(user_id, written.consistency_token)
    async with McpClient(create_server(client, settings(user_id))) as server:
        resource = await server.read_resource("mneme://context")
        for_query = await server.read_resource("mneme://context/What%20can%20I%20eat%3F")
        prompt = await server.get_prompt("with_memory", {"message": "What can I eat?"})
    assert "peanuts" in str(resource.contents)
    assert "peanuts" in str(for_query.contents)
    assert "peanuts" in str(prompt.messages[0])
    assert "What can I eat?" in str(prompt.messages[-1])


async def test_spec_9_3_a_failure_reaches_the_model_in_words(client: Client, user_id: str) -> None:
    async with McpClient(create_server(client, settings(user_id))) as server:
        result = await server.call_tool("recall", {"query": " "})
    assert result.is_error
    assert "query" in str(result.content)


async def test_spec_9_3_a_resource_that_cannot_be_read_says_why(client: Client, user_id: str) -> None:
    async with McpClient(create_server(client, settings(user_id))) as server:
        with pytest.raises(MCPError, match="query"):
            await server.read_resource("mneme://context/%20")


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_spec_9_3_no_capability_is_declared_without_use(client: Client, user_id: str, mode: ConnectMode) -> None:
    async with McpClient(create_server(client, settings(user_id)), mode=mode) as server:
        declared = server.server_capabilities
    assert declared.completions is None
    assert declared.logging is None
    assert declared.resources is not None
    assert not declared.resources.subscribe
    assert not declared.resources.list_changed


def command(stack: RunningStack, user_id: str, *options: str) -> list[str]:
    """`mneme mcp` as a process, for a user of a running gateway."""
    return [sys.executable, "-m", "services.cli.main", "--target", stack.target, "mcp", "--user", user_id, *options]


async def list_remember_and_recall(server: McpClient) -> None:
    """What an agent does, by any transport."""
    tools = (await server.list_tools()).tools
    assert {tool.name for tool in tools} == {"recall", "remember", "correct", "forget", "feedback"}
    assert await call(server, "recall", query="Anything?") == "Nothing was found."
    await call(server, "remember", text="My sister breeds alpacas in Cusco.")

    async def is_found() -> bool:
        return "alpacas" in await call(server, "recall", query="What does my sister breed?")

    await until(is_found)


async def test_spec_9_3_mneme_mcp_speaks_on_stdio(stack: RunningStack, client: Client, user_id: str) -> None:
    program, *arguments = command(stack, user_id)
    async with (
        asyncio.timeout(DEADLINE_SECONDS),
        McpClient(stdio_client(StdioServerParameters(command=program, args=arguments))) as server,
    ):
        await list_remember_and_recall(server)
    assert (await client.recall(user_id, "alpacas")).memories  # the user of the command line, whom no tool names


@contextlib.asynccontextmanager
async def served_by_http(arguments: list[str]) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process in a group of its own, which is told to end and must do so in time."""
    process = await asyncio.create_subprocess_exec(
        *arguments, stderr=asyncio.subprocess.DEVNULL, start_new_session=True
    )
    try:
        yield process
        process.terminate()
        async with asyncio.timeout(DEADLINE_SECONDS):
            await process.wait()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


async def accepts(process: asyncio.subprocess.Process, host: str, port: int) -> bool:
    assert process.returncode is None, "mneme mcp has ended"
    try:
        _, writer = await asyncio.open_connection(host, port)
    except OSError:
        return False
    writer.close()
    return True


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_spec_9_3_mneme_mcp_speaks_streamable_http(
    stack: RunningStack, client: Client, user_id: str, mode: ConnectMode
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        host, port = free.getsockname()
    arguments = command(stack, user_id, "--conversation", "by-http", "--http", f"{host}:{port}")
    async with asyncio.timeout(2 * DEADLINE_SECONDS), served_by_http(arguments) as process:
        await until(lambda: accepts(process, host, port), timeout_seconds=DEADLINE_SECONDS)
        async with McpClient(f"http://{host}:{port}/mcp", mode=mode, read_timeout_seconds=20) as server:
            await list_remember_and_recall(server)
        async with McpClient(f"http://{host}:{port}/mcp", mode=mode, read_timeout_seconds=20) as another:
            assert "alpacas" in await call(another, "recall", query="What does my sister breed?")
    conversations = [one.conversation_id async for one in client.list_conversations(user_id)]
    assert conversations == ["by-http"]


@pytest.mark.parametrize("address", ["0.0.0.0:7790", "127.0.0.1", "127.0.0.1:http"])
async def test_spec_9_3_mneme_mcp_serves_http_on_loopback_alone(
    stack: RunningStack, user_id: str, address: str
) -> None:
    process = await asyncio.create_subprocess_exec(
        *command(stack, user_id, "--http", address), stderr=asyncio.subprocess.PIPE, start_new_session=True
    )
    try:
        async with asyncio.timeout(DEADLINE_SECONDS):
            _, said = await process.communicate()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 2
    assert b"loopback" in said
