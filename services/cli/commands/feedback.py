"""`mneme feedback`: how good memories were."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from services.cli import options
from services.cli.state import CliState, state_of


class Judgement(Enum):
    """What is said of the memories."""

    GOOD = "good"
    BAD = "bad"
    NONE = "none"


_VALUES = {Judgement.GOOD: 1, Judgement.BAD: -1, Judgement.NONE: 0}


def feedback(
    context: typer.Context,
    judgement: Annotated[Judgement, typer.Argument(help="none takes an earlier judgement back.")],
    memory_ids: Annotated[list[str], typer.Argument(help="The memories, by id; `recall --json` shows them.")],
    user: options.User,
) -> None:
    """Judge memories of an earlier answer."""
    state = state_of(context)
    state.run(_feedback(state, user, memory_ids, _VALUES[judgement]))


async def _feedback(state: CliState, user: str, memory_ids: list[str], value: int) -> None:
    async with state.connect() as client:
        await client.feedback(user, memory_ids, value)
    state.out.print(f"Noted for {len(memory_ids)} memories.", highlight=False)
