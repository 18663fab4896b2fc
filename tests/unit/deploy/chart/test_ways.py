"""By which ways the services of the chart are called, and what they call, beyond what is always there."""

from __future__ import annotations

from tests.support.helm import CHART, SERVICES, Chart, Manifest, component_of, parse


def rendered(chart: Chart, *settings: str) -> list[Manifest]:
    """The chart with engines of its own and these values."""
    given = ("secrets.name=mneme", "qdrant.url=http://qdrant:6334", *settings)
    arguments = [part for one in given for part in ("--set-json" if "=[" in one else "--set", one)]
    result = chart.run("template", "m", str(CHART), *arguments)
    assert result.returncode == 0, result.stderr
    return parse(result.stdout)


def of(found: list[Manifest], kind: str, component: str) -> Manifest:
    (one,) = [m for m in found if m["kind"] == kind and component_of(m["metadata"]) == component]
    return one


def test_spec_7_1_a_service_may_call_what_its_operator_adds(chart: Chart) -> None:
    found = rendered(
        chart,
        'gateway.extraEgress=[{"ports": [{"port": 443}]}]',
        'migrate.extraEgress=[{"ports": [{"port": 5433}], "to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}]',
        "migrate.extraEnv.MNEME_NEO4J_TLS_AUTHORITY=/etc/ca.pem",
    )
    rules = {component: of(found, "NetworkPolicy", component)["spec"]["egress"] for component in (*SERVICES, "migrate")}
    assert {"ports": [{"port": 443}]} in rules["gateway"]
    assert {"ports": [{"port": 5433}], "to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]} in rules["migrate"]
    assert not any({"port": 5433} in rule["ports"] for service in SERVICES for rule in rules[service])
    (container,) = of(found, "Job", "migrate")["spec"]["template"]["spec"]["containers"]
    assert {"name": "MNEME_NEO4J_TLS_AUTHORITY", "value": "/etc/ca.pem"} in container["env"]


def test_spec_9_1_http_is_reached_where_it_is_switched_on(chart: Chart) -> None:
    def ways(found: list[Manifest]) -> tuple[bool, list[str], list[str], list[str]]:
        (container,) = of(found, "Deployment", "gateway")["spec"]["template"]["spec"]["containers"]
        (service,) = [m for m in found if m["kind"] == "Service" and m["metadata"]["name"] == "m-mneme-gateway"]
        ingress = of(found, "NetworkPolicy", "gateway")["spec"]["ingress"][0]["ports"]
        return (
            {"name": "MNEME_HTTP_LISTEN", "value": "0.0.0.0:7780"} in container["env"],
            [port["name"] for port in container["ports"]],
            [f"{port['name']} {port['port']} {port.get('appProtocol')}" for port in service["spec"]["ports"]],
            [port["port"] for port in ingress],
        )

    grpc = "grpc 7700 kubernetes.io/h2c"
    assert ways(rendered(chart)) == (False, ["grpc"], [grpc], ["grpc"])
    on = rendered(chart, "gateway.http.enabled=true", "gateway.http.port=80")
    assert ways(on) == (True, ["grpc", "http"], [grpc, "http 80 http"], ["grpc", "http"])
    certificates = (f"tls.secretNames.{service}={service}" for service in SERVICES)
    closed = rendered(chart, "gateway.http.enabled=true", "tls.enabled=true", *certificates)
    assert ways(closed)[2] == ["grpc 7700 None", "http 7780 https"]


def test_spec_7_1_the_lease_alone_needs_rights(chart: Chart) -> None:
    def rights(*settings: str) -> tuple[list[str], bool]:
        found = rendered(chart, *settings)
        kinds = sorted(m["kind"] for m in found if m["kind"] in {"Role", "RoleBinding"})
        pod = of(found, "Deployment", "episodic")["spec"]["template"]["spec"]
        return kinds, pod["automountServiceAccountToken"]

    assert rights() == (["Role", "RoleBinding"], True)
    assert rights("lease.enabled=false") == ([], False)
