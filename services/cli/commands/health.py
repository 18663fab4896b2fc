"""`mneme health`: whether a service is ready for calls."""

from __future__ import annotations

from typing import Annotated

import typer

from services.cli.health import Answer, ask
from services.cli.state import state_of


def health(
    context: typer.Context,
    target: Annotated[
        str, typer.Option("--target", help="Address of any of the services.", show_default="the gateway's")
    ] = "",
) -> None:
    """Ask a service whether it is serving. Needs no key; the exit code is 1 when it is not."""
    state = state_of(context)
    asked = target or state.target
    answer = state.run(ask(asked, tls=state.tls, timeout_seconds=state.timeout_seconds))
    if answer is not Answer.SERVING:
        state.fail(f"{asked}: {answer.value}")
    state.out.print(f"{asked}: {answer.value}", markup=False, highlight=False, soft_wrap=True)
