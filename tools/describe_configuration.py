"""Writes docs/configuration.md from the settings' classes: `python tools/describe_configuration.py [--check]`.

A description is written where the setting is declared: as the docstring after the field, as the comment behind it, or
as the comment above it. So the page cannot know less than the code.
"""

from __future__ import annotations

import ast
import dataclasses
import enum
import functools
import importlib
import inspect
import io
import sys
import tokenize
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import annotated_types
from pydantic import SecretStr

from services.cli.settings_catalogue import CATALOGUE, Section
from services.common.hosting import HostSettings
from services.common.settings_file import Setting, written

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "configuration.md"

_UNITS = {
    "seconds": "seconds",
    "days": "days",
    "bytes": "bytes",
    "kilobytes": "kilobytes",
    "chars": "characters",
    "tokens": "tokens",
}


def describe_configuration() -> str:
    """The page, as Markdown."""
    introduction = (ROOT / "tools" / "configuration_introduction.md").read_text("utf-8")
    parts = [introduction.rstrip("\n"), _host_section(), *(_section(section) for section in CATALOGUE)]
    return "\n\n".join(parts) + "\n"


def _host_section() -> str:
    rows = []
    for name, field in HostSettings.model_fields.items():
        default = field.default.get_secret_value() if isinstance(field.default, SecretStr) else field.default
        value = "" if default is None or default == "" else f"`{written(default).strip(chr(34))}`"
        kind = _kind(Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation, name)
        rows.append(f"| `MNEME_{name.upper()}` | {kind} | {value} | {_escaped(field.description or '')} |")
    return "\n".join(
        [
            "## Addresses, engines, certificates",
            "",
            "Variables alone, of every service; one that does not use a thing ignores its variable. They are not in",
            "the file, since they differ from one deployment to the next and some of them are secrets.",
            "",
            "| Variable | Type | Default | What it is |",
            "|---|---|---|---|",
            *rows,
        ]
    )


def _section(section: Section) -> str:
    lines = [f"## `[{section.name}]`", "", section.purpose]
    table = ""
    for setting in sorted(section.all_settings(), key=_table_order(section)):
        if (own := setting.path.rpartition(".")[0]) != table:
            table = own
            if table != section.name:
                lines += ["", f"### `[{table}]`", "", (inspect.getdoc(setting.owner) or "").partition("\n")[0]]
            lines += ["", "| Setting, and its variable | Type | Default | What it is |", "|---|---|---|---|"]
        lines.append(
            f"| `{setting.name}`<br>`{setting.variable}` | {_kind(setting.hint, setting.name)} "
            f"| `{written(setting.value)}` | {_cell(description_of(setting))} |"
        )
    return "\n".join(lines)


def _table_order(section: Section) -> Callable[[Setting], tuple[int, int, int]]:
    """Tables in the order of the section's fields, each before those within it."""
    fields = [field.name for field in dataclasses.fields(section.settings)]
    order: dict[str, int] = {}
    for setting in section.all_settings():
        order.setdefault(setting.path.rpartition(".")[0], len(order))

    def key(setting: Setting) -> tuple[int, int, int]:
        table = setting.path.rpartition(".")[0]
        parts = table.split(".")[1:]
        return fields.index(parts[0]) if parts else -1, len(parts), order[table]

    return key


def description_of(setting: Setting) -> str:
    """What the source says about a setting; empty where it says nothing."""
    return _descriptions(setting.owner.__module__).get((setting.owner.__name__, setting.name), "")


@functools.cache
def _descriptions(module_name: str) -> Mapping[tuple[str, str], str]:
    source = inspect.getsource(importlib.import_module(module_name))
    comments = _comments(source)
    found = {}
    for owner in ast.walk(ast.parse(source)):
        if not isinstance(owner, ast.ClassDef):
            continue
        above = owner.body[0].lineno
        for statement, following in zip(owner.body, [*owner.body[1:], None], strict=True):
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                text = _docstring(following) or _comment(comments, above, statement)
                found[owner.name, statement.target.id] = text
            above = statement.end_lineno or statement.lineno
    return found


def _comments(source: str) -> Mapping[int, tuple[str, bool]]:
    """Each line's comment, and whether it has the line to itself."""
    return {
        token.start[0]: (token.string.lstrip("# "), not token.line[: token.start[1]].strip())
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }


def _docstring(statement: ast.stmt | None) -> str:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return " ".join(str(statement.value.value).split())
    return ""


def _comment(comments: Mapping[int, tuple[str, bool]], above: int, statement: ast.AnnAssign) -> str:
    """The comment behind the field with its further lines, else the one above it."""
    end = statement.end_lineno or statement.lineno
    if end in comments:
        return " ".join([comments[end][0], *_own_lines(comments, end + 1)])
    # A comment that continues the one behind the field before is that field's.
    start = above + 1
    if above in comments:
        start += sum(1 for _ in _own_lines(comments, start))
    return " ".join(comments[line][0] for line in range(start, statement.lineno) if line in comments)


def _own_lines(comments: Mapping[int, tuple[str, bool]], line: int) -> Iterator[str]:
    while line in comments and comments[line][1]:
        yield comments[line][0]
        line += 1


def _kind(hint: Any, name: str) -> str:
    """A type for readers: what to write, its unit and its range."""
    ranges: list[Any] = []
    while get_origin(hint) is Annotated:
        ranges += get_args(hint)[1:]
        hint = get_args(hint)[0]
    return ", ".join([_base_kind(hint, name), *_range(ranges)])


def _base_kind(hint: Any, name: str) -> str:
    origin, arguments = get_origin(hint), get_args(hint)
    if type(None) in arguments:
        return _base_kind(next(part for part in arguments if part is not type(None)), name)
    if origin in {tuple, frozenset}:
        return f"array of {_base_kind(arguments[0], name)}"
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return f"table from {_base_kind(arguments[0], name)} to {_kind(arguments[1], name)}"
    if hint in {int, float}:
        unit = next((_UNITS[part] for part in name.split("_") if part in _UNITS), "")
        whole = "whole number" if hint is int else "number"
        return f"{whole} of {unit}" if unit else whole
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return " or ".join(f"`{member.name.lower()}`" for member in hint)
    return {bool: "`true` or `false`", timedelta: "number of seconds", Path: "path", SecretStr: "secret"}.get(
        hint, "text"
    )


def _range(constraints: list[Any]) -> Iterator[str]:
    lowest: dict[str, Any] = {}
    for constraint in constraints:
        if isinstance(constraint, annotated_types.Ge):
            lowest["ge"] = constraint.ge
        elif isinstance(constraint, annotated_types.Gt):
            lowest["gt"] = constraint.gt
        elif isinstance(constraint, annotated_types.Le):
            lowest["le"] = constraint.le
    if "ge" in lowest and "le" in lowest:
        yield f"{written(lowest['ge'])} to {written(lowest['le'])}"
        return
    if "ge" in lowest:
        yield f"at least {written(lowest['ge'])}"
    if "gt" in lowest:
        yield f"above {written(lowest['gt'])}"
    if "le" in lowest:
        yield f"at most {written(lowest['le'])}"


def _cell(text: str) -> str:
    return _escaped(text[:1].upper() + text[1:])


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def main(arguments: list[str]) -> int:
    """Writes the page, or checks it: the exit code is 1 where it is out of date."""
    text = describe_configuration()
    if "--check" in arguments:
        if not PAGE.exists() or PAGE.read_text("utf-8") != text:
            print(f"{PAGE.relative_to(ROOT)} is out of date: run make docs")
            return 1
        return 0
    PAGE.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
