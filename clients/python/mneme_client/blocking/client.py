# Generated from aio/client.py by `make client`, not to be edited.
"""The blocking client."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Self

from mneme_client.blocking.activity import ActivityOperations
from mneme_client.blocking.audit import AuditOperations
from mneme_client.blocking.clusters import ClusterOperations
from mneme_client.blocking.code import CodeOperations
from mneme_client.blocking.context_window import ContextWindowOperations
from mneme_client.blocking.conversations import ConversationOperations
from mneme_client.blocking.deliveries import DeliveryOperations
from mneme_client.blocking.documents import DocumentOperations
from mneme_client.blocking.embedding_model import EmbeddingModelOperations
from mneme_client.blocking.episodes import EpisodeOperations
from mneme_client.blocking.erasure import ErasureOperations
from mneme_client.blocking.facts import FactOperations
from mneme_client.blocking.grants import GrantOperations
from mneme_client.blocking.insights import InsightOperations
from mneme_client.blocking.links import LinkOperations
from mneme_client.blocking.maintenance import MaintenanceOperations
from mneme_client.blocking.memory import MemoryOperations
from mneme_client.blocking.merges import MergeOperations
from mneme_client.blocking.notes import NoteOperations
from mneme_client.blocking.portability import PortabilityOperations
from mneme_client.blocking.procedures import ProcedureOperations
from mneme_client.blocking.profiles import ProfileOperations
from mneme_client.blocking.sessions import SessionOperations
from mneme_client.blocking.supersessions import SupersessionOperations
from mneme_client.channel import DEFAULT_TARGET, Credential, Tls, make_connection
from mneme_client.retry import RetryPolicy
from mneme_client.sync_transport import SyncTransport
from mneme_client.tracing import CallTracing

if TYPE_CHECKING:  # an extra
    from opentelemetry.trace import Tracer


class SyncClient(
    MemoryOperations,
    ConversationOperations,
    SessionOperations,
    ContextWindowOperations,
    EpisodeOperations,
    ClusterOperations,
    FactOperations,
    ProfileOperations,
    ProcedureOperations,
    NoteOperations,
    LinkOperations,
    InsightOperations,
    GrantOperations,
    DocumentOperations,
    ErasureOperations,
    PortabilityOperations,
    AuditOperations,
    CodeOperations,
    ActivityOperations,
    DeliveryOperations,
    EmbeddingModelOperations,
    MaintenanceOperations,
    SupersessionOperations,
    MergeOperations,
):
    """Remembers and recalls through Mneme's gateway. Thread-safe, and needs no event loop.

    Every call has a deadline. A call that fails with UNAVAILABLE, or that a closing server cancels, is repeated with
    the same request id until it succeeds or its deadline is near, so that nothing is written twice. Failures are
    `MnemeClientError`. A method has the name of its RPC, and that documents limits and failures.

    Args:
        target: Address of the gateway, as gRPC writes them.
        api_key: Credential: an API key or a token of an identity provider; None where the service runs in development
            mode. A function is called for each call, so that tokens can be renewed; in an event loop it must not block.
        tls: Encrypt: True trusts the system's certificate authorities, `Tls` configures it.
        default_timeout_seconds: Deadline of a call, repeats included, where the call has none of its own.
        retry: When and how often a failed call is repeated.
        tracer: Makes the spans of calls. None means a tracer of OpenTelemetry's global provider, where it is installed.
        capture_content: Whether spans hold what is asked, remembered and found. None means only where the variable
            OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT is "true".
    """

    def __init__(
        self,
        target: str = DEFAULT_TARGET,
        api_key: Credential | None = None,
        *,
        tls: Tls | bool = False,
        default_timeout_seconds: float = 10.0,
        retry: RetryPolicy | None = None,
        tracer: Tracer | None = None,
        capture_content: bool | None = None,
    ) -> None:
        connection, policy = make_connection(target, api_key, tls=tls), retry or RetryPolicy()
        tracing = CallTracing(tracer, target=target, capture_content=capture_content)
        transport = SyncTransport(connection, policy, tracing)
        super().__init__(transport, timeout_seconds=default_timeout_seconds, retry=policy)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection; calls under way, and later ones, fail with CANCELLED. Closing twice is allowed."""
        self._transport.close()
