"""Writes kubeconform's schemas of Kubernetes' resources, from the OpenAPI document in the module k8s.io/kubernetes.

    python3 tools/kubernetes_schemas.py swagger.json FOLDER

Every file stands for itself, and fields that a resource does not have are errors.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

_PREFIX: Final = "#/definitions/"
_KINDS: Final = "x-kubernetes-group-version-kind"

# What the OpenAPI document calls a string, though numbers are allowed.
_EXCEPTIONS: Final[dict[str, dict[str, Any]]] = {
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {"type": ["string", "integer"]},
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {"type": ["string", "number"]},
}


def strict(definition: dict[str, Any]) -> dict[str, Any]:
    """The definition without texts, closed to fields that it does not name."""
    result = {
        key: value for key, value in definition.items() if key != "description" and not key.startswith("x-kubernetes")
    }
    if "properties" in result:
        result["properties"] = {name: strict(field) for name, field in result["properties"].items()}
        result.setdefault("additionalProperties", False)
    for key in ("items", "additionalProperties"):
        if isinstance(result.get(key), dict):
            result[key] = strict(result[key])
    result.pop("format", None)
    return result


def references(value: object) -> set[str]:
    """Names of the definitions that a schema refers to."""
    if isinstance(value, dict):
        own = {value["$ref"].removeprefix(_PREFIX)} if isinstance(value.get("$ref"), str) else set()
        return own.union(*(references(item) for item in value.values()))
    if isinstance(value, list):
        return set().union(*(references(item) for item in value))
    return set()


def standalone(name: str, definitions: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """A schema with all definitions that it needs."""
    needed: set[str] = set()
    pending = {name}
    while pending:
        needed |= pending
        pending = {found for one in pending for found in references(definitions[one])} - needed
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        **definitions[name],
        "definitions": {one: definitions[one] for one in sorted(needed - {name})},
    }


def write_schemas(swagger: Path, folder: Path) -> int:
    """Writes a file for each kind, named as kubeconform looks for it; returns their number."""
    document = json.loads(swagger.read_text("utf-8"))["definitions"]
    definitions = {name: _EXCEPTIONS.get(name) or strict(given) for name, given in document.items()}
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for name, given in document.items():
        kinds = given.get(_KINDS, [])
        if len(kinds) != 1:  # such as DeleteOptions, which belongs to every group
            continue
        schema = standalone(name, definitions)
        group, version, kind = (kinds[0][key] for key in ("group", "version", "kind"))
        properties = schema["properties"] = dict(schema["properties"])
        properties["apiVersion"] = {"const": f"{group}/{version}" if group else version}
        properties["kind"] = {"const": kind}
        suffix = "-".join(part for part in (group.partition(".")[0], version) if part)
        (folder / f"{kind.lower()}-{suffix}.json").write_text(json.dumps(schema, separators=(",", ":")), "utf-8")
        count += 1
    return count


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    written = write_schemas(Path(sys.argv[1]), Path(sys.argv[2]))
    if not written:
        sys.exit(f"{sys.argv[1]}: no kinds found")
