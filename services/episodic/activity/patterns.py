"""What records show again and again: pure functions."""

from __future__ import annotations

import re
import uuid
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, TypeVar

from services.episodic.activity.config import ActivityQuerySettings, PatternSettings
from services.episodic.activity.model import EDITING, MOVING, Edit, Pattern, PatternKind
from services.episodic.activity.store import FileChange, ToolOutcome
from services.episodic.activity.together import edited_together

_NAMESPACE: Final = uuid.UUID("6f0f2b52-3f0c-5a55-9d0e-2d3f6a6f7b10")
_NUMBER: Final = re.compile(r"[0-9]+")

_T = TypeVar("_T")
_K = TypeVar("_K", bound=Hashable)
_Pair = tuple[str, str]
_Tasks = dict[str, datetime]
"""Tasks by id, with the last time that each shows something."""


def learned(
    changes: Sequence[FileChange],
    outcomes: Sequence[ToolOutcome],
    settings: PatternSettings,
    queries: ActivityQuerySettings,
) -> list[Pattern]:
    """What is to be learned from the changed files and the tool executions of one user, each scope by itself."""
    found: list[Pattern] = []
    executions = _by(outcomes, lambda outcome: outcome.scope_key)
    for scope_key, of_scope in _by(changes, lambda change: change.scope_key).items():
        edits = [change for change in of_scope if change.operation in EDITING]
        found += _co_edits(scope_key, edits, queries)
        found += _error_fixes(scope_key, edits, executions.get(scope_key, []), settings)
        found += _refactorings(scope_key, of_scope, settings)
    chosen: list[Pattern] = []
    for kind in PatternKind:
        ranked = sorted(
            (one for one in found if one.kind is kind and one.confidence >= settings.confidence_min),
            key=lambda one: (-one.confidence, -one.observed_count, one.pattern_id),
        )
        chosen += ranked[: settings.per_kind_max]
    return chosen


def error_signature(message: str, *, chars_max: int) -> str:
    """What is equal in two errors of one kind: the first line with words, without its numbers."""
    lines = (line.strip() for line in message.splitlines())
    first = next((line for line in lines if any(char.isalpha() for char in line)), "")
    return _NUMBER.sub("#", " ".join(first[: 4 * chars_max].split()))[:chars_max]


def folder_of(path: str) -> str:
    """The folder of a path; empty for the root."""
    return path.replace("\\", "/").rpartition("/")[0]


def _co_edits(scope_key: str, edits: Sequence[FileChange], queries: ActivityQuerySettings) -> list[Pattern]:
    pairs = edited_together(
        [Edit(edit.task_id, edit.path, edit.time) for edit in edits],
        within_seconds=queries.edited_within_seconds,
        count_min=queries.edited_count_min,
        burst_files_max=queries.burst_files_max,
    )
    tasks_of: dict[str, set[str]] = defaultdict(set)
    first: dict[str, datetime] = {}
    for edit in edits:
        tasks_of[edit.path].add(edit.task_id)
        first[edit.path] = min(edit.time, first.get(edit.path, edit.time))
    return [
        _pattern(
            PatternKind.CO_EDIT,
            scope_key,
            (pair.path, pair.other_path),
            observed=pair.task_count,
            contrary=len(tasks_of[pair.path] | tasks_of[pair.other_path]) - pair.task_count,
            first_time=max(first[pair.path], first[pair.other_path]),
            last_time=pair.last_time,
        )
        for pair in pairs
    ]


def _error_fixes(
    scope_key: str, edits: Sequence[FileChange], outcomes: Sequence[ToolOutcome], settings: PatternSettings
) -> list[Pattern]:
    """Files that were edited between an error of a tool and its next success in the same task."""
    edits_of = _by(edits, lambda edit: edit.task_id)
    occurred: dict[_Pair, _Tasks] = defaultdict(dict)
    fixed: dict[tuple[str, str, str], _Tasks] = defaultdict(dict)
    within = timedelta(seconds=settings.fix_within_seconds)
    for (task_id, tool), executions in _by(outcomes, lambda outcome: (outcome.task_id, outcome.tool_name)).items():
        failures: list[tuple[str, datetime]] = []
        for outcome in sorted(executions, key=lambda one: one.time):
            if not outcome.success:
                error = error_signature(outcome.error_message, chars_max=settings.error_chars_max)
                if error:
                    occurred[tool, error][task_id] = outcome.time
                    failures.append((error, outcome.time))
                continue
            for error, time in failures:
                for edit in edits_of.get(task_id, []):
                    if time <= edit.time <= outcome.time <= time + within:
                        fixed[tool, error, edit.path][task_id] = outcome.time
            failures = []
    return [
        _pattern(
            PatternKind.ERROR_FIX,
            scope_key,
            (path,),
            observed=len(tasks),
            contrary=len(occurred[tool, error]) - len(tasks),
            first_time=min(tasks.values()),
            last_time=max(tasks.values()),
            tool_name=tool,
            error=error,
        )
        for (tool, error, path), tasks in fixed.items()
        if len(tasks) >= settings.observed_min
    ]


def _refactorings(scope_key: str, changes: Sequence[FileChange], settings: PatternSettings) -> list[Pattern]:
    """Files that were edited after files of a folder were renamed or deleted in the same task."""
    occurred: dict[str, set[str]] = defaultdict(set)
    followed: dict[_Pair, _Tasks] = defaultdict(dict)
    within = timedelta(seconds=settings.refactor_within_seconds)
    for task_id, of_task in _by(changes, lambda change: change.task_id).items():
        moves = [change for change in of_task if change.operation in MOVING]
        edits = [change for change in of_task if change.operation in EDITING]
        for move in moves:
            folder = folder_of(move.previous_path or move.path)
            occurred[folder].add(task_id)
            for edit in edits:
                is_other = edit.path not in (move.path, move.previous_path)
                if is_other and move.time <= edit.time <= move.time + within:
                    followed[folder, edit.path][task_id] = edit.time
    return [
        _pattern(
            PatternKind.REFACTOR,
            scope_key,
            (path,),
            observed=len(tasks),
            contrary=len(occurred[folder]) - len(tasks),
            first_time=min(tasks.values()),
            last_time=max(tasks.values()),
            folder=folder,
        )
        for (folder, path), tasks in followed.items()
        if len(tasks) >= settings.observed_min
    ]


def _pattern(
    kind: PatternKind,
    scope_key: str,
    paths: tuple[str, ...],
    *,
    observed: int,
    contrary: int,
    first_time: datetime,
    last_time: datetime,
    tool_name: str = "",
    error: str = "",
    folder: str = "",
) -> Pattern:
    identity = "\x1e".join((str(int(kind)), scope_key, *paths, tool_name, error, folder))
    return Pattern(
        pattern_id=str(uuid.uuid5(_NAMESPACE, identity)),
        kind=kind,
        scope_key=scope_key,
        paths=paths,
        observed_count=observed,
        contrary_count=contrary,
        first_time=min(first_time, last_time),
        last_time=last_time,
        tool_name=tool_name,
        error=error,
        folder=folder,
    )


def _by(items: Iterable[_T], key: Callable[[_T], _K]) -> Mapping[_K, list[_T]]:
    grouped: dict[_K, list[_T]] = defaultdict(list)
    for item in items:
        grouped[key(item)].append(item)
    return grouped
