"""Settings from a TOML file and from variables: what users change without changing code.

Settings are frozen dataclasses with defaults, nested by subject. Each service has a table of its name in the file,
nested as its dataclasses are; a variable `MNEME_<TABLE>__<TABLE>__<SETTING>` sets a single value and wins over the
file. Both are read strictly: an unknown name, a wrong type or a value out of range is an error, never ignored.
"""

from __future__ import annotations

import dataclasses
import difflib
import enum
import math
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar, get_args, get_origin, get_type_hints

from pydantic import AllowInfNan, BeforeValidator, TypeAdapter, ValidationError

from services.common.settings_types import TABLE_KEY

_T = TypeVar("_T")

TABLES: Final = (
    "session",
    "episodic",
    "semantic",
    "agentic",
    "gateway",
    "turn",
    "rates",
    "postgres",
    "neo4j",
    "embedding",
    "serving_model",
    "cache",
    "encryption",
    "language_model",
    "comparer",
    "parser",
    "disk",
)
"""Tables that a file may have: one for each service, then what several services share."""

_PREFIX: Final = "MNEME_"
_SEPARATOR: Final = "__"


class SettingsError(ValueError):
    """What is given cannot be used. The message has a line for each problem and names where it is."""

    def __init__(self, problems: Iterable[str]) -> None:
        """Joins the problems, each of which is mentioned once."""
        self.problems = tuple(dict.fromkeys(problems))
        super().__init__("\n".join(self.problems))


@dataclass(frozen=True, slots=True)
class Given:
    """A value that is not left to its default."""

    value: Any
    """As TOML has it."""
    place: str
    """Where it stands, for messages: a variable's name, or the file and the path in it."""
    text: str | None = None
    """What a variable holds: settings that are texts take it as it is."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing that can be set."""

    path: str
    """Its place in the file: names of tables and its own, joined by dots."""
    owner: type
    """The dataclass that holds it."""
    name: str
    """Its field in the dataclass."""
    hint: Any
    """Its type, with its range."""
    value: Any
    """In the instance that was looked at; of an instance of defaults its default."""

    @property
    def variable(self) -> str:
        """The variable that sets it."""
        return _PREFIX + self.path.upper().replace(".", _SEPARATOR)


def settings_of(settings: Any, path: str, *, without: frozenset[str] = frozenset()) -> Iterator[Setting]:
    """Everything that can be set in an instance of a settings dataclass, in the order of its fields.

    Args:
        settings: The instance, with other such dataclasses in its fields.
        path: The table it stands in.
        without: Fields of `settings` itself that are set by other means.
    """
    hints = get_type_hints(type(settings), include_extras=True)
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        if field.name in without:
            continue
        if dataclasses.is_dataclass(value):
            yield from settings_of(value, field.metadata.get(TABLE_KEY, f"{path}.{field.name}"))
        else:
            yield Setting(f"{path}.{field.name}", type(settings), field.name, hints[field.name], value)


class SettingsSource:
    """What a file and the environment say."""

    def __init__(self, given: Mapping[str, Given]) -> None:
        """Takes the values by their paths."""
        self._given = dict(given)

    @classmethod
    def read(cls, file: Path | None, environment: Mapping[str, str]) -> SettingsSource:
        """Reads the file, if there is one, and the variables with a double underscore; other variables are not ours.

        A variable without a value is as good as none: templates of deployments leave such behind.

        Raises:
            SettingsError: The file cannot be read or is no TOML, or a table is not one of `TABLES`.
        """
        given = dict(_from_file(file)) if file else {}
        for name, text in environment.items():
            if text and name.startswith(_PREFIX) and _SEPARATOR in name:
                path = name.removeprefix(_PREFIX).lower().replace(_SEPARATOR, ".")
                given.update(_from_variable(path, name, text))
        problems = []
        for path, value in given.items():
            first, _, rest = path.partition(".")
            if not rest:
                hint = f"the variable {_PREFIX}{first.upper()} may be meant"
                problems.append(f"{value.place}: settings stand in tables, such as [session.defaults]; {hint}")
            elif first not in TABLES:
                problems.append(f"{value.place}: there is no table {first}; there are {', '.join(TABLES)}")
        if problems:
            raise SettingsError(problems)
        return cls(given)

    def __len__(self) -> int:
        """How many values are given."""
        return len(self._given)

    def given(self, path: str) -> list[Given]:
        """What is given for a setting: nothing, its value, or the values of its entries."""
        return [value for name, value in self._given.items() if name == path or name.startswith(f"{path}.")]

    def load(self, settings: type[_T], path: str, *, base: _T | None = None, without: Iterable[str] = ()) -> _T:
        """The settings of one table.

        Args:
            settings: A frozen dataclass whose fields all have defaults.
            path: The table, such as `session`.
            base: Where the rest comes from; an instance with its defaults where None.
            without: Fields that cannot be set here, since the program sets them.

        Raises:
            SettingsError: All problems of the table and of those that its fields name.
        """
        start = base if base is not None else settings()
        left_out = frozenset(without)
        known = {setting.path: setting for setting in settings_of(start, path, without=left_out)}
        problems = self._unknown(known, path)
        built = self._build(start, path, left_out, problems)
        if problems:
            raise SettingsError(problems)
        return built

    def _unknown(self, known: Mapping[str, Setting], path: str) -> list[str]:
        """Problems of names that mean nothing, in the table and in those that it shares with others."""
        tables = tuple({f"{path}.", *(f"{name.rpartition('.')[0]}." for name in known)})
        problems = []
        for name, given in self._given.items():
            parent = name.rpartition(".")[0]
            if name in known or (parent in known and _is_mapping(known[parent].hint)):
                continue
            if name.startswith(tables):
                meant = _similar(name, known)
                problems.append(f"{given.place}: unknown setting" + (f"; {meant} may be meant" if meant else ""))
        return problems

    def _build(self, start: _T, path: str, without: frozenset[str], problems: list[str]) -> _T:
        changes: dict[str, Any] = {}
        assert dataclasses.is_dataclass(start)
        assert not isinstance(start, type)
        hints = get_type_hints(type(start), include_extras=True)
        for field in dataclasses.fields(start):
            value = getattr(start, field.name)
            if field.name in without:
                continue
            if dataclasses.is_dataclass(value):
                inner = field.metadata.get(TABLE_KEY, f"{path}.{field.name}")
                changes[field.name] = self._build(value, inner, frozenset(), problems)
            elif self.given(f"{path}.{field.name}"):
                changes[field.name] = self._value(f"{path}.{field.name}", hints[field.name], value, problems)
        try:
            return dataclasses.replace(start, **changes)
        except ValueError as error:  # of the dataclass's own rules
            problems.append(f"{path}: {error}")
            return start

    def _value(self, path: str, hint: Any, start: Any, problems: list[str]) -> Any:
        given = self._given.get(path)
        if given is not None and _is_mapping(hint):
            problems.append(f"{given.place}: should be a table, not {given.value!r}")
            return start
        if given is not None:
            return _checked(given, hint, start, problems)
        # A table of values: what is not mentioned stays.
        changed = {name: value for name, value in self._given.items() if name.startswith(f"{path}.")}
        if not _is_mapping(hint):
            return start  # reported as unknown
        key_hint, value_hint = get_args(hint)
        result = dict(start)
        for name, value in changed.items():
            key = _checked(Given(name.removeprefix(f"{path}."), value.place), key_hint, None, problems)
            result[key] = _checked(value, value_hint, None, problems)
        return result


