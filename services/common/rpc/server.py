"""A gRPC server with health, reflection, limits and a graceful end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import structlog
from google.protobuf import descriptor_pool
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from services.common.addresses import is_loopback
from services.common.auth import METADATA_BYTES_MAX, Role
from services.common.rpc import accepting
from services.common.rpc.certificates import Certificates, TlsFiles
from services.common.rpc.in_process import InProcessChannel, InProcessServer
from services.common.rpc.interceptors.around import InterceptorChain
from services.common.rpc.interceptors.auth import AuthInterceptor
from services.common.rpc.interceptors.base import AroundInterceptor
from services.common.rpc.interceptors.gate import CallGate
from services.common.rpc.library_log import silence_lost_callers
from services.common.rpc.readiness import Check, Readiness, ReadinessSettings
from services.common.rpc.reflection import add_reflection

_log = structlog.get_logger(__name__)

LIVENESS_NAME: Final = "liveness"
"""A name of the health service that is SERVING while the process takes calls, whatever its stores do."""

_CONDITION_INTERVALS: Final = 6
"""Checks of a store for one of a condition, which comes every half minute by default."""

_ENDING_SHARE_MAX: Final = 0.25  # of the grace, reserved for ending the calls that are left
_ENDING_SECONDS_MAX: Final = 0.5

_METADATA_BYTES_MAX: Final = 16 * 1024  # of a call by anybody: an API key, a request id and a trace


@dataclass(frozen=True, slots=True)
class ServiceBinding:
    """One gRPC service of a server."""

    full_name: str  # such as "mneme.gateway.v1.MemoryService"
    add_to_server: Callable[[Any, Any], None]  # the generated add_…Servicer_to_server
    servicer: Any
    roles: Mapping[str, Role]  # by method name; a method that is missing is denied
    withheld: frozenset[str] = frozenset()  # methods of its contract that are not served here: UNIMPLEMENTED

    ready: Check | None = None  # of the store that it cannot work without; its health follows
    conditions: Mapping[str, Check] = field(default_factory=dict)
    """Further names of the health service, each of which follows a check; the server as a whole does not."""

    @property
    def method_roles(self) -> dict[str, Role]:
        """The roles by full method name."""
        return {f"/{self.full_name}/{name}": role for name, role in self.roles.items()}


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Where a server listens, and its limits."""

    address: str = "127.0.0.1:0"  # host:port, port 0 for any; or unix:/path
    message_bytes_max: int = 8 * 1024 * 1024  # of a request or response
    connection_streams_max: int = 256  # calls at once on one connection; clients wait with more
    request_seconds: float = 5.0  # how long a call waits for its request
    stream_idle_seconds: float = 60.0  # how long a stream of requests waits for the next one
    drain_seconds: float = 0.0  # how long a server that stops takes calls yet, though it says that it is not healthy
    grace_seconds: float = 10.0  # for calls under way after that
    keepalive_seconds: float = 60.0  # between pings to idle clients
    handshake_seconds: float = 10.0  # for a connection to speak HTTP/2, and TLS where it is on
    readiness: ReadinessSettings = field(default_factory=ReadinessSettings)
    tls: TlsFiles | None = None  # read again when they change


