"""Checks of the data folder, the disk and the ports."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from services.cli.doctor.model import Finding, Verdict
from services.cli.health import Answer, ask
from services.common.datadir import DataDir, DataDirError, DataDirLocked

SERVICES = ("gateway", "session", "episodic", "semantic", "agentic")
"""In the order of their ports."""

_OTHER_PORT = "stop what uses it, or choose another port than {port}"
_HTTP_SECONDS = 1.0
_RESPONSE_BYTES_MAX = 4096

_FREE_BYTES_MIN = 1_000_000_000


def check_data_dir(path: Path) -> Iterator[Finding]:
    """The data folder: whether it is usable and in use, and its free space."""
    existing = next(folder for folder in (path, *path.parents) if folder.exists())
    if not (path / "mneme.lock").exists():
        # A check creates nothing.
        writable = existing.is_dir() and os.access(existing, os.W_OK)
        yield Finding(
            "data folder",
            Verdict.OK if writable else Verdict.FAILED,
            f"{path} will be made or filled"
            if writable
            else f"{path} cannot be made: {existing} is read-only for this user",
        )
    else:
        yield _open(path)
    free = shutil.disk_usage(existing).free
    yield Finding(
        "free disk",
        Verdict.OK if free >= _FREE_BYTES_MIN else Verdict.WARNING,
        f"{free / 1e9:.1f} GB",
        "" if free >= _FREE_BYTES_MIN else "PostgreSQL stops when the disk is full",
    )


def _open(path: Path) -> Finding:
    try:
        with DataDir(path):
            return Finding("data folder", Verdict.OK, f"{path}, not in use")
    except DataDirLocked as error:
        # Normal while Mneme runs.
        return Finding("data folder", Verdict.OK, f"{path}, in use by process {error.pid or '?'}")
    except (DataDirError, OSError) as error:
        return Finding("data folder", Verdict.FAILED, str(error))


async def check_ports(first: int, host: str = "127.0.0.1") -> AsyncIterator[Finding]:
    """The ports of the services from the gateway's on: whether they are free, and what listens if not."""
    for port, name in enumerate(SERVICES, first):
        answer = await ask(f"{host}:{port}")
        subject = f"port {port} ({name})"
        if answer is Answer.NOBODY:
            yield Finding(subject, Verdict.OK, "free")
        elif answer is Answer.SERVING:
            yield Finding(subject, Verdict.OK, answer.value)
        else:
            yield Finding(subject, Verdict.WARNING, answer.value, _OTHER_PORT.format(port=port))


async def check_http_port(port: int, host: str = "127.0.0.1") -> Finding:
    """The port of HTTP: whether it is free, and whether a gateway serves there if not."""
    subject = f"port {port} (HTTP)"
    try:
        async with asyncio.timeout(_HTTP_SECONDS):
            reader, writer = await asyncio.open_connection(host, port)
            writer.write(f"GET /health HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n".encode())
            response = await reader.read(_RESPONSE_BYTES_MAX)
            writer.close()
    except ConnectionRefusedError:
        return Finding(subject, Verdict.OK, "free")
    except (OSError, TimeoutError):
        response = b""
    if b'"needs_key"' in response:
        return Finding(subject, Verdict.OK, "a gateway serves HTTP")
    return Finding(subject, Verdict.WARNING, "something other than Mneme listens", _OTHER_PORT.format(port=port))
