"""The process that parses: `python -m services.semantic.code.worker NICE`. It ends when its input does.

The one with NICE 0 parses edits, and has the trees of the files that were edited last.

Messages are JSON behind its length. The first one, which is empty, says that it is ready. A request is a list of paths
with contents in base64 and whether the text is stored, a response a list of packed files.
"""

from __future__ import annotations

import base64
import contextlib
import sys

from services.common.priority import lower_priority
from services.common.workers.frames import read_frame, write_frame
from services.semantic.code.packing import pack
from services.semantic.code.parser import parse_file
from services.semantic.code.trees import RecentTrees


def packed_row(path: str, content: bytes, *, with_text: bool, trees: RecentTrees | None = None) -> list[object]:
    """A file, parsed, as a message."""
    packed = pack(parse_file(path, content, trees=trees), content if with_text else b"")
    body = base64.b64encode(packed.content).decode("ascii")
    return [packed.path, packed.digest, packed.language, int(packed.status), packed.line_count, body]


def main() -> None:
    """Parse what arrives on standard input."""
    nice = int(sys.argv[1])
    lower_priority(nice)
    trees = None if nice else RecentTrees()  # the process for edits
    requests, responses = sys.stdin.buffer, sys.stdout.buffer
    with contextlib.suppress(EOFError, BrokenPipeError):
        write_frame(responses, {})
        while True:
            rows = [
                packed_row(path, base64.b64decode(body), with_text=with_text, trees=trees)
                for path, body, with_text in read_frame(requests)
            ]
            write_frame(responses, rows)


if __name__ == "__main__":
    main()
