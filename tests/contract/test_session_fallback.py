"""The fallback, over a primary that is there and over one that is not."""

from collections.abc import AsyncIterator

import pytest

from services.common.errors import StoreUnavailable
from services.session.config import EmbeddedSettings, FallbackSettings
from services.session.stores.embedded import EmbeddedSessionStore
from services.session.stores.fallback import FallbackSessionStore
from tests.contract.session_events import SessionRemovalContract
from tests.contract.session_samples import ADA, NOON, STORE_SETTINGS
from tests.contract.session_store import SessionStoreContract
from tests.support.session import Line, ManualSleep, SwitchableStore


def embedded() -> EmbeddedSessionStore:
    return EmbeddedSessionStore(EmbeddedSettings(), STORE_SETTINGS)


class TestFallbackSessionStore(SessionStoreContract, SessionRemovalContract):
    @pytest.fixture
    async def store(self) -> AsyncIterator[FallbackSessionStore]:
        primary = SwitchableStore(embedded())
        async with FallbackSessionStore(primary, embedded(), FallbackSettings(), sleep=ManualSleep()) as store:
            yield store
            assert not store.is_degraded


class TestFallbackSessionStoreWithoutItsPrimary(SessionStoreContract):
    @pytest.fixture
    async def store(self) -> AsyncIterator[FallbackSessionStore]:
        primary = SwitchableStore(embedded())
        primary.line = Line.CUT
        async with FallbackSessionStore(primary, embedded(), FallbackSettings(), sleep=ManualSleep()) as store:
            yield store

    async def test_a_removal_fails_while_the_primary_is_away(self, store: FallbackSessionStore) -> None:
        for attempt in (store.remove_owner(ADA, now=NOON), store.remove_tenant(ADA.tenant_id, now=NOON)):
            with pytest.raises(StoreUnavailable):
                await attempt
