"""What a fact that a caller states as a text alone is about (SPEC 3.5): only facts of one slot exclude each other.

What the caller says of subject, predicate and object is never changed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, Protocol

from services.common.errors import NotFound, StoreUnavailable
from services.common.owners import Owner
from services.semantic.facts.identity import normalised
from services.semantic.facts.model import Fact, FactDraft, FactId
from services.semantic.facts.store import FactStore

_PARTS: Final = ("subject", "predicate", "object")
_NOTHING: Final = ("", "", "")


class StatedReader(Protocol):
    """Reads texts of which nothing else is known."""

    async def read(self, text: str, time: datetime) -> FactDraft | None:
        """The one fact that says all that a text says, stated at a time; None where there is no such fact.

        Raises:
            StoreUnavailable: Texts cannot be read right now, or not in time.
        """
        ...


Readings = Mapping[str, FactDraft | None]
"""What texts say, by the text."""


class StatedTexts:
    """Completes what callers state. While texts cannot be read it is stored as stated: no write waits for that."""

    def __init__(self, store: FactStore, reader: StatedReader | None) -> None:
        """Reads texts with `reader`; nothing is read where there is none."""
        self._store = store
        self._reader = reader

    async def completed(self, draft: FactDraft, time: datetime) -> FactDraft:
        """A draft that names no subject, predicate or object, with those of its text, and since when they hold.

        Any other draft is returned as it is, and so is one whose text does not say one thing, or cannot be read now.
        """
        if self._reader is None or _parts(draft) != _NOTHING:
            return draft
        with contextlib.suppress(StoreUnavailable):
            found = await self._reader.read(draft.text, time)
            return draft if found is None else _with(draft, found)
        return draft

    async def readings(self, owner: Owner, fact_id: FactId, values: Mapping[str, Any], time: datetime) -> Readings:
        """What a fact says and shall say, where an update changes its text alone.

        Empty for other updates, and where texts cannot be read now.
        """
        if self._reader is None or "text" not in values or not values.keys().isdisjoint(_PARTS):
            return {}
        try:
            present = await self._store.get(owner, fact_id)
        except NotFound:
            return {}  # the update says so, or repeats its first response
        texts = dict.fromkeys((present.text, str(values["text"])))
        with contextlib.suppress(StoreUnavailable):
            return {text: await self._reader.read(text, time) for text in texts}
        return {}


def updated(draft: FactDraft, present: Fact, readings: Readings) -> FactDraft:
    """A draft with which a fact is updated, about what its new text says.

    That is so where what the fact was about had been read in its text, or was not known. A new text that says no one
    thing leaves the fact about the same if it names the same value, else about nothing that is known.
    """
    if draft.text == present.text or present.text not in readings or draft.text not in readings:
        return draft
    former, found = readings[present.text], readings[draft.text]
    if _parts(present) != _NOTHING and (former is None or _parts(former) != _parts(present)):
        return draft
    if found is not None:
        was_read = former is not None and draft.valid_from == former.valid_from
        return _with(replace(draft, valid_from=None) if was_read else draft, found)
    if f" {normalised(draft.object)} " in f" {normalised(draft.text)} ":
        return draft
    return replace(draft, subject="", predicate="", object="")


def _with(draft: FactDraft, found: FactDraft) -> FactDraft:
    begin = found.valid_from if draft.valid_from is None else draft.valid_from
    if begin is not None and draft.valid_to is not None and draft.valid_to < begin:
        begin = draft.valid_from
    return replace(draft, subject=found.subject, predicate=found.predicate, object=found.object, valid_from=begin)


def _parts(one: Fact | FactDraft) -> tuple[str, str, str]:
    return one.subject, one.predicate, one.object
