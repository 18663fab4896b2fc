"""Recall quality on conversations in LoCoMo's layout, through the gateway with its default settings.

    python -m bench.recall --data FOLDER --out FILE [--ranked FILE] [--target host:port]

README.md beside this file says what each figure means.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from unittest.mock import patch

import grpc
from rich.progress import Progress

from bench.common import (
    BenchError,
    Target,
    open_channel,
    open_target,
    print_table,
    report_head,
    run,
    times_of,
    write_json,
)
from bench.gateway import Gateway, retried
from bench.ingest import CONTENT_CHARS_MAX, Ingested, ingest
from bench.locomo import LocomoConversation, LocomoQuestion, load_conversations
from bench.maintained import Maintained, maintain
from bench.measures import (
    ScoredQuestion,
    by_category,
    by_conversation,
    ranking_scores,
    recall_at,
    summarise,
    words_held,
)
from bench.multiply import copy_store
from bench.production import EngineChoice, add_engine_options, engine_choice, host_settings, running_engines
from mneme.gateway.v1 import context_pb2, recall_pb2
from services.common.datadir import DataDir, DataDirError

_TOKEN_BUDGETS: Final = (1_000, 2_000)
_LIMIT_MAX: Final = 200
_QUERY_CHARS_MAX: Final = 8_192


@dataclass(frozen=True, slots=True)
class Options:
    """The command line."""

    data: Path
    out: Path
    ranked: Path | None
    target: str | None
    api_key: str | None
    limit: int
    held_out: Path | None
    profile: str
    engines: str
    processes: bool
    beside: Path | None
    jobs: list[str]


@dataclass(slots=True)
class Outcome:
    """What a run found."""

    driver: str = ""
    start_seconds: float | None = None
    scored: list[ScoredQuestion] = field(default_factory=list)
    ranked_lines: list[dict[str, object]] = field(default_factory=list)
    recall_seconds: list[float] = field(default_factory=list)
    context_seconds: list[float] = field(default_factory=list)
    acknowledge_seconds: float = 0.0
    index_seconds: float = 0.0
    degraded_answers: int = 0
    dead_deliveries: int = 0
    maintained: Maintained | None = None
    notes: list[str] = field(default_factory=list)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; 2 when it cannot run."""
    try:
        options = _options(arguments)
        conversations = load_conversations(options.data)
        outcome = run(_measure(options, conversations))
    except (BenchError, DataDirError) as error:
        print(f"bench.recall: {error}", file=sys.stderr)
        return 2
    except grpc.aio.AioRpcError as error:
        print(f"bench.recall: the gateway answered {error.code().name}: {error.details()}", file=sys.stderr)
        return 2
    write_json(options.out, _report(options, conversations, outcome))
    if options.ranked is not None:
        _write_lines(options.ranked, outcome.ranked_lines)
    _print(outcome)
    return 0


async def _measure(options: Options, conversations: Sequence[LocomoConversation]) -> Outcome:
    outcome = Outcome()
    # A store that others use as well may hold the conversations of an earlier run: users are new each time.
    run_id = uuid.uuid4().hex[:8]
    async with AsyncExitStack() as stack:
        data_dir = None
        if options.held_out is not None or options.beside is not None:
            data_dir = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mneme-bench-"))) / "data"
        if data_dir is not None and options.beside is not None:
            copy_store(options.beside, data_dir)
        progress = stack.enter_context(Progress(transient=True))
        async with _gateway(options, data_dir) as (gateway, target):
            outcome.driver, outcome.start_seconds = target.driver, target.start_seconds
            ingested = await _ingest_all(gateway, conversations, run_id, outcome, progress)
            if options.jobs:
                users = [result.user_id for result in ingested.values()]
                outcome.maintained = await maintain(gateway, users, options.jobs)
            questions = progress.add_task("questions", total=sum(len(c.questions) for c in conversations))
            if options.held_out is None:
                for conversation in conversations:
                    await _ask_all(gateway, ingested, conversation, options, outcome)
                    progress.advance(questions, len(conversation.questions))
                return outcome
        for conversation in conversations:
            rankers = _held_out_rankers(options.held_out, conversation.name)
            async with _gateway(options, data_dir, rankers) as (gateway, _):
                await _ask_all(gateway, ingested, conversation, options, outcome)
            progress.advance(questions, len(conversation.questions))
    return outcome


