"""The chart's README describes every value, with its default."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from tests.support.helm import CHART, SERVICES, parse


def test_every_value_is_described() -> None:
    values = parse((CHART / "values.yaml").read_text("utf-8"))[0]
    expected = dict(_leaves({key: value for key, value in values.items() if key not in SERVICES}))
    for service in SERVICES:
        for path, value in _leaves(values[service]):
            common = all(_at(values[other], path) == value for other in SERVICES)
            only = path.startswith(("service.", "http."))
            expected[f"{service if only else 'SERVICE'}.{path}"] = value if only or common else None
    readme = (CHART / "README.md").read_text("utf-8")
    rows = re.findall(r"^\| `([\w.]+)` \| (.*?) \| .+ \|$", readme, re.MULTILINE)
    described = {path: None if text == "see below" else json.loads(text.strip("`")) for path, text in rows}
    assert described == expected
    table = {
        row[0]: row[1:]
        for row in re.findall(r"^\| (\w+) \| (\d+) \| (\S+) \| (\S+) \| (\S+) \| (\d+) \|$", readme, re.M)
    }
    for service in SERVICES:
        own = values[service]
        requests, limits = own["resources"]["requests"], own["resources"]["limits"]
        most = str(own["autoscaling"]["maxReplicas"])
        assert table[service] == (str(own["replicas"]), requests["cpu"], requests["memory"], limits["memory"], most)


def _leaves(values: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, object]]:
    for key, value in values.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _at(values: dict[str, Any], path: str) -> object:
    found: Any = values
    for part in path.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found
