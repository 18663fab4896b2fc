from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from services.common.settings_file import Setting, SettingsError, SettingsSource, settings_of
from services.common.settings_types import Count, Duration, Share, table


class Colour(enum.IntEnum):
    RED = 1
    DARK_BLUE = 2


@dataclass(frozen=True, slots=True)
class Bounds:
    length_max: Count = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    turns: Count = 10
    share: Share = 0.5
    name: str = "window"
    is_open: bool = True
    ttl: Duration = timedelta(hours=1)
    colours: frozenset[Colour] = frozenset({Colour.RED})
    order: tuple[Colour, ...] = (Colour.RED, Colour.DARK_BLUE)
    weights: Mapping[Colour, Share] = field(default_factory=lambda: {Colour.RED: 0.25, Colour.DARK_BLUE: 0.75})

    def __post_init__(self) -> None:
        if self.name == "door":
            raise ValueError("a door is not a window")


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    window: Window = field(default_factory=Window)
    bounds: Bounds = field(default_factory=Bounds, metadata=table("turn"))
    again: Bounds = field(default_factory=Bounds, metadata=table("turn"))
    floors: int = 2


def source(tmp_path: Path, text: str = "", **variables: str) -> SettingsSource:
    file = tmp_path / "mneme.toml"
    file.write_text(text, "utf-8")
    return SettingsSource.read(file, variables)


def problems(tmp_path: Path, text: str = "", **variables: str) -> str:
    with pytest.raises(SettingsError) as caught:
        source(tmp_path, text, **variables).load(House, "session")
    return str(caught.value)


def test_without_a_file_and_variables_all_is_default() -> None:
    assert SettingsSource.read(None, {"MNEME_LOG_LEVEL": "info", "HOME": "/"}).load(House, "session") == House()


def test_a_file_sets_every_kind_of_value(tmp_path: Path) -> None:
    text = """
    [session]
    floors = 3
    [session.window]
    turns = 20
    share = 1
    name = "bay"
    is_open = false
    ttl = 90.5
    colours = ["dark_blue", "red"]
    order = ["dark_blue"]
    [session.window.weights]
    red = 0.5
    """
    house = source(tmp_path, text).load(House, "session")
    assert house == House(
        floors=3,
        window=Window(
            turns=20,
            share=1.0,
            name="bay",
            is_open=False,
            ttl=timedelta(seconds=90.5),
            colours=frozenset(Colour),
            order=(Colour.DARK_BLUE,),
            weights={Colour.RED: 0.5, Colour.DARK_BLUE: 0.75},
        ),
    )


def test_a_variable_wins_over_the_file(tmp_path: Path) -> None:
    house = source(
        tmp_path,
        "[session.window]\nturns = 20\nname = 'file'",
        MNEME_SESSION__WINDOW__TURNS="30",
        MNEME_SESSION__FLOORS="4",
        MNEME_SESSION__WINDOW__TTL="60",
        MNEME_SESSION__WINDOW__IS_OPEN="false",
        MNEME_SESSION__WINDOW__COLOURS='["dark_blue"]',
        MNEME_SESSION__WINDOW__WEIGHTS__RED="0.1",
        MNEME_SESSION__WINDOW__WEIGHTS="{dark_blue = 0.2}",
    ).load(House, "session")
    assert house.floors == 4
    assert house.window == Window(
        turns=30,
        name="file",
        is_open=False,
        ttl=timedelta(minutes=1),
        colours=frozenset({Colour.DARK_BLUE}),
        weights={Colour.RED: 0.1, Colour.DARK_BLUE: 0.2},
    )


@pytest.mark.parametrize("text", ["bay window", '"bay window"', "'bay window'"])
def test_a_text_in_a_variable_needs_no_quotes(tmp_path: Path, text: str) -> None:
    house = source(tmp_path, MNEME_SESSION__WINDOW__NAME=text).load(House, "session")
    assert house.window.name == "bay window"


@pytest.mark.parametrize("text", ["007", "1.50", "true", "2026-11-21", "[3]", "a = b", "1\nother = 2"])
def test_a_text_in_a_variable_stays_as_it_is_written(tmp_path: Path, text: str) -> None:
    house = source(tmp_path, MNEME_SESSION__WINDOW__NAME=text).load(House, "session")
    assert house.window.name == text


