"""The process that compares: `python -m services.common.comparing.worker SECONDS`. It ends when its input does.

SECONDS is how long it holds what it read of a statement, so that erased words leave its memory. Requests are
`{"pairs": [[earlier, later], ...]}` or `{"texts": [...]}`, a statement of a pair is
`[text, speaker, is announced, day or null]`. Responses are `{"found": [...]}`, with relations or lists of words, or
`{"failed": kind of the error}`.
"""

from __future__ import annotations

import contextlib
import select
import sys
import time
from collections.abc import Sequence
from datetime import date
from typing import Any, BinaryIO, Final

from services.common.priority import lower_priority
from services.common.text_cache import clear_text_caches
from services.common.values.holding import Said, supersedes
from services.common.values.keys import statement_keys
from services.common.workers.frames import read_frame, write_frame

_NICE: Final = 5
"""Requests come before what is derived from them."""


def answer(request: dict[str, Any]) -> list[Any]:
    """The response to a request."""
    if "texts" in request:
        return [sorted(statement_keys(text)) for text in request["texts"]]
    return [supersedes(_said(earlier), _said(later)).value for earlier, later in request["pairs"]]


def main(texts_seconds: float) -> None:
    """Compare what arrives on standard input."""
    lower_priority(_NICE)
    requests, responses = sys.stdin.buffer, sys.stdout.buffer
    write_frame(responses, {})
    with contextlib.suppress(EOFError, BrokenPipeError):
        cleared = time.monotonic()
        while True:
            # A request comes only after the response to the last one, so nothing waits in the buffer.
            left = cleared + texts_seconds - time.monotonic()
            if left <= 0 or not _arrives(requests, left):
                clear_text_caches()
                cleared = time.monotonic()
            else:
                write_frame(responses, _answered(read_frame(requests)))


def _answered(request: dict[str, Any]) -> dict[str, Any]:
    """The response, or the kind of the error: a statement that no rule can read ends nothing but its own request."""
    try:
        return {"found": answer(request)}
    except Exception as error:
        return {"failed": type(error).__name__}


def _arrives(stream: BinaryIO, seconds: float) -> bool:
    return bool(select.select([stream], [], [], seconds)[0])


def _said(row: Sequence[Any]) -> Said:
    text, speaker, is_announced, day = row
    return Said(text, speaker, is_announced, None if day is None else date.fromisoformat(day))


if __name__ == "__main__":
    main(float(sys.argv[1]))
