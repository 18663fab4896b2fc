"""Whose memory, and where: mem0's entities as Mneme's users and isolated contexts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, quote

from mneme.common.v1 import common_pb2
from services.gateway.http.mem0.refused import RefusedError

ENTITIES: Final = ("agent_id", "app_id", "run_id")
"""Entities besides the user."""

_CONTEXT_CHARS_MAX: Final = 128  # of Mneme's ids
_NAMES: Final = {"agent": "agent_id", "app": "app_id", "run": "run_id"}


@dataclass(frozen=True, slots=True)
class Place:
    """A user together with an agent, an application and a run; empty where there is none.

    Every combination is an isolated context of its own: a reader there sees what was written there and nothing else. A
    user alone is the place GLOBAL of the tree that all share.
    """

    user_id: str
    agent_id: str = ""
    app_id: str = ""
    run_id: str = ""

    @property
    def context_id(self) -> str:
        """The isolated context, such as "agent=planner&run=42". Empty for a user alone."""
        return "&".join(
            f"{name}={quote(value, safe='')}" for name, field in _NAMES.items() if (value := getattr(self, field))
        )

    @property
    def scope(self) -> common_pb2.Scope:
        """As Mneme's scope.

        Raises:
            RefusedError: The ids are too long together.
        """
        context_id = self.context_id
        if len(context_id) > _CONTEXT_CHARS_MAX:
            raise RefusedError(f"agent_id, app_id and run_id are too long: {context_id!r} has more than 128 characters")
        return common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_GLOBAL, context_id=context_id)


def place_of(user_id: str, scope: common_pb2.Scope) -> Place | None:
    """The place of a memory; None for a scope that no request of mem0's client writes to."""
    if scope.level not in (common_pb2.SCOPE_LEVEL_UNSPECIFIED, common_pb2.SCOPE_LEVEL_GLOBAL):
        return None
    named = {_NAMES[name]: value for name, value in parse_qsl(scope.context_id) if name in _NAMES}
    place = Place(user_id, **named)
    return place if place.context_id == scope.context_id else None
