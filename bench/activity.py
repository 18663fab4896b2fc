"""Records a second that the activity log takes, and times of its queries, through the gateway on embedded engines.

    python -m bench.activity --out FILE [--records 50000]

The client is part of the same processor's load; records are made before the clock starts.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any, Final

from bench.resources import work_done
from mneme_client import Client
from mneme_client.activity import ActivityContent, ActivityRecord, FileInteraction, TaskState, ToolExecution
from mneme_client.types_activity import FileOperation, TaskStatus
from services.cli.local_stack import StackOptions, open_stack

USER: Final = "bench"
_BATCH: Final = 500
_REPEATS: Final = 20


def made(count: int, prefix: str) -> list[ActivityRecord]:
    """Records of tasks of a hundred calls, each with a file, over the last days."""
    now = datetime.now(UTC)
    found: list[ActivityRecord] = []
    for number in range(count):
        task = number // 100
        content: ActivityContent
        if number % 100 == 0:
            content = TaskState(TaskStatus.COMPLETED, f"Fix case {task} of the parser", outcome="Done.")
        elif number % 2:
            path = f"src/package{task % 7}/module{number % 40}.py"
            content = FileInteraction(path, FileOperation(1 + number % 3), reason="the parser reads it")
        else:
            parameters = json.dumps({"path": f"src/module{number % 40}.py", "lines": [1, 200]})
            duration = timedelta(milliseconds=number % 900)
            content = ToolExecution("read_file", number % 11 > 0, parameters, "200 lines", "", duration, number)
        time_of = now - timedelta(seconds=count - number)
        found.append(ActivityRecord(f"{prefix}{number}", f"c{task}", time_of, content, f"{prefix}{task}"))
    return found


async def _seconds(work: Callable[[], Awaitable[Any]]) -> float:
    begin = time.perf_counter()
    await work()
    return time.perf_counter() - begin


async def _all(items: AsyncIterator[Any]) -> int:
    return sum([1 async for _ in items])


async def _in_batches(client: Client, records: Sequence[ActivityRecord], parallel: int) -> None:
    waiting = [list(batch) for batch in _batches(records)]

    async def send() -> None:
        while waiting:
            await client.record_activity(USER, waiting.pop())

    await asyncio.gather(*(send() for _ in range(parallel)))


def _batches(records: Sequence[ActivityRecord]) -> list[Sequence[ActivityRecord]]:
    return [records[start : start + _BATCH] for start in range(0, len(records), _BATCH)]


async def _run(data: Path, count: int) -> dict[str, float]:
    options = StackOptions(data_dir=data, host="127.0.0.1", port=0, is_private=True)
    async with open_stack(options) as address, Client(address, default_timeout_seconds=300.0) as client:
        report: dict[str, float] = {"records": count}
        batched_records, streamed = made(count, "b"), made(count, "s")
        writes: dict[str, Callable[[], Awaitable[Any]]] = {
            "batched": lambda: _in_batches(client, batched_records, 2),
            "streamed": lambda: client.record_activity_stream(USER, streamed),
            "repeated": lambda: client.record_activity_stream(USER, streamed),
        }
        for name, write in writes.items():
            before = work_done(data).processor_seconds
            report[f"{name}_per_second"] = count / await _seconds(write)
            # Of the client, the services and the engine.
            spent = work_done(data).processor_seconds - before
            report[f"{name}_processor_microseconds_per_record"] = 1e6 * spent / count
        path = "src/package1/module3.py"
        queries: dict[str, Callable[[], Awaitable[Any]]] = {
            "file_history": lambda: client.get_file_history(USER, path),
            "edited_together": lambda: _all(client.list_edited_together(USER)),
            "edited_together_with_file": lambda: _all(client.list_edited_together(USER, path=path)),
            "last_done_with": lambda: client.search_activity(USER, "parser of module3"),
            "tool_statistics": lambda: _all(client.list_tool_statistics(USER)),
            "similar_tasks": lambda: client.search_tasks(USER, "mend the parser", limit=3),
        }
        for name, query in queries.items():
            report[f"{name}_first_ms"] = 1000 * await _seconds(query)
            report[f"{name}_ms_p50"] = 1000 * median([await _seconds(query) for _ in range(_REPEATS)])
    return report


def main() -> None:
    """Measures, prints and writes the report."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--out", type=Path, required=True)
    arguments.add_argument("--records", type=int, default=50_000)
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report = asyncio.run(_run(Path(folder) / "data", chosen.records))
    report |= {"load_average": os.getloadavg()[0], "processors": os.cpu_count() or 0}
    chosen.out.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
