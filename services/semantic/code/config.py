"""Settings of the code graph. Frozen; a part of the tier's settings."""

from __future__ import annotations

from dataclasses import dataclass, field

from services.common.paging import RESPONSE_BYTES_MAX
from services.common.settings_types import Amount, Count, CountOrNone, Positive, ResponseBytes, Seconds, Share


@dataclass(frozen=True, slots=True)
class CodeRankingSettings:
    """How the files that a question is about are ranked."""

    body_k1: Positive = 1.2
    """How soon more of a term in one part of a file counts no more (BM25)."""
    body_b: Share = 0.6
    """How much long parts are held back."""
    names_k1: Positive = 1.2
    """The same for paths, names of definitions and summaries."""
    names_b: Share = 0.5
    """The same."""
    stem_weight: Amount = 4.0
    """How often a file's name counts, compared with a definition's."""
    variable_weight: Amount = 0.3
    """How often the name of a variable or of an alias of a type counts."""
    body_weight: Amount = 1.0
    """Weight of the best part of a file."""
    names_weight: Amount = 0.6
    """Weight of path, names and summary."""
    definitions_weight: Amount = 0.3
    """Raise for each definition that the question names."""
    definitions_max: Amount = 3.0
    """Definitions that count at most."""
    paths_weight: Amount = 0.6
    """Weight of a file that the question names."""
    bare_path_certainty: Share = 0.6
    """How surely a file name without a folder means a file of that name."""
    module_certainty: Share = 0.5
    """How surely a dotted name means the file of that module."""
    graph_weight: Amount = 0.3
    """Weight of nearness in the graph."""
    graph_damping: Share = 0.5
    """How far the ranking spreads over the graph."""
    graph_backward_share: Share = 0.3
    """What goes from a file to those that refer to it, not to those it refers to."""
    graph_seeds_max: Count = 50
    """Best files from which it spreads."""
    test_factor: Share = 0.3
    """Factor of tests, unless the question is about tests."""
    aside_factor: Share = 0.5
    """Factor of documentation, examples, scripts and compatibility code."""
    passing_on_factor: Share = 0.85
    """Factor of files that mostly pass on names."""
    removed_files_max: Count = 200
    """Removed or replaced files in an index beyond the number of its files; then it is built anew."""


@dataclass(frozen=True, slots=True)
class CodeLimits:
    """Bounds of the code graph; each exceeded one is an error that names the field."""

    id_chars_max: Count = 128
    """User ids, repository ids, request ids."""
    path_chars_max: Count = 1_024
    """A path."""
    node_chars_max: Count = 2_048
    """A symbol id or a path."""
    name_chars_max: Count = 512
    """A symbol that is searched for."""
    query_chars_max: Count = 32_768
    """A question or the text of an issue."""
    files_max: Count = 512
    """Files in one request."""
    removed_paths_max: Count = 10_000
    """Paths of removed files in one request."""
    related_paths_max: Count = 100
    """Related files of a search."""
    excerpt_lines_max: Count = 400
    """Lines of source text for each file of a search."""
    file_bytes_max: Count = 4 * 1024 * 1024
    """A file; a larger one is refused."""
    repository_files_max: Count = 20_000
    """Files of a repository."""
    page_size_default: Count = 50
    """Symbols, relations or repositories in a page where none is asked for."""
    page_size_max: Count = 200
    """The most of them; more is cut to it."""
    files_page_size_default: Count = 1_000
    """Files in a page where none is asked for."""
    files_page_size_max: Count = 5_000
    """The most of them; more is cut to it."""
    limit_default: Count = 10
    """Hits of a search where none is asked for."""
    limit_max: Count = 200
    """Hits of a search."""
    relations_max: Count = 10_000
    """Relations of one symbol or file that are listed."""
    hops_default: Count = 6
    """Relations in a path where none is asked for."""
    hops_max: Count = 10
    """The most of them."""
    path_nodes_max: Count = 20_000
    """Symbols and files that a search for a path visits."""
    token_budget_default: Count = 1_000
    """Tokens of an outline where none is asked for."""
    token_budget_max: Count = 32_000
    """The most of them."""
    page_bytes_max: ResponseBytes = RESPONSE_BYTES_MAX
    """Bytes of a page."""


@dataclass(frozen=True, slots=True)
class CodeSettings:
    """The code graph."""

    limits: CodeLimits = field(default_factory=CodeLimits)
    ranking: CodeRankingSettings = field(default_factory=CodeRankingSettings)
    parser_processes: Count = 2
    """Processes that parse large uploads; one more parses small ones. They start with the first files."""
    text_bytes_max: CountOrNone = 512 * 1024
    """Files of at most so many bytes are stored with their text, compressed; 0: none is."""
    parse_timeout_seconds: Seconds = 20.0
    """How long one batch of files may take to parse before its process is stopped."""
