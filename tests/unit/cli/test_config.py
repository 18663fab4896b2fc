from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from services.cli.main import app


def run(*arguments: str | Path, **variables: str) -> Result:
    """Runs a command without the variables of whoever runs the tests."""
    own = dict.fromkeys(name for name in os.environ if name.startswith("MNEME_"))
    environment: dict[str, str | None] = {**own, "COLUMNS": "400", **variables}
    return CliRunner().invoke(app, [str(argument) for argument in arguments], env=environment)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mneme.toml"
    path.write_text("[session.defaults]\nwindow_turns = 20\nttl = 60\n[turn]\ncontent_chars_max = 100\n", "utf-8")
    return path


def test_check_accepts_a_file(file: Path) -> None:
    result = run("config", "check", file)
    assert result.exit_code == 0
    assert "3 values" in result.stdout


def test_check_names_every_problem_of_every_table(tmp_path: Path) -> None:
    path = tmp_path / "mneme.toml"
    path.write_text("[session.defaults]\nwindow_turn = 20\n[agentic.linking]\nsimilarity_min = 2\n", "utf-8")
    result = run("config", "check", path)
    assert result.exit_code == 1
    assert "session.defaults.window_turns may be meant" in result.stderr
    assert "agentic.linking.similarity_min: should be less than or equal to 1, not 2" in result.stderr


def test_check_is_about_the_file_alone(file: Path) -> None:
    assert run("config", "check", file, MNEME_SESSION__DEFAULTS__WINDOW_TURNS="none").exit_code == 0


def test_check_refuses_a_missing_file(tmp_path: Path) -> None:
    assert run("config", "check", tmp_path / "mneme.toml").exit_code == 1


def test_show_says_where_values_come_from(file: Path) -> None:
    result = run("config", "show", MNEME_CONFIG=str(file), MNEME_SESSION__DEFAULTS__TTL="90", MNEME_LOG_LEVEL="debug")
    assert result.exit_code == 0
    rows = [line.strip().split(maxsplit=2) for line in result.stdout.splitlines()]
    assert ["session.defaults.window_turns", "20", str(file)] in rows
    assert ["session.defaults.ttl", "90", "MNEME_SESSION__DEFAULTS__TTL"] in rows
    assert ["turn.content_chars_max", "100", str(file)] in rows
    assert ["MNEME_LOG_LEVEL", "debug", "MNEME_LOG_LEVEL"] in rows
    assert "session.limits.window_turns_max" not in result.stdout


def test_show_hides_secrets() -> None:
    result = run(
        "config",
        "show",
        MNEME_POSTGRES_URL="postgresql://mneme:hidden1@db.example:5432/mneme",
        MNEME_SESSION_STORE_URL="redis://:hidden/2@cache.example",
        MNEME_POSTGRES_OWNER_URL="postgresql://db.example/mneme?password=hidden5&sslmode=require",
        MNEME_SERVICE_SECRET="hidden3" * 8,
        MNEME_NEO4J_PASSWORD="hidden4",
    )
    assert result.exit_code == 0
    assert "hidden" not in result.stdout
    assert "postgresql://mneme:***@db.example:5432/mneme" in result.stdout
    assert "MNEME_SERVICE_SECRET" in result.stdout


def test_show_all_lists_defaults_too() -> None:
    result = run("config", "show", "--all")
    assert result.exit_code == 0
    assert "session.limits.window_turns_max" in result.stdout
    assert "default" in result.stdout


def test_show_tells_what_cannot_be_used() -> None:
    result = run("config", "show", MNEME_SESSION__DEFAULTS__WINDOW_TURNS="0")
    assert result.exit_code == 1
    assert "MNEME_SESSION__DEFAULTS__WINDOW_TURNS: should be greater than or equal to 1, not 0" in result.stderr


def test_empty_variables_are_as_good_as_none() -> None:
    result = run("config", "show", MNEME_CONFIG="", MNEME_TLS_KEY="", MNEME_SESSION_TARGET="")
    assert result.exit_code == 0
    assert "nothing differs" in result.stdout
