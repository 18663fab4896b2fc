"""Where the Transit engine of Vault is, and how it is called."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from services.common.settings_types import Count, Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultSettings:
    """Bounds of requests to Vault or OpenBao, with MNEME_ENCRYPTION_DRIVER=vault."""

    timeout_seconds: Seconds = 2.0
    """For one request."""
    attempts_max: Count = 3
    """Of a request that got no response, or 412, 429 or 5xx."""
    backoff_seconds: Seconds = 0.1
    """Before the second attempt; twice as long before each further one."""
    deadline_seconds: Seconds = 5.0
    """For all attempts together."""
    pause_seconds: Seconds = 2.0
    """After a failure, for which requests fail at once; then one request at a time asks whether Vault is back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultServer:
    """Where it is, and the key there."""

    address: str  # https://host:port
    token_file: Path
    key: str = "mneme"
    mount: str = "transit"
    namespace: str = ""
    authority: Path | None = None  # of its certificate, PEM; None: the public ones
