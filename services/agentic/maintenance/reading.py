"""What the jobs look at: the active notes of one user, read in pages."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from services.agentic.decay import touched
from services.agentic.model import Link, LinkKey, NoteId
from services.agentic.store import NoteStore
from services.agentic.upkeep_store import StoredNote
from services.common.maintenance import Step
from services.common.maintenance.pace import Pace
from services.common.owners import Owner, TenantId, UserId

_OWNERS_PAGE: Final = 100
_REMEMBERED_MAX: Final = 20_000


@dataclass(frozen=True, slots=True)
class UserNotes:
    """A user's active notes by id, and their links where a job looks at them."""

    notes: Sequence[StoredNote]
    links: Sequence[Link] = ()
    undone: frozenset[str] = frozenset()  # grounds of changes that were taken back

    @property
    def active_time(self) -> datetime:
        """When the user last wrote or used a note: time does not pass for a user who is away."""
        return max(touched(stored.note) for stored in self.notes)


class NoteReading:
    """Reads users one after the other; leaves out those in whose notes nothing happened since they were settled."""

    def __init__(self, store: NoteStore, *, model: str, page: int, with_links: bool = False) -> None:
        """Reads notes with their vectors of `model`, `page` notes at once."""
        self._store = store
        self._model = model
        self._page = page
        self._with_links = with_links
        self._settled: OrderedDict[Owner, str] = OrderedDict()

    async def steps(self, *, after: str, owner: Owner | None) -> AsyncIterator[Step[UserNotes]]:
        """One user a step."""
        if owner is not None:
            read = await self._read(owner, Pace())
            if read.notes:
                yield Step(read, _cursor(owner), owner, len(read.notes))
            return
        last = _owner(after) if after else None
        while True:
            page = await self._store.note_owners(after=last, limit=_OWNERS_PAGE)
            for last in page:
                stamp = await self._store.notes_stamp(last)
                if self._settled.get(last) == stamp:
                    continue
                read = await self._read(last, Pace())
                if read.notes:
                    yield Step(read, _cursor(last), last, len(read.notes))
                if await self._store.notes_stamp(last) == stamp:
                    self._settle(last, stamp)
            if len(page) < _OWNERS_PAGE:
                return

    def _settle(self, owner: Owner, stamp: str) -> None:
        self._settled[owner] = stamp
        self._settled.move_to_end(owner)
        if len(self._settled) > _REMEMBERED_MAX:
            self._settled.popitem(last=False)

    async def read(self, owner: Owner) -> UserNotes:
        """All active notes of a user, for somebody who waits for them."""
        return await self._read(owner, Pace(is_awaited=True))

    async def _read(self, owner: Owner, pace: Pace) -> UserNotes:
        notes: list[StoredNote] = []
        while True:
            after = notes[-1].note.note_id if notes else NoteId("")
            page = await self._store.active_notes(owner, after=after, limit=self._page, model=self._model)
            notes += page
            if len(page) < self._page:
                break
            await pace.rest()
        return UserNotes(notes, await self._links(owner, pace) if self._with_links else ())

    async def _links(self, owner: Owner, pace: Pace) -> list[Link]:
        links: list[Link] = []
        limit = self._page * 4
        after: LinkKey | None = None
        while True:
            page = await self._store.active_links(owner, after=after, limit=limit)
            links += page
            if len(page) < limit:
                return links
            after = page[-1].key
            await pace.rest()


def _cursor(owner: Owner) -> str:
    return json.dumps([owner.tenant_id, owner.user_id])


def _owner(cursor: str) -> Owner:
    tenant_id, user_id = json.loads(cursor)
    return Owner(TenantId(tenant_id), UserId(user_id))
