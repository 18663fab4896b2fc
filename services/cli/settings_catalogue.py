"""Every table of the settings' file with the dataclass that it fills."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from services.agentic.config import AgenticSettings
from services.common.cache import CacheSettings
from services.common.comparing.port import ComparerSettings
from services.common.disk import DiskSettings
from services.common.encryption.ring import EncryptionSettings
from services.common.language_model.port import LanguageModelSettings
from services.common.neo4j.graph import Neo4jSettings
from services.common.neo4j.hosted import FIELDS_OF_HOST
from services.common.parsing.port import ParserSettings
from services.common.postgres.pool import PoolSettings
from services.common.rates import RateSettings
from services.common.serving_model.following import ServingModelSettings
from services.common.settings_file import Setting, SettingsError, SettingsSource, settings_of
from services.common.shared_settings import POOL_FIELDS_OF_HOST, EmbeddingTuning
from services.common.turns import TurnLimits
from services.episodic.config import EpisodicSettings
from services.gateway.config import GatewaySettings
from services.semantic.config import SemanticSettings
from services.session.config import SessionSettings


@dataclass(frozen=True)
class Section:
    """A table at the top of the file."""

    name: str
    settings: type[Any]
    purpose: str
    without: frozenset[str] = frozenset()  # fields that have a variable of their own, or that the program sets

    def all_settings(self, instance: Any | None = None) -> Iterator[Setting]:
        """Its own settings, without those of shared tables."""
        found = settings_of(instance or self.settings(), self.name, without=self.without)
        seen = set()
        for setting in found:
            if setting.path.startswith(f"{self.name}.") and setting.path not in seen:
                seen.add(setting.path)
                yield setting


CATALOGUE: Final = (
    Section("gateway", GatewaySettings, "The gateway: requests, the journal, recall, prompt contexts."),
    Section("session", SessionSettings, "The session tier: windows of conversations."),
    Section("episodic", EpisodicSettings, "The episodic tier: episodes and their index."),
    Section("semantic", SemanticSettings, "The semantic tier: facts and profiles."),
    Section("agentic", AgenticSettings, "The agentic tier: notes and their links."),
    Section("turn", TurnLimits, "Limits of one turn. They apply to all services."),
    Section("rates", RateSettings, "Calls a second of one tenant, counted at the gateway."),
    Section("cache", CacheSettings, "The cache of a process: episodes, token vectors, facts, notes."),
    Section("disk", DiskSettings, "Free space of the disk that the embedded engines are on."),
    Section("postgres", PoolSettings, "Connections of each service to PostgreSQL.", POOL_FIELDS_OF_HOST),
    Section("neo4j", Neo4jSettings, "Connections of the semantic and the agentic tier to Neo4j.", FIELDS_OF_HOST),
    Section("comparer", ComparerSettings, "How statements are compared."),
    Section("parser", ParserSettings, "How texts are parsed for facts."),
    Section("encryption", EncryptionSettings, "Data keys in memory, where encryption at rest is on."),
    Section("language_model", LanguageModelSettings, "How the language model is used, where one is configured."),
    Section("embedding", EmbeddingTuning, "How the embedding model is run."),
    Section("serving_model", ServingModelSettings, "How a process follows a cut-over to another embedding model."),
)


def load_all(source: SettingsSource) -> dict[str, Any]:
    """The settings of every table, by its name.

    Raises:
        SettingsError: All problems of all tables.
    """
    loaded: dict[str, Any] = {}
    problems: list[str] = []
    for section in CATALOGUE:
        try:
            loaded[section.name] = source.load(section.settings, section.name, without=section.without)
        except SettingsError as error:
            problems.extend(error.problems)
    if problems:
        raise SettingsError(problems)
    return loaded
