from collections.abc import AsyncIterator
from uuid import UUID

import asyncpg
import numpy as np
import pytest

from services.common.copying.administration import open_administration, services_connected
from services.common.copying.model import CopyError, Record
from services.common.copying.postgres import PostgresRecords
from services.common.copying.postgres_values import vector_bytes
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Connection
from services.gateway.journal.stores.postgres import MIGRATIONS as GATEWAY_MIGRATIONS
from tests.contract.record_store import RecordStoreContract, Subject
from tests.support.postgres import DatabaseUrls, fresh_postgres

#: All types that the tiers use, an identity, a generated column, a table in partitions and one that refers to it.
_SCHEMA = """
    CREATE SCHEMA shop;
    CREATE TABLE shop.things (
        tenant_id text NOT NULL,
        thing_id bigint GENERATED ALWAYS AS IDENTITY,
        small smallint, flag boolean, number double precision, raw bytea, moment timestamptz, ids uuid[], names text[],
        details jsonb, embedding vector,
        name_chars integer GENERATED ALWAYS AS (char_length(names[1])) STORED,
        PRIMARY KEY (tenant_id, thing_id)
    ) PARTITION BY HASH (tenant_id);
    CREATE TABLE shop.things_0 PARTITION OF shop.things FOR VALUES WITH (MODULUS 2, REMAINDER 0);
    CREATE TABLE shop.things_1 PARTITION OF shop.things FOR VALUES WITH (MODULUS 2, REMAINDER 1);
    CREATE TABLE shop.parts (
        tenant_id text, thing_id bigint, part_id uuid,
        PRIMARY KEY (tenant_id, thing_id, part_id),
        FOREIGN KEY (tenant_id, thing_id) REFERENCES shop.things
    );
    ALTER TABLE shop.things ENABLE ROW LEVEL SECURITY;
    ALTER TABLE shop.things FORCE ROW LEVEL SECURITY;
    CREATE POLICY of_tenant ON shop.things USING (tenant_id = current_setting('mneme.tenant', true));
"""


@pytest.fixture
async def urls(postgres_server: EmbeddedPostgres) -> AsyncIterator[DatabaseUrls]:
    async with fresh_postgres(postgres_server) as found:
        connection = await asyncpg.connect(found.owner)
        await connection.execute(_SCHEMA)
        await connection.close()
        yield found


@pytest.fixture
async def connection(urls: DatabaseUrls) -> AsyncIterator[Connection]:
    async with open_administration([urls.superuser], place="test") as opened:
        yield opened


def thing(n: int) -> Record:
    is_plain = n % 3 == 0
    return {
        "tenant_id": f"tenant-{n % 4}",
        "thing_id": 1000 - n,
        "small": None if is_plain else n,
        "flag": n % 2 == 0,
        "number": n / 7,
        "raw": bytes([n, 0, 255]),
        # Microseconds that a float cannot hold, also before 1970.
        "moment": 253_402_300_799_999_999 - n if n % 2 else -1 - n,
        "ids": [str(UUID(int=n)), str(UUID(int=2**128 - 1 - n))],
        "names": [] if is_plain else ["Zoë", "\u2028", '"'],
        "details": None if is_plain else {"b": [1, 2.5, None], "a": {"n": n}},
        "embedding": vector_bytes(np.arange(4, dtype=np.float32) + n / 3),
    }


