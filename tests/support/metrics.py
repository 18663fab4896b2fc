"""Metrics of services as Prometheus scrapes them."""

from __future__ import annotations

import asyncio
import re
import urllib.request


async def scrape(port: int) -> str:
    """What the endpoint of this machine says, read in a thread: the services may run in this process."""

    def read() -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as response:
            return str(response.read().decode())

    return await asyncio.to_thread(read)


def series_names(text: str) -> set[str]:
    """Names of the series in a scrape, such as `rpc_server_call_duration_seconds_bucket`."""
    return set(re.findall(r"^([a-zA-Z_:][\w:]*)(?:\{| )", text, re.MULTILINE))


def labels_of(text: str, series: str) -> set[str]:
    """Names of the labels that a series has in a scrape."""
    rows = re.findall(rf"^{series}\{{(.*)\}} ", text, re.MULTILINE)
    return {label for row in rows for label in re.findall(r'(\w+)="', row)}
