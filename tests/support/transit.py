"""A local server that speaks Vault's Transit engine as it is documented, and one that `MNEME_TEST_VAULT_URL` names.

Paths, fields, statuses and texts of errors were compared with OpenBao 2.7.2. The one that is named must let
`MNEME_TEST_VAULT_TOKEN` mount engines and make keys, as a server in development mode does.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import ssl
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import httpx
import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from services.common.encryption.vault_settings import VaultServer
from tests.support.engines import absent

URL_VARIABLE: Final = "MNEME_TEST_VAULT_URL"
TOKEN_VARIABLE: Final = "MNEME_TEST_VAULT_TOKEN"
TOKEN: Final = "hvs.test"
_NONCE_BYTES: Final = 12

Response = tuple[int, bytes]
Fault = Callable[[], Response | None]
"""Instead of a response of Transit; None: as usual, after all."""


@dataclass
class _Key:
    versions: list[bytes] = field(default_factory=lambda: [os.urandom(32)])
    min_decryption_version: int = 1

    def encrypt(self, plaintext: str, associated: str) -> str:
        nonce = os.urandom(_NONCE_BYTES)
        sealed = AESGCM(self.versions[-1]).encrypt(nonce, base64.b64decode(plaintext), base64.b64decode(associated))
        return f"vault:v{len(self.versions)}:{base64.b64encode(nonce + sealed).decode()}"

    def decrypt(self, ciphertext: str, associated: str) -> str:
        match = re.fullmatch(r"vault:v(\d+):(.*)", ciphertext)
        if match is None:
            raise ValueError("invalid ciphertext: no prefix")
        version = int(match[1])
        if version > len(self.versions):
            raise ValueError("invalid ciphertext: version is too new")
        if version < self.min_decryption_version:
            raise ValueError("ciphertext or signature version is disallowed by policy (too old)")
        sealed = base64.b64decode(match[2])
        try:
            opened = AESGCM(self.versions[version - 1]).decrypt(
                sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], base64.b64decode(associated)
            )
        except (InvalidTag, ValueError):
            raise ValueError("cipher: message authentication failed") from None
        return base64.b64encode(opened).decode()


class TransitServer:
    """The server, on loopback. Tests look at `requests` and put into `faults` what comes instead of responses."""

    def __init__(self, certificate: tuple[Path, Path] | None = None) -> None:
        self.token = TOKEN
        self.keys: dict[str, _Key] = {}
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.faults: deque[Fault] = deque()
        self.constant_fault: Fault | None = None
        self.ignores_associated_data = False
        self.released = threading.Event()  # what a slow response waits for
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        if certificate is not None:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(*certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        scheme = "http" if certificate is None else "https"
        self.address = f"{scheme}://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @contextlib.contextmanager
    def running(self) -> Iterator[TransitServer]:
        self._thread.start()
        try:
            yield self
        finally:
            self.released.set()
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()

    def slow(self) -> Response | None:
        """A fault: nothing comes before the end of the test."""
        self.released.wait()
        return None

    def respond(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> Response:
        """What Transit says to a POST."""
        self.requests.append((path, headers))
        fault = self.faults.popleft() if self.faults else self.constant_fault
        if fault is not None and (response := fault()) is not None:
            return response
        if headers.get("x-vault-token") != self.token:
            return refused(403, "permission denied")
        match = re.fullmatch(r"/v1/transit/(encrypt|decrypt|keys)/([\w-]+)(?:/(\w+))?", path)
        if match is None:
            return refused(404, f'no handler for route "{path.removeprefix("/v1/")}". route entry not found.')
        operation, name, action = match.groups()
        if operation == "keys" and action is None:
            self.keys.setdefault(name, _Key())
            return succeeded({})
        key = self.keys.get(name)
        if key is None:
            return refused(400, "encryption key not found")
        associated = "" if self.ignores_associated_data else body.get("associated_data", "")
        try:
            if operation == "encrypt":
                return succeeded(
                    {"ciphertext": key.encrypt(body["plaintext"], associated), "key_version": len(key.versions)}
                )
            if operation == "decrypt":
                return succeeded({"plaintext": key.decrypt(body["ciphertext"], associated)})
        except ValueError as error:
            return refused(400, str(error))
        if action == "rotate":
            key.versions.append(os.urandom(32))
        else:
            key.min_decryption_version = body["min_decryption_version"]
        return succeeded({})


def succeeded(data: dict[str, Any]) -> Response:
    """A response with data, in Vault's form."""
    return 200, json.dumps({"request_id": str(uuid4()), "lease_id": "", "data": data, "warnings": None}).encode()


def refused(status: int, *errors: str) -> Response:
    """A response with errors, in Vault's form."""
    return status, json.dumps({"errors": errors}).encode()


def _handler(server: TransitServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, content = server.respond(self.path, headers, body)
            with contextlib.suppress(OSError):  # a client that did not wait
                self.send_response(status)
                if status == 307:
                    self.send_header("Location", content.decode())
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the interface
            """Nothing."""

    return Handler


@dataclass(frozen=True)
class TransitKey:
    """A new key of a server, and what its operator does to it."""

    server: VaultServer
    token: str

    def rotate(self) -> None:
        self._post(f"keys/{self.server.key}/rotate", {})

    def set_min_decryption_version(self, version: int) -> None:
        self._post(f"keys/{self.server.key}/config", {"min_decryption_version": version})

    def _post(self, path: str, body: dict[str, Any]) -> None:
        verify: ssl.SSLContext | bool = ssl.create_default_context(cafile=self.server.authority)
        url = f"{self.server.address}/v1/{self.server.mount}/{path}"
        headers = {"X-Vault-Token": self.token}
        httpx.post(url, json=body, headers=headers, verify=verify, trust_env=False, timeout=10).raise_for_status()

    @classmethod
    def create(cls, address: str, token: str, folder: Path, *, authority: Path | None = None) -> TransitKey:
        """Makes a key, with the token in a file of the folder."""
        file = folder / "vault-token"
        file.write_text(f"{token}\n", "ascii")
        key = cls(VaultServer(address=address, token_file=file, key=f"test-{uuid4()}", authority=authority), token)
        key._post(f"keys/{key.server.key}", {})
        return key


@pytest.fixture
def transit() -> Iterator[TransitServer]:
    """The local server."""
    with TransitServer().running() as server:
        yield server


@pytest.fixture
def transit_key(transit: TransitServer, tmp_path: Path) -> TransitKey:
    """A key of the local server."""
    return TransitKey.create(transit.address, transit.token, tmp_path)


@pytest.fixture
def vault_key(request: pytest.FixtureRequest, tmp_path: Path) -> TransitKey:
    """A key of the server that the environment names."""
    address, token = os.environ.get(URL_VARIABLE, ""), os.environ.get(TOKEN_VARIABLE, "")
    if not address:
        absent(request, "vault", f"{URL_VARIABLE} is not set")
    mounted = httpx.post(
        f"{address}/v1/sys/mounts/transit", json={"type": "transit"}, headers={"X-Vault-Token": token}, timeout=10
    )
    assert mounted.is_success or "already in use" in mounted.text
    return TransitKey.create(address, token, tmp_path)
