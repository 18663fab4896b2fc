"""Fits the ranker to one's own judgements: which memories were good answers to which questions.

    python -m bench.fit.refit --judgements FILE --target host:port --out FILE [--base FILE] [--api-key KEY]

A judgement is a line of JSON: {"user_id": ..., "question": ..., "relevant": [memory ids]}. The line of the ranker moves
from the one that comes along only as far as the judgements pull it; its trees stay. So a few dozen judgements are
enough to be of use and too few to do harm. The result goes into the setting `gateway.rankers.evidence_file`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import grpc
import numpy as np

from bench.common import BenchError, open_channel, print_table, run
from bench.fit.collect import Judgement, collect
from bench.fit.dataset import Dataset
from bench.fit.fitting import FitSettings, fit_line
from bench.fit.held_out import CUTS, means, score
from bench.gateway import Gateway
from services.gateway.recall.ranking.fitted import SHIPPED
from services.gateway.recall.ranking.ranker import RankerFileError, RankerWeights

_JUDGEMENTS_MIN: Final = 10
_FOLDS: Final = 5


@dataclass(frozen=True, slots=True)
class Options:
    """The command line."""

    judgements: Path
    target: str
    out: Path
    base: Path
    profile: str
    api_key: str | None


def main(arguments: Sequence[str] | None = None) -> int:
    """Fits; 2 when it cannot."""
    options = _options(arguments)
    try:
        judgements = read_judgements(options.judgements)
        data = run(_collect(options, judgements))
        base = RankerWeights.read(options.base)
        refitted = refit(base, data, FitSettings())
    except (BenchError, RankerFileError, ValueError, OSError) as error:
        print(f"bench.fit.refit: {error}", file=sys.stderr)
        return 2
    except grpc.aio.AioRpcError as error:
        print(f"bench.fit.refit: the gateway answered {error.code().name}: {error.details()}", file=sys.stderr)
        return 2
    _print(base, data)
    refitted.write(options.out)
    return 0


def read_judgements(file: Path) -> list[Judgement]:
    """Reads judgements, a line of JSON each.

    Raises:
        BenchError: A line is none, or there are too few.
    """
    found = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            content = json.loads(line)
            relevant = frozenset(str(identifier) for identifier in content["relevant"])
            judgement = Judgement(str(content["user_id"]), str(content["question"]), relevant)
        except (ValueError, KeyError, TypeError) as error:
            raise BenchError(f"{file}, line {number}: {error!r}") from error
        if not relevant or not judgement.question.strip():
            raise BenchError(f"{file}, line {number}: it needs a question and at least one relevant memory")
        found.append(replace(judgement, conversation=str(number % _FOLDS)))
    if len(found) < _JUDGEMENTS_MIN:
        raise BenchError(f"{file} has {len(found)} judgements; {_JUDGEMENTS_MIN} are the least that can be fitted to")
    return found


def refit(base: RankerWeights, data: Dataset, settings: FitSettings) -> RankerWeights:
    """The ranker with its line moved towards the judgements."""
    place = {name: index for index, name in enumerate(data.names)}
    missing = [name for name in base.features if name not in place]
    if missing:
        raise ValueError(f"the gateway does not report {', '.join(missing)}")
    rows = data.rows[:, [place[name] for name in base.features]]
    deviations = rows.std(axis=0, dtype=np.float64)
    deviations[deviations < 1e-6] = np.inf
    start = np.array(base.linear)
    # The line is fitted on top of the scores of the base: the penalty holds it there.
    moved = fit_line(
        (rows / deviations).astype(np.float32),
        data,
        np.ones(len(data.counts)),
        settings,
        offset=rows.astype(np.float64) @ start,
    )
    provenance = {
        **base.provenance,
        "refitted_on": {"judgements": len(data.counts), "date": datetime.now(UTC).date().isoformat()},
    }
    return replace(base, linear=tuple((start + moved / deviations).tolist()), provenance=provenance)


async def _collect(options: Options, judgements: Sequence[Judgement]) -> Dataset:
    async with open_channel(options.target, api_key=options.api_key) as channel:
        return await collect(Gateway(channel), judgements, profile=options.profile)


def _print(base: RankerWeights, data: Dataset) -> None:
    """Reports what it brings on judgements that were left out."""
    folds = [str(fold) for fold in range(_FOLDS) if (data.conversations == str(fold)).any()]
    after = []
    for fold in folds:
        ranker = refit(base, data.chosen(data.conversations != fold), FitSettings())
        after += score(data.chosen(data.conversations == fold), ranker)
    rows: list[list[object]] = []
    for title, scored in (("before", score(data, base)), ("after, on judgements left out", after)):
        rows += [[title, *(values[f"recall@{cut}"] for cut in CUTS)] for values in means(scored).values()]
    print_table(f"{len(data.counts)} judgements", ["", *(f"recall@{cut}" for cut in CUTS)], rows)


def _options(arguments: Sequence[str] | None) -> Options:
    parser = argparse.ArgumentParser(prog="python -m bench.fit.refit", description="Fits to own judgements.")
    parser.add_argument("--judgements", type=Path, required=True, help="JSON lines: user_id, question, relevant")
    parser.add_argument("--target", required=True, help="gateway that holds the memories, host:port")
    parser.add_argument("--out", type=Path, required=True, help="the ranker, for gateway.rankers.evidence_file")
    parser.add_argument("--base", type=Path, help="ranker to start from; the one that comes along when absent")
    parser.add_argument("--profile", choices=["evidence", "light"], default="evidence")
    parser.add_argument("--api-key", help="credential for --target")
    values = vars(parser.parse_args(arguments))
    values["base"] = values["base"] or SHIPPED / f"{values['profile']}.json"
    return Options(**values)


if __name__ == "__main__":
    sys.exit(main())
