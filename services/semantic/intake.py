"""Takes interactions in: what they state, supersede and define, and the facts in them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from services.common.interactions import SourceInteraction
from services.common.owners import InteractionId, Owner, TenantId
from services.semantic.facts.model import ExtractionResult
from services.semantic.facts.service import FactService
from services.semantic.procedures.service import ProcedureService
from services.semantic.supersession.service import SupersessionService


class Intake:
    """What happens to a batch of interactions."""

    def __init__(self, facts: FactService, supersessions: SupersessionService, procedures: ProcedureService) -> None:
        """Hands interactions to all of them."""
        self._facts = facts
        self._supersessions = supersessions
        self._procedures = procedures

    async def take_in(self, tenant_id: TenantId, sources: Sequence[SourceInteraction]) -> list[ExtractionResult]:
        """The facts of each interaction, in order. What was taken in or removed before is not read again.

        Facts are read while the rest is stored, and stored last: the mark of the extraction says that all is done.
        """
        unread = await self._facts.unread(tenant_id, sources)
        reading = asyncio.ensure_future(self._facts.read(tenant_id, unread))
        try:
            await self._supersessions.take_in(tenant_id, unread)
            await self._learn_definitions(tenant_id, unread)
            read = await reading
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
        return await self._facts.store_read(tenant_id, sources, read)

    async def _learn_definitions(self, tenant_id: TenantId, sources: Sequence[SourceInteraction]) -> None:
        """Learns what turns define, but for those sentences that were corrected before their turn came."""
        if not await self._procedures.learn(tenant_id, sources):
            return
        by_user: dict[Owner, list[InteractionId]] = {}
        for source in sources:
            by_user.setdefault(Owner(tenant_id, source.user_id), []).append(source.interaction_id)
        for owner, interaction_ids in by_user.items():
            corrected = await self._supersessions.corrected(owner, interaction_ids)
            await self._procedures.take_back_definitions(owner, corrected)
