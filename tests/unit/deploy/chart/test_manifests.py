"""What the chart promises of its manifests: closed networks, no privileges, limits, and only the secrets in use."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.common.auth import ApiKeyRing, Role
from services.common.hosting import HostSettings
from tests.support.helm import (
    CHART,
    ENGINES,
    ROOT,
    SERVICES,
    TIERS,
    VALUE_SETS,
    Chart,
    Manifest,
    component_of,
    parse,
    pods,
)

PORTS = {"postgres": 5432, "redis": 6379, "qdrant": 6334, "neo4j": 7687, "vault": 8200}

# The arrows of docs/architecture.md: who opens connections to whom.
ARROWS = {
    *(("gateway", tier, "grpc") for tier in TIERS),
    ("test", "gateway", "grpc"),
    ("gateway", "postgres", 5432),
    ("session", "redis", 6379),
    ("episodic", "postgres", 5432),
    ("episodic", "qdrant", 6334),
    ("semantic", "neo4j", 7687),
    ("agentic", "neo4j", 7687),
    ("migrate", "postgres", 5432),
    ("migrate", "neo4j", 7687),
}

SECRETS = {
    "gateway": {"service_secret", "postgres_url", "api-keys.json"},
    "session": {"service_secret", "session_store_url"},
    "episodic": {"service_secret", "postgres_url", "qdrant_api_key"},
    "semantic": {"service_secret", "neo4j_password"},
    "agentic": {"service_secret", "neo4j_password"},
    "migrate": {"postgres_owner_url", "neo4j_password"},
    "test": set[str](),
}

each_set = pytest.mark.parametrize("name", VALUE_SETS)


def containers(chart: Chart, name: str) -> Iterator[tuple[str, Manifest, Manifest]]:
    for component, pod in pods(chart.manifests(name)):
        for container in pod["spec"]["containers"]:
            yield component, pod["spec"], container


def environment(container: Manifest) -> dict[str, str]:
    return {entry["name"]: entry.get("value", "") for entry in container.get("env", [])}


@each_set
def test_spec_8_3_pods_have_no_privileges(chart: Chart, name: str) -> None:
    seen = set()
    for component, spec, container in containers(chart, name):
        seen.add(component)
        pod, own = spec["securityContext"], container["securityContext"]
        assert pod["runAsNonRoot"] is True
        assert pod["runAsUser"] >= 999
        assert pod["seccompProfile"] == {"type": "RuntimeDefault"}
        assert own["allowPrivilegeEscalation"] is False
        assert own["capabilities"] == {"drop": ["ALL"]}
        assert own["readOnlyRootFilesystem"] is (component != "neo4j"), component
        assert spec["automountServiceAccountToken"] is (component == "episodic"), "for its Lease"
        # Kubernetes would set MNEME_GATEWAY_PORT and the like, for a release of the name mneme.
        assert spec["enableServiceLinks"] is False
        assert not {"hostNetwork", "hostPID", "hostIPC"} & spec.keys()
        assert not any("hostPath" in volume for volume in spec["volumes"])
    assert set(SERVICES) | {"test"} <= seen


@each_set
def test_spec_8_3_containers_are_limited_and_pinned(chart: Chart, name: str) -> None:
    for component, _, container in containers(chart, name):
        resources = container["resources"]
        assert resources["requests"].keys() >= {"cpu", "memory"}, component
        assert "memory" in resources["limits"], component
        image, _, version = container["image"].partition("@" if "@" in container["image"] else ":")
        assert re.search(r"\d", version), f"{image} is not pinned"
        assert "." not in image, "a registry's host name ties the chart to one place"


@each_set
def test_spec_8_2_readiness_follows_the_stores_and_liveness_does_not(chart: Chart, name: str) -> None:
    for service in SERVICES:
        manifest = chart.one(name, "Deployment", service)
        container = manifest["spec"]["template"]["spec"]["containers"][0]
        encrypted = "MNEME_TLS_CERTIFICATE" in environment(container)
        ready, alive = container["readinessProbe"], container["livenessProbe"]
        if encrypted:
            assert ready["exec"] == {"command": ["python", "-m", "services.cli.probe"]}
            assert (ready["periodSeconds"], ready["timeoutSeconds"]) == (10, 10), "each one starts a process"
            assert alive["tcpSocket"] == {"port": "grpc"}
        else:
            assert ready["grpc"] == {"port": 7700}
            assert alive["grpc"] == {"port": 7700, "service": "liveness"}
        assert {k: v for k, v in container["startupProbe"].items() if k in {"grpc", "tcpSocket"}} == {
            k: v for k, v in alive.items() if k in {"grpc", "tcpSocket"}
        }


@each_set
def test_spec_8_3_an_update_leaves_no_gap(chart: Chart, name: str) -> None:
    for service in SERVICES:
        spec = chart.one(name, "Deployment", service)["spec"]
        if name == "embedded" and service == "episodic":
            assert spec["strategy"] == {"type": "Recreate"}
            continue
        assert spec["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}
        assert spec["minReadySeconds"] > 0
        pod = spec["template"]["spec"]
        drain = float(environment(pod["containers"][0])["MNEME_DRAIN_SECONDS"])
        assert pod["containers"][0]["lifecycle"]["preStop"] == {"exec": {"command": ["sleep", "2"]}}
        assert pod["terminationGracePeriodSeconds"] >= 2 + drain + 10


@each_set
def test_selectors_choose_the_pods_of_their_component_alone(chart: Chart, name: str) -> None:
    manifests = chart.manifests(name)
    labels = {component: pod["metadata"]["labels"] for component, pod in pods(manifests)}
    for manifest in manifests:
        spec = manifest.get("spec", {})
        selector = spec.get("podSelector") or spec.get("selector")
        if selector is None or manifest["kind"] == "ServiceMonitor":
            continue
        wanted = selector.get("matchLabels", selector)
        chosen = {component for component, own in labels.items() if wanted.items() <= own.items()}
        expected = {component_of(manifest["metadata"])} & labels.keys()  # without the migration nothing is chosen
        assert chosen == expected, f"{manifest['kind']} {manifest['metadata']['name']}"


@pytest.mark.parametrize("name", ["trial", "production", "embedded"])
def test_spec_7_1_networks_allow_the_arrows_of_the_architecture_alone(chart: Chart, name: str) -> None:
    policies = {component_of(m["metadata"]): m["spec"] for m in chart.manifests(name) if m["kind"] == "NetworkPolicy"}
    assert all(policy["policyTypes"] == ["Ingress", "Egress"] for policy in policies.values())
    expected = ARROWS
    if name == "embedded":
        expected = {arrow for arrow in ARROWS if arrow[1] not in {"neo4j", "qdrant"}}
        expected = expected | {("semantic", "postgres", 5432), ("agentic", "postgres", 5432)}
    if name == "production":
        expected = expected | {(service, "vault", 8200) for service in SERVICES}
    assert _outgoing(policies) == expected
    incoming = {
        (peer["podSelector"]["matchLabels"]["app.kubernetes.io/component"], component, port["port"])
        for component, policy in policies.items()
        for rule in policy["ingress"]
        for port in rule["ports"]
        for peer in rule.get("from", [])
        if "podSelector" in peer
    }
    if name == "trial":
        assert incoming == expected - {("test", "gateway", "grpc")}  # the gateway is open to all pods
        assert policies.keys() == {*SERVICES, *ENGINES, "migrate", "test"}
    if name == "production":
        assert incoming == {arrow for arrow in expected if arrow[1] in SERVICES}
        assert {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "agents"}}} in policies["gateway"][
            "ingress"
        ][0]["from"]


def _outgoing(policies: dict[str, Manifest]) -> set[tuple[str, str, object]]:
    """Who may call whom; a rule that names no pods leads to the engine of its port."""
    engines = {port: engine for engine, port in PORTS.items()}
    found = set()
    for component, policy in policies.items():
        for rule in policy["egress"]:
            ports = [port["port"] for port in rule["ports"]]
            if ports in ([53, 53], [4317], [443, 6443]):  # names, the collector of telemetry, the Kubernetes API
                continue
            assert len(ports) == 1
            peers = [peer["podSelector"] for peer in rule.get("to", []) if "podSelector" in peer]
            names = [peer["matchLabels"]["app.kubernetes.io/component"] for peer in peers] or [engines[ports[0]]]
            found |= {(component, target, ports[0]) for target in names}
    return found


@pytest.mark.parametrize("name", ["trial", "given-certificates"])
def test_spec_7_1_a_pod_sees_the_secrets_that_it_uses_and_no_others(chart: Chart, name: str) -> None:
    for component, pod in pods(chart.manifests(name)):
        if component in ENGINES:
            continue
        mounted = {
            item["key"]
            for volume in pod["spec"]["volumes"]
            for item in volume.get("secret", {}).get("items", [])
            if volume["name"] != "tls"
        }
        expected = SECRETS[component] - (set() if name == "trial" else {"qdrant_api_key"})
        assert mounted == expected, component
        for container in pod["spec"]["containers"]:
            for variable, value in environment(container).items():
                if re.search("SECRET|PASSWORD|_KEY|POSTGRES.*URL|STORE_URL", variable) and value:
                    assert value.startswith("/run/secrets/"), variable


@pytest.mark.parametrize(
    ("name", "key", "variable"),
    [
        ("production", "vault_token", "MNEME_VAULT_TOKEN_FILE"),
        ("embedded", "encryption_keys", "MNEME_ENCRYPTION_KEY_FILE"),
    ],
)
def test_spec_7_3_the_services_and_no_other_pods_get_what_opens_data_keys(
    chart: Chart, name: str, key: str, variable: str
) -> None:
    for component, pod in pods(chart.manifests(name)):
        items = [item for v in pod["spec"]["volumes"] for item in v.get("secret", {}).get("items", [])]
        paths = [f"/run/secrets/mneme/{item['path']}" for item in items if item["key"] == key]
        assert len(paths) == (component in SERVICES), component
        for container in pod["spec"]["containers"]:
            assert [v for n, v in environment(container).items() if n == variable] == paths


@each_set
def test_every_variable_is_a_setting(chart: Chart, name: str) -> None:
    entrypoint = (ROOT / "deploy" / "docker" / "entrypoint.sh").read_text("utf-8")
    for component, _, container in containers(chart, name):
        if component in ENGINES or component == "test":
            continue
        for variable in environment(container):
            setting = variable.removeprefix("MNEME_").lower()
            from_file = variable.removesuffix("_FILE")
            assert setting in HostSettings.model_fields or re.search(rf"\b{from_file}\b", entrypoint), variable


@each_set
def test_spec_7_1_the_service_account_may_use_a_lease_and_nothing_else(chart: Chart, name: str) -> None:
    manifests = chart.manifests(name)
    role = chart.one(name, "Role", "access")
    assert {(tuple(rule["apiGroups"]), tuple(rule["resources"])) for rule in role["rules"]} == {
        (("coordination.k8s.io",), ("leases",))
    }
    assert [rule["verbs"] for rule in role["rules"] if "resourceNames" not in rule] == [["create"]]
    (lease,) = [rule["resourceNames"] for rule in role["rules"] if "resourceNames" in rule]
    for service in SERVICES:
        container = chart.one(name, "Deployment", service)["spec"]["template"]["spec"]["containers"][0]
        named = environment(container).get("MNEME_LEASE_NAME")
        assert [named] == (lease if service == "episodic" else [None])
    assert not {manifest["kind"] for manifest in manifests} & {"ClusterRole", "ClusterRoleBinding"}
    subject = chart.one(name, "RoleBinding", "access")["subjects"]
    account = "existing" if name == "embedded" else "m-mneme"
    assert subject == [{"kind": "ServiceAccount", "name": account, "namespace": "memory"}]
    assert ("ServiceAccount" in {manifest["kind"] for manifest in manifests}) is (name != "embedded")


def test_spec_8_3_metrics_are_scraped_from_every_service_and_by_whom_the_values_say(chart: Chart) -> None:
    for service in SERVICES:
        container = chart.one("production", "Deployment", service)["spec"]["template"]["spec"]["containers"][0]
        assert environment(container)["MNEME_METRICS_LISTEN"] == "0.0.0.0:9464"
        assert {"name": "metrics", "containerPort": 9464} in container["ports"]
        ingress = chart.one("production", "NetworkPolicy", service)["spec"]["ingress"]
        peer = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}
        assert [rule["from"] for rule in ingress if {"port": "metrics"} in rule["ports"]] == [[peer]]
        assert "MNEME_METRICS_LISTEN" not in str(chart.one("trial", "Deployment", service)), "off by default"
    monitor = chart.one("production", "ServiceMonitor", "monitoring")["spec"]
    assert monitor["endpoints"] == [{"port": "metrics", "interval": "15s"}]
    scraped = [
        component_of(manifest["metadata"])
        for manifest in chart.manifests("production")
        if manifest["kind"] == "Service" and "metrics" in {port["name"] for port in manifest["spec"]["ports"]}
    ]
    assert sorted(scraped) == sorted(SERVICES), "each pod once: by the headless Service alone"
    assert set(SERVICES) == set(monitor["selector"]["matchExpressions"][0]["values"])


def test_spec_8_3_the_chart_brings_alerts_and_dashboards(chart: Chart) -> None:
    rule = chart.one("production", "PrometheusRule", "monitoring")
    assert rule["spec"] == parse((CHART / "files" / "rules.yaml").read_text("utf-8"))[0]
    boards = chart.one("production", "ConfigMap", "monitoring")
    files = {file.name: json.loads(file.read_text("utf-8")) for file in (CHART / "files" / "dashboards").iterdir()}
    assert {name: json.loads(text) for name, text in boards["data"].items()} == files
    assert rule["metadata"]["labels"]["release"] == "prometheus"
    assert boards["metadata"]["labels"]["grafana_dashboard"] == "1"


def test_spec_8_3_tiers_are_headless_and_the_gateway_has_an_address(chart: Chart) -> None:
    services = {m["metadata"]["name"]: m["spec"] for m in chart.manifests("production") if m["kind"] == "Service"}
    headless = {name for name, spec in services.items() if spec.get("clusterIP") == "None"}
    assert headless == {"m-mneme-gateway-headless", *(f"m-mneme-{tier}" for tier in TIERS)}
    assert services["m-mneme-gateway"]["type"] == "LoadBalancer"
    gateway = chart.one("production", "Deployment", "gateway")["spec"]["template"]["spec"]["containers"][0]
    for tier in TIERS:
        assert environment(gateway)[f"MNEME_{tier.upper()}_TARGET"] == f"dns:///m-mneme-{tier}:7700"


def test_spec_8_3_pods_are_scaled_spread_and_evicted_one_at_a_time(chart: Chart) -> None:
    manifests = chart.manifests("production")
    scaled = {component_of(m["metadata"]) for m in manifests if m["kind"] == "HorizontalPodAutoscaler"}
    assert scaled == {"gateway", "episodic"}
    for service in SERVICES:
        deployment = chart.one("production", "Deployment", service)["spec"]
        assert ("replicas" in deployment) is (service not in scaled), "an update must not undo what was scaled"
        spread = deployment["template"]["spec"]["topologySpreadConstraints"]
        assert [c["topologyKey"] for c in spread] == ["kubernetes.io/hostname", "topology.kubernetes.io/zone"]
        assert chart.one("production", "PodDisruptionBudget", service)["spec"]["maxUnavailable"] == 1
    embedded = {component_of(m["metadata"]) for m in chart.manifests("embedded") if m["kind"] == "PodDisruptionBudget"}
    assert embedded == set(SERVICES) - {"episodic"}


def test_spec_7_1_certificates_are_mutual_between_services_and_clients_need_none(chart: Chart) -> None:
    made = {component_of(m["metadata"]): m["spec"] for m in chart.manifests("production") if m["kind"] == "Certificate"}
    assert made.keys() == set(SERVICES)
    for service in SERVICES:
        pod = chart.one("production", "Deployment", service)["spec"]["template"]["spec"]
        mounted = next(volume for volume in pod["volumes"] if volume["name"] == "tls")
        assert mounted["secret"]["secretName"] == made[service]["secretName"]
        assert f"m-mneme-{service}" in made[service]["dnsNames"], "the name that the gateway calls it by"
        assert {"server auth", "client auth"} <= set(made[service]["usages"])
        variables = environment(pod["containers"][0])
        expected = "MNEME_TIER_TLS_AUTHORITY" if service == "gateway" else "MNEME_TLS_AUTHORITY"
        named = {name for name in variables if name.endswith("TLS_AUTHORITY")}
        assert named - {"MNEME_VAULT_TLS_AUTHORITY"} == {expected}
    assert "mneme.example.org" in made["gateway"]["dnsNames"]


def test_spec_8_3_migrations_run_before_the_services_of_a_release(chart: Chart) -> None:
    job = chart.one("production", "Job", "migrate")
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    assert job["spec"]["template"]["spec"]["containers"][0]["args"] == ["migrate", "--app-role", "mneme_app"]
    # Hooks run before what the release consists of is there, so the job must not need any of it.
    names = {v.get("configMap", {}).get("name") for v in job["spec"]["template"]["spec"]["volumes"]}
    assert "m-mneme-config" not in names
    trial = chart.one("trial", "Job", "migrate")
    assert "annotations" not in trial["metadata"], "a hook would wait for engines that come after it"
    assert trial["metadata"]["name"] == "m-mneme-migrate-1"


def test_spec_8_3_the_network_policy_of_a_migration_is_there_before_it(chart: Chart) -> None:
    migration, policy = (chart.one("production", kind, "migrate")["metadata"] for kind in ("Job", "NetworkPolicy"))
    weight = "helm.sh/hook-weight"
    assert int(policy["annotations"].pop(weight)) < int(migration["annotations"].get(weight, "0"))
    assert policy["annotations"] == migration["annotations"], "made anew for each migration, and removed after it"
    trial = chart.one("trial", "NetworkPolicy", "migrate")
    assert "annotations" not in trial["metadata"], "there the migration is no hook either"


def test_the_trial_has_the_roles_of_compose(chart: Chart) -> None:
    given = (ROOT / "deploy" / "compose" / "postgres" / "roles.sh").read_text("utf-8")
    assert (CHART / "files" / "roles.sh").read_text("utf-8") == given
    assert chart.one("trial", "ConfigMap", "postgres")["data"] == {"10-roles.sh": given}


def test_the_secrets_of_a_trial_fit_together(chart: Chart, tmp_path: Path) -> None:
    secret = chart.one("trial", "Secret", "engines")["data"]
    plain = {key: base64.b64decode(value).decode() for key, value in secret.items()}
    (tmp_path / "keys.json").write_text(plain["api-keys.json"], "utf-8")
    principal = ApiKeyRing(tmp_path / "keys.json").authenticate(plain["test_api_key"])
    assert (principal.tenant_id, principal.role) == ("default", Role.WRITER)
    assert HostSettings.model_validate({"service_secret": plain["service_secret"]}).secret()
    assert f"mneme_app:{plain['postgres_app_password']}@m-mneme-postgres:5432" in plain["postgres_url"]
    assert f"mneme_owner:{plain['postgres_owner_password']}@m-mneme-postgres:5432" in plain["postgres_owner_url"]
    assert plain["session_store_url"] == f"redis://:{plain['redis_password']}@m-mneme-redis:6379/0"
    assert plain["redis_config"] == f"requirepass {plain['redis_password']}\n"
    assert plain["neo4j_auth"] == f"neo4j/{plain['neo4j_password']}"
    assert parse(plain["qdrant_config"]) == [{"service": {"api_key": plain["qdrant_api_key"]}}]
    drawn = [plain[key] for key in plain if re.fullmatch("[A-Za-z0-9]{48}", plain[key])]
    assert len(drawn) == len(set(drawn)) == 8
    for engine in ENGINES:
        pod = chart.one("trial", "StatefulSet", engine)["spec"]["template"]["spec"]
        mounted = {mount["subPath"] for mount in pod["containers"][0]["volumeMounts"] if mount["name"] == "secrets"}
        assert mounted <= plain.keys(), engine
        assert chart.one("trial", "Service", engine)["spec"]["ports"] == [{"name": engine, "port": PORTS[engine]}]
