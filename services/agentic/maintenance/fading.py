"""Job: weakens links that are not used, and removes those that became too weak (SPEC 4.3)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from services.agentic.config import FadingSettings
from services.agentic.maintenance.reading import NoteReading, UserNotes
from services.agentic.model import Link, LinkKey, LinkOrigin, LinkType, NoteId
from services.agentic.store import NoteStore, NoteWriter
from services.common.clock import Clock
from services.common.errors import NotFound
from services.common.maintenance import Cap, Change, Step
from services.common.maintenance.grounds import grounds
from services.common.maintenance.model import Json
from services.common.owners import Owner

_FADE: Final = "fade_link"
_REMOVE: Final = "remove_link"
_BATCH: Final = 500


class FadeLinks:
    """Weakens RELATED_TO links that nobody set by hand, once for each whole period without a use.

    Strength is a function of time: however often the job runs, a link has strength x factor ^ periods. `update_time`
    says up to when that was counted. Time counts up to the user's latest activity: a user who is away loses nothing.
    """

    name = "agentic.fade_links"

    def __init__(self, store: NoteStore, clock: Clock, settings: FadingSettings, *, page: int) -> None:
        """Weakens in `store`; reads `page` notes at once."""
        self._store = store
        self._clock = clock
        self._settings = settings
        self._reading = NoteReading(store, model="", page=page, with_links=True)
        self.cap = Cap()  # it retires no memories

    def steps(self, *, after: str, owner: Owner | None) -> AsyncIterator[Step[UserNotes]]:
        """See `Job.steps`."""
        return self._reading.steps(after=after, owner=owner)

    def plan(self, state: UserNotes, now: datetime) -> Sequence[Change]:
        """See `Job.plan`."""
        settings, time = self._settings, min(now, state.active_time)
        period = timedelta(days=settings.period_days)
        changes: list[Change] = []
        for link in state.links:
            periods = max(0, (time - link.update_time) // period)
            strength = link.strength * settings.factor**periods
            # Feedback can make a link too weak within a period.
            if not link.follows_use or (periods < 1 and strength >= settings.strength_min):
                continue
            facts: dict[str, Json] = {
                "from": link.key.from_note_id,
                "to_note": link.key.to_note_id,
                "strength": link.strength,
                "origin": int(link.origin),
                "created": link.create_time.isoformat(),
                "updated": link.update_time.isoformat(),
                "to": strength,
                "feedback": link.feedback,
                "counted": (link.update_time + periods * period).isoformat(),
            }
            action = _FADE if strength >= settings.strength_min else _REMOVE
            ends = (link.key.from_note_id, link.key.to_note_id)
            # As long as it is not used or set, whether it fades or goes.
            seen = (grounds(_FADE, ends, link.strength, link.update_time.isoformat()),)
            changes.append(Change(action, " ".join(ends), 0, facts, seen))
        return changes

    async def apply(self, owner: Owner | None, changes: Sequence[Change]) -> Sequence[Change]:
        """See `Job.apply`. A link that was used or set meanwhile stays as it is."""
        made: list[Change] = []
        for start in range(0, len(changes), _BATCH):
            made += await self._apply(owner, changes[start : start + _BATCH]) if owner is not None else []
        return made

    async def _apply(self, owner: Owner, changes: Sequence[Change]) -> list[Change]:
        async def work(writer: NoteWriter) -> list[Change]:
            made: list[Change] = []
            faded: list[Link] = []
            for change in changes:
                before = _link(change, "strength", "updated")
                if await writer.get_link(before.key) != before:
                    continue
                made.append(change)
                if change.action == _FADE:
                    faded.append(_link(change, "to", "counted"))
                else:
                    await writer.delete_link(before.key)
            await writer.put_links(faded)
            await writer.forget_idle_pairs(self._clock.now() - timedelta(days=self._settings.pair_days))
            return made

        return await self._store.write(owner, work)

    async def undo(self, owner: Owner | None, changes: Sequence[Change]) -> int:
        """See `Job.undo`: puts links back that were not set since, between notes that are there."""
        if owner is None:
            return 0
        count = 0
        for change in changes:
            count += await self._undo(owner, change)
        return count

    async def _undo(self, owner: Owner, change: Change) -> int:
        before, after = _link(change, "strength", "updated"), _link(change, "to", "counted")

        async def work(writer: NoteWriter) -> int:
            found = await writer.get_link(before.key)
            if found != (after if change.action == _FADE else None):
                return 0
            await writer.put_links([before])
            return 1

        try:
            return await self._store.write(owner, work)
        except NotFound:
            return 0  # a note of the link is gone


def _link(change: Change, strength: str, time: str) -> Link:
    facts = change.facts
    key = LinkKey(NoteId(str(facts["from"])), NoteId(str(facts["to_note"])), LinkType.RELATED_TO)
    return Link(
        key,
        float(str(facts[strength])),
        LinkOrigin(int(str(facts["origin"]))),
        datetime.fromisoformat(str(facts["created"])),
        datetime.fromisoformat(str(facts[time])),
        int(str(facts.get("feedback", 0))),
    )
