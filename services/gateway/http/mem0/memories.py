"""A memory of mem0's API: a turn, whose corrections are its later versions."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Final

from mneme.common.v1 import common_pb2
from mneme.episodic.v1 import episodic_pb2
from mneme.gateway.v1 import recall_pb2
from services.gateway.erasure.marking import METADATA_KEY, WORDS_KEY, corrected_by
from services.gateway.http.mem0.json_values import read_json
from services.gateway.http.mem0.places import ENTITIES, Place, place_of
from services.gateway.http.mem0.refused import RefusedError

EXPIRATION_KEY: Final = "mem0.expiration_date"
_JSON_KEY: Final = "mem0.json"  # names the entries that are not text
_OWN_KEYS: Final = frozenset({EXPIRATION_KEY, _JSON_KEY, METADATA_KEY, WORDS_KEY})
_ROLES: Final[Mapping[int, str]] = {
    common_pb2.MESSAGE_ROLE_USER: "user",
    common_pb2.MESSAGE_ROLE_ASSISTANT: "assistant",
    common_pb2.MESSAGE_ROLE_SYSTEM: "system",
    common_pb2.MESSAGE_ROLE_TOOL: "tool",
}


@dataclass(frozen=True, slots=True)
class Said:
    """One turn."""

    interaction_id: str
    text: str
    time: datetime
    role: int
    scope: common_pb2.Scope
    metadata: Mapping[str, str]

    @property
    def corrects(self) -> list[str]:
        """The turns that it takes the place of as wholes."""
        return [one.interaction_id for one in corrected_by(self.metadata) if one.is_whole]


@dataclass(frozen=True, slots=True)
class Memory:
    """A turn with what took its place, oldest first; the last version is what holds."""

    user_id: str
    versions: Sequence[Said]

    @property
    def memory_id(self) -> str:
        """The id that callers see. It contains the user's id, since mem0's calls by id name no user."""
        owner = base64.urlsafe_b64encode(self.user_id.encode()).decode().rstrip("=")
        return f"{self.versions[0].interaction_id}.{owner}"

    @property
    def place(self) -> Place | None:
        """Where it belongs."""
        return place_of(self.user_id, self.versions[0].scope)

    def is_expired(self, today: date) -> bool:
        """Whether its expiration date has passed."""
        ends = self.versions[0].metadata.get(EXPIRATION_KEY, "")
        try:
            return bool(ends) and date.fromisoformat(ends) < today
        except ValueError:  # written by another door
            return False

    def as_json(self) -> dict[str, Any]:
        """As mem0's client receives it."""
        first, last, place = self.versions[0], self.versions[-1], self.place
        return {
            "id": self.memory_id,
            "memory": last.text,
            "hash": hashlib.md5(last.text.encode(), usedforsecurity=False).hexdigest(),
            "user_id": self.user_id,
            **{name: getattr(place, name, "") or None for name in ENTITIES},
            "role": _ROLES.get(first.role),
            "metadata": read_metadata(first.metadata),
            "categories": [],
            "created_at": first.time.isoformat(),
            "updated_at": last.time.isoformat(),
            "expiration_date": first.metadata.get(EXPIRATION_KEY),
        }

    def history(self) -> list[dict[str, Any]]:
        """An entry for each version, oldest first."""
        entries: list[dict[str, Any]] = []
        before: Said | None = None
        for said in self.versions:
            entries.append(
                {
                    "id": said.interaction_id,
                    "memory_id": self.memory_id,
                    "user_id": self.user_id,
                    "input": [],
                    "old_memory": before.text if before else None,
                    "new_memory": said.text,
                    "event": "UPDATE" if before else "ADD",
                    "metadata": read_metadata(self.versions[0].metadata),
                    "created_at": self.versions[0].time.isoformat(),
                    "updated_at": said.time.isoformat(),
                }
            )
            before = said
        return entries


