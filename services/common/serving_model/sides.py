"""A tier that holds two embedding models: one composition, a side, for each, and which of them gets a call.

A side belongs to one model from its vectors to its index, so a call that a side has begun never meets the other
model's vectors. A call with a vector goes to the side of that vector's model, whichever serves: a caller that has not
followed a cut-over yet, or has followed before this process, gets a right response.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from mneme.common.v1 import common_pb2
from services.common.background import BackgroundWork
from services.common.cache import OwnerCache
from services.common.embedding.embedder import Embedder
from services.common.rpc.server import ServiceBinding
from services.common.serving_model.following import ServingModel, ServingModelSettings

StartWork = Callable[[BackgroundWork[str]], None]
"""Begins what only the serving side does in the background: indexing and jobs."""

_R = TypeVar("_R", bound="TierResources")

_VECTOR = common_pb2.Vector.DESCRIPTOR.full_name


class TierResources(Protocol):
    """Resources of a tier, a frozen dataclass."""

    @property
    def embedder(self) -> Embedder:
        """Of the first model."""
        ...

    @property
    def second_embedder(self) -> Embedder | None:
        """Of the second one, where there is one."""
        ...

    @property
    def serving(self) -> ServingModel | None:
        """Which of two models serves."""
        ...


@dataclass(frozen=True, slots=True)
class Side:
    """A tier as one model has it."""

    bindings: Sequence[ServiceBinding]
    start: StartWork


def each_model(resources: _R) -> list[_R]:
    """The resources of each side: the given ones, and where there is a second model those with the models exchanged.

    A side caches for itself, as a replica does: it would not learn what the other one has evicted.
    """
    second = resources.second_embedder
    if second is None:
        return [resources]
    exchanged = {"embedder": second, "second_embedder": resources.embedder, "cache": OwnerCache()}
    return [resources, replace(resources, **exchanged)]  # type: ignore[type-var]


def settle_seconds(resources: TierResources) -> float:
    """How long after a cut-over other processes may write with the former model; 0 where there is no second one."""
    if resources.second_embedder is None:
        return 0.0
    settings = ServingModelSettings() if resources.serving is None else resources.serving.settings
    return settings.settle_seconds


def serve_sides(
    name: str, background: BackgroundWork[str], sides: Mapping[str, Side], serving: ServingModel | None
) -> Sequence[ServiceBinding]:
    """Starts the serving side in `background`, and returns what is to be served.

    Args:
        name: Of the background work.
        background: Has it until it is closed.
        sides: By the fingerprint of their model, the first one first.
        serving: Which side serves; None: the first one for good.
    """
    first = next(iter(sides.values()))
    if len(sides) == 1:
        first.start(background)
        return first.bindings
    chosen = serving or ServingModel(tuple(sides))
    starts = {model: side.start for model, side in sides.items()}
    background.keep_running("serving-side", functools.partial(run_serving_side, name, starts, chosen))
    return dispatched({model: side.bindings for model, side in sides.items()}, chosen)


def dispatched(sides: Mapping[str, Sequence[ServiceBinding]], serving: ServingModel) -> list[ServiceBinding]:
    """The services of a tier, each call of which goes to one side.

    Args:
        sides: The same services of each side, in the same order, by the fingerprint of its model.
        serving: Says which side gets calls without vectors, and those with vectors of a model that is not held, which
            it refuses.
    """
    columns = zip(*sides.values(), strict=True)
    return [
        replace(bindings[0], servicer=_Dispatching(dict(zip(sides, bindings, strict=True)), serving))
        for bindings in columns
    ]


async def run_serving_side(name: str, starts: Mapping[str, StartWork], serving: ServingModel) -> None:
    """Keeps the background work of the serving side running, and of no other; ends only with an error or cancelled."""
    while True:
        model = serving.current
        async with BackgroundWork[str](name) as background:
            starts[model](background)
            await serving.changed(model)


def vector_model(message: Message) -> str:
    """The model of the first vector in a message; empty where it holds none."""
    for path in _vector_paths(message.DESCRIPTOR):
        for vector in _at(message, path):
            if vector.model:
                return str(vector.model)
    return ""


class _Dispatching:
    """A servicer whose methods are those of the side that a request is for."""

    def __init__(self, sides: Mapping[str, ServiceBinding], serving: ServingModel) -> None:
        self._sides = {model: binding.servicer for model, binding in sides.items()}
        self._serving = serving

    def __getattr__(self, name: str) -> Any:
        one = getattr(next(iter(self._sides.values())), name)
        if not callable(one):
            return one
        if inspect.isasyncgenfunction(one):

            async def stream(request: Any, context: Any) -> AsyncIterator[Any]:
                async for response in getattr(self._side(request), name)(request, context):
                    yield response

            return stream

        async def call(request: Any, context: Any) -> Any:
            return await getattr(self._side(request), name)(request, context)

        return call

    def _side(self, request: Any) -> Any:
        model = vector_model(request) if isinstance(request, Message) else ""
        return self._sides.get(model) or self._sides[self._serving.current]


@functools.cache
def _vector_paths(descriptor: Descriptor, within: tuple[str, ...] = ()) -> tuple[tuple[str, ...], ...]:
    """The fields that lead to vectors, by their names."""
    found: list[tuple[str, ...]] = []
    for field in descriptor.fields:
        kind = field.message_type
        if kind is None or kind.full_name in within:
            continue
        if kind.full_name == _VECTOR:
            found.append((field.name,))
        else:
            inner = _vector_paths(kind, (*within, descriptor.full_name))
            found += [(field.name, *path) for path in inner]
    return tuple(found)


def _at(message: Message, path: Sequence[str]) -> list[Any]:
    """The messages at the end of a path."""
    found: list[Any] = [message]
    for name in path:
        found = [inner for each in found for inner in _inner(each, name)]
    return found


def _inner(message: Any, name: str) -> list[Any]:
    field: FieldDescriptor = message.DESCRIPTOR.fields_by_name[name]
    if field.is_repeated:
        values = getattr(message, name)
        return list(values.values()) if isinstance(values, Mapping) else list(values)
    return [getattr(message, name)] if message.HasField(name) else []
