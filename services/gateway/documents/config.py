"""Settings of documents."""

from __future__ import annotations

from dataclasses import dataclass

from services.common.paging import RESPONSE_BYTES_MAX
from services.common.settings_types import Amount, Count, CountOrNone, ResponseBytes, Seconds


@dataclass(frozen=True, slots=True)
class DocumentSettings:
    """Bounds of documents; the contract documents the bounds of requests."""

    documents_per_user_max: Count = 10_000  # documents of a user that have not expired
    labels_max: Count = 16  # labels of a namespace, and names in the path of a filter
    label_chars_max: Count = 128  # characters of a label
    key_chars_max: Count = 512  # characters of a key, and of a name in the path of a filter
    name_bytes_max: Count = 1_024  # namespace and key together, in UTF-8
    value_bytes_max: Count = 262_144  # a value, in UTF-8
    value_depth_max: Count = 64  # objects and lists inside each other
    search_texts_max: CountOrNone = 16  # texts that one document is found by
    search_text_chars_max: Count = 8_000  # one of them, and a query
    ttl_seconds_min: Amount = 1.0  # the shortest time to live
    ttl_seconds_max: Seconds = 315_360_000.0  # the longest: 10 years
    batch_max: Count = 1_000  # documents that one request writes or names
    filters_max: CountOrNone = 16  # conditions of one request
    filter_chars_max: Count = 8_192  # the value of a condition
    scanned_max: Count = 1_000  # documents that the filters of one request look at
    embedded_max: CountOrNone = 256  # documents without a vector of the present model that one search embeds
    page_size_default: Count = 50  # of a page where no size is asked for
    page_size_max: Count = 200  # of a page; more is cut to it
    limit_default: Count = 10  # documents that a search returns where no number is asked for
    limit_max: Count = 200  # documents that a search may ask for
    page_bytes_max: ResponseBytes = RESPONSE_BYTES_MAX  # bytes of a response, and of the documents that filters look at
    expiry_seconds: Seconds = 600.0  # between two removals of what has expired
    expiry_rows_max: Count = 1_000  # documents removed by one statement
