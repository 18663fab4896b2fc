"""Where an installation is, as a user names it for a copy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

from services.common.copying.model import CopyError
from services.common.datadir import DataDir
from services.common.hosting import HostSettings
from services.common.settings_file import SettingsSource

_PREFIX: Final = "MNEME_"
_EXPORT: Final = "export "
_QUOTES: Final = "\"'"


class PlaceSettings(HostSettings):
    """The engines that a file of variables names. The environment is ignored: it can describe one place at most."""

    postgres_admin_url: SecretStr = Field(
        default=SecretStr(""),
        description="PostgreSQL as a role that row-level security does not bind. Only copying needs it.",
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - the interface of the library
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments alone, not the environment."""
        return (init_settings,)


@dataclass(frozen=True, slots=True)
class Place:
    """An installation, before it is opened."""

    name: str  # as the user wrote it
    settings: PlaceSettings
    source: SettingsSource  # of the services' own settings, such as the names of collections

    @property
    def data_dir(self) -> Path | None:
        """The folder of its embedded engines, where it has any."""
        is_embedded = not (self.settings.postgres_url and self.settings.qdrant_url)
        return self.settings.data_dir if is_embedded else None


def read_place(text: str, *, is_target: bool) -> Place:
    """What a user means: a data folder, or a file of variables.

    Args:
        text: Path of either. Of a target, a folder that does not exist yet is a data folder to be made.
        is_target: Whether it is written to.

    Raises:
        CopyError: There is no such thing, or the file does not name the engines.
    """
    path = Path(text).expanduser().absolute()
    if path.is_file():
        return _of_variables(text, path, read_variables(path.read_text("utf-8")))
    if path.is_dir() and not is_target and not DataDir.is_one(path):
        raise CopyError(f"{text} is no data folder of Mneme")
    if path.is_dir() or (is_target and not path.suffix):
        return Place(text, PlaceSettings(data_dir=path), SettingsSource.read(None, {}))
    raise CopyError(f"{text} is neither a data folder nor a file of MNEME_ variables")


def read_variables(text: str) -> dict[str, str]:
    """Variables of a file with lines `NAME=value`; comments, `export` and quotes around a value are allowed.

    Raises:
        CopyError: A line is of another form.
    """
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip().removeprefix(_EXPORT)
        if not stripped or stripped.startswith("#"):
            continue
        name, separator, value = stripped.partition("=")
        if not separator or not name.strip().isidentifier():
            raise CopyError(f"line {number} of the file of variables is not of the form NAME=value")
        value = value.strip()
        if len(value) > 1 and value[0] == value[-1] and value[0] in _QUOTES:
            value = value[1:-1]
        found[name.strip()] = value
    return found


def _of_variables(text: str, path: Path, variables: Mapping[str, str]) -> Place:
    given: dict[str, Any] = {
        name.removeprefix(_PREFIX).lower(): value
        for name, value in variables.items()
        if name.startswith(_PREFIX) and value
    }
    try:
        settings = PlaceSettings(**given)
        source = SettingsSource.read(settings.config, variables)
    except ValueError as error:
        raise CopyError(f"{path}: {error}") from error
    if not settings.postgres_url and settings.data_dir is None:
        raise CopyError(f"{path} names neither MNEME_POSTGRES_URL nor MNEME_DATA_DIR")
    if not settings.qdrant_url and settings.qdrant_dir is None and settings.data_dir is None:
        raise CopyError(f"{path} names none of MNEME_QDRANT_URL, MNEME_QDRANT_DIR and MNEME_DATA_DIR")
    return Place(text, settings, source)
