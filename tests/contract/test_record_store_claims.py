"""Claims of maintenance in copies: those of jobs whose tier may be in a graph go where the tier goes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from services.common.copying.administration import open_administration
from services.common.copying.model import Kind, Record, RecordStore
from services.common.copying.neo4j import GraphRecords
from services.common.maintenance.copying import GRAPH_CLAIMS, open_maintenance_records
from services.common.maintenance.neo4j import COMPONENT, GRAPH_MIGRATIONS_FOLDER, Neo4jMaintenanceStore
from services.common.maintenance.neo4j_copy import KINDS
from services.common.maintenance.postgres import PostgresMaintenanceStore
from services.common.neo4j.graph import Graph
from services.common.postgres.pool import create_pool
from services.common.postgres.server import EmbeddedPostgres
from tests.contract.record_store import RecordStoreContract, Subject
from tests.support.maintenance import MAINTENANCE
from tests.support.neo4j import fresh_graph
from tests.support.postgres import fresh_postgres

_MOMENT = 1_767_225_600_123_456


def identifier(n: int) -> str:
    return str(UUID(int=(7919 * n) % 1009 << 96 | n))


def job_claim(n: int) -> Record:
    return {
        "tenant_id": f"tenant-{n % 2}" if n % 5 else "",
        "user_id": f"user-{n % 3}" if n % 5 else "",
        "job": f"{'agentic' if n % 2 else 'semantic'}.job_{n}",
        "run_id": identifier(n),
        "is_open": n % 3 == 0,
        "cursor": f'["tenant", "user {n}"]' if n % 3 == 0 else "",
        "failures": n % 4,
        "complete_time": _MOMENT + n if n % 2 else None,
    }


def claims_of(store: RecordStore) -> Kind:
    return next(kind for kind in store.kinds if kind.name == GRAPH_CLAIMS)


@pytest.fixture
async def graph(neo4j_url: str) -> AsyncIterator[Graph]:
    async with fresh_graph(neo4j_url, migrations=[(COMPONENT, GRAPH_MIGRATIONS_FOLDER)]) as opened:
        yield opened


class TestGraphClaims(RecordStoreContract):
    """In a graph."""

    @pytest.fixture
    async def subject(self, graph: Graph) -> Subject:
        records = GraphRecords(graph, KINDS)
        return Subject(records, claims_of(records), job_claim)


class TestGraphTierClaims(RecordStoreContract):
    """Claims of jobs whose tier may be in a graph, where it is in PostgreSQL."""

    @pytest.fixture
    async def stores(self, postgres_server: EmbeddedPostgres) -> AsyncIterator[Sequence[RecordStore]]:
        async with (
            fresh_postgres(postgres_server, migrations=[MAINTENANCE]) as urls,
            open_administration([urls.superuser], place="test") as connection,
        ):
            yield await open_maintenance_records(connection, None)

    @pytest.fixture
    def subject(self, stores: Sequence[RecordStore]) -> Subject:
        return Subject(stores[2], claims_of(stores[2]), job_claim)

    async def test_spec_6_9_claims_of_other_tiers_are_copied_with_their_tables(
        self, stores: Sequence[RecordStore], subject: Subject
    ) -> None:
        others = next(kind for kind in stores[0].kinds if kind.name == "maintenance.claims")
        other = {
            **job_claim(1),
            "job": "episodic.retain_episodes",
            "holder": "h",
            "term": 3,
            "lease_until": _MOMENT,
        }
        await stores[0].write(others, [other])
        await subject.store.write(subject.kind, [job_claim(1)])
        assert await stores[0].read(others, after=None, limit=9) == [other]
        assert await subject.store.read(subject.kind, after=None, limit=9) == [job_claim(1)]


@pytest.mark.parametrize("is_to_graph", [True, False])
async def test_spec_6_9_an_open_run_goes_on_at_its_cursor_in_a_copy_on_the_other_engine(
    graph: Graph, postgres_server: EmbeddedPostgres, *, is_to_graph: bool
) -> None:
    now, lease, job = datetime(2026, 5, 8, tzinfo=UTC), timedelta(minutes=1), "agentic.fade_links"
    records = GraphRecords(graph, KINDS)
    async with (
        fresh_postgres(postgres_server, migrations=[MAINTENANCE]) as urls,
        open_administration([urls.superuser], place="test") as connection,
        await create_pool(urls.app) as pool,
    ):
        stores = (PostgresMaintenanceStore(pool), Neo4jMaintenanceStore(graph))
        copies: tuple[RecordStore, ...] = ((await open_maintenance_records(connection, None))[2], records)
        source, target = (0, 1) if is_to_graph else (1, 0)
        for number, name in enumerate((job, "semantic.retain_facts", "semantic.merge_facts"), 1):
            # Of a leader whose terms were numbered for long, and who was killed.
            claim = await stores[source].claim(
                name, None, holder="killed", run_id=identifier(number), now=now, lease=lease, term=70
            )
            assert claim is not None
            await stores[source].renew(claim, cursor=f'["acme", "user-{number}"]', now=now, lease=lease)
            if number == 2:
                await stores[source].release(claim, is_finished=False, is_failed=True, now=now)
            if number == 3:
                await stores[source].release(claim, is_finished=True, now=now)

        kind = claims_of(copies[source])
        claims = await copies[source].read(kind, after=None, limit=9)
        for _ in range(2):
            await copies[target].write(claims_of(copies[target]), claims)

        by_job = {claim["job"]: claim for claim in claims}
        copied = await copies[target].read(claims_of(copies[target]), after=None, limit=9)
        assert {claim["job"]: claim for claim in copied} == by_job
        assert len(claims) == 3
        claim = await stores[target].claim(job, None, holder="next", run_id=identifier(9), now=now, lease=lease)
        assert claim is not None
        assert (claim.run_id, claim.cursor) == (identifier(1), '["acme", "user-1"]')
        states = await stores[target].job_states(list(by_job))
        assert states["semantic.retain_facts"].failures == 1
        assert states["semantic.merge_facts"].complete_time == now
        assert states[job].complete_time is None
        term = await stores[target].next_term()
        fenced = await stores[target].claim(
            "semantic.retain_facts", None, holder="next", run_id=identifier(9), now=now, lease=lease, term=term
        )
        assert fenced is not None
        assert fenced.run_id == identifier(2)
