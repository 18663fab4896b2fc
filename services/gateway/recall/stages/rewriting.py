"""Stage rewrite: learned patterns applied to the query, such as "ML" to "machine learning".

The patterns are the user's procedures and those of the deployment's file (`gateway.rewriting.patterns_file`), which
hold for every user.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from annotated_types import Gt, Le
from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError, model_validator

from services.common.scope import Reader
from services.common.settings_file import SettingsError
from services.common.settings_types import Count, Share
from services.gateway.recall.model import AppliedPattern
from services.gateway.recall.patterns import NO_PATTERNS, Pattern, PatternKind, Patterns, expression_of

_TEXT_CHARS_MAX: Final = 200


@dataclass(frozen=True, slots=True)
class RewritingSettings:
    """Learned patterns of the deployment, and how patterns are applied."""

    patterns_file: str = ""  # TOML file of rewritings for every user; empty: there are none
    weight_min: Share = 0.6  # weight from which a pattern of the file is applied
    patterns_max: Count = 1_000  # patterns of a file
    query_chars_max: Count = 8_192  # a rewritten question; where it is longer, the question stays as it is
    applied_max: Count = 20  # patterns of other kinds than rewriting that one recall applies, the most confident


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A question after rewriting, and the patterns that it is for."""

    text: str
    applied: tuple[AppliedPattern, ...] = ()  # rewritings, in the order of their places in the question
    others: tuple[AppliedPattern, ...] = ()  # of other kinds, the most confident first


class FilePattern(BaseModel):
    """One rewriting of the file. A pattern with capitals is found as it is written, another one in any case."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    pattern: Annotated[str, StringConstraints(min_length=1, max_length=_TEXT_CHARS_MAX, pattern=r"[^\W_]")]
    """Words to look for."""
    replacement: Annotated[str, StringConstraints(max_length=_TEXT_CHARS_MAX)] = ""
    """What stands in their place."""
    expansion: Annotated[str, StringConstraints(max_length=_TEXT_CHARS_MAX)] = ""
    """What is added behind them."""
    weight: Annotated[float, Gt(0.0), Le(1.0)] = 1.0
    """How often it has helped."""

    @model_validator(mode="after")
    def _says_one_thing(self) -> FilePattern:
        if bool(self.replacement) == bool(self.expansion):
            raise ValueError("should have either a replacement or an expansion")
        return self

    @property
    def learned(self) -> Pattern:
        """The same as recalls use it."""
        action = self.replacement or self.expansion
        return Pattern(self.pattern, action, self.weight, expands=bool(self.expansion))


class _PatternFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    patterns: tuple[FilePattern, ...] = ()


class Rewriting:
    """The stage. A user's own patterns come before those of the deployment."""

    def __init__(self, deployment: Patterns = NO_PATTERNS, settings: RewritingSettings | None = None) -> None:
        """Applies the patterns of `deployment` to every query."""
        self._deployment = deployment
        self._settings = settings or RewritingSettings()

    def __call__(
        self, question: str, names: Sequence[str], patterns: Patterns, reader: Reader, *, only_rewriting: bool = False
    ) -> Rewritten:
        """Returns the question to ask, what changed it, and the other patterns that it is for.

        Args:
            question: As the caller wrote it.
            names: The user's speakers, which are left alone.
            patterns: The user's.
            reader: Which of them apply.
            only_rewriting: The task needs no procedures.
        """
        found = [*patterns.matching(question, reader), *self._deployment.matching(question, reader)]
        text, applied = _rewritten(question, names, [p for p in found if p.kind is PatternKind.QUERY_REWRITING])
        if not text.strip() or len(text) > self._settings.query_chars_max:
            text, applied = question, ()
        others = [] if only_rewriting else [p for p in found if p.kind is not PatternKind.QUERY_REWRITING]
        return Rewritten(text, applied, tuple(_applied(p, p.action) for p in others[: self._settings.applied_max]))


def open_patterns(settings: RewritingSettings) -> Patterns:
    """The patterns of the deployment.

    Raises:
        SettingsError: The file of patterns cannot be used.
    """
    if not settings.patterns_file:
        return NO_PATTERNS
    file = Path(settings.patterns_file)
    try:
        patterns = _PatternFile.model_validate(tomllib.loads(file.read_text("utf-8"))).patterns
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError([f"{file}: {error}"]) from error
    except ValidationError as error:
        places = (".".join(map(str, detail["loc"])) + f": {detail['msg']}" for detail in error.errors())
        raise SettingsError(f"{file}: {place}" for place in places) from error
    if len(patterns) > settings.patterns_max:
        raise SettingsError([f"{file}: has {len(patterns)} patterns, more than {settings.patterns_max}"])
    return Patterns.of(pattern.learned for pattern in patterns if pattern.weight >= settings.weight_min)


def _rewritten(
    question: str, names: Sequence[str], patterns: Sequence[Pattern]
) -> tuple[str, tuple[AppliedPattern, ...]]:
    """Each pattern is looked for in the question as it was asked, so that no result is rewritten again.

    Nothing is found inside the name of a speaker. Of overlapping patterns the first counts.
    """
    if not patterns:
        return question, ()
    taken = [match.span() for name in names if name.strip() for match in expression_of(name).finditer(question)]
    changes: list[tuple[int, int, AppliedPattern]] = []
    for pattern in patterns:
        for match in expression_of(pattern.trigger).finditer(question):
            if all(match.end() <= start or end <= match.start() for start, end in taken):
                taken.append(match.span())
                changes.append((*match.span(), _applied(pattern, pattern.applied_to(match[0]))))
    changes.sort(key=lambda change: change[0])
    for start, end, applied in reversed(changes):
        question = question[:start] + applied.replacement + question[end:]
    return question, tuple(applied for _, _, applied in changes)


def _applied(pattern: Pattern, replacement: str) -> AppliedPattern:
    return AppliedPattern(pattern.trigger, replacement, pattern.confidence, pattern.procedure_id, pattern.kind)
