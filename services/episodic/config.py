"""Settings of the episodic tier."""

from __future__ import annotations

from dataclasses import dataclass, field

from services.common.turns import TurnLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSettings:
    """How an episode's text becomes pieces and terms. A change needs a new index."""

    piece_chars: int = 800  # characters of a piece: what the embedding model reads without truncation
    pieces_max: int = 64  # indexed pieces of an episode; text beyond them is kept but not searched
    bm25_k: float = 1.2  # saturation of a term's frequency
    bm25_b: float = 0.75  # how much a long piece is discounted, in [0, 1]
    bm25_avg_terms: float = 20.0  # terms of a typical piece: dialogue turns are short
    bm25_language: str = "english"  # stemmer and stop words


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeLimits:
    """Bounds of requests; each exceeded one is an error that names it."""

    turn: TurnLimits = field(default_factory=TurnLimits)  # of query, response and what comes with them
    id_chars_max: int = 128  # user, session and request ids
    store_batch_max: int = 256  # episodes in one StoreEpisodes
    get_batch_max: int = 500  # ids in one BatchGetEpisodes
    update_batch_max: int = 200  # ids in one RecordFeedback or RecordAccess
    include_max: int = 200  # include_episode_ids
    query_chars_max: int = 8_192  # of a search query
    top_k_default: int = 10
    top_k_max: int = 200
    lane_limit_default: int = 100  # hits of each lane
    lane_limit_max: int = 1_000
    neighbour_seeds_default: int = 60  # hits whose neighbours are added
    neighbour_seeds_max: int = 200
    neighbour_radius_default: int = 2  # turns before and after
    neighbour_radius_max: int = 5
    page_size_default: int = 50
    page_size_max: int = 200
    page_bytes_max: int = 3 * 1024 * 1024  # of a page; gRPC clients take 4 MiB unless told otherwise


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringSettings:
    """Constants of SearchEpisodes."""

    decay_scale_days: float = 365.0  # age at which the decay factor is one half
    feedback_factor_good: float = 1.2
    feedback_factor_bad: float = 0.5
    overfetch_factor: int = 5  # hits ranked by similarity for each one returned, since decay reorders them


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexerSettings:
    """The worker that embeds and indexes behind the acknowledgement."""

    batch_max: int = 64  # episodes claimed at once; their rows stay locked while they are embedded
    poll_seconds: float = 2.0  # how often to look for work nobody announced, such as another replica's leftovers
    retry_seconds_min: float = 1.0  # wait after a first failure; doubles with each
    retry_seconds_max: float = 300.0
    reconciled_owners: int = 100  # owners compared with the index by one statement
    reset_batch_max: int = 500  # episodes that one statement sends through again
    kept_vectors_max: int = 8_192  # pieces' vectors handed in by callers that wait in memory for their rows
    active_poll_seconds: float = 0.25  # how often wait_until_active looks for what another replica indexed

    def retry_seconds(self, failures: int) -> float:
        """How long to wait after so many failures, at least 1, in a row."""
        return min(self.retry_seconds_min * 2.0 ** min(failures - 1, 20), self.retry_seconds_max)


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeSettings:
    """The embedded vector engine. It stops the process while it works, so work is cut small."""

    upsert_points_max: int = 64  # points in one call: 1.5 ms
    flush_seconds: float = 1.0  # a power failure may cost the index this much; a kill of the process nothing
    optimize_after_points: int = 20_000  # unindexed points that make rebuilding segments worth its time
    optimize_quiet_seconds: float = 60.0  # time without a search before a rebuild may stop the process
    exact_up_to_kilobytes: int = 30_000  # vectors of one owner (1.5 KB each) that are searched without a graph
    search_threads: int = 1  # of the engine: a query this short gains nothing from two
    overfetch_factor: float = 1.25  # pieces fetched for each wanted episode, for several pieces and ties


@dataclass(frozen=True, slots=True, kw_only=True)
class QdrantServer:
    """Where a Qdrant server is that takes the place of the embedded engine."""

    url: str  # http:// or https://, host, and the gRPC port where it is not 6334
    api_key: str = field(default="", repr=False)
    authority: bytes | None = None  # PEM of the authority of its certificate; None: those that everyone trusts


@dataclass(frozen=True, slots=True, kw_only=True)
class QdrantSettings:
    """How a Qdrant server is used. What says "new" is fixed when a collection is made."""

    collection_prefix: str = "mneme-episodes"  # of the collections' names; the model's dimension and name follow
    shards: int = 1  # of a new collection; an owner is in one of them. More than 1 needs a server in cluster mode
    replication_factor: int = 1  # of each shard of a new collection
    exact_up_to_kilobytes: int = 30_000  # of a new collection: vectors of one owner that are searched without a graph
    upsert_points_max: int = 256  # points in one call
    upsert_bytes_max: int = 4 * 1024 * 1024  # of them, about
    keys_max: int = 512  # values in one condition of a filter
    overfetch_factor: float = 1.25  # pieces fetched for each wanted episode, for several pieces and ties
    ties_factor: int = 16  # pieces fetched at most for each wanted episode to see all that score as the last one
    search_timeout_seconds: int = 2  # of a search with its retries; whole seconds, as the server counts
    search_attempts: int = 2
    write_timeout_seconds: int = 20  # of one attempt to write, and until when another one is begun
    write_attempts: int = 4
    start_timeout_seconds: float = 30.0  # how long a server that is not up yet is waited for
    retry_seconds_min: float = 0.05  # wait after a first failure; doubles with each
    retry_seconds_max: float = 2.0  # also the longest wait that a server may ask for before the call fails


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotSettings:
    """Light columns of episodes kept in memory, some 0.6 KB an episode."""

    episodes_max: int = 100_000  # of all owners together; the least recently searched go first
    owner_episodes_max: int = 20_000  # an owner with more is read from the store for each search


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessSettings:
    """Access statistics, written behind the answer."""

    flush_seconds: float = 1.0
    buffered_max: int = 50_000  # episodes with uncounted accesses; beyond it accesses are dropped, not answers


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodicSettings:
    """Everything that can be set in this tier."""

    text: TextSettings = field(default_factory=TextSettings)
    limits: EpisodeLimits = field(default_factory=EpisodeLimits)
    scoring: ScoringSettings = field(default_factory=ScoringSettings)
    indexer: IndexerSettings = field(default_factory=IndexerSettings)
    edge: EdgeSettings = field(default_factory=EdgeSettings)
    qdrant: QdrantSettings = field(default_factory=QdrantSettings)
    snapshots: SnapshotSettings = field(default_factory=SnapshotSettings)
    access: AccessSettings = field(default_factory=AccessSettings)
