"""Old and new statements of long conversations: which ranks first, and whether the old one is marked."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.common import BenchError
from bench.gateway import Gateway, retried
from bench.ingest import Ingested
from bench.knowledge.probing import shown_ids
from mneme.gateway.v1 import context_pb2, recall_pb2

UPDATE: Final = "knowledge_update"
CONTRADICTION: Final = "contradiction_resolution"
_LIMIT: Final = 50
_FOUND_WITHIN: Final = 10
_CONTEXT_TOKENS: Final = 2_000


@dataclass(frozen=True, slots=True)
class Pair:
    """A question, and the turns with the old and with the new statement."""

    conversation: str
    question: str
    category: str
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PairResult:
    """What the responses to one question show."""

    pair: Pair
    new_first: bool  # the best new turn ranks above all the old ones
    old_not_plain: bool  # in a context, no old turn stands without a mark
    both_found: bool  # among the first ten
    flagged: bool  # one side is marked by the other, or they are named as a conflict


def load_pairs(folder: Path) -> list[Pair]:
    """Reads `pairs.jsonl` of a folder.

    Raises:
        BenchError: There is no such file.
    """
    path = folder / "pairs.jsonl"
    if not path.is_file():
        raise BenchError(f"there is no file {path}: give the folder with conversations and their pairs")
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    return [
        Pair(item["conversation"], item["question"], item["category"], tuple(item["old"]), tuple(item["new"]))
        for item in lines
    ]


async def ask_pair(gateway: Gateway, ingested: Ingested, pair: Pair) -> PairResult:
    """Asks a pair's question."""
    response = await retried(
        lambda: gateway.recall(recall_pb2.RecallRequest(user_id=ingested.user_id, query=pair.question, limit=_LIMIT))
    )
    context = await retried(
        lambda: gateway.build_context(
            context_pb2.BuildContextRequest(user_id=ingested.user_id, query=pair.question, token_budget=_CONTEXT_TOKENS)
        )
    )
    ranked = [ingested.turn_ids[memory.memory_id] for memory in response.memories]
    new, old = _best(ranked, pair.new), _best(ranked, pair.old)
    shown, marked = shown_ids(context)
    plain = {ingested.turn_ids[i] for i in shown - marked}
    sides = {
        i: ingested.turn_ids[i] in pair.new for i in ingested.turn_ids if ingested.turn_ids[i] in {*pair.new, *pair.old}
    }
    return PairResult(
        pair=pair,
        new_first=new < old,
        old_not_plain=plain.isdisjoint(pair.old),
        both_found=max(new, old) < _FOUND_WITHIN,
        flagged=any(m.superseded_by in sides and m.memory_id in sides for m in response.memories)
        or any({c.winner_id, *c.loser_ids} <= set(sides) for c in response.conflicts),
    )


def shares(results: Sequence[PairResult]) -> dict[str, float]:
    """Returns the shares that the bars are about."""
    updates = [result for result in results if result.pair.category == UPDATE]
    contradictions = [result for result in results if result.pair.category == CONTRADICTION]
    return {
        "update_new_first": _share([result.new_first for result in updates]),
        "update_old_marked_or_absent": _share([result.old_not_plain for result in updates]),
        "contradiction_both_found": _share([result.both_found for result in contradictions]),
        "contradiction_found_and_flagged": _share([result.both_found and result.flagged for result in contradictions]),
    }


def _best(ranked: Sequence[str], wanted: Collection[str]) -> int:
    return next((place for place, turn_id in enumerate(ranked) if turn_id in wanted), len(ranked))


def _share(found: Sequence[bool]) -> float:
    return sum(found) / len(found) if found else 0.0
