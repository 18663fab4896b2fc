"""A start of the semantic and the agentic tier with another embedding model, while they are used."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from typing import Any

import grpc

from mneme.agentic.v1 import notes_pb2, notes_pb2_grpc
from mneme.semantic.v1 import facts_pb2, facts_pb2_grpc
from services.agentic import app as agentic
from services.agentic.former_vectors import NoteVectors
from services.agentic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA, PostgresNoteStore
from services.common.auth import IDENTITY_METADATA_KEY, Authenticator, IdentitySigner, IdentityVerifier, Principal, Role
from services.common.convert import vector_to_proto
from services.common.embedding.vectors import Matrix
from services.common.ids import Uuid7Ids
from services.common.model_change import EmbeddedText, FormerVectors, ModelChangeSettings
from services.common.owners import Owner
from services.common.parsing.port import NoParser
from services.common.postgres.pool import PoolSettings, create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.rpc.interceptors.chain import interceptors
from services.common.rpc.server import GrpcServer, ServerSettings, ServiceBinding, method_roles
from services.common.serving_model.following import ServingModel, ServingModelSettings
from services.common.serving_model.store import ServingState
from services.semantic.app import SemanticResources, SemanticTier, open_semantic
from services.semantic.config import EvidenceSettings
from services.semantic.facts.stores.postgres import PostgresFactStore
from services.semantic.facts.stores.postgres_vectors import PostgresFactVectors
from tests.contract.fact_drivers import semantic_pool
from tests.contract.former_vectors import ANN, BOB, FORMER, PRESENT, TEXTS, FactRows, NoteRows
from tests.support.clock import FakeClock
from tests.support.deadlines import PATIENT
from tests.support.embedding import HashingEmbedder
from tests.support.maintenance import MAINTENANCE
from tests.support.postgres import fresh_postgres

SECRET = b"s" * 32
QUICK = ServingModelSettings(settle_seconds=0.5)
NEW = "Ann likes black coffee"


class HeldEmbedder(HashingEmbedder):
    """Embeds questions at once, and documents when it may."""

    def __init__(self) -> None:
        super().__init__()
        self.released = asyncio.Event()

    async def embed_documents(self, texts: Sequence[str]) -> Matrix:
        await self.released.wait()
        return await super().embed_documents(texts)


@asynccontextmanager
async def _served(bindings: Sequence[ServiceBinding], clock: FakeClock) -> AsyncIterator[grpc.aio.Channel]:
    authenticator = Authenticator(identities=IdentityVerifier(SECRET, clock=clock))
    chain = interceptors(PATIENT, authenticator, method_roles(bindings), Uuid7Ids(clock))
    server = GrpcServer(ServerSettings(grace_seconds=0.1), bindings, chain)
    async with grpc.aio.insecure_channel(await server.start()) as channel:
        yield channel
    await server.stop()


def _as_ann(clock: FakeClock) -> tuple[tuple[str, str], ...]:
    principal = Principal(ANN.tenant_id, "ann-key", Role.READER)
    return ((IDENTITY_METADATA_KEY, IdentitySigner(SECRET, clock=clock).sign(principal)),)


async def _until_done(lacks: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        while await lacks():
            continue


async def test_spec_8_4_a_start_with_another_model_brings_facts_over_while_the_tier_is_used(
    postgres_server: EmbeddedPostgres,
) -> None:
    async with semantic_pool(postgres_server) as pool, aclosing(PostgresFactStore(pool, EvidenceSettings())) as store:
        rows = FactRows(store, PostgresFactVectors(pool))
        for owner in (ANN, BOB):
            await rows.add(owner, TEXTS, FORMER)
        clock = FakeClock()
        ids, parser = Uuid7Ids(clock), NoParser()
        resources = SemanticResources(embedder=PRESENT, clock=clock, ids=ids, secret=SECRET, parser=parser)
        async with open_semantic(pool, resources):
            await rows.add(ANN, [NEW], PRESENT)
            assert (await rows.found(ANN, NEW, PRESENT))[0] == NEW
            await _until_done(lambda: rows.vectors.lacks(BOB, model=PRESENT.fingerprint))
            await _until_done(lambda: rows.vectors.lacks(ANN, model=PRESENT.fingerprint))
            assert sorted(await rows.found(ANN, TEXTS[0], PRESENT)) == sorted([*TEXTS, NEW])
            assert sorted(await rows.found(BOB, TEXTS[0], PRESENT)) == sorted(TEXTS)


async def test_spec_8_4_a_start_with_another_model_brings_notes_over_while_the_tier_is_used(
    postgres_server: EmbeddedPostgres,
) -> None:
    async with (
        fresh_postgres(postgres_server, migrations=[(SCHEMA, MIGRATIONS_FOLDER), MAINTENANCE]) as urls,
        await create_pool(urls.app, PoolSettings(size_max=6)) as pool,
        aclosing(PostgresNoteStore(pool)) as store,
    ):
        rows, vectors = NoteRows(store), NoteVectors(store, captions_max=4)
        for owner in (ANN, BOB):
            await rows.add(owner, TEXTS, FORMER)
        clock = FakeClock()
        resources = agentic.AgenticResources(embedder=PRESENT, clock=clock, ids=Uuid7Ids(clock), secret=SECRET)
        async with agentic.open_agentic(pool, resources):
            await rows.add(ANN, [NEW], PRESENT)
            assert (await rows.found(ANN, NEW, PRESENT))[0] == NEW
            await _until_done(lambda: vectors.lacks(BOB, model=PRESENT.fingerprint))
            await _until_done(lambda: vectors.lacks(ANN, model=PRESENT.fingerprint))
            assert sorted(await rows.found(ANN, TEXTS[0], PRESENT)) == sorted([*TEXTS, NEW])
            assert sorted(await rows.found(BOB, TEXTS[0], PRESENT)) == sorted(TEXTS)


async def test_spec_8_4_a_direct_search_of_facts_says_that_some_are_not_embedded_anew_yet(
    postgres_server: EmbeddedPostgres,
) -> None:
    async with semantic_pool(postgres_server) as pool, aclosing(PostgresFactStore(pool, EvidenceSettings())) as store:
        await FactRows(store, PostgresFactVectors(pool)).add(ANN, TEXTS, FORMER)
        clock, embedder = FakeClock(), HeldEmbedder()
        resources = SemanticResources(
            embedder=embedder, clock=clock, ids=Uuid7Ids(clock), secret=SECRET, parser=NoParser()
        )
        async with open_semantic(pool, resources) as tier, _served(tier.bindings, clock) as channel:

            async def search(user_id: str) -> facts_pb2.SearchFactsResponse:
                request = facts_pb2.SearchFactsRequest(
                    user_id=user_id, query=TEXTS[0], use=facts_pb2.FACT_USE_EXPLICIT_SEARCH, limit=9
                )
                return await facts_pb2_grpc.FactServiceStub(channel).SearchFacts(request, metadata=_as_ann(clock))

            before = await search(ANN.user_id)
            assert (before.degraded, len(before.hits)) == (True, 0)
            assert not (await search(BOB.user_id)).degraded
            embedder.released.set()

            async def is_degraded() -> bool:
                return (await search(ANN.user_id)).degraded

            await _until_done(is_degraded)
            assert TEXTS[0] in [hit.fact.text for hit in (await search(ANN.user_id)).hits]


async def test_spec_8_4_a_direct_search_of_notes_says_that_some_are_not_embedded_anew_yet(
    postgres_server: EmbeddedPostgres,
) -> None:
    async with (
        fresh_postgres(postgres_server, migrations=[(SCHEMA, MIGRATIONS_FOLDER), MAINTENANCE]) as urls,
        await create_pool(urls.app, PoolSettings(size_max=6)) as pool,
        aclosing(PostgresNoteStore(pool)) as store,
    ):
        await NoteRows(store).add(ANN, TEXTS, FORMER)
        clock, embedder = FakeClock(), HeldEmbedder()
        resources = agentic.AgenticResources(embedder=embedder, clock=clock, ids=Uuid7Ids(clock), secret=SECRET)
        async with agentic.open_agentic(pool, resources) as tier, _served(tier.bindings, clock) as channel:

            async def search(user_id: str) -> notes_pb2.SearchNotesResponse:
                request = notes_pb2.SearchNotesRequest(user_id=user_id, query=TEXTS[0], limit=9)
                return await notes_pb2_grpc.NoteServiceStub(channel).SearchNotes(request, metadata=_as_ann(clock))

            before = await search(ANN.user_id)
            assert (before.degraded, len(before.hits)) == (True, 0)
            assert not (await search(BOB.user_id)).degraded
            embedder.released.set()

            async def is_degraded() -> bool:
                return (await search(ANN.user_id)).degraded

            await _until_done(is_degraded)
            assert TEXTS[0] in [hit.note.content for hit in (await search(ANN.user_id)).hits]


async def test_spec_8_4_replicas_of_a_tier_answer_by_either_model_whichever_each_of_them_serves_with(
    postgres_server: EmbeddedPostgres,
) -> None:
    """One replica has followed a cut-over, the other has not: the answers are those of the vector's model."""
    async with semantic_pool(postgres_server) as pool, aclosing(PostgresFactStore(pool, EvidenceSettings())) as store:
        rows = FactRows(store, PostgresFactVectors(pool))
        await rows.add(ANN, TEXTS, FORMER)
        clock, serving = FakeClock(), [ServingModel((FORMER.fingerprint, PRESENT.fingerprint), QUICK) for _ in "12"]
        shared: dict[str, Any] = {"clock": clock, "ids": Uuid7Ids(clock), "secret": SECRET, "parser": NoParser()}

        def replica(number: int) -> AbstractAsyncContextManager[SemanticTier]:
            models: dict[str, Any] = {"embedder": FORMER, "second_embedder": PRESENT, "serving": serving[number]}
            return open_semantic(pool, SemanticResources(**models, **shared))

        async def found(channel: grpc.aio.Channel, embedder: HashingEmbedder | None) -> tuple[set[str], bool]:
            vector = vector_to_proto(embedder.vector(TEXTS[0]), model=embedder.fingerprint) if embedder else None
            request = facts_pb2.SearchFactsRequest(
                user_id=ANN.user_id,
                query=TEXTS[0],
                query_vector=vector,
                use=facts_pb2.FACT_USE_EXPLICIT_SEARCH,
                limit=9,
            )
            response = await facts_pb2_grpc.FactServiceStub(channel).SearchFacts(request, metadata=_as_ann(clock))
            return {hit.fact.text for hit in response.hits}, response.degraded

        async with (
            replica(0) as first,
            replica(1) as second,
            _served(first.bindings, clock) as one,
            _served(second.bindings, clock) as other,
        ):
            for channel in (one, other):
                assert await found(channel, FORMER) == await found(channel, None) == (set(TEXTS), False)
            # Before any cut-over the job of the leader fills what a search by the second model lacks.
            await _until_done(lambda: rows.vectors.lacks(ANN, model=PRESENT.fingerprint))
            for channel in (one, other):
                assert await found(channel, PRESENT) == (set(TEXTS), False)
            # The leader of the jobs may be either; both follow, one after the other.
            for each in serving:
                each.follow(ServingState(PRESENT.fingerprint, FORMER.fingerprint, 1, clock.now()))
                for channel in (one, other):
                    for embedder in (FORMER, PRESENT, None):
                        assert await found(channel, embedder) == (set(TEXTS), False)


