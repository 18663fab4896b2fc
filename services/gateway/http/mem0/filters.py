"""Filters of mem0's API: which user, which entities, and conditions on memories."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from services.gateway.http.mem0.places import ENTITIES, Place
from services.gateway.http.mem0.refused import RefusedError

Condition: TypeAlias = Callable[[Mapping[str, Any]], bool]
"""Whether a memory, as its JSON, is wanted."""

_DEPTH_MAX: Final = 8
_CONDITIONS_MAX: Final = 100
_TIMES: Final = {"created_at": "created_at", "updated_at": "updated_at", "timestamp": "created_at"}
_ANY: Final = "*"


@dataclass(frozen=True, slots=True)
class Filter:
    """What a request asks for."""

    user_id: str
    entities: Sequence[tuple[str, Any]]  # conditions on the agent, the application and the run
    conditions: Sequence[Condition]  # on other fields

    def place(self) -> Place:
        """The one place that is asked for.

        Raises:
            RefusedError: The entities are not named one by one.
        """
        named: dict[str, str] = {}
        for name, wanted in self.entities:
            value = wanted.get("eq") if isinstance(wanted, dict) and len(wanted) == 1 else wanted
            if not isinstance(value, str) or not value or value == _ANY or named.get(name, value) != value:
                raise RefusedError(f"{name} must name one entity; only get_all takes wildcards and other operators")
            named[name] = value
        return Place(self.user_id, **named)

    def all_conditions(self) -> list[Condition]:
        """The conditions with those on entities; an entity that is not mentioned must be null."""
        missing = set(ENTITIES) - {name for name, _ in self.entities}
        found = [_holds(name, wanted) for name, wanted in self.entities]
        return [*found, *(_holds(name, None) for name in missing), *self.conditions]


def read_filter(filters: Any, named: Mapping[str, Any] | None = None) -> Filter:
    """Reads the filters of a request.

    Args:
        filters: As in its body; None where there are none.
        named: Entities that the request names beside them.

    Raises:
        RefusedError: They are not valid, name no user or several, or ask for what is not stored.
    """
    pairs = [*_conjuncts(filters or {}, 0), *((key, value) for key, value in (named or {}).items() if value)]
    if len(pairs) > _CONDITIONS_MAX:
        raise RefusedError(f"filters: at most {_CONDITIONS_MAX} conditions")
    users = {_equal(value) for key, value in pairs if key == "user_id"}
    if len(users) != 1:
        raise RefusedError("filters: exactly one user_id is required: every memory is a user's")
    return Filter(
        user_id=users.pop(),
        entities=[(key, value) for key, value in pairs if key in ENTITIES],
        conditions=[_compiled(key, value, 0) for key, value in pairs if key not in ENTITIES and key != "user_id"],
    )


def created_between(start: Any, end: Any) -> list[Condition]:
    """Conditions of `start_date` and `end_date`; a date without a time means all of that day."""
    found: list[Condition] = []
    if start is not None:
        found.append(_holds("created_at", {"gte": start}))
    if end is not None:
        whole_day = isinstance(end, str) and len(end) == len("2026-01-01")
        found.append(_holds("created_at", {"lte": f"{end}T23:59:59.999999+00:00" if whole_day else end}))
    return found


def read_time(value: Any) -> datetime:
    """A time of a request: seconds since 1970, a date or an RFC 3339 time; without an offset in UTC.

    Raises:
        RefusedError: It is not one.
    """
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
        parsed = datetime.fromisoformat(value)
    except (TypeError, ValueError, OverflowError, OSError):
        raise RefusedError("a time must be seconds since 1970, a date, or like 2026-03-01T09:30:00Z") from None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def _conjuncts(filters: Any, depth: int) -> Iterator[tuple[str, Any]]:
    if not isinstance(filters, dict) or depth > _DEPTH_MAX:
        raise RefusedError(f"filters must be objects, nested at most {_DEPTH_MAX} times")
    for key, value in filters.items():
        if key == "AND":
            for part in _parts(value):
                yield from _conjuncts(part, depth + 1)
        else:
            yield key, value


def _parts(value: Any) -> list[Any]:
    parts = value if isinstance(value, list) else [value]
    if len(parts) > _CONDITIONS_MAX:
        raise RefusedError(f"filters: at most {_CONDITIONS_MAX} conditions")
    return parts


def _equal(value: Any) -> str:
    wanted = value.get("eq") if isinstance(value, dict) and len(value) == 1 else value
    if not isinstance(wanted, str) or not wanted or wanted == _ANY:
        raise RefusedError("filters: user_id must name one user")
    return wanted


def _compiled(key: str, value: Any, depth: int) -> Condition:
    """One condition. Entities stand only outside OR and NOT: they decide what is read."""
    if depth > _DEPTH_MAX:
        raise RefusedError(f"filters must be nested at most {_DEPTH_MAX} times")
    if key in ("AND", "OR", "NOT"):
        parts = [_all_of([_compiled(k, v, depth + 1) for k, v in _object(part).items()]) for part in _parts(value)]
        if key == "AND":
            return _all_of(parts)
        is_wanted = key == "OR"
        return lambda memory: any(part(memory) for part in parts) is is_wanted
    if key == "metadata":
        wanted = _object(value)
        return _all_of([_holds_at(_metadata_value(name), condition) for name, condition in wanted.items()])
    if key == "keywords":
        return _holds_at(lambda memory: memory["memory"], value)
    if key == "memory_ids":
        return _holds("id", value if isinstance(value, dict) else {"in": value})
    if key in _TIMES:
        return _holds(_TIMES[key], value)
    if key == "user_id" or key in ENTITIES:
        raise RefusedError(f"filters: {key} must stand outside OR and NOT")
    raise RefusedError(f"filters: {key} is not a field of memories in Mneme")


def _all_of(parts: Sequence[Condition]) -> Condition:
    return lambda memory: all(part(memory) for part in parts)


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise RefusedError("filters: a condition must be an object")
    return value


def _metadata_value(name: str) -> Callable[[Mapping[str, Any]], Any]:
    return lambda memory: memory["metadata"].get(name)


def _holds(field: str, wanted: Any) -> Condition:
    if field in _TIMES:
        return _time_holds(field, wanted)
    return _holds_at(lambda memory: memory[field], wanted)


def _time_holds(field: str, wanted: Any) -> Condition:
    operators = wanted if isinstance(wanted, dict) else {"eq": wanted}
    compiled = {name: read_time(value) for name, value in operators.items()}
    return _holds_at(lambda memory: datetime.fromisoformat(memory[field]), compiled)


def _holds_at(value_of: Callable[[Mapping[str, Any]], Any], wanted: Any) -> Condition:
    if wanted == _ANY:
        return lambda memory: value_of(memory) is not None
    if not isinstance(wanted, dict):
        return lambda memory: value_of(memory) == wanted
    unknown = set(wanted) - set(_OPERATORS)
    if unknown:
        raise RefusedError(f"filters: {', '.join(sorted(unknown))} is not an operator")
    if not isinstance(wanted.get("in", []), list):
        raise RefusedError("filters: in takes a list")
    return lambda memory: all(_compare(name, value_of(memory), value) for name, value in wanted.items())


def _compare(name: str, value: Any, wanted: Any) -> bool:
    try:
        return bool(_OPERATORS[name](value, wanted))
    except (TypeError, AttributeError):  # values that do not compare, such as null with a number
        return False


_OPERATORS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "eq": lambda value, wanted: value == wanted,
    "ne": lambda value, wanted: value != wanted,
    "in": lambda value, wanted: value in wanted,
    "gt": lambda value, wanted: value > wanted,
    "gte": lambda value, wanted: value >= wanted,
    "lt": lambda value, wanted: value < wanted,
    "lte": lambda value, wanted: value <= wanted,
    "contains": lambda value, wanted: wanted in value,
    "icontains": lambda value, wanted: wanted.lower() in value.lower(),
}
