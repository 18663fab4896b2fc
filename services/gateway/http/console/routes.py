"""Serves the console's files, which are read once from the package."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

PREFIX: Final = "/console"

_MEDIA_TYPES: Final = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}

_POLICY: Final = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",  # text never becomes markup: there is no way to make any
    ]
)

HEADERS: Final = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-cache",  # asked for again each time, and answered with 304 while nothing has changed
}
"""Of every response of the console."""


@dataclass(frozen=True, slots=True)
class ConsoleFile:
    """A file as it is served."""

    content: bytes
    media_type: str
    etag: str


def console_files() -> Mapping[str, ConsoleFile]:
    """The files by their path below the console, such as "pages/facts.js"."""
    root = resources.files(__package__).joinpath("static")
    return dict(_files(root, ""))


def console_routes() -> list[BaseRoute]:
    """GET /console and everything below it; GET / leads there.

    A path is looked up among the files by its name: none leads to anything else on the disk.
    """
    files = console_files()

    async def get_file(request: Request) -> Response:
        found = files.get(request.path_params["path"] or "index.html")
        if found is None:
            return Response("not found", 404, HEADERS, media_type="text/plain")
        headers = {**HEADERS, "etag": found.etag}
        if request.headers.get("if-none-match") == found.etag:
            return Response(None, 304, headers)
        return Response(found.content, 200, headers, media_type=found.media_type)

    async def get_root(_request: Request) -> Response:
        return RedirectResponse("console/", 308, HEADERS)  # relative: a proxy may serve it below a path of its own

    async def get_start(_request: Request) -> Response:
        return RedirectResponse("console/", 307, HEADERS)  # for now: another page may begin here one day

    return [Route("/", get_start), Route(PREFIX, get_root), Route(f"{PREFIX}/{{path:path}}", get_file)]


def _files(folder: Traversable, prefix: str) -> Iterator[tuple[str, ConsoleFile]]:
    for entry in folder.iterdir():
        path = f"{prefix}{entry.name}"
        if entry.is_dir():
            yield from _files(entry, f"{path}/")
        elif (media_type := _MEDIA_TYPES.get(path.rpartition(".")[2])) is not None:
            content = entry.read_bytes()
            yield path, ConsoleFile(content, media_type, f'"{hashlib.sha256(content).hexdigest()[:32]}"')
