"""`mneme demo`: an example conversation, with questions, their answers, the reasons, and what the notes say."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from opentelemetry.trace import Tracer
from rich.table import Table
from rich.text import Text

from mneme_client import Client, RecallResult
from services.cli import options
from services.cli.commands.demo_coding import default_root, run_coding_demo
from services.cli.commands.demo_insights import show_insights
from services.cli.commands.up import stop_signals
from services.cli.demo_data import DEMO_USER, DemoQuestion, demo_entries, demo_questions
from services.cli.health import Answer, ask
from services.cli.importers.load import import_entries
from services.cli.importers.model import ImportedTurn
from services.cli.local_stack import StackOptions, open_stack
from services.cli.local_stack import http_port as chosen_http_port
from services.cli.rendering import (
    derived_text,
    parts_in_words,
    print_degraded,
    retrievers_in_words,
    turn_text,
    when,
    who,
)
from services.cli.state import CliState, state_of
from services.cli.traces import trace_calls

_MEMORIES_SHOWN = 3
_FACTS_SHOWN = 3
_FACT_SIMILARITY_MIN = 0.3
"""Facts that are less similar to the question are not shown: a recall returns the nearest ones, however far away."""
_VISIBLE_TIMEOUT_SECONDS = 300.0


def demo(
    context: typer.Context,
    serve: Annotated[bool, typer.Option("--serve", help="Keep serving afterwards.")] = False,
    data_dir: options.DataDir = None,
    host: options.Host = "127.0.0.1",
    port: options.Port = 7700,
    http_port: options.HttpPort = None,
    trace_console: options.TraceConsole = False,
    coding: Annotated[
        bool, typer.Option("--coding", help="Show a day of a coding agent on a repository instead.")
    ] = False,
    path: Annotated[
        Path | None,
        typer.Option(
            "--path", exists=True, file_okay=False, help="Folder of the repository; Mneme's own if not given."
        ),
    ] = None,
) -> None:
    """Import a conversation of two friends, ask questions about it, and show the answers with their reasons.

    At the end it shows what the notes say as a whole: topics, suggestions, a reflection, and their health.

    With --coding it indexes a repository, works through a recorded day of a coding agent on it, and takes the work up
    again the next day. Uses the service at --target if there is one, and else starts all services in this process.
    """
    state = state_of(context, data_dir=data_dir)
    served = StackOptions(
        data_dir=state.data_dir, host=host, port=port, http_port=chosen_http_port(http_port, port=port) if serve else 0
    )
    if coding:
        root = (path or default_root()).resolve()
        state.run(_coding_demo(state, served, root, serve=serve, trace=trace_console))
        return
    state.run(_demo(state, served, serve=serve, trace=trace_console))


async def _demo(state: CliState, served: StackOptions, *, serve: bool, trace: bool) -> None:
    begun = time.monotonic()
    with trace_calls(state.out, enabled=trace) as tracer:
        async with _service(state, tracer, served) as (target, client, is_ours):
            asked_at = await _ensure_imported(state, client)
            for number, question in enumerate(demo_questions(), start=1):
                if question.shown:
                    await _ask(state, client, question, number=number, as_of_time=asked_at, begun=begun)
            asked = [question.question for question in demo_questions() if question.shown]
            await show_insights(state.out, client, DEMO_USER, asked=asked, until=datetime.now(UTC))
            state.out.print(f"\nAll of this took {time.monotonic() - begun:.1f} s.", highlight=False)
            _print_next_steps(state, target, is_serving=serve or not is_ours)
            if serve and is_ours:
                await _serve(state)


async def _coding_demo(state: CliState, served: StackOptions, root: Path, *, serve: bool, trace: bool) -> None:
    with trace_calls(state.out, enabled=trace) as tracer:
        async with _service(state, tracer, served) as (_, client, is_ours):
            await run_coding_demo(state, client, root)
            if serve and is_ours:
                await _serve(state)


async def _serve(state: CliState) -> None:
    stop = stop_signals()
    state.out.print("\nServing. Ctrl-C stops it.", style="dim")
    await stop.wait()
    state.out.print("stopping: calls under way are finished first")


@asynccontextmanager
async def _service(
    state: CliState, tracer: Tracer | None, served: StackOptions
) -> AsyncIterator[tuple[str, Client, bool]]:
    """The address of a service, a client of it, and whether it runs in this process."""
    if await ask(state.target, tls=state.tls) is Answer.SERVING:
        state.out.print(f"Using the service at {state.target}.", markup=False, highlight=False)
        async with state.client(tracer) as client:
            yield state.target, client, False
        return
    state.out.print(f"Starting all services on embedded engines, data in {state.data_dir}", soft_wrap=True)
    started = time.monotonic()
    stack = open_stack(served)
    async with stack as target, state.local_client(target, tracer) as client:
        elapsed = time.monotonic() - started
        state.out.print(f"Serving at {target} after {elapsed:.1f} s.", markup=False, highlight=False)
        yield target, client, True


async def _ensure_imported(state: CliState, client: Client) -> datetime | None:
    """Imports the conversation unless it is there, and returns the time of its last turn."""
    entries = demo_entries()
    turns = [entry for entry in entries if isinstance(entry, ImportedTurn)]
    present = sum([c.interaction_count async for c in client.list_conversations(DEMO_USER)])
    if present >= len(turns):
        state.out.print(f"The demo conversation is there already: {present} turns.", highlight=False)
        await _wait_for_backlog(state, client)
        return turns[-1].turn.time
    started = time.monotonic()
    with state.out.status(f"Importing {len(turns)} turns"):
        summary = await import_entries(client, entries, user_id=DEMO_USER, on_progress=lambda _: None)
    durable = time.monotonic()
    with state.out.status("Waiting until they can be found"):
        await client.wait_until_visible(
            DEMO_USER, *summary.consistency_tokens, timeout_seconds=_VISIBLE_TIMEOUT_SECONDS
        )
    state.out.print(
        f"Imported {summary.turn_count} turns: durable after {durable - started:.1f} s, "
        f"embedded, indexed and read for facts and notes after {time.monotonic() - started:.1f} s.",
        highlight=False,
    )
    return turns[-1].turn.time


async def _wait_for_backlog(state: CliState, client: Client) -> None:
    """Waits for the deliveries of an interrupted import, which left no consistency token."""
    with state.out.status("Waiting for deliveries that are still under way"):
        async with asyncio.timeout(_VISIBLE_TIMEOUT_SECONDS):
            # The deliveries may be another process's, so this polls.
            while any(tier.pending_count for tier in await client.get_backlog()):  # noqa: ASYNC110
                await asyncio.sleep(0.2)


async def _ask(
    state: CliState,
    client: Client,
    question: DemoQuestion,
    *,
    number: int,
    as_of_time: datetime | None,
    begun: float,
) -> None:
    started = time.monotonic()
    found = await client.recall(DEMO_USER, question.question, limit=10, as_of_time=as_of_time)
    elapsed = time.monotonic() - started
    out = state.out
    if number == 1:
        out.print(f"First answer {time.monotonic() - begun:.1f} s after the start.", highlight=False)
    out.print()
    out.print(Text.assemble((f"{number}. {question.question}", "bold"), (f"  {elapsed * 1e3:.0f} ms", "dim")))
    out.print(Text(f"   expected: {question.answer}", style="dim"))
    _print_memories(state, found)
    near = [recalled for recalled in found.facts if recalled.similarity >= _FACT_SIMILARITY_MIN]
    for recalled in near[:_FACTS_SHOWN]:
        out.print(Text.assemble(("   fact  ", "magenta"), derived_text(recalled, explain=False)))
    print_degraded(out, found.tiers, degraded=found.degraded)


def _print_memories(state: CliState, found: RecallResult) -> None:
    for rank, memory in enumerate(found.memories[:_MEMORIES_SHOWN], start=1):
        said = Text.assemble((when(memory.turn.time), "cyan"), "  ", (who(memory.turn).plain, "green"), ": ")
        reasons = (
            f"{retrievers_in_words(memory.explanation)}; {memory.score:.2f} = {parts_in_words(memory.explanation)}"
        )
        table = Table.grid(padding=(0, 2))
        table.add_row(f"   {rank}", said.append_text(turn_text(memory.turn)))
        table.add_row("", Text(reasons, style="yellow"))
        state.out.print(table)


def _print_next_steps(state: CliState, target: str, *, is_serving: bool) -> None:
    if not is_serving:
        state.out.print("`mneme demo --serve` keeps serving, so that you can ask questions of your own.")
        return
    request = f'{{"user_id": "{DEMO_USER}", "query": "What does Nadia grow?", "limit": 3}}'
    lines = [
        "",
        "Ask it yourself, with no file but grpcurl (`make tools` gets it):",
        f"  grpcurl -plaintext -d '{request}' {target} mneme.gateway.v1.MemoryService/Recall",
        "from the command line:",
        f'  .venv/bin/mneme --target {target} recall "What does Nadia grow?" --user {DEMO_USER} --explain',
        "or from Python:",
        "  from mneme_client import SyncClient",
        f'  with SyncClient("{target}") as client:',
        f'      for memory in client.recall("{DEMO_USER}", "What does Nadia grow?").memories:',
        "          print(memory.turn.time, memory.turn.speaker, memory.text)",
    ]
    for line in lines:
        state.out.print(line, markup=False, highlight=False, soft_wrap=True)
