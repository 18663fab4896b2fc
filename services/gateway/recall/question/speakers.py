"""The names of a user's speakers, remembered for a moment: every question is read with them."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence

from services.gateway.journal.store import JournalReader

_USERS_MAX = 10_000


class SpeakerNames:
    """Reads names from the journal and caches them for some seconds."""

    def __init__(
        self, journal: JournalReader, *, keep_seconds: float, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        """Names may be that old; a name that is new meanwhile is not recognised yet."""
        self._journal = journal
        self._keep_seconds = keep_seconds
        self._monotonic = monotonic
        self._names: OrderedDict[tuple[str, str], tuple[float, Sequence[str]]] = OrderedDict()

    async def of(self, tenant_id: str, user_id: str) -> Sequence[str]:
        """The names that the user's turns were said by."""
        key = (tenant_id, user_id)
        known = self._names.get(key)
        if known is not None and self._monotonic() - known[0] < self._keep_seconds:
            return known[1]
        names = await self._journal.speakers(tenant_id, user_id)
        self._names[key] = (self._monotonic(), names)
        self._names.move_to_end(key)
        if len(self._names) > _USERS_MAX:
            self._names.popitem(last=False)
        return names

    def forget(self, tenant_id: str, user_id: str) -> None:
        """Evicts the names of a user."""
        self._names.pop((tenant_id, user_id), None)
