"""A request that this router refuses itself."""

from __future__ import annotations


class RefusedError(Exception):
    """Becomes a response with this status, whose `detail` is the message."""

    def __init__(self, detail: str, status: int = 400) -> None:
        """The message is for people; it holds no content of memories."""
        super().__init__(detail)
        self.detail = detail
        self.status = status
