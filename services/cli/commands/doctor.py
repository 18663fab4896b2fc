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
from services.cli.state import CliState, state_of

_STYLES = {Verdict.OK: "green", Verdict.WARNING: "yellow", Verdict.FAILED: "red"}


def doctor(context: typer.Context, data_dir: options.DataDir = None, json: options.Json = False) -> None:
    """Check engines, model, versions, data folder and ports. The exit code is 1 when something fails."""
    state = state_of(context, data_dir=data_dir)
    findings = asyncio.run(examine(state.data_dir))
    if json:
        text = json_module.dumps([asdict(finding) for finding in findings], indent=2)
        state.out.print(text, markup=False, highlight=False, soft_wrap=True)
    else:
        _print(state, findings)
    if any(finding.verdict is Verdict.FAILED for finding in findings):
        raise typer.Exit(1)


async def examine(data_dir: Path) -> list[Finding]:
    """Makes all checks, one after the other."""
    return [
        engines.check_python(),
        *engines.check_packages(),
        engines.check_postgres(),
        engines.check_pgvector(),
        engines.check_qdrant(),
        engines.check_embedding(data_dir),
        *places.check_data_dir(data_dir),
        *[finding async for finding in places.check_ports()],
        await places.check_http_port(),
    ]


def _print(state: CliState, findings: list[Finding]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("what", "verdict", "detail"):
        table.add_column(heading, overflow="fold")
    for finding in findings:
        detail = f"{finding.detail}\n{finding.hint}" if finding.hint else finding.detail
        style = _STYLES[finding.verdict]
        table.add_row(finding.subject, f"[{style}]{finding.verdict.value}[/]", detail.replace("[", r"\["))
    state.out.print(table)
