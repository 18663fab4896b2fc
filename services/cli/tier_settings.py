"""The settings of all services, as the file and the variables have them."""

from __future__ import annotations

import os
from dataclasses import dataclass

from services.agentic.config import AgenticSettings
from services.cli.stack_model import StackSettings
from services.common.settings_file import SettingsSource
from services.episodic.config import EpisodicSettings
from services.gateway.config import GatewaySettings
from services.semantic.config import SemanticSettings
from services.session.config import SessionSettings


@dataclass(frozen=True)
class TierSettings:
    """What each service of a stack is told."""

    source: SettingsSource
    session: SessionSettings
    episodic: EpisodicSettings
    semantic: SemanticSettings
    agentic: AgenticSettings
    gateway: GatewaySettings


def read_tier_settings(settings: StackSettings) -> TierSettings:
    """Reads the file that the settings name and the environment, before anything is started.

    Raises:
        SettingsError: They cannot be used.
    """
    source = SettingsSource.read(settings.host_settings.config, os.environ)
    return TierSettings(
        source=source,
        session=source.load(SessionSettings, "session"),
        episodic=source.load(EpisodicSettings, "episodic"),
        semantic=source.load(SemanticSettings, "semantic"),
        agentic=source.load(AgenticSettings, "agentic"),
        gateway=source.load(GatewaySettings, "gateway", base=settings.gateway),
    )
