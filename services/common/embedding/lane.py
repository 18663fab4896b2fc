"""A thread of the embedder, and the texts on their way through it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from services.common.embedding.sentence_encoder import SentenceEncoder
from services.common.embedding.tokens import TextEncoding
from services.common.priority import lower_priority


@dataclass(eq=False, slots=True)
class Job:
    """A text on its way through the model, and how many callers still want its encoding."""

    text: str
    key: bytes
    future: asyncio.Future[TextEncoding]
    waiters: int = 0


@dataclass(eq=False, slots=True)
class Lane:
    """A thread that makes one run of a model at a time."""

    executor: ThreadPoolExecutor
    encoder: Callable[[], SentenceEncoder]
    """The model; asked for in the thread by each run, so that it can be loaded by the first."""
    next_jobs: Callable[[], list[Job]]
    """Takes what the next run embeds; empty when nothing waits."""
    running: asyncio.Future[Sequence[TextEncoding]] | None = None

    def begin(self, jobs: Sequence[Job]) -> asyncio.Future[Sequence[TextEncoding]]:
        """Begins a run; the one before has ended."""
        texts = [job.text for job in jobs]
        run: asyncio.Future[Sequence[TextEncoding]] = asyncio.get_running_loop().run_in_executor(
            self.executor, lambda: self.encoder().encode_with_tokens(texts)
        )
        self.running = run
        return run


def new_lane(
    name: str, encoder: Callable[[], SentenceEncoder], next_jobs: Callable[[], list[Job]], *, niceness: int = 0
) -> Lane:
    """A lane whose thread is started by its first run, and yields to others by `niceness` (see `lower_priority`)."""
    executor = ThreadPoolExecutor(
        max_workers=1, thread_name_prefix=name, initializer=lower_priority, initargs=(niceness,)
    )
    return Lane(executor, encoder, next_jobs)
