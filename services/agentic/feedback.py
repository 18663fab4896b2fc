"""Use case of feedback on notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from services.agentic.config import AgenticSettings
from services.agentic.model import Link, Note, NoteId
from services.agentic.store import NoteStore, NoteWriter
from services.common.clock import Clock
from services.common.idempotency.model import Idempotency, IdempotencyKey
from services.common.owners import Owner


@dataclass(frozen=True, slots=True)
class JudgedNotes:
    """What a judgement reached."""

    note_ids: tuple[NoteId, ...]
    links: int = 0  # among the notes


class NoteFeedback:
    """Records what users say of notes that they were shown."""

    def __init__(self, store: NoteStore, *, clock: Clock, settings: AgenticSettings) -> None:
        """All collaborators are owned by the caller."""
        self._store = store
        self._clock = clock
        self._rate = settings.feedback_rate
        self._idempotency = Idempotency(JudgedNotes, retention_seconds=settings.idempotency_retention_seconds)

    async def record(
        self, owner: Owner, note_ids: Sequence[NoteId], feedback: int, *, key: IdempotencyKey
    ) -> JudgedNotes:
        """Sets the judgement of those that exist and of the links among them, instead of an earlier one.

        Links that a caller set stay as they are. A repeat returns the first result.

        Raises:
            InvalidArgument: The request id was used for another request.
        """
        now = self._clock.now()

        async def judge(writer: NoteWriter) -> JudgedNotes:
            found = await writer.get_notes(note_ids)
            notes = [found[note_id] for note_id in note_ids if note_id in found]
            changed = [note for note in notes if note.feedback != feedback]
            await writer.update_notes([replace(self._judged(note, feedback), update_time=now) for note in changed])
            links = [link for link in await writer.links_among([n.note_id for n in notes]) if link.follows_use]
            judged = [self._judged_link(link, feedback, now) for link in links if link.feedback != feedback]
            await writer.put_links(judged)
            return JudgedNotes(tuple(note.note_id for note in notes), len(links))

        async def work(writer: NoteWriter) -> JudgedNotes:
            return await self._idempotency.run(
                writer.idempotency(),
                key,
                lambda: judge(writer),
                now=now,
                user_id=owner.user_id,
                resource_id=lambda _: "",
            )

        return await self._store.write(owner, work)

    def _judged(self, note: Note, feedback: int) -> Note:
        importance = judged_importance(note.importance, before=note.feedback, after=feedback, rate=self._rate)
        return replace(note, importance=importance, feedback=feedback)

    def _judged_link(self, link: Link, feedback: int, now: datetime) -> Link:
        strength = judged_importance(link.strength, before=link.feedback, after=feedback, rate=self._rate)
        return replace(link, strength=strength, feedback=feedback, update_time=now)


def judged_importance(importance: float, *, before: int, after: int, rate: float) -> float:
    """An importance or a strength s after a judgement: good adds rate x (1 - s), bad takes away rate x s.

    Args:
        importance: The importance of a note, or the strength of a link, as it is, in [0, 1].
        before: The judgement that it follows from: -1, 0 or 1. Its effect is taken back.
        after: The judgement to apply.
        rate: In [0, 1).
    """
    unjudged = importance
    if before:
        unjudged = (importance - rate * (before > 0)) / (1.0 - rate)
    judged = unjudged if not after else (1.0 - rate) * unjudged + rate * (after > 0)
    return max(0.0, min(1.0, judged))
