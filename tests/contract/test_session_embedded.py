"""Sessions in the process's memory."""

import pytest

from services.session.config import EmbeddedSettings
from services.session.stores.embedded import EmbeddedSessionStore
from tests.contract.session_events import SessionRemovalContract
from tests.contract.session_samples import STORE_SETTINGS
from tests.contract.session_store import SessionStoreContract


class TestEmbeddedSessionStore(SessionStoreContract, SessionRemovalContract):
    @pytest.fixture
    def store(self) -> EmbeddedSessionStore:
        return EmbeddedSessionStore(EmbeddedSettings(), STORE_SETTINGS)
