"""A store of context windows that can be cut off."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from enum import Enum, auto
from typing import Any

from services.common.errors import StoreUnavailable
from services.session.context_window.store import ContextWindowStore


class CutOff(Enum):
    """How far a store is cut off."""

    NOT = auto()
    WHOLLY = auto()
    ON_THE_WAY_BACK = auto()  # calls take effect, their responses are lost


class SwitchableWindowStore:
    """Passes calls on to a real store unless it is cut off."""

    def __init__(self, store: ContextWindowStore) -> None:
        self._store = store
        self.cut = CutOff.NOT

    def __getattr__(self, name: str) -> Callable[..., Any]:
        async def call(*arguments: Any, **named: Any) -> Any:
            await asyncio.sleep(0)  # as a call over a network, it lets others run
            if self.cut is CutOff.WHOLLY:
                raise StoreUnavailable("switchable")
            result = await getattr(self._store, name)(*arguments, **named)
            if self.cut is CutOff.ON_THE_WAY_BACK:
                raise StoreUnavailable("switchable")
            return result

        return call
