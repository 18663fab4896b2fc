"""`mneme feedback`: how good memories were."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Annotated

import typer

from mneme_client import FeedbackValue
from services.cli import options
from services.cli.state import CliState, state_of


class Judgement(Enum):
    """How the memories are judged."""

    GOOD = "good"
    BAD = "bad"
    NONE = "none"


@dataclass(frozen=True)
class _Named:
    """What is judged."""

    memory_ids: list[str]
    fact_ids: list[str]
    note_ids: list[str]
    recall_id: str


def feedback(
    context: typer.Context,
    judgement: Annotated[Judgement, typer.Argument(help="none withdraws an earlier judgement.")],
    user: options.User,
    memory_ids: Annotated[
        list[str] | None, typer.Argument(help="The recalled turns, by id; `recall --json` shows them.")
    ] = None,
    fact: Annotated[list[str] | None, typer.Option(help="A recalled fact, by id; repeatable.")] = None,
    note: Annotated[list[str] | None, typer.Option(help="A recalled note, by id; repeatable.")] = None,
    recall: Annotated[str, typer.Option(help="The recall, by id: all that it returned is judged.")] = "",
) -> None:
    """Judge memories of an earlier recall, or the recall as a whole."""
    state = state_of(context)
    named = _Named(memory_ids or [], fact or [], note or [], recall)
    state.run(_feedback(state, user, FeedbackValue[judgement.name], named))


async def _feedback(state: CliState, user: str, value: FeedbackValue, named: _Named) -> None:
    async with state.connect() as client:
        result = await client.feedback(
            user,
            value,
            memory_ids=named.memory_ids,
            fact_ids=named.fact_ids,
            note_ids=named.note_ids,
            recall_id=named.recall_id,
        )
    noun = "memory" if result.memory_count == 1 else "memories"
    state.out.print(f"Noted for {result.memory_count} {noun}.", highlight=False)
