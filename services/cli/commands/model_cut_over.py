"""`mneme model status`, `cut-over` and `back`: the change of the embedding model while the services run."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated, Final

import typer

from mneme_client import Client, EmbeddingModelState
from services.cli import options
from services.cli.rendering import as_json, when
from services.cli.state import CliState, state_of

_CUT_OVER_SECONDS: Final = 290.0
"""For the cut-over, which counts first what lacks the model."""
_POLL_SECONDS: Final = 0.5


Wait = Annotated[float, typer.Option("--wait", min=0.0, help="Seconds to wait until every process has followed.")]
AllowGaps = Annotated[
    bool,
    typer.Option(
        "--allow-gaps", help="Continue even if memories have no vector of the model; they are embedded afterwards."
    ),
]


def status(context: typer.Context, json: options.Json = False) -> None:
    """Show which embedding model serves, and what each running process holds. Needs the role admin."""
    state = state_of(context)
    _show(state, state.run(_state(state)), json=json)


def cut_over(
    context: typer.Context,
    to: Annotated[str, typer.Option(help="Fingerprint of the model; default: the other one that is held.")] = "",
    allow_gaps: AllowGaps = False,
    wait: Wait = 60.0,
    json: options.Json = False,
) -> None:
    """Change over to the second embedding model while the services run. Needs the role admin.

    All services must hold both models (MNEME_EMBEDDING_SECOND_MODEL_DIR), the second index of episodes must be filled,
    and facts and notes must have vectors of both. Calls go on meanwhile.
    """
    state = state_of(context)
    _show(state, state.run(_change(state, to, back=False, allow_gaps=allow_gaps, wait=wait)), json=json)


def back(context: typer.Context, allow_gaps: AllowGaps = False, wait: Wait = 60.0, json: options.Json = False) -> None:
    """Go back to the embedding model before the last cut-over. Needs the role admin."""
    state = state_of(context)
    _show(state, state.run(_change(state, "", back=True, allow_gaps=allow_gaps, wait=wait)), json=json)


async def _state(state: CliState) -> EmbeddingModelState:
    async with state.connect() as client:
        return await client.get_embedding_model()


async def _change(state: CliState, model: str, *, back: bool, allow_gaps: bool, wait: float) -> EmbeddingModelState:
    async with state.connect() as client:
        target = model or _target(state, await client.get_embedding_model(), back=back)
        made = await client.cut_over_embedding_model(target, allow_gaps=allow_gaps, timeout_seconds=_CUT_OVER_SECONDS)
        return await _followed(client, made, wait)


def _target(state: CliState, found: EmbeddingModelState, *, back: bool) -> str:
    if back:
        if not found.former_model:
            state.fail("there was no cut-over, or it has ended: there is no former model to go back to")
        return found.former_model
    others = [model for model in found.held_models if model != found.serving_model]
    if not others:
        state.fail(
            f"the gateway holds {found.serving_model} alone",
            "Start all services with the folder of the new model as MNEME_EMBEDDING_SECOND_MODEL_DIR.",
        )
    if others[0] == found.former_model:
        state.fail(f"{found.serving_model} serves since the last cut-over", "The way back is `mneme model back`.")
    return others[0]


async def _followed(client: Client, found: EmbeddingModelState, seconds: float) -> EmbeddingModelState:
    """How things stand once every process has reported the serving model, or when the time is over."""
    end = time.monotonic() + seconds
    while _lagging(found) and time.monotonic() < end:
        await asyncio.sleep(_POLL_SECONDS)
        found = await client.get_embedding_model()
    return found


def _lagging(found: EmbeddingModelState) -> int:
    return sum(process.serving_model != found.serving_model for process in found.processes)


def _show(state: CliState, found: EmbeddingModelState, *, json: bool) -> None:
    if json:
        state.out.print(as_json(found), markup=False, highlight=False, soft_wrap=True)
        return
    lines = [f"serving: {found.serving_model}"]
    if found.change_time is not None:
        lines[0] += f" since {when(found.change_time)}"
    if found.former_model:
        lines.append(f"former:  {found.former_model}")
    lines += [
        f"held:    {model}" for model in found.held_models if model not in {found.serving_model, found.former_model}
    ]
    for process in found.processes:
        held = "holds both" if len(process.held_models) > 1 else "holds one"
        lines.append(f"  {process.service}: {held}, serves with {process.serving_model} ({process.process_id})")
    if lagging := _lagging(found):
        lines.append(f"{lagging} processes have not reported yet that they follow; searches are right meanwhile.")
    for line in lines:
        state.out.print(line, markup=False, highlight=False, soft_wrap=True)
