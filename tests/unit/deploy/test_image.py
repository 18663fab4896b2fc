"""What the Dockerfile promises."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import distribution

import pytest

from tests.support.helm import ROOT
from tests.support.programs import find_program

DOCKERFILE = ROOT / "deploy" / "docker" / "Dockerfile"


def test_spec_8_3_the_linter_of_dockerfiles_has_no_complaint(request: pytest.FixtureRequest) -> None:
    hadolint = find_program("hadolint", request.config)
    linted = subprocess.run([hadolint, str(DOCKERFILE)], check=False, capture_output=True, text=True)
    assert (linted.returncode, linted.stdout) == (0, "")


def test_spec_8_3_the_image_runs_as_the_user_that_the_chart_names() -> None:
    text = DOCKERFILE.read_text("utf-8")
    final = text[text.rindex("FROM ") :]
    users = re.findall(r"^USER (\S+)$", final, re.MULTILINE)
    helpers = (ROOT / "deploy" / "helm" / "mneme" / "templates" / "_helpers.tpl").read_text("utf-8")
    user, group = (re.search(rf"runAs{who}: (\d+)", helpers) for who in ("User", "Group"))
    assert user is not None
    assert group is not None
    assert users == [f"{user[1]}:{group[1]}"]


def test_spec_8_3_everything_that_pip_brings_into_the_image_has_a_hash() -> None:
    installs = [line for line in DOCKERFILE.read_text("utf-8").splitlines() if "pip install" in line]
    assert installs
    for line in installs:
        assert "--require-hashes" in line or "--no-index" in line, line


def test_spec_8_3_the_bill_of_materials_names_every_package_once() -> None:
    printed = subprocess.run([sys.executable, str(DOCKERFILE.parent / "sbom.py")], check=True, capture_output=True)
    bill = json.loads(printed.stdout)
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    found = [entry["purl"] for entry in bill["components"]]
    assert found == sorted(set(found))
    assert f"pkg:pypi/grpcio@{distribution('grpcio').version}" in found
    assert not {name for name in found if name.startswith(("pkg:pypi/pip@", "pkg:pypi/setuptools@"))}
    ignored = (ROOT / ".dockerignore").read_text("utf-8").split()
    assert "!deploy/docker/sbom.py" in ignored, "the builder does not see the script"
