"""Services of the gateway with something around each of their methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.message import DecodeError, Message

from services.common.rpc.server import ServiceBinding


def wrapped_binding(binding: ServiceBinding, wrap: Callable[[str, Any], Any]) -> ServiceBinding:
    """The same service, of which each handler has the form that `wrap` gives it, once, by its path."""

    def add_to_server(servicer: Any, server: Any) -> None:
        binding.add_to_server(servicer, _WrappingServer(server, wrap))

    return ServiceBinding(
        binding.full_name, add_to_server, binding.servicer, binding.roles, binding.withheld, binding.ready
    )


def messages_of(binding: ServiceBinding) -> Mapping[str, tuple[type[Message], type[Message]]]:
    """The messages of request and response of each method, by its path."""
    return {
        f"/{binding.full_name}/{method.name}": (
            message_factory.GetMessageClass(method.input_type),
            message_factory.GetMessageClass(method.output_type),
        )
        for method in descriptor_pool.Default().FindServiceByName(binding.full_name).methods
    }


def form_of(handler: Any) -> str:
    """The attribute of a handler that serves: unary_unary and so on."""
    asked = "stream" if handler.request_streaming else "unary"
    return f"{asked}_{'stream' if handler.response_streaming else 'unary'}"


def read_message(message: Any, kind: type[Message]) -> Message | None:
    """The message; calls that are passed on have it as bytes.

    None for what is no message, such as a stream, or bytes that cannot be read: who serves the call refuses them.
    """
    if isinstance(message, bytes):
        try:
            return kind.FromString(message)
        except DecodeError:
            return None
    return message if isinstance(message, Message) else None


def text_field(request: Message | None, name: str) -> str:
    """A field of text; empty where the message has none of this name."""
    if request is None or name not in request.DESCRIPTOR.fields_by_name:
        return ""
    value = getattr(request, name)
    return value if isinstance(value, str) else ""


class _WrappingServer:
    """Registers handlers with a server, each in another form."""

    def __init__(self, server: Any, wrap: Callable[[str, Any], Any]) -> None:
        self._server = server
        self._wrap = wrap

    def add_generic_rpc_handlers(self, handlers: Sequence[Any]) -> None:
        self._server.add_generic_rpc_handlers([_WrappedHandlers(handler, self._wrap) for handler in handlers])

    def add_registered_method_handlers(self, service_name: str, method_handlers: Mapping[str, Any]) -> None:
        self._server.add_registered_method_handlers(
            service_name,
            {name: self._wrap(f"/{service_name}/{name}", handler) for name, handler in method_handlers.items()},
        )


class _WrappedHandlers:
    """A generic handler whose methods have another form, each made once."""

    def __init__(self, inner: Any, wrap: Callable[[str, Any], Any]) -> None:
        self._inner = inner
        self._wrap = wrap
        self._made: dict[str, Any] = {}

    def service_name(self) -> Any:
        return self._inner.service_name()

    def service(self, details: Any) -> Any:
        path = details.method
        if path not in self._made:
            handler = self._inner.service(details)
            if handler is None:
                return None  # not remembered: names that callers make up take no memory
            self._made[path] = self._wrap(path, handler)
        return self._made[path]
