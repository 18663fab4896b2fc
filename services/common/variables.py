"""Settings that are single variables: what is wrong with one is said by its name."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError
from pydantic_settings import BaseSettings

from services.common.settings_file import SettingsError


class VariableSettings(BaseSettings):
    """Settings from variables, each by its field's name in capitals behind the prefix."""

    def __init__(self, **values: Any) -> None:
        """Reads the environment; arguments win over it.

        Raises:
            SettingsError: Variables cannot be used, with a line for each. Without their values: some are passwords.
        """
        try:
            super().__init__(**values)
        except ValidationError as error:
            prefix = self.model_config.get("env_prefix", "")
            problems = []
            for detail in error.errors(include_url=False, include_input=False):
                message = detail["msg"].removeprefix("Value error, ").removeprefix("Input ")
                problems.append(f"{prefix}{'.'.join(map(str, detail['loc'])).upper()}: {message}")
            raise SettingsError(problems) from None
