"""The alerts and dashboards of the chart."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import yaml

from tests.support.helm import CHART

RULES: Final = CHART / "files" / "rules.yaml"
DASHBOARDS: Final = tuple(sorted((CHART / "files" / "dashboards").glob("*.json")))

_TARGET_LABELS: Final = frozenset({"namespace", "job", "instance", "le"})
"""Labels that Prometheus adds, and that of buckets."""
_METRIC: Final = re.compile(r"\b((?:mneme|rpc|process|python|target)_\w+)(?:\{([^}]*)\})?(?=[\[\s)]|$)")
_GROUPED: Final = re.compile(r"\b(?:by|on|ignoring|without) \(([\w, ]*)\)")


def alerts() -> dict[str, dict[str, Any]]:
    """Alerts by name."""
    groups = yaml.safe_load(RULES.read_text("utf-8"))["groups"]
    return {rule["alert"]: rule for group in groups for rule in group["rules"]}


def panels() -> Iterator[tuple[str, str]]:
    """Title and query of each panel, with a range in place of Grafana's variable."""
    for file in DASHBOARDS:
        board = json.loads(file.read_text("utf-8"))
        for panel in board["panels"]:
            for target in panel.get("targets", ()):
                query = target["expr"].replace("$__rate_interval", "5m").replace("$namespace", ".*")
                yield f"{board['title']}: {panel['title']}", query


def queries() -> Iterator[tuple[str, str]]:
    """Names and queries of all alerts and panels."""
    yield from ((name, alert["expr"]) for name, alert in alerts().items())
    yield from panels()


def series_of(query: str) -> dict[str, set[str]]:
    """The series that a query reads, each with the labels that are matched on it."""
    found: dict[str, set[str]] = {}
    for name, matchers in _METRIC.findall(_GROUPED.sub(" ", query)):
        labels = set(re.findall(r"(\w+)\s*(?:=|!=|=~|!~)\s*\"", matchers))
        found.setdefault(name, set()).update(labels - _TARGET_LABELS)
    return found


def grouping_of(query: str) -> set[str]:
    """Labels that a query groups or joins by, without those that Prometheus adds."""
    named = ",".join(_GROUPED.findall(query))
    return {label.strip() for label in named.split(",") if label.strip()} - _TARGET_LABELS