async def test_spec_8_4_while_processes_may_lag_no_user_is_taken_as_whole_for_long() -> None:
    rows = _Lacking()
    former = FormerVectors(rows, "new", ModelChangeSettings(retry_seconds=0.01), settle_seconds=0.2)
    assert not await former.lacks(ANN)
    rows.lacking = True  # a process that has not followed yet wrote a fact
    assert await former.lacks(ANN)

    async def bring_over() -> None:
        rows.lacking = False

    bringing = asyncio.create_task(former.keep_bringing_over(bring_over))
    await _until_done(lambda: former.lacks(ANN))
    rows.lacking = True
    await _until_done(lambda: former.lacks(ANN))
    async with asyncio.timeout(60):
        while True:  # until the process takes what it has seen as lasting
            asked = rows.asked
            await former.lacks(ANN)
            if rows.asked == asked:
                break
            await asyncio.sleep(0.01)
    bringing.cancel()
    await asyncio.gather(bringing, return_exceptions=True)
    rows.lacking = True
    assert await former.lacks(ANN)  # another model serves: what was known is void


class _Lacking:
    """Vectors of one user, some of which may be of a former model."""

    lacking = False
    asked = 0
    keeps_two = False

    async def owners(self, *, model: str, after: Owner | None, limit: int) -> Sequence[Owner]:  # noqa: ARG002
        await asyncio.sleep(0)
        return [ANN] if self.lacking else []

    async def lacks(self, owner: Owner, *, model: str) -> bool:  # noqa: ARG002
        await asyncio.sleep(0)
        self.asked += 1
        return self.lacking

    async def former(self, owner: Owner, *, model: str, before: str, limit: int) -> Sequence[str]:
        raise NotImplementedError

    async def texts(self, owner: Owner, row_ids: Sequence[str]) -> Sequence[EmbeddedText]:
        raise NotImplementedError

    async def replace(
        self, owner: Owner, texts: Sequence[EmbeddedText], vectors: Matrix, *, model: str, beside: str = ""
    ) -> set[str]:
        raise NotImplementedError

    async def count(self, *, model: str, limit: int) -> int:
        raise NotImplementedError

    async def owners_with_others(self, *, model: str, after: Owner | None, limit: int) -> Sequence[Owner]:
        raise NotImplementedError

    async def drop_others(self, owner: Owner, *, model: str) -> int:
        raise NotImplementedError
