"""Which key management the settings choose, and what a process says when it cannot be used."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from services.common.encryption.carried import CarriedKeys
from services.common.encryption.envelope import DecryptionError
from services.common.encryption.hosted import HEALTH_NAME, check, hosted_key_management, watching
from services.common.encryption.key_file import KeyFileError, add_key
from services.common.encryption.key_management import KeyManagementUnavailable
from services.common.encryption.ring import DataKeyRing
from services.common.errors import FailedPrecondition
from services.common.hosting import HostSettings
from services.common.owners import Owner, TenantId, UserId
from services.common.rpc.server import ServiceBinding
from services.common.settings_file import SettingsError, SettingsSource
from tests.support.transit import TransitKey, TransitServer, refused, succeeded, transit, transit_key

__all__ = ["transit", "transit_key"]

NOTHING = SettingsSource({})
ADA = Owner(TenantId("acme"), UserId("ada"))


def vault_settings(key: TransitKey, **changed: Any) -> HostSettings:
    given: dict[str, Any] = {
        "encryption_driver": "vault",
        "vault_address": key.server.address,
        "vault_token_file": key.server.token_file,
        "vault_key_name": key.server.key,
    }
    return HostSettings(**{**given, **changed})


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    file = tmp_path / "keys"
    add_key(file)
    return file


async def test_spec_7_3_without_settings_nothing_is_encrypted() -> None:
    async with hosted_key_management(HostSettings(), NOTHING) as management:
        assert management is None


async def test_spec_7_3_the_settings_choose_the_driver(key_file: Path, transit_key: TransitKey) -> None:
    async with hosted_key_management(HostSettings(encryption_key_file=key_file), NOTHING) as management:
        assert management is not None
        assert await management.current_version() == "v1"
    async with hosted_key_management(vault_settings(transit_key), NOTHING) as management:
        assert management is not None
        assert await management.current_version() == "vault:v1"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"encryption_driver": "kms"}, "MNEME_ENCRYPTION_DRIVER must be file or vault, not 'kms'"),
        ({"encryption_driver": "file"}, "nothing would be encrypted"),
        ({"vault_address": ""}, "MNEME_VAULT_ADDRESS must be https://host:port"),
        ({"vault_address": "http://vault.example:8200"}, "MNEME_VAULT_ADDRESS must be https://host:port"),
        ({"vault_address": "https://vault:port"}, "MNEME_VAULT_ADDRESS must be https://host:port"),
        ({"vault_address": "https://vault:8200/v1"}, "MNEME_VAULT_ADDRESS must be https://host:port"),
        ({"vault_token_file": None}, "MNEME_VAULT_TOKEN_FILE is not set"),
        ({"vault_key_name": "a/b"}, "MNEME_VAULT_KEY_NAME cannot be 'a/b'"),
        ({"vault_mount": "/transit"}, "MNEME_VAULT_MOUNT cannot be '/transit'"),
        ({"vault_namespace": "a\nb"}, "MNEME_VAULT_NAMESPACE cannot be"),
        ({"vault_tls_authority": Path("none.pem")}, "MNEME_VAULT_TLS_AUTHORITY: none.pem cannot be used"),
    ],
)
async def test_spec_7_3_settings_that_cannot_work_are_refused_with_their_names(
    transit_key: TransitKey, changed: dict[str, Any], message: str
) -> None:
    with pytest.raises(SettingsError, match=message):
        async with hosted_key_management(vault_settings(transit_key, **changed), NOTHING):
            pass


async def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(SettingsError) as caught:
        async with hosted_key_management(HostSettings(encryption_driver="vault", vault_key_name=""), NOTHING):
            pass
    assert len(caught.value.problems) == 3


async def test_spec_7_3_a_process_does_not_start_without_its_key_management_and_says_what_to_do(
    transit: TransitServer, transit_key: TransitKey, tmp_path: Path
) -> None:
    transit.constant_fault = lambda: refused(403, "permission denied")
    with pytest.raises(KeyManagementUnavailable, match=r"Vault refuses the token\. The token of .* must be valid"):
        async with hosted_key_management(vault_settings(transit_key), NOTHING):
            pass
    with pytest.raises(KeyFileError):
        async with hosted_key_management(HostSettings(encryption_key_file=tmp_path / "none"), NOTHING):
            pass


async def test_spec_7_3_a_vault_that_ignores_associated_data_is_refused(
    transit: TransitServer, transit_key: TransitKey
) -> None:
    transit.ignores_associated_data = True
    with pytest.raises(FailedPrecondition, match=r"Vault 1\.13 or newer"):
        async with hosted_key_management(vault_settings(transit_key), NOTHING):
            pass


async def test_spec_7_3_data_keys_of_either_driver_open_while_an_installation_moves(
    key_file: Path, transit_key: TransitKey
) -> None:
    async with hosted_key_management(HostSettings(encryption_key_file=key_file), NOTHING) as file_alone:
        assert file_alone is not None
        stored, key = await DataKeyRing(file_alone).create("acme", "ada")
        sealed = (await CarriedKeys(file_alone).for_writing(ADA)).seal("r", "f", "said")

    to_vault = vault_settings(transit_key, encryption_key_file=key_file)
    async with hosted_key_management(to_vault, NOTHING) as both:
        assert both is not None
        ring = DataKeyRing(both)
        assert await ring.unwrapped("acme", "ada", stored) == key
        assert (await CarriedKeys(both).for_reading(ADA, [sealed])).open("r", "f", sealed) == "said"
        moved = await ring.rewrapped("acme", "ada", stored)
        assert moved.wrapped.version == await ring.current_version() == "vault:v1"

    async with hosted_key_management(vault_settings(transit_key), NOTHING) as vault_alone:
        assert vault_alone is not None
        assert await DataKeyRing(vault_alone).unwrapped("acme", "ada", moved) == key
        with pytest.raises(DecryptionError, match="set MNEME_ENCRYPTION_KEY_FILE"):
            await DataKeyRing(vault_alone).unwrapped("acme", "ada", stored)

    back = to_vault.model_copy(update={"encryption_driver": "file"})
    async with hosted_key_management(back, NOTHING) as both:
        assert both is not None
        again = await DataKeyRing(both).rewrapped("acme", "ada", moved)
        assert again.wrapped.version == "v1"


async def test_spec_7_3_health_has_a_name_for_the_key_management_and_the_server_stays_ready(
    transit: TransitServer, transit_key: TransitKey
) -> None:
    service = ServiceBinding("a", lambda *_: None, None, {})
    other = replace(service, full_name="b")
    assert watching(None, [service]) == [service]
    async with hosted_key_management(vault_settings(transit_key), NOTHING) as management:
        assert management is not None
        first, second = watching(management, [service, other])
        assert list(first.conditions) == [HEALTH_NAME]
        assert first.ready is None
        assert not second.conditions
        await first.conditions[HEALTH_NAME]()
        transit.constant_fault = lambda: refused(403, "permission denied")
        with pytest.raises(KeyManagementUnavailable):
            await first.conditions[HEALTH_NAME]()


async def test_a_key_that_does_not_come_back_is_reported(transit: TransitServer, transit_key: TransitKey) -> None:
    async with hosted_key_management(vault_settings(transit_key), NOTHING) as management:
        assert management is not None
        transit.faults += [lambda: None, lambda: refused(400, "cipher: message authentication failed")]
        with pytest.raises(KeyManagementUnavailable, match="cannot unwrap a key"):
            await check(management)
        transit.faults += [lambda: None, lambda: succeeded({"plaintext": "AAAA"})]
        with pytest.raises(KeyManagementUnavailable, match="unwrapped a different key"):
            await check(management)
