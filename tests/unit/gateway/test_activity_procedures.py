"""Procedures made of patterns of the activity log."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from mneme.common.v1 import common_pb2
from mneme.episodic.internal.v1 import activity_internal_pb2
from mneme.episodic.v1 import activity_pb2 as pb
from mneme.semantic.internal.v1 import semantic_pb2
from mneme.semantic.v1 import procedures_pb2
from services.gateway.activity_procedures import ActivityProcedures, observed_procedures
from services.gateway.upstream import Upstream

PAIR = pb.ActivityPattern(
    kind=pb.ACTIVITY_PATTERN_KIND_CO_EDIT,
    paths=["src/app.py", "tests/test_app.py"],
    confidence=0.8,
    observed_count=3,
    scope=common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_PROJECT, project_id="shop"),
)


def test_spec_3_9_patterns_of_coding_agents_as_procedures() -> None:
    fix = pb.ActivityPattern(
        kind=pb.ACTIVITY_PATTERN_KIND_ERROR_FIX,
        paths=["src/app.py"],
        tool_name="pytest",
        error="builtins.ImportError: line #",
        observed_count=2,
        contrary_count=1,
    )
    plain = pb.ActivityPattern(
        kind=pb.ACTIVITY_PATTERN_KIND_ERROR_FIX, paths=["Makefile"], tool_name="make", error="", observed_count=2
    )
    moved = pb.ActivityPattern(
        kind=pb.ACTIVITY_PATTERN_KIND_REFACTOR, paths=["src/app.py"], folder="src/auth", observed_count=2
    )
    found = observed_procedures([PAIR, fix, plain, moved])
    assert [(procedures_pb2.ProcedureKind.Name(one.kind)[15:], one.trigger, one.action) for one in found] == [
        ("CO_EDIT", "app.py", "Edit tests/test_app.py together with src/app.py."),
        ("CO_EDIT", "test_app.py", "Edit src/app.py together with tests/test_app.py."),
        ("ERROR_FIX", "ImportError", 'When pytest fails with "builtins.ImportError: line #": edit src/app.py.'),
        ("ERROR_FIX", "make", "When make fails: edit Makefile."),
        ("REFACTOR", "auth", "After files of src/auth are renamed or deleted, edit src/app.py."),
    ]
    assert {(one.observed_count, one.contrary_count) for one in found} == {(3, 0), (2, 1), (2, 0)}
    assert found[0].scope.project_id == "shop"
    nameless = pb.ActivityPattern(kind=pb.ACTIVITY_PATTERN_KIND_ERROR_FIX, paths=["a"], tool_name="?!")
    assert observed_procedures([nameless]) == [], "a trigger without a word is for every query"


class Log:
    """An activity log whose patterns are erased while they are stored as procedures."""

    def __init__(self, *shown: list[pb.ActivityPattern]) -> None:
        self.shown = list(shown)
        self.stored: list[int] = []

    async def list_owner_patterns(self, *_: object, **__: object) -> Any:
        patterns = self.shown.pop(0) if len(self.shown) > 1 else self.shown[0]
        return activity_internal_pb2.ListOwnerPatternsResponse(patterns=patterns)

    async def observe_procedures(
        self, _principal: object, request: semantic_pb2.ObserveProceduresRequest, **_: object
    ) -> Any:
        self.stored.append(len(request.procedures))
        return semantic_pb2.ObserveProceduresResponse(changed_count=1)


async def test_patterns_that_go_while_they_are_stored_go_as_procedures_too() -> None:
    log, changed = Log([PAIR], []), []
    upstream = cast("Upstream", SimpleNamespace(episodic=log, profile=log))
    learning = ActivityProcedures(upstream, on_change=lambda *owner: changed.append(owner))
    assert await learning.learn("acme", "ada")
    assert log.stored == [2, 0]
    assert changed == [("acme", "ada")]
