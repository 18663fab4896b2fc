import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator, Sequence

import numpy as np
import pytest

from services.common.embedding.embedder import Embedder, EmbedderSettings, OnnxEmbedder
from services.common.embedding.encoder import OnnxSentenceEncoder
from services.common.embedding.errors import EmbedderBusyError, EmbedderClosedError, EmbeddingFailedError
from services.common.embedding.tokens import TextEncoding, TokenSpace, TokenVectors
from services.common.embedding.vectors import Matrix
from services.common.text_cache import clear_text_caches
from tests.support.embedding import HashingEmbedder


class GatedEncoder:
    """An encoder whose runs can be held, and which writes down what each run was given."""

    model_name = "gated"
    dimension = 2
    fingerprint = "gated-1"
    tokens = TokenSpace("gated-1+t", dimension=1)

    def __init__(self) -> None:
        self.runs: list[list[str]] = []
        self.niceness: list[int] = []
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Semaphore(0)

    def encode_with_tokens(self, texts: Sequence[str]) -> list[TextEncoding]:
        self.runs.append(list(texts))
        self.niceness.append(os.getpriority(os.PRIO_PROCESS, 0))  # of this thread, on Linux
        self.entered.release()
        assert self.gate.wait(timeout=10)
        if "broken" in texts:
            raise EmbeddingFailedError("no memory")
        return [
            TextEncoding(
                np.asarray([len(text), ord(text[0])], dtype=np.float32),
                TokenVectors(
                    self.tokens.fingerprint,
                    np.arange(len(text), dtype=np.uint16),
                    np.full((len(text), 1), 127, dtype=np.int8),
                ),
            )
            for text in texts
        ]

    async def hold(self, work: "asyncio.Task[Matrix]") -> None:
        """Let the work's first run begin, and stay in it until the gate is opened."""
        self.gate.clear()
        assert not work.done()
        await asyncio.to_thread(self.entered.acquire, timeout=10)


@pytest.fixture
def encoder() -> GatedEncoder:
    return GatedEncoder()


@pytest.fixture
async def embedder(encoder: GatedEncoder) -> AsyncIterator[OnnxEmbedder]:
    settings = EmbedderSettings(chunk_texts_max=2, chunk_chars_max=10, waiting_texts_max=12)
    made = OnnxEmbedder(encoder, settings)
    yield made
    encoder.gate.set()
    await made.aclose()


async def test_documents_come_back_in_their_order(embedder: OnnxEmbedder) -> None:
    vectors = await embedder.embed_documents(["ccc", "a", "bb", "a"])
    assert vectors.tolist() == [[3, 99], [1, 97], [2, 98], [1, 97]]
    assert (await embedder.embed_documents([])).shape == (0, 2)


async def test_chunks_are_bounded_by_texts_and_by_characters(embedder: OnnxEmbedder, encoder: GatedEncoder) -> None:
    await embedder.embed_documents(["a", "b", "c", "dddddd", "eeeeeee", "f" * 50])
    assert encoder.runs == [["a", "b"], ["c", "dddddd"], ["eeeeeee"], ["f" * 50]]


async def test_a_query_overtakes_waiting_documents(embedder: OnnxEmbedder, encoder: GatedEncoder) -> None:
    documents = asyncio.create_task(embedder.embed_documents(["a", "b", "c", "d", "e"]))
    await encoder.hold(documents)
    query = asyncio.create_task(embedder.embed_query("question"))
    await asyncio.sleep(0)
    encoder.gate.set()
    assert (await query).tolist() == [8, 113]
    await documents
    assert encoder.runs[:2] == [["a", "b"], ["question"]]


async def test_spec_6_5_calls_with_documents_take_turns_by_chunk(embedder: OnnxEmbedder, encoder: GatedEncoder) -> None:
    flood = asyncio.create_task(embedder.embed_documents(["a", "b", "c", "d", "e", "f"]))
    await encoder.hold(flood)
    short = asyncio.create_task(embedder.embed_documents(["B"]))
    await asyncio.sleep(0)
    encoder.gate.set()
    await asyncio.gather(flood, short)
    assert encoder.runs == [["a", "b"], ["c", "d"], ["B", "e"], ["f"]]  # [c, d] had begun its turn before B came


async def test_a_call_whose_document_does_not_fit_into_a_chunk_has_the_next_one(
    embedder: OnnxEmbedder, encoder: GatedEncoder
) -> None:
    flood = asyncio.create_task(embedder.embed_documents(["a" * 5, "b" * 6, "c" * 7, "d" * 8]))
    await encoder.hold(flood)
    other = asyncio.create_task(embedder.embed_documents(["B" * 9]))
    await asyncio.sleep(0)
    encoder.gate.set()
    await asyncio.gather(flood, other)
    assert [run[0][0] for run in encoder.runs] == ["a", "b", "B", "c", "d"]


