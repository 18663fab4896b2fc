"""How long the console's pages take for a user with many memories, in a headless browser.

    python -m bench.console --out FILE [--memories 100000] [--store FOLDER]

A tenth of the memories is written through the gateway with prepared vectors, and then multiplied. Each page is opened
several times on embedded engines; a time ends when the page shows its content and waits for nothing.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from bench.browser import Page, find_browser, open_page
from bench.common import BenchError, open_channel, open_target, print_table, report_head, run, times_of, write_json
from bench.gateway import Gateway
from bench.latency_load import embedding_settings
from bench.load_store import MAIN_USER, StoredConversation, conversations_of, remember_conversations
from bench.multiply import copy_store, multiply
from bench.prepared import PreparedEncoder
from services.common.embedding.embedder import OnnxEmbedder
from services.common.embedding.factory import EmbeddingSettings, load_encoder
from services.common.hosting import HostSettings

SECONDS_MAX: Final = 1.0
PAGES: Final = (
    "timeline",
    "timeline&by=conversations",
    "search&q=What+did+I+say+about+the+garden%3F",
    "facts",
    "notes",
    "conflicts",
    "maintenance",
    "deliveries",
    "erasures",
)
_TIMES: Final = 10
"""How often a written memory is in the store."""
_SETTLED: Final = (
    "document.querySelector('main h1, main .failure, main .empty') && !document.querySelector('main .waiting')"
)


def _of_one_user(memories: int, seed: int) -> Iterator[StoredConversation]:
    return (replace(one, user_id=MAIN_USER) for one in conversations_of(memories, seed=seed))


async def _fill(data_dir: Path, memories: int, seed: int) -> None:
    encoder = PreparedEncoder(load_encoder(embedding_settings(data_dir)), seed=seed)

    def make_embedder(settings: EmbeddingSettings) -> OnnxEmbedder:
        return OnnxEmbedder(encoder, settings.embedder)

    async with (
        open_target(None, data_dir=data_dir, make_embedder=make_embedder) as target,
        open_channel(target.gateway) as channel,
    ):
        await remember_conversations(Gateway(channel), _of_one_user(memories, seed))


def stored_user(folder: Path, memories: int, seed: int) -> Path:
    """The folder of the filled installation, made where it is not there from an earlier run."""
    full = folder / f"{memories}-of-one-user"
    if not (full / "done").exists():
        if full.exists():
            raise BenchError(f"{full} holds a store that was not filled to the end")
        base = folder / f"{memories // _TIMES}-of-one-user"
        run(_fill(base / "data", memories // _TIMES, seed))
        full.mkdir()
        copy_store(base / "data", full / "data")
        run(multiply(full / "data", _TIMES, seed=seed))
        (full / "done").touch()
    return full / "data"


async def _page_times(page: Page, address: str, times: int) -> dict[str, list[float]]:
    await page.size(1280, 900)
    await page.show(f"http://{address}/console/")
    await page.until("document.getElementById('user')")
    found: dict[str, list[float]] = {name: [] for name in PAGES}
    for _ in range(times):
        for name in PAGES:
            place, _, rest = name.partition("&")
            started = time.perf_counter()
            hash_ = f"#/{place}?user={MAIN_USER}&{rest}"
            await page.run(f"document.querySelector('main').replaceChildren(); location.hash = {hash_!r}")
            await page.until(_SETTLED)
            found[name].append(time.perf_counter() - started)
            if failure := await page.run("document.querySelector('main .failure')?.innerText"):
                raise BenchError(f"{name}: {failure}")
    return found


async def _measure(data_dir: Path, program: str, times: int) -> tuple[dict[str, list[float]], list[str]]:
    settings = HostSettings(http_listen="127.0.0.1:0")
    async with open_target(None, data_dir=data_dir, host_settings=settings) as target:
        assert target.http is not None
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            async with open_page(program, Path(profile)) as page:
                return await _page_times(page, target.http, times), page.problems


def _report(options: argparse.Namespace, found: dict[str, list[float]], problems: Sequence[str]) -> int:
    times = {name: times_of(seconds) for name, seconds in found.items()}
    worst = {name: max(seconds) for name, seconds in found.items()}
    report: dict[str, Any] = report_head(
        "console", driver="embedded", settings={"memories": options.memories, "times": options.times}
    )
    report["pages"] = {name: {**asdict(one), "worst_seconds": round(worst[name], 3)} for name, one in times.items()}
    report["problems"] = list(problems)
    report["is_met"] = not problems and max(worst.values()) <= SECONDS_MAX
    write_json(options.out, report)
    rows = [
        (name, one.p50, round(found[name][0] * 1000, 1), round(worst[name] * 1000, 1)) for name, one in times.items()
    ]
    print_table("console", ("page", "p50 ms", "first ms", "worst ms"), rows)
    for problem in problems:
        print(f"the browser's log: {problem}")
    return 0 if report["is_met"] else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the arguments and measure. Exit code 1 where a page took more than a second, or the log has an error."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--memories", type=int, default=100_000, help=f"of the user, a multiple of {_TIMES}")
    parser.add_argument("--times", type=int, default=5, help="each page is opened")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", type=Path, help="folder for the filled store, used again by the next run")
    options = parser.parse_args(arguments)
    program = find_browser()
    if program is None:
        parser.error("no Chromium on this machine: apt install chromium, or set MNEME_BROWSER")
    with tempfile.TemporaryDirectory(prefix="mneme-bench-", ignore_cleanup_errors=True) as folder:
        data_dir = stored_user(options.store or Path(folder), options.memories, options.seed)
        return _report(options, *run(_measure(data_dir, program, options.times)))


if __name__ == "__main__":
    sys.exit(main())
