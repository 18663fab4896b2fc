"""Settings and addresses of a stack of all services."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from services.common.hosting import HostSettings
from services.gateway.config import GatewaySettings, TierTargets


@dataclass(frozen=True, slots=True, kw_only=True)
class StackSettings:
    """Settings of a stack."""

    data_dir: Path
    host: str = "127.0.0.1"
    port: int = 7700  # of the gateway; the tiers take the four after it. 0: free ports for all
    processes: bool = False  # one process for each service
    gateway: GatewaySettings = field(default_factory=GatewaySettings)
    host_settings: HostSettings = field(default_factory=HostSettings)  # keys, limits, model; from the environment
    is_private: bool = False  # only this process calls it: it stops without draining
    grace_seconds: float = 10.0  # for calls under way at the end


@dataclass(frozen=True, slots=True)
class Stack:
    """A running stack."""

    gateway_target: str
    tier_targets: TierTargets
    postgres_dsn: str  # as the services connect
    http_address: str = ""  # of HTTP beside the gateway's gRPC, host:port; empty where there is none
