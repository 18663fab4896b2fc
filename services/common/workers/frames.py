"""Messages between a service and a worker process of its own: JSON behind its length."""

from __future__ import annotations

import json
import struct
from typing import Any, BinaryIO, Final

_LENGTH: Final = struct.Struct("!I")


def write_frame(stream: BinaryIO, message: Any) -> None:
    """Send a message."""
    body = json.dumps(message, ensure_ascii=True, separators=(",", ":")).encode("ascii")
    stream.write(_LENGTH.pack(len(body)) + body)
    stream.flush()


def read_frame(stream: BinaryIO) -> Any:
    """The next message.

    Raises:
        EOFError: The other side is gone.
    """
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    size = _LENGTH.unpack(head)[0]
    body = stream.read(size)
    if len(body) < size:
        raise EOFError
    return json.loads(body)
