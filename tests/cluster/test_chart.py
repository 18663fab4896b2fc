"""The chart on a real API server, controllers and scheduler; kwok plays the nodes and reports pods as running."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from kubernetes import client, config

from services.common.maintenance.elections.kubernetes import LeaseElection
from tests.support.helm import CHART, SERVICES, VALUE_SETS, Chart
from tools.cluster.control_plane import ControlPlane

RELEASE: Final = "mneme"
NODES: Final = 4
QUICK: Final = ("--set", "minReadySeconds=1", "--wait", "--timeout=180s")
SERVERS: Final = "secrets.name=mneme,qdrant.url=http://qdrant:6334,neo4j.url=bolt://neo4j:7687"

# What other projects' operators bring, as far as the API server must know it.
FOREIGN: Final = {
    "monitoring.coreos.com/v1": ("ServiceMonitor", "PrometheusRule"),
    "cert-manager.io/v1": ("Certificate",),
}


def foreign_definition(api_version: str, kind: str) -> dict[str, Any]:
    """A definition that takes any object of the kind."""
    group, _, version = api_version.partition("/")
    plural = f"{kind.lower()}s"
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind},
            "versions": [{"name": version, "served": True, "storage": True, "schema": schema}],
        },
    }


def volumes() -> Iterator[dict[str, Any]]:
    """Classes and volumes: nothing here makes them when they are claimed."""
    for name in ("standard", "fast"):
        is_default = {"storageclass.kubernetes.io/is-default-class": str(name == "standard").lower()}
        yield {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": name, "annotations": is_default},
            "provisioner": "kubernetes.io/no-provisioner",
        }
        for number in range(6):
            yield {
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": {"name": f"{name}-{number}"},
                "spec": {
                    "capacity": {"storage": "50Gi"},
                    "accessModes": ["ReadWriteOnce"],
                    "storageClassName": name,
                    "hostPath": {"path": f"/{name}-{number}"},
                },
            }


@pytest.fixture(scope="module")
def nodes(cluster: ControlPlane) -> list[str]:
    """Nodes, volumes, and kinds of other projects."""
    objects = [*volumes(), *(foreign_definition(api, kind) for api, kinds in FOREIGN.items() for kind in kinds)]
    cluster.kubectl("apply", "-f", "-", text=yaml.safe_dump_all(objects))
    cluster.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
    return cluster.add_nodes(NODES)


@dataclass
class Place:
    """A namespace, and a release in it."""

    cluster: ControlPlane
    chart: Chart
    namespace: str

    def helm(self, *arguments: str) -> str:
        """Runs Helm, which must succeed."""
        done = self.chart.run(*arguments, f"--kubeconfig={self.cluster.kubeconfig}", f"--namespace={self.namespace}")
        assert done.returncode == 0, f"helm {' '.join(arguments)}: {done.stderr}"
        return done.stdout

    def kubectl(self, *arguments: str, text: str = "") -> str:
        """Runs kubectl in the namespace."""
        return self.cluster.kubectl(f"--namespace={self.namespace}", *arguments, text=text)

    def json(self, *arguments: str) -> Any:
        """What kubectl prints, as JSON."""
        return json.loads(self.kubectl(*arguments, "--output=json"))

    def objects(self) -> set[str]:
        """Names of everything in the namespace, events aside."""
        kinds = self.cluster.kubectl("api-resources", "--verbs=list", "--namespaced", "--output=name").split()
        lasting = [kind for kind in kinds if kind.partition(".")[0] not in {"events", "endpoints"}]
        return set(self.kubectl("get", ",".join(lasting), "--output=name", "--ignore-not-found").split())

    def variable(self, service: str, name: str) -> str:
        """A variable of a service's pods, which all have the same."""
        pods = self.json("get", "pods", f"--selector=app.kubernetes.io/component={service}")["items"]
        values = {
            entry["value"]
            for pod in pods
            if "deletionTimestamp" not in pod["metadata"]
            for entry in pod["spec"]["containers"][0]["env"]
            if entry["name"] == name
        }
        assert len(values) == 1, values
        return str(values.pop())

    def ready(self, service: str) -> int:
        """Ready replicas of a service."""
        status = self.json("get", "deployment", f"{RELEASE}-{service}")["status"]
        return int(status.get("readyReplicas", 0))

    def wait_for(self, service: str, replicas: int) -> None:
        """Waits until a service has so many replicas, all ready."""
        for field in ("replicas", "readyReplicas", "updatedReplicas"):
            self.kubectl(
                "wait",
                f"--for=jsonpath={{.status.{field}}}={replicas}",
                f"deployment/{RELEASE}-{service}",
                "--timeout=90s",
            )


