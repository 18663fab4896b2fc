"""Task types told from questions."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from services.common.background import BackgroundWork
from services.common.embedding.embedder import OnnxEmbedder
from services.common.embedding.errors import EmbeddingFailedError
from services.common.embedding.serving import ServingEmbedder
from services.common.embedding.vectors import Matrix
from services.gateway.recall.choices import TaskType
from services.gateway.recall.question.task_types import UNTOLD, IntentClassifier, IntentSettings, load_examples
from tests.support.embedding import HashingEmbedder

QUESTIONS = Path(__file__).with_name("task_questions.toml")
EXAMPLES = {TaskType.FACTUAL: ("who where", "when who"), TaskType.DEBUGGING: ("broken crash", "crash error")}


async def prepared(settings: IntentSettings | None = None) -> tuple[IntentClassifier, HashingEmbedder]:
    embedder = HashingEmbedder()
    classifier = IntentClassifier(embedder, settings, examples=EXAMPLES)
    await classifier.prepare()
    return classifier, embedder


async def test_spec_5_2_a_question_has_the_type_of_the_examples_it_is_near() -> None:
    classifier, embedder = await prepared()
    for text, task_type in (("crash error broken", TaskType.DEBUGGING), ("who when where", TaskType.FACTUAL)):
        intent = classifier.classify(embedder.vector(text))
        assert intent.task_type is task_type
        assert 0.9 < intent.confidence <= 1.0
        assert not intent.is_given


async def test_spec_5_2_a_question_between_the_types_is_a_general_one() -> None:
    classifier, embedder = await prepared(IntentSettings(temperature=1e6, general_below=0.6))
    assert classifier.classify(embedder.vector("who crash")) == UNTOLD
    assert UNTOLD.task_type is TaskType.GENERAL


async def test_spec_8_4_questions_are_classified_by_the_model_of_their_vector_whichever_serves() -> None:
    old, new = HashingEmbedder(64, "old"), HashingEmbedder(32, "new")
    models = {each.fingerprint: each for each in (old, new)}
    serving = old.fingerprint
    classifier = IntentClassifier(ServingEmbedder(models, lambda: serving), examples=EXAMPLES)
    await classifier.prepare()
    for embedder in (old, new):
        vector = embedder.vector("crash error broken")
        assert classifier.classify(vector, model=embedder.fingerprint).task_type is TaskType.DEBUGGING
    serving = new.fingerprint
    assert classifier.classify(new.vector("who when where")).task_type is TaskType.FACTUAL


async def test_spec_5_2_until_the_examples_are_embedded_no_question_tells_its_type() -> None:
    embedder = HashingEmbedder()
    classifier = IntentClassifier(embedder, examples=EXAMPLES)
    assert classifier.classify(embedder.vector("crash error broken")) == UNTOLD


class _Watched(HashingEmbedder):
    """Tells when documents are embedded, and cannot embed any on demand."""

    def __init__(self, *, is_broken: bool = False) -> None:
        super().__init__()
        self.is_broken = is_broken
        self.asked = asyncio.Event()

    async def embed_documents(self, texts: Sequence[str]) -> Matrix:
        self.asked.set()
        if self.is_broken:
            raise EmbeddingFailedError("no memory")
        return await super().embed_documents(texts)


async def test_spec_5_2_examples_are_embedded_once_behind_the_start() -> None:
    embedder = _Watched()
    classifier = IntentClassifier(embedder, examples=EXAMPLES)
    async with BackgroundWork[str]("test") as background, asyncio.timeout(5.0):
        background.keep_running("examples", classifier.prepare)
        assert embedder.documents == []  # the start has not waited
        while classifier.classify(embedder.vector("crash error broken")) == UNTOLD:
            await asyncio.to_thread(embedder.asked.is_set)  # lets the work behind go on
    assert embedder.documents == [text for examples in EXAMPLES.values() for text in examples]


async def test_a_model_that_cannot_be_run_leaves_questions_untold() -> None:
    embedder = _Watched(is_broken=True)
    classifier = IntentClassifier(embedder, examples=EXAMPLES)
    async with BackgroundWork[str]("test") as background, asyncio.timeout(5.0):
        background.keep_running("examples", classifier.prepare)
        await embedder.asked.wait()
        await asyncio.sleep(0)
        assert classifier.classify(embedder.vector("crash error broken")) == UNTOLD


def test_spec_5_2_every_type_has_examples_of_its_own() -> None:
    examples = load_examples()
    assert set(examples) == set(TaskType)
    assert all(12 <= len(texts) <= 20 for texts in examples.values())
    counts = Counter(text for texts in examples.values() for text in texts)
    assert max(counts.values()) == 1
    assert not set(counts) & {text for texts in load_examples(QUESTIONS).values() for text in texts}


@pytest.mark.parametrize("content", ['factual = ["who?"]', 'factual = []\nother = ["x"]'])
def test_examples_of_other_types_are_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "types.toml"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match="each task type"):
        load_examples(file)


@pytest.mark.asyncio(loop_scope="session")
async def test_spec_5_2_questions_that_were_never_seen_are_told_apart(embedder: OnnxEmbedder) -> None:
    classifier = IntentClassifier(embedder)
    await classifier.prepare()
    asked = [(task_type, text) for task_type, texts in load_examples(QUESTIONS).items() for text in texts]
    intents = [classifier.classify(await embedder.embed_query(text)) for _, text in asked]
    right = [intent.task_type is task_type for intent, (task_type, _) in zip(intents, asked, strict=True)]
    sure = [good for good, intent in zip(right, intents, strict=True) if intent.confidence >= 0.7]
    assert len(asked) >= 60
    assert sum(right) / len(asked) >= 0.88  # 0.92 when it was written
    assert len(sure) / len(asked) >= 0.8
    assert sum(sure) / len(sure) >= 0.95  # what acts on the type asks for so much
