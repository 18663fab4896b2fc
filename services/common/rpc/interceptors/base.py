"""What interceptors are made of: blocks around a call, each a coroutine around the next one."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import grpc

if TYPE_CHECKING:  # the library's classes take no type arguments at run time
    Context: TypeAlias = grpc.aio.ServicerContext[Any, Any]
    Handler: TypeAlias = grpc.RpcMethodHandler[Any, Any]
else:
    Context = grpc.aio.ServicerContext
    Handler = grpc.RpcMethodHandler

Serve: TypeAlias = Callable[[Any, Context], Awaitable[Any]]

_CODE_NAMES: Final = {code.value[0]: code.name for code in grpc.StatusCode}


@dataclass(frozen=True, slots=True)
class Method:
    """A method that is served."""

    name: str  # full, such as "/mneme.gateway.v1.MemoryService/Recall"
    is_stream: bool = False  # in either direction: a call may last


class AroundInterceptor(ABC):
    """A block that runs around every call, before its request has come."""

    @abstractmethod
    def around(self, call: Serve, method: Method) -> Serve:
        """A handler with the block around another. Made once for each method; runs for each of its calls.

        Args:
            call: The other one, to be awaited where it is called. Its exceptions pass through the block.
            method: Which method it serves.
        """


def metadata_value(context: Context, key: str) -> str:
    """The first text value of a metadata key of the call; empty where there is none."""
    for name, value in context.invocation_metadata() or ():
        if name == key and isinstance(value, str):
            return value
    return ""


def code_name(context: Context, error: BaseException | None = None) -> str:
    """The status that a call ends with, by name.

    Args:
        context: The call. gRPC keeps its status as a number once it is set.
        error: What passes through the block, if anything does.
    """
    code: Any = context.code()
    number = code if isinstance(code, int) else code.value[0] if code is not None else 0
    if number == 0 and isinstance(error, asyncio.CancelledError):
        # Cancelled from outside: by its caller, by its caller's deadline, or because the server stops.
        remaining: float | None = context.time_remaining()
        return "DEADLINE_EXCEEDED" if remaining is not None and remaining <= 0.01 else "CANCELLED"
    if number == 0 and error is not None:
        return "UNKNOWN"
    return _CODE_NAMES.get(number, "UNKNOWN")
