"""Settings of what several services use: the database's connections, the embedding model, and telemetry."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from services.common.cache import CacheSettings
from services.common.comparing.port import Comparer, ComparerSettings, ThreadComparer
from services.common.comparing.process import ComparerProcess
from services.common.embedding.embedder import EmbedderSettings
from services.common.embedding.encoder import EncoderSettings
from services.common.embedding.factory import EmbeddingSettings
from services.common.encryption.carried import CarriedKeys
from services.common.encryption.key_management import KeyManagement
from services.common.encryption.ring import DataKeyRing, EncryptionSettings
from services.common.hosting import HostSettings
from services.common.language_model.port import LanguageModel, LanguageModelSettings, NoLanguageModel
from services.common.parsing.port import NoParser, Parser, ParserSettings
from services.common.parsing.process import ParserProcess
from services.common.postgres.pool import PoolSettings
from services.common.settings_file import SettingsError, SettingsSource
from services.common.telemetry import TelemetrySettings

POOL_FIELDS_OF_HOST: Final = frozenset({"size_max", "behind_pgbouncer", "application_name", "vectors"})
"""Settings of a pool that come from `HostSettings` or from the service itself."""


@dataclass(frozen=True, slots=True)
class EmbeddingTuning:
    """How the embedding model is run, whichever it is."""

    encoder: EncoderSettings = field(default_factory=EncoderSettings)
    """One run of the model."""
    embedder: EmbedderSettings = field(default_factory=EmbedderSettings)
    """How texts are gathered into runs."""


def pool_settings(
    source: SettingsSource, *, size_max: int, application_name: str, behind_pgbouncer: bool, vectors: bool
) -> PoolSettings:
    """A service's pool, from the table `postgres`.

    Raises:
        SettingsError: The table cannot be used.
    """
    given = source.load(PoolSettings, "postgres", without=POOL_FIELDS_OF_HOST)
    return dataclasses.replace(
        given,
        size_max=size_max,
        application_name=application_name,
        behind_pgbouncer=behind_pgbouncer,
        vectors=vectors,
    )


def telemetry_settings(service_name: str, host: HostSettings) -> TelemetrySettings:
    """Where the traces and metrics of a process go."""
    return TelemetrySettings(service_name, host.otlp_endpoint, metrics_listen=host.metrics_listen)


def encoder_settings(host: HostSettings, tuning: EncoderSettings) -> EncoderSettings:
    """How the embedding model is run: as tuned, with the threads that the environment sets, if it does."""
    if host.embedding_threads is None:
        return tuning
    return dataclasses.replace(tuning, intra_op_threads=host.embedding_threads)


def embedding_settings(source: SettingsSource, host: HostSettings, data_dir: Path) -> EmbeddingSettings:
    """The model and how it is run, from the table `embedding`.

    Raises:
        SettingsError: The table cannot be used.
    """
    tuning = source.load(EmbeddingTuning, "embedding")
    return EmbeddingSettings(
        data_dir=data_dir,
        model_dir=host.embedding_model_dir,
        encoder=encoder_settings(host, tuning.encoder),
        embedder=tuning.embedder,
    )


def second_embedding_settings(first: EmbeddingSettings, host: HostSettings) -> EmbeddingSettings | None:
    """The second model of a change of the model, run as the first one; None where there is none."""
    folder = host.embedding_second_model_dir
    return dataclasses.replace(first, model_dir=folder) if folder is not None else None


def create_language_model(source: SettingsSource, host: HostSettings) -> LanguageModel:
    """The language model of a process, from the table `language_model`; rules alone without one. The caller closes it.

    Raises:
        SettingsError: The table cannot be used, or the package `openai` is not installed.
    """
    settings = source.load(LanguageModelSettings, "language_model")
    if not host.llm_base_url or not host.llm_model:
        return NoLanguageModel()
    try:
        # Imported here: an optional requirement, and slow to load.
        from services.common.language_model.openai_compatible import OpenAILanguageModel
    except ImportError as error:
        raise SettingsError(["MNEME_LLM_BASE_URL needs the package openai: install mneme[llm]"]) from error
    return OpenAILanguageModel(
        host.llm_base_url, host.llm_model, api_key=host.llm_api_key.get_secret_value(), settings=settings
    )


def create_key_ring(source: SettingsSource, management: KeyManagement | None) -> DataKeyRing | None:
    """The data keys of a process, from the table `encryption`; None where encryption is off.

    Raises:
        SettingsError: The table cannot be used.
    """
    return DataKeyRing(management, source.load(EncryptionSettings, "encryption")) if management is not None else None


def create_carried_keys(source: SettingsSource, management: KeyManagement | None) -> CarriedKeys | None:
    """The data keys of stores that have no place for keys; see `create_key_ring`."""
    return CarriedKeys(management, source.load(EncryptionSettings, "encryption")) if management is not None else None


def create_parser(source: SettingsSource, host: HostSettings) -> Parser:
    """The parser of a process, from the table `parser`; it starts with the first text. The caller closes it.

    Raises:
        SettingsError: The table cannot be used.
    """
    settings = source.load(ParserSettings, "parser")
    return ParserProcess(host.parser_model, settings) if host.parser_model else NoParser()


def create_comparer(source: SettingsSource) -> Comparer:
    """What compares statements, from the table `comparer`; a process starts with the first one. The caller closes it.

    Raises:
        SettingsError: The table, or `cache`, cannot be used.
    """
    settings = source.load(ComparerSettings, "comparer")
    if not settings.in_own_process:
        return ThreadComparer()
    return ComparerProcess(settings, texts_seconds=source.load(CacheSettings, "cache").texts_seconds)
