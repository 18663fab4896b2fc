"""What compose.yaml promises: everything is watched, pinned and limited, and no secret is written in it."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import SecretStr

from services.common.hosting import HostSettings
from tests.support.programs import find_program

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "deploy" / "compose"
COMPOSE: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text("utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]

OWN = ("gateway", "session", "episodic", "semantic", "agentic")
TIERS = OWN[1:]
ONE_SHOT = ("migrate", "keys")


def environment(service: str) -> dict[str, str]:
    given: dict[str, str] = SERVICES[service].get("environment", {})
    return given


def secrets_of(service: str) -> set[str]:
    return {s if isinstance(s, str) else s["source"] for s in SERVICES[service].get("secrets", [])}


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_spec_8_2_every_service_is_watched_or_ends(name: str) -> None:
    check = SERVICES[name]["healthcheck"]
    if name in ONE_SHOT:
        assert check == {"disable": True}
        assert SERVICES[name]["restart"] == "no"
    else:
        assert check["test"][0] in {"CMD", "CMD-SHELL"}
        assert {"interval", "timeout", "retries", "start_period"} <= check.keys()
        assert SERVICES[name]["restart"] == "unless-stopped"


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_spec_8_3_services_are_limited_and_pinned(name: str) -> None:
    service = SERVICES[name]
    assert {"cpus", "memory"} <= service["deploy"]["resources"]["limits"].keys()
    assert "no-new-privileges:true" in service["security_opt"]
    image, _, tag = service["image"].partition(":")
    assert re.search(r"\d", tag), f"{image} is not pinned"
    assert "." not in image, "a registry's host name ties the file to one place"
    if name in OWN or name in ONE_SHOT:
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]


def test_spec_8_3_services_wait_for_what_they_use() -> None:
    for name, service in SERVICES.items():
        for other, how in service.get("depends_on", {}).items():
            expected = "service_completed_successfully" if other in ONE_SHOT else "service_healthy"
            assert how == {"condition": expected}, f"{name} waits for {other}"
    assert set(TIERS) <= SERVICES["gateway"]["depends_on"].keys()
    for name in ("gateway", "episodic", "semantic", "agentic"):
        assert "migrate" in SERVICES[name]["depends_on"]


def test_spec_8_1_every_service_has_metrics_that_no_port_publishes() -> None:
    for name in OWN:
        variables = environment(name)
        assert variables["MNEME_METRICS_LISTEN"] == "0.0.0.0:9464", name
        assert not any("9464" in port for port in SERVICES[name].get("ports", []))


def test_every_variable_is_a_setting() -> None:
    read_by_entrypoint = _variables_with_files()
    for name in (*OWN, *ONE_SHOT):
        for variable in environment(name):
            setting = variable.removeprefix("MNEME_").lower()
            is_file_of = variable.removesuffix("_FILE")
            known = setting in HostSettings.model_fields or is_file_of in read_by_entrypoint
            assert variable.startswith("MNEME_"), variable
            assert known, f"{name}: {variable} is no setting"


def test_what_the_entrypoint_reads_from_files_are_settings() -> None:
    for variable in _variables_with_files():
        assert variable.removeprefix("MNEME_").lower() in HostSettings.model_fields


def test_spec_8_3_every_secret_can_be_given_to_a_container_as_a_file() -> None:
    secrets = {
        name
        for name, field in HostSettings.model_fields.items()
        if field.annotation is SecretStr or re.fullmatch(r"(postgres|session_store)_(\w+_)?url", name)
    }
    assert len(secrets) >= 8
    known = HostSettings.model_fields.keys() | {f"{name[6:].lower()}_file" for name in _variables_with_files()}
    assert {f"{name}_file" for name in secrets} <= known


def test_no_secret_is_written_in_the_file() -> None:
    for name in SERVICES:
        for variable, value in environment(name).items():
            if re.search("SECRET|PASSWORD|AUTH|KEY", variable):
                assert variable.endswith("_FILE"), f"{name}: {variable}"
            assert not re.search("://[^/]*@", str(value)), f"{name}: {variable} holds a credential"
    for name, secret in COMPOSE["secrets"].items():
        assert secret == {"file": f"secrets/{name}"}
    ignored = (FOLDER / ".gitignore").read_text("utf-8").split()
    assert "secrets/" in ignored


def test_services_see_no_secret_that_they_do_not_use() -> None:
    for name, service in SERVICES.items():
        used = set(re.findall(r"/run/secrets/(\w+)", str(service)))
        if name == "postgres":
            used |= set(re.findall(r"/run/secrets/(\w+)", (FOLDER / "postgres" / "roles.sh").read_text("utf-8")))
        mounted_elsewhere = {s["source"] for s in service.get("secrets", []) if isinstance(s, dict)}
        assert secrets_of(name) == used | mounted_elsewhere, name
    assert [name for name in SERVICES if "postgres_owner_url" in secrets_of(name)] == ["migrate"]
    assert {secret for name in SERVICES for secret in secrets_of(name)} == COMPOSE["secrets"].keys()


def test_the_gateway_alone_is_published_and_on_loopback() -> None:
    published = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert published.keys() == {"gateway", "jaeger"}
    assert all(port.startswith("127.0.0.1:") for ports in published.values() for port in ports)
    assert COMPOSE["networks"]["engines"]["internal"] is True
    for name in SERVICES.keys() - published.keys() - {"keys"}:
        assert SERVICES[name]["networks"] == ["engines"], name
    assert SERVICES["keys"]["network_mode"] == "none"


def test_spec_7_1_tiers_serve_the_gateway_alone_and_the_gateway_asks_for_keys() -> None:
    for tier in TIERS:
        assert environment(tier)["MNEME_SIGNED_IDENTITIES_ONLY"] == "true"
    assert "MNEME_SIGNED_IDENTITIES_ONLY" not in environment("gateway")
    assert environment("gateway")["MNEME_API_KEYS_FILE"] == "/var/lib/mneme/api-keys.json"
    assert "api-keys:/var/lib/mneme:ro" in SERVICES["gateway"]["volumes"]


def test_named_volumes_are_declared() -> None:
    named = {
        volume.split(":")[0]
        for service in SERVICES.values()
        for volume in service.get("volumes", [])
        if not volume.startswith(".")
    }
    assert named == COMPOSE["volumes"].keys()


def test_spec_8_3_the_parser_of_compose_reads_the_file(request: pytest.FixtureRequest) -> None:
    parser = find_program("compose-spec", request.config)
    command = [parser, "-format=json", str(FOLDER / "compose.yaml")]
    given = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
    parsed = subprocess.run(command, check=False, capture_output=True, text=True, env=given)
    assert parsed.returncode == 0, parsed.stderr
    model = json.loads(parsed.stdout)
    assert model["services"].keys() >= {*OWN, "migrate"}
    assert [port["published"] for port in model["services"]["gateway"]["ports"]] == ["7700", "7780"]
    # Anchors and merges mean the same to it as to the other tests here.
    for name in OWN:
        plain = {variable: value for variable, value in environment(name).items() if "${" not in value}
        assert plain.items() <= model["services"][name]["environment"].items()


def test_the_parser_of_compose_finds_mistakes(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    parser = find_program("compose-spec", request.config)
    wrong = tmp_path / "compose.yaml"
    wrong.write_text((FOLDER / "compose.yaml").read_text("utf-8").replace("read_only: true", "readonly: true"), "utf-8")
    parsed = subprocess.run([parser, str(wrong)], check=False, capture_output=True, text=True)
    assert parsed.returncode == 1
    assert "readonly" in parsed.stderr


@pytest.mark.skipif(not Path("/dev/urandom").exists(), reason="init.sh draws its secrets from /dev/urandom")
def test_init_makes_every_secret_once(tmp_path: Path) -> None:
    script = tmp_path / "init.sh"
    script.write_bytes((FOLDER / "init.sh").read_bytes())
    compose = tmp_path / "compose"  # stands for the program: says what it is asked, and that there is no key yet
    compose.write_text('#!/bin/sh\necho "$*" >>"$(dirname "$0")/calls"\n', "utf-8")
    compose.chmod(0o755)

    def init() -> dict[str, bytes]:
        environment = {"PATH": "/usr/bin:/bin", "COMPOSE": str(compose)}
        subprocess.run(["bash", str(script), "acme", "app"], check=True, env=environment, capture_output=True)
        return {file.name: file.read_bytes() for file in (tmp_path / "secrets").iterdir()}

    made = init()
    assert made.keys() == COMPOSE["secrets"].keys()
    assert all(made.values())
    assert len(made["service_secret"]) >= 32
    assert made["postgres_app_password"] in made["postgres_url"]
    assert made["redis_password"] in made["redis_config"]
    assert made["neo4j_auth"] == b"neo4j/" + made["neo4j_password"]
    assert (tmp_path / "secrets").stat().st_mode & 0o777 == 0o700
    assert init() == made
    assert "run --rm -T keys create --tenant acme --name app" in (tmp_path / "calls").read_text("utf-8")


def _variables_with_files() -> set[str]:
    script = (ROOT / "deploy" / "docker" / "entrypoint.sh").read_text("utf-8")
    loop = re.search(r"for name in (.*?); do", script, re.DOTALL)
    assert loop is not None
    return set(re.findall(r"MNEME_\w+", loop.group(1)))
