"""The public keys of an identity provider: a JSON Web Key Set, from a file or a URL, which is read again and again."""

from __future__ import annotations

import http.client
import json
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.client import HTTPMessage
from pathlib import Path
from typing import IO, Any, Final

import jwt
import structlog
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

_log = structlog.get_logger(__name__)

_BYTES_MAX: Final = 1024 * 1024
_RSA_BITS_MIN: Final = 2_048
_FETCH_SECONDS: Final = 5.0
_THIS_MACHINE: Final = ("127.0.0.1", "localhost", "::1")
_CURVES: Final = {"ES256": "secp256r1", "ES384": "secp384r1", "ES512": "secp521r1"}


@dataclass(frozen=True, slots=True)
class PublicKey:
    """One key of the set."""

    key: Any
    algorithms: frozenset[str]  # those that it may be used with


class JwksError(ValueError):
    """The key set cannot be read; the message says where."""


class JwksKeys:
    """The keys by their ids.

    The set is read when the service starts, and then by a thread of its own, whether or not there are calls: they never
    wait for it. A key that was taken out of the set is refused from the next reading on, also by a service that had no
    calls for hours; when a reading fails, the keys read last stay in force.
    """

    def __init__(
        self,
        fetch: Callable[[], bytes],
        *,
        refresh_seconds: float = 60.0,
        retry_seconds: float = 5.0,
        monotonic: Callable[[], float] = time.monotonic,
        defer: Callable[[Callable[[], None]], None] | None = None,
        repeat: Callable[[float, Callable[[], bool]], None] | None = None,
    ) -> None:
        """Reads the set.

        Args:
            fetch: Returns the set as JSON.
            refresh_seconds: When it is read again.
            retry_seconds: How soon at the earliest, for a token with a key that is not known.
            monotonic: The time.
            defer: Runs a reading; in a thread where None.
            repeat: Does something every so many seconds until it returns False; in a thread where None.

        Raises:
            JwksError: It cannot be read.
        """
        self._fetch = fetch
        self._refresh_seconds = refresh_seconds
        self._retry_seconds = retry_seconds
        self._monotonic = monotonic
        self._defer = defer or _in_thread
        self._lock = threading.Lock()
        self._read_time = monotonic()
        self._content = fetch()
        self._keys: Mapping[str, PublicKey] = _parsed(self._content)
        self.generation = 0
        """Grows when the keys change."""
        (repeat or _repeat_in_thread)(refresh_seconds, _refreshing(weakref.ref(self)))

    def get(self, key_id: str) -> PublicKey | None:
        """The key with an id; None where there is none. Starts a reading where one is due."""
        found = self._keys.get(key_id)
        wait = self._refresh_seconds if found is not None else self._retry_seconds
        if self._monotonic() - self._read_time >= wait:
            self.read_again()
        return self._keys.get(key_id)

    def read_again(self) -> None:
        """Starts a reading, unless one is under way."""
        if self._lock.acquire(blocking=False):
            self._read_time = self._monotonic()
            self._defer(self._refresh)

    def _refresh(self) -> None:
        try:
            content = self._fetch()
            if content == self._content:
                return
            keys, self._content = _parsed(content), content
            if keys.keys() != self._keys.keys() or any(_numbers(keys[k]) != _numbers(self._keys[k]) for k in keys):
                self._keys = keys
                self.generation += 1
                _log.info("jwt_keys_changed", keys=len(keys))
        except JwksError as error:
            _log.error("jwt_keys_unreadable", error=str(error))
        finally:
            self._lock.release()


def file_source(path: Path) -> Callable[[], bytes]:
    """Reads the set from a file."""

    def fetch() -> bytes:
        try:
            return path.read_bytes()
        except OSError as error:
            raise JwksError(f"cannot read {path}: {error}") from error

    return fetch


def url_source(url: str) -> Callable[[], bytes]:
    """Reads the set from a URL: https, or http on this machine.

    Raises:
        JwksError: The URL is of another kind.
    """
    if not _is_safe(url):
        raise JwksError("the URL of the key set must begin with https://, or with http:// and be of this machine")
    opener = urllib.request.build_opener(_SafeRedirects())

    def fetch() -> bytes:
        try:
            with opener.open(url, timeout=_FETCH_SECONDS) as response:
                content: bytes = response.read(_BYTES_MAX + 1)
        except (urllib.error.URLError, http.client.HTTPException, OSError, ValueError) as error:
            raise JwksError(f"cannot read {url}: {error}") from error
        return content

    return fetch


def _is_safe(url: str) -> bool:
    """Whether nobody on the way can exchange what is read from there."""
    try:
        parts = urllib.parse.urlsplit(url)
    except ValueError:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _THIS_MACHINE)


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects to addresses that could have been named themselves."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> urllib.request.Request | None:
        if not _is_safe(newurl):
            raise JwksError(f"{req.full_url} redirects to an address without https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _refreshing(reference: weakref.ref[JwksKeys]) -> Callable[[], bool]:
    """Reads the keys again; False once nobody holds them any more."""

    def refresh() -> bool:
        keys = reference()
        if keys is not None:
            keys.read_again()
        return keys is not None

    return refresh


def _repeat_in_thread(seconds: float, work: Callable[[], bool]) -> None:
    def run() -> None:
        while True:
            time.sleep(seconds)
            if not work():
                return

    threading.Thread(target=run, name="jwt-keys-timer", daemon=True).start()


def _in_thread(read: Callable[[], None]) -> None:
    threading.Thread(target=read, name="jwt-keys", daemon=True).start()


def _parsed(content: bytes) -> dict[str, PublicKey]:
    if len(content) > _BYTES_MAX:
        raise JwksError("the key set is too long")
    try:
        entries = json.loads(content)["keys"]
        found = {entry["kid"]: key for entry in entries if (key := _public_key(entry)) is not None}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise JwksError("the key set is malformed") from error
    if not found:
        raise JwksError("the key set has no usable key: RSA of at least 2,048 bits, P-256 to P-521, or Ed25519")
    return found


def _public_key(entry: dict[str, Any]) -> PublicKey | None:
    """A key that signatures are verified with; None for another one. Shared secrets are never taken."""
    if entry.get("use", "sig") != "sig" or not isinstance(entry.get("kid"), str) or entry.get("kty") == "oct":
        return None
    try:
        key = jwt.PyJWK({name: value for name, value in entry.items() if name != "d"}).key
    except jwt.PyJWTError:
        return None
    if isinstance(key, rsa.RSAPublicKey) and key.key_size >= _RSA_BITS_MIN:
        algorithms = {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}
    elif isinstance(key, ec.EllipticCurvePublicKey):
        algorithms = {name for name, curve in _CURVES.items() if curve == key.curve.name}
    elif isinstance(key, ed25519.Ed25519PublicKey):
        algorithms = {"EdDSA"}
    else:
        return None
    stated = entry.get("alg")
    return PublicKey(key, frozenset(algorithms if stated is None else algorithms & {stated}))


def _numbers(key: PublicKey) -> Any:
    numbers = getattr(key.key, "public_numbers", None)
    return (key.algorithms, numbers() if numbers is not None else key.key.public_bytes_raw())