def written(value: Any) -> str:
    """A setting's value as it is written in the file."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, enum.Enum):
        return f'"{value.name.lower()}"'
    if isinstance(value, timedelta):
        return written(value.total_seconds())
    if isinstance(value, int | float):
        return f"{value:,}".replace(",", "_").removesuffix(".0")
    if isinstance(value, Mapping):
        inner = ", ".join(f"{written(key).strip(chr(34))} = {written(item)}" for key, item in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, tuple | frozenset):
        return f"[{', '.join(written(item) for item in value)}]"
    return f'"{value}"'


def _similar(path: str, known: Iterable[str]) -> str:
    """A setting of the same name elsewhere, or of a similar one in the same table; empty where there is none."""
    parent, _, name = path.rpartition(".")
    siblings = []
    for candidate in known:
        table_of, _, own = candidate.rpartition(".")
        if own == name:
            return candidate
        if table_of == parent:
            siblings.append(own)
    close = difflib.get_close_matches(name, siblings, n=1)
    return f"{parent}.{close[0]}" if close else ""


def _from_file(file: Path) -> Iterator[tuple[str, Given]]:
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError([f"{file}: {error.strerror}"]) from error
    except ValueError as error:
        raise SettingsError([f"{file}: {error}"]) from error
    for key, value in document.items():
        for path, inner in _flat(key, value):
            yield path, Given(inner, f"{file}: {path}")


def _from_variable(path: str, name: str, text: str) -> Iterator[tuple[str, Given]]:
    """A variable's value, written as in the file; what is no value of TOML is a text without its quotes."""
    try:
        document = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        document = {}
    value = document["value"] if document.keys() == {"value"} else text
    for inner_path, inner in _flat(path, value):
        yield inner_path, Given(inner, name, None if isinstance(value, dict | str) else text)


def _flat(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(f"{path}.{key}", inner)
    else:
        yield path, value


def _checked(given: Given, hint: Any, start: Any, problems: list[str]) -> Any:
    try:
        value = given.text if _base_type(hint) is str and given.text is not None else given.value
        return TypeAdapter(_readable(hint)).validate_python(value, strict=True)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            message = detail["msg"].removeprefix("Value error, ").removeprefix("Input ")
            message = message.replace("datetime.timedelta(0)", "0 seconds")
            problems.append(f"{given.place}: {message}, not {detail['input']!r}")
        return start


def _base_type(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def _is_mapping(hint: Any) -> bool:
    origin = get_origin(_base_type(hint))
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _readable(hint: Any) -> Any:
    """A type that takes what TOML has for a value: numbers for durations, names for enums, arrays for sets."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return Annotated[(_readable(arguments[0]), *arguments[1:])]
    if hint is float:
        return Annotated[float, AllowInfNan(False)]
    if hint is timedelta:
        return Annotated[timedelta, BeforeValidator(_duration)]
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return Annotated[hint, BeforeValidator(lambda name: _member(hint, name))]
    if origin in {tuple, frozenset}:
        inner = (_readable(arguments[0]), *arguments[1:])
        return Annotated[origin[inner], BeforeValidator(lambda items: _collected(origin, items))]
    return hint


def _duration(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("should be a number of seconds")
    try:
        return timedelta(seconds=value)
    except OverflowError:
        raise ValueError("should be a shorter time") from None


def _member(kind: type[enum.Enum], name: Any) -> Any:
    names = {member.name.lower(): member for member in kind}
    if not isinstance(name, str) or name.lower() not in names:
        raise ValueError(f"should be one of {', '.join(names)}")
    return names[name.lower()]


def _collected(kind: Any, items: Any) -> Any:
    if not isinstance(items, list):
        raise ValueError("should be an array")
    return kind(items)
