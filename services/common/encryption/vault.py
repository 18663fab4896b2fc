"""Key-encryption keys in the Transit engine of HashiCorp Vault or OpenBao, which never gives them out."""

from __future__ import annotations

import asyncio
import base64
import binascii
import math
import random
import re
import ssl
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import httpx
import structlog

from services.common.encryption.envelope import DecryptionError
from services.common.encryption.key_management import KeyManagementUnavailable, WrappedKey
from services.common.encryption.vault_settings import VaultServer, VaultSettings

_log = structlog.get_logger(__name__)

VERSION_PREFIX: Final = "vault:"
"""How versions of Vault's key begin; those of a key file have no colon."""

_CIPHERTEXT: Final = re.compile(r"(?P<version>vault:v[0-9]+):[A-Za-z0-9+/]+={0,2}")
_TOKEN: Final = re.compile(r"[!-~]+")
_TOO_OLD: Final = "disallowed by policy (too old)"
_TOO_NEW: Final = "version is too new"
_NO_KEY: Final = "encryption key not found"
_PASSING_STATUSES: Final = frozenset({412, 429, 500, 502, 503, 504})
_DETAIL_CHARS_MAX: Final = 200


class _FailedError(Exception):
    """Vault cannot be used; whether another attempt may help."""

    def __init__(self, cause: str, hint: str, *, is_passing: bool = False) -> None:
        super().__init__(cause)
        self.cause = cause
        self.hint = hint
        self.is_passing = is_passing


class _RefusedError(Exception):
    """Vault refuses what it was asked to encrypt or decrypt: the message is its own, for the log."""


