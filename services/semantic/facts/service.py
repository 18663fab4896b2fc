"""Use cases of facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from services.common.clock import Clock
from services.common.embedding.vectors import Vector
from services.common.idempotency.model import Idempotency, IdempotencyKey
from services.common.ids import IdSource
from services.common.interactions import SourceInteraction
from services.common.owners import InteractionId, Owner, TenantId, UserId
from services.common.scope import GLOBAL_SCOPE, Reader, Scope
from services.common.tier_embedder import TierEmbedder, unit_vector
from services.semantic.config import SemanticSettings
from services.semantic.facts.extraction.port import FactExtractor
from services.semantic.facts.ledger import FactLedger
from services.semantic.facts.model import (
    ExtractionResult,
    Fact,
    FactDraft,
    FactId,
    FactUse,
    ScoredFact,
    Statement,
    StatementId,
)
from services.semantic.facts.store import FactFilter, FactPosition, FactSearch, FactStore, FactWriter


@dataclass(frozen=True, slots=True)
class CreateFact:
    """A fact that a caller states."""

    owner: Owner
    key: IdempotencyKey
    draft: FactDraft
    derived_from: tuple[InteractionId, ...] = ()
    scope: Scope = GLOBAL_SCOPE


@dataclass(frozen=True, slots=True)
class ListFacts:
    """A page of a user's facts."""

    owner: Owner
    which: FactFilter
    page_size: int
    after: FactPosition | None


@dataclass(frozen=True, slots=True)
class FactPage:
    """Facts, last confirmed first, and where the next page begins, if there is one."""

    facts: tuple[Fact, ...]
    next: FactPosition | None


@dataclass(frozen=True, slots=True)
class SearchFacts:
    """A search by a question, or by its vector."""

    owner: Owner
    query: str
    vector: Vector | None  # used instead of the query where given
    use: FactUse
    reader: Reader
    top_k: int


@dataclass(frozen=True, slots=True)
class _Read:
    """An interaction with what it states."""

    source: SourceInteraction
    drafts: tuple[FactDraft, ...]


