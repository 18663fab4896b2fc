"""Key-encryption keys in a file, in a local server that speaks Transit, and in one that the environment names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from services.common.encryption.key_file import FileKeyManagement, add_key
from services.common.encryption.key_management import KeyManagementUnavailable
from services.common.encryption.vault import VaultKeyManagement
from services.common.encryption.vault_settings import VaultServer
from tests.contract.key_management import KeyManagementContract, Keys
from tests.support.transit import TransitKey, transit, transit_key, vault_key

__all__ = ["transit", "transit_key", "vault_key"]


def keys_of(key: TransitKey, folder: Path) -> Keys:
    def foreign() -> VaultKeyManagement:
        return VaultKeyManagement(TransitKey.create(key.server.address, key.token, folder).server)

    return Keys(
        open=lambda: VaultKeyManagement(key.server),
        open_foreign=foreign,
        rotate=key.rotate,
        retire=lambda: key.set_min_decryption_version(2),
    )


class TestFileKeyManagement(KeyManagementContract):
    @pytest.fixture
    def keys(self, tmp_path: Path) -> Keys:
        file, other = tmp_path / "keys", tmp_path / "other"
        add_key(file)
        add_key(other)

        def retire() -> None:
            file.write_text(file.read_text("ascii").splitlines()[-1] + "\n", "ascii")

        return Keys(
            open=lambda: FileKeyManagement(file),
            open_foreign=lambda: FileKeyManagement(other),
            rotate=lambda: add_key(file),
            retire=retire,
        )


class TestVaultKeyManagement(KeyManagementContract):
    @pytest.fixture
    def keys(self, transit_key: TransitKey, tmp_path: Path) -> Keys:
        return keys_of(transit_key, tmp_path)


class TestVaultKeyManagementOnAServer(KeyManagementContract):
    @pytest.fixture
    def keys(self, vault_key: TransitKey, tmp_path: Path) -> Keys:
        return keys_of(vault_key, tmp_path)

    async def test_an_engine_that_is_not_there_and_a_wrong_token_are_told_apart(self, vault_key: TransitKey) -> None:
        server = vault_key.server
        assert await why_unavailable(replace(server, mount="none")) == "Vault has no Transit engine there"
        assert await why_unavailable(replace(server, namespace="none")) == "Vault has no Transit engine there"
        server.token_file.write_text("wrong", "ascii")
        assert await why_unavailable(server) == "Vault refuses the token"


async def why_unavailable(server: VaultServer) -> str:
    management = VaultKeyManagement(server)
    try:
        with pytest.raises(KeyManagementUnavailable) as caught:
            await management.wrap(b"k" * 32, b"a")
        return caught.value.cause
    finally:
        await management.aclose()
