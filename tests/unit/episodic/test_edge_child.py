"""The process of the embedded vector engine when the service that started it is gone."""

import pickle
import select
import socket
import subprocess
import sys

from services.episodic.stores import edge_child

WAIT_SECONDS = 60.0


def test_the_engine_ends_without_a_word_when_the_service_is_killed_before_it_reads_a_reply() -> None:
    own, its = socket.socketpair()
    with its:
        command = [sys.executable, "-m", edge_child.__name__, str(its.fileno())]
        child = subprocess.Popen(command, pass_fds=[its.fileno()], stderr=subprocess.PIPE)
    with own:
        request = pickle.dumps(("state", (), {"no such": "argument"}))
        own.sendall(edge_child.HEADER.pack(len(request)) + request)
        assert select.select([own], [], [], WAIT_SECONDS)[0], "no reply"
    # Closed with a reply that nobody read, which the other end sees as a reset.
    _, errors = child.communicate(timeout=WAIT_SECONDS)
    assert (child.returncode, errors) == (0, b"")


def test_the_engine_loads_no_part_of_a_service_that_it_does_not_use() -> None:
    code = f"import sys, {edge_child.__name__}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert "qdrant_edge" in loaded
    assert {"asyncpg", "grpc", "opentelemetry", "redis", "structlog"}.isdisjoint(loaded)
