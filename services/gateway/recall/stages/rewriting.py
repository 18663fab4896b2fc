"""Stage rewrite: learned rewriting of questions, such as "ML" to "machine learning".

`QueryRewriter` is the port. Patterns that were learned elsewhere come as a file (`gateway.rewriting.patterns_file`);
without one, questions stay as they are.
"""

from __future__ import annotations

import asyncio
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Protocol

import structlog
from annotated_types import Gt, Le
from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError, model_validator

from services.common.errors import MnemeError
from services.common.settings_file import SettingsError
from services.common.settings_types import Count, PositiveShare, Share
from services.gateway.recall.model import AppliedPattern

_log = structlog.get_logger(__name__)

_TEXT_CHARS_MAX: Final = 200


@dataclass(frozen=True, slots=True)
class RewritingSettings:
    """Learned rewriting of questions."""

    patterns_file: str = ""  # TOML file of learned patterns; empty: questions stay as they are
    weight_min: Share = 0.6  # weight from which a pattern is applied
    patterns_max: Count = 1_000  # patterns of a file
    query_chars_max: Count = 8_192  # a rewritten question; where it is longer, the question stays as it is
    time_share: PositiveShare = 0.1  # of the time left; after it the question stays as it is


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A question after rewriting."""

    text: str
    applied: tuple[AppliedPattern, ...] = ()  # in the order of their places in the question


class QueryRewriter(Protocol):
    """Puts a question into words that find more."""

    async def rewrite(self, question: str, names: Sequence[str]) -> Rewritten:
        """Returns the question to ask, which may be the same, and what changed it.

        Args:
            question: As the caller wrote it.
            names: The user's speakers, which should be left alone.

        Raises:
            MnemeError: It cannot be done; the question is asked as it is.
        """
        ...


class SameQuestion:
    """Rewrites nothing; a `QueryRewriter`."""

    async def rewrite(self, question: str, names: Sequence[str]) -> Rewritten:
        """Returns the question."""
        del names
        return Rewritten(question)


class RewritePattern(BaseModel):
    """One learned rewriting. A pattern with capitals is found as it is written, another one in any case."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    pattern: Annotated[str, StringConstraints(min_length=1, max_length=_TEXT_CHARS_MAX)]
    """Words to look for."""
    replacement: Annotated[str, StringConstraints(max_length=_TEXT_CHARS_MAX)] = ""
    """What stands in their place."""
    expansion: Annotated[str, StringConstraints(max_length=_TEXT_CHARS_MAX)] = ""
    """What is added behind them."""
    weight: Annotated[float, Gt(0.0), Le(1.0)] = 1.0
    """How often it has helped."""

    @model_validator(mode="after")
    def _says_one_thing(self) -> RewritePattern:
        if bool(self.replacement) == bool(self.expansion):
            raise ValueError("should have either a replacement or an expansion")
        return self

    def applied_to(self, words: str) -> str:
        """What the found words become."""
        return self.replacement or f"{words} {self.expansion}"


class _PatternFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    patterns: tuple[RewritePattern, ...] = ()


class PatternRewriter:
    """Applies learned patterns, those of most weight first; a `QueryRewriter`.

    Each pattern is looked for in the question as it was asked, so that no result is rewritten again, and never inside
    the name of a speaker. Of overlapping ones the first counts.
    """

    def __init__(self, patterns: Sequence[RewritePattern], settings: RewritingSettings | None = None) -> None:
        """Applies those that weigh enough."""
        chosen = settings or RewritingSettings()
        heavy = [pattern for pattern in patterns if pattern.weight >= chosen.weight_min]
        ordered = sorted(heavy, key=lambda pattern: (-pattern.weight, -len(pattern.pattern), pattern.pattern))
        self._patterns = [(_compiled(pattern.pattern), pattern) for pattern in ordered]

    async def rewrite(self, question: str, names: Sequence[str]) -> Rewritten:
        """See `QueryRewriter.rewrite`."""
        taken = [match.span() for name in names if name.strip() for match in _compiled(name).finditer(question)]
        changes: list[tuple[int, int, AppliedPattern]] = []
        for expression, pattern in self._patterns:
            for match in expression.finditer(question):
                if all(match.end() <= start or end <= match.start() for start, end in taken):
                    taken.append(match.span())
                    applied = AppliedPattern(pattern.pattern, pattern.applied_to(match[0]), pattern.weight)
                    changes.append((*match.span(), applied))
        changes.sort(key=lambda change: change[0])
        for start, end, applied in reversed(changes):
            question = question[:start] + applied.replacement + question[end:]
        return Rewritten(question, tuple(applied for _, _, applied in changes))


class Rewriting:
    """The stage: a rewriter that is slow, fails or talks nonsense changes nothing."""

    def __init__(self, rewriter: QueryRewriter | None = None, settings: RewritingSettings | None = None) -> None:
        """Asks `rewriter`; none where None."""
        self._rewriter = rewriter or SameQuestion()
        self._settings = settings or RewritingSettings()

    async def __call__(self, question: str, names: Sequence[str], *, seconds_left: float) -> Rewritten:
        """Returns the question to ask, and what changed it."""
        try:
            async with asyncio.timeout(seconds_left * self._settings.time_share):
                rewritten = await self._rewriter.rewrite(question, names)
        except (MnemeError, TimeoutError) as error:
            _log.warning("question_not_rewritten", error=type(error).__name__)
            return Rewritten(question)
        is_usable = rewritten.text.strip() and len(rewritten.text) <= self._settings.query_chars_max
        return rewritten if is_usable else Rewritten(question)


def open_rewriter(settings: RewritingSettings) -> QueryRewriter:
    """The rewriter that the settings ask for.

    Raises:
        SettingsError: The file of patterns cannot be used.
    """
    if not settings.patterns_file:
        return SameQuestion()
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
    return PatternRewriter(patterns, settings)


def _compiled(words: str) -> re.Pattern[str]:
    escaped = r"\s+".join(map(re.escape, words.split()))
    flags = re.IGNORECASE if words == words.lower() else re.NOFLAG
    return re.compile(rf"(?<!\w){escaped}(?!\w)", flags)
