from __future__ import annotations

import re

import pytest

from services.cli.settings_catalogue import CATALOGUE, load_all
from services.common.hosting import HostSettings
from services.common.settings_file import TABLES, Setting, SettingsSource
from tools.describe_configuration import PAGE, describe_configuration, description_of

SETTINGS = [setting for section in CATALOGUE for setting in section.all_settings()]


def test_the_page_is_what_the_classes_say() -> None:
    assert PAGE.read_text("utf-8") == describe_configuration(), "run: make docs"


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.path)
def test_every_setting_is_described(setting: Setting) -> None:
    assert description_of(setting), f"write a comment at {setting.owner.__name__}.{setting.name}"
    assert f"`{setting.variable}`" in PAGE.read_text("utf-8")


def test_every_variable_of_a_host_is_described() -> None:
    missing = [name for name, field in HostSettings.model_fields.items() if not field.description]
    assert missing == []


def test_every_table_is_in_the_catalogue() -> None:
    assert {section.name for section in CATALOGUE} == set(TABLES)


def test_no_two_settings_have_one_place() -> None:
    paths = [setting.path for setting in SETTINGS]
    assert sorted(set(paths)) == sorted(paths)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.path)
def test_a_default_may_be_written_down(setting: Setting) -> None:
    written = re.search(rf"`{setting.variable}` \|[^\n]*?\| `(.*?)` \|", PAGE.read_text("utf-8"))
    assert written
    section = next(section for section in CATALOGUE if setting.path.startswith(f"{section.name}."))
    source = SettingsSource.read(None, {setting.variable: written[1]})
    loaded = source.load(section.settings, section.name, without=section.without)
    assert loaded == section.settings()


def test_the_example_of_the_page_can_be_used(tmp_path_factory: pytest.TempPathFactory) -> None:
    page = PAGE.read_text("utf-8")
    example = re.search(r"```toml\n(.*?)```", page, re.DOTALL)
    variables = re.search(r"```bash\n(.*?)```", page, re.DOTALL)
    assert example
    assert variables
    file = tmp_path_factory.mktemp("settings") / "mneme.toml"
    file.write_text(example[1], "utf-8")
    given = dict(line.split("=", 1) for line in variables[1].splitlines())
    by_file = load_all(SettingsSource.read(file, {}))
    by_both = load_all(SettingsSource.read(file, {name: text.strip("'") for name, text in given.items()}))
    assert by_file["session"].defaults.window_turns == 20
    assert by_file["agentic"].limits.turn == by_file["turn"] == by_file["gateway"].limits.turn
    assert by_both == by_file
    defaults = load_all(SettingsSource.read(None, {}))
    changed = {name for name in by_file if by_file[name] != defaults[name]}
    assert changed == {"session", "episodic", "semantic", "agentic", "gateway", "turn"}
