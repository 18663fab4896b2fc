"""What the commands of facts and profile share."""

from __future__ import annotations

from services.common.auth import Principal
from services.common.owners import Owner, TenantId, UserId


def owner_of(user_id: str, caller: Principal) -> Owner:
    """Whose memory: the tenant is the credential's."""
    return Owner(TenantId(caller.tenant_id), UserId(user_id))
