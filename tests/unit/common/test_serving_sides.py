"""A tier with two embedding models: which side gets a call, and which one works in the background."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from google.protobuf.message import Message

from mneme.common.v1 import common_pb2
from mneme.episodic.internal.v1 import episodic_internal_pb2 as internal_pb
from mneme.episodic.v1 import episodic_pb2 as pb
from mneme.semantic.v1 import facts_pb2
from services.common.background import BackgroundWork
from services.common.embedding.serving import ServingEmbedder, every_model, pinned
from services.common.rpc.server import ServiceBinding
from services.common.serving_model.following import ServingModel
from services.common.serving_model.sides import Side, dispatched, run_serving_side, serve_sides, vector_model
from services.common.serving_model.store import ServingState
from services.common.tier_embedder import TierEmbedder
from tests.support.clock import FakeClock
from tests.support.embedding import HashingEmbedder

OLD, NEW = HashingEmbedder(64, "old"), HashingEmbedder(32, "new")
MODELS = (OLD.fingerprint, NEW.fingerprint)


class Named:
    """A servicer that says which one it is."""

    def __init__(self, name: str) -> None:
        self._name = name

    async def SearchEpisodes(self, _request: Message, _context: object) -> str:
        return self._name

    async def Follow(self, _request: Message, _context: object) -> AsyncIterator[str]:
        for number in range(2):
            yield f"{self._name} {number}"


def serving_with(model: str) -> ServingModel:
    serving = ServingModel(MODELS)
    serving.follow(ServingState(model, None, 1, FakeClock().now()))
    return serving


def search(model: str = "") -> pb.SearchEpisodesRequest:
    vector = common_pb2.Vector(model=model, values=[1.0]) if model else None
    return pb.SearchEpisodesRequest(user_id="ann", query_vector=vector)


def served(serving: ServingModel) -> Any:
    sides = {model: [ServiceBinding("x", lambda *_: None, Named(model), {})] for model in MODELS}
    [binding] = dispatched(sides, serving)
    return binding.servicer


async def test_spec_8_4_a_call_with_a_vector_goes_to_the_side_of_its_model_whichever_serves() -> None:
    for serving in map(serving_with, MODELS):
        servicer = served(serving)
        for model in MODELS:
            assert await servicer.SearchEpisodes(search(model), None) == model


async def test_spec_8_4_a_call_without_a_vector_goes_to_the_serving_side() -> None:
    for model in MODELS:
        servicer = served(serving_with(model))
        assert await servicer.SearchEpisodes(search(), None) == model
        assert [each async for each in servicer.Follow(search(), None)] == [f"{model} 0", f"{model} 1"]


async def test_spec_8_4_a_vector_of_a_model_that_is_not_held_goes_to_the_serving_side_which_refuses_it() -> None:
    assert await served(serving_with(MODELS[1])).SearchEpisodes(search("unknown"), None) == MODELS[1]


async def test_a_call_ends_on_the_side_that_it_began_on() -> None:
    serving = serving_with(MODELS[0])
    stream = served(serving).Follow(search(), None)
    assert await anext(stream) == f"{MODELS[0]} 0"
    serving.follow(ServingState(MODELS[1], MODELS[0], 2, FakeClock().now()))
    assert await anext(stream) == f"{MODELS[0]} 1"


def test_the_model_of_a_request_is_that_of_its_first_vector() -> None:
    vector = common_pb2.Vector(model="m", values=[1.0])
    stored = internal_pb.StoreEpisodesRequest(
        episodes=[internal_pb.NewEpisode(), internal_pb.NewEpisode(piece_vectors=[vector])]
    )
    assert vector_model(stored) == "m"
    assert vector_model(search("m")) == "m"
    assert vector_model(search()) == ""
    assert vector_model(facts_pb2.SearchFactsRequest(query_vector=vector)) == "m"
    assert vector_model(pb.GetEpisodeRequest()) == ""


class Working:
    """Background work that shows which sides are at it."""

    def __init__(self) -> None:
        self.running: set[str] = set()
        self.most = 0
        self.changed = asyncio.Event()

    def start(self, model: str) -> Any:
        async def work() -> None:
            self.running.add(model)
            self.most = max(self.most, len(self.running))
            self.changed.set()
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0)  # what is under way is brought to its end
                self.running.discard(model)

        return lambda background: background.keep_running("work", work)

    async def until(self, model: str) -> None:
        async with asyncio.timeout(60):
            while self.running != {model}:
                self.changed.clear()
                await self.changed.wait()


async def test_spec_8_4_one_side_at_a_time_works_in_the_background() -> None:
    serving, working = ServingModel(MODELS), Working()
    starts = {model: working.start(model) for model in MODELS}
    task = asyncio.create_task(run_serving_side("test", starts, serving))
    for number, model in enumerate((*MODELS, *MODELS)):
        serving.follow(ServingState(model, None, number, FakeClock().now()))
        await working.until(model)
    assert working.most == 1
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert working.running == set()


async def test_a_tier_with_one_model_is_served_as_it_is() -> None:
    working = Working()
    binding = ServiceBinding("x", lambda *_: None, Named("one"), {})
    async with BackgroundWork[str]("test") as background:
        side = Side([binding], working.start("one"))
        assert serve_sides("test", background, {"one": side}, None) == [binding]
        await working.until("one")


async def test_spec_8_4_a_pinned_embedder_stays_with_its_model() -> None:
    serving = ServingModel(MODELS)
    embedder = ServingEmbedder(dict(zip(MODELS, (OLD, NEW), strict=True)), lambda: serving.current)
    tier = TierEmbedder(embedder)
    held, held_tier = pinned(embedder), tier.pinned
    serving.follow(ServingState(MODELS[1], MODELS[0], 1, FakeClock().now()))
    assert (held.fingerprint, held_tier.model_id) == (MODELS[0], MODELS[0])
    assert (embedder.fingerprint, embedder.dimension, embedder.model_name) == (MODELS[1], 32, "new")
    assert (await tier.embed(["a"])).shape == (1, 32)
    assert (await held_tier.embed(["a"])).shape == (1, 64)
    assert (await embedder.embed_query("a")).shape == (32,)
    assert (await embedder.encode_query("a")).vector.shape == (32,)
    assert pinned(OLD) is OLD
    assert every_model(embedder) == [OLD, NEW]
    assert every_model(OLD) == [OLD]