class GrpcServer:
    """Serves some services on one address."""

    def __init__(
        self, settings: ServerSettings, services: Sequence[ServiceBinding], interceptors: Sequence[AroundInterceptor]
    ) -> None:
        """Binds nothing yet.

        Raises:
            ValueError: A table of roles does not fit its service's methods, or callers without a credential would be
                let in from other machines.
        """
        for service in services:
            _check_roles(service)
        self._settings = settings
        #: What the server accepts as credentials; None where it asks for none, as in tests of a server alone.
        self.authenticator = next((i.authenticator for i in interceptors if isinstance(i, AuthInterceptor)), None)
        self._is_development = any(isinstance(i, AuthInterceptor) and i.admits_anybody for i in interceptors)
        if self._is_development and not is_loopback(settings.address):
            raise ValueError(f"in development mode a server listens on loopback only, not on {settings.address}")
        silence_lost_callers()
        self._services = services
        self._conditions = {name: check for service in services for name, check in service.conditions.items()}
        self._health = health.aio.HealthServicer()
        self._gate = CallGate()
        self._watchers: list[asyncio.Task[None]] = []
        self._draining: asyncio.Task[None] | None = None
        chain = InterceptorChain(
            interceptors,
            gate=self._gate,
            request_seconds=settings.request_seconds,
            stream_idle_seconds=settings.stream_idle_seconds,
        )
        self._in_process = InProcessServer(chain, message_bytes_max=settings.message_bytes_max)
        self._server = accepting.server(
            interceptors=[chain],
            options=[
                ("grpc.max_receive_message_length", settings.message_bytes_max),
                ("grpc.max_send_message_length", settings.message_bytes_max),
                ("grpc.keepalive_time_ms", int(settings.keepalive_seconds * 1000)),
                ("grpc.keepalive_permit_without_calls", 1),
                ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
                ("grpc.server_handshake_timeout_ms", int(settings.handshake_seconds * 1000)),
                *_connection_limits(services, settings),
                ("grpc.so_reuseport", 0),  # a second server on the port is an error, not a silent partner
            ],
        )
        for service in services:
            service.add_to_server(service.servicer, self._server)
            service.add_to_server(service.servicer, self._in_process)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        add_reflection([*(service.full_name for service in services), health.SERVICE_NAME], self._server)

    async def start(self) -> str:
        """Listens and reports itself as healthy.

        Returns:
            The address under which it can be called, with the port that it got.

        Raises:
            OSError: The address is taken or cannot be bound.
        """
        address = self._settings.address
        try:
            if self._settings.tls is None:
                port = self._server.add_insecure_port(address)
            else:
                port = self._server.add_secure_port(address, Certificates(self._settings.tls).server_credentials())
        except RuntimeError as error:
            raise OSError(f"cannot listen on {address}: is it in use?") from error
        if port == 0 and not address.startswith("unix:"):
            raise OSError(f"cannot listen on {address}: is it in use?")
        await self._server.start()
        self._in_process.start()
        if self._is_development:
            _log.warning("development_mode", address=address, note="calls without a credential are let in")
        for name in ("", LIVENESS_NAME, *self._conditions, *(service.full_name for service in self._services)):
            await self._health.set(name, health_pb2.HealthCheckResponse.SERVING)
        self._watchers = [
            asyncio.create_task(self._readiness(check).run(), name="readiness")
            for check in dict.fromkeys(service.ready for service in self._services)
            if check is not None
        ]
        for name, check in self._conditions.items():
            self._watchers.append(asyncio.create_task(self._condition(name, check).run(), name=f"condition-{name}"))
        return address if address.startswith("unix:") else f"{address.rpartition(':')[0]}:{port}"

    def open_in_process_channel(self, *, message_bytes_max: int | None = None) -> InProcessChannel:
        """A channel for callers of this process, without a socket; works while the server does. Its owner closes it.

        Args:
            message_bytes_max: Of a request or response; the server's own limit where None.
        """
        return InProcessChannel(
            self._in_process, message_bytes_max=message_bytes_max or self._settings.message_bytes_max
        )

    async def is_serving(self) -> bool:
        """Whether the server as a whole reports that it is healthy."""
        unused: Any = None  # it reads nothing of its context where the service is known
        response = await self._health.Check(health_pb2.HealthCheckRequest(), unused)
        return response.status == health_pb2.HealthCheckResponse.SERVING

    def _readiness(self, check: Check) -> Readiness:
        """Reports the health of the services that need a store, and of the server as a whole."""
        names = ["", *(service.full_name for service in self._services if service.ready == check)]

        async def report(is_serving: bool) -> None:  # noqa: FBT001 - as `Readiness` calls it
            for name in names:
                await self.report_health(name, is_serving=is_serving)

        return Readiness(check, report, self._settings.readiness)

    def _condition(self, name: str, check: Check) -> Readiness:
        """Reports one condition, from its first failure on: it is looked at less often than the stores."""
        readiness = self._settings.readiness
        seconds = _CONDITION_INTERVALS * readiness.interval_seconds
        settings = replace(readiness, interval_seconds=seconds, failures_max=1)

        async def report(is_met: bool) -> None:  # noqa: FBT001 - as `Readiness` calls it
            await self.report_health(name, is_serving=is_met)

        return Readiness(check, report, settings, subject=name)

    async def report_health(self, full_name: str, *, is_serving: bool) -> None:
        """Reports to clients and probes whether one service is ready; ignored once the server stops."""
        status = health_pb2.HealthCheckResponse
        await self._health.set(full_name, status.SERVING if is_serving else status.NOT_SERVING)

    async def drain(self) -> None:
        """The first part of stopping, which happens once: for who serves calls beside the server meanwhile."""
        if self._draining is None:
            self._draining = asyncio.create_task(self._drain(), name="drain")
        await asyncio.shield(self._draining)

    async def _drain(self) -> None:
        for watcher in self._watchers:
            watcher.cancel()
        await self._health.enter_graceful_shutdown()
        await asyncio.sleep(self._settings.drain_seconds)

    async def stop(self) -> None:
        """Says that it is not healthy any more, lets calls under way finish, and stops.

        For `drain_seconds` new calls are served as before, so that load balancers that ask for its health can turn
        elsewhere first. Then every connection gets GOAWAY, and clients put new calls on others. Calls that had
        come in but not begun, and those that outlast the grace, fail as UNAVAILABLE with the reason SHUTTING_DOWN. gRPC
        itself cancels those that are on their way at that moment.
        """
        await self.drain()
        self._gate.close()
        grace = self._settings.grace_seconds
        await asyncio.gather(
            self._gate.end_calls(after_seconds=grace - min(grace * _ENDING_SHARE_MAX, _ENDING_SECONDS_MAX)),
            self._server.stop(grace),
            self._in_process.stop(grace),
        )

    async def wait(self) -> None:
        """Returns when the server has stopped."""
        await self._server.wait_for_termination()


