"""How the service is reached: address, encryption, credential, and channel options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import grpc

DEFAULT_TARGET = "127.0.0.1:7700"
"""Where `mneme up` serves."""

_MESSAGE_BYTES_MAX = 64 * 1024 * 1024

CHANNEL_OPTIONS: tuple[tuple[str, str | int], ...] = (
    # Responses have at most 3 MiB, unless an installation allows more than gRPC's default of 4 MB.
    ("grpc.max_receive_message_length", _MESSAGE_BYTES_MAX),
    # Spreads calls over all addresses of a headless service; with one address it changes nothing.
    ("grpc.lb_policy_name", "round_robin"),
    # The client repeats calls itself, since it knows the deadline and the retry delay that the service asks for.
    ("grpc.enable_retries", 0),
    # A restarted server is found again within seconds instead of up to two minutes.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2_000),
    # A connection whose other end vanished without a word is given up after 70 s, not after a quarter of an hour.
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.keepalive_timeout_ms", 10_000),
)

Credential: TypeAlias = str | Callable[[], str]
"""An API key, a token of an identity provider, or a function that returns either for each call."""


@dataclass(frozen=True, slots=True)
class Tls:
    """Encryption of the connection. With no field set, the system's certificate authorities are trusted."""

    root_certificates: bytes | None = None  # PEM
    private_key: bytes | None = None  # PEM, for mutual TLS
    certificate_chain: bytes | None = None  # PEM, for mutual TLS
    server_name: str | None = None  # name in the server's certificate, when it is not the target's


@dataclass(frozen=True, slots=True)
class Connection:
    """Everything needed to open a channel."""

    target: str
    api_key: Credential | None
    tls: Tls | None

    def credentials(self) -> grpc.ChannelCredentials | None:
        """The channel's credentials, or None for plain text."""
        if self.tls is None:
            return None
        return grpc.ssl_channel_credentials(
            root_certificates=self.tls.root_certificates,
            private_key=self.tls.private_key,
            certificate_chain=self.tls.certificate_chain,
        )

    def options(self) -> list[tuple[str, str | int]]:
        """The channel's options."""
        options = list(CHANNEL_OPTIONS)
        if self.tls is not None and self.tls.server_name:
            options.append(("grpc.ssl_target_name_override", self.tls.server_name))
        return options

    def metadata(self) -> tuple[tuple[str, str], ...]:
        """Metadata of a call: the credential as it is now."""
        key = self.api_key() if callable(self.api_key) else self.api_key
        return (("authorization", f"Bearer {key}"),) if key else ()


def make_connection(target: str, api_key: Credential | None, *, tls: Tls | bool) -> Connection:
    """Reads the arguments that both clients share.

    Raises:
        ValueError: The target is empty.
    """
    if not target:
        raise ValueError("target must not be empty")
    settings = tls if isinstance(tls, Tls) else (Tls() if tls else None)
    return Connection(target=target, api_key=api_key, tls=settings)