def test_an_empty_variable_is_as_good_as_none(tmp_path: Path) -> None:
    chosen = source(
        tmp_path, "[session.window]\nname = 'file'", MNEME_SESSION__WINDOW__NAME="", MNEME_SESSION__FLOORS=""
    )
    assert chosen.load(House, "session") == House(window=Window(name="file"))
    assert source(tmp_path, MNEME_SESSION__WINDOW__NAME='""').load(House, "session").window.name == ""


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("turns = '20'", "should be a valid integer, not '20'"),
        ("turns = 20.0", "should be a valid integer, not 20.0"),
        ("turns = true", "should be a valid integer, not True"),
        ("turns = 0", "should be greater than or equal to 1, not 0"),
        ("share = 1.5", "should be less than or equal to 1, not 1.5"),
        ("share = nan", "should be a finite number, not nan"),
        ("name = 3", "should be a valid string, not 3"),
        ("is_open = 1", "should be a valid boolean, not 1"),
        ("ttl = '1h'", "should be a number of seconds, not '1h'"),
        ("ttl = true", "should be a number of seconds, not True"),
        ("ttl = 1e300", "should be a shorter time, not 1e+300"),
        ("ttl = 0", "should be greater than 0 seconds, not 0"),
        ("colours = ['green']", "should be one of red, dark_blue, not 'green'"),
        ("colours = 'red'", "should be an array, not 'red'"),
        ("order = [1]", "should be one of red, dark_blue, not 1"),
        ("weights = {green = 0.5}", "should be one of red, dark_blue, not 'green'"),
        ("weights = {red = 2}", "should be less than or equal to 1, not 2"),
        ("weights = 3", "should be a table, not 3"),
        ("turns = {red = 2}", "unknown setting"),
        ("turn = 20", "unknown setting; session.window.turns may be meant"),
        ("surface = 20", "unknown setting"),
        ("name = 'door'", "a door is not a window"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path: Path, line: str, message: str) -> None:
    text = problems(tmp_path, f"[session.window]\n{line}")
    assert "session.window" in text
    assert message in text


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    text = problems(
        tmp_path,
        "[session]\nfloors = 'two'\n[session.window]\nturns = 0\ndepth = 3\n[turn]\nlength_max = 0",
        MNEME_SESSION__WINDOW__SHARE="2",
    )
    file = tmp_path / "mneme.toml"
    assert set(text.splitlines()) == {
        f"{file}: session.window.depth: unknown setting",
        "MNEME_SESSION__WINDOW__SHARE: should be less than or equal to 1, not 2",
        f"{file}: session.window.turns: should be greater than or equal to 1, not 0",
        f"{file}: turn.length_max: should be greater than or equal to 1, not 0",
        f"{file}: session.floors: should be a valid integer, not 'two'",
    }


def test_settings_that_places_share_are_written_once(tmp_path: Path) -> None:
    house = source(tmp_path, "[turn]\nlength_max = 7").load(House, "session")
    assert house.bounds == house.again == Bounds(7)
    assert "turn.length_max may be meant" in problems(tmp_path, "[session.bounds]\nlength_max = 7")


def test_another_service_s_table_is_not_read(tmp_path: Path) -> None:
    assert source(tmp_path, "[agentic]\nanything = 3").load(House, "session") == House()


def test_what_the_program_sets_itself_cannot_be_given(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="unknown setting"):
        source(tmp_path, "[session]\nfloors = 3").load(House, "session", without={"floors"})


def test_the_rest_comes_from_the_base(tmp_path: Path) -> None:
    base = House(floors=9, window=Window(turns=5))
    house = source(tmp_path, "[session.window]\nshare = 0.1").load(House, "session", base=base)
    assert house == House(floors=9, window=Window(turns=5, share=0.1))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[sesion]\nfloors = 1", "there is no table sesion"),
        ("log_level = 'info'", "the variable MNEME_LOG_LEVEL may be meant"),
        ("[session", "mneme.toml"),
    ],
)
def test_a_file_that_says_nothing_sensible_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        source(tmp_path, text)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="nowhere"):
        SettingsSource.read(tmp_path / "nowhere.toml", {})


def test_a_variable_of_no_table_is_refused() -> None:
    with pytest.raises(SettingsError, match="MNEME_SESION__FLOORS: there is no table sesion"):
        SettingsSource.read(None, {"MNEME_SESION__FLOORS": "3"})


def test_every_setting_has_a_path_and_a_variable() -> None:
    found = {setting.path: setting for setting in settings_of(House(), "session")}
    assert found["session.floors"] == Setting("session.floors", House, "floors", int, 2)
    assert found["session.window.ttl"].variable == "MNEME_SESSION__WINDOW__TTL"
    assert [path for path in found if path.startswith("turn")] == ["turn.length_max"]


def test_a_file_that_is_not_there_is_named_once(tmp_path: Path) -> None:
    file = tmp_path / "mneme.toml"
    with pytest.raises(SettingsError) as caught:
        SettingsSource.read(file, {})
    assert str(caught.value) == f"{file}: No such file or directory"
