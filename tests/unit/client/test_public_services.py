"""The clients in Go, TypeScript and Java reach every public service that the gateway serves."""

from __future__ import annotations

import importlib
import re
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path

from google.protobuf import descriptor_pool
from google.protobuf.descriptor import ServiceDescriptor

from services.gateway.door import TIER_SERVICES

ROOT = Path(__file__).resolve().parents[3]
CLIENTS = ROOT / "clients"
GENERATED = ROOT / "proto" / "gen"
MEMORY_SERVICE = "mneme.gateway.v1.MemoryService"

GO_IMPORT = re.compile(r'^\t(\w+) "github\.com/mneme-ai/mneme/clients/go/mneme/(\w+)/v1"$', re.MULTILINE)
GO_FIELD = re.compile(r"^\t[A-Z]\w* +(\w+)\.(\w+)Client$", re.MULTILINE)
GO_VALUE = re.compile(r"^\t\t[A-Z]\w*: +(\w+)\.New(\w+)Client\(connection\),$", re.MULTILINE)
TYPESCRIPT_IMPORT = re.compile(r'^import \{ (\w+) \} from "\.\./gen/mneme/(\w+)/v1/\w+_pb\.js";$', re.MULTILINE)
TYPESCRIPT_FIELD = re.compile(r"^  readonly \w+: Client<typeof (\w+)>;$", re.MULTILINE)
TYPESCRIPT_VALUE = re.compile(r"^    this\.\w+ = createClient\((\w+), transport\);$", re.MULTILINE)
JAVA_METHOD = re.compile(r"^  public (?:ResponseStream<)?(\w+)Response>? (\w+)\(", re.MULTILINE)


def descriptor(full_name: str) -> ServiceDescriptor:
    return descriptor_pool.Default().FindServiceByName(full_name)


def served() -> Counter[str]:
    """Full names of the services of the tiers that the gateway passes on, and of its own."""
    names = [service.full_name for service in TIER_SERVICES]
    for path in sorted((GENERATED / "mneme" / "gateway" / "v1").glob("*_pb2.py")):
        module = importlib.import_module(".".join(path.relative_to(GENERATED).with_suffix("").parts))
        names += [service.full_name for service in module.DESCRIPTOR.services_by_name.values()]
    return Counter(names)


def test_spec_9_2_the_go_client_has_a_field_for_every_service() -> None:
    source = (CLIENTS / "go" / "client.go").read_text("utf-8")
    tiers = dict(GO_IMPORT.findall(source))
    for pattern in (GO_FIELD, GO_VALUE):
        assert Counter(f"mneme.{tiers[package]}.v1.{name}" for package, name in pattern.findall(source)) == served()


def test_spec_9_2_the_typescript_client_has_a_property_for_every_service() -> None:
    source = (CLIENTS / "typescript" / "src" / "client.ts").read_text("utf-8")
    tiers = dict(TYPESCRIPT_IMPORT.findall(source))
    for pattern in (TYPESCRIPT_FIELD, TYPESCRIPT_VALUE):
        assert Counter(f"mneme.{tiers[name]}.v1.{name}" for name in pattern.findall(source)) == served()


def test_spec_9_2_the_java_client_has_the_stubs_of_every_service() -> None:
    # It has no fields: `call`, `stream` and `streamRequests` take the descriptors of the generated code.
    pom = (CLIENTS / "java" / "pom.xml").read_text("utf-8")
    included, excluded = (re.findall(rf"<{name}>([^<]+)</{name}>", pom) for name in ("include", "exclude"))
    for full_name in served():
        file = descriptor(full_name).file.name
        assert any(fnmatchcase(file, pattern) for pattern in included), file
        assert not any(fnmatchcase(file, pattern) for pattern in excluded), file


def test_spec_9_2_the_java_client_has_a_method_for_every_call_on_memories() -> None:
    source = (CLIENTS / "java/src/main/java/ai/mneme/client/MnemeClient.java").read_text("utf-8")
    names = [method.name for method in descriptor(MEMORY_SERVICE).methods]
    assert sorted(JAVA_METHOD.findall(source)) == sorted((name, name[:1].lower() + name[1:]) for name in names)
