"""Fits the rankers of the profiles `evidence` and `light` on conversations in LoCoMo's layout.

    python -m bench.fit --data FOLDER --data FOLDER --out FOLDER [--install] [--ablations] [--no-chats]

The candidates come from a gateway that has remembered all of the conversations, those between people also as chats (see
`chat.py`). Each profile gets a ranker for conversations in turns, and one for chats, which is fitted on both. Every
conversation is left out once, in both forms: its rankers, which `make bench-recall
BENCH_ARGS="--held-out FOLDER/held-out"` uses, have not seen it.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import numpy as np
from rich.progress import track

from bench.common import BenchError, commit_name, open_channel, open_target, print_table, run, write_json
from bench.fit.chat import as_chat, is_between_people, unit_of
from bench.fit.collect import LIMIT, Judgement, collect
from bench.fit.dataset import Dataset
from bench.fit.fitting import CHAT_SUFFIX, FitSettings, fit
from bench.fit.held_out import CUTS, Scored, means, score
from bench.gateway import Gateway
from bench.ingest import ingest
from bench.locomo import LocomoConversation, load_conversations
from services.gateway.recall.ranking.features import Extra, extra_names, feature_parts
from services.gateway.recall.ranking.fitted import SHIPPED


def _without(extras: Extra) -> tuple[str, ...]:
    """Names of the features of all other extras."""
    return tuple(sorted(name for extra, names in extra_names().items() if extra not in extras for name in names))


_SETTINGS: Final = {
    "evidence": FitSettings(tree_weight=0.75, without=_without(Extra.COURSE)),
    "light": FitSettings(without=_without(Extra(0))),  # without what takes time
}
"""How the rankers for conversations in turns are fitted, by profile."""
PROFILES: Final = tuple(_SETTINGS)
_CHAT_LIMIT: Final = 100
"""Candidates of a question to a chat: the more of them, the longer it takes to fit."""
_ABLATIONS: Final = {
    "late interaction": ("late",),
    "neighbours, and the question that a turn answers": ("neighbours", "answers"),
    "the session's best turn": ("session",),
    "the course of the session": ("course",),
    "the speaker who is named": ("speaker",),
    "roles of user and assistant": ("role",),
    "times": ("time",),
    "kinds of turns and questions, and lengths": ("kind", "length", "question"),
    "facts and notes": ("facts", "notes"),
    "BM25": ("lexical",),
    "dense similarity": ("dense",),
}


@dataclass(frozen=True, slots=True)
class Options:
    """The command line."""

    data: list[Path]
    out: Path
    profiles: list[str]
    install: bool
    ablations: bool
    chats: bool


def main(arguments: Sequence[str] | None = None) -> int:
    """Fits; 2 when it cannot."""
    options = _options(arguments)
    try:
        options.out.mkdir(parents=True, exist_ok=True)
        run(_collect(options))
    except BenchError as error:
        print(f"bench.fit: {error}", file=sys.stderr)
        return 2
    for profile in options.profiles or PROFILES:
        data = Dataset.load(options.out / f"candidates-{profile}.npz")
        in_turns = ~np.char.endswith(data.sets, CHAT_SUFFIX)
        settings = _SETTINGS[profile]
        report = _fit(options, profile, data.chosen(in_turns), settings)
        if options.ablations and profile == PROFILES[0]:
            report["ablations"] = _ablations(data.chosen(in_turns), settings)
        write_json(options.out / f"report-{profile}.json", report)
        if not in_turns.all():
            settings = FitSettings(without=_without(Extra.BURSTS))
            write_json(options.out / f"report-{profile}-chats.json", _fit(options, f"{profile}-chats", data, settings))
    return 0


async def _collect(options: Options) -> None:
    """Writes the candidates of each profile, unless they are there from an earlier run."""
    files = {profile: options.out / f"candidates-{profile}.npz" for profile in PROFILES}
    if all(file.exists() for file in files.values()):
        return
    async with open_target(None) as target, open_channel(target.gateway) as channel:
        gateway = Gateway(channel)
        judgements = []
        for set_name, conversation in track(list(conversations_of(options)), "remember"):
            judgements += await _remember(gateway, set_name, conversation)
        await gateway.wait_delivered()
        for profile, file in files.items():
            (await collect(gateway, track(judgements, f"ask for {profile}"), profile=profile)).save(file)


def conversations_of(options: Options) -> Iterator[tuple[str, LocomoConversation]]:
    """All that are fitted on, with the data set that each belongs to."""
    for folder in options.data:
        for conversation in load_conversations(folder):
            yield folder.name, conversation
            if options.chats and is_between_people(conversation):
                yield folder.name + CHAT_SUFFIX, as_chat(conversation)


async def _remember(gateway: Gateway, set_name: str, conversation: LocomoConversation) -> list[Judgement]:
    """Remembers a conversation, and returns its questions."""
    user_id = f"fit-{uuid.uuid4().hex[:8]}-{conversation.name}"[:128]
    memories = await ingest(gateway, conversation, user_id=user_id)
    ids = {turn_id: identifier for identifier, turn_id in memories.turn_ids.items()}
    for token in memories.tokens:
        await gateway.wait_visible(user_id, token)
    is_chat = set_name.endswith(CHAT_SUFFIX)
    return [
        Judgement(
            user_id=user_id,
            question=question.text,
            relevant_ids=frozenset(ids[turn_id] for turn_id in question.gold if turn_id in ids),
            set_name=set_name,
            conversation=conversation.name,
            category=question.category,
            units={ids[turn_id]: unit_of(turn_id) for turn_id in question.gold if is_chat and turn_id in ids},
            limit=_CHAT_LIMIT if is_chat else LIMIT,
        )
        for question in conversation.questions
        if question.gold and question.text.strip()
    ]


def _fit(options: Options, name_of_ranker: str, data: Dataset, settings: FitSettings) -> dict[str, object]:
    folder = options.out / "held-out"
    folder.mkdir(exist_ok=True)
    scored: list[Scored] = []
    for name in track(sorted(set(data.conversations.tolist())), f"leave out, {name_of_ranker}"):
        ranker = fit(data.chosen(data.conversations != name), settings, {"left_out": name})
        ranker.write(folder / f"{name}.{name_of_ranker}.json")
        scored += score(data.chosen(data.conversations == name), ranker)
    found = means(scored)
    _print(f"{name_of_ranker}, each conversation by a ranker that has not seen it", {"all": found})
    ranker = fit(data, settings, _provenance(data, settings, found))
    file = options.out / f"{name_of_ranker}.json"
    ranker.write(file)
    if options.install:
        shutil.copy(file, SHIPPED / file.name)
    return {"held_out": found}


def _provenance(data: Dataset, settings: FitSettings, found: object) -> dict[str, object]:
    sets = {
        name: {
            "conversations": sorted(set(data.conversations[data.sets == name].tolist())),
            "questions": int((data.sets == name).sum()),
        }
        for name in dict.fromkeys(data.sets.tolist())
    }
    return {
        "what": "A ranker of candidate turns: weights of features, and trees over them. No text of the data is in it.",
        "fitted_on": sets,
        "licences": {"locomo": "CC BY-NC 4.0 (evaluation)", "beam": "none stated"},
        "held_out": found,
        "settings": asdict(settings),
        "commit": commit_name(),
        "date": datetime.now(UTC).date().isoformat(),
    }


def _ablations(data: Dataset, settings: FitSettings) -> dict[str, object]:
    """What is lost without each group of features, by the line alone, which is fitted fast; five folds."""
    part_of = feature_parts()
    settings = replace(settings, tree_count=0)
    variants = {"all": settings}
    for title, parts in _ABLATIONS.items():
        names = tuple(name for name in data.names if part_of[name] in parts)
        variants[f"without {title}"] = replace(settings, without=(*settings.without, *names))
    found = {}
    for title, variant in track(variants.items(), "ablations"):
        found[title] = means(_in_folds(data, variant))
    _print("what each signal is worth", found)
    return dict(found)


def _in_folds(data: Dataset, settings: FitSettings, folds: int = 5) -> list[Scored]:
    """Scores all questions by rankers that have not seen their conversations; every fold has some of each set."""
    names = sorted(set(zip(data.sets.tolist(), data.conversations.tolist(), strict=True)))
    fold_of = {name: number % folds for number, (_, name) in enumerate(names)}
    folds_of = np.array([fold_of[name] for name in data.conversations.tolist()])
    return [
        one
        for fold in range(folds)
        for one in score(data.chosen(folds_of == fold), fit(data.chosen(folds_of != fold), settings, {}))
    ]


def _print(title: str, variants: Mapping[str, object]) -> None:
    rows: list[list[object]] = []
    for name, found in variants.items():
        assert isinstance(found, Mapping)
        rows += [[name, set_name, *(values[f"recall@{cut}"] for cut in CUTS)] for set_name, values in found.items()]
    print_table(title, ["", "", *(f"recall@{cut}" for cut in CUTS)], rows)


def _options(arguments: Sequence[str] | None) -> Options:
    parser = argparse.ArgumentParser(prog="python -m bench.fit", description="Fits the rankers.")
    parser.add_argument("--data", type=Path, action="append", required=True, help="folder of conversations")
    parser.add_argument("--out", type=Path, required=True, help="folder for candidates, rankers and the report")
    parser.add_argument("--profile", dest="profiles", choices=PROFILES, action="append", help="this one alone")
    parser.add_argument("--install", action="store_true", help="put the rankers into the service")
    parser.add_argument("--ablations", action="store_true", help="also measure what each signal is worth")
    parser.add_argument(
        "--chats", action=argparse.BooleanOptionalAction, default=True, help="fit on conversations as chats, too"
    )
    return Options(**vars(parser.parse_args(arguments)))


if __name__ == "__main__":
    sys.exit(main())
