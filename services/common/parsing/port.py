"""The port of the parser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from services.common.parsing.model import ParsedText
from services.common.settings_types import Count, Seconds


class ParserError(Exception):
    """Root of the errors of this package. Carries no text that a user wrote."""


class ParserMissingError(ParserError):
    """No pipeline is configured, or its package or weights are absent or unusable: trying again does not help."""


class ParserFailedError(ParserError):
    """The parser is busy, was stopped or did not finish in time; try again later."""


@dataclass(frozen=True, slots=True)
class ParserSettings:
    """How texts are parsed."""

    chars_max: Count = 8_000
    """Length of a text: what is longer is cut."""
    batch_texts: Count = 32
    """Texts parsed in one run of the pipeline; callers take turns between runs."""
    batch_chars: Count = 8_000
    """Characters of all texts of a run; one longer text is a run of its own."""
    waiting_texts_max: Count = 4_096
    """Texts that may wait; more are refused."""
    timeout_seconds: Seconds = 60.0
    """For one run; then the process is killed and started anew. A busy machine gives it little: its priority is low."""
    load_timeout_seconds: Seconds = 180.0
    """For the start of the process and the loading of the weights."""


class Parser(Protocol):
    """Parses texts."""

    async def parse(self, texts: Sequence[str]) -> list[ParsedText]:
        """Each text, parsed, in order. The result depends on the text alone.

        Raises:
            ParserMissingError: There is no pipeline to parse with: the caller goes by rules over the plain text.
            ParserFailedError: It is busy, stopped, or took too long.
        """
        ...

    async def aclose(self) -> None:
        """Stop it. Calls under way fail."""
        ...


class NoParser:
    """A parser where none is configured."""

    async def parse(self, texts: Sequence[str]) -> list[ParsedText]:  # noqa: ARG002
        """Raises `ParserMissingError`."""
        raise ParserMissingError("no parser is configured")

    async def aclose(self) -> None:
        """Nothing is to be stopped."""
