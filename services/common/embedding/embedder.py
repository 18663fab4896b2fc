"""The embedder that services use: asynchronous, queries first, no document embedded twice.

The model runs in a thread of its own, which takes all waiting queries in one batch. Documents are embedded by a copy of
the model in a second thread, of lower priority: a query waits neither for them nor for a processor that they use.
Without a copy they share the thread, cut into short chunks, and a query waits for at most one of these. Calls with
documents take turns by chunk: a short call does not wait for the end of a long one.
"""

import asyncio
import functools
import hashlib
import itertools
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from services.common.embedding.errors import EmbedderBusyError, EmbedderClosedError
from services.common.embedding.lane import Job, Lane, new_lane
from services.common.embedding.sentence_encoder import SentenceEncoder
from services.common.embedding.tokens import TextEncoding, TokenSpace
from services.common.embedding.vectors import Matrix, Vector
from services.common.settings_types import Count, CountOrNone, Niceness
from services.common.telemetry.instruments import Gauges, observe
from services.common.text_cache import register_text_cache


class Embedder(Protocol):
    """Turns texts into vectors of one model; the port that services depend on.

    Deadlines are the caller's: wrap a call in `asyncio.timeout`. A cancelled call gives up its place.
    """

    @property
    def model_name(self) -> str:
        """Name of the model; stored beside every vector."""
        ...

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        ...

    @property
    def fingerprint(self) -> str:
        """Identity of the vector space: vectors with different fingerprints must never be compared."""
        ...

    @property
    def tokens(self) -> TokenSpace | None:
        """The space of the token vectors that encodings hold; None where they hold none."""
        ...

    async def encode_query(self, text: str) -> TextEncoding:
        """Return vector and token vectors of a question, ahead of any waiting documents."""
        ...

    async def encode_documents(self, texts: Sequence[str]) -> Sequence[TextEncoding]:
        """Return vector and token vectors of each text, in order."""
        ...

    async def embed_query(self, text: str) -> Vector:
        """Return the vector of a question alone: float32 `[dimension]`. See `encode_query`."""
        ...

    async def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of texts alone: float32 `[texts, dimension]`. See `encode_documents`."""
        ...


@dataclass(frozen=True, slots=True)
class EmbedderSettings:
    """How work is cut and bounded."""

    chunk_texts_max: Count = 8
    """Documents in one run of the model."""
    chunk_chars_max: Count = 2_000
    """Characters in one run of documents (one longer text makes a run of its own): about 500 tokens,
    so that a chunk of long texts delays a query no more than one of short texts."""
    query_batch_max: Count = 16
    """Waiting queries that are answered by one run."""
    cached_documents_max: CountOrNone = 4_096
    """Documents whose vectors are cached by text, the least recently used evicted first: some 6 KB each."""
    cached_bytes_max: CountOrNone = 32 * 1024 * 1024
    """The same in bytes of vectors: long texts have many token vectors."""
    waiting_texts_max: Count = 20_000
    """Queries and documents that may wait; beyond it calls are refused."""
    document_threads: CountOrNone = 1
    """Threads of a run of documents, on a copy of the model of their own (some 60 MB, loaded with the first document).
    0: documents take turns with queries on one copy."""
    document_niceness: Niceness = 4
    """How much the copy's threads yield to others when processors are scarce, 0 to 19, as in nice(1)."""


