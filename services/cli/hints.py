"""What to do about a call that failed, as far as its error tells."""

from __future__ import annotations

from typing import Final

import grpc

from mneme_client import MnemeClientError

_RESOLVERS = ("dns:", "ipv4:", "ipv6:", "unix:", "unix-abstract:", "vsock:", "xds:")

_NOT_FOUND: Final = {
    "Correct": "No turn says what --wrong says: `mneme recall` shows the words, and --memory takes an id.",
    "RunJob": "`mneme maintain --jobs` lists the jobs.",
    "ListSymbols": "`mneme code index` stores a repository.",
    "SearchSymbols": "`mneme code index` stores a repository.",
    "SearchCode": "`mneme code index` stores a repository.",
    "GetOutline": "`mneme code index` stores a repository.",
    "ResolveSupersession": "`mneme conflicts --all` lists them with their ids.",
}
"""Where to look for what a call did not find, by its method."""


def hint(error: MnemeClientError, target: str) -> str:
    """A sentence for people; empty where there is nothing to say.

    Args:
        error: What the call failed with.
        target: The address that was called.
    """
    if error.code is grpc.StatusCode.UNAUTHENTICATED:
        if error.reason == "CREDENTIAL_INVALID":
            return "Check --api-key and MNEME_API_KEY. A service in development mode takes no key: leave them out."
        return "Give a key by --api-key or MNEME_API_KEY."
    if error.code is grpc.StatusCode.NOT_FOUND:
        return _NOT_FOUND.get(error.method.rpartition("/")[2], "")
    if error.code is grpc.StatusCode.UNAVAILABLE and not error.reason:
        return _of_connection(error.message, target)
    return ""


def _of_connection(message: str, target: str) -> str:
    """Why a connection may have failed, by gRPC's own message."""
    if not target.startswith(_RESOLVERS):
        if "://" in target:
            return "--target is host:port, such as 127.0.0.1:7700, without a scheme."
        if not target.rpartition(":")[2].isdecimal():
            return "--target needs a port, such as 127.0.0.1:7700."
    if "http1.x server" in message:
        return f"HTTP is served at {target}, and gRPC at another port: 7700 by default."
    if "WRONG_VERSION_NUMBER" in message:
        return f"What serves at {target} does not use TLS: leave out --tls, --ca-file and MNEME_TLS."
    if "CERTIFICATE_VERIFY_FAILED" in message:
        return "The certificate is not trusted: name its authority by --ca-file."
    return "Is Mneme running? `mneme up` starts it; --target names another address."
