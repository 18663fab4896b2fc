"""What the write gate drops: of labelled utterances, and of the turns that answer questions about conversations.

python -m bench.gate [--data FOLDER ...] [--out FILE]
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from bench.common import print_table, write_json
from bench.locomo import load_conversations
from services.common.turns import Attachment, MessageRole, Turn
from services.gateway.journal.gate import GateSettings, Verdict, WriteGate
from tests.support.utterances import utterances

_NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)
_GATE: Final = WriteGate(GateSettings(is_enabled=True))


async def _labelled() -> dict[str, Any]:
    labelled = utterances()
    (*verdicts,) = [(await _GATE.judge([Turn(MessageRole.USER, u.text, _NOW)]))[0] for u in labelled]
    counts = Counter((u.is_gated, v.reason.is_gated) for u, v in zip(labelled, verdicts, strict=True))
    dropped = counts[True, True] + counts[False, True]
    return {
        "utterances": len(labelled),
        "precision": counts[True, True] / max(1, dropped),
        "recall": counts[True, True] / max(1, counts[True, True] + counts[True, False]),
        "wrongly_dropped": [
            u.text for u, v in zip(labelled, verdicts, strict=True) if v.reason.is_gated and not u.is_gated
        ],
        "missed": [u.text for u, v in zip(labelled, verdicts, strict=True) if u.is_gated and not v.reason.is_gated],
    }


async def _conversations(folder: Path) -> dict[str, Any]:
    """Judges turn by turn, as an agent sends them."""
    gold: dict[bool, int] = {False: 0, True: 0}
    verdicts: list[Verdict] = []
    seconds = 0.0
    for conversation in load_conversations(folder):
        answers = {turn_id for question in conversation.questions for turn_id in question.gold}
        for turn in (turn for session in conversation.sessions for turn in session.turns):
            attached = (Attachment(caption=turn.caption),) if turn.caption else ()
            said = Turn(MessageRole.USER, turn.text, _NOW, speaker=turn.speaker, attachments=attached)
            begun = time.thread_time()
            (verdict,) = await _GATE.judge([said])
            seconds += time.thread_time() - begun
            verdicts.append(verdict)
            if turn.turn_id in answers:
                gold[verdict.reason.is_gated] += 1
    return {
        "turns": len(verdicts),
        "gated": sum(verdict.reason.is_gated for verdict in verdicts),
        "gold": sum(gold.values()),
        "gold_lost": gold[True],
        "microseconds_of_a_turn": 1e6 * seconds / max(1, len(verdicts)),
        "reasons": dict(Counter(verdict.reason.name for verdict in verdicts)),
    }


async def _report(folders: Sequence[Path]) -> dict[str, Any]:
    return {"labelled": await _labelled(), "data": {f.name: await _conversations(f) for f in folders}}


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, action="append", default=[], help="folder in LoCoMo's layout; repeat it")
    parser.add_argument("--out", type=Path, help="report as JSON")
    options = parser.parse_args()
    report = asyncio.run(_report(options.data))
    labelled = report["labelled"]
    print_table(
        "write gate, labelled utterances",
        ["utterances", "precision", "recall"],
        [[str(labelled["utterances"]), f"{labelled['precision']:.3f}", f"{labelled['recall']:.3f}"]],
    )
    print_table(
        "write gate, conversations",
        ["data", "turns", "gated", "gold", "gold lost"],
        [
            [name, *(str(found[key]) for key in ("turns", "gated", "gold", "gold_lost"))]
            for name, found in report["data"].items()
        ],
    )
    if options.out is not None:
        write_json(options.out, report)


if __name__ == "__main__":
    main()
