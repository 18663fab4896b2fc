"""Vault that is slow, away, sealed, misconfigured, or something else altogether."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from services.common.encryption.carried import CarriedKeys
from services.common.encryption.envelope import DecryptionError
from services.common.encryption.key_management import KeyManagementUnavailable, WrappedKey
from services.common.encryption.ring import DataKeyRing
from services.common.encryption.vault import VaultKeyManagement
from services.common.encryption.vault_settings import VaultSettings
from services.common.errors import StoreUnavailable
from services.common.owners import Owner, TenantId, UserId
from tests.support.certificates import self_signed
from tests.support.transit import Fault, TransitKey, TransitServer, refused, succeeded, transit, transit_key

__all__ = ["transit", "transit_key"]

KEY = bytes(range(32))
QUICK = VaultSettings(timeout_seconds=5.0, deadline_seconds=10.0, backoff_seconds=0.001)
HASTY = VaultSettings(timeout_seconds=0.1, deadline_seconds=0.2, backoff_seconds=0.001)


class Now:
    """A monotonic clock that a test moves."""

    seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def now() -> Now:
    return Now()


@pytest.fixture
async def vault(transit_key: TransitKey, now: Now) -> AsyncIterator[VaultKeyManagement]:
    management = VaultKeyManagement(transit_key.server, QUICK, monotonic=now)
    yield management
    await management.aclose()


@pytest.fixture
async def hasty(transit_key: TransitKey, now: Now) -> AsyncIterator[VaultKeyManagement]:
    management = VaultKeyManagement(transit_key.server, HASTY, monotonic=now)
    yield management
    await management.aclose()


async def failure(management: VaultKeyManagement) -> KeyManagementUnavailable:
    with pytest.raises(KeyManagementUnavailable) as caught:
        await management.wrap(KEY, b"a")
    return caught.value


def always(status: int, *errors: str) -> Fault:
    return lambda: refused(status, *errors)


@pytest.mark.parametrize(
    ("fault", "cause", "hint", "requests"),
    [
        (always(403, "permission denied"), "Vault refuses the token", "`update` on transit/encrypt/", 1),
        (always(404, "no handler for route"), "Vault has no Transit engine there", "MNEME_VAULT_MOUNT", 1),
        (always(400, "encryption key not found"), "Vault does not have the key", "Create transit/keys/", 1),
        (always(400, "'[0].associated_data' provided"), "Vault refuses its key", "an AEAD type", 1),
        (always(429, "rate limit quota exceeded"), "Vault limits the rate", "quota", 3),
        (always(503, "Vault is sealed"), "Vault is sealed or not active", "Unseal it", 3),
        (always(500, "internal error"), "Vault cannot serve", "status 500. Vault says: internal error", 3),
        (always(400), "Vault does not have the key", "MNEME_VAULT_KEY_NAME", 1),
        (lambda: (502, b"<html>bad gateway</html>"), "Vault cannot serve", "status 502", 3),
        (lambda: (200, b"<html>hello</html>"), "Vault's response is not understood", "Transit at transit", 3),
        (lambda: (200, b"[]"), "Vault's response is not understood", "not one of Transit", 3),
        (lambda: succeeded({}), "Vault's response is not understood", "without a ciphertext", 1),
        (lambda: succeeded({"ciphertext": 3}), "Vault's response is not understood", "without a ciphertext", 1),
        (lambda: succeeded({"ciphertext": "aGk="}), "Vault's response is not understood", "without a ciphertext", 1),
        (lambda: (200, b"\xff" * 100), "Vault's response is not understood", "not one of Transit", 3),
    ],
)
async def test_spec_7_3_each_failure_of_vault_has_its_cause_and_says_what_to_do(
    vault: VaultKeyManagement, transit: TransitServer, fault: Fault, cause: str, hint: str, requests: int
) -> None:
    before = len(transit.requests)
    transit.constant_fault = fault
    with capture_logs() as logs:
        failed = await failure(vault)
    assert isinstance(failed, StoreUnavailable)
    assert failed.message == f"key management is unavailable: {cause}"
    assert hint in str(failed)
    assert hint not in failed.message
    assert [(entry["event"], entry["cause"]) for entry in logs] == [("key_management_unavailable", cause)]
    assert len(transit.requests) - before == requests


@pytest.mark.parametrize("plaintext", [None, 3, "not base64", "=="])
async def test_a_plaintext_that_is_none_is_an_outage_and_not_a_lost_key(
    vault: VaultKeyManagement, transit: TransitServer, plaintext: object
) -> None:
    wrapped = await vault.wrap(KEY, b"a")
    transit.faults.append(lambda: succeeded({"plaintext": plaintext}))
    with pytest.raises(KeyManagementUnavailable, match="without a plaintext"):
        await vault.unwrap(wrapped, b"a")


async def test_spec_7_3_a_passing_failure_is_tried_again(vault: VaultKeyManagement, transit: TransitServer) -> None:
    transit.faults += [always(503, "Vault is sealed"), always(429, "quota")]
    wrapped = await vault.wrap(KEY, b"a")
    assert await vault.unwrap(wrapped, b"a") == KEY


async def test_spec_7_3_a_slow_vault_holds_up_nobody_beyond_the_deadline(
    hasty: VaultKeyManagement, transit: TransitServer
) -> None:
    transit.constant_fault = transit.slow
    start = time.monotonic()
    failed = await failure(hasty)
    assert time.monotonic() - start < 5.0  # two requests of 0.1 s each, on a machine that does other things as well
    assert failed.cause == "Vault did not respond in time"
    assert "encryption.vault.timeout_seconds" in failed.hint


async def test_spec_7_3_a_vault_that_is_not_there_is_reported(transit_key: TransitKey) -> None:
    with TransitServer().running() as gone:
        server = replace(transit_key.server, address=gone.address)
    management = VaultKeyManagement(server, QUICK)
    failed = await failure(management)
    await management.aclose()
    assert failed.cause == "Vault cannot be reached"
    assert "MNEME_VAULT_ADDRESS" in failed.hint


async def test_spec_7_3_while_vault_is_away_calls_fail_at_once_and_one_of_them_asks_for_it(
    vault: VaultKeyManagement, transit: TransitServer, now: Now
) -> None:
    transit.constant_fault = always(503, "Vault is sealed")
    assert (await failure(vault)).retry_after_seconds == QUICK.pause_seconds
    count = len(transit.requests)
    assert (await failure(vault)).cause == "Vault is sealed or not active"  # as it was before
    assert len(transit.requests) == count

    now.seconds += QUICK.pause_seconds
    failed = await asyncio.gather(*(failure(vault) for _ in range(20)))
    assert len(failed) == 20
    assert len(transit.requests) == count + QUICK.attempts_max

    transit.constant_fault = None
    now.seconds += QUICK.pause_seconds
    assert await vault.unwrap(await vault.wrap(KEY, b"a"), b"a") == KEY


async def test_a_cancelled_question_whether_vault_is_back_is_asked_again(
    vault: VaultKeyManagement, transit: TransitServer, now: Now
) -> None:
    transit.constant_fault = always(503, "Vault is sealed")
    await failure(vault)
    transit.constant_fault = None
    now.seconds += QUICK.pause_seconds
    asking = asyncio.create_task(vault.wrap(KEY, b"a"))
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await vault.wrap(KEY, b"a")


async def test_a_key_that_vault_refuses_holds_up_no_other_one(vault: VaultKeyManagement) -> None:
    wrapped = await vault.wrap(KEY, b"a")
    with pytest.raises(DecryptionError):
        await vault.unwrap(wrapped, b"b")
    assert await vault.unwrap(wrapped, b"a") == KEY


async def test_spec_7_3_what_is_cached_is_used_on_while_vault_is_away(
    vault: VaultKeyManagement, transit: TransitServer
) -> None:
    ring, carried = DataKeyRing(vault), CarriedKeys(vault)
    stored, key = await ring.create("acme", "ada")
    other, _ = await ring.create("acme", "grace")
    await ring.unwrapped("acme", "ada", stored)
    owner = Owner(TenantId("acme"), UserId("ada"))
    sealed = (await carried.for_writing(owner)).seal("r", "f", "said")
    await carried.for_reading(owner, [sealed])
    count = len(transit.requests)

    transit.constant_fault = always(503, "Vault is sealed")
    assert await ring.unwrapped("acme", "ada", stored) == key
    assert (await carried.for_reading(owner, [sealed])).open("r", "f", sealed) == "said"
    assert (await carried.for_writing(owner)).open("r", "f", sealed) == "said"
    assert len(transit.requests) == count  # no call of a user whose key is cached asks Vault
    with pytest.raises(StoreUnavailable):
        await ring.unwrapped("acme", "grace", other)


async def test_spec_7_3_the_token_is_read_again_when_its_file_changes(
    vault: VaultKeyManagement, transit: TransitServer, transit_key: TransitKey, now: Now
) -> None:
    await vault.wrap(KEY, b"a")
    transit.token = "hvs.renewed"
    assert (await failure(vault)).cause == "Vault refuses the token"
    transit_key.server.token_file.write_text("hvs.renewed\n", "ascii")
    now.seconds += QUICK.pause_seconds
    await vault.wrap(KEY, b"a")
    assert transit.requests[-1][1]["x-vault-token"] == "hvs.renewed"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda file: file.unlink(),
        lambda file: file.write_text("", "ascii"),
        lambda file: file.write_text("two\ntokens", "ascii"),
        lambda file: file.write_bytes(b"\xff\xfe"),
    ],
)
async def test_a_file_without_a_token_is_named(
    vault: VaultKeyManagement, transit_key: TransitKey, spoil: Callable[[Path], object]
) -> None:
    spoil(transit_key.server.token_file)
    failed = await failure(vault)
    assert failed.cause == "there is no token for Vault"
    assert str(transit_key.server.token_file) in failed.hint


async def test_the_token_goes_to_the_address_alone_and_no_message_holds_it(
    vault: VaultKeyManagement, transit: TransitServer
) -> None:
    with TransitServer().running() as elsewhere:
        transit.constant_fault = lambda: (307, f"{elsewhere.address}/v1/transit/encrypt/k".encode())
        with capture_logs() as logs:
            failed = await failure(vault)
        assert elsewhere.requests == []
    assert failed.cause == "Vault cannot serve"
    assert transit.token not in f"{failed} {logs}"


async def test_a_namespace_is_sent(transit: TransitServer, transit_key: TransitKey) -> None:
    management = VaultKeyManagement(replace(transit_key.server, namespace="team/memory"), QUICK)
    await management.wrap(KEY, b"a")
    await management.aclose()
    _, headers = transit.requests[-1]
    assert (headers["x-vault-namespace"], headers["x-vault-request"]) == ("team/memory", "true")


async def test_spec_7_3_vault_is_called_by_tls_with_the_authority_of_the_settings(tmp_path: Path) -> None:
    files = self_signed("vault").saved(tmp_path, "vault")
    with TransitServer(files).running() as server:
        key = TransitKey.create(server.address, server.token, tmp_path, authority=files[0])
        management = VaultKeyManagement(key.server, QUICK)
        assert await management.unwrap(await management.wrap(KEY, b"a"), b"a") == KEY
        await management.aclose()

        strict = VaultKeyManagement(replace(key.server, authority=None), QUICK)
        failed = await failure(strict)
        await strict.aclose()
    assert failed.cause == "Vault cannot be reached"
    assert "MNEME_VAULT_TLS_AUTHORITY" in failed.hint


async def test_spec_7_3_a_refused_version_names_min_decryption_version(
    vault: VaultKeyManagement, transit_key: TransitKey
) -> None:
    wrapped = await vault.wrap(KEY, b"a")
    transit_key.rotate()
    transit_key.set_min_decryption_version(2)
    with pytest.raises(DecryptionError, match=r"vault:v1, which is below min_decryption_version"):
        await vault.unwrap(wrapped, b"a")
    with pytest.raises(DecryptionError, match="which Vault's key does not have"):
        await vault.unwrap(WrappedKey("vault:v7", wrapped.data.replace(b":v1:", b":v7:")), b"a")
    with pytest.raises(DecryptionError, match="MNEME_ENCRYPTION_KEY_FILE"):
        await vault.unwrap(WrappedKey("v1", b"of a key file"), b"a")


async def test_nothing_runs_on_the_event_loop_that_waits(hasty: VaultKeyManagement, transit: TransitServer) -> None:
    transit.constant_fault = transit.slow
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0.001)

    counting = asyncio.create_task(others())
    await failure(hasty)
    counting.cancel()
    assert turns > 10
