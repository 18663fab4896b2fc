"""`mneme maintain`: runs maintenance for one user, shows what it did, and takes runs back."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer
from rich.progress import Progress

from mneme_client import MaintenanceJob, MaintenanceRun
from services.cli import options
from services.cli.listing import Listing
from services.cli.rendering import as_json, when
from services.cli.state import CliState, state_of

_RUN_SECONDS = 290.0
_COUNTS = ("changes", "retired")


def maintain(
    context: typer.Context,
    user: Annotated[str, typer.Option("--user", "-u", help="Id of the user; not with --jobs or --resume.")] = "",
    job: Annotated[list[str] | None, typer.Option("--job", "-j", help="Only this job; repeatable.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be done.")] = False,
    retired_max: Annotated[
        int | None, typer.Option("--max", min=0, help="Each run retires at most this many memories.")
    ] = None,
    jobs: Annotated[bool, typer.Option("--jobs", help="List the jobs, and how their scheduled runs went.")] = False,
    history: Annotated[bool, typer.Option("--history", help="List the runs that changed something.")] = False,
    run: Annotated[str, typer.Option("--run", help="Show this run with its changes, as JSON.")] = "",
    undo: Annotated[str, typer.Option("--undo", help="Undo this run.")] = "",
    resume: Annotated[str, typer.Option("--resume", help="Let this stopped job run again. Needs the role admin.")] = "",
    json: options.Json = False,
) -> None:
    """Run maintenance for a user now, show its history, or undo a run."""
    if sum(map(bool, (jobs, history, run, undo, resume))) > 1:
        raise typer.BadParameter("name one of --jobs, --history, --run, --undo and --resume")
    if not user and not (jobs or resume):
        raise typer.BadParameter("is required", param_hint="--user")
    state = state_of(context)
    if jobs:
        state.run(_jobs(state, json=json))
    elif history:
        state.run(_history(state, user, json=json))
    elif run or undo or resume:
        state.run(_one(state, user, run=run, undo=undo, resume=resume))
    else:
        state.run(_run(state, user, job or [], dry_run=dry_run, retired_max=retired_max, json=json))


async def _run(
    state: CliState, user: str, names: list[str], *, dry_run: bool, retired_max: int | None, json: bool
) -> None:
    runs: list[MaintenanceRun] = []
    async with state.connect() as client:
        chosen = names or [job.name for job in (await client.get_jobs()).jobs if job.for_user]
        with Progress(console=state.err, transient=True) as progress:
            task = progress.add_task("maintenance", total=len(chosen))
            for name in chosen:
                progress.update(task, description=name)
                runs.append(
                    await client.run_job(
                        user, name, dry_run=dry_run, retired_max=retired_max, timeout_seconds=_RUN_SECONDS
                    )
                )
                progress.advance(task)
    if json:
        _print_json(state, runs)
        return
    table = Listing("job", *_COUNTS, "over the cap", texts=["run"], right=[*_COUNTS, "over the cap"])
    for each in runs:
        changes = each.planned_count if dry_run else each.applied_count
        note = "busy" if each.busy else "" if dry_run or not each.applied_count else each.run_id
        table.add_row(each.job, str(changes), str(each.retired_count), str(each.over_cap_count), note)
    state.out.print(table)


async def _jobs(state: CliState, *, json: bool) -> None:
    async with state.connect() as client:
        found = await client.get_jobs()
    if json:
        _print_json(state, found)
        return
    table = Listing("job", "every", "last run", "state", texts=["what it does"])
    for job in found.jobs:
        table.add_row(job.name, _interval(job), when(job.complete_time), _state(job), job.description)
    state.out.print(table)
    for tier in found.unavailable_tiers:
        state.err.print(f"the {tier} tier did not respond", style="red", highlight=False)


async def _history(state: CliState, user: str, *, json: bool) -> None:
    async with state.connect() as client:
        runs = [run async for run in client.list_runs(user)]
    if json:
        _print_json(state, runs)
        return
    table = Listing("run", "time", *_COUNTS, "undone", texts=["job"], right=_COUNTS)
    for run in runs:
        undone = "yes" if run.undone else ""
        table.add_row(
            run.run_id, when(run.create_time), str(run.applied_count), str(run.retired_count), undone, run.job
        )
    state.out.print(table if runs else "No run changed anything.")


async def _one(state: CliState, user: str, *, run: str, undo: str, resume: str) -> None:
    async with state.connect() as client:
        if run:
            changes = [change async for change in client.list_run_changes(user, run)]
            _print_json(state, replace(await client.get_run(user, run), changes=tuple(changes)))
        elif undo:
            count = await client.undo_run(user, undo)
            nothing = "Nothing to take back: the run changed nothing, or was undone before."
            state.out.print(f"{count} changes taken back." if count else nothing, highlight=False)
        else:
            await client.resume_job(resume)
            state.out.print(f"{resume} is scheduled again.", markup=False, highlight=False)


def _interval(job: MaintenanceJob) -> str:
    if job.interval is None:
        return ""
    hours = job.interval.total_seconds() / 3_600
    return f"{hours:g} h" if hours < 48 else f"{hours / 24:g} days"


def _state(job: MaintenanceJob) -> str:
    if job.stopped:
        return "stopped"
    return f"{job.failure_count} failed" if job.failure_count else "ok"


def _print_json(state: CliState, value: object) -> None:
    state.out.print(as_json(value), markup=False, highlight=False, soft_wrap=True)
