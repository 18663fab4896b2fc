"""The settings of all services, as the file and the variables have them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TypeVar

from services.agentic.config import AgenticSettings
from services.cli.stack_model import StackSettings
from services.common.cache import CacheSettings
from services.common.disk import DiskSettings
from services.common.rates import RateSettings
from services.common.serving_model.following import ServingModelSettings
from services.common.settings_file import SettingsError, SettingsSource
from services.episodic.config import EpisodicSettings
from services.gateway.config import GatewaySettings
from services.semantic.config import SemanticSettings
from services.session.config import SessionSettings

_T = TypeVar("_T")


@dataclass(frozen=True)
class TierSettings:
    """The settings of each service of a stack."""

    source: SettingsSource
    session: SessionSettings
    episodic: EpisodicSettings
    semantic: SemanticSettings
    agentic: AgenticSettings
    gateway: GatewaySettings
    cache: CacheSettings
    disk: DiskSettings
    rates: RateSettings
    serving_model: ServingModelSettings


def read_tier_settings(settings: StackSettings) -> TierSettings:
    """Reads the settings file and the environment, before anything is started.

    Raises:
        SettingsError: They cannot be used; the problems of all services at once.
    """
    source = SettingsSource.read(settings.host_settings.config, os.environ)
    problems: list[str] = []

    def load(kind: type[_T], table: str, base: _T | None = None) -> _T:
        try:
            return source.load(kind, table, base=base)
        except SettingsError as error:
            problems.extend(error.problems)
            return kind()

    tiers = TierSettings(
        source=source,
        session=load(SessionSettings, "session"),
        episodic=load(EpisodicSettings, "episodic"),
        semantic=load(SemanticSettings, "semantic"),
        agentic=load(AgenticSettings, "agentic"),
        gateway=load(GatewaySettings, "gateway", settings.gateway),
        cache=load(CacheSettings, "cache"),
        disk=load(DiskSettings, "disk"),
        rates=load(RateSettings, "rates"),
        serving_model=load(ServingModelSettings, "serving_model"),
    )
    if problems:
        raise SettingsError(problems)
    return tiers