class TestPostgresRecords(RecordStoreContract):
    """A schema's tables, whatever they are."""

    @pytest.fixture
    async def subject(self, connection: Connection) -> Subject:
        store = await PostgresRecords.open(connection, schema="shop")
        return Subject(store, next(kind for kind in store.kinds if kind.name == "shop.things"), thing)

    async def test_partitions_and_generated_columns_are_no_kinds_and_no_fields(self, connection: Connection) -> None:
        store = await PostgresRecords.open(connection, schema="shop")

        assert [kind.name for kind in store.kinds] == ["shop.things", "shop.parts", "shop.sequences"]
        assert store.kinds[0].fields == thing(0).keys()

    async def test_identities_go_on_behind_what_was_written(self, connection: Connection) -> None:
        store = await PostgresRecords.open(connection, schema="shop")
        things, _, sequences = store.kinds
        await store.write(things, [thing(n) for n in range(3)])

        await store.write(sequences, [{"sequence": "things_thing_id_seq", "value": 1000}])

        assert await store.read(sequences, after=None, limit=5) == [{"sequence": "things_thing_id_seq", "value": 1000}]
        insert = "INSERT INTO shop.things (tenant_id) VALUES ('tenant-0') RETURNING thing_id"
        assert await connection.fetchval(insert) == 1001

    async def test_a_sequence_that_was_never_used_is_no_record(self, connection: Connection) -> None:
        store = await PostgresRecords.open(connection, schema="shop")

        assert await store.count(store.kinds[-1]) == 0

    async def test_a_table_without_a_key_cannot_be_copied(self, connection: Connection) -> None:
        await connection.execute("CREATE TABLE shop.notes (text text)")

        with pytest.raises(CopyError, match=r"shop\.notes has no primary key"):
            await PostgresRecords.open(connection, schema="shop")

    async def test_a_column_of_an_unknown_type_cannot_be_copied(self, connection: Connection) -> None:
        await connection.execute("CREATE TABLE shop.places (id integer PRIMARY KEY, place point)")

        with pytest.raises(CopyError, match=r"shop\.places has a column of a type"):
            await PostgresRecords.open(connection, schema="shop")


class TestAdministration:
    """Who may copy, and when."""

    async def test_roles_that_row_level_security_binds_are_refused_with_the_way_to_make_one(
        self, urls: DatabaseUrls
    ) -> None:
        with pytest.raises(CopyError, match="CREATE ROLE mneme_admin LOGIN BYPASSRLS") as caught:
            async with open_administration(["", urls.owner, urls.app], place="prod.env"):
                pass
        assert str(caught.value).startswith("prod.env: ")

    async def test_the_role_of_the_hint_sees_and_writes_all_tenants(
        self, postgres_server: EmbeddedPostgres, urls: DatabaseUrls, connection: Connection
    ) -> None:
        await connection.execute("CREATE ROLE copy_admin LOGIN BYPASSRLS IN ROLE mneme_owner")
        try:
            name = urls.owner.partition("@/")[2].partition("?")[0]
            url = postgres_server.dsn(role="copy_admin", database=name)
            async with open_administration([url], place="test") as administration:
                store = await PostgresRecords.open(administration, schema="shop")
                await store.write(store.kinds[0], [thing(n) for n in range(8)])
                await store.write(store.kinds[-1], [{"sequence": "things_thing_id_seq", "value": 7}])

                assert await store.count(store.kinds[0]) == 8
                assert await store.count(store.kinds[-1]) == 1
        finally:
            await connection.execute("DROP ROLE copy_admin")

    async def test_a_server_that_is_not_there_is_told(self) -> None:
        with pytest.raises(CopyError, match="cannot be reached"):
            async with open_administration(["postgresql://a@127.0.0.1:1/mneme"], place="test"):
                pass

    async def test_connected_services_are_seen_and_other_copies_are_not(
        self, urls: DatabaseUrls, connection: Connection
    ) -> None:
        assert await services_connected(connection) == []
        service = await asyncpg.connect(urls.app, server_settings={"application_name": "mneme-gateway"})
        try:
            assert await services_connected(connection) == ["mneme-gateway"]
        finally:
            await service.close()


async def test_all_tables_of_a_tier_can_be_copied(postgres_server: EmbeddedPostgres) -> None:
    async with (
        fresh_postgres(postgres_server, migrations=[("gateway", GATEWAY_MIGRATIONS)]) as urls,
        open_administration([urls.superuser], place="test") as connection,
    ):
        store = await PostgresRecords.open(connection, schema="gateway")

        assert {"gateway.interactions", "gateway.deliveries", "gateway.sequences"} <= {k.name for k in store.kinds}
