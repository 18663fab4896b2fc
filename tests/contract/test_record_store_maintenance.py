"""Claims and the log of maintenance in copies: those of jobs whose tier may be in a graph go where the tier goes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from services.common.copying.administration import open_administration
from services.common.copying.model import Kind, Record, RecordStore
from services.common.copying.neo4j import GraphRecords
from services.common.idempotency.model import IdempotencyKey, IdempotencyRecord, IdempotencyRecords
from services.common.maintenance import Change
from services.common.maintenance.copying import open_maintenance_records
from services.common.maintenance.graph_kinds import GRAPH_CLAIMS, GRAPH_LOG, GRAPH_REQUESTS, NUMBERED_BY_TABLE
from services.common.maintenance.neo4j import COMPONENT, GRAPH_MIGRATIONS_FOLDER, Neo4jMaintenanceStore
from services.common.maintenance.neo4j_copy import KINDS
from services.common.maintenance.postgres import PostgresMaintenanceStore
from services.common.neo4j.graph import Graph
from services.common.owners import Owner, TenantId, UserId
from services.common.postgres.pool import create_pool
from services.common.postgres.server import EmbeddedPostgres
from tests.contract.record_store import RecordStoreContract, Subject
from tests.support.maintenance import MAINTENANCE
from tests.support.neo4j import fresh_graph
from tests.support.postgres import fresh_postgres

_MOMENT = 1_767_225_600_123_456


def identifier(n: int) -> str:
    return str(UUID(int=(7919 * n) % 1009 << 96 | n))


def owner(n: int) -> dict[str, str]:
    return {"tenant_id": f"tenant-{n % 2}", "user_id": f"user-{n % 3}"}


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


def named(store: RecordStore, name: str) -> Kind:
    return next(kind for kind in store.kinds if kind.name == name)


def claims_of(store: RecordStore) -> Kind:
    return named(store, GRAPH_CLAIMS)


@pytest.fixture
async def graph(neo4j_url: str) -> AsyncIterator[Graph]:
    async with fresh_graph(neo4j_url, migrations=[(COMPONENT, GRAPH_MIGRATIONS_FOLDER)]) as opened:
        yield opened


@pytest.fixture
async def stores(postgres_server: EmbeddedPostgres) -> AsyncIterator[Sequence[RecordStore]]:
    async with (
        fresh_postgres(postgres_server, migrations=[MAINTENANCE]) as urls,
        open_administration([urls.superuser], place="test") as connection,
    ):
        yield await open_maintenance_records(connection, None)


class TestGraphClaims(RecordStoreContract):
    """In a graph."""

    @pytest.fixture
    async def subject(self, graph: Graph) -> Subject:
        records = GraphRecords(graph, KINDS)
        return Subject(records, claims_of(records), job_claim)


class TestGraphTierClaims(RecordStoreContract):
    """Claims of jobs whose tier may be in a graph, where it is in PostgreSQL."""

    @pytest.fixture
    def subject(self, stores: Sequence[RecordStore]) -> Subject:
        return Subject(stores[2], claims_of(stores[2]), job_claim)

    async def test_spec_6_9_claims_of_other_tiers_are_copied_with_their_tables(
        self, stores: Sequence[RecordStore], subject: Subject
    ) -> None:
        others = named(stores[0], "maintenance.claims")
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


def job_request(n: int) -> Record:
    return {
        "tenant_id": f"tenant-{n % 2}",
        "principal_id": f"agent-{n % 3}",
        "request_id": f"request {n}",
        "digest": f"d{n}",
        "user_id": f"user-{n % 3}",
        "resource_id": "agentic" if n % 2 else "semantic",
        "response": None if n % 4 == 0 else f'{{"count": {n}}}',
        "create_time": _MOMENT + n,
    }


class TestGraphRequests(RecordStoreContract):
    """Idempotency records of requests to tiers that are in a graph."""

    @pytest.fixture
    async def subject(self, graph: Graph) -> Subject:
        records = GraphRecords(graph, KINDS)
        return Subject(records, named(records, GRAPH_REQUESTS), job_request)


class TestTableRequests(RecordStoreContract):
    """The same records in PostgreSQL, in one table with those of other tiers."""

    @pytest.fixture
    def subject(self, stores: Sequence[RecordStore]) -> Subject:
        return Subject(stores[3], named(stores[3], GRAPH_REQUESTS), job_request)

    async def test_spec_6_9_requests_to_other_tiers_are_copied_with_their_tables(
        self, stores: Sequence[RecordStore], subject: Subject
    ) -> None:
        others = named(stores[0], "maintenance.idempotency_records")
        for number, tier in enumerate(("episodic", ""), 2):
            await stores[0].write(others, [{**job_request(number), "resource_id": tier}])
        await subject.store.write(subject.kind, [job_request(1)])
        assert [one["resource_id"] for one in await stores[0].read(others, after=None, limit=9)] == ["episodic", ""]
        assert await subject.store.read(subject.kind, after=None, limit=9) == [job_request(1)]


@pytest.mark.parametrize("is_to_graph", [True, False])
async def test_spec_6_9_a_request_to_a_job_is_repeated_in_a_copy_on_the_other_engine(
    graph: Graph, postgres_server: EmbeddedPostgres, *, is_to_graph: bool
) -> None:
    tenant, now = TenantId("acme"), datetime(2026, 5, 8, tzinfo=UTC)
    known = IdempotencyRecord(IdempotencyKey("agent", "r1", "d"), UserId("ada"), "agentic", '{"count": 3}', now)

    async def add(records: IdempotencyRecords) -> None:
        await records.add(known, purge_before=now)

    async with (
        fresh_postgres(postgres_server, migrations=[MAINTENANCE]) as urls,
        open_administration([urls.superuser], place="test") as connection,
        await create_pool(urls.app) as pool,
    ):
        stores = (PostgresMaintenanceStore(pool), Neo4jMaintenanceStore(graph))
        copies = ((await open_maintenance_records(connection, None))[3], GraphRecords(graph, KINDS))
        source, target = (0, 1) if is_to_graph else (1, 0)
        await stores[source].with_requests(tenant, add)
        records = await copies[source].read(named(copies[source], GRAPH_REQUESTS), after=None, limit=9)
        for _ in range(2):
            await copies[target].write(named(copies[target], GRAPH_REQUESTS), records)
        assert await stores[target].with_requests(tenant, lambda found: found.find(known.key)) == known


def log_entry(n: int) -> Record:
    return {
        **owner(n),
        "entry_id": n + 1 if n % 2 else NUMBERED_BY_TABLE + n,
        "run_id": identifier(n),
        "job": "agentic.fade_links" if n % 3 else "semantic.retain_facts",
        "changes": [{"action": "fade_link", "target": f"{n}", "retires": 0, "facts": {"to": 0.5, "ids": [n]}}],
        "is_applied": True,
        "is_undone": n % 4 == 0,
        "create_time": _MOMENT + n,
    }


class TestGraphMaintenanceLog(RecordStoreContract):
    """Entries of the log of maintenance."""

    @pytest.fixture
    async def subject(self, graph: Graph) -> Subject:
        records = GraphRecords(graph, KINDS)
        return Subject(records, named(records, GRAPH_LOG), log_entry)

    async def test_spec_6_9_the_graph_numbers_its_own_entries_behind_those_of_another_graph(
        self, graph: Graph, subject: Subject
    ) -> None:
        await subject.store.write(subject.kind, [log_entry(n) for n in range(9)])
        store, now = Neo4jMaintenanceStore(graph), datetime(2026, 5, 8, tzinfo=UTC)
        ada = Owner(TenantId("acme"), UserId("ada"))
        claim = await store.claim(
            "agentic.fade_links", ada, holder="h", run_id=identifier(1), now=now, lease=timedelta(minutes=1)
        )
        assert claim is not None
        assert await store.log_planned(claim, ada, [Change("fade_link", "a b")], now) == 9


class TestTableMaintenanceLog(RecordStoreContract):
    """The same entries in PostgreSQL, in one table with those of other tiers."""

    @pytest.fixture
    def subject(self, stores: Sequence[RecordStore]) -> Subject:
        return Subject(stores[1], named(stores[1], GRAPH_LOG), log_entry)

    async def test_spec_6_9_entries_of_a_graph_and_of_other_tiers_do_not_meet(
        self, stores: Sequence[RecordStore], subject: Subject
    ) -> None:
        others = named(stores[0], "maintenance.log")
        other = {**log_entry(1), "job": "episodic.retain_episodes"}
        await stores[0].write(others, [other])
        await subject.store.write(subject.kind, [log_entry(1)])
        assert await stores[0].read(others, after=None, limit=9) == [other]
        assert await subject.store.read(subject.kind, after=None, limit=9) == [log_entry(1)]
        assert (await stores[0].count(others), await subject.store.count(subject.kind)) == (1, 1)


async def test_spec_6_9_a_run_that_was_logged_in_tables_is_read_and_undone_in_a_graph_and_back(
    graph: Graph, postgres_server: EmbeddedPostgres
) -> None:
    ada, now, run_id = Owner(TenantId("acme"), UserId("ada")), datetime(2026, 5, 8, tzinfo=UTC), identifier(1)
    made = (Change("fade_link", "a b", 0, {"strength": 1.0, "to": 0.95, "updated": now.isoformat()}),)
    in_graph, records = Neo4jMaintenanceStore(graph), GraphRecords(graph, KINDS)
    async with (
        fresh_postgres(postgres_server, migrations=[MAINTENANCE]) as urls,
        open_administration([urls.superuser], place="test") as connection,
        await create_pool(urls.app) as pool,
    ):
        in_tables = PostgresMaintenanceStore(pool)
        claim = await in_tables.claim(
            "agentic.fade_links", ada, holder="h", run_id=run_id, now=now, lease=timedelta(minutes=1)
        )
        assert claim is not None
        await in_tables.log_applied(ada, await in_tables.log_planned(claim, ada, made, now), made)
        tables = (await open_maintenance_records(connection, None))[1]
        kind = named(tables, GRAPH_LOG)

        logged = await tables.read(kind, after=None, limit=9)
        await records.write(kind, logged)
        assert [entry.changes for entry in await in_graph.entries(run_id, owner=ada)] == [made]
        [run] = await in_graph.runs(ada, jobs=["agentic.fade_links"], before_run_id="", limit=9)
        assert (run.run_id, run.applied, run.is_undone) == (run_id, 1, False)
        assert await records.read(kind, after=None, limit=9) == logged

        await in_graph.log_undone(ada, (await in_graph.entries(run_id, owner=ada))[0].entry_id)
        await connection.execute("DELETE FROM maintenance.log")
        await tables.write(kind, await records.read(kind, after=None, limit=9))
        assert [entry.is_undone for entry in await in_tables.entries(run_id, owner=ada)] == [True]
