"""What the pages name exists: linked files and headings, commands with their options, targets of make, variables."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import typer

from services.cli.main import app

ROOT: Final = Path(__file__).parents[2]
_SKIPPED: Final = {".venv", ".git", "node_modules", ".cache"}
_HISTORY: Final = "CHANGELOG.md"  # names what was there at its time

_LINK: Final = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
_COMMAND: Final = re.compile(r"(?:`|\$ |^ {4,}|^)(?:\.venv/bin/)?mneme ([a-z-][^`]*)", re.MULTILINE)
_OPTION: Final = re.compile(r"--?[a-z][a-z-]*")
_TARGET: Final = re.compile(r"`make ([a-z][a-z0-9-]*)|^\$ make ([a-z][a-z0-9-]*)", re.MULTILINE)
_VARIABLE: Final = re.compile(r"\bMNEME_[A-Z0-9_]+__[A-Z0-9_]+\b")


def _pages() -> list[Path]:
    found = (page for page in ROOT.rglob("*.md") if not _SKIPPED & set(page.relative_to(ROOT).parts))
    return sorted(page for page in found if page.name != _HISTORY)


PAGES: Final = _pages()
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def _headings(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.*)", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}


@each_page
def test_links_lead_somewhere(page: Path) -> None:
    if page.name == "configuration_introduction.md":
        page = ROOT / "docs" / "configuration.md"  # which it is a part of
    for target, heading in _LINK.findall(page.read_text("utf-8")):
        if target.startswith(("http:", "https:", "mailto:")):
            continue
        found = page.parent / target if target else page
        assert found.exists(), target
        assert not heading or found.suffix != ".md" or heading in _headings(found), f"{target}#{heading}"


def _commands(page: Path) -> Iterator[list[str]]:
    for line in page.read_text("utf-8").splitlines():
        for match in _COMMAND.finditer(line):
            yield re.findall(r'"[^"]*"|\S+', re.split(r" [#|] |&&|;", match[1])[0])


@functools.cache
def _top() -> Any:
    return typer.main.get_command(app)


def _options(command: Any) -> set[str]:
    return {"--help"}.union(*(option.opts + option.secondary_opts for option in command.params))


@each_page
def test_commands_and_their_options_exist(page: Path) -> None:
    top = _top()
    for words in _commands(page):
        command, options = top, _options(top)
        for word in (word.strip("`.,:)(") for word in words):
            if word in getattr(command, "commands", {}):
                command = command.commands[word]
                options = options | _options(command) if command is not top else options
            elif word.startswith("-") and _OPTION.fullmatch(name := word.partition("=")[0]):
                assert name in options, " ".join(words)
        if words[0].strip("`.,:)(").isidentifier():
            first = words[0].strip("`.,:)(")
            assert first in top.commands, f"mneme {first}"


@each_page
def test_targets_of_make_exist(page: Path) -> None:
    known = set(re.findall(r"^([a-z][a-z0-9-]*):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = {target or other for target, other in _TARGET.findall(page.read_text("utf-8"))}
    assert named <= known, named - known


@each_page
def test_settings_by_variables_exist(page: Path) -> None:
    known = set(_VARIABLE.findall((ROOT / "docs" / "configuration.md").read_text("utf-8")))
    named = set(_VARIABLE.findall(page.read_text("utf-8")))
    assert named <= known, named - known


def test_the_list_of_pages_has_them_all() -> None:
    listed = {target for target, _ in _LINK.findall((ROOT / "docs" / "README.md").read_text("utf-8"))}
    assert {page.name for page in (ROOT / "docs").glob("*.md")} - {"README.md"} <= listed
