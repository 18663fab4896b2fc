"""A cross-encoder from its folder to its logits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from services.common.cross_encoding import (
    CrossEncodingFailedError,
    Interruption,
    OnnxCrossEncoder,
    Scores,
    ThreadedCrossEncoder,
)
from services.common.embedding.errors import ModelUnavailableError
from tests.support.cross_encoder import build_cross_encoder

QUESTION = "where lives Momo"
TEXTS = ["Momo lives where trams", "cat", "the cat Momo", "moon sea dog cello Lyon trams lives"]
SHARED = [3.0, 0.0, 1.0, 1.0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_cross_encoder(tmp_path_factory.mktemp("cross") / "model")


@pytest.mark.parametrize("batch_size", [1, 2, 100])
def test_each_text_has_its_logit_whatever_it_shares_a_batch_with(folder: Path, batch_size: int) -> None:
    scores = OnnxCrossEncoder(folder, batch_size=batch_size).score(QUESTION, TEXTS)
    assert scores.dtype == np.float32
    assert scores.tolist() == [shared - 3.0 for shared in SHARED]


@pytest.mark.parametrize(("outputs", "is_flat"), [(1, False), (2, False), (1, True)])
def test_one_logit_and_two_of_them_say_the_same(tmp_path: Path, outputs: int, *, is_flat: bool) -> None:
    encoder = OnnxCrossEncoder(build_cross_encoder(tmp_path, outputs=outputs, is_flat=is_flat))
    assert encoder.score(QUESTION, TEXTS).tolist() == [shared - 3.0 for shared in SHARED]


def test_a_pair_is_cut_to_the_bound(folder: Path) -> None:
    # Three special tokens and as many words of the question leave room for three of the text.
    encoder = OnnxCrossEncoder(folder, max_tokens=9)
    assert encoder.score(QUESTION, ["cat cat cat Momo Momo", "cat cat Momo cat"]).tolist() == [-3.0, -2.0]
    # A long question, of which five words are left, leaves the text its place.
    assert encoder.score("Momo " * 1_000, ["Momo"]).tolist() == [2.0]


def test_no_texts_have_no_logits(folder: Path) -> None:
    assert OnnxCrossEncoder(folder).score(QUESTION, []).shape == (0,)


def test_a_graph_in_a_subfolder_is_found(tmp_path: Path) -> None:
    folder = build_cross_encoder(tmp_path)
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    assert OnnxCrossEncoder(folder).score(QUESTION, ["Momo"]).tolist() == [-2.0]


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailableError, match=r"needs model\.onnx"):
        OnnxCrossEncoder(tmp_path)


def test_a_model_that_gives_something_else_is_refused_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailableError, match="3 values for a pair"):
        OnnxCrossEncoder(build_cross_encoder(tmp_path, outputs=3))


def test_a_model_for_shorter_pairs_than_configured_is_refused_at_the_start(tmp_path: Path) -> None:
    folder = build_cross_encoder(tmp_path, tokens_max=64)
    with pytest.raises(ModelUnavailableError, match="a pair of 65 tokens"):
        OnnxCrossEncoder(folder, max_tokens=65)
    assert OnnxCrossEncoder(folder, max_tokens=64).score(QUESTION, ["Momo " * 500]).shape == (1,)


@pytest.mark.parametrize("shift", [float("nan"), float("inf")])
def test_a_model_that_gives_no_numbers_is_refused(tmp_path: Path, shift: float) -> None:
    with pytest.raises(ModelUnavailableError, match="no numbers"):
        OnnxCrossEncoder(build_cross_encoder(tmp_path, shift=shift))


def test_a_run_is_ended_from_outside(folder: Path) -> None:
    interruption = Interruption()
    interruption.set()
    with pytest.raises(CrossEncodingFailedError, match="interrupted"):
        OnnxCrossEncoder(folder).score(QUESTION, TEXTS, interruption)


class GatedEncoder(OnnxCrossEncoder):
    """Waits before it reads the first text, and tells that it does."""

    def __init__(self, folder: Path) -> None:
        self.gate, self.entered, self.left = threading.Event(), threading.Event(), threading.Event()
        self.questions: list[str] = []
        self.gate.set()
        super().__init__(folder)
        self.questions.clear()
        self.gate.clear()
        self.entered.clear()
        self.left.clear()

    def score(self, question: str, texts: Sequence[str], interruption: Interruption | None = None) -> Scores:
        self.questions.append(question)
        self.entered.set()
        self.gate.wait(timeout=10.0)
        try:
            return super().score(question, texts, interruption)
        except CrossEncodingFailedError:
            self.left.set()
            raise


@pytest.fixture
async def gated(folder: Path) -> AsyncIterator[tuple[GatedEncoder, ThreadedCrossEncoder]]:
    encoder = GatedEncoder(folder)
    threaded = ThreadedCrossEncoder(encoder)
    yield encoder, threaded
    encoder.gate.set()
    await threaded.aclose()


async def test_the_event_loop_goes_on_while_the_model_runs(gated: tuple[GatedEncoder, ThreadedCrossEncoder]) -> None:
    encoder, threaded = gated
    task = asyncio.create_task(threaded.score(QUESTION, TEXTS))
    assert await asyncio.to_thread(encoder.entered.wait, 5.0)
    assert not task.done()
    encoder.gate.set()
    assert (await task).tolist() == [shared - 3.0 for shared in SHARED]


async def test_a_call_that_is_cancelled_stops_the_model(gated: tuple[GatedEncoder, ThreadedCrossEncoder]) -> None:
    encoder, threaded = gated
    task = asyncio.create_task(threaded.score(QUESTION, TEXTS))
    assert await asyncio.to_thread(encoder.entered.wait, 5.0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    encoder.gate.set()
    assert await asyncio.to_thread(encoder.left.wait, 5.0)  # it was interrupted


async def test_a_call_that_is_cancelled_before_its_turn_never_runs(
    gated: tuple[GatedEncoder, ThreadedCrossEncoder],
) -> None:
    encoder, threaded = gated
    first = asyncio.create_task(threaded.score("first", TEXTS))
    assert await asyncio.to_thread(encoder.entered.wait, 5.0)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await threaded.score("second", TEXTS)
    encoder.gate.set()
    await first
    assert (await threaded.score("third", TEXTS)).shape == (4,)
    assert encoder.questions == ["first", "third"]
