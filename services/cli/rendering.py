"""Results as tables and sentences for the terminal."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from mneme_client import (
    Explanation,
    Fact,
    Interaction,
    Memory,
    Note,
    RecalledFact,
    RecalledNote,
    RecallResult,
    SourceTrust,
    TierReport,
    TierState,
    Turn,
)

# Remembered text may hold escape sequences that would move the cursor or rename the window.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

_RETRIEVERS = {
    "dense": "by meaning",
    "lexical": "by its words",
    "facts": "through a fact",
    "notes": "through a note",
}
_PARTS = {
    "dense": "meaning",
    "lexical": "shared words",
    "neighbours": "turns around it",
    "answers": "answers a question that fits",
    "session": "its session",
    "speaker": "who speaks",
    "role": "whose turn it is",
    "time": "when",
    "kind": "kind of turn",
    "length": "length",
    "facts": "facts",
    "notes": "notes",
}
_TRUSTS = {
    SourceTrust.UNSPECIFIED: "not known",
    SourceTrust.CALLER: "set by a caller",
    SourceTrust.USER: "the user",
    SourceTrust.APPLICATION: "the application",
    SourceTrust.NAMED_SPEAKER: "a named speaker",
    SourceTrust.ASSISTANT: "the assistant",
    SourceTrust.TOOL: "a tool",
}
_PARTS_SHOWN = 4
_LINES_SHOWN = 5  # of facts and of notes; `--json` has all


def plain(text: str) -> Text:
    """Text from a memory, without control characters or markup."""
    return Text(_CONTROL.sub("\N{REPLACEMENT CHARACTER}", text))


MARKS_MISSING: Final = "Which of these are superseded is not known: the semantic tier did not respond in time."


def mark_of(one: Interaction | Note | Memory | RecalledFact | RecalledNote | Fact) -> str:
    """Words behind a text that holds no more; empty for one that does."""
    fact = one.fact if isinstance(one, RecalledFact) else one
    if isinstance(fact, Fact) and fact.valid_to_time is not None:
        # What is corrected never held: it ended when it was said. A plan that was given up ended as it began.
        never_held = bool(fact.superseded_by) and fact.valid_to_time in {
            fact.first_observed_time,
            fact.valid_from_time,
        }
        return " (superseded)" if never_held else f" (until {fact.valid_to_time:%Y-%m-%d})"
    if not one.superseded_by:
        return ""
    if isinstance(one, Interaction | Memory) and not all(each.whole_turn for each in one.superseded_statements):
        return " (superseded in part)"
    return " (superseded)"


def counted(count: int, noun: str) -> str:
    """A number of things in words: "1 turn", "2 turns"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def counts_in_words(counts: Mapping[str, int]) -> str:
    """Numbers of things by their names in a contract: "1 data key, 2 facts" of `facts` and `data_keys`."""
    return ", ".join(
        counted(count, name.removesuffix("s").replace("_", " ")) if name.endswith("s") else f"{count} {name}"
        for name, count in sorted(counts.items())
    )


def turn_text(turn: Turn) -> Text:
    """What was said, and what its photos show."""
    captions = [f"[photo: {a.caption}]" for a in turn.attachments if a.caption]
    return plain(" ".join([turn.content, *captions]).strip())


def when(moment: datetime | None) -> str:
    """A time to the minute, UTC."""
    return f"{moment:%Y-%m-%d %H:%M}" if moment else ""


def who(turn: Turn) -> Text:
    """The speaker's name, or else the role."""
    return plain(turn.speaker or turn.role.name.lower())


def seconds(value: timedelta | None) -> str:
    """A duration in the unit that suits it."""
    if value is None:
        return ""
    total = value.total_seconds()
    return f"{total * 1e3:.1f} ms" if total < 1 else f"{total:.1f} s"


def retrievers_in_words(explanation: Explanation) -> str:
    """Which retrievers found a memory, such as "found by its words (1st), by meaning (2nd)"."""
    words = [
        f"{_RETRIEVERS.get(found.retriever, found.retriever)} ({ordinal(found.rank)})"
        for found in sorted(explanation.retrievers, key=lambda found: (found.rank, found.retriever))
    ]
    return f"found {', '.join(words)}" if words else "found beside another memory"


