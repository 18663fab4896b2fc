"""The caller's identity on its way from the gateway to the tiers: a short-lived signed token.

A tier trusts nobody's word about a tenant. The gateway, which has checked the caller's credential, signs who
it is with a secret that only the services share, as a JSON Web Token (HS256).
"""

from __future__ import annotations

from collections import OrderedDict
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import jwt

from services.common.auth.granted import pack_scopes, unpack_scopes
from services.common.auth.model import Principal, Role
from services.common.clock import Clock, SystemClock
from services.common.errors import LimitExceeded, Unauthenticated

IDENTITY_METADATA_KEY: Final = "mneme-identity"
"""The metadata key that carries the token."""

SECRET_BYTES_MIN: Final = 32
"""HS256 is as strong as its secret; RFC 7518 asks for as many bytes as the hash has."""

METADATA_BYTES_MAX: Final = 1024 * 1024
"""What the metadata of a call to a tier may take: an identity with all grants of a user, however long their ids."""

_TOKEN_CHARS_MAX: Final = METADATA_BYTES_MAX - 64 * 1024  # leaves space for the other keys
_CACHED_CHARS_MAX: Final = 4_096  # longer ones, with many grants, are made and checked anew: the cache stays small

_ALGORITHM: Final = "HS256"
_AUDIENCE: Final = "mneme-tier"


class IdentitySigner:
    """Makes identity tokens, one per principal for as long as half its life is left."""

    def __init__(
        self,
        secret: bytes,
        *,
        lifetime: timedelta = timedelta(seconds=120),
        cached_max: int = 4_096,
        clock: Clock | None = None,
    ) -> None:
        """Signs with the secret, at least 32 bytes.

        Raises:
            ValueError: The secret is too short.
        """
        _check_secret(secret)
        self._secret = secret
        self._lifetime = lifetime
        self._cached_max = cached_max
        self._clock = clock or SystemClock()
        self._tokens: OrderedDict[Principal, tuple[str, datetime]] = OrderedDict()

    def sign(self, principal: Principal) -> str:
        """The token of a principal, valid for at least half the lifetime from now.

        Raises:
            LimitExceeded: It has more granted scopes than a call's metadata holds.
        """
        now = self._clock.now()
        known = self._tokens.get(principal)
        if known is not None and now < known[1]:
            self._tokens.move_to_end(principal)
            return known[0]
        claims: dict[str, object] = {
            "tenant": principal.tenant_id,
            "principal": principal.principal_id,
            "role": principal.role.name.lower(),
            "aud": _AUDIENCE,
            "iat": int(now.timestamp()),
            "exp": int((now + self._lifetime).timestamp()),
        }
        if principal.granted_scopes:
            claims["granted"] = pack_scopes(principal.granted_scopes)
        token = jwt.encode(claims, self._secret, algorithm=_ALGORITHM)
        if len(token) > _TOKEN_CHARS_MAX:
            raise LimitExceeded("identity_chars", _TOKEN_CHARS_MAX, "the granted scopes are too long for one call")
        if len(token) > _CACHED_CHARS_MAX:
            return token
        self._tokens[principal] = (token, now + self._lifetime / 2)
        self._tokens.move_to_end(principal)
        if len(self._tokens) > self._cached_max:
            self._tokens.popitem(last=False)
        return token


class IdentityVerifier:
    """Checks identity tokens; those it has seen it knows until they expire."""

    def __init__(
        self,
        secret: bytes,
        *,
        leeway: timedelta = timedelta(seconds=10),
        cached_max: int = 4_096,
        clock: Clock | None = None,
    ) -> None:
        """Checks against the secret; clocks of two machines may differ by `leeway`.

        Raises:
            ValueError: The secret is too short.
        """
        _check_secret(secret)
        self._secret = secret
        self._leeway = leeway
        self._cached_max = cached_max
        self._clock = clock or SystemClock()
        self._known: OrderedDict[str, tuple[Principal, datetime]] = OrderedDict()

    def verify(self, token: str) -> Principal:
        """The principal a token names.

        Raises:
            Unauthenticated: It is malformed, not signed with the secret, for another audience, or expired.
        """
        known = self._known.get(token)
        if known is None:
            known = self._decode(token)
            if len(token) <= _CACHED_CHARS_MAX:
                self._known[token] = known
            if len(self._known) > self._cached_max:
                self._known.popitem(last=False)
        else:
            self._known.move_to_end(token)
        principal, expires = known
        if self._clock.now() >= expires + self._leeway:
            self._known.pop(token, None)
            raise Unauthenticated("the identity has expired")
        return principal

    def _decode(self, token: str) -> tuple[Principal, datetime]:
        try:
            # The expiry is checked by the caller, against the injected clock and again for remembered tokens.
            claims: dict[str, Any] = jwt.decode(
                token,
                self._secret,
                algorithms=[_ALGORITHM],
                audience=_AUDIENCE,
                options={
                    "require": ["exp", "aud", "tenant", "principal", "role"],
                    "verify_exp": False,
                    "verify_iat": False,
                },
            )
            principal = Principal(
                tenant_id=_text(claims["tenant"]),
                principal_id=_text(claims["principal"]),
                role=Role.parse(_text(claims["role"])),
                granted_scopes=unpack_scopes(_text(claims["granted"])) if "granted" in claims else (),
                is_vouched_for=True,
            )
            return principal, datetime.fromtimestamp(int(claims["exp"]), UTC)
        except (jwt.InvalidTokenError, ValueError, TypeError, OverflowError) as error:
            raise Unauthenticated("the identity is not valid") from error


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("a claim is not a text")
    return value


def _check_secret(secret: bytes) -> None:
    if len(secret) < SECRET_BYTES_MIN:
        raise ValueError(f"the service secret has {len(secret)} bytes, at least {SECRET_BYTES_MIN} are needed")
