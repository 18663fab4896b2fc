"""Checks of requests that name every wrong field by its path, all at once."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Final, NamedTuple, TypeVar
from uuid import UUID

from services.common.errors import FieldViolation, InvalidArgument, Reason

_T = TypeVar("_T")

_NUL: Final = "\x00"
# They part the ids inside keys, cannot be stored by every store, or are not text at all.
_NOT_IN_IDS: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


class _Found(NamedTuple):
    reason: Reason
    violation: FieldViolation
    facts: dict[str, str]


def may_be_identifier(value: str) -> bool:
    """Returns whether a text could be an id that a caller chose, of whatever length."""
    return bool(value.strip()) and _NOT_IN_IDS.search(value) is None


class Violations:
    """Collects what is wrong with a request.

    Each check returns whether the field is good, so that dependent checks can be left out:

        violations = Violations()
        violations.text("user_id", request.user_id, chars_max=128)
        violations.raise_if_any()
    """

    def __init__(self) -> None:
        """Nothing is wrong yet."""
        self._found: list[_Found] = []

    def add(
        self,
        field_path: str,
        description: str,
        *,
        reason: Reason = Reason.INVALID_FIELD,
        facts: dict[str, str] | None = None,
    ) -> None:
        """Notes a violation that no other method finds, with the facts that its reason promises."""
        self._found.append(_Found(reason, FieldViolation(field_path, description), facts or {}))

    def include(self, error: InvalidArgument) -> None:
        """Takes over the violations of an error that a conversion raised, but for those that were found already."""
        known = {found.violation for found in self._found}
        new = [violation for violation in error.violations if violation not in known]
        self._found += [_Found(error.reason, violation, error.metadata) for violation in new]

    def read(self, convert: Callable[[], _T], otherwise: _T) -> _T:
        """What a conversion returns; `otherwise` where it raises `InvalidArgument`, whose violations are taken over."""
        try:
            return convert()
        except InvalidArgument as error:
            self.include(error)
            return otherwise

    def text(self, field_path: str, value: str, *, chars_max: int, required: bool = True) -> bool:
        """Checks that a text is there, not too long, and holds no NUL, which stores cannot hold."""
        before = len(self._found)
        if required and not value.strip():
            self.add(field_path, "is required")
        if len(value) > chars_max:
            description = f"has {len(value)} characters, at most {chars_max} are allowed"
            self.add(field_path, description, reason=Reason.TEXT_TOO_LONG, facts=_limit(chars_max, len(value)))
        if _NUL in value:
            self.add(field_path, "holds a NUL character")
        return len(self._found) == before

    def identifier(self, field_path: str, value: str, *, chars_max: int, required: bool = True) -> bool:
        """Checks an id that a caller chose, by the one rule of all services.

        It is not blank, not too long, and holds neither control characters nor halves of surrogate pairs. Empty
        is good where it is not required.
        """
        before = len(self._found)
        if required and not value:
            self.add(field_path, "is required")
        elif value and not value.strip():
            self.add(field_path, "must not be blank")
        if len(value) > chars_max:
            description = f"has {len(value)} characters, at most {chars_max} are allowed"
            self.add(field_path, description, reason=Reason.TEXT_TOO_LONG, facts=_limit(chars_max, len(value)))
        if _NOT_IN_IDS.search(value):
            self.add(field_path, "holds a control character")
        return len(self._found) == before

    def count(self, field_path: str, count: int, *, count_max: int, count_min: int = 0) -> bool:
        """Checks the number of items of a list."""
        if count < count_min:
            self.add(field_path, f"needs at least {count_min} items" if count_min > 1 else "is required")
        elif count > count_max:
            description = f"has {count} items, at most {count_max} are allowed"
            self.add(field_path, description, reason=Reason.TOO_MANY_ITEMS, facts=_limit(count_max, count))
        return count_min <= count <= count_max

    def number(self, field_path: str, value: float, *, low: float, high: float, unit: str = "") -> bool:
        """Checks that a number is finite and within its range, bounds included; `unit` is that of the bounds."""
        good = math.isfinite(value) and low <= value <= high
        if not good:
            self.add(field_path, f"must be between {_shown(low)} and {_shown(high)} {unit}".rstrip())
        return good

    def uuid(self, field_path: str, value: str) -> bool:
        """Checks that a text is a UUID."""
        try:
            UUID(value)
        except ValueError:
            self.add(field_path, "is required" if not value else "is not a UUID")
            return False
        return True

    def enum(self, field_path: str, value: int, known: type) -> bool:
        """Checks that a number is a value of an IntEnum without a zero member."""
        try:
            known(value)
        except ValueError:
            description = "is required" if value == 0 else f"has the unknown value {value}"
            self.add(field_path, description, reason=Reason.UNKNOWN_ENUM_VALUE)
            return False
        return True

    def page_size(self, value: int, *, default: int, maximum: int) -> int:
        """The page size to use: the default for zero. Too large a one is cut to the maximum, a negative one wrong."""
        if value < 0:
            self.add("page_size", "must not be negative")
        return min(value or default, maximum)

    def raise_if_any(self, message: str = "the request is not valid") -> None:
        """Raises `InvalidArgument` with everything that was found.

        Its reason is that of the violations if they all have one, with the facts of the first, else INVALID_FIELD.
        """
        if not self._found:
            return
        reasons = {found.reason for found in self._found}
        shared = reasons.pop() if len(reasons) == 1 else None
        raise InvalidArgument(
            message,
            reason=shared or Reason.INVALID_FIELD,
            metadata=self._found[0].facts if shared else None,
            violations=[found.violation for found in self._found],
        )


def _limit(limit: int, actual: int) -> dict[str, str]:
    return {"limit": str(limit), "actual": str(actual)}


def _shown(bound: float) -> str:
    """A bound as people read it: whole numbers in full."""
    return f"{int(bound):,}" if float(bound).is_integer() else f"{bound:g}"
