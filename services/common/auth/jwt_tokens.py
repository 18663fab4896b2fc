"""Checks JSON Web Tokens of an identity provider, beside API keys."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import jwt

from services.common.auth.jwt_keys import JwksKeys
from services.common.auth.model import Principal, Role
from services.common.clock import Clock, SystemClock
from services.common.errors import Unauthenticated

_TOKEN_CHARS_MAX: Final = 12_000  # a call's metadata holds 16 KiB
_ID_CHARS_MAX: Final = 128
_CACHED_MAX: Final = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class JwtRules:
    """Which tokens are accepted, and what they say."""

    issuer: str
    """`iss`, exactly."""
    audience: str
    """One of `aud`."""
    tenant_claim: str = "tenant"
    """Claim with the tenant; a dot leads into an object."""
    role_claim: str = "role"
    """Claim with the role or a list of roles, of which the highest counts; other names are ignored."""
    leeway: timedelta = timedelta(seconds=30)
    """How far the provider's clock may be from this one."""


class JwtVerifier:
    """Checks tokens; those it has accepted it knows until they expire or the keys change."""

    def __init__(self, keys: JwksKeys, rules: JwtRules, *, clock: Clock | None = None) -> None:
        """Checks against the provider's public keys.

        Raises:
            ValueError: Issuer or audience is missing: without them tokens for others would be accepted.
        """
        if not rules.issuer or not rules.audience:
            raise ValueError("MNEME_JWT_ISSUER and MNEME_JWT_AUDIENCE are required to check tokens")
        self._keys = keys
        self._rules = rules
        self._clock = clock or SystemClock()
        self._known: OrderedDict[str, tuple[Principal, float, int]] = OrderedDict()

    def verify(self, token: str) -> Principal:
        """The principal of a token.

        Raises:
            Unauthenticated: It is not accepted; the error does not say why.
        """
        if len(token) > _TOKEN_CHARS_MAX:
            raise Unauthenticated("the token is not accepted")
        try:
            return self._verified(token)
        except (jwt.PyJWTError, ValueError, TypeError, KeyError, OverflowError) as error:
            raise Unauthenticated("the token is not accepted") from error

    def _verified(self, token: str) -> Principal:
        now, leeway = self._clock.now().timestamp(), self._rules.leeway.total_seconds()
        header = jwt.get_unverified_header(token)
        key = self._keys.get(str(header["kid"]))  # also for a known token, so that the keys are read again
        known = self._known.get(token)
        if known is not None and known[2] == self._keys.generation and now < known[1] + leeway:
            self._known.move_to_end(token)
            return known[0]
        self._known.pop(token, None)
        # One of the key's algorithms: a public key is never taken for a shared secret, and "none" is none of them.
        if key is None or header.get("alg") not in key.algorithms:
            raise ValueError("no key")
        claims: dict[str, Any] = jwt.decode(
            token,
            key.key,
            algorithms=[header["alg"]],
            audience=self._rules.audience,
            issuer=self._rules.issuer,
            options={
                "require": ["exp", "aud", "iss", "sub"],
                "verify_exp": False,  # times are checked below, against the injected clock
                "verify_nbf": False,
                "verify_iat": False,
            },
        )
        expires = float(claims["exp"])
        if (
            not math.isfinite(expires)
            or now >= expires + leeway
            or any(float(claims.get(name, 0)) > now + leeway for name in ("nbf", "iat"))
        ):
            raise ValueError("not in force")
        principal = Principal(
            tenant_id=_identifier(_claim(claims, self._rules.tenant_claim)),
            principal_id=_identifier(claims["sub"]),
            role=_role(_claim(claims, self._rules.role_claim)),
        )
        self._known[token] = (principal, expires, self._keys.generation)
        if len(self._known) > _CACHED_MAX:
            self._known.popitem(last=False)
        return principal


def _claim(claims: Mapping[str, Any], name: str) -> Any:
    if name in claims:
        return claims[name]
    found: Any = claims
    for part in name.split("."):
        found = found[part]
    return found


def _identifier(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > _ID_CHARS_MAX or not value.isprintable():
        raise ValueError("a claim is no id")
    return value


def _role(value: Any) -> Role:
    names = value if isinstance(value, list) else [value]
    known = {"reader": Role.READER, "writer": Role.WRITER, "admin": Role.ADMIN}
    roles = [known[name] for name in names if isinstance(name, str) and name in known]
    if not roles:
        raise ValueError("no role")
    return max(roles)
