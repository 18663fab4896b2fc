"""Finds how far the turns are trusted that facts and notes rest on, while the texts of turns are read."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import structlog

from services.common.auth import Principal
from services.common.errors import MnemeError
from services.gateway.journal.store import JournalReader
from services.gateway.recall.model import CoarseResult, RecalledFact, RecalledNote
from services.gateway.recall.settings import RecallSettings
from services.gateway.recall.trust import SourceTrust, trust_of_derived, trust_of_turn

_log = structlog.get_logger(__name__)

NOT_READ: Final = "the turns behind facts and notes could not be read: how far these are trusted is not known"


class SourceTrusts:
    """Looks turns up in the conversation log."""

    def __init__(self, journal: JournalReader | None = None, settings: RecallSettings | None = None) -> None:
        """Reads from `journal`, for a share of the time that is left; without one no turn is known."""
        chosen = settings or RecallSettings()
        self._journal = journal
        self._time_share = 1.0 - chosen.tier_time_share
        self._turns_max = chosen.trust_turns_max

    async def of(
        self, principal: Principal, user_id: str, coarse: CoarseResult, *, seconds_left: float
    ) -> Mapping[str, SourceTrust] | None:
        """How far the turns are trusted by id, of the best facts and notes as far as the limit goes.

        Returns:
            None where they could not be read: the recall goes on without.
        """
        hits = [*(hit.fact.derived_from for hit in coarse.facts), *(hit.note.derived_from for hit in coarse.notes)]
        wanted = list(dict.fromkeys(source for derived_from in hits for source in derived_from))[: self._turns_max]
        if not wanted or self._journal is None:
            return {}
        try:
            async with asyncio.timeout(seconds_left * self._time_share):
                found = await self._journal.turn_speakers(principal.tenant_id, user_id, wanted)
        except (MnemeError, TimeoutError) as error:
            _log.warning("trust_not_read", error=type(error).__name__)
            return None
        return {source: trust_of_turn(role, speaker, user_id) for source, (role, speaker) in found.items()}


def trusted_fact(fact: RecalledFact, turns: Mapping[str, SourceTrust]) -> RecalledFact:
    """The fact with whose words it rests on."""
    return replace(fact, source_trust=trust_of_derived(fact.fact.derived_from, turns))


def trusted_note(note: RecalledNote, turns: Mapping[str, SourceTrust]) -> RecalledNote:
    """The note with whose words it rests on; one made from notes alone is not a caller's."""
    if note.note.source_note_ids and not note.note.derived_from:
        return note
    return replace(note, source_trust=trust_of_derived(note.note.derived_from, turns))
