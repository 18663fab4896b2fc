"""Use cases of facts. Those that remove facts are in `removal.py`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from services.common.clock import Clock
from services.common.embedding.vectors import Vector
from services.common.errors import Conflict, FailedPrecondition, FieldViolation, InvalidArgument, NotFound
from services.common.idempotency.model import Idempotency, IdempotencyKey
from services.common.ids import IdSource
from services.common.interactions import SourceInteraction
from services.common.owners import InteractionId, Owner, TenantId, UserId
from services.common.scope import Reader, Scope, is_seen
from services.common.tier_embedder import TierEmbedder, unit_vector
from services.semantic.config import SemanticSettings
from services.semantic.facts.arguments import CreateFact, FactPage, ListFacts, SearchFacts, UpdateFact
from services.semantic.facts.ends import FactEnds, FactMarkStore
from services.semantic.facts.evidence import confidence_at, fades_after
from services.semantic.facts.extraction.model_extractor import ModelFacts
from services.semantic.facts.extraction.port import FactExtractor
from services.semantic.facts.former import FormerFacts, admits, position_of, with_confidence
from services.semantic.facts.model import (
    ExtractionResult,
    Fact,
    FactDraft,
    FactId,
    FactRecord,
    FactStatus,
    FactUse,
    ScoredFact,
    Statement,
    StatementId,
)
from services.semantic.facts.reading import ReadFacts, ReadTurn, read_turns
from services.semantic.facts.stating import StatedReader, StatedTexts, updated
from services.semantic.facts.store import FactSearch, FactStore, FactWriter
from services.semantic.facts.supporting import Entered, add_support, near_facts
from services.semantic.facts.text_conflicts import join_conflicting
from services.semantic.facts.working_set import FactWorkingSet

_LATER: Final = timedelta(microseconds=1)


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
        model_facts: ModelFacts | None = None,
        marks: FactMarkStore | None = None,
        stated: StatedReader | None = None,
    ) -> None:
        """All collaborators are owned by the caller.

        `model_facts` adds to what `extractor` finds. What `marks` supersede, facts that are read show. `stated` reads
        what callers state as a text alone.
        """
        self._stated = StatedTexts(store, stated)
        self._ends = FactEnds(marks, settings.evidence)
        self._former = FormerFacts(store, self._ends, settings)
        self._model_facts = model_facts
        self._store = store
        self._embedder = embedder
        self._extractor = extractor
        self._clock = clock
        self._ids = ids
        self._settings = settings
        self._idempotency = Idempotency(Fact, retention_seconds=settings.idempotency_retention_seconds)

    async def extract(self, tenant_id: TenantId, sources: Sequence[SourceInteraction]) -> list[ExtractionResult]:
        """The facts of each interaction, in order. One that was extracted before gives its first result.

        Users are independent: when one fails, those before it are stored, and a repeat of the batch continues there.
        """
        return await self.store_read(
            tenant_id, sources, await self.read(tenant_id, await self.unread(tenant_id, sources))
        )

    async def read(self, tenant_id: TenantId, sources: Sequence[SourceInteraction]) -> ReadFacts:
        """The facts of interactions, embedded: all users in one batch. Stores nothing."""
        unique = list({(source.user_id, source.interaction_id): source for source in sources}.values())
        drafts = await self._extractor.extract(unique) if unique else []
        if self._model_facts is not None and unique:
            drafts = await self._model_facts.added_to(tenant_id, unique, drafts)
        of_users = await asyncio.to_thread(read_turns, unique, drafts, self._settings.supersession)
        texts = list(dict.fromkeys(draft.text for found in drafts for draft in found))
        vectors = await self._embedder.embed(texts) if texts else ()
        return ReadFacts(of_users, dict(zip(texts, vectors, strict=True)))

    async def store_read(
        self, tenant_id: TenantId, sources: Sequence[SourceInteraction], read: ReadFacts
    ) -> list[ExtractionResult]:
        """Stores what was read of interactions; the facts of each, in order. See `extract`."""
        by_user: dict[UserId, dict[InteractionId, None]] = {}
        for source in sources:
            by_user.setdefault(source.user_id, {})[source.interaction_id] = None
        results: dict[tuple[UserId, InteractionId], ExtractionResult] = {}
        for user_id, interaction_ids in by_user.items():
            owner = Owner(tenant_id, user_id)
            found = await self._store_of_user(owner, list(interaction_ids), read)
            results.update({(user_id, interaction_id): result for interaction_id, result in found.items()})
        return [results[source.user_id, source.interaction_id] for source in sources]

    async def unread(self, tenant_id: TenantId, sources: Sequence[SourceInteraction]) -> list[SourceInteraction]:
        """Those of the interactions that were not extracted before and were not removed."""
        by_user: dict[UserId, list[InteractionId]] = {}
        for source in sources:
            by_user.setdefault(source.user_id, []).append(source.interaction_id)
        known = {
            (user_id, interaction_id)
            for user_id, ids in by_user.items()
            for interaction_id in await self._store.extracted(Owner(tenant_id, user_id), ids)
        }
        return [source for source in sources if (source.user_id, source.interaction_id) not in known]

    async def create(self, command: CreateFact) -> Fact:
        """Stores what a caller states; if it is known, that confirms it.

        Raises:
            InvalidArgument: The request id was used for something else.
            StoreUnavailable: The store, the model or the parser cannot be used.
        """
        now = self._clock.now()
        draft = await self._stated.completed(command.draft, now)
        statement = Statement(StatementId(self._ids.new_id()), now, draft, command.derived_from, recorded_time=now)
        [vector] = await self._embedder.embed([draft.text])

        async def enter(writer: FactWriter) -> Fact:
            working_set = await self._loaded(writer, command.owner, [(draft, command.scope)])
            fact_id = working_set.enter(statement, command.scope, vector)
            await self._compare(writer, working_set, Entered(fact_id, statement, command.scope, vector))
            await writer.put(working_set.changes())
            return working_set.state(fact_id)

        return await self._once(command.owner, command.key, now, enter)

    async def get(
        self, owner: Owner, fact_id: FactId, *, reader: Reader | None = None, include_low_confidence: bool = False
    ) -> Fact:
        """A fact with its versions.

        Raises:
            NotFound: The owner has no such fact, its reader does not see it, or too little confidence in it is left.
        """
        [fact] = await self._ends.of(owner, [await self._store.get(owner, fact_id)])
        is_shown = include_low_confidence or await self._believed(owner, [fact])
        if not is_shown or not is_seen(fact.scope, reader):
            raise NotFound("fact", fact_id)
        return fact

    async def _believed(self, owner: Owner, facts: Sequence[Fact]) -> Sequence[Fact]:
        """The facts to which decay has left the confidence that an explicit search asks for."""
        least, evidence, now = self._settings.use.explicit_confidence_min, self._settings.evidence, self._clock.now()
        if all(confidence_at(fact, now, evidence) >= least for fact in facts):
            return facts
        time = await self._counted(owner, now)
        return [fact for fact in facts if confidence_at(fact, time, evidence) >= least]

    async def _counted(self, owner: Owner, time: datetime) -> datetime:
        """Up to when facts have faded: the user's latest activity at most. Nothing fades for a user who is away."""
        active_time = await self._store.active_time(owner)
        return time if active_time is None else min(time, active_time)

    async def list_facts(self, command: ListFacts) -> FactPage:
        """A page of facts. One that is confirmed meanwhile moves to the front of the list.

        As of a time, facts are in the order of today. A page may be shorter than asked for.
        """
        if command.known_at is not None or command.held_at is not None:
            # What was believed has no decay in lists.
            faded_at = command.known_at or await self._counted(command.owner, command.held_at or self._clock.now())
            return await self._former.listed(command, faded_at=faded_at)
        confidence_min = 0.0 if command.include_low_confidence else self._settings.use.explicit_confidence_min
        which, after = replace(command.which, confidence_min=confidence_min), command.after
        while True:
            found = await self._store.list_facts(command.owner, which=which, after=after, limit=command.page_size + 1)
            page, more = found[: command.page_size], len(found) > command.page_size
            after = position_of(page[-1]) if page else after
            shown = await self._ends.of(command.owner, page)
            facts = tuple(shown if command.include_low_confidence else await self._believed(command.owner, shown))
            if facts or not more:
                return FactPage(facts, after if more else None)

    async def update(self, command: UpdateFact) -> Fact:
        """Corrects a fact; its state after it.

        Raises:
            NotFound: The owner has no such fact.
            Conflict: The fact was changed since the caller read it.
            FailedPrecondition: The fact was merged into another one.
            AlreadyExists: Another fact says that already.
            InvalidArgument: The request id was used for something else, or the validity ends before it begins.
        """
        now = self._clock.now()
        text = command.values.get("text")
        vector = None if text is None else (await self._embedder.embed([text]))[0]
        readings = await self._stated.readings(command.owner, command.fact_id, command.values, now)

        async def correct(writer: FactWriter) -> Fact:
            records = await writer.records_of([command.fact_id])
            record, present = found_record(records, command.fact_id, command.etag)
            if present.status is FactStatus.MERGED_INTO:
                raise FailedPrecondition("the fact was merged into another one: update that one")
            draft = updated(replace(_draft_of(present), **command.values), present, readings)
            if draft == _draft_of(present):
                return present
            check_validity(draft)
            working_set = self._working_set(command.owner)
            same = await writer.records(working_set.keys([(draft, record.scope)]))
            working_set.load(list({one.fact_id: one for one in (*records, *same)}.values()))
            correction = Statement(
                StatementId(self._ids.new_id()),
                max(now, present.last_confirmed_time + _LATER),  # of statements of one time the ids decide
                draft,
                # What the user says in other words does not depend on the interactions any more.
                present.derived_from if draft.text == present.text else (),
                is_correction=True,
                recorded_time=now,
            )
            await writer.unlink(command.fact_id)
            working_set.correct(command.fact_id, correction, vector)
            if vector is not None:
                await self._compare(writer, working_set, Entered(command.fact_id, correction, record.scope, vector))
            await writer.put(working_set.changes())
            return working_set.state(command.fact_id)

        return await self._once(command.owner, command.key, now, correct)

    async def search(self, command: SearchFacts) -> list[ScoredFact]:
        """The nearest facts among those whose confidence admits the use."""
        if command.vector is None:
            vector = await self._embedder.embed_query(command.query)
        else:
            vector = unit_vector(command.vector, field_path="query_vector")
        use = self._settings.use
        is_explicit = command.use is FactUse.EXPLICIT_SEARCH
        wanted = FactSearch(
            vector=vector,
            model=self._embedder.model_id,
            reader=command.reader,
            limit=command.limit,
            confidence=use.explicit_confidence_min if is_explicit else use.passive_confidence_above,
            includes_threshold=is_explicit,
        )
        asked_time = command.known_at or command.held_at or self._clock.now()
        now, evidence = await self._counted(command.owner, asked_time), self._settings.evidence
        if command.known_at is not None:
            return await self._former.believed(
                command.owner, wanted, command.known_at, held_at=command.held_at, faded_at=now
            )
        if command.held_at is not None:
            return await self._former.held(command.owner, wanted, command.held_at, faded_at=now)
        if wanted.confidence > 0.0:
            wanted = replace(wanted, fading_after=fades_after(wanted.confidence, now, evidence))
        hits = await self._store.search(command.owner, wanted)
        facts = await self._ends.of(command.owner, [hit.fact for hit in hits])
        shown = [with_confidence(hit, fact, now, evidence) for hit, fact in zip(hits, facts, strict=True)]
        # What marks have reduced the store does not know of.
        return [one for one, hit in zip(shown, hits, strict=True) if one.fact == hit.fact or admits(wanted, one)]

    async def _store_of_user(
        self, owner: Owner, interaction_ids: Sequence[InteractionId], read: ReadFacts
    ) -> Mapping[InteractionId, ExtractionResult]:
        read_of_user = read.of_users.get(owner.user_id)
        if not read_of_user:
            return await self._store.extracted(owner, interaction_ids)

        # The model ran before the lock is taken, so that a slow batch does not hold up the user's other writes.
        async def store(writer: FactWriter) -> Mapping[InteractionId, ExtractionResult]:
            known = await writer.extracted(interaction_ids)
            new = [one for one in read_of_user if one.source.interaction_id not in known]
            results = await self._put_read(writer, owner, new, read.vectors)
            await writer.add_extracted(results)
            return {**known, **{result.interaction_id: result for result in results}}

        return await self._store.write(owner, store)

    async def _put_read(
        self, writer: FactWriter, owner: Owner, read: Sequence[ReadTurn], vectors: Mapping[str, Vector]
    ) -> list[ExtractionResult]:
        working_set = await self._loaded(writer, owner, [(d, one.source.scope) for one in read for d in one.drafts])
        now = self._clock.now()
        results: list[ExtractionResult] = []
        entered: list[Entered] = []
        for one in read:
            source = one.source
            fact_ids: dict[FactId, None] = {}
            for statement in one.statements(now):
                vector = vectors[statement.draft.text]
                fact_id = working_set.enter(statement, source.scope, vector)
                fact_ids[fact_id] = None
                entered.append(Entered(fact_id, statement, source.scope, vector))
            results.append(ExtractionResult(source.interaction_id, tuple(fact_ids)))
        model, evidence = self._embedder.model_id, self._settings.evidence
        near = await near_facts(writer, entered, model=model, settings=evidence)
        await add_support(writer, working_set, entered, near, settings=evidence, now=now)
        await join_conflicting(writer, working_set, near, settings=evidence)
        changes = working_set.changes()
        if changes:
            await writer.put(changes)
        return results

    async def _compare(self, writer: FactWriter, working_set: FactWorkingSet, one: Entered) -> None:
        """Compares what a caller states with facts of which no slot says that they exclude it."""
        model, evidence = self._embedder.model_id, self._settings.evidence
        near = await near_facts(writer, [one], model=model, settings=evidence)
        await join_conflicting(writer, working_set, near, settings=evidence)

    async def _loaded(
        self, writer: FactWriter, owner: Owner, drafts: Sequence[tuple[FactDraft, Scope]]
    ) -> FactWorkingSet:
        working_set = self._working_set(owner)
        if drafts:
            await load_for(drafts, working_set, writer)
        return working_set

    def _working_set(self, owner: Owner) -> FactWorkingSet:
        return FactWorkingSet(
            owner.user_id, self._settings.evidence, new_id=self._ids.new_id, model=self._embedder.model_id
        )

    async def _once(
        self, owner: Owner, key: IdempotencyKey, now: datetime, work: Callable[[FactWriter], Awaitable[Fact]]
    ) -> Fact:
        """The fact that a write returns, or its first response for a repeat."""
        return await self._store.write(
            owner,
            lambda writer: self._idempotency.run(
                writer.idempotency,
                key,
                lambda: work(writer),
                now=now,
                user_id=owner.user_id,
                resource_id=lambda fact: fact.fact_id,
            ),
        )


