"""Network addresses: which of them other machines can reach."""

from __future__ import annotations

import ipaddress
from typing import Final

_LOOPBACK_NAMES: Final = frozenset({"localhost", "ip6-localhost"})


def is_loopback(address: str) -> bool:
    """Whether an address can be reached from this machine only."""
    if address.startswith("unix:"):
        return True
    host = address.rpartition(":")[0].strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host in _LOOPBACK_NAMES
