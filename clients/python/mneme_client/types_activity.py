"""Enums of the activity log of coding agents."""

from __future__ import annotations

from mneme_client.enums import WireEnum


class FileOperation(WireEnum):
    """What was done with a file."""

    UNSPECIFIED = 0
    READ = 1
    WRITE = 2
    EDIT = 3
    SEARCH = 4
    ANALYZE = 5
    RENAME = 6
    DELETE = 7


class TaskIntent(WireEnum):
    """What a task of a coding agent is for."""

    UNSPECIFIED = 0
    CODE_READING = 1
    CODE_WRITING = 2
    PROJECT_FIXING = 3
    PROJECT_EXPLORATION = 4


class TaskStatus(WireEnum):
    """Where a task of a coding agent stands."""

    UNSPECIFIED = 0
    ACTIVE = 1
    COMPLETED = 2
    FAILED = 3
    PAUSED = 4


class LearningKind(WireEnum):
    """What a learning of a coding agent is about."""

    UNSPECIFIED = 0
    FILE_PURPOSE = 1
    COMMON_ERROR = 2
    WORKFLOW = 3


class ActivityPatternKind(WireEnum):
    """What a pattern of the activity log says."""

    UNSPECIFIED = 0
    CO_EDIT = 1
    ERROR_FIX = 2
    REFACTOR = 3


class ActivityMatch(WireEnum):
    """Why a record of the activity log was found."""

    UNSPECIFIED = 0
    PATH = 1
    WORDS = 2
    TASK = 3