async def test_waiting_queries_share_one_run(embedder: OnnxEmbedder, encoder: GatedEncoder) -> None:
    documents = asyncio.create_task(embedder.embed_documents(["a"]))
    await encoder.hold(documents)
    queries = [asyncio.create_task(embedder.embed_query(text)) for text in ("xx", "y", "zzz")]
    await asyncio.sleep(0)
    encoder.gate.set()
    vectors = await asyncio.gather(*queries)
    assert [vector.tolist() for vector in vectors] == [[2, 120], [1, 121], [3, 122]]
    assert encoder.runs == [["a"], ["xx", "y", "zzz"]]


async def test_queries_of_one_moment_share_one_run(embedder: OnnxEmbedder, encoder: GatedEncoder) -> None:
    await asyncio.gather(embedder.embed_query("one"), embedder.embed_query("two"))
    assert encoder.runs == [["one", "two"]]


async def test_a_document_is_embedded_once(embedder: OnnxEmbedder, encoder: GatedEncoder) -> None:
    await asyncio.gather(embedder.embed_documents(["a", "b"]), embedder.embed_documents(["b", "a"]))
    again = await embedder.embed_documents(["b"])
    assert again.tolist() == [[1, 98]]
    assert encoder.runs == [["a", "b"]]


async def test_the_least_recently_used_document_is_forgotten(encoder: GatedEncoder) -> None:
    embedder = OnnxEmbedder(encoder, EmbedderSettings(cached_documents_max=2))
    await embedder.embed_documents(["a", "b"])
    await embedder.embed_documents(["a"])
    await embedder.embed_documents(["c"])
    await embedder.embed_documents(["a"])
    await embedder.embed_documents(["b"])
    assert encoder.runs == [["a", "b"], ["c"], ["b"]]
    await embedder.aclose()


async def test_a_cancelled_call_gives_up_its_place_but_not_that_of_others(
    embedder: OnnxEmbedder, encoder: GatedEncoder
) -> None:
    running = asyncio.create_task(embedder.embed_documents(["a"]))
    await encoder.hold(running)
    leaving = asyncio.create_task(embedder.embed_documents(["mine", "shared"]))
    staying = asyncio.create_task(embedder.embed_documents(["shared"]))
    await asyncio.sleep(0)
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    encoder.gate.set()
    assert (await staying).tolist() == [[6, 115]]
    assert encoder.runs == [["a"], ["shared"]]
    assert (await embedder.embed_documents(["mine"])).tolist() == [[4, 109]]


async def test_the_callers_deadline_is_kept(embedder: OnnxEmbedder, encoder: GatedEncoder) -> None:
    running = asyncio.create_task(embedder.embed_documents(["a"]))
    await encoder.hold(running)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await embedder.embed_query("late")
    encoder.gate.set()
    await running
    await embedder.embed_query("next")
    assert encoder.runs == [["a"], ["next"]]


async def test_too_many_waiting_texts_are_refused(embedder: OnnxEmbedder, encoder: GatedEncoder) -> None:
    running = asyncio.create_task(embedder.embed_documents(["a"]))
    await encoder.hold(running)
    waiting = asyncio.create_task(embedder.embed_documents([chr(98 + index) for index in range(12)]))
    await asyncio.sleep(0)
    with pytest.raises(EmbedderBusyError):
        await embedder.embed_query("one too many")
    encoder.gate.set()
    assert (await waiting).shape == (12, 2)


async def test_a_failed_run_fails_its_texts_alone(embedder: OnnxEmbedder) -> None:
    with pytest.raises(EmbeddingFailedError):
        await embedder.embed_documents(["broken"])
    assert (await embedder.embed_documents(["fine"])).shape == (1, 2)


async def test_closing_refuses_what_waits_and_what_comes(embedder: OnnxEmbedder, encoder: GatedEncoder) -> None:
    running = asyncio.create_task(embedder.embed_documents(["a"]))
    await encoder.hold(running)
    waiting = asyncio.create_task(embedder.embed_query("late"))
    await asyncio.sleep(0)
    closing = asyncio.create_task(embedder.aclose())
    await asyncio.sleep(0)
    encoder.gate.set()
    await closing
    assert (await running).tolist() == [[1, 97]]
    with pytest.raises(EmbedderClosedError):
        await waiting
    with pytest.raises(EmbedderClosedError):
        await embedder.embed_query("later")


async def test_shared_vectors_cannot_be_written_to(embedder: OnnxEmbedder) -> None:
    vector = await embedder.embed_query("question")
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 1


async def test_the_model_behind_it_gives_what_the_encoder_gives(minilm: OnnxSentenceEncoder) -> None:
    embedder: Embedder = OnnxEmbedder(minilm)
    texts = [f"{'long ' * (index % 9)}text {index}" for index in range(30)]
    documents, *queries = await asyncio.gather(
        embedder.embed_documents(texts), *(embedder.embed_query(text) for text in texts)
    )
    np.testing.assert_allclose(documents, minilm.encode(texts), atol=1e-5)
    np.testing.assert_allclose(np.stack(queries), documents, atol=1e-5)


