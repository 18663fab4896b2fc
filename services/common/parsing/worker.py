"""The process of a parser: `python -m services.common.parsing.worker MODEL`. It ends when its input does.

spaCy holds the interpreter's lock for long stretches: in the process of a service it would stall the event loop.
"""

from __future__ import annotations

import contextlib
import sys

from services.common.parsing.pipeline import SpacyPipeline
from services.common.parsing.port import ParserMissingError
from services.common.priority import lower_priority
from services.common.workers.frames import read_frame, write_frame

_NICE = 5
"""Requests come before what is derived from them."""


def main(model: str) -> None:
    """Parse what arrives on standard input; the first message says whether the pipeline was loaded."""
    requests, responses = sys.stdin.buffer, sys.stdout.buffer
    try:
        pipeline = SpacyPipeline(model)
    except ParserMissingError as error:
        write_frame(responses, {"error": str(error)})
        return
    lower_priority(_NICE)  # only now: the first texts wait for the loading
    write_frame(responses, {})
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            write_frame(responses, pipeline.rows(read_frame(requests)))


if __name__ == "__main__":
    main(sys.argv[1])
