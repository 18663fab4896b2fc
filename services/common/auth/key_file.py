"""The file of API keys: what is in it, and how keys are created, listed and revoked.

A key reads `mn_<key id>_<secret>`. The secret is 32 random bytes, so that its SHA-256 can be stored as it is:
there is nothing to guess, and a slow password hash would only cost time on every call.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import secrets
import tempfile
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from services.common.auth.model import Role

KEY_PREFIX: Final = "mn"
"""First part of every API key; lets scanners for leaked secrets recognise it."""

_SECRET_BYTES: Final = 32
_KEY_ID_BYTES: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKeyRecord:
    """What is stored of a key."""

    key_id: str
    secret_sha256: str  # lower-case hexadecimal
    tenant_id: str
    principal_id: str
    role: Role
    created: datetime | None = None  # aware, UTC
    expires: datetime | None = None  # aware, UTC; None: never
    revoked: bool = False


class ApiKeyFileError(ValueError):
    """The file of API keys cannot be read or is malformed; the message says where."""


def create_api_key(
    path: Path,
    *,
    tenant_id: str,
    principal_id: str,
    role: Role,
    now: datetime,
    expires: datetime | None = None,
) -> tuple[str, ApiKeyRecord]:
    """Adds a key to the file, which is created where it is missing, readable by its owner alone.

    Returns:
        The key, which is shown this once and cannot be recovered, and its record.

    Raises:
        ApiKeyFileError: The file is malformed.
        ValueError: An id is empty.
    """
    if not tenant_id or not principal_id:
        raise ValueError("a tenant and a name are required")
    key_id = secrets.token_hex(_KEY_ID_BYTES)
    secret = base64.urlsafe_b64encode(secrets.token_bytes(_SECRET_BYTES)).decode("ascii").rstrip("=")
    record = ApiKeyRecord(
        key_id=key_id,
        secret_sha256=hashlib.sha256(secret.encode("ascii")).hexdigest(),
        tenant_id=tenant_id,
        principal_id=principal_id,
        role=role,
        created=now,
        expires=expires,
    )
    records = read_api_keys(path) if path.exists() else []
    _write(path, [*records, record])
    return f"{KEY_PREFIX}_{key_id}_{secret}", record


def list_api_keys(path: Path) -> list[ApiKeyRecord]:
    """All keys, revoked ones too, in the order of their creation. Empty where there is no file.

    Raises:
        ApiKeyFileError: The file is malformed.
    """
    return read_api_keys(path) if path.exists() else []


def revoke_api_key(path: Path, key_id: str) -> bool:
    """Revokes a key; running services notice within seconds.

    Returns:
        Whether there is such a key.

    Raises:
        ApiKeyFileError: The file is malformed.
    """
    records = list_api_keys(path)
    if all(record.key_id != key_id for record in records):
        return False
    _write(path, [replace(r, revoked=True) if r.key_id == key_id else r for r in records])
    return True


def read_api_keys(path: Path) -> list[ApiKeyRecord]:
    """Reads the file.

    Raises:
        ApiKeyFileError: It cannot be read or is malformed.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        return [_record(entry) for entry in document["keys"]]
    except OSError as error:
        raise ApiKeyFileError(f"cannot read API keys from {path}: {error.strerror}") from error
    except KeyError as error:
        raise ApiKeyFileError(f"cannot read API keys from {path}: {error} is missing") from error
    except (ValueError, TypeError) as error:
        raise ApiKeyFileError(f"cannot read API keys from {path}: {error}") from error


def _record(entry: dict[str, Any]) -> ApiKeyRecord:
    digest = str(entry["secret_sha256"]).lower()
    if len(bytes.fromhex(digest)) != hashlib.sha256().digest_size:
        raise ValueError("secret_sha256 has the wrong length")
    key_id, tenant_id, principal_id = (str(entry[name]) for name in ("key_id", "tenant_id", "principal_id"))
    if not key_id or not tenant_id or not principal_id or "_" in key_id:
        raise ValueError("key_id, tenant_id and principal_id are required; key_id holds no underscore")
    return ApiKeyRecord(
        key_id=key_id,
        secret_sha256=digest,
        tenant_id=tenant_id,
        principal_id=principal_id,
        role=Role.parse(str(entry["role"])),
        created=_moment(entry.get("created")),
        expires=_moment(entry.get("expires")),
        revoked=bool(entry.get("revoked", False)),
    )


def _moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("a time has no offset from UTC")
    return moment.astimezone(UTC)


def _write(path: Path, records: list[ApiKeyRecord]) -> None:
    """Replaces the file in one step, so that a service never reads half of it."""
    document = {"keys": [_entry(record) for record in records]}
    path.parent.mkdir(parents=True, exist_ok=True)
    # mkstemp creates the file with mode 0600.
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(document, file, indent=2)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _entry(record: ApiKeyRecord) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "key_id": record.key_id,
        "secret_sha256": record.secret_sha256,
        "tenant_id": record.tenant_id,
        "principal_id": record.principal_id,
        "role": record.role.name.lower(),
    }
    if record.created is not None:
        entry["created"] = record.created.isoformat()
    if record.expires is not None:
        entry["expires"] = record.expires.isoformat()
    if record.revoked:
        entry["revoked"] = True
    return entry
