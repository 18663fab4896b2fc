"""Settings of the episodic tier."""

from __future__ import annotations

from dataclasses import dataclass, field

from services.common.maintenance.settings import MaintenanceSettings
from services.common.paging import RESPONSE_BYTES_MAX
from services.common.settings_types import (
    Amount,
    Count,
    CountOrNone,
    Factor,
    Positive,
    ResponseBytes,
    Seconds,
    Share,
    table,
)
from services.common.summaries import SummarySettings
from services.common.turns import TurnLimits
from services.episodic.activity.config import ActivitySettings
from services.episodic.clusters.config import ClusterSettings
from services.episodic.importance import ImportanceSettings
from services.episodic.index_config import EdgeSettings as EdgeSettings  # noqa: PLC0414 - part of the settings
from services.episodic.index_config import TextSettings as TextSettings  # noqa: PLC0414
from services.episodic.retention_store import FadingRule
from services.episodic.summaries.config import ModelSummarySettings


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeLimits:
    """Bounds of requests; each exceeded one is an error that names it."""

    turn: TurnLimits = field(default_factory=TurnLimits, metadata=table("turn"))  # of its texts
    id_chars_max: Count = 128  # user, conversation and request ids
    store_batch_max: Count = 256  # episodes in one StoreEpisodes
    get_batch_max: Count = 500  # ids in one BatchGetEpisodes
    update_batch_max: Count = 200  # ids in one RecordFeedback or RecordAccess
    removal_batch_max: Count = 10_000  # ids in one ArchiveEpisodes, RestoreEpisodes or DeleteEpisodes
    include_max: CountOrNone = 200  # include_episode_ids
    query_chars_max: Count = 8_192  # of a search query
    compared_questions_max: Count = 50  # on which one request compares two embedding models
    limit_default: Count = 10  # hits of a search where no number is asked for
    limit_max: Count = 200  # hits of a search
    retriever_limit_default: Count = 100  # hits of each retriever
    retriever_limit_max: Count = 1_000  # the same at most
    neighbour_seeds_default: CountOrNone = 60  # hits whose neighbours are added
    neighbour_seeds_max: CountOrNone = 200  # the same at most
    neighbour_radius_default: CountOrNone = 2  # turns before and after
    neighbour_radius_max: CountOrNone = 5  # the same at most
    page_size_default: Count = 50  # episodes of a page where no number is asked for
    page_size_max: Count = 200  # episodes of a page; more is cut to it
    page_bytes_max: ResponseBytes = RESPONSE_BYTES_MAX  # of what a response lists; gRPC clients take 4 MiB by default


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringSettings:
    """Constants of SearchEpisodes."""

    decay_scale_days: Positive = 365.0  # age at which the decay factor is one half
    feedback_factor_good: Positive = 1.2  # of the score of an episode whose feedback was good
    feedback_factor_bad: Positive = 0.5  # of one whose feedback was bad
    overfetch_factor: Count = 5  # hits ranked by similarity for each one returned, since decay reorders them


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexerSettings:
    """The worker that embeds and indexes after the acknowledgement."""

    batch_max: Count = 64  # episodes claimed at once; their rows stay locked while they are embedded
    poll_seconds: Seconds = 2.0  # how often to look for work nobody announced, such as another replica's leftovers
    retry_seconds_min: Amount = 1.0  # wait after a first failure; doubles with each
    retry_seconds_max: Amount = 300.0  # longest such wait
    outage_seconds_max: Amount = 15.0  # longest wait while the store or the index cannot be asked
    reconciled_owners: Count = 100  # owners compared with the index by one statement
    compare_seconds: Seconds = 21_600.0  # how often store and index are compared when nothing seems wrong
    reset_batch_max: Count = 500  # episodes that one statement sends through again
    scanned_pieces: Count = 256  # of the index, compared with the store one by one in one step
    scan_pause_seconds: Amount = 0.02  # least pause between two such steps, so that searches go first
    scan_pause_factor: Amount = 9.0  # pause by the time of the step before: 9 leaves nine tenths of the time to others
    orphans_share_max: Share = 0.5  # of a big index that may be removed because the store does not know it; 1: all
    orphans_small_index: CountOrNone = 1_000  # pieces that may be removed whatever share of the index they are
    pending_vectors_max: CountOrNone = 8_192  # vectors from requests that wait in memory until they are indexed
    pending_bytes_max: CountOrNone = 64 * 1024 * 1024  # of them and their token vectors
    active_poll_seconds: Seconds = 0.25  # how often wait_until_active looks for what another replica indexed

    def outage_seconds(self, failures: int) -> float:
        """How long to wait after so many failures of an engine in a row."""
        return min(self.retry_seconds(failures), self.outage_seconds_max)

    def retry_seconds(self, failures: int) -> float:
        """How long to wait after so many failures, at least 1, in a row."""
        return min(self.retry_seconds_min * 2.0 ** min(failures - 1, 20), self.retry_seconds_max)


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
    shards: Count = 1  # of a new collection; an owner is in one of them. More than 1 needs a server in cluster mode
    replication_factor: Count = 1  # of each shard of a new collection
    exact_up_to_kilobytes: Count = 30_000  # of a new collection: vectors of one owner that are searched without a graph
    upsert_points_max: Count = 256  # points in one call
    upsert_bytes_max: Count = 4 * 1024 * 1024  # of them, about
    keys_max: Count = 512  # values in one condition of a filter
    overfetch_factor: Factor = 1.25  # pieces fetched for each wanted episode, for several pieces and ties
    ties_factor: Count = 16  # pieces fetched at most for each wanted episode to see all that score as the last one
    search_timeout_seconds: Count = 2  # of a search with its retries; whole seconds, as the server counts
    search_attempts: Count = 2  # tries of a search within that time
    write_timeout_seconds: Count = 20  # of one attempt to write, and until when another one is begun
    write_attempts: Count = 4  # tries of a write within that time
    start_timeout_seconds: Seconds = 30.0  # how long a server that is not up yet is waited for
    retry_seconds_min: Amount = 0.05  # wait after a first failure; doubles with each
    retry_seconds_max: Amount = 2.0  # also the longest wait that a server may ask for before the call fails


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenSettings:
    """Token vectors of episodes: recall compares questions with turns word by word, for some 5 KB on disk a turn."""

    stored: bool = True  # whether they are stored and compared; those that are stored already stay
    search_bytes_max: CountOrNone = 8 * 1024 * 1024  # compared in one search, by the lengths of texts; 0: none
    query_tokens_max: Count = 64  # word pieces of a question that are compared, the first ones
    prefetch_pause_seconds: Amount = 0.005  # between two steps of a prefetch, so that other work goes on
    read_timeout_seconds: Seconds = 0.25  # what reading may take; candidates are ranked without where it takes longer
    backfill_batch: Count = 16  # old episodes that are given token vectors at once
    backfill_scanned: Count = 500  # episodes looked at in one step for such without
    backfill_pause_seconds: Amount = 0.05  # between two such steps, so that other work goes first


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionSettings:
    """The job that archives episodes; what is archived is readable and can be restored."""

    is_enabled: bool = True  # whether the job runs by itself
    interval_seconds: Seconds = 86_400.0  # between two runs
    active_max: Count = 100_000  # active episodes of a user; the weakest beyond it are archived
    newest_kept: CountOrNone = 100  # newest episodes of a user that stay whatever their strength
    strength_min: Share = 0.1  # of importance x decay, below which an episode is archived; 0: none for that
    scale_days: Positive = 365.0  # since its last use, after which half of an episode's strength is left
    share_max: Share = 0.05  # of a user's active episodes that one run archives at most
    step_max: Count = 5_000  # episodes of a user that one run looks at, the weakest
    owners_page: Count = 100  # owners listed by one statement
    timed_page: Count = 1_000  # episodes whose times of fading one statement computes, where it is not known yet

    @property
    def rule(self) -> FadingRule:
        """When an episode has faded."""
        return FadingRule(scale_days=self.scale_days, strength_min=self.strength_min)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessSettings:
    """Access statistics, written after the response."""

    flush_seconds: Seconds = 1.0  # how long a count may wait to be written
    buffered_max: Count = 50_000  # episodes with uncounted accesses; beyond it accesses are dropped


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeSettings:
    """The job that rewrites files after erasures (docs/erasure.md)."""

    is_enabled: bool = False  # calls wait while their table is rewritten; on a server, needs MNEME_POSTGRES_PURGE_URL
    look_seconds: Seconds = 30.0  # how often it looks whether something is due
    age_seconds: Seconds = 3_600.0  # after an erasure, until it is due however little it erased
    memories_min: Count = 10_000  # memories that were erased since the last purge from which it is due at once
    interval_seconds: Seconds = 3_600.0  # from the beginning of one purge of the job to that of the next, at least
    hold_seconds: Seconds = 20.0  # calls of one table wait at most for this long; one that takes longer stays as it is
    attempts: Count = 20  # at the lock of a table before it is left for the next purge


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodicSettings:
    """Everything that can be set in this tier."""

    text: TextSettings = field(default_factory=TextSettings)
    limits: EpisodeLimits = field(default_factory=EpisodeLimits)
    scoring: ScoringSettings = field(default_factory=ScoringSettings)
    indexer: IndexerSettings = field(default_factory=IndexerSettings)
    maintenance: MaintenanceSettings = field(default_factory=MaintenanceSettings)
    edge: EdgeSettings = field(default_factory=EdgeSettings)
    qdrant: QdrantSettings = field(default_factory=QdrantSettings)
    tokens: TokenSettings = field(default_factory=TokenSettings)
    cached_episodes_max: CountOrNone = 200_000  # columns of an owner with more are read from the store for each search
    former_candidates: Count = 200  # episodes of which those are chosen that had been recorded by a time, at least
    archived_candidates: CountOrNone = 50  # archived episodes that a search as of a time compares; 0: none
    timed_candidates: CountOrNone = 50  # episodes of a time that a question names, where no other is found; 0: none
    importance: ImportanceSettings = field(default_factory=ImportanceSettings)
    summaries: SummarySettings = field(default_factory=SummarySettings)
    model_summaries: ModelSummarySettings = field(default_factory=ModelSummarySettings)
    retention: RetentionSettings = field(default_factory=RetentionSettings)
    access: AccessSettings = field(default_factory=AccessSettings)
    purging: PurgeSettings = field(default_factory=PurgeSettings)
    activity: ActivitySettings = field(default_factory=ActivitySettings)
    clusters: ClusterSettings = field(default_factory=ClusterSettings)
