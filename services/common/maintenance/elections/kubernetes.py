"""Elections by a Lease of Kubernetes' coordination API."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import structlog
import urllib3
from kubernetes import client, config  # its functions have no types

from services.common.errors import StoreUnavailable

_log = structlog.get_logger(__name__)

_NAMESPACE_FILE: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
_CALL_SECONDS: Final = 3.0
_NOT_FOUND: Final = 404
_CONFLICT: Final = 409


def connect() -> tuple[Any, str]:
    """The coordination API and the namespace: of the pod, or of KUBECONFIG outside of a cluster.

    Raises:
        ValueError: There is neither a cluster nor a configuration.
    """
    configuration = client.Configuration()
    try:
        if os.environ.get("KUBERNETES_SERVICE_HOST"):
            config.load_incluster_config(client_configuration=configuration)  # type: ignore[no-untyped-call]
            namespace = _NAMESPACE_FILE.read_text("utf-8").strip()
        else:
            config.load_kube_config(client_configuration=configuration)  # type: ignore[no-untyped-call]
            _, active = config.list_kube_config_contexts()  # type: ignore[no-untyped-call]
            namespace = active["context"].get("namespace", "default")
    except (config.ConfigException, OSError) as error:
        raise ValueError(f"a Lease needs Kubernetes, whose API cannot be found: {error}") from error
    configuration.retries = False  # the next attempt is the election's own
    return client.CoordinationV1Api(client.ApiClient(configuration)), namespace


class LeaseElection:
    """Implements `Election`: the leader is who renews the Lease.

    Times in a Lease are of its holder's clock and are compared with no other: a replica takes over when it has seen the
    Lease unchanged for its duration on its own monotonic clock. Of replicas that take over at once, the API server lets
    one win, by the version of the object.
    """

    def __init__(
        self,
        api: Any,
        *,
        namespace: str,
        name: str,
        identity: str,
        lease_seconds: int = 15,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Elects by the Lease `name`.

        Args:
            api: A `CoordinationV1Api`; it blocks, so it is called in threads.
            namespace: Where the Lease is; made on first use.
            name: Of the Lease.
            identity: Of this replica, such as the pod's name; no other one's.
            lease_seconds: How long a leader that is not heard of stays the leader.
            monotonic: Of this replica.
        """
        self._api = api
        self._namespace = namespace
        self._name = name
        self._identity = identity
        self._lease_seconds = lease_seconds
        self._monotonic = monotonic
        self._seen: tuple[str, float] = ("", 0.0)  # version of the Lease, and since when
        self._attempt: asyncio.Future[bool] | None = None  # goes on in its thread when its caller is cancelled

    @property
    def valid_seconds(self) -> float:
        """See `Election.valid_seconds`: a third of the Lease's duration is left for calls that take long."""
        return self._lease_seconds * 2 / 3

    async def lead(self) -> bool:
        """See `Election.lead`."""
        try:
            self._attempt = asyncio.ensure_future(asyncio.to_thread(self._lead))
            return await asyncio.shield(self._attempt)
        except (client.ApiException, urllib3.exceptions.HTTPError) as error:
            raise StoreUnavailable("kubernetes", 1.0) from error

    async def release(self) -> None:
        """See `Election.release`; where the API server is away the Lease ends by itself."""
        if self._attempt is not None:
            await asyncio.wait([self._attempt])
        try:
            await asyncio.to_thread(self._release)
        except (client.ApiException, urllib3.exceptions.HTTPError) as error:
            _log.warning("lease_not_released", error=type(error).__name__)

    def _lead(self) -> bool:
        lease = self._read()
        if lease is None:
            return self._write(None, taken_over=True)
        holder = lease.spec.holder_identity
        if holder == self._identity:
            return self._write(lease, taken_over=False)
        version, since = self._seen
        if lease.metadata.resource_version != version:
            self._seen = lease.metadata.resource_version, self._monotonic()
            if holder:
                return False
        duration = lease.spec.lease_duration_seconds or self._lease_seconds
        if holder and self._monotonic() - since < duration:
            return False
        return self._write(lease, taken_over=True)

    def _release(self) -> None:
        lease = self._read()
        if lease is not None and lease.spec.holder_identity == self._identity:
            lease.spec.holder_identity = ""
            self._replace(lease)

    def _read(self) -> Any:
        try:
            return self._api.read_namespaced_lease(self._name, self._namespace, _request_timeout=_CALL_SECONDS)
        except client.ApiException as error:
            if error.status == _NOT_FOUND:
                return None
            raise

    def _write(self, lease: Any, *, taken_over: bool) -> bool:
        """Writes the Lease as ours; false where another replica was first."""
        now = datetime.now(UTC)
        if lease is None:
            spec = client.V1LeaseSpec(
                holder_identity=self._identity,
                lease_duration_seconds=self._lease_seconds,
                acquire_time=now,
                renew_time=now,
                lease_transitions=0,
            )
            return self._create(client.V1Lease(metadata=client.V1ObjectMeta(name=self._name), spec=spec))
        if taken_over:
            lease.spec.lease_transitions = (lease.spec.lease_transitions or 0) + 1
            lease.spec.acquire_time = now
        lease.spec.holder_identity = self._identity
        lease.spec.lease_duration_seconds = self._lease_seconds
        lease.spec.renew_time = now
        return self._replace(lease)

    def _create(self, lease: Any) -> bool:
        try:
            self._api.create_namespaced_lease(self._namespace, lease, _request_timeout=_CALL_SECONDS)
        except client.ApiException as error:
            if error.status == _CONFLICT:
                return False
            raise
        return True

    def _replace(self, lease: Any) -> bool:
        try:
            self._api.replace_namespaced_lease(self._name, self._namespace, lease, _request_timeout=_CALL_SECONDS)
        except client.ApiException as error:
            if error.status in {_CONFLICT, _NOT_FOUND}:
                return False
            raise
        return True