def needing(check: Check, services: Sequence[ServiceBinding]) -> tuple[ServiceBinding, ...]:
    """The services with a store that they cannot work without."""
    return tuple(replace(service, ready=check) for service in services)


def method_roles(services: Sequence[ServiceBinding]) -> dict[str, Role]:
    """The roles of all services by full method name."""
    return {method: role for service in services for method, role in service.method_roles.items()}


def _connection_limits(services: Sequence[ServiceBinding], settings: ServerSettings) -> list[tuple[str, int]]:
    """What one connection may bring.

    Other services have one connection each, for calls on behalf of all tenants, and send large identities, with the
    scopes granted to a reader.
    """
    is_called_by_services = any(Role.SERVICE in service.roles.values() for service in services)
    size = METADATA_BYTES_MAX if is_called_by_services else _METADATA_BYTES_MAX
    streams = settings.connection_streams_max * (4 if is_called_by_services else 1)
    return [
        ("grpc.max_concurrent_streams", streams),
        ("grpc.max_metadata_size", size),
        ("grpc.absolute_max_metadata_size", size),
    ]


def _check_roles(service: ServiceBinding) -> None:
    """A method without a role would answer nobody, and a role without a method guards nothing."""
    try:
        descriptor = descriptor_pool.Default().FindServiceByName(service.full_name)
    except KeyError:
        return  # a service that was not made from a proto
    methods = {method.name for method in descriptor.methods}
    if methods - service.withheld != service.roles.keys():
        wrong = ", ".join(sorted((methods - service.withheld) ^ service.roles.keys()))
        raise ValueError(f"the roles of {service.full_name} do not fit its methods: {wrong}")
