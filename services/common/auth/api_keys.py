"""Checks API keys against the file of keys, which is read again when it changes."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import structlog

from services.common.auth.key_file import KEY_PREFIX, ApiKeyFileError, ApiKeyRecord, read_api_keys
from services.common.auth.model import Principal
from services.common.clock import Clock, SystemClock
from services.common.errors import Unauthenticated

_log = structlog.get_logger(__name__)

_NO_DIGEST: Final = "0" * 64

_FileVersion = tuple[int, int, int]


class ApiKeyRing:
    """The accepted API keys.

    A revoked or new key takes effect within `check_seconds`. When the file becomes unreadable while the
    service runs, the keys read last stay in force, and the fault is logged: a slip of an editor must not lock
    everybody out.
    """

    def __init__(
        self,
        path: Path,
        *,
        check_seconds: float = 1.0,
        clock: Clock | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Reads the file, and looks at most every `check_seconds` whether it has changed.

        Raises:
            ApiKeyFileError: The file cannot be read or is malformed.
        """
        self._path = path
        self._check_seconds = check_seconds
        self._clock = clock or SystemClock()
        self._monotonic = monotonic
        self._version = _file_version(path)
        self._records = _by_id(read_api_keys(path))
        self._next_check = monotonic() + check_seconds

    def authenticate(self, api_key: str) -> Principal:
        """The principal of a key.

        Raises:
            Unauthenticated: The key is malformed, unknown, expired or revoked; the error does not say which.
        """
        self._reload_when_changed()
        prefix, _, rest = api_key.partition("_")
        key_id, _, secret = rest.partition("_")
        record = self._records.get(key_id)
        digest = hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()
        # An unknown id is compared too, so that response times do not reveal which ids exist.
        matches = hmac.compare_digest(digest, record.secret_sha256 if record else _NO_DIGEST)
        if record is None or not matches or prefix != KEY_PREFIX or not self._in_force(record):
            raise Unauthenticated("the API key is not accepted")
        return Principal(record.tenant_id, record.principal_id, record.role)

    def _in_force(self, record: ApiKeyRecord) -> bool:
        return not record.revoked and (record.expires is None or self._clock.now() < record.expires)

    def _reload_when_changed(self) -> None:
        now = self._monotonic()
        if now < self._next_check:
            return
        self._next_check = now + self._check_seconds
        try:
            version = _file_version(self._path)
            if version == self._version:
                return
            self._version = version
            self._records = _by_id(read_api_keys(self._path))
        except ApiKeyFileError as error:
            _log.error("api_keys_unreadable", path=str(self._path), error=str(error))


def _by_id(records: list[ApiKeyRecord]) -> dict[str, ApiKeyRecord]:
    return {record.key_id: record for record in records}


def _file_version(path: Path) -> _FileVersion:
    try:
        status = path.stat()
    except OSError as error:
        raise ApiKeyFileError(f"cannot read API keys from {path}: {error.strerror}") from error
    return status.st_mtime_ns, status.st_size, status.st_ino
