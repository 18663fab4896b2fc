from services.common.auth.api_keys import ApiKeyRing
from services.common.auth.authenticator import DEVELOPMENT_PRINCIPAL, Authenticator
from services.common.auth.current import (
    current_granted_scopes,
    current_principal,
    current_principal_or_none,
    require,
    role_missing,
    set_current_principal,
)
from services.common.auth.identity import IDENTITY_METADATA_KEY, METADATA_BYTES_MAX, IdentitySigner, IdentityVerifier
from services.common.auth.jwt_keys import JwksError, JwksKeys, file_source, url_source
from services.common.auth.jwt_tokens import JwtRules, JwtVerifier
from services.common.auth.key_file import (
    ApiKeyFileError,
    ApiKeyRecord,
    create_api_key,
    list_api_keys,
    revoke_api_key,
)
from services.common.auth.model import Principal, Role

__all__ = [
    "DEVELOPMENT_PRINCIPAL",
    "IDENTITY_METADATA_KEY",
    "METADATA_BYTES_MAX",
    "ApiKeyFileError",
    "ApiKeyRecord",
    "ApiKeyRing",
    "Authenticator",
    "IdentitySigner",
    "IdentityVerifier",
    "JwksError",
    "JwksKeys",
    "JwtRules",
    "JwtVerifier",
    "Principal",
    "Role",
    "create_api_key",
    "current_granted_scopes",
    "current_principal",
    "current_principal_or_none",
    "file_source",
    "list_api_keys",
    "require",
    "revoke_api_key",
    "role_missing",
    "set_current_principal",
    "url_source",
]