async def _ask_all(
    gateway: Gateway,
    ingested: Mapping[str, Ingested],
    conversation: LocomoConversation,
    options: Options,
    outcome: Outcome,
) -> None:
    texts = {turn.turn_id: f"{turn.text} {turn.caption}" for s in conversation.sessions for turn in s.turns}
    for question in conversation.questions:
        await _ask(gateway, ingested[conversation.name], texts, question, options, outcome)


def _held_out_rankers(folder: Path, name: str) -> dict[str, str]:
    """The rankers that have not seen a conversation, as settings of a gateway; see bench/fit."""
    settings = {}
    for profile in ("evidence", "light"):
        file = folder / f"{name}.{profile}.json"
        if not file.is_file():
            raise BenchError(f"there is no {file}; `make fit` writes it")
        settings[f"MNEME_GATEWAY__RANKERS__{profile.upper()}_FILE"] = str(file.resolve())
        chats = folder / f"{name}.{profile}-chats.json"
        if chats.is_file():  # without it the other one ranks chats as well
            settings[f"MNEME_GATEWAY__RANKERS__{profile.upper()}_CHATS_FILE"] = str(chats.resolve())
    return settings


@contextlib.asynccontextmanager
async def _gateway(
    options: Options, data_dir: Path | None, variables: Mapping[str, str] | None = None
) -> AsyncIterator[tuple[Gateway, Target]]:
    async with AsyncExitStack() as stack:
        stack.enter_context(patch.dict(os.environ, variables or {}))
        target = await stack.enter_async_context(_opened(options, stack, data_dir))
        yield Gateway(await stack.enter_async_context(open_channel(target.gateway, api_key=options.api_key))), target


def _opened(options: Options, stack: AsyncExitStack, data_dir: Path | None) -> AbstractAsyncContextManager[Target]:
    choice = engine_choice(options.engines, processes=options.processes)
    if options.target is not None or choice == EngineChoice():
        return open_target(options.target, data_dir=data_dir)
    group = None
    if choice.names:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mneme-bench-")))
        group = stack.enter_context(running_engines(choice.names, folder / "engines"))
    return open_target(None, host_settings=host_settings(group), processes=choice.processes)


async def _ingest_all(
    gateway: Gateway,
    conversations: Sequence[LocomoConversation],
    run_id: str,
    outcome: Outcome,
    progress: Progress,
) -> dict[str, Ingested]:
    task = progress.add_task("remember", total=sum(c.turn_count for c in conversations))
    started = time.perf_counter()
    ingested = {}
    for conversation in conversations:
        user_id = f"bench-{run_id}-{conversation.name}"[:128]
        result = await ingest(gateway, conversation, user_id=user_id)
        ingested[conversation.name] = result
        outcome.notes += _notes(conversation, result)
        progress.advance(task, conversation.turn_count)
    outcome.acknowledge_seconds = time.perf_counter() - started
    waiting = progress.add_task("index", total=None)
    backlog = await gateway.wait_delivered(
        on_progress=lambda pending: progress.update(waiting, description=f"index, {pending} deliveries wait")
    )
    for result in ingested.values():
        for token in result.tokens:
            await gateway.wait_visible(result.user_id, token)
    progress.remove_task(waiting)
    outcome.index_seconds = time.perf_counter() - started
    outcome.dead_deliveries = backlog.dead
    return ingested


