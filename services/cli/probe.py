"""Whether the service of this container is healthy: `python -m services.cli.probe`, exit code 0 or 1.

Container engines ask every few seconds, so this imports gRPC and little else, and needs no arguments: it finds the
service by the variables that the service itself was started with.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from services.cli.health import Answer, ask

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

TIMEOUT_SECONDS = 3.0  # shorter than the timeout of container engines, so that the reason is printed

_DEFAULT_LISTEN = "127.0.0.1:7700"  # the gateway's, where MNEME_LISTEN is not set
_WILDCARDS = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}  # noqa: S104 - recognised, not bound


@dataclass(frozen=True, slots=True)
class OwnTls:
    """TLS of a call to the service itself."""

    root_certificates: bytes  # PEM
    private_key: bytes  # PEM
    certificate_chain: bytes  # PEM
    server_name: str | None


def own_target(environment: Mapping[str, str]) -> str:
    """Where the service that listens on MNEME_LISTEN is reached from its own machine."""
    listen = environment.get("MNEME_LISTEN") or _DEFAULT_LISTEN
    if listen.startswith("unix:"):
        return listen
    host, _, port = listen.rpartition(":")
    return f"{_WILDCARDS.get(host, host)}:{port}"


def own_tls(environment: Mapping[str, str]) -> OwnTls | None:
    """TLS for a call to the service itself: its own certificate is trusted, and presented as the client's.

    The certificate is not for the loopback address, so the server name is taken from it.

    Raises:
        OSError: A file cannot be read.
        ValueError: There is no certificate in it.
    """
    certificate_file, key_file = environment.get("MNEME_TLS_CERTIFICATE"), environment.get("MNEME_TLS_KEY")
    if not certificate_file or not key_file:
        return None
    from cryptography import x509  # loaded where it is needed

    certificate = Path(certificate_file).read_bytes()
    return OwnTls(
        root_certificates=certificate,
        private_key=Path(key_file).read_bytes(),
        certificate_chain=certificate,
        server_name=_name_in(x509.load_pem_x509_certificate(certificate)),
    )


def _name_in(certificate: Certificate) -> str | None:
    from cryptography import x509

    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return None
    for name in names.get_values_for_type(x509.DNSName):
        return name.replace("*", "any")  # a wildcard stands for one label
    return next((str(address) for address in names.get_values_for_type(x509.IPAddress)), None)


def main() -> None:
    """Checks the service, prints the result, and exits with 0 if it is serving."""
    try:
        target, tls = own_target(os.environ), own_tls(os.environ)
    except (OSError, ValueError) as error:
        sys.exit(f"the certificate cannot be used: {error}")
    answer = asyncio.run(ask(target, tls=tls, timeout_seconds=TIMEOUT_SECONDS))
    if answer is not Answer.SERVING:
        sys.exit(f"{target}: {answer.value}")
    print(f"{target}: {answer.value}")


if __name__ == "__main__":
    main()
