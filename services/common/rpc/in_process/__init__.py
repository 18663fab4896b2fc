"""Calls between services of one process without a socket."""

from services.common.rpc.in_process.channel import InProcessChannel
from services.common.rpc.in_process.server import InProcessServer

__all__ = ["InProcessChannel", "InProcessServer"]
