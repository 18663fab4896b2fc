"""Use case of feedback on facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from services.common.clock import Clock
from services.common.idempotency.model import Idempotency, IdempotencyKey
from services.common.ids import IdSource
from services.common.owners import Owner
from services.semantic.config import SemanticSettings
from services.semantic.facts.model import FactId
from services.semantic.facts.store import FactStore, FactWriter
from services.semantic.facts.working_set import FactWorkingSet


@dataclass(frozen=True, slots=True)
class JudgedFacts:
    """The facts that a judgement reached."""

    fact_ids: tuple[FactId, ...]


class FactFeedback:
    """Records what users say of facts that they were shown."""

    def __init__(
        self, store: FactStore, *, clock: Clock, ids: IdSource, model: str, settings: SemanticSettings
    ) -> None:
        """Texts stay as they are, so nothing is embedded; `model` is the tier's embedding model."""
        self._store = store
        self._clock = clock
        self._ids = ids
        self._model = model
        self._settings = settings
        self._idempotency = Idempotency(JudgedFacts, retention_seconds=settings.idempotency_retention_seconds)

    async def record(
        self, owner: Owner, fact_ids: Sequence[FactId], feedback: int, *, key: IdempotencyKey
    ) -> JudgedFacts:
        """Sets the judgement of those that exist, instead of an earlier one. A repeat returns the first result.

        Raises:
            InvalidArgument: The request id was used for another request.
        """

        async def judge(writer: FactWriter) -> JudgedFacts:
            records = await writer.records_of(fact_ids)
            found = {record.fact_id for record in records}
            judged = tuple(fact_id for fact_id in fact_ids if fact_id in found)
            working_set = FactWorkingSet(
                owner.user_id, self._settings.evidence, new_id=self._ids.new_id, model=self._model
            )
            working_set.load(records)
            for fact_id in judged:
                working_set.judge(fact_id, feedback)
            await writer.put(working_set.changes())
            return JudgedFacts(judged)

        return await self._store.write(
            owner,
            lambda writer: self._idempotency.run(
                writer.idempotency,
                key,
                lambda: judge(writer),
                now=self._clock.now(),
                user_id=owner.user_id,
                resource_id=lambda _: "",
            ),
        )
