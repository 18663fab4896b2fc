"""Notes whose content is easily found again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from services.agentic.model import GenerationResult, Note
from services.agentic.store import NoteStore, NoteWriter, ProcessedTurn
from services.common.idempotency.model import Idempotency, IdempotencyKey
from services.common.turns import Attachment
from tests.contract.note_samples import ANN, NOW, add, interaction_id, make_note, note_id

CANARY: Final = "Miso the cat prefers sardines"
FORMER: Final = f"{CANARY} (former)"


@dataclass(frozen=True)
class Response:
    text: str


RESPONSES = Idempotency(Response, retention_seconds=60.0)


def canary(number: int = 1) -> Note:
    return replace(
        make_note(number),
        content=f"{CANARY} (content)",
        spoken=f"{CANARY} (spoken)",
        speaker=f"{CANARY} (speaker)",
        keywords=(f"{CANARY} (keyword)",),
        tags=(f"{CANARY} (tag)", "pets"),
        attachments=(Attachment(f"s3://{CANARY}", "image/png", f"{CANARY} (caption)"),),
        metadata={"k": f"{CANARY} (metadata)"},
    )


async def former_content(store: NoteStore, number: int = 1) -> str:
    """What a note of `write_canaries` said first."""
    found = (await store.histories(ANN, [note_id(number)]))[note_id(number)]
    return found.at(NOW - timedelta(seconds=1)).content


async def write_canaries(store: NoteStore, number: int = 1) -> None:
    """A note whose text was changed since, and what else there is of it."""
    await add(store, {0.0: replace(canary(number), content=FORMER)})

    async def work(writer: NoteWriter) -> None:
        await writer.update_notes([canary(number)])
        result = GenerationResult(interaction_id(number), (note_id(number),))
        await writer.add_processed([ProcessedTurn(result, "c1", number, f"{CANARY}?", f"{CANARY} (asks)")])
        await respond(writer, number)

    await store.write(ANN, work)


async def respond(writer: NoteWriter, number: int) -> Response:
    async def made() -> Response:
        return Response(f"{CANARY} (response)")

    return await RESPONSES.run(
        writer.idempotency(),
        IdempotencyKey("agent", f"r{number}", "digest"),
        made,
        now=NOW,
        user_id=ANN.user_id,
        resource_id=lambda _: note_id(number),
    )