class FactService:
    """Facts of all users. Arguments have been checked for form by the edge."""

    def __init__(
        self,
        store: FactStore,
        embedder: TierEmbedder,
        extractor: FactExtractor,
        *,
        clock: Clock,
        ids: IdSource,
        settings: SemanticSettings,
    ) -> None:
        """All collaborators are owned by the caller."""
        self._store = store
        self._embedder = embedder
        self._extractor = extractor
        self._clock = clock
        self._ids = ids
        self._settings = settings
        self._idempotency = Idempotency(Fact, retention_seconds=settings.idempotency_retention_seconds)

    async def extract(self, tenant_id: TenantId, sources: Sequence[SourceInteraction]) -> list[ExtractionResult]:
        """The facts of each interaction, in order. One that was extracted before gives its first result.

        Users are independent: when one fails, those before it are stored, and a repeat of the batch goes on there.
        """
        by_user: dict[UserId, dict[InteractionId, SourceInteraction]] = {}
        for source in sources:
            by_user.setdefault(source.user_id, {}).setdefault(source.interaction_id, source)
        results: dict[tuple[UserId, InteractionId], ExtractionResult] = {}
        for user_id, unique in by_user.items():
            found = await self._extract_of_user(Owner(tenant_id, user_id), list(unique.values()))
            results.update({(user_id, interaction_id): result for interaction_id, result in found.items()})
        return [results[source.user_id, source.interaction_id] for source in sources]

    async def create(self, command: CreateFact) -> Fact:
        """Stores what a caller states; if it is known, that confirms it.

        Raises:
            InvalidArgument: The request id was used for something else.
        """
        now = self._clock.now()
        statement = Statement(StatementId(self._ids.new_id()), now, command.draft, command.derived_from)
        [vector] = await self._embedder.embed([command.draft.text])

        async def enter(writer: FactWriter) -> Fact:
            ledger = await self._ledger(writer, command.owner, [(command.draft, command.scope)])
            fact_id = ledger.enter(statement, command.scope, vector)
            await writer.put(ledger.changes())
            return ledger.state(fact_id)

        async def once(writer: FactWriter) -> Fact:
            return await self._idempotency.run(
                writer.idempotency,
                command.key,
                lambda: enter(writer),
                now=now,
                user_id=command.owner.user_id,
                resource_id=lambda fact: fact.fact_id,
            )

        return await self._store.write(command.owner, once)

    async def get(self, owner: Owner, fact_id: FactId) -> Fact:
        """A fact with its versions.

        Raises:
            NotFound: The owner has no such fact.
        """
        return await self._store.get(owner, fact_id)

    async def list_facts(self, command: ListFacts) -> FactPage:
        """A page of facts. One that is confirmed meanwhile moves to the front of the list."""
        found = await self._store.list_facts(
            command.owner, which=command.which, after=command.after, limit=command.page_size + 1
        )
        facts = tuple(found[: command.page_size])
        more = len(found) > command.page_size
        return FactPage(facts, FactPosition(facts[-1].last_confirmed_time, facts[-1].fact_id) if more else None)

    async def search(self, command: SearchFacts) -> list[ScoredFact]:
        """The nearest facts among those whose confidence admits the use."""
        if command.vector is None:
            vector = await self._embedder.embed_query(command.query)
        else:
            vector = unit_vector(command.vector, field_path="query_vector")
        use = self._settings.use
        is_explicit = command.use is FactUse.EXPLICIT_SEARCH
        return await self._store.search(
            command.owner,
            FactSearch(
                vector=vector,
                model=self._embedder.model_id,
                reader=command.reader,
                top_k=command.top_k,
                confidence=use.explicit_confidence_min if is_explicit else use.passive_confidence_above,
                includes_threshold=is_explicit,
            ),
        )

    async def _extract_of_user(
        self, owner: Owner, sources: Sequence[SourceInteraction]
    ) -> Mapping[InteractionId, ExtractionResult]:
        known = await self._store.extracted(owner, [s.interaction_id for s in sources])
        fresh = [source for source in sources if source.interaction_id not in known]
        if not fresh:
            return known
        drafts = await self._extractor.extract(fresh)
        read = [_Read(source, tuple(found)) for source, found in zip(fresh, drafts, strict=True)]
        # The model runs before the lock is taken, so that a slow batch does not hold up the user's other writes.
        texts = list(dict.fromkeys(draft.text for one in read for draft in one.drafts))
        vectors = dict(zip(texts, await self._embedder.embed(texts), strict=True)) if texts else {}

        async def store(writer: FactWriter) -> Mapping[InteractionId, ExtractionResult]:
            meanwhile = await writer.extracted([one.source.interaction_id for one in read])
            new = [one for one in read if one.source.interaction_id not in meanwhile]
            results = await self._store_read(writer, owner, new, vectors)
            await writer.add_extracted(results)
            return {**meanwhile, **{result.interaction_id: result for result in results}}

        return {**known, **await self._store.write(owner, store)}

    async def _store_read(
        self, writer: FactWriter, owner: Owner, read: Sequence[_Read], vectors: Mapping[str, Vector]
    ) -> list[ExtractionResult]:
        ledger = await self._ledger(writer, owner, [(d, one.source.scope) for one in read for d in one.drafts])
        results: list[ExtractionResult] = []
        for one in read:
            source = one.source
            fact_ids: dict[FactId, None] = {}
            for draft in one.drafts:
                interaction_id = source.interaction_id
                statement = Statement(StatementId(interaction_id), source.turn.time, draft, (interaction_id,))
                fact_ids[ledger.enter(statement, source.scope, vectors[draft.text])] = None
            results.append(ExtractionResult(source.interaction_id, tuple(fact_ids)))
        changes = ledger.changes()
        if changes:
            await writer.put(changes)
        return results

    async def _ledger(self, writer: FactWriter, owner: Owner, drafts: Sequence[tuple[FactDraft, Scope]]) -> FactLedger:
        ledger = FactLedger(
            owner.user_id, self._settings.evidence, new_id=self._ids.new_id, model=self._embedder.model_id
        )
        if drafts:
            ledger.load(await writer.records(ledger.keys(drafts)))
        return ledger