class OnnxEmbedder:
    """An `Embedder` over a synchronous encoder. Belongs to one event loop; close it with `aclose`.

    The encodings it returns are read-only, because callers that asked for the same text share them.
    """

    def __init__(
        self,
        encoder: SentenceEncoder,
        settings: EmbedderSettings | None = None,
        *,
        load_copy: Callable[[], SentenceEncoder] | None = None,
    ) -> None:
        """Wrap an encoder; its thread is started by the first text.

        Args:
            encoder: The model.
            settings: How work is cut and bounded.
            load_copy: Loads the model once more, for documents; called once, in their thread. None: they take turns
                with queries.
        """
        self._encoder = encoder
        self._settings: Final = settings or EmbedderSettings()
        self._lanes = self._new_lanes(load_copy)
        self._queries: deque[Job] = deque()
        self._documents: deque[deque[Job]] = deque()  # of each call, the next call first
        self._pending_documents: dict[bytes, Job] = {}
        self._cache: OrderedDict[bytes, TextEncoding] = OrderedDict()
        self._cached_bytes = 0
        self._pump_scheduled = False
        self._closed = False
        register_text_cache(self)
        observe("mneme.embedding.queue", "Texts that wait to be embedded.", "kind", self._waiting)

    @property
    def model_name(self) -> str:
        """Name of the encoder's model."""
        return self._encoder.model_name

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return self._encoder.dimension

    @property
    def fingerprint(self) -> str:
        """Identity of the vector space."""
        return self._encoder.fingerprint

    @property
    def tokens(self) -> TokenSpace | None:
        """The space of the encoder's token vectors."""
        return self._encoder.tokens

    def cache_clear(self) -> None:
        """Drop the cached encodings of documents."""
        self._cache.clear()
        self._cached_bytes = 0

    async def embed_query(self, text: str) -> Vector:
        """Return the vector of a question; see `encode_query`."""
        return (await self.encode_query(text)).vector

    async def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """Return one vector per text; see `encode_documents`."""
        encodings = await self.encode_documents(texts)
        if not encodings:
            return np.empty((0, self.dimension), dtype=np.float32)
        return np.stack([encoding.vector for encoding in encodings])

    async def encode_query(self, text: str) -> TextEncoding:
        """Return vector and token vectors of a question, ahead of any waiting documents.

        Raises:
            EmbedderBusyError: Too many texts wait already.
            EmbedderClosedError: The embedder was closed.
            EmbeddingFailedError: The model could not be run.
        """
        self._admit(1)
        job = self._new_job(text, key=b"")
        self._queries.append(job)
        self._schedule_pump()
        job.waiters = 1
        try:
            return await job.future  # no other caller's: cancelled with this call
        finally:
            job.waiters = 0

    async def encode_documents(self, texts: Sequence[str]) -> Sequence[TextEncoding]:
        """Return vector and token vectors of each text; equal texts, also of other calls, are run once.

        Raises:
            EmbedderBusyError: Too many texts wait already; nothing of this call was queued.
            EmbedderClosedError: The embedder was closed.
            EmbeddingFailedError: The model could not be run.
        """
        keys = [_key(text) for text in texts]
        encodings = {key: self._cache[key] for key in keys if key in self._cache}
        wanted = {key: text for key, text in zip(keys, texts, strict=True) if key not in encodings}
        fresh = {key: text for key, text in wanted.items() if key not in self._pending_documents}
        self._admit(len(fresh))
        # Texts of like length next to each other: runs with little padding.
        of_call = deque(
            self._new_job(text, key=key) for key, text in sorted(fresh.items(), key=lambda item: len(item[1]))
        )
        self._pending_documents.update((job.key, job) for job in of_call)
        if of_call:
            self._documents.append(of_call)
        jobs = [self._pending_documents[key] for key in wanted]
        self._schedule_pump()
        for job, encoding in zip(jobs, await self._collect(jobs), strict=True):
            encodings[job.key] = encoding
        self._touch(keys)
        return [encodings[key] for key in keys]

    async def aclose(self) -> None:
        """Refuse what waits and what comes, and wait for the run that is under way."""
        self._closed = True
        _fail((*self._queries, *itertools.chain(*self._documents)), EmbedderClosedError("the embedder was closed"))
        self._queries.clear()
        self._documents.clear()
        self._pending_documents.clear()
        if running := [lane.running for lane in self._lanes if lane.running is not None]:
            await asyncio.wait(running)
        for lane in self._lanes:
            lane.executor.shutdown(wait=False)

    def _new_lanes(self, load_copy: Callable[[], SentenceEncoder] | None) -> Sequence[Lane]:
        if load_copy is None:
            # Queries first: a long line of documents must not delay an answer.
            return [new_lane("embedder", lambda: self._encoder, lambda: self._next_queries() or self._next_documents())]
        return [
            new_lane("embedder", lambda: self._encoder, self._next_queries),
            new_lane(
                "document-embedder",
                functools.cache(load_copy),
                self._next_documents,
                niceness=self._settings.document_niceness,
            ),
        ]

    def _admit(self, count: int) -> None:
        if self._closed:
            raise EmbedderClosedError("the embedder is closed")
        waiting = len(self._queries) + sum(map(len, self._documents))
        if count and waiting + count > self._settings.waiting_texts_max:
            limit = self._settings.waiting_texts_max
            raise EmbedderBusyError(f"{waiting} texts wait for the embedding model", limit=limit)

    def _new_job(self, text: str, *, key: bytes) -> Job:
        return Job(text=text, key=key, future=asyncio.get_running_loop().create_future())

    async def _collect(self, jobs: Sequence[Job]) -> list[TextEncoding]:
        """Await encodings that other callers may await too: our cancellation must not cancel theirs."""
        for job in jobs:
            job.waiters += 1
        try:
            waiting: Iterable[Awaitable[TextEncoding]] = (asyncio.shield(job.future) for job in jobs)
            return list(await asyncio.gather(*waiting))
        finally:
            for job in jobs:
                job.waiters -= 1

    def _waiting(self) -> Gauges:
        return {"query": len(self._queries), "document": len(self._documents)}

    def _schedule_pump(self) -> None:
        # One turn of the loop later, so that queries asked in the same turn share a run.
        if not self._pump_scheduled:
            self._pump_scheduled = True
            asyncio.get_running_loop().call_soon(self._pump)

    def _pump(self) -> None:
        self._pump_scheduled = False
        if self._closed:
            return
        for lane in self._lanes:
            if lane.running is None and (jobs := lane.next_jobs()):
                lane.begin(jobs).add_done_callback(functools.partial(self._finish, lane, jobs))

    def _next_queries(self) -> list[Job]:
        jobs: list[Job] = []
        while self._queries and len(jobs) < self._settings.query_batch_max:
            job = self._queries.popleft()
            if job.waiters:
                jobs.append(job)
        return jobs

    def _next_documents(self) -> list[Job]:
        """Documents of the next call, and of those behind it as long as there is space in the chunk."""
        jobs: list[Job] = []
        chars = 0
        while self._documents and len(jobs) < self._settings.chunk_texts_max:
            of_call = self._documents.popleft()
            taken = len(jobs)
            while of_call and len(jobs) < self._settings.chunk_texts_max:
                job = of_call[0]
                if jobs and chars + len(job.text) > self._settings.chunk_chars_max:
                    break
                of_call.popleft()
                if job.waiters:
                    jobs.append(job)
                    chars += len(job.text)
                else:
                    self._pending_documents.pop(job.key, None)
            if of_call:
                if len(jobs) > taken:
                    self._documents.append(of_call)
                else:
                    self._documents.appendleft(of_call)  # its first document did not fit: it has the next chunk
                break
        return jobs

    def _finish(self, lane: Lane, jobs: Sequence[Job], run: asyncio.Future[Sequence[TextEncoding]]) -> None:
        lane.running = None
        for job in jobs:
            self._pending_documents.pop(job.key, None)
        error = EmbedderClosedError("the run was cancelled") if run.cancelled() else run.exception()
        if error is None:
            self._deliver(jobs, run.result())
        else:
            _fail(jobs, error)
        if not self._closed:
            self._schedule_pump()

    def _deliver(self, jobs: Sequence[Job], encodings: Sequence[TextEncoding]) -> None:
        for job, encoding in zip(jobs, encodings, strict=True):
            encoding.vector.flags.writeable = False
            if job.key:
                self._cache[job.key] = encoding
                self._cached_bytes += encoding.byte_count
            if not job.future.done():
                job.future.set_result(encoding)
        limits = self._settings
        while len(self._cache) > limits.cached_documents_max or self._cached_bytes > limits.cached_bytes_max:
            _, dropped = self._cache.popitem(last=False)
            self._cached_bytes -= dropped.byte_count

    def _touch(self, keys: Iterable[bytes]) -> None:
        for key in keys:
            if key in self._cache:
                self._cache.move_to_end(key)


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _fail(jobs: Iterable[Job], error: BaseException) -> None:
    for job in jobs:
        # Nobody would ever fetch the error of a job without waiters.
        if job.waiters and not job.future.done():
            job.future.set_exception(error)
