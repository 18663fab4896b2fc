"""Scopes: the places GLOBAL > PROJECT > SESSION > TASK that memories belong to and readers stand in."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from services.common.validation import Violations

#: Scope ids travel inside one key, so the separator must not occur in them.
SEPARATOR = "\x1f"


class ScopeLevel(IntEnum):
    """How far a memory may be seen; the numbers are those of the wire format."""

    GLOBAL = 1
    PROJECT = 2
    SESSION = 3
    TASK = 4


@dataclass(frozen=True, slots=True)
class Scope:
    """A place in the hierarchy, as the path that leads to it.

    Ids above the level may be empty: a session need not belong to a project. Ids below the level must be empty.

    An isolated context is a hierarchy of its own: its places are none of the shared one, so that nothing above them is
    seen from within, and nobody outside sees what is in them.
    """

    level: ScopeLevel = ScopeLevel.GLOBAL
    project_id: str = ""
    session_id: str = ""
    task_id: str = ""
    context_id: str = ""  # of an isolated context; empty for the hierarchy that all share

    @property
    def key(self) -> str:
        """The scope as one string: equal keys mean the same place. Stores filter by it."""
        ids = (self.project_id, self.session_id, self.task_id)[: self.level - 1]
        context = (self.context_id,) if self.context_id else ()
        return SEPARATOR.join((str(int(self.level)), *ids, *context))

    def visible_keys(self) -> tuple[str, ...]:
        """Keys of every place a reader here may see: its own and those above it on its path.

        A place above is on the path only where its id is known: a reader in a session without a project sees GLOBAL
        and the session, and no project.
        """
        return _visible_keys(self)

    def sees(self, other: Scope) -> bool:
        """Whether a reader here may see what belongs to `other`."""
        return other == self or other.key in self.visible_keys()

    @classmethod
    @functools.lru_cache(maxsize=1_024)  # a response's memories lie in a few places, which are read again and again
    def from_key(cls, key: str) -> Scope:
        """Reads a key back. The inverse of `key`."""
        first, *rest = key.split(SEPARATOR)
        level = ScopeLevel(int(first))
        project_id, session_id, task_id = (*rest[: level - 1], "", "", "")[:3]
        context_id = "".join(rest[level - 1 :])  # one or none
        return cls(level, project_id, session_id, task_id, context_id)


@functools.lru_cache(maxsize=1_024)  # each memory of a response is held against those of its reader
def _visible_keys(scope: Scope) -> tuple[str, ...]:
    context = scope.context_id
    keys = [Scope(context_id=context).key]
    if scope.level > ScopeLevel.PROJECT and scope.project_id:
        keys.append(Scope(ScopeLevel.PROJECT, scope.project_id, context_id=context).key)
    if scope.level > ScopeLevel.SESSION and scope.session_id:
        keys.append(Scope(ScopeLevel.SESSION, scope.project_id, scope.session_id, context_id=context).key)
    if scope.level > ScopeLevel.GLOBAL:
        keys.append(scope.key)
    return tuple(keys)


GLOBAL_SCOPE = Scope()


class Reader(Protocol):
    """Who reads, as far as it decides what is seen. A scope alone is a reader without grants."""

    def visible_keys(self) -> tuple[str, ...]:
        """Keys of every place that is seen, each once."""
        ...

    def sees(self, other: Scope) -> bool:
        """Whether what belongs to `other` is seen."""
        ...


@dataclass(frozen=True, slots=True)
class GrantedReader:
    """A reader who sees more places than those on its path.

    A granted place is seen by itself: neither what is above nor what is below it comes with it.
    """

    scope: Scope  # where it stands
    granted: tuple[Scope, ...]  # what it sees besides

    def visible_keys(self) -> tuple[str, ...]:
        """See `Reader`."""
        return tuple(dict.fromkeys((*self.scope.visible_keys(), *(scope.key for scope in self.granted))))

    def sees(self, other: Scope) -> bool:
        """See `Reader`."""
        return self.scope.sees(other) or other in self.granted


def keys_seen(reader: Reader | None) -> list[str] | None:
    """Keys of the places that are seen, for a store's filter; None where no reader narrows what is read."""
    return None if reader is None else list(reader.visible_keys())


def is_seen(scope: Scope, reader: Reader | None) -> bool:
    """Whether what belongs to a scope is seen; all of it is where no reader narrows what is read."""
    return reader is None or reader.sees(scope)


def check_scope(scope: Scope, *, field_path: str, id_chars_max: int = 128) -> None:
    """Checks that the ids fit the level.

    Raises:
        InvalidArgument: An id is missing at its own level, stands below the level, or breaks the rule of ids. Names
            each by its path below `field_path`.
    """
    violations = Violations()
    ids = {"project_id": scope.project_id, "session_id": scope.session_id, "task_id": scope.task_id}
    for level, (name, value) in zip((2, 3, 4), ids.items(), strict=True):
        path = f"{field_path}.{name}"
        if level == scope.level and not value:
            violations.add(path, f"is required at level {scope.level.name}")
        if level > scope.level and value:
            violations.add(path, f"must be empty at level {scope.level.name}")
        violations.identifier(path, value, chars_max=id_chars_max, required=False)
    violations.identifier(f"{field_path}.context_id", scope.context_id, chars_max=id_chars_max, required=False)
    violations.raise_if_any("the scope is not valid")