def parts_in_words(explanation: Explanation) -> str:
    """The greatest parts of a score, such as "meaning +0.41, when +0.20", and the sum of the rest."""
    parts = sorted(explanation.parts, key=lambda part: -abs(part.value))
    words = [f"{_PARTS.get(part.name, part.name)} {part.value:+.2f}" for part in parts[:_PARTS_SHOWN]]
    if rest := parts[_PARTS_SHOWN:]:
        words.append(f"other {sum(part.value for part in rest):+.2f}")
    return ", ".join(words)


def source_in_words(trust: SourceTrust) -> str:
    """Whose words a memory rests on, such as "source: the user"."""
    return f"source: {_TRUSTS.get(trust, _TRUSTS[SourceTrust.UNSPECIFIED])}"


def derived_text(one: RecalledFact | RecalledNote, *, explain: bool) -> Text:
    """A fact or a note, with its mark, and with whose words it rests on if wanted."""
    text = plain(one.fact.text if isinstance(one, RecalledFact) else one.note.content).append(mark_of(one), style="dim")
    return text.append(f" ({source_in_words(one.source_trust)})", style="dim") if explain else text


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, and so on."""
    suffix = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def memory_table(memories: Iterable[Memory], *, explain: bool = False) -> Table:
    """Memories in order, with their reasons if wanted."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("#", justify="right", style="dim")
    table.add_column("score", justify="right")
    table.add_column("when", no_wrap=True, style="cyan")
    table.add_column("who", style="green")
    table.add_column("text", ratio=1, overflow="fold")
    for rank, memory in enumerate(memories, start=1):
        said = turn_text(memory.turn).append(mark_of(memory), style="dim")
        if explain:
            why = f"{retrievers_in_words(memory.explanation)}; {parts_in_words(memory.explanation)}".rstrip("; ")
            why = f"{why}; {source_in_words(memory.source_trust)}"
            said = Text("\n").join([said, Text(why, style="dim")])
        table.add_row(str(rank), f"{memory.score:.2f}", when(memory.turn.time), who(memory.turn), said)
    return table


def print_recall(console: Console, found: RecallResult, *, explain: bool) -> None:
    """Prints a result: memories, facts, notes, and what may be missing."""
    if found.memories:
        console.print(memory_table(found.memories, explain=explain))
    else:
        console.print("Nothing was found.")
    _print_list(console, "Facts", [derived_text(fact, explain=explain) for fact in found.facts])
    _print_list(console, "Notes", [derived_text(note, explain=explain) for note in found.notes])
    if explain:
        console.print(stage_line(found), style="dim", markup=False, highlight=False)
    print_degraded(console, found.tiers, degraded=found.degraded, consistent=found.consistent)


def stage_line(found: RecallResult) -> str:
    """How the query was understood, and the duration of each stage."""
    reading = found.reading
    times = [f"{when(r.start_time) or '...'} to {when(r.end_time) or '...'}" for r in reading.time_ranges]
    parts = [f"read as: {_CONTROL.sub('', reading.embedded_query)}"] if reading.embedded_query else []
    parts += [f"speakers: {', '.join(reading.speakers)}"] if reading.speakers else []
    parts += [f"times: {', '.join(times)}"] if times else []
    parts += [", ".join(f"{s.stage} {seconds(s.duration)}" for s in found.stages)] if found.stages else []
    return "\n".join(parts)


def print_degraded(
    console: Console, tiers: Iterable[TierReport], *, degraded: bool, consistent: bool | None = None
) -> None:
    """Prints what may be missing from a result; prints nothing for a complete one."""
    for report in tiers:
        if report.state is TierState.FAILED:
            reason = report.reason or "no reason given"
            console.print(f"The {report.tier.name.lower()} tier failed: {reason}.", style="yellow", markup=False)
    if consistent is False:
        console.print("The newest writes may not be visible yet.", style="yellow")
    elif degraded:
        console.print("The result may be incomplete.", style="yellow")


def as_json(value: Any) -> str:
    """A result of the client as JSON, enums by name, times as RFC 3339, durations in seconds."""
    return json.dumps(_jsonable(value), ensure_ascii=False, indent=2)


def _jsonable(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _jsonable(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(k): _jsonable(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(v) for v in value]
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    name = getattr(value, "name", None)
    return name if isinstance(name, str) else value


def _print_list(console: Console, title: str, lines: list[Text]) -> None:
    if not lines:
        return
    console.print()
    console.print(title, style="bold")
    for line in lines[:_LINES_SHOWN]:
        row: RenderableType = Text("- ").append_text(line)
        console.print(row)
