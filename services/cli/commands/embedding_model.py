"""`mneme model`: two embedding models compared, one changed for the other, and indexes of former ones removed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from json import JSONDecodeError, loads
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Final, Protocol

import typer

from mneme_client import Client, ModelComparison, ModelQuestion, TextModelComparison
from services.cli import options
from services.cli.commands import model_cut_over
from services.cli.rendering import as_json
from services.cli.state import CliState, state_of

if TYPE_CHECKING:  # loaded by the command
    from services.cli.model_indexes import ModelIndex
    from services.cli.model_vectors import FormerVectorsFound
    from services.common.embedding.embedder import Embedder
    from services.common.hosting import HostSettings
    from services.common.settings_file import SettingsSource

model = typer.Typer(
    help="Compare two embedding models, cut over while the services run, remove the former model's vectors.",
    no_args_is_help=True,
)
model.command("status")(model_cut_over.status)
model.command("cut-over")(model_cut_over.cut_over)
model.command("back")(model_cut_over.back)

_QUESTIONS_MAX: Final = 1_000
_QUESTIONS_AT_ONCE: Final = 50
"""As the services take them."""
_RIGHT_IDS_MAX: Final = 200
"""The same."""
_BATCH_SECONDS: Final = 120.0
"""For so many questions, with the embedding of facts or notes."""


class _Comparing(Protocol):
    """A method of the client that compares two models."""

    async def __call__(
        self, user_id: str, questions: Sequence[ModelQuestion], *, timeout_seconds: float
    ) -> ModelComparison | TextModelComparison: ...


class Kind(StrEnum):
    """What two models are compared on."""

    EPISODES = "episodes"
    FACTS = "facts"
    NOTES = "notes"


@model.command("compare")
def compare(
    context: typer.Context,
    user: options.User,
    questions: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            help="A question a line: text, or JSON with `query` and, where known, what is right for it: ids of episodes"
            " (`relevant`), facts (`relevant_facts`), notes (`relevant_notes`).",
        ),
    ] = None,
    judged: Annotated[
        bool,
        typer.Option(
            "--judged",
            help="Ask the questions of recalls of which Feedback judged something good: that is right for them.",
        ),
    ] = False,
    kind: Annotated[
        list[Kind] | None, typer.Option(help="What to compare the models on; may be repeated. Default: all three.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Compare the embedding model with that of MNEME_EMBEDDING_SECOND_MODEL_DIR, on questions about a user's memories.

    For each question the ten nearest episodes, facts and notes of both models: how many are the same, and of the right
    ones how many are among them. Both models embed the 1,000 newest facts and notes for it, which takes seconds.
    """
    state = state_of(context)
    if questions is None and not judged:
        state.fail("name a file of --questions, or take those that were --judged")
    try:
        asked = _questions(questions.read_text("utf-8")) if questions is not None else []
    except (OSError, ValueError) as error:
        state.fail(f"{questions}: {error}")
    state.run(_compare(state, user, asked, tuple(kind or Kind), judged=judged, json=json))