async def _ask(
    gateway: Gateway,
    ingested: Ingested,
    texts: Mapping[str, str],
    question: LocomoQuestion,
    options: Options,
    outcome: Outcome,
) -> None:
    ranked: list[str] = []
    text = question.text[:_QUERY_CHARS_MAX]
    if text.strip():
        request = recall_pb2.RecallRequest(
            user_id=ingested.user_id, query=text, limit=options.limit, scoring=_scoring(options)
        )
        started = time.perf_counter()
        response = await retried(lambda: gateway.recall(request))
        outcome.recall_seconds.append(time.perf_counter() - started)
        outcome.degraded_answers += response.degraded
        ranked = _turn_ids([memory.memory_id for memory in response.memories], ingested)
    outcome.ranked_lines.append({"conversation": ingested.name, "question": question.index, "ranked": ranked})
    if not question.gold:
        return
    scores = ranking_scores(ranked, question.gold, limit=options.limit)
    for budget in _TOKEN_BUDGETS:
        shown = await _context_turns(gateway, ingested, text, budget, options, outcome) if text.strip() else {}
        scores[f"context@{budget}"] = recall_at(list(shown), question.gold, len(shown))
        held = [words_held(texts[turn_id], shown.get(turn_id, ())) for turn_id in sorted(question.gold)]
        scores[f"words@{budget}"] = sum(held) / len(held)
    outcome.scored.append(ScoredQuestion(ingested.name, question.category, scores))


def _scoring(options: Options) -> recall_pb2.Scoring | None:
    return recall_pb2.Scoring(profile=options.profile) if options.profile else None


async def _context_turns(
    gateway: Gateway, ingested: Ingested, query: str, budget: int, options: Options, outcome: Outcome
) -> dict[str, list[str]]:
    """The lines of a context that come from a turn, by turn."""
    request = context_pb2.BuildContextRequest(
        user_id=ingested.user_id, query=query, token_budget=budget, scoring=_scoring(options)
    )
    started = time.perf_counter()
    response = await retried(lambda: gateway.build_context(request))
    outcome.context_seconds.append(time.perf_counter() - started)
    outcome.degraded_answers += response.degraded
    lines: dict[str, list[str]] = {}
    for item in (item for section in response.sections for item in section.items):
        for turn_id in _turn_ids(item.interaction_ids, ingested):
            lines.setdefault(turn_id, []).append(item.text)
    return lines


def _turn_ids(interaction_ids: Iterable[str], ingested: Ingested) -> list[str]:
    """Turn ids in the order given, each once. An id of another user's interaction would be a leak."""
    found: dict[str, None] = {}
    for interaction_id in interaction_ids:
        if interaction_id not in ingested.turn_ids:
            raise BenchError(f"{ingested.user_id} was shown {interaction_id}, which is not its own")
        found[ingested.turn_ids[interaction_id]] = None
    return list(found)


def _notes(conversation: LocomoConversation, ingested: Ingested) -> list[str]:
    notes = []
    if ingested.cut_turns:
        notes.append(f"{conversation.name}: cut to {CONTENT_CHARS_MAX:,} characters: {', '.join(ingested.cut_turns)}")
    if ingested.empty_turns:
        notes.append(f"{conversation.name}: left out for lack of text: {', '.join(ingested.empty_turns)}")
    if ingested.undated_turns:
        notes.append(f"{conversation.name}: {ingested.undated_turns} turns have no readable date")
    return notes


# --------------------------------------------------------------------------------------------- report


def _report(options: Options, conversations: Sequence[LocomoConversation], outcome: Outcome) -> dict[str, object]:
    turn_count = sum(conversation.turn_count for conversation in conversations)
    settings = {
        "data": options.data.resolve().name,
        "limit": options.limit,
        "profile": options.profile or "default",
        "held_out": options.held_out is not None,
        "beside": options.beside is not None,
        "maintained_by": options.jobs,
        "token_budgets": list(_TOKEN_BUDGETS),
    }
    return report_head("recall", driver=outcome.driver, settings=settings) | {
        "conversations": len(conversations),
        "turns": turn_count,
        "questions": len(outcome.ranked_lines),
        "questions_scored": len(outcome.scored),
        "overall": summarise(outcome.scored),
        "categories": {name: summarise(group) for name, group in by_category(outcome.scored).items()},
        "per_conversation": {name: summarise(group) for name, group in by_conversation(outcome.scored).items()},
        "degraded_answers": outcome.degraded_answers,
        "dead_deliveries": outcome.dead_deliveries,
        "maintenance": outcome.maintained,
        "timing": {
            "start_seconds": outcome.start_seconds,
            "acknowledge_seconds": round(outcome.acknowledge_seconds, 3),
            "index_seconds": round(outcome.index_seconds, 3),
            "turns_indexed_per_second": round(turn_count / outcome.index_seconds, 1),
            "recall_milliseconds": times_of(outcome.recall_seconds),
            "build_context_milliseconds": times_of(outcome.context_seconds),
        },
        "notes": outcome.notes,
    }


