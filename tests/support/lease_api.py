"""A small server that answers as Kubernetes' API does for Leases: versions of objects, and 409 where they are old."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

_PREFIX = "/apis/coordination.k8s.io/v1/namespaces/"


class LeaseApi:
    """Leases in memory. They outlive `stop` and `start`, as etcd's do."""

    def __init__(self) -> None:
        """Not started yet; the port is taken by the first start."""
        self._leases: dict[tuple[str, str], dict[str, Any]] = {}
        self._version = 100
        self._lock = threading.Lock()
        self._server: ThreadingHTTPServer | None = None
        self._port = 0
        self.writes: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        """Where it serves, the same after each start."""
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> Self:
        """Serves in a thread."""
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                api.answer(self, "GET")

            def do_POST(self) -> None:
                api.answer(self, "POST")

            def do_PUT(self) -> None:
                api.answer(self, "PUT")

            def log_message(self, *args: object) -> None:
                """Nothing is printed."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False
            allow_reuse_address = True

        self._server = Server(("127.0.0.1", self._port), Handler)
        self._port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def stop(self) -> None:
        """Refuses connections from now on."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def lease(self, namespace: str, name: str) -> dict[str, Any]:
        """The Lease as it is stored."""
        return self._leases[namespace, name]

    def answer(self, request: BaseHTTPRequestHandler, method: str) -> None:
        """Handles one request."""
        size = int(request.headers.get("Content-Length", 0))
        body = json.loads(request.rfile.read(size)) if size else {}
        namespace, _, name = request.path.partition("?")[0].removeprefix(_PREFIX).partition("/leases")
        is_gone = self._server is None  # a connection that was open when the server stopped
        with self._lock:
            status, found = (503, _status(503)) if is_gone else self._handle(method, namespace, name.strip("/"), body)
        data = json.dumps(found).encode()
        request.send_response(status)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(data)))
        request.send_header("Connection", "close")
        request.end_headers()
        request.wfile.write(data)

    def _handle(self, method: str, namespace: str, name: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        key = namespace, name or body.get("metadata", {}).get("name", "")
        stored = self._leases.get(key)
        if method == "GET":
            return (200, stored) if stored else (404, _status(404))
        if method == "POST":
            return (409, _status(409)) if stored else (201, self._store(key, body))
        if stored is None:
            return 404, _status(404)
        if body["metadata"].get("resourceVersion") not in {None, "", stored["metadata"]["resourceVersion"]}:
            return 409, _status(409)
        return 200, self._store(key, body)

    def _store(self, key: tuple[str, str], body: dict[str, Any]) -> dict[str, Any]:
        self._version += 1
        metadata = {**body["metadata"], "namespace": key[0], "name": key[1], "resourceVersion": str(self._version)}
        stored = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": body["spec"]}
        self._leases[key] = stored
        self.writes.append(body["spec"])
        return stored


def _status(code: int) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": code}
