"""From the metadata of a call to its principal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from services.common.auth.api_keys import ApiKeyRing
from services.common.auth.identity import IDENTITY_METADATA_KEY, IdentityVerifier
from services.common.auth.jwt_tokens import JwtVerifier
from services.common.auth.key_file import KEY_PREFIX
from services.common.auth.model import Principal, Role
from services.common.errors import Reason, Unauthenticated

DEVELOPMENT_PRINCIPAL: Final = Principal(tenant_id="dev", principal_id="developer", role=Role.ADMIN)
"""Who everybody is in development mode."""

_AUTHORIZATION_KEY: Final = "authorization"
_BEARER: Final = "bearer "


class Authenticator:
    """Tries the credentials that a call carries, in a fixed order.

    First the identity signed by another service, then an API key or a token of the identity provider. A credential
    that is present must be good: a bad one is never passed over for the next. A call without any is the development
    principal's where there is one.
    """

    def __init__(
        self,
        *,
        identities: IdentityVerifier | None = None,
        api_keys: ApiKeyRing | None = None,
        tokens: JwtVerifier | None = None,
        development_principal: Principal | None = None,
    ) -> None:
        """Accepts the kinds of credential that are given; a development principal needs a loopback address."""
        self._identities = identities
        self._api_keys = api_keys
        self._tokens = tokens
        self.development_principal = development_principal

    def authenticate(self, metadata: Mapping[str, str | bytes]) -> Principal:
        """The principal of a call.

        Args:
            metadata: Of the call, keys in lower case.

        Raises:
            Unauthenticated: There is no credential, or one that is not accepted.
        """
        identity = metadata.get(IDENTITY_METADATA_KEY)
        if identity is not None:
            if self._identities is None or not isinstance(identity, str):
                raise Unauthenticated("signed identities are not accepted here")
            return self._identities.verify(identity)
        authorization = metadata.get(_AUTHORIZATION_KEY)
        if authorization is not None:
            return self._authorized(authorization)
        if self.development_principal is not None:
            return self.development_principal
        raise Unauthenticated("a credential is required", reason=Reason.CREDENTIAL_MISSING)

    def _authorized(self, authorization: str | bytes) -> Principal:
        if not isinstance(authorization, str) or (self._api_keys is None and self._tokens is None):
            raise Unauthenticated("API keys are not accepted here")
        if authorization[: len(_BEARER)].lower() != _BEARER:
            raise Unauthenticated("the authorization is not of the form 'Bearer <API key or token>'")
        credential = authorization[len(_BEARER) :].strip()
        if self._tokens is not None and (self._api_keys is None or not credential.startswith(f"{KEY_PREFIX}_")):
            return self._tokens.verify(credential)
        if self._api_keys is None:
            raise Unauthenticated("API keys are not accepted here")
        return self._api_keys.authenticate(credential)