def _write_lines(path: Path, lines: Iterable[Mapping[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for line in lines:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def _print(outcome: Outcome) -> None:
    overall = summarise(outcome.scored)
    names = list(overall)
    rows: list[list[object]] = []
    for title, groups in (("category", by_category), ("conversation", by_conversation)):
        for name, group in groups(outcome.scored).items():
            estimates = summarise(group)
            rows.append([f"{title} {name}", len(group), *[estimates[key].value for key in names]])
    rows.append(["all", len(outcome.scored), *[overall[key].value for key in names]])
    rows.append(["  95 % low", "", *[overall[key].low for key in names]])
    rows.append(["  95 % high", "", *[overall[key].high for key in names]])
    print_table("Recall quality", ["", "questions", *names], rows)
    recall, context = times_of(outcome.recall_seconds), times_of(outcome.context_seconds)
    print(
        f"acknowledged in {outcome.acknowledge_seconds:.1f} s, indexed in {outcome.index_seconds:.1f} s; "
        f"Recall p50 {recall.p50:.1f} ms, p95 {recall.p95:.1f} ms; BuildContext p50 {context.p50:.1f} ms"
    )
    if (did := outcome.maintained) is not None:
        print(f"maintenance: {did.changes} in {did.seconds:.1f} s; {did.before} became {did.after}")
    if outcome.degraded_answers or outcome.dead_deliveries:
        print(f"WARNING: {outcome.degraded_answers} degraded answers, {outcome.dead_deliveries} dead letters")
    for note in outcome.notes:
        print(f"note: {note}")


def _options(arguments: Sequence[str] | None) -> Options:
    parser = argparse.ArgumentParser(prog="python -m bench.recall", description="Recall quality.")
    parser.add_argument("--data", type=Path, required=True, help="folder of conversations, one JSON file each")
    parser.add_argument("--out", type=Path, required=True, help="report, JSON")
    parser.add_argument("--ranked", type=Path, help="write the ranking of each question here, JSON lines")
    parser.add_argument("--target", help="gateway of a running stack; without it an embedded one is started")
    parser.add_argument("--api-key", help="credential for --target")
    parser.add_argument("--limit", type=int, default=50, help="memories asked for, 1 to 200 (default 50)")
    parser.add_argument("--profile", default="", help="scoring profile; the default one when absent")
    parser.add_argument("--held-out", type=Path, help="rankers of `make fit`: each conversation is asked with its own")
    parser.add_argument(
        "--beside",
        type=Path,
        help="data folder of a stopped stack: the conversations are remembered in a copy of it, beside what it holds",
    )
    parser.add_argument(
        "--maintain", dest="jobs", metavar="JOB", action="append", default=[],
        help="run this job for every user, until it finds nothing to do, before the questions; several in this order",
    )  # fmt: skip
    add_engine_options(parser)
    options = Options(**vars(parser.parse_args(arguments)))
    if not 1 <= options.limit <= _LIMIT_MAX:
        raise BenchError(f"--limit must be between 1 and {_LIMIT_MAX}")
    if (options.held_out or options.beside) and (options.target or options.engines or options.processes):
        raise BenchError("--held-out and --beside start gateways of their own on the embedded engines")
    if options.beside is not None and not DataDir.is_one(options.beside):
        raise BenchError(f"--beside takes the data folder of a stopped stack, and {options.beside} is none")
    return options


if __name__ == "__main__":
    sys.exit(main())
