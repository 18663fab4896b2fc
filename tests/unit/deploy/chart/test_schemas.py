"""The chart is well-formed: for Helm's linter, for three versions of Kubernetes, and wrong values are rejected."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.helm import CHART, VALUE_SETS, Chart
from tests.support.programs import find_program, tools_folder

VERSIONS = ("v1.34.3", "v1.35.2", "v1.36.3")
VALID = ("--set", "secrets.name=mneme", "--set", "qdrant.url=http://qdrant:6334")


@pytest.mark.parametrize("name", VALUE_SETS)
def test_spec_8_3_the_linter_has_no_complaint(chart: Chart, name: str) -> None:
    values = CHART / "ci" / f"{name}.yaml"
    linted = chart.run("lint", "--strict", "--kube-version=1.36", f"--values={values}", str(CHART))
    assert linted.returncode == 0, linted.stdout + linted.stderr
    assert "[WARNING]" not in linted.stdout


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", VALUE_SETS)
def test_spec_8_3_every_manifest_fits_the_schemas_of_kubernetes(
    chart: Chart, name: str, version: str, request: pytest.FixtureRequest
) -> None:
    kubeconform = find_program("kubeconform", request.config)
    result = _compared(kubeconform, chart.text(name, version.removeprefix("v")), version)
    assert result.returncode == 0, result.stdout
    assert "Invalid: 0, Errors: 0" in result.stdout


def test_a_field_that_kubernetes_does_not_know_is_found(chart: Chart, request: pytest.FixtureRequest) -> None:
    kubeconform = find_program("kubeconform", request.config)
    wrong = chart.text("trial").replace("minReadySeconds:", "minimumReadySeconds:", 1)
    result = _compared(kubeconform, wrong, VERSIONS[-1])
    assert result.returncode == 1
    assert "minimumReadySeconds" in result.stdout


def _compared(kubeconform: str, text: str, version: str) -> subprocess.CompletedProcess[str]:
    schemas = tools_folder() / "kubernetes-schemas" / version
    assert Path(schemas).is_dir(), "`make helm-check` makes the schemas"
    location = f"{schemas}/{{{{.ResourceKind}}}}{{{{.KindSuffix}}}}.json"
    # Kinds of cert-manager and of the Prometheus operator are not of Kubernetes itself; test_manifests.py reads them.
    skipped = "-skip=Certificate,ServiceMonitor,PrometheusRule"
    command = [kubeconform, "-strict", "-summary", skipped, f"-schema-location={location}"]
    return subprocess.run(command, check=False, input=text, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["image.pullPolicy=Sometimes"], "'/image/pullPolicy': value must be one of 'Always', 'IfNotPresent', 'Never'"),
        (["image.digest=sha256:12"], "'/image/digest': 'sha256:12' does not match pattern"),
        (["gateway.replica=3"], "'/gateway': additional properties 'replica' not allowed"),
        (["gateways.replicas=3"], "additional properties 'gateways' not allowed"),
        (["session.service.port=1"], "'/session': additional properties 'service' not allowed"),
        (["session.replicas=0"], "'/session/replicas': minimum: got 0, want 1"),
        (["session.replicas=two"], "'/session/replicas': got string, want integer"),
        (["logLevel=loud"], "'/logLevel': value must be one of 'debug', 'info', 'warning', 'error'"),
        (["gateway.extraEnv.lower=1"], "'/gateway/extraEnv': additional properties 'lower' not allowed"),
        (["gateway.resources.limits=null"], "'/gateway/resources': missing property 'limits'"),
        (["gateway.resources.limits.memory=1GB"], "'/gateway/resources/limits/memory': '1GB' does not match"),
        (["gateway.autoscaling.cpuPercent=700"], "'/gateway/autoscaling/cpuPercent': maximum: got 700, want 100"),
        (["gateway.service.type=Public"], "'/gateway/service/type': value must be one of"),
        (["qdrant.url=qdrant:6334"], "'/qdrant/url': 'qdrant:6334' does not match pattern"),
        (["neo4j.url=http://neo4j"], "'/neo4j/url': 'http://neo4j' does not match pattern"),
        (["postgres.poolMax=1000"], "'/postgres/poolMax': maximum: got 1,000, want 200"),
        (["gateway.extraEgress[0].port=443"], "additional properties 'port' not allowed"),
        (["session.http.enabled=true"], "'/session': additional properties 'http' not allowed"),
        (["networkPolicy.gatewayFrom[0].pods=x"], "additional properties 'pods' not allowed"),
        (["metrics.port=80"], "'/metrics/port': minimum: got 80, want 1,024"),
        (["metrics.serviceMonitor.interval=30"], "'/metrics/serviceMonitor/interval': got number, want string"),
        (["metrics.rules.enabled=true"], "metrics.rules.enabled needs metrics.enabled"),
        (["secrets.name="], "secrets.name is required: the Secret with the services' secret"),
        (["qdrant.url="], "set qdrant.url, or episodic.replicas to 1 and episodic.autoscaling.enabled to false"),
        (["qdrant.url=", "episodic.replicas=1", "episodic.autoscaling.enabled=true"], "without qdrant.url the index"),
        (["qdrant.url=", "episodic.replicas=1", "qdrant.apiKey=true"], "qdrant.apiKey is true, but qdrant.url is"),
        (["tls.enabled=true"], "tls.enabled needs certificates: set tls.secretNames.gateway, or tls.certManager"),
        (["tls.certManager.enabled=true"], "tls.certManager.enabled needs tls.enabled"),
        (["tls.enabled=true", "tls.certManager.enabled=true"], "tls.certManager.issuerRef.name is required"),
        (["encryption.vault.address=http://vault:8200"], "'/encryption/vault/address': 'http://vault:8200' does not"),
        (["encryption.driver=kms"], "'/encryption/driver': value must be one of '', 'file', 'vault'"),
        (["encryption.driver=vault"], "encryption.driver chooses between encryption.keyFile and"),
        (
            ["engines.enabled=true", "secrets.name=", "qdrant.url=", "encryption.keyFile=true"],
            "leave encryption.keyFile false and encryption.vault.address empty",
        ),
        (["engines.enabled=true"], "leave secrets.name, qdrant.url and neo4j.url empty"),
        (["gateway.autoscaling.minReplicas=11"], "gateway.autoscaling.minReplicas (11) is above maxReplicas (10)"),
        (["drainSeconds=40"], "terminationGracePeriodSeconds must be at least 52"),
        (["gateway.extraEnv.MNEME_LISTEN=x"], "gateway.extraEnv.MNEME_LISTEN is set by the chart itself"),
    ],
    ids=lambda given: given[-1] if isinstance(given, list) else "",
)
def test_spec_8_3_mistakes_in_values_are_rejected_in_clear_words(chart: Chart, values: list[str], message: str) -> None:
    arguments = [part for value in values for part in ("--set", value)]
    result = chart.run("template", "m", str(CHART), "--kube-version=1.36", *VALID, *arguments)
    assert result.returncode == 1
    assert message in result.stderr


def test_the_values_that_the_rejected_ones_differ_from_are_accepted(chart: Chart) -> None:
    result = chart.run("template", "m", str(CHART), "--kube-version=1.36", *VALID)
    assert result.returncode == 0, result.stderr