def _questions(text: str) -> list[ModelQuestion]:
    """The questions of a file.

    Raises:
        ValueError: There is none, there are too many, or a line cannot be read.
    """
    found = [_question(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not 1 <= len(found) <= _QUESTIONS_MAX:
        raise ValueError(f"has {len(found)} questions; 1 to {_QUESTIONS_MAX} can be compared")
    return found


def _question(number: int, line: str) -> ModelQuestion:
    if not line.lstrip().startswith("{"):
        return ModelQuestion(line.strip())
    try:
        given = loads(line)
    except JSONDecodeError as error:
        raise ValueError(f"line {number} is no JSON: {error}") from error
    query = given.get("query")
    relevant = [given.get(name, []) for name in ("relevant", "relevant_facts", "relevant_notes")]
    are_ids = all(isinstance(ids, list) and all(isinstance(one, str) for one in ids) for ids in relevant)
    if not isinstance(query, str) or not are_ids:
        raise ValueError(f"line {number}: `query` must be a text and what is `relevant` a list of ids")
    return ModelQuestion(query, *map(tuple, relevant))


async def _compare(
    state: CliState, user: str, given: Sequence[ModelQuestion], kinds: Sequence[Kind], *, judged: bool, json: bool
) -> None:
    found: dict[Kind, ModelComparison | TextModelComparison] = {}
    async with state.connect() as client:
        questions = [*given, *(await _judged(client, user, _QUESTIONS_MAX - len(given)) if judged else [])]
        if not questions:
            state.fail(f"no recall of {user} is known of which something was judged good")
        compared_by: dict[Kind, _Comparing] = {
            Kind.EPISODES: client.compare_models,
            Kind.FACTS: client.compare_fact_models,
            Kind.NOTES: client.compare_note_models,
        }
        for kind in kinds:
            found[kind] = await _compared(compared_by[kind], user, questions)
    if json:
        document = {kind.value: compared for kind, compared in found.items()}
        state.out.print(as_json(document), markup=False, highlight=False, soft_wrap=True)
        return
    for line in _summary(found):
        state.out.print(line, markup=False, highlight=False, soft_wrap=True)


async def _judged(client: Client, user: str, count_max: int) -> list[ModelQuestion]:
    """The questions of judged recalls, each once, the newest ones."""
    found: dict[str, ModelQuestion] = {}
    async for one in client.list_judged_recalls(user):
        if len(found) >= count_max:
            break
        right = (ids[:_RIGHT_IDS_MAX] for ids in (one.memory_ids, one.fact_ids, one.note_ids))
        found.setdefault(one.query, ModelQuestion(one.query, *right))
    return list(found.values())


async def _compared(
    compare_batch: _Comparing, user: str, questions: Sequence[ModelQuestion]
) -> ModelComparison | TextModelComparison:
    batches = [questions[start : start + _QUESTIONS_AT_ONCE] for start in range(0, len(questions), _QUESTIONS_AT_ONCE)]
    found = [await compare_batch(user, batch, timeout_seconds=_BATCH_SECONDS) for batch in batches]
    return replace(found[-1], questions=tuple(question for batch in found for question in batch.questions))


def _summary(found: Mapping[Kind, ModelComparison | TextModelComparison]) -> list[str]:
    one = next(iter(found.values()))
    lines = [f"first:  {one.first_model}", f"second: {one.second_model}"]
    for kind, compared in found.items():
        questions = compared.questions
        overlap = fmean(each.overlap for each in questions)
        line = f"{kind.value}: overlap@10 of {len(questions)} questions {overlap:.3f}"
        judged = [
            (each.first_recall, each.second_recall)
            for each in questions
            if each.first_recall is not None and each.second_recall is not None
        ]
        if judged:
            first, second = fmean(pair[0] for pair in judged), fmean(pair[1] for pair in judged)
            line += f"; recall@10 of {len(judged)} with right answers: first {first:.3f}, second {second:.3f}"
        lines.append(line)
        if isinstance(compared, TextModelComparison):
            more = ", the newest ones" if compared.truncated else ""
            lines.append(f"  {compared.compared_count} {kind.value} compared{more}")
        else:
            lines.append(f"  pieces: first {compared.first_piece_count}, second {compared.second_piece_count}")
            if compared.second_piece_count < compared.first_piece_count:
                lines.append("  The second index is not filled yet: wait for the job episodic.fill_second_index.")
    return lines


@model.command("remove-former")
def remove_former(
    context: typer.Context,
    check: Annotated[bool, typer.Option("--check", help="Remove nothing; show what would be removed.")] = False,
    data_dir: options.DataDir = None,
) -> None:
    """Remove what is left of all embedding models but that of MNEME_EMBEDDING_MODEL_DIR (empty: the packaged one).

    The indexes of episodes on the Qdrant server of MNEME_QDRANT_URL, else in the data folder; and the vectors of facts
    and notes that have one of the model, in the PostgreSQL of MNEME_POSTGRES_URL, else of the data folder. Services may
    run. Refused while
    MNEME_EMBEDDING_SECOND_MODEL_DIR is set, where there is no index of the model, and while a service has an index of
    another one open in the data folder. May be repeated. No episode is lost: the way back is a new second index.
    """
    state = state_of(context, data_dir=data_dir)
    # Imported here: it brings in the embedding model and the engines, which few commands need.
    from services.common.datadir import DataDirError
    from services.common.embedding.errors import EmbeddingError
    from services.common.errors import MnemeError
    from services.common.hosting import HostSettings
    from services.common.logging import configure_logging
    from services.common.postgres.failure import EmbeddedPostgresError

    configure_logging(level="error")
    try:
        settings = HostSettings()
        if settings.embedding_second_model_dir is not None:
            state.fail("MNEME_EMBEDDING_SECOND_MODEL_DIR names a second model, whose index is in use: unset it first")
        indexes, vectors = state.run(_remove(settings, state.data_dir, check=check))
    except (DataDirError, EmbeddedPostgresError, EmbeddingError, MnemeError, OSError, ValueError) as error:
        state.fail(str(error))
    for index in indexes:
        what = "in use" if index.is_in_use else "would be removed" if check else "removed"
        state.out.print(f"{index.name}: {what}", markup=False, highlight=False, soft_wrap=True)
    for found in vectors:
        what = f"would be removed, of {found.users} users" if check else f"removed from {found.dropped} {found.what}"
        state.out.print(f"former vectors of {found.what}: {what}", markup=False, highlight=False, soft_wrap=True)


async def _remove(
    settings: HostSettings, data_dir: Path, *, check: bool
) -> tuple[Sequence[ModelIndex], Sequence[FormerVectorsFound]]:
    import asyncio
    import contextlib
    import os

    from services.cli.model_vectors import former_vectors
    from services.common.embedding.factory import create_embedder
    from services.common.settings_file import SettingsSource
    from services.common.shared_settings import embedding_settings

    source = SettingsSource.read(settings.config, os.environ)
    embedder = await asyncio.to_thread(create_embedder, embedding_settings(source, settings, data_dir))
    async with contextlib.aclosing(embedder):
        indexes = await _remove_indexes(settings, source, data_dir, embedder, check=check)
        return indexes, await former_vectors(settings, data_dir, model=embedder.fingerprint, check=check)


async def _remove_indexes(
    settings: HostSettings, source: SettingsSource, data_dir: Path, embedder: Embedder, *, check: bool
) -> Sequence[ModelIndex]:
    import contextlib

    from services.cli import model_indexes
    from services.episodic.app import qdrant_server
    from services.episodic.config import EpisodicSettings

    server = qdrant_server(settings)
    if server is None:
        folder = settings.qdrant_dir or data_dir / "qdrant"
        indexes = await model_indexes.shards(folder, embedder)
        if not check:
            await model_indexes.remove_shards(folder, indexes)
        return indexes
    from services.episodic.stores.qdrant_connection import QdrantConnection, create_qdrant_client

    tuning = source.load(EpisodicSettings, "episodic").qdrant
    async with contextlib.aclosing(QdrantConnection(create_qdrant_client(server, tuning), tuning)) as connection:
        indexes = await model_indexes.collections(connection, tuning, embedder)
        if not check:
            await model_indexes.remove_collections(connection, indexes)
        return indexes
