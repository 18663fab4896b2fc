"""`mneme mcp`: memory for any agent that speaks the Model Context Protocol."""

from __future__ import annotations

import uuid
from typing import Annotated

import typer

from mneme_client import Scope, ScopeLevel
from services.cli import options
from services.cli.state import CliState, state_of
from services.cli.version import distribution_version
from services.common.addresses import is_loopback


def mcp(
    context: typer.Context,
    user: options.User,
    conversation: Annotated[
        str, typer.Option("--conversation", "-c", help="What is remembered belongs to it. Empty: a new one.")
    ] = "",
    project: Annotated[str, typer.Option(envvar="MNEME_PROJECT", help="Read and write in this project's scope.")] = "",
    http: Annotated[
        str,
        typer.Option(
            "--http", metavar="HOST:PORT", help="Serve streamable HTTP at /mcp of this address instead of stdio."
        ),
    ] = "",
    budget: Annotated[int, typer.Option(min=64, max=100_000, help="Tokens of a context.")] = 1_500,
) -> None:
    """Serve one user's memory to an agent by MCP, on stdio or by HTTP."""
    state = state_of(context)
    scope = Scope(ScopeLevel.PROJECT, project_id=project) if project else Scope()
    state.run(_serve(state, user, conversation or f"mcp-{uuid.uuid4()}", scope, http, budget))


async def _serve(state: CliState, user: str, conversation: str, scope: Scope, http: str, budget: int) -> None:
    try:
        # Imported here: the protocol's library is an extra.
        from services.cli.mcp.server import McpSettings, create_server
    except ModuleNotFoundError as error:
        state.fail(f"{error.name} is not installed", "`make setup` brings it, or `pip install -e '.[mcp]'` in a clone.")
    settings = McpSettings(user, conversation, scope, token_budget=budget)
    async with state.client() as client:
        server = create_server(client, settings, version=distribution_version())
        if not http:
            await server.run_stdio_async()
            return
        host, _, port = http.rpartition(":")
        if not port.isdecimal() or not is_loopback(http):
            # Every caller acts as this user: put an authenticating proxy before it where others can reach it.
            raise typer.BadParameter("must be HOST:PORT with a host on loopback", param_hint="--http")
        await server.run_streamable_http_async(host=host or "127.0.0.1", port=int(port))