async def test_the_hashing_embedder_of_tests_is_an_embedder() -> None:
    embedder: Embedder = HashingEmbedder()
    query = await embedder.embed_query("the red cat")
    near, far = await embedder.embed_documents(["a red cat", "tax law"])
    assert query @ near > query @ far
    assert embedder.dimension == query.shape[0]


async def test_one_run_gives_vectors_and_token_vectors_to_all_who_ask(
    encoder: GatedEncoder, embedder: OnnxEmbedder
) -> None:
    (encoding,) = await embedder.encode_documents(["abc"])
    assert encoding.tokens is not None
    assert encoding.tokens.ids.tolist() == [0, 1, 2]
    assert embedder.tokens == GatedEncoder.tokens
    assert (await embedder.embed_documents(["abc"])).tolist() == [encoding.vector.tolist()]
    assert encoder.runs == [["abc"]]
    question = await embedder.encode_query("ab")
    assert question.tokens is not None
    assert len(question.tokens) == 2


async def test_the_cache_is_bounded_in_bytes(encoder: GatedEncoder) -> None:
    # Each text takes 8 bytes for its vector, and 3 for each token.
    embedder = OnnxEmbedder(encoder, EmbedderSettings(cached_bytes_max=8 + 3 + 8 + 6))
    await embedder.embed_documents(["a", "bb"])
    await embedder.embed_documents(["a"])
    await embedder.embed_documents(["c"])
    assert encoder.runs == [["a", "bb"], ["c"]]
    await embedder.embed_documents(["a", "c"])
    assert len(encoder.runs) == 2
    await embedder.embed_documents(["bb"])
    assert len(encoder.runs) == 3
    await embedder.aclose()


async def test_spec_6_6_vectors_of_documents_leave_memory_with_the_other_caches(encoder: GatedEncoder) -> None:
    embedder = OnnxEmbedder(encoder)
    await embedder.embed_documents(["a"])
    clear_text_caches()
    await embedder.embed_documents(["a"])
    assert encoder.runs == [["a"], ["a"]]
    await embedder.aclose()


@pytest.fixture
def copy() -> GatedEncoder:
    return GatedEncoder()


@pytest.fixture
async def with_copy(encoder: GatedEncoder, copy: GatedEncoder) -> AsyncIterator[OnnxEmbedder]:
    made = OnnxEmbedder(encoder, EmbedderSettings(document_niceness=3), load_copy=lambda: copy)
    yield made
    copy.gate.set()
    await made.aclose()


async def test_issue_17_a_query_does_not_wait_for_documents_that_a_copy_embeds(
    with_copy: OnnxEmbedder, encoder: GatedEncoder, copy: GatedEncoder
) -> None:
    documents = asyncio.create_task(with_copy.embed_documents(["a", "b"]))
    await copy.hold(documents)
    assert (await with_copy.embed_query("question")).tolist() == [8, 113]
    assert not documents.done()
    copy.gate.set()
    assert (await documents).tolist() == [[1, 97], [1, 98]]
    assert encoder.runs == [["question"]]
    assert copy.runs == [["a", "b"]]


async def test_a_copy_is_loaded_by_the_first_document_and_once(encoder: GatedEncoder, copy: GatedEncoder) -> None:
    loads: list[str] = []

    def load() -> GatedEncoder:
        loads.append(threading.current_thread().name)
        if len(loads) == 1:
            raise EmbeddingFailedError("no memory")
        return copy

    embedder = OnnxEmbedder(encoder, load_copy=load)
    await embedder.embed_query("question")
    assert loads == []
    with pytest.raises(EmbeddingFailedError):
        await embedder.embed_documents(["a"])
    await embedder.embed_documents(["a"])
    await embedder.embed_documents(["b"])
    assert loads == ["document-embedder_0"] * 2
    await embedder.aclose()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a priority for each thread")
async def test_documents_are_embedded_at_a_lower_priority_than_queries(
    with_copy: OnnxEmbedder, encoder: GatedEncoder, copy: GatedEncoder
) -> None:
    await with_copy.embed_documents(["a"])
    await with_copy.embed_query("question")
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert encoder.niceness == [own]
    assert copy.niceness == [min(19, own + 3)]


async def test_closing_waits_for_the_runs_of_both_threads(with_copy: OnnxEmbedder, copy: GatedEncoder) -> None:
    documents = asyncio.create_task(with_copy.embed_documents(["a"]))
    await copy.hold(documents)
    closing = asyncio.create_task(with_copy.aclose())
    await asyncio.sleep(0)
    assert not closing.done()
    copy.gate.set()
    await closing
    assert (await documents).tolist() == [[1, 97]]
