"""Sends the turns of a file to the service, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice

from mneme_client import Client, RememberItem
from services.cli.importers.model import BadEntry, Entry, ImportedTurn, RequestIds

GROUP_TURNS = 1_000
"""Turns in one stream: read from the file at once, and resumed when a connection is lost."""


@dataclass(frozen=True, slots=True)
class Problem:
    """An entry that was not imported."""

    place: str
    reason: str


@dataclass(slots=True)
class ImportSummary:
    """The result of an import."""

    turn_count: int = 0  # durable, those of earlier imports included
    problems: list[Problem] = field(default_factory=list)
    consistency_tokens: list[str] = field(default_factory=list)  # together they cover every turn


async def import_entries(
    client: Client, entries: Iterable[Entry], *, user_id: str, on_progress: Callable[[int], None]
) -> ImportSummary:
    """Imports the good entries and reports the bad ones. Each turn is taken or refused by itself.

    Args:
        client: The service.
        entries: What was read, in the order of the conversation.
        user_id: Id of the user.
        on_progress: Called with the progress in the file, each time a turn is durable or refused.

    Raises:
        MnemeClientError: A group could not be sent. Groups before it are durable; repeat the import.
    """
    summary = ImportSummary()
    ids = RequestIds(user_id)
    iterator = iter(entries)
    while group := list(islice(iterator, GROUP_TURNS)):
        summary.problems += [Problem(e.place, e.reason) for e in group if isinstance(e, BadEntry)]
        turns = [e for e in group if isinstance(e, ImportedTurn)]
        if turns:
            # One turn in each item, so that a refused turn refuses no other.
            result = await client.remember_stream(
                [RememberItem(user_id, e.conversation_id, e.turn, request_id=ids.request_id(e)) for e in turns],
                on_outcome=lambda index, _, turns=turns: on_progress(turns[index].consumed),  # type: ignore[misc]
            )
            summary.turn_count += result.turn_count
            summary.problems += [
                Problem(turns[r.index].place, f"{r.error.field_path} {r.error.message}".strip()) for r in result.refused
            ]
            if result.consistency_token:
                summary.consistency_tokens.append(result.consistency_token)
        on_progress(group[-1].consumed)
    return summary
