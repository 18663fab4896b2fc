"""`mneme health`: whether a service is ready for calls, and whether its maintenance runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from mneme_client import MnemeClientError
from services.cli.health import Answer, ask, is_met
from services.cli.state import CliState, state_of

_MAINTENANCE = "maintenance"
"""The name of the health service that tiers report it by."""


def health(
    context: typer.Context,
    target: Annotated[
        str, typer.Option("--target", help="Address of any of the services.", show_default="the gateway's")
    ] = "",
) -> None:
    """Ask a service whether it is serving. Needs no key; the exit code is 1 when it is not.

    Also names maintenance jobs that are stopped: a tier says without a key that there are some, the gateway needs one.
    """
    state = state_of(context)
    state = replace(state, target=target or state.target)
    answer = state.run(ask(state.target, tls=state.tls, timeout_seconds=state.timeout_seconds))
    if answer is not Answer.SERVING:
        state.fail(f"{state.target}: {answer.value}")
    state.out.print(f"{state.target}: {answer.value}", markup=False, highlight=False, soft_wrap=True)
    for line in state.run(stopped_maintenance(state)):
        state.err.print(line, style="yellow", markup=False, highlight=False, soft_wrap=True)


async def stopped_maintenance(state: CliState) -> list[str]:
    """A line for each stopped job, as far as the service tells this caller."""
    runs = await is_met(state.target, _MAINTENANCE, tls=state.tls, timeout_seconds=state.timeout_seconds)
    if runs is not None:
        return [] if runs else ["maintenance: a job is stopped; `mneme maintain --jobs` at the gateway says which"]
    try:
        async with state.connect() as client:
            jobs = (await client.get_jobs()).jobs
    except MnemeClientError:
        return []
    return [
        f"maintenance: {job.name} failed {job.failure_count} times in a row and is stopped; "
        f"`mneme maintain --resume {job.name}` lets it run again"
        for job in jobs
        if job.stopped
    ]
