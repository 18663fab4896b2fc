"""Settings of the clusters of episodes. Frozen; a part of the tier's settings."""

from __future__ import annotations

from dataclasses import dataclass

from services.common.settings_types import Count, Seconds, Share


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSettings:
    """The job that keeps clusters of a user's episodes."""

    is_enabled: bool = True  # whether the job runs by itself
    interval_seconds: Seconds = 3_600.0  # between two runs
    size_min: Count = 4  # episodes of the smallest cluster
    neighbours: Count = 2  # episodes around one, itself included, by which its density is measured
    finest: bool = True  # select clusters with none inside; false: those of the most mass, often one of nearly all
    computed_max: Count = 2_000  # episodes clustered at once; their distances take 4 bytes for each two of them
    changed_min: Count = 20  # new episodes of a user before clusters are computed anew
    changed_share: Share = 0.2  # of a user's episodes that must be new for that, of `computed_max` at the most
    compared_per_cluster: Count = 12  # most typical episodes of a cluster that a new one is compared with
    compared_max: Count = 6_000  # of them in all; those of the newest clusters
    vectors_page: Count = 100  # vectors of one call to the index, for which searches wait
    owners_page: Count = 100  # users listed by one statement
    page_size_default: Count = 50  # entries of a page where no number is asked for
    page_size_max: Count = 200  # entries of a page; more is cut to it
    id_chars_max: Count = 128  # a user id