@pytest.fixture
def place(cluster: ControlPlane, chart: Chart, nodes: list[str], request: pytest.FixtureRequest) -> Iterator[Place]:
    """A namespace of the test alone, as an operator prepares it."""
    del nodes
    namespace = f"ns-{abs(hash(request.node.name)) % 10**8}"
    cluster.kubectl("create", "namespace", namespace)
    prepared = Place(cluster, chart, namespace)
    prepared.kubectl("create", "serviceaccount", "existing")
    # Made by a controller of the cluster for each namespace.
    cluster.kubectl(f"--namespace={namespace}", "wait", "--for=create", "configmap/kube-root-ca.crt", "--timeout=60s")
    cluster.kubectl(f"--namespace={namespace}", "wait", "--for=create", "serviceaccount/default", "--timeout=60s")
    yield prepared
    cluster.kubectl("delete", "namespace", namespace, "--wait=false")


@contextlib.contextmanager
def load_balancers(place: Place) -> Iterator[None]:
    """Gives load balancers an address, for which Helm waits; in a cluster its provider does."""
    stopped = threading.Event()
    address = json.dumps({"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}})

    def run() -> None:
        while not stopped.wait(0.5):
            place.cluster.try_kubectl(
                f"--namespace={place.namespace}", "patch", "service", f"{RELEASE}-gateway", "--subresource=status",
                "--type=merge", f"--patch={address}",
            )  # fmt: skip

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def values(name: str) -> str:
    """Helm's argument for a value set."""
    return f"--values={CHART / 'ci' / f'{name}.yaml'}"


@pytest.mark.parametrize("name", VALUE_SETS)
def test_spec_8_3_the_api_server_accepts_every_manifest(place: Place, name: str) -> None:
    rendered = place.helm("template", RELEASE, str(CHART), values(name))
    made = place.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", "-", text=rendered)
    assert len(made.splitlines()) == len([one for one in yaml.safe_load_all(rendered) if one])
    wrong = rendered.replace("minReadySeconds:", "minReadySecond:")
    refused = place.cluster.try_kubectl(
        f"--namespace={place.namespace}", "apply", "--dry-run=server", "--validate=strict", "-f", "-", text=wrong
    )
    assert "minReadySecond" in refused.stderr


@pytest.mark.parametrize("name", VALUE_SETS)
def test_spec_8_3_a_release_is_installed_upgraded_rolled_back_and_leaves_nothing(place: Place, name: str) -> None:
    before = place.objects()
    balanced = load_balancers(place) if name == "production" else contextlib.nullcontext()
    with balanced:
        place.helm("install", RELEASE, str(CHART), values(name), *QUICK)
        first = place.variable("session", "MNEME_LOG_LEVEL")
        assert all(place.ready(service) >= 1 for service in SERVICES)
        assert not place.json("get", "jobs")["items"] or name == "trial", "hooks are removed when they have succeeded"
        place.helm("upgrade", RELEASE, str(CHART), values(name), "--set", "logLevel=debug", *QUICK)
        assert place.variable("session", "MNEME_LOG_LEVEL") == "debug" != first
        place.helm("rollback", RELEASE, "1", *QUICK[2:])
        assert place.variable("session", "MNEME_LOG_LEVEL") == first
    place.helm("uninstall", RELEASE, "--wait", "--timeout=120s")
    left = _settled(place.objects, before)
    assert left == before, left - before


def _settled(look: Callable[[], set[str]], expected: set[str]) -> set[str]:
    """What is there once it is as expected; the garbage collector needs a moment after its owner has gone."""
    found = look()
    for _ in range(60):
        if found == expected:
            break
        found = look()
    return found


def test_spec_8_3_a_node_is_drained_within_the_disruption_budget(place: Place, nodes: list[str]) -> None:
    place.helm("install", RELEASE, str(CHART), "--set", SERVERS, *QUICK)
    try:
        gateways = _pods(place, "gateway")
        node = gateways[0]["spec"]["nodeName"]
        place.cluster.kubectl(
            "drain", node, "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=120s",
            f"--pod-selector=app.kubernetes.io/instance={RELEASE}",
        )  # fmt: skip
        for service in SERVICES:
            place.wait_for(service, 2)
            assert all(pod["spec"]["nodeName"] != node for pod in _pods(place, service))
        place.cluster.kubectl("cordon", *nodes)  # what is evicted now has no other place
        first, second = (pod["metadata"]["name"] for pod in _pods(place, "gateway"))
        assert _evict(place, first) == ""
        assert "disruption budget" in _evict(place, second)
        assert place.ready("gateway") == 1
    finally:
        place.cluster.kubectl("uncordon", *nodes)
        place.helm("uninstall", RELEASE, "--wait")


def _pods(place: Place, service: str) -> Sequence[Any]:
    found = place.json("get", "pods", f"--selector=app.kubernetes.io/component={service}")["items"]
    return [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]


def _evict(place: Place, pod: str) -> str:
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": place.namespace}}
    path = f"/api/v1/namespaces/{place.namespace}/pods/{pod}/eviction"
    return place.cluster.try_kubectl("create", "--raw", path, "-f", "-", text=json.dumps(eviction)).stderr


def test_spec_8_3_autoscalers_scale_the_services(place: Place) -> None:
    def scaled(least: int, most: int) -> tuple[str, ...]:
        given = f"gateway.autoscaling.enabled=true,gateway.autoscaling.minReplicas={least}"
        return ("--set", f"{SERVERS},{given},gateway.autoscaling.maxReplicas={most}", *QUICK)

    place.helm("install", RELEASE, str(CHART), *scaled(3, 6))
    place.wait_for("gateway", 3)
    place.helm("upgrade", RELEASE, str(CHART), *scaled(5, 6))
    place.wait_for("gateway", 5)
    place.helm("upgrade", RELEASE, str(CHART), *scaled(2, 4))
    place.wait_for("gateway", 4)
    assert place.ready("session") == 2
    place.helm("uninstall", RELEASE, "--wait")


async def test_spec_8_3_the_account_of_the_services_may_lead_maintenance_and_nothing_else(
    place: Place, tmp_path: Path
) -> None:
    place.helm("install", RELEASE, str(CHART), "--set", SERVERS, *QUICK)
    token = place.kubectl("create", "token", RELEASE).strip()
    file = tmp_path / "kubeconfig"
    place.cluster.write_kubeconfig(file, token, place.namespace)
    configuration = client.Configuration()
    config.load_kube_config(str(file), client_configuration=configuration)  # type: ignore[no-untyped-call]
    configuration.retries = False
    api = client.ApiClient(configuration)
    name = f"{RELEASE}-maintenance"
    leases = client.CoordinationV1Api(api)
    election = LeaseElection(leases, namespace=place.namespace, name=name, identity="a pod")
    assert await election.lead()
    assert place.json("get", "lease", name)["spec"]["holderIdentity"] == "a pod"
    await election.release()
    core = client.CoreV1Api(api)
    refused: list[Callable[[], object]] = [
        lambda: core.list_namespaced_secret(place.namespace),
        lambda: core.list_namespaced_pod(place.namespace),
        lambda: core.read_namespaced_config_map("kube-root-ca.crt", place.namespace),
        lambda: leases.list_namespaced_lease(place.namespace),
        lambda: leases.delete_namespaced_lease(name, place.namespace),
        lambda: leases.read_namespaced_lease(name, "kube-system"),
        lambda: leases.read_namespaced_lease("other", place.namespace),
    ]
    for call in refused:
        with pytest.raises(client.ApiException) as caught:
            call()
        assert caught.value.status == 403
    place.helm("uninstall", RELEASE, "--wait")
