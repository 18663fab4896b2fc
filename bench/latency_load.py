"""Fills the store of one size, in a process of its own: its memory is not that of the stack that is measured."""

from __future__ import annotations

import json
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from bench.common import BenchError, Target, open_channel, open_target, run
from bench.gateway import Gateway
from bench.load_store import LoadTimes, load_episodes_directly, load_through_gateway
from bench.prepared import PreparedEncoder
from bench.resources import Footprint, footprint
from services.cli.stack import StackSettings
from services.common.embedding.embedder import OnnxEmbedder
from services.common.embedding.encoder import EncoderSettings
from services.common.embedding.factory import EmbeddingSettings, load_encoder
from services.common.hosting import HostSettings

_LOADED_FILE: Final = "bench-loaded.json"


class Loading(StrEnum):
    """How a store is filled."""

    REAL = "real"
    """Through the gateway, every text embedded by the model."""
    PREPARED = "prepared"
    """Through the gateway, with prepared vectors instead of the model's."""
    DIRECT = "direct"
    """Prepared vectors into the episodic tier alone; the other tiers stay empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """What to load, and where."""

    folder: Path
    """Of the store."""
    size: int
    """Memories."""
    seed: int
    """Of texts and vectors."""
    loading: Loading
    """How."""
    host_settings: HostSettings
    """Which engines."""
    processes: bool
    """One process for each service, where the model embeds."""

    @property
    def data_dir(self) -> Path:
        """The stack's folder."""
        return self.folder / "data"


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the loading took."""

    times: LoadTimes
    start_seconds: float
    """Until the empty stack was ready."""
    empty: Footprint
    """Of the empty stack."""

    def report(self) -> dict[str, float]:
        """Its part of the report."""
        times = self.times
        return {
            "acknowledge_seconds": round(times.acknowledge_seconds, 3),
            "index_seconds": round(times.index_seconds, 3),
            "acknowledged_per_second": round(times.turns / times.acknowledge_seconds, 1),
            "indexed_per_second": round(times.turns / times.index_seconds, 1),
        }


def ensure_loaded(options: LoadOptions) -> Loaded:
    """Fill a store, or use the one that is there from a run with the same options.

    Raises:
        BenchError: The folder holds something else, or the loading failed.
    """
    file = options.folder / _LOADED_FILE
    wanted = {"size": options.size, "seed": options.seed, "loading": options.loading.value}
    if file.exists():
        content = json.loads(file.read_text("utf-8"))
        if content["options"] != wanted:
            raise BenchError(f"{options.folder} holds a store of other options: {content['options']}")
        return Loaded(LoadTimes(**content["times"]), content["start_seconds"], Footprint(**content["empty"]))
    if options.data_dir.exists():
        raise BenchError(f"{options.folder} holds a store that was not filled to the end")
    options.folder.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        loaded = process.submit(_run, options).result()
    file.write_text(json.dumps({"options": wanted} | asdict(loaded), indent=2), "utf-8")
    return loaded


def embedding_settings(data_dir: Path) -> EmbeddingSettings:
    """The model that a stack in this folder uses, as the stack sets it."""
    host = StackSettings(data_dir=data_dir).host_settings
    return EmbeddingSettings(
        data_dir=data_dir,
        model_dir=host.embedding_model_dir,
        encoder=EncoderSettings(intra_op_threads=host.embedding_threads),
    )


def _run(options: LoadOptions) -> Loaded:
    return run(_load(options))


async def _load(options: LoadOptions) -> Loaded:
    is_real = options.loading is Loading.REAL
    prepared: PreparedEncoder | None = None

    def make_embedder(settings: EmbeddingSettings) -> OnnxEmbedder:
        assert prepared is not None
        return OnnxEmbedder(prepared, settings.embedder)

    if not is_real:
        prepared = PreparedEncoder(load_encoder(embedding_settings(options.data_dir)), seed=options.seed)
    async with open_target(
        None,
        data_dir=options.data_dir,
        host_settings=options.host_settings,
        # The embedder of another process cannot be chosen from here.
        processes=options.processes and is_real,
        make_embedder=None if is_real else make_embedder,
    ) as target:
        empty = footprint(options.data_dir)
        times = await _fill(target, options, prepared)
        return Loaded(times, target.start_seconds or 0.0, empty)


async def _fill(target: Target, options: LoadOptions, prepared: PreparedEncoder | None) -> LoadTimes:
    if options.loading is not Loading.DIRECT:
        async with open_channel(target.gateway) as channel:
            return await load_through_gateway(Gateway(channel), options.size, seed=options.seed)
    assert prepared is not None
    async with open_channel(target.tiers["episodic"]) as channel:
        return await load_episodes_directly(channel, options.size, seed=options.seed, encoder=prepared)


def per_memory(empty: Footprint, full: Footprint, size: int) -> dict[str, Any]:
    """What a memory takes, in KiB: growth from the empty stack, divided by the number."""
    memory = full.process_rss + full.postgres_pss - empty.process_rss - empty.postgres_pss
    return {
        "disk_kibibytes": round((full.disk - empty.disk) * 1024 / size, 2),
        "memory_kibibytes": round(memory * 1024 / size, 2),
    }
