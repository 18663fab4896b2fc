"""Facts, the jobs on them, and what the other process does to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from services.common.idempotency.model import IdempotencyKey
from services.common.ids import Uuid7Ids
from services.common.interactions import SourceInteraction
from services.common.maintenance.postgres import PostgresMaintenanceStore
from services.common.owners import InteractionId
from services.common.postgres.types import Pool
from services.common.tier_embedder import TierEmbedder
from services.semantic.config import SemanticSettings
from services.semantic.facts.arguments import DeleteFact, UpdateFact
from services.semantic.facts.model import FactDraft, FactId, FactStatus, Statement, StatementId
from services.semantic.facts.removal import FactRemoval
from services.semantic.facts.service import FactService
from services.semantic.facts.stores.postgres import PostgresFactStore
from tests.contract.fact_samples import DAY_ONE, EMBEDDER, enter, likes
from tests.integration.maintenance.graph_cases import EVERY_STATUS, FillFacts, Merge, ReembedFacts, RetainOldFacts
from tests.integration.maintenance.places import JobCase
from tests.property.interleavings.other import CallHome, Disturbance, Disturber, Kind
from tests.property.interleavings.vectors import check_vectors
from tests.property.interleavings.world import World
from tests.support.clock import FakeClock

_NUMBERS: Final = (("2", "two"), ("a dozen", "twelve"), ("3", "three"))
_THINGS: Final = ("chairs", "lamps", "boats", "books", "cups", "kites", "clocks", "hens")
_JOBS: Final[tuple[JobCase, ...]] = (
    Merge("semantic.merge_facts", days=10),
    Merge("semantic.merge_facts", days=10),
    RetainOldFacts("semantic.retain_facts", days=200),
    ReembedFacts("semantic.reembed_facts", days=10),
    FillFacts("semantic.fill_second_vectors", days=10),
)
_VECTORS: Final = """
    SELECT fact_id AS row_id, text, embedding_model AS model, embedding::text AS vector
    FROM semantic.facts WHERE user_id = $1
    UNION ALL SELECT fact_id, text, second_model, second_embedding::text
    FROM semantic.facts WHERE user_id = $1 AND second_model <> ''
"""


class NothingExtracted:
    """Nothing is read of interactions here."""

    async def extract(self, sources: Sequence[SourceInteraction]) -> list[list[FactDraft]]:
        return [[] for _ in sources]


class FactDisturber:
    """Uses the services as a replica of the tier does."""

    def __init__(self, pool: Pool, clock: FakeClock) -> None:
        store, embedder, ids, settings = (
            PostgresFactStore(pool), TierEmbedder(EMBEDDER), Uuid7Ids(clock), SemanticSettings(),
        )  # fmt: skip
        self._store = store
        self._facts = FactService(store, embedder, NothingExtracted(), clock=clock, ids=ids, settings=settings)
        log = PostgresMaintenanceStore(pool)
        self._removal = FactRemoval(store, embedder, clock=clock, ids=ids, settings=settings, maintenance=log)

    async def do(self, disturbance: Disturbance) -> str:
        owner, target = disturbance.owner, FactId(disturbance.target)
        key = IdempotencyKey("ann", disturbance.request_id, "")
        match disturbance.kind:
            case Kind.ERASE:
                await self._removal.remove_by_source(owner, [InteractionId(disturbance.source)])
            case Kind.FORGET:
                await self._removal.delete(DeleteFact(owner, key, target, ""))
            case Kind.CORRECT:
                before = (await self._store.get(owner, target)).text
                await self._facts.update(UpdateFact(owner, key, target, {"text": disturbance.text}, ""))
                return before
            case Kind.ERASE_ALL:
                await self._removal.remove_owner(owner)
        return ""


def fact_disturber(pool: Pool, clock: FakeClock, home: CallHome) -> Disturber:
    """The other process's."""
    del home
    return FactDisturber(pool, clock)


