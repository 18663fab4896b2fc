"""Channels to other services, and the metadata that every call carries."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

import grpc

from services.common.auth import IDENTITY_METADATA_KEY, IdentitySigner, Principal
from services.common.rpc.certificates import Certificates, CertificateWatch, TlsFiles
from services.common.rpc.interceptors.request_id import METADATA_KEY as REQUEST_ID_KEY
from services.common.rpc.interceptors.request_id import current_request_id
from services.common.rpc.reloading import ReloadingChannel
from services.common.telemetry import inject_context

# A call that meets a replica that stops goes to another one. Writes carry an id by which a repeat does nothing.
# Where most calls fail, as in an outage, none are repeated.
_SERVICE_CONFIG: Final = json.dumps(
    {
        "loadBalancingConfig": [{"round_robin": {}}],
        "methodConfig": [
            {
                "name": [{}],
                "retryPolicy": {
                    "maxAttempts": 3,
                    "initialBackoff": "0.05s",
                    "maxBackoff": "0.2s",
                    "backoffMultiplier": 2,
                    "retryableStatusCodes": ["UNAVAILABLE"],
                },
            }
        ],
        "retryThrottling": {"maxTokens": 20, "tokenRatio": 0.5},
    }
)


def open_channel(
    target: str, *, message_bytes_max: int = 8 * 1024 * 1024, tls: TlsFiles | None = None
) -> grpc.aio.Channel:
    """A channel that spreads calls over all addresses of the target. Its owner closes it.

    Args:
        target: host:port, dns:///name:port, or unix:/path.
        message_bytes_max: Of a request or response.
        tls: The client shows the certificate (mutual TLS). The files are read again when they change.
    """
    options = [
        ("grpc.service_config", _SERVICE_CONFIG),
        ("grpc.max_receive_message_length", message_bytes_max),
        ("grpc.max_send_message_length", message_bytes_max),
        ("grpc.keepalive_time_ms", 60_000),
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 2_000),
        # Servers of one process must not share a connection pool with other stacks of that process.
        ("grpc.use_local_subchannel_pool", 1),
    ]
    if tls is None:
        return grpc.aio.insecure_channel(target, options=options)
    certificates = Certificates(tls)
    return ReloadingChannel(
        lambda: grpc.aio.secure_channel(target, certificates.channel_credentials(), options=options),
        CertificateWatch(certificates).has_changed,
    )


class CallMetadata:
    """Makes the metadata of calls to the tiers: the caller's identity, the request's id, the trace."""

    def __init__(self, signer: IdentitySigner) -> None:
        """Signs identities with `signer`."""
        self._signer = signer

    def __call__(self, principal: Principal) -> Sequence[tuple[str, str]]:
        """Keys and values for a call on behalf of a principal."""
        metadata = [(IDENTITY_METADATA_KEY, self._signer.sign(principal)), *inject_context().items()]
        if request_id := current_request_id():
            metadata.append((REQUEST_ID_KEY, request_id))
        return metadata
