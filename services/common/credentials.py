"""What a server accepts as credentials, by its settings."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from services.common.addresses import is_loopback
from services.common.auth import (
    DEVELOPMENT_PRINCIPAL,
    ApiKeyRing,
    Authenticator,
    IdentityVerifier,
    JwksKeys,
    JwtRules,
    JwtVerifier,
    file_source,
    url_source,
)
from services.common.clock import Clock


class CredentialSettings(Protocol):
    """The settings that say what a server accepts; `HostSettings` has them."""

    @property
    def signed_identities_only(self) -> bool: ...  # noqa: D102
    @property
    def has_credentials(self) -> bool: ...  # noqa: D102
    @property
    def api_keys_file(self) -> Path | None: ...  # noqa: D102
    @property
    def jwt_jwks_file(self) -> Path | None: ...  # noqa: D102
    @property
    def jwt_jwks_url(self) -> str: ...  # noqa: D102
    @property
    def jwt_issuer(self) -> str: ...  # noqa: D102
    @property
    def jwt_audience(self) -> str: ...  # noqa: D102
    @property
    def jwt_tenant_claim(self) -> str: ...  # noqa: D102
    @property
    def jwt_role_claim(self) -> str: ...  # noqa: D102


class InsecureListenError(Exception):
    """A server without authentication would listen where others can reach it."""


def authenticator(settings: CredentialSettings, secret: bytes, clock: Clock, *, address: str) -> Authenticator:
    """What a server accepts: identities signed with the secret, and API keys or the development principal.

    A tier is called by the gateway alone, which has checked the caller's key: on a network of services it takes signed
    identities and nothing else, and never sees a key.

    Raises:
        InsecureListenError: The address is not on loopback, and the server has neither keys nor the setting to serve
            other services alone; or it has both, which is ambiguous.
    """
    identities = IdentityVerifier(secret, clock=clock)
    if settings.signed_identities_only:
        if settings.has_credentials:
            raise InsecureListenError("MNEME_SIGNED_IDENTITIES_ONLY and keys or tokens exclude each other")
        return Authenticator(identities=identities)
    if settings.has_credentials:
        keys = ApiKeyRing(settings.api_keys_file, clock=clock) if settings.api_keys_file is not None else None
        return Authenticator(identities=identities, api_keys=keys, tokens=_tokens(settings, clock))
    if not is_loopback(address):
        raise InsecureListenError(
            f"without API keys a server listens on loopback only, not on {address}: "
            "set MNEME_API_KEYS_FILE, or for a tier behind the gateway MNEME_SIGNED_IDENTITIES_ONLY=true"
        )
    return Authenticator(identities=identities, development_principal=DEVELOPMENT_PRINCIPAL)


def _tokens(settings: CredentialSettings, clock: Clock) -> JwtVerifier | None:
    """What checks tokens of an identity provider, where one is configured.

    Raises:
        InsecureListenError: Its keys cannot be read, or issuer or audience is missing.
    """
    if settings.jwt_jwks_file is None and not settings.jwt_jwks_url:
        return None
    rules = JwtRules(
        issuer=settings.jwt_issuer,
        audience=settings.jwt_audience,
        tenant_claim=settings.jwt_tenant_claim,
        role_claim=settings.jwt_role_claim,
    )
    try:
        if settings.jwt_jwks_file is not None:
            keys = JwksKeys(file_source(settings.jwt_jwks_file), refresh_seconds=1.0, retry_seconds=1.0)
        else:
            keys = JwksKeys(url_source(settings.jwt_jwks_url))
        return JwtVerifier(keys, rules, clock=clock)
    except ValueError as error:
        raise InsecureListenError(f"MNEME_JWT_...: {error}") from error
