"""Settings of the vector index that its process reads too, which imports nothing else of the tier's settings."""

from __future__ import annotations

from dataclasses import dataclass

from services.common.settings_types import Amount, Count, Factor, Positive, Seconds, Share


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSettings:
    """How an episode's text becomes pieces and terms. A change needs a new index."""

    piece_chars: Count = 800  # characters of a piece: what the embedding model reads without truncation
    pieces_max: Count = 64  # indexed pieces of an episode; text beyond them is stored but not searched
    bm25_k: Amount = 1.2  # saturation of a term's frequency
    bm25_b: Share = 0.75  # how much a long piece is discounted, in [0, 1]
    bm25_avg_terms: Positive = 20.0  # terms of a typical piece: dialogue turns are short
    bm25_language: str = "english"  # stemmer and stop words


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeSettings:
    """The embedded vector engine. Its process does one call after the other, so work is cut small."""

    upsert_points_max: Count = 64  # points in one call
    flush_seconds: Seconds = 10.0  # a power failure may cost the index this much; a kill of the process nothing
    flush_pause_factor: Amount = 9.0  # pause after a flush by its time: 9 leaves nine tenths of a slow disk's time
    search_timeout_seconds: Seconds = 2.0  # of a search while the engine is busy; then by words alone
    lock_wait_seconds: Amount = 15.0  # at a start, for the engine of a service that was killed to end
    verify_points: Count = 256  # read in one step after a crash, to see whether the files are sound
    verify_pause_seconds: Amount = 0.02  # between two such steps
    optimize_after_points: Count = 10_000  # unindexed points that make building a segment worth its time
    optimize_quiet_seconds: Amount = 2.0  # time without a search before building one may hold up searches
    optimize_loaded_after_points: Count = 15_000  # unindexed points that are built into one whatever is searched
    segment_points_max: Count = 16_000  # of a segment that is built; searches of the engine wait meanwhile
    exact_up_to_kilobytes: Count = 30_000  # vectors of one owner (1.5 KB each) that are searched without a graph
    search_threads: Count = 1  # of the engine: a query this short gains nothing from two
    overfetch_factor: Factor = 1.25  # pieces fetched for each wanted episode, for several pieces and ties
    cached_points_min: Count = 500  # pieces of an owner that are worth caching, to be compared outside the engine
    prefetch_pause_seconds: Amount = 0.005  # between two steps of loading an owner, so that other work goes on
    purge_poll_seconds: Seconds = 2.0  # how often to look whether a purge of the files is asked for
