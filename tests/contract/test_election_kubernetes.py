"""Elections by a Lease, against a server with the API's semantics, and against a real one by `make lease-e2e`."""

from __future__ import annotations

import asyncio
import os
import signal
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config

from services.common.maintenance.elections.kubernetes import LeaseElection, connect
from tests.contract.election import ElectionContract, Replicas
from tests.support.lease_api import LeaseApi
from tests.support.programs import tools_folder
from tools.cluster.control_plane import API_SERVER, ControlPlane

NAMESPACE, SECONDS = "default", 15
FOLDER = os.environ.get("MNEME_TEST_CLUSTER", "")


class LeaseReplicas(Replicas):
    """Replicas with clocks of their own, which the tests move."""

    def __init__(self, server: LeaseApi) -> None:
        self.server = server
        self.now = 1_000.0
        self.name = f"mneme-{uuid.uuid4().hex[:8]}"

    def api(self) -> Any:
        configuration = client.Configuration(host=self.server.url)
        configuration.retries = False
        return client.CoordinationV1Api(client.ApiClient(configuration))

    async def join(self, name: str) -> LeaseElection:
        ahead = 3600.0 * (hash(name) % 7)  # what a machine counts from is its own affair
        return LeaseElection(
            self.api(),
            namespace=NAMESPACE,
            name=self.name,
            identity=name,
            lease_seconds=SECONDS,
            monotonic=lambda: self.now + ahead,
        )

    async def kill(self, name: str) -> None:
        del name
        self.now += SECONDS

    async def stop_server(self) -> None:
        self.server.stop()

    async def start_server(self) -> None:
        self.server.start()

    def spec(self) -> dict[str, Any]:
        return dict(self.server.lease(NAMESPACE, self.name)["spec"])


class RealReplicas(LeaseReplicas):
    """The same against the API server of a control plane, which is killed and started again."""

    def __init__(self, server: LeaseApi, cluster: ControlPlane) -> None:
        super().__init__(server)
        self._cluster = cluster

    def api(self) -> Any:
        configuration = client.Configuration()
        config.load_kube_config(str(self._cluster.kubeconfig), client_configuration=configuration)  # type: ignore[no-untyped-call]
        configuration.retries = False
        return client.CoordinationV1Api(client.ApiClient(configuration))

    async def stop_server(self) -> None:
        await asyncio.to_thread(self._cluster.stop_program, API_SERVER, signal.SIGKILL)

    async def start_server(self) -> None:
        await asyncio.to_thread(self._cluster.start_program, API_SERVER)


@pytest.fixture(params=["local", *(["real"] if FOLDER else [])])
def replicas(request: pytest.FixtureRequest) -> Iterator[LeaseReplicas]:
    server = LeaseApi().start()
    if request.param == "real":
        yield RealReplicas(server, ControlPlane(Path(FOLDER), tools_folder() / "bin"))
    else:
        yield LeaseReplicas(server)
    server.stop()


@pytest.fixture
def local() -> Iterator[LeaseReplicas]:
    server = LeaseApi().start()
    yield LeaseReplicas(server)
    server.stop()


class TestLeaseElection(ElectionContract):
    """See `ElectionContract`."""


async def test_spec_6_9_a_silent_leader_is_replaced_when_its_lease_has_ended_and_not_before(
    local: LeaseReplicas,
) -> None:
    first, second = await local.join("first"), await local.join("second")
    assert (await first.lead(), await second.lead()) == (True, False)
    local.now += SECONDS - 1
    assert not await second.lead()
    assert await first.lead()  # heard of again
    local.now += SECONDS - 1
    assert not await second.lead()
    local.now += 1
    assert not await second.lead(), "the renewal was seen a second ago at the earliest"
    local.now += SECONDS
    assert (await second.lead(), await first.lead()) == (True, False)
    assert (local.spec()["holderIdentity"], local.spec()["leaseTransitions"]) == ("second", 1)


@pytest.mark.parametrize("hours", [-5, 5])
async def test_spec_6_9_the_holder_s_clock_does_not_matter(local: LeaseReplicas, hours: int) -> None:
    first, second = await local.join("first"), await local.join("second")
    assert await first.lead()
    lease = local.server.lease(NAMESPACE, local.name)
    lease["spec"]["renewTime"] = (datetime.now(UTC) + timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    assert not await second.lead()
    local.now += SECONDS
    assert await second.lead()


async def test_spec_6_9_of_many_that_take_over_at_once_one_wins(local: LeaseReplicas) -> None:
    first = await local.join("first")
    others = [await local.join(f"other-{number}") for number in range(8)]
    assert await first.lead()
    assert not any(await asyncio.gather(*(other.lead() for other in others)))
    local.now += SECONDS
    found = await asyncio.gather(first.lead(), *(other.lead() for other in others))
    assert sum(found) == 1


def test_without_a_cluster_a_lease_is_refused_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", "/nonexistent")
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", "/nonexistent")
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(ValueError, match="a Lease needs Kubernetes"):
        connect()
