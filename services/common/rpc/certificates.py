"""Certificates of servers and clients, read again when their files change."""

from __future__ import annotations

import ssl
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import grpc
import structlog
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from cryptography.x509 import load_pem_x509_certificate

_log = structlog.get_logger(__name__)

_CHECK_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """Certificates of a server or a client, as PEM files."""

    certificate: Path
    key: Path
    authority: Path | None = None  # with it, a server demands client certificates, and a client trusts it alone


@dataclass(frozen=True, slots=True)
class _Pem:
    certificate: bytes
    key: bytes
    authority: bytes | None

    @classmethod
    def read(cls, files: TlsFiles) -> _Pem:
        """The contents of the files.

        Raises:
            OSError: A file cannot be read.
            ValueError: The key is not the certificate's, or a file holds no PEM.
        """
        authority = files.authority.read_bytes() if files.authority else None
        pem = cls(files.certificate.read_bytes(), files.key.read_bytes(), authority)
        key = load_pem_private_key(pem.key, password=None)
        if load_pem_x509_certificate(pem.certificate).public_key() != key.public_key():
            raise ValueError("the key does not belong to the certificate")
        if authority is not None:
            load_pem_x509_certificate(authority)
        return pem


class Certificates:
    """What the files hold. Files that do not fit each other, as while they are replaced, are read again later."""

    def __init__(self, files: TlsFiles) -> None:
        """Reads the files.

        Raises:
            OSError: A file cannot be read.
            ValueError: The key is not the certificate's, or a file holds no PEM.
        """
        self._files = files
        self._lock = threading.Lock()  # gRPC asks in threads of its own
        self._stamp = self._look()
        self._refused: object = None  # the stamp of files that cannot be used, reported once
        self._pem = _Pem.read(files)

    def refresh(self) -> bool:
        """Reads the files where they have changed; returns whether there is something new."""
        with self._lock:
            try:
                stamp = self._look()
                if stamp == self._stamp:
                    return False
                pem = _Pem.read(self._files)
            except (OSError, ValueError, TypeError) as error:
                if self._refused != (refused := str(error)):
                    _log.warning("certificate_not_reloaded", file=str(self._files.certificate), error=refused)
                self._refused = refused
                return False
            self._stamp, self._refused = stamp, None
            is_new = pem != self._pem
            self._pem = pem
        if is_new:
            _log.info("certificate_reloaded", file=str(self._files.certificate))
        return is_new

    def server_credentials(self) -> grpc.ServerCredentials:
        """Credentials of a server; each handshake uses what the files hold by then."""

        def changed() -> Any:  # None where nothing has; gRPC's types do not know it
            return self._server_configuration() if self.refresh() else None

        return grpc.dynamic_ssl_server_credentials(
            self._server_configuration(), changed, require_client_authentication=self._files.authority is not None
        )

    def load_into(self, context: ssl.SSLContext) -> None:
        """Makes a context of TLS use what the files held when they were read last, from its next handshake on.

        An authority that the context trusted before stays trusted: OpenSSL takes none away.
        """
        pem = self._pem
        with tempfile.NamedTemporaryFile() as file:  # readable by its owner alone; OpenSSL takes a path
            file.write(pem.certificate + b"\n" + pem.key)
            file.flush()
            context.load_cert_chain(file.name)
        if pem.authority is not None:
            context.load_verify_locations(cadata=pem.authority.decode())

    def channel_credentials(self) -> grpc.ChannelCredentials:
        """Credentials of a client, as the files were when they were read last."""
        pem = self._pem
        return grpc.ssl_channel_credentials(
            root_certificates=pem.authority, private_key=pem.key, certificate_chain=pem.certificate
        )

    def _server_configuration(self) -> grpc.ServerCertificateConfiguration:
        pem = self._pem
        return grpc.ssl_server_certificate_configuration([(pem.key, pem.certificate)], root_certificates=pem.authority)

    def _look(self) -> tuple[tuple[int, int, int], ...]:
        files = (self._files.certificate, self._files.key, self._files.authority)
        found = [file.stat() for file in files if file is not None]
        return tuple((stat.st_mtime_ns, stat.st_size, stat.st_ino) for stat in found)


class CertificateWatch:
    """Asks for new certificates at most once a second, for callers that ask with every call."""

    def __init__(self, certificates: Certificates, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        """Looks at `certificates` with the first call."""
        self._certificates = certificates
        self._monotonic = monotonic
        self._checked_at = float("-inf")

    def has_changed(self) -> bool:
        """Whether there are new certificates, by the last look."""
        now = self._monotonic()
        if now - self._checked_at < _CHECK_SECONDS:
            return False
        self._checked_at = now
        return self._certificates.refresh()