def parse_memory_id(memory_id: str) -> tuple[str, str]:
    """The user and the interaction of an id.

    Raises:
        RefusedError: It is not one of these.
    """
    interaction_id, _, owner = memory_id.partition(".")
    try:
        user_id = base64.urlsafe_b64decode(owner + "=" * (-len(owner) % 4)).decode()
    except (binascii.Error, ValueError):
        user_id = ""
    if not user_id or not interaction_id:
        raise RefusedError("memory not found", 404)
    return user_id, interaction_id


def said_in(episode: episodic_pb2.Episode) -> Said:
    """The turn of an episode."""
    return Said(
        interaction_id=episode.episode_id,
        text=episode.query or episode.response,
        time=episode.time.ToDatetime(UTC),
        role=episode.role,
        scope=episode.scope,
        metadata=dict(episode.metadata),
    )


def recalled(memory: recall_pb2.Memory) -> Said:
    """The turn of a recalled memory."""
    return Said(
        interaction_id=memory.memory_id,
        text=memory.turn.content,
        time=memory.turn.time.ToDatetime(UTC),
        role=memory.turn.role,
        scope=memory.scope,
        metadata=dict(memory.turn.metadata),
    )


def memories_of(user_id: str, turns: Iterable[Said]) -> list[Memory]:
    """The memories that some turns make up, in the order in which their first versions stand among these.

    A turn whose predecessors are not among them is a first version. Where one correction takes the place of several
    turns, it is the version of the one that it names first; the others are left out.
    """
    by_id = {said.interaction_id: said for said in turns}
    parents = {said.interaction_id: [p for p in said.corrects if p in by_id] for said in by_id.values()}
    replaced = {parent for named in parents.values() for parent in named}
    versions: dict[str, list[Said]] = defaultdict(list)
    for said in by_id.values():
        versions[_root(said.interaction_id, parents)].append(said)
    found = []
    for root, members in versions.items():
        later = sorted((one for one in members if one.interaction_id != root), key=lambda one: one.interaction_id)
        if later or root not in replaced:
            found.append(Memory(user_id, (by_id[root], *later)))
    order = {interaction_id: index for index, interaction_id in enumerate(by_id)}
    return sorted(found, key=lambda one: order[one.versions[0].interaction_id])


def _root(interaction_id: str, parents: Mapping[str, Sequence[str]]) -> str:
    seen = {interaction_id}
    while parents[interaction_id] and parents[interaction_id][0] not in seen:
        interaction_id = parents[interaction_id][0]
        seen.add(interaction_id)
    return interaction_id


def write_metadata(metadata: Mapping[str, Any], expiration_date: str | None) -> dict[str, str]:
    """As entries of a turn: texts as they are, other values as JSON.

    Raises:
        RefusedError: A key is reserved, or the date is not one.
    """
    if taken := _OWN_KEYS & set(metadata):
        raise RefusedError(f"metadata: {', '.join(sorted(taken))} is reserved")
    found = {key: value if isinstance(value, str) else json.dumps(value) for key, value in metadata.items()}
    if packed := [key for key, value in metadata.items() if not isinstance(value, str)]:
        found[_JSON_KEY] = json.dumps(packed)
    if expiration_date is not None:
        try:
            found[EXPIRATION_KEY] = date.fromisoformat(expiration_date).isoformat()
        except (TypeError, ValueError):
            raise RefusedError("expiration_date must be a date such as 2026-12-31") from None
    return found


def read_metadata(entries: Mapping[str, str]) -> dict[str, Any]:
    """The caller's metadata: inverse of `write_metadata`."""
    own = {key: value for key, value in entries.items() if key not in _OWN_KEYS}
    try:
        packed = set(read_json(entries.get(_JSON_KEY, "[]")))
        return {key: read_json(value) if key in packed else value for key, value in own.items()}
    except (ValueError, TypeError, RecursionError):  # written by another door
        return dict(own)
