"""The key management that a process is configured to use."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final
from urllib.parse import urlsplit

from services.common.addresses import is_loopback
from services.common.encryption.envelope import KEY_BYTES, DecryptionError
from services.common.encryption.key_file import FileKeyManagement
from services.common.encryption.key_management import KeyManagement, KeyManagementUnavailable, WrappedKey
from services.common.encryption.measured import MeasuredKeyManagement
from services.common.encryption.ring import EncryptionSettings
from services.common.encryption.vault_settings import VaultServer, VaultSettings
from services.common.errors import FailedPrecondition
from services.common.hosting import HostSettings
from services.common.rpc.readiness import Check
from services.common.rpc.server import ServiceBinding
from services.common.settings_file import SettingsError, SettingsSource

HEALTH_NAME: Final = "key_management"
"""A name of the health service that is NOT_SERVING while data keys cannot be wrapped and unwrapped."""

_KEY: Final = re.compile(r"\w(([\w.-]+)?\w)?", re.ASCII)
_MOUNT: Final = re.compile(r"[\w.-]+(/[\w.-]+)*", re.ASCII)
_NAMESPACE: Final = re.compile(r"[!-~]*")


class BothKeyManagements:
    """Wraps by one driver, and unwraps what either wrapped: while an installation moves from one to the other."""

    def __init__(self, current: KeyManagement, *, file: KeyManagement, vault: KeyManagement) -> None:
        """Wraps with `current`, which is `file` or `vault`. The version of a wrapped key says which one opens it."""
        self._current = current
        self._file = file
        self._vault = vault

    async def current_version(self) -> str:
        """See `KeyManagement.current_version`."""
        return await self._current.current_version()

    async def wrap(self, key: bytes, associated: bytes) -> WrappedKey:
        """See `KeyManagement.wrap`."""
        return await self._current.wrap(key, associated)

    async def unwrap(self, wrapped: WrappedKey, associated: bytes) -> bytes:
        """See `KeyManagement.unwrap`."""
        driver = self._vault if ":" in wrapped.version else self._file  # versions of a file have none
        return await driver.unwrap(wrapped, associated)

    async def aclose(self) -> None:
        """See `KeyManagement.aclose`."""
        await self._file.aclose()
        await self._vault.aclose()


@contextlib.asynccontextmanager
async def hosted_key_management(host: HostSettings, source: SettingsSource) -> AsyncIterator[KeyManagement | None]:
    """The key management that the settings choose, tried; None where encryption is off.

    Without it a process cannot start: it has nothing cached yet, and those that run have.

    Raises:
        SettingsError: The settings contradict each other, or the table `encryption` cannot be used.
        KeyFileError: The file of key-encryption keys cannot be used.
        KeyManagementUnavailable: Keys cannot be wrapped or unwrapped; the message says what to do.
        FailedPrecondition: It does not bind keys to their users.
    """
    settings = source.load(EncryptionSettings, "encryption")
    management = _chosen(host, settings.vault)
    if management is None:
        yield None
        return
    async with contextlib.aclosing(MeasuredKeyManagement(management)) as measured:
        await verify(measured)
        yield measured


def watching(management: KeyManagement | None, services: Sequence[ServiceBinding]) -> Sequence[ServiceBinding]:
    """The services of a server with a further name of its health, `HEALTH_NAME`.

    The server itself stays ready while the key management is away: what is cached is served.
    """
    if management is None or not services:
        return services
    first, *others = services
    conditions: Mapping[str, Check] = {**first.conditions, HEALTH_NAME: partial(check, management)}
    return (replace(first, conditions=conditions), *others)


async def check(management: KeyManagement) -> WrappedKey:
    """Wraps a key and unwraps it again.

    Raises:
        KeyManagementUnavailable: That does not work.
    """
    key = os.urandom(KEY_BYTES)
    try:
        wrapped = await management.wrap(key, b"check")
        unwrapped = await management.unwrap(wrapped, b"check")
    except DecryptionError as error:
        raise KeyManagementUnavailable(
            "the key management cannot unwrap a key that it has just wrapped", str(error)
        ) from error
    if unwrapped != key:
        raise KeyManagementUnavailable(
            "the key management unwrapped a different key than it had wrapped", "Look at the key management."
        )
    return wrapped


async def verify(management: KeyManagement) -> None:
    """See `check`; and a wrapped key must open for its own user alone.

    Raises:
        KeyManagementUnavailable: See `check`.
        FailedPrecondition: Associated data is ignored, as Vault before 1.13 does.
    """
    wrapped = await check(management)
    with contextlib.suppress(DecryptionError):
        await management.unwrap(wrapped, b"another check")
        raise FailedPrecondition(
            "the key management ignores associated data, so that keys are not bound to their users: "
            "Vault 1.13 or newer, or OpenBao, is needed"
        )


def _chosen(host: HostSettings, settings: VaultSettings) -> KeyManagement | None:
    has_vault = bool(host.vault_address) or host.encryption_driver == "vault"
    if host.encryption_driver not in {"file", "vault"}:
        raise SettingsError([f"MNEME_ENCRYPTION_DRIVER must be file or vault, not {host.encryption_driver!r}"])
    if has_vault and host.encryption_driver == "file" and host.encryption_key_file is None:
        raise SettingsError(
            ["MNEME_VAULT_ADDRESS is set, but not MNEME_ENCRYPTION_DRIVER=vault: nothing would be encrypted"]
        )
    vault = _vault(host, settings) if has_vault else None
    file = FileKeyManagement(host.encryption_key_file) if host.encryption_key_file is not None else None
    if vault is None or file is None:
        return vault or file
    return BothKeyManagements(vault if host.encryption_driver == "vault" else file, file=file, vault=vault)


def _vault(host: HostSettings, settings: VaultSettings) -> KeyManagement:
    problems = []
    if not _is_secure(host.vault_address):
        problems.append(
            f"MNEME_VAULT_ADDRESS must be https://host:port, or http:// on loopback, not {host.vault_address!r}"
        )
    if host.vault_token_file is None:
        problems.append("MNEME_VAULT_TOKEN_FILE is not set: name the file that holds the token")
    for name, value, form in (
        ("KEY_NAME", host.vault_key_name, _KEY),
        ("MOUNT", host.vault_mount, _MOUNT),
        ("NAMESPACE", host.vault_namespace, _NAMESPACE),
    ):
        if not form.fullmatch(value):
            problems.append(f"MNEME_VAULT_{name} cannot be {value!r}")
    if problems or host.vault_token_file is None:
        raise SettingsError(problems)
    server = VaultServer(
        address=host.vault_address,
        token_file=host.vault_token_file,
        key=host.vault_key_name,
        mount=host.vault_mount,
        namespace=host.vault_namespace,
        authority=host.vault_tls_authority,
    )
    # Imported here: its HTTP client is loaded where Vault is used.
    from services.common.encryption.vault import VaultKeyManagement

    try:
        return VaultKeyManagement(server, settings)
    except OSError as error:
        raise SettingsError([f"MNEME_VAULT_TLS_AUTHORITY: {server.authority} cannot be used: {error}"]) from error


def _is_secure(address: str) -> bool:
    try:
        url = urlsplit(address)
        host, port = url.hostname, url.port
    except ValueError:
        return False
    if not host or url.path.strip("/") or url.query or url.fragment or url.username is not None:
        return False
    return url.scheme == "https" or (url.scheme == "http" and is_loopback(f"{host}:{port or 80}"))
