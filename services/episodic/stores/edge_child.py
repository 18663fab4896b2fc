"""The process of the embedded vector engine: `python -m services.episodic.stores.edge_child DESCRIPTOR`.

Reads calls from a socket and writes their results, in order. Ends when the other end of the socket is closed, however
that came about, so that it never outlives its service for longer than one call.
"""

from __future__ import annotations

import gc
import pickle
import signal
import socket
import struct
import sys
from io import BufferedIOBase
from typing import Any, Final

from services.episodic.stores.edge_engine import EdgeEngine

HEADER: Final = struct.Struct("!I")
"""Length of the pickle that follows."""


def main() -> None:
    """Serve one parent until it closes its end."""
    # A terminal sends these to the whole group: the service stops first, and closes the engine then.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    gc.freeze()
    with socket.socket(fileno=int(sys.argv[1])) as connection, connection.makefile("rwb") as stream:
        engine: EdgeEngine | None = None
        while (request := _read(stream)) is not None:
            name, arguments, keywords = pickle.loads(request)  # noqa: S301 - the parent's own
            reply: tuple[str | None, Any]
            try:
                if engine is None:
                    engine = EdgeEngine(*arguments, **keywords)
                    reply = (None, engine.state())
                else:
                    reply = (None, getattr(engine, name)(*arguments, **keywords))
            except BaseException as error:  # a panic of the engine is not an Exception
                reply = (f"{type(error).__name__}: {error}", None)
            answer = pickle.dumps(reply, pickle.HIGHEST_PROTOCOL)
            stream.write(HEADER.pack(len(answer)) + answer)
            stream.flush()


def _read(stream: BufferedIOBase) -> bytes | None:
    try:
        header = stream.read(HEADER.size)
    except ConnectionResetError:  # the parent was killed
        return None
    if len(header) < HEADER.size:
        return None
    return stream.read(HEADER.unpack(header)[0])


if __name__ == "__main__":
    main()