class FactWorld(World):
    """Facts of an interaction each, some of which say the same in other words, and some of which fade."""

    cases = _JOBS

    @property
    def store(self) -> PostgresFactStore:
        return PostgresFactStore(self.place.pool)

    async def fill(self) -> None:
        about = replace(likes("tea"), predicate="event")
        statements: list[Statement] = []
        for thing in self.random.sample(_THINGS, self.random.randint(3, 6)):
            words = self.random.choice(_NUMBERS)
            for day, word in enumerate(words[: self.random.choice([1, 2, 2])]):
                number = self.number * 1_000 + len(statements) + 1
                source = f"11111111-0000-7000-8000-{number:012d}"
                said = f"Ann has {word} {thing}"
                importance = self.random.choice([0.3, 0.5, 0.95])
                draft = replace(about, text=said, object=said.removeprefix("Ann "), importance=importance)
                time = DAY_ONE + timedelta(days=day)
                statements.append(Statement(StatementId(source), time, draft, (InteractionId(source),)))
        days = self.random.choice([10, 10, 200])
        fact_ids = await enter(self.store, self.owner, statements)
        lasting = replace(likes("nuts"), text="Ann is allergic to nuts", importance=0.95)
        source = f"11111111-0000-7000-8000-{self.number * 1_000 + 999:012d}"
        last = Statement(StatementId(source), DAY_ONE + timedelta(days=days), lasting, (InteractionId(source),))
        fact_ids += await enter(self.store, self.owner, [last])
        for fact_id, statement in zip(fact_ids, [*statements, last], strict=True):
            self.originals[fact_id] = statement.draft.text
            self.sources[fact_id] = statement.statement_id
        assert len(self.originals) == len(statements) + 1, "each statement is a fact"
        self.clock.set(DAY_ONE + timedelta(days=days))

    async def check(self) -> None:
        listed = await self.store.list_facts(self.owner, which=EVERY_STATUS, after=None, limit=500)
        facts = {str(fact.fact_id): fact for fact in listed}
        # Who forgets a fact forgets what was merged into it, which says the same of the same things.
        things = {self.originals[key].split()[-1] for key in self.forgotten}
        self.forgotten |= {key for key in set(self.originals) - set(facts) if self.originals[key].split()[-1] in things}
        # A fact that was corrected is the user's own word: it outlives the interaction that it first came from.
        gone = self.gone if self.is_erased else self.gone - (set(self.corrected) - self.forgotten)
        assert not gone & set(facts), "what was erased is back"
        lost = set(self.originals) - self.gone - set(facts)
        assert not lost, f"facts that nobody removed are gone: {lost}"
        erased = set(self.originals) if self.is_erased else self.erased
        sources = {self.sources[key] for key in erased}
        for fact in facts.values():
            assert not sources & set(fact.derived_from), "a source outlives its erasure"
            if fact.status is FactStatus.MERGED_INTO:
                winner = facts.get(str(fact.merged_into_fact_id))
                assert winner is not None, "a fact was merged into one that is gone"
                assert set(fact.derived_from) <= set(winner.derived_from), "the winner lacks evidence"
        for key, (_, after) in self.corrected.items():
            if key in facts:
                assert facts[key].text == after, "a correction is lost"
                assert facts[key].status is not FactStatus.MERGED_INTO, "a correction was merged into another fact"
        texts = {fact.text for fact in facts.values()}
        left = {self.originals[key] for key in gone | erased} & texts
        assert not left, f"a fact says what was erased: {left}"
        await self.check_rows({self.originals[key] for key in erased})
        await self._check_vectors(set(facts))

    async def _check_vectors(self, fact_ids: set[str]) -> None:
        """That facts have vectors of what they say, and of the serving model unless a job replaced those."""
        rows = await self.superuser.fetch(_VECTORS, self.owner.user_id)
        assert {str(row["row_id"]) for row in rows} == fact_ids, "a fact has no vector, or one outlives it"
        check_vectors([(str(row["row_id"]), row["model"], row["vector"], row["text"]) for row in rows])
        if all(isinstance(job, FillFacts) or not isinstance(job, ReembedFacts) for job in self.jobs):
            served = {str(row["row_id"]) for row in rows if row["model"] == EMBEDDER.fingerprint}
            assert served == fact_ids, "the serving model lost facts"
