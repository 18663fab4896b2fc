"""The Helm chart, rendered with the value sets in its folder ci."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.support.programs import find_program

ROOT: Final = Path(__file__).resolve().parents[2]
CHART: Final = ROOT / "deploy" / "helm" / "mneme"
VALUE_SETS: Final = tuple(sorted(file.stem for file in (CHART / "ci").glob("*.yaml")))
SERVICES: Final = ("gateway", "session", "episodic", "semantic", "agentic")
TIERS: Final = SERVICES[1:]
ENGINES: Final = ("postgres", "redis", "qdrant", "neo4j")
KUBERNETES: Final = "1.36"

Manifest = dict[str, Any]


@functools.cache
def _rendered(helm: str, name: str, version: str) -> str:
    values = CHART / "ci" / f"{name}.yaml"
    command = [helm, "template", "m", str(CHART), "--namespace=memory", f"--values={values}", "--kube-version", version]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Chart:
    """Renders the chart with one program."""

    def __init__(self, helm: str) -> None:
        """Keeps the path of Helm."""
        self.helm = helm

    def text(self, name: str, version: str = KUBERNETES) -> str:
        """The manifests of a value set, as Helm prints them."""
        return _rendered(self.helm, name, version)

    def manifests(self, name: str) -> list[Manifest]:
        """The manifests of a value set."""
        return parse(self.text(name))

    def one(self, name: str, kind: str, component: str) -> Manifest:
        """The only manifest of a kind for a component."""
        found = [m for m in self.manifests(name) if m["kind"] == kind and component_of(m["metadata"]) == component]
        assert len(found) == 1, f"{len(found)} of kind {kind} for {component}"
        return found[0]

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs Helm, whatever its exit code."""
        return subprocess.run([self.helm, *arguments], check=False, capture_output=True, text=True)


@pytest.fixture(scope="session")
def chart(request: pytest.FixtureRequest) -> Chart:
    """The chart, with Helm to render it."""
    return Chart(find_program("helm", request.config))


def parse(text: str) -> list[Manifest]:
    """Manifests of a YAML stream."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return [manifest for manifest in yaml.load_all(text, Loader=loader) if manifest]


def component_of(metadata: Mapping[str, Any]) -> str:
    """The component that a manifest's labels name."""
    return str(metadata["labels"]["app.kubernetes.io/component"])


def pods(manifests: list[Manifest]) -> Iterator[tuple[str, Manifest]]:
    """Component and pod (metadata and spec) of everything that runs pods."""
    for manifest in manifests:
        if manifest["kind"] == "Pod":
            yield component_of(manifest["metadata"]), manifest
        elif manifest["kind"] in {"Deployment", "StatefulSet", "Job"}:
            template = manifest["spec"]["template"]
            yield component_of(template["metadata"]), template