async def load_for(drafts: Sequence[tuple[FactDraft, Scope]], working_set: FactWorkingSet, writer: FactWriter) -> None:
    """Loads what drafts are weighed against, and what that was merged into."""
    working_set.load(await writer.records(working_set.keys(drafts)))
    asked: set[FactId] = set()
    while winners := [fact_id for fact_id in working_set.missing_winners() if fact_id not in asked]:
        asked.update(winners)
        working_set.load(await writer.records_of(winners))


def found_record(records: Iterable[FactRecord], fact_id: FactId, etag: str) -> tuple[FactRecord, Fact]:
    """The record of a fact and its stored state.

    Raises:
        NotFound: It is not among the records.
        Conflict: It has another etag than the given one; none is given where it is empty.
    """
    for record in records:
        if record.fact_id == fact_id and record.fact is not None:
            if etag and etag != record.fact.etag:
                raise Conflict("the fact was changed since it was read: read it again")
            return record, record.fact
    raise NotFound("fact", fact_id)


def check_validity(draft: FactDraft) -> None:
    """Checks that a validity does not end before it begins.

    Raises:
        InvalidArgument: It does.
    """
    if draft.valid_from is not None and draft.valid_to is not None and draft.valid_to < draft.valid_from:
        description = "must not be before valid_from_time"
        raise InvalidArgument(
            "the validity ends before it begins", violations=[FieldViolation("valid_to_time", description)]
        )


def _draft_of(fact: Fact) -> FactDraft:
    return FactDraft(
        text=fact.text,
        category=fact.category,
        confidence=fact.confidence,
        importance=fact.importance,
        subject=fact.subject,
        predicate=fact.predicate,
        object=fact.object,
        valid_from=fact.valid_from_time,
        valid_to=fact.valid_to_time,
    )
