"""Fills the store of one size, in a process of its own: its memory is not that of the stack that is measured."""

from __future__ import annotations

import json
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from bench.common import BenchError, open_channel, open_target, run
from bench.gateway import Gateway
from bench.load_store import LoadTimes, load_through_gateway
from bench.multiply import copy_store, multiply
from bench.prepared import PreparedEncoder
from bench.resources import Footprint, footprint
from bench.stalls import stalls_shown
from services.cli.stack import StackSettings
from services.common.embedding.embedder import OnnxEmbedder
from services.common.embedding.encoder import EncoderSettings
from services.common.embedding.factory import EmbeddingSettings, load_encoder
from services.common.hosting import HostSettings
from services.common.shared_settings import encoder_settings

_LOADED_FILE: Final = "bench-loaded.json"
_TIMES: Final = 10
"""How often a memory is in a multiplied store, unless there is a larger one to begin with."""


class Loading(StrEnum):
    """How a store is filled."""

    REAL = "real"
    """Through the gateway, every text embedded by the model."""
    PREPARED = "prepared"
    """Through the gateway, with prepared vectors instead of the model's."""
    MULTIPLIED = "multiplied"
    """A smaller store that was loaded as one of the first two, each of its memories several times."""


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
    base = base_of(options) if options.loading is Loading.MULTIPLIED else None
    loaded = ensure_loaded(base) if base else None
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        if base and loaded:
            process.submit(_multiply, base, options).result()
        else:
            loaded = process.submit(_run, options).result()
    file.write_text(json.dumps({"options": wanted} | asdict(loaded), indent=2), "utf-8")
    return loaded


def base_of(options: LoadOptions) -> LoadOptions:
    """The smaller store that a multiplied one is made of, in a folder beside it: the largest there is, or a new one.

    Raises:
        BenchError: The size cannot be reached by multiplying.
    """
    found: list[LoadOptions] = []
    for file in options.folder.parent.glob(f"*/{_LOADED_FILE}"):
        known = json.loads(file.read_text("utf-8"))["options"]
        size, loading = known["size"], Loading(known["loading"])
        fits = options.size % size == 0 and 2 <= options.size // size <= _TIMES
        if fits and known["seed"] == options.seed and loading in {Loading.REAL, Loading.PREPARED}:
            found.append(replace(options, folder=file.parent, size=size, loading=loading))
    if found:
        return max(found, key=lambda one: one.size)
    if options.size % _TIMES:
        raise BenchError(f"{options.size} memories are not {_TIMES} times what could be loaded")
    size = options.size // _TIMES
    return replace(options, folder=options.folder.parent / str(size), size=size, loading=Loading.PREPARED)


def embedding_settings(data_dir: Path) -> EmbeddingSettings:
    """The model that a stack in this folder uses, as the stack sets it."""
    host = StackSettings(data_dir=data_dir).host_settings
    return EmbeddingSettings(
        data_dir=data_dir,
        model_dir=host.embedding_model_dir,
        encoder=encoder_settings(host, EncoderSettings()),
    )


def _run(options: LoadOptions) -> Loaded:
    return run(_load(options))


def _multiply(base: LoadOptions, options: LoadOptions) -> None:
    copy_store(base.data_dir, options.data_dir)
    run(multiply(options.data_dir, options.size // base.size, seed=options.seed))


async def _load(options: LoadOptions) -> Loaded:
    is_real = options.loading is Loading.REAL
    prepared: PreparedEncoder | None = None

    def make_embedder(settings: EmbeddingSettings) -> OnnxEmbedder:
        assert prepared is not None
        return OnnxEmbedder(prepared, settings.embedder)

    if not is_real:
        prepared = PreparedEncoder(load_encoder(embedding_settings(options.data_dir)), seed=options.seed)
    async with (
        stalls_shown(),
        open_target(
            None,
            data_dir=options.data_dir,
            host_settings=options.host_settings,
            # The embedder of another process cannot be chosen from here.
            processes=options.processes and is_real,
            make_embedder=None if is_real else make_embedder,
        ) as target,
    ):
        empty = footprint(options.data_dir)
        async with open_channel(target.gateway) as channel:
            times = await load_through_gateway(Gateway(channel), options.size, seed=options.seed)
        return Loaded(times, target.start_seconds or 0.0, empty)


def per_memory(empty: Footprint, full: Footprint, size: int) -> dict[str, Any]:
    """What a memory takes, in KiB: growth from the empty stack, divided by the number."""
    memory = full.process_rss + full.postgres_pss - empty.process_rss - empty.postgres_pss
    return {
        "disk_kibibytes": round((full.disk - empty.disk) * 1024 / size, 2),
        "memory_kibibytes": round(memory * 1024 / size, 2),
    }
