"""`mneme doctor`: whether this machine can run Mneme, and what is missing."""

from __future__ import annotations

import asyncio
import json as json_module
from dataclasses import asdict
from pathlib import Path

import typer
from rich.table import Table

from services.cli import options
from services.cli.doctor import engines, places
from services.cli.doctor.model import Finding, Verdict
from services.cli.local_stack import http_port as chosen_http_port
from services.cli.state import CliState, state_of

_STYLES = {Verdict.OK: "green", Verdict.WARNING: "yellow", Verdict.FAILED: "red"}


def doctor(
    context: typer.Context,
    data_dir: options.DataDir = None,
    port: options.Port = 7700,
    http_port: options.HttpPort = None,
    json: options.Json = False,
) -> None:
    """Check engines, model, versions, data folder and ports. The exit code is 1 when something fails.

    Give it the ports that `mneme up` is to get; with 0 that one is not checked.
    """
    state = state_of(context, data_dir=data_dir)
    findings = asyncio.run(examine(state.data_dir, port=port, http_port=chosen_http_port(http_port, port=port)))
    if json:
        text = json_module.dumps([asdict(finding) for finding in findings], indent=2)
        state.out.print(text, markup=False, highlight=False, soft_wrap=True)
    else:
        _print(state, findings)
    if any(finding.verdict is Verdict.FAILED for finding in findings):
        raise typer.Exit(1)


async def examine(data_dir: Path, *, port: int, http_port: int) -> list[Finding]:
    """Makes all checks, one after the other.

    Args:
        data_dir: Where Mneme keeps its data, or is to keep it.
        port: Of the gateway, the first of five; 0: none is checked.
        http_port: Of HTTP beside gRPC; 0: not checked.
    """
    found = [
        engines.check_python(),
        *engines.check_packages(),
        engines.check_postgres(),
        engines.check_pgvector(),
        engines.check_qdrant(),
        engines.check_embedding(data_dir),
        *places.check_data_dir(data_dir),
    ]
    if port:
        found += [finding async for finding in places.check_ports(port)]
    if http_port:
        found.append(await places.check_http_port(http_port))
    return found


def _print(state: CliState, findings: list[Finding]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("what", "verdict", "detail"):
        table.add_column(heading, overflow="fold")
    for finding in findings:
        detail = f"{finding.detail}\n{finding.hint}" if finding.hint else finding.detail
        style = _STYLES[finding.verdict]
        table.add_row(finding.subject, f"[{style}]{finding.verdict.value}[/]", detail.replace("[", r"\["))
    state.out.print(table)
