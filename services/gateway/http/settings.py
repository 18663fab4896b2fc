"""Settings of HTTP beside gRPC."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """Limits of the HTTP server, and the web pages that may call it."""

    origins: tuple[str, ...] = ()  # web pages that may call, such as "https://app.example.com"; none by default
    serves_console: bool = True  # whether /console serves the console in the browser
    serves_mem0: bool = True  # whether /mem0 serves the calls of mem0's client
    mem0_wait_seconds: float = 5.0
    """How long add and update wait until searches find the text, and deletes until nothing finds it; 0: not at all."""
    mem0_listed_max: int = 10_000  # turns that one list of mem0's client reads at most; above it the list is refused
    message_bytes_max: int = 8 * 1024 * 1024  # of a request or response, uncompressed
    connections_max: int = 1_000  # above it, requests are refused with 503
    request_seconds: float = 5.0  # for the head of a request, and for its body
    idle_seconds: float = 75.0  # how long a connection is open without a request

    def __post_init__(self) -> None:
        """Raises ValueError for a setting that nothing could work with."""
        if self.message_bytes_max < 1 or self.connections_max < 1:
            raise ValueError("message_bytes_max and connections_max must be at least 1")
        if self.mem0_listed_max < 1 or self.mem0_wait_seconds < 0:
            raise ValueError("mem0_listed_max must be at least 1, and mem0_wait_seconds not negative")
        if self.request_seconds <= 0 or self.idle_seconds <= 0:
            raise ValueError("request_seconds and idle_seconds must be more than 0")
        if "*" in self.origins:
            raise ValueError('origins must name web pages: "*" would let any page call with its visitor\'s key')
