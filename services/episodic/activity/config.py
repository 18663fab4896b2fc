"""Settings of the activity log. Frozen; a part of the tier's settings."""

from __future__ import annotations

from dataclasses import dataclass, field

from services.common.paging import RESPONSE_BYTES_MAX
from services.common.settings_types import Amount, Count, CountOrNone, ResponseBytes, Seconds, Share


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityLimits:
    """Bounds of the activity log; each exceeded one is an error that names the field."""

    id_chars_max: Count = 128  # ids, names of tools, kinds of items, reasons of snapshots
    path_chars_max: Count = 1_024  # a path
    text_chars_max: Count = 4_096  # a description, an error, a reason, a summary, an outcome, a learning
    payload_chars_max: Count = 16_384  # parameters or result of a tool
    batch_max: Count = 1_000  # records in one request or message
    snapshot_items_max: Count = 2_000  # items of a context snapshot
    future_seconds_max: Amount = 86_400.0  # how far a record's time may be ahead of this machine's clock
    query_chars_max: Count = 8_192  # a description that tasks should be similar to
    search_chars_max: Count = 2_048  # what is searched for in the log
    page_size_default: Count = 50  # records of a page where no number is asked for
    page_size_max: Count = 200  # records of a page; more is cut to it
    limit_default: Count = 10  # hits of a search where no number is asked for
    limit_max: Count = 200  # hits of a search
    edited_count_max: Count = 1_000  # `count_min` of ListEditedTogether
    within_seconds_max: Seconds = 86_400.0  # `within` of ListEditedTogether
    page_bytes_max: ResponseBytes = RESPONSE_BYTES_MAX  # bytes of a page


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityQuerySettings:
    """What queries look at."""

    edited_count_min: Count = 3  # how often files must be edited together to be a pair
    edited_within_seconds: Seconds = 300.0  # how far apart two edits of a pair may be
    edited_since_days: Count = 90  # edits that are looked at where no time is given
    edits_max: Count = 20_000  # the newest edits that are looked at
    burst_files_max: Count = 50  # other files around an edit; with more of them it says nothing about two files
    statistics_since_days: Count = 7  # tool executions that are counted where no time is given
    searched_max: Count = 50_000  # the newest records of a kind that a search looks at
    found_max: Count = 1_000  # of them, records with a word of the query that are compared
    history_tasks: CountOrNone = 10  # tasks that a file's history names
    history_recent: CountOrNone = 5  # interactions that it shows
    task_items_max: Count = 50  # files and tools that a task names
    compared_tasks_max: Count = 2_000  # the newest tasks that a search compares by meaning
    embedded_max: Count = 256  # of them, tasks without a vector that one search embeds, the newest
    similarity_min: Share = 0.35  # cosine from which a task is similar
    similar_tasks_searched: CountOrNone = 5  # similar tasks whose records a search in the log finds
    score_share_min: Share = 0.5  # of the best score, below which a record is not shown


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternSettings:
    """What is learned from the log."""

    is_enabled: bool = True  # whether the job runs by itself
    interval_seconds: Seconds = 3_600.0  # between two runs
    since_days: Count = 90  # records that are looked at
    records_max: Count = 20_000  # the newest edits and executions of a user that are looked at
    observed_min: Count = 2  # tasks that must show a fix or a refactoring
    fix_within_seconds: Seconds = 1_800.0  # from an error to the success of the same tool
    refactor_within_seconds: Seconds = 1_800.0  # from a renamed file to an edited one
    confidence_min: Share = 0.3  # below which nothing is stored
    per_kind_max: Count = 1_000  # patterns of a user and a kind, the most confident
    listed_max: Count = 1_000  # patterns of a user, of all kinds and scopes, that become procedures
    error_chars_max: Count = 200  # of an error's first line
    owners_page: Count = 100  # users listed by one statement


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityRetentionSettings:
    """How long records are stored. Months are partitions, made ahead and dropped as a whole."""

    is_enabled: bool = True  # whether the job runs by itself
    interval_seconds: Seconds = 86_400.0  # between two runs
    months: Count = 13  # whole months that are stored beside the present one
    months_ahead: Count = 2  # months whose partitions are made ahead


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivitySettings:
    """The activity log."""

    limits: ActivityLimits = field(default_factory=ActivityLimits)
    queries: ActivityQuerySettings = field(default_factory=ActivityQuerySettings)
    patterns: PatternSettings = field(default_factory=PatternSettings)
    retention: ActivityRetentionSettings = field(default_factory=ActivityRetentionSettings)
