"""Methods of the tiers' services that the gateway serves itself."""

from __future__ import annotations

from services.gateway.activity import ActivityHandlers
from services.gateway.context_window.handlers import ContextWindowHandlers
from services.gateway.door import Handler
from services.gateway.grants.service import ReaderGrants
from services.gateway.servicer import UseCases
from services.gateway.session_handlers import SessionHandlers
from services.gateway.supersession_lists import SupersessionHandlers


def own_methods(use_cases: UseCases, windows: ContextWindowHandlers, grants: ReaderGrants) -> dict[str, Handler]:
    """The handlers by full name, for the door."""
    return {
        **SessionHandlers(use_cases).by_name(),
        **ActivityHandlers(use_cases).by_name(),
        **SupersessionHandlers(use_cases, grants).by_name(),
        **windows.by_name(),
    }
