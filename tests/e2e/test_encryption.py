"""All services with encryption at rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import asyncpg
import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from mneme_client import MnemeClientError, Turn
from services.cli.encrypting import encrypt_all, rewrap_all
from services.common.encryption.hosted import HEALTH_NAME
from services.common.encryption.key_file import add_key
from services.common.hosting import HostSettings
from tests.support.encryption import occurrences
from tests.support.stack import patient_client, running_stack, until
from tests.support.transit import TransitKey, TransitServer, refused, transit, transit_key

__all__ = ["transit", "transit_key"]

pytestmark = pytest.mark.asyncio(loop_scope="session")

CANARY = "Pistachio-Xylophone"
ENCRYPTED = ["gateway", "episodic", "semantic", "agentic"]
"""Schemas whose content is encrypted; see docs/privacy.md for the others."""


async def test_spec_7_3_what_is_remembered_is_found_and_lies_in_no_encrypted_schema(
    tmp_path: Path, model_folder: Path
) -> None:
    file = tmp_path / "encryption-keys"
    add_key(file)
    async with running_stack(tmp_path / "data", model_folder, encryption_key_file=file) as services:
        superuser = services.postgres_dsn.replace("mneme_app", "postgres")
        async with patient_client(services.gateway_target) as client:
            said = [Turn(f"My password hint is the word {CANARY}, remember it.", speaker="Ada")]
            written = await client.remember("ada", "c1", said)
            token = written.consistency_token
            found = await client.recall("ada", "What is my password hint?", limit=3, consistency_token=token)
            assert CANARY in found.memories[0].turn.content
            assert await occurrences(superuser, CANARY, schemas=ENCRYPTED) == {}
            keys = await _key_ids(superuser)
            assert len(keys) == len(ENCRYPTED)

            erasure = await client.erase_user("ada")

            async def is_done() -> bool:
                return (await client.get_erasure(erasure.erasure_id)).complete_time is not None

            await until(is_done)
            receipt = await client.get_erasure(erasure.erasure_id)
            assert sum(store.counts.get("data_keys", 0) for store in receipt.stores) == len(ENCRYPTED)
            assert not keys & await _key_ids(superuser)


async def _key_ids(url: str) -> set[bytes]:
    connection = await asyncpg.connect(url)
    try:
        found = [await connection.fetch(f"SELECT key_id FROM {schema}.data_keys") for schema in ENCRYPTED]  # noqa: S608
        return {row["key_id"] for rows in found for row in rows}
    finally:
        await connection.close()


@pytest.mark.ci("an installation that starts three times")
async def test_spec_7_3_an_installation_is_encrypted_afterwards_and_its_keys_are_rotated(
    tmp_path: Path, model_folder: Path
) -> None:
    data_dir, file = tmp_path / "data", tmp_path / "encryption-keys"
    async with running_stack(data_dir, model_folder) as services, patient_client(services.gateway_target) as client:
        said = [Turn(f"My password hint is the word {CANARY}, remember it.", speaker="Ada")]
        token = (await client.remember("ada", "c1", said)).consistency_token
        await client.recall("ada", "password hint", limit=1, consistency_token=token)

    add_key(file)
    settings = HostSettings(encryption_key_file=file)
    counts = await encrypt_all(settings, data_dir, "")
    assert (counts["gateway.interactions"], counts["gateway.speakers"], counts["episodic.episodes"]) == (1, 1, 1)
    add_key(file)
    assert await rewrap_all(settings, data_dir) == {"gateway": 1, "episodic": 1, "semantic": 1, "agentic": 1}
    newest = file.read_text("ascii").splitlines()[-1]
    file.write_text(newest + "\n", "ascii")

    async with running_stack(data_dir, model_folder, encryption_key_file=file) as services:
        superuser = services.postgres_dsn.replace("mneme_app", "postgres")
        async with patient_client(services.gateway_target) as client:
            found = await client.recall("ada", "What is my password hint?", limit=3)
            assert CANARY in found.memories[0].turn.content
            seen = await occurrences(superuser, CANARY, schemas=ENCRYPTED)
            assert set(seen) <= {"agentic.idempotency_records", "semantic.idempotency_records"}


@pytest.mark.ci("starts installations one after the other")
async def test_spec_7_3_an_installation_moves_from_its_key_file_to_vault_and_outlives_an_outage_of_it(
    tmp_path: Path, model_folder: Path, transit: TransitServer, transit_key: TransitKey
) -> None:
    data_dir, file = tmp_path / "data", tmp_path / "encryption-keys"
    add_key(file)
    async with (
        running_stack(data_dir, model_folder, encryption_key_file=file) as services,
        patient_client(services.gateway_target) as client,
    ):
        said = [Turn(f"My password hint is the word {CANARY}, remember it.", speaker="Ada")]
        token = (await client.remember("ada", "c1", said)).consistency_token
        await client.recall("ada", "password hint", limit=1, consistency_token=token)

    vault: dict[str, Any] = {
        "encryption_driver": "vault",
        "vault_address": transit.address,
        "vault_token_file": transit_key.server.token_file,
        "vault_key_name": transit_key.server.key,
    }
    settings = HostSettings(encryption_key_file=file, **vault)
    everywhere = dict.fromkeys(ENCRYPTED, 1)
    assert await rewrap_all(settings, data_dir) == everywhere
    transit_key.rotate()
    file.unlink()
    settings = HostSettings(**vault)
    assert await rewrap_all(settings, data_dir) == everywhere
    assert not any((await rewrap_all(settings, data_dir)).values())
    assert not any((await encrypt_all(settings, data_dir, "")).values())
    transit_key.set_min_decryption_version(2)

    async with (
        running_stack(data_dir, model_folder, host=vault) as services,
        patient_client(services.gateway_target) as client,
    ):
        assert CANARY in (await client.recall("ada", "What is my password hint?", limit=3)).memories[0].turn.content
        count = len(transit.requests)
        assert (await client.recall("ada", "What is my password hint?", limit=3)).memories
        assert len(transit.requests) == count  # data keys are cached: Recall does not ask Vault

        transit.constant_fault = lambda: refused(503, "Vault is sealed")
        assert (await client.recall("ada", "Which word is my hint?", limit=3)).memories
        await client.remember("ada", "c1", [Turn("And I like sardines.", speaker="Ada")])
        with pytest.raises(MnemeClientError, match="key management"):
            await client.remember("grace", "c1", [Turn("Hello.", speaker="Grace")])
        async with grpc.aio.insecure_channel(services.gateway_target) as channel:
            health: Any = health_pb2_grpc.HealthStub(channel)
            for name in ("", HEALTH_NAME):
                response = await health.Check(health_pb2.HealthCheckRequest(service=name))
                assert response.status == health_pb2.HealthCheckResponse.SERVING  # it is looked at every half minute

        transit.constant_fault = None

        async def is_back() -> bool:
            try:
                await client.remember("grace", "c1", [Turn("Hello.", speaker="Grace")])
            except MnemeClientError:
                return False
            return True

        await until(is_back)
