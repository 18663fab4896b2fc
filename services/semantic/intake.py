"""Takes interactions in: what they state and supersede, and the facts in them."""

from __future__ import annotations

from collections.abc import Sequence

from services.common.interactions import SourceInteraction
from services.common.owners import TenantId
from services.semantic.facts.model import ExtractionResult
from services.semantic.facts.service import FactService
from services.semantic.supersession.service import SupersessionService


class Intake:
    """What happens to a batch of interactions."""

    def __init__(self, facts: FactService, supersessions: SupersessionService) -> None:
        """Hands interactions to both."""
        self._facts = facts
        self._supersessions = supersessions

    async def take_in(self, tenant_id: TenantId, sources: Sequence[SourceInteraction]) -> list[ExtractionResult]:
        """The facts of each interaction, in order. What was taken in or removed before is not read again.

        Supersessions come first: the mark of the extraction says that both are done.
        """
        await self._supersessions.take_in(tenant_id, await self._facts.unread(tenant_id, sources))
        return await self._facts.extract(tenant_id, sources)