class VaultKeyManagement:
    """A `KeyManagement` on a key of the Transit engine. Belongs to one event loop."""

    def __init__(
        self,
        server: VaultServer,
        settings: VaultSettings | None = None,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Connects with the first request.

        Raises:
            OSError: The file of the authority cannot be read, or holds no certificate.
        """
        self._server = server
        self._settings = settings or VaultSettings()
        self._monotonic = monotonic
        self._failure: _FailedError | None = None
        self._paused_until = -math.inf
        headers = {"X-Vault-Request": "true"}
        if server.namespace:
            headers["X-Vault-Namespace"] = server.namespace
        # The environment's proxies are not used, and redirects not followed: the token is for this address alone.
        self._client = httpx.AsyncClient(
            base_url=f"{server.address.rstrip('/')}/v1/{server.mount}/",
            verify=ssl.create_default_context(cafile=server.authority),
            headers=headers,
            timeout=None,  # noqa: S113 - each request has one of its own
            trust_env=False,
        )

    async def current_version(self) -> str:
        """See `KeyManagement.current_version`; needs no right to read the key."""
        return (await self.wrap(b"version", b"version")).version

    async def wrap(self, key: bytes, associated: bytes) -> WrappedKey:
        """See `KeyManagement.wrap`."""
        try:
            data = await self._call("encrypt", {"plaintext": _base64(key), "associated_data": _base64(associated)})
        except _RefusedError as error:
            raise self._failed(
                _FailedError(
                    "Vault refuses its key",
                    f"{self._place} must be a key of an AEAD type such as aes256-gcm96, not derived. {error}",
                )
            ) from error
        ciphertext = data.get("ciphertext")
        match = _CIPHERTEXT.fullmatch(ciphertext) if isinstance(ciphertext, str) else None
        if match is None:
            raise self._failed(self._unexpected("a response without a ciphertext"))
        return WrappedKey(match["version"], match[0].encode("ascii"))

    async def unwrap(self, wrapped: WrappedKey, associated: bytes) -> bytes:
        """See `KeyManagement.unwrap`."""
        if not wrapped.version.startswith(VERSION_PREFIX):
            raise DecryptionError(
                f"a data key was wrapped by version {wrapped.version} of a key file: set MNEME_ENCRYPTION_KEY_FILE "
                "beside Vault until `mneme encryption rotate` has wrapped all keys anew"
            )
        try:
            ciphertext = wrapped.data.decode("ascii")
            data = await self._call("decrypt", {"ciphertext": ciphertext, "associated_data": _base64(associated)})
        except UnicodeDecodeError as error:
            raise DecryptionError("a data key was changed, and cannot be unwrapped") from error
        except _RefusedError as error:
            raise DecryptionError(_why_refused(wrapped.version, str(error))) from error
        try:
            return base64.b64decode(data["plaintext"], validate=True)
        except (LookupError, TypeError, ValueError, binascii.Error) as error:
            raise self._failed(self._unexpected("a response without a plaintext")) from error

    async def aclose(self) -> None:
        """See `KeyManagement.aclose`."""
        await self._client.aclose()

    async def _call(self, operation: str, body: Mapping[str, str]) -> Mapping[str, Any]:
        now = self._monotonic()
        if self._failure is not None:
            if now < self._paused_until:
                raise self._unavailable(self._failure)
            # This request asks whether Vault is back; until it knows, others fail at once.
            self._paused_until = now + self._settings.deadline_seconds
        try:
            data = await self._attempts(operation, body)
        except _FailedError as error:
            raise self._failed(error) from error
        except asyncio.CancelledError:
            self._paused_until = -math.inf  # nobody knows yet: the next one asks
            raise
        except _RefusedError:
            self._failure = None
            raise
        self._failure = None
        return data

    async def _attempts(self, operation: str, body: Mapping[str, str]) -> Mapping[str, Any]:
        settings = self._settings
        failure = self._no_response()
        try:
            async with asyncio.timeout(settings.deadline_seconds):
                for number in range(settings.attempts_max):
                    if number:
                        wait = settings.backoff_seconds * 2 ** (number - 1)
                        await asyncio.sleep(wait * random.uniform(0.5, 1.0))  # noqa: S311 - not for secrets
                    try:
                        return await self._attempt(operation, body)
                    except _FailedError as error:
                        failure = error
                        if not error.is_passing:
                            break
        except TimeoutError:
            pass
        raise failure

    async def _attempt(self, operation: str, body: Mapping[str, str]) -> Mapping[str, Any]:
        token = await asyncio.to_thread(self._token)
        try:
            async with asyncio.timeout(self._settings.timeout_seconds):
                response = await self._client.post(
                    f"{operation}/{self._server.key}", json=body, headers={"X-Vault-Token": token}
                )
        except TimeoutError:
            raise self._no_response() from None
        except httpx.HTTPError as error:
            raise _FailedError(
                "Vault cannot be reached",
                f"Check MNEME_VAULT_ADDRESS, MNEME_VAULT_TLS_AUTHORITY and the network: {_cut(str(error))}",
                is_passing=True,
            ) from error
        return self._data_of(response)

    def _data_of(self, response: httpx.Response) -> Mapping[str, Any]:
        """The data of a response.

        Raises:
            _FailedError: It has none.
            _RefusedError: Vault refuses the input.
        """
        try:
            content = response.json()
        except ValueError:
            content = None
        content = content if isinstance(content, dict) else {}
        if response.status_code == httpx.codes.OK:
            data = content.get("data")
            if not isinstance(data, dict):
                raise self._unexpected("a response that is not one of Transit")
            return data
        errors = content.get("errors")
        detail = _cut("; ".join(map(str, errors))) if isinstance(errors, list) else ""
        if response.status_code == httpx.codes.BAD_REQUEST and detail and _NO_KEY not in detail:
            raise _RefusedError(detail)
        raise self._failed_with(response.status_code, detail)

    def _failed_with(self, status: int, detail: str) -> _FailedError:
        cause, hint = {
            400: ("Vault does not have the key", f"Create {self._place}, or correct MNEME_VAULT_KEY_NAME."),
            403: ("Vault refuses the token", self._rights),
            404: (
                "Vault has no Transit engine there",
                "Correct MNEME_VAULT_MOUNT or MNEME_VAULT_NAMESPACE, or mount the engine.",
            ),
            429: ("Vault limits the rate", "Raise its quota, or encryption.cache_seconds."),
            503: ("Vault is sealed or not active", "Unseal it, or bring back an active node."),
        }.get(status, ("Vault cannot serve", f"See its log: it responded with status {status}."))
        told = f"{hint} Vault says: {detail}" if detail else hint
        return _FailedError(cause, told, is_passing=status in _PASSING_STATUSES)

    def _token(self) -> str:
        """Reads the token from its file; blocks. A renewed token is in the file, so each request reads it again."""
        path = self._server.token_file
        try:
            token = path.read_text("ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise _FailedError("there is no token for Vault", f"{path}: {type(error).__name__}") from error
        if not _TOKEN.fullmatch(token):
            raise _FailedError("there is no token for Vault", f"{path} does not hold one token and nothing else")
        return token

    def _failed(self, failure: _FailedError) -> KeyManagementUnavailable:
        """Remembers and logs a failure, after which others fail at once for a while."""
        self._failure = failure
        self._paused_until = self._monotonic() + self._settings.pause_seconds
        _log.warning("key_management_unavailable", cause=failure.cause, hint=failure.hint)
        return self._unavailable(failure)

    def _unavailable(self, failure: _FailedError) -> KeyManagementUnavailable:
        return KeyManagementUnavailable(failure.cause, failure.hint, self._settings.pause_seconds)

    def _no_response(self) -> _FailedError:
        hint = "Check Vault and the network, or raise encryption.vault.timeout_seconds."
        return _FailedError("Vault did not respond in time", hint, is_passing=True)

    def _unexpected(self, what: str) -> _FailedError:
        hint = f"Is there a Vault at MNEME_VAULT_ADDRESS, and Transit at {self._server.mount}? It sent {what}."
        return _FailedError("Vault's response is not understood", hint, is_passing=True)

    @property
    def _rights(self) -> str:
        server = self._server
        return (
            f"The token of {server.token_file} must be valid, its policy must allow `update` on "
            f"{server.mount}/encrypt/{server.key} and {server.mount}/decrypt/{server.key}, and the key must be there."
        )

    @property
    def _place(self) -> str:
        return f"{self._server.mount}/keys/{self._server.key}"


def _why_refused(version: str, detail: str) -> str:
    if _TOO_OLD in detail:
        return (
            f"a data key was wrapped by {version}, which is below min_decryption_version of Vault's key: lower it "
            "until `mneme encryption rotate` has wrapped all keys anew"
        )
    if _TOO_NEW in detail:
        return (
            f"a data key was wrapped by {version}, which Vault's key does not have: is it another one, or an old copy?"
        )
    return "a data key was changed, or wrapped for something else or by another key of Vault"


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _cut(text: str) -> str:
    return " ".join(text.split())[:_DETAIL_CHARS_MAX]
