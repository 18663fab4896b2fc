"""`mneme code`: index source code, and ask about it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from mneme_client import Client
from mneme_client.code import CodeMatch, CodeNode, CodeRelation, SymbolMatch
from mneme_client.enums import RelationKind
from services.cli import options
from services.cli.rendering import as_json, counted, plain
from services.cli.source_tree import SourceTree, TreeFile
from services.cli.state import CliState, state_of

code = typer.Typer(help="Index source code, and ask about it.", no_args_is_help=True)

Repository = Annotated[str, typer.Option("--repository", "-r", help="Id of the repository.")]
HitLimit = Annotated[int, typer.Option("--limit", "-n", min=1, max=200, help="At most this many.")]

_BATCH_BYTES = 1024 * 1024
_BATCH_FILES = 128
_UPLOADS = 3
_UPLOAD_SECONDS = 120.0
_WATCH_SECONDS = 0.5
_REMOVED_MAX = 5_000


@dataclass(frozen=True, slots=True)
class IndexSummary:
    """What an upload did."""

    indexed: int
    removed: int
    digests: Mapping[str, str]
    """Of all files that are worth indexing, by path."""


@code.command()
def index(
    context: typer.Context,
    user: options.User,
    path: Annotated[Path, typer.Argument(exists=True, file_okay=False, help="Folder of the repository.")] = Path(),
    repository: Annotated[str, typer.Option("--repository", "-r", help="Its id; the folder's name if not given.")] = "",
    watch: Annotated[bool, typer.Option("--watch", help="Keep running, and index changes until interrupted.")] = False,
) -> None:
    """Upload the changes of a folder: new and edited files, and the names of deleted ones."""
    state = state_of(context)
    root = path.resolve()
    state.run(_index(state, user, repository or root.name, SourceTree(root), watch=watch))


@code.command()
def find(
    context: typer.Context,
    user: options.User,
    repository: Repository,
    name: Annotated[str, typer.Argument(help="A name, a part of it, or a misspelling.")],
    limit: HitLimit = 10,
    json: options.Json = False,
) -> None:
    """Find definitions by name."""
    state = state_of(context)

    async def work() -> None:
        async with state.connect() as client:
            found = await client.search_symbols(user, repository, name, limit=limit)
        _show(state, found, _symbol_table(found), json=json)

    state.run(work())


@code.command()
def callers(
    context: typer.Context,
    user: options.User,
    repository: Repository,
    node: Annotated[str, typer.Argument(help="A symbol id, a path, or a name.")],
    callees: Annotated[bool, typer.Option("--callees", help="List what it calls instead.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Relations of every kind.")] = False,
    limit: HitLimit = 50,
    json: options.Json = False,
) -> None:
    """List what calls a function or creates objects of a class."""
    state = state_of(context)

    async def work() -> None:
        async with state.connect() as client:
            named = await _node_id(client, user, repository, node)
            kinds = () if everything else (RelationKind.CALLS,)
            found: list[CodeRelation] = []
            async for one in client.list_relations(user, repository, named, incoming=not callees, kinds=kinds):
                found.append(one)
                if len(found) >= limit:
                    break
        _show(state, found, _relation_table(found, is_incoming=not callees), json=json)

    state.run(work())


@code.command()
def relevant(
    context: typer.Context,
    user: options.User,
    repository: Repository,
    question: Annotated[str, typer.Argument(help="A question, or the text of an issue; - reads it from the input.")],
    limit: HitLimit = 10,
    folder: Annotated[str, typer.Option("--folder", help="Only files below it.")] = "",
    lines: Annotated[
        int, typer.Option("--lines", min=0, max=400, help="Print up to this many lines of each file.")
    ] = 0,
    json: options.Json = False,
) -> None:
    """Find the files that are relevant to a question."""
    state = state_of(context)
    text = typer.get_text_stream("stdin").read() if question == "-" else question

    async def work() -> None:
        async with state.connect() as client:
            found = await client.search_code(user, repository, text, limit=limit, folder=folder, lines_max=lines)
        _show(state, found, _match_table(found), json=json)
        for match in () if json else found:
            for part in match.excerpts:
                place = f"{match.file.path}:{part.start_line}-{part.end_line}"
                state.out.print(plain(f"\n{place}\n{part.text}"), highlight=False, soft_wrap=True)

    state.run(work())


@code.command()
def outline(
    context: typer.Context,
    user: options.User,
    repository: Repository,
    question: Annotated[
        str, typer.Argument(help="A question for which it is made; the whole repository if not given.")
    ] = "",
    tokens: Annotated[int, typer.Option("--tokens", min=1, max=32_000, help="Budget of tokens.")] = 1_000,
) -> None:
    """Print the most important definitions within a token budget."""
    state = state_of(context)

    async def work() -> None:
        async with state.connect() as client:
            found = await client.get_outline(user, repository, token_budget=tokens, query=question)
        state.out.print(found.text, markup=False, highlight=False, soft_wrap=True)

    state.run(work())


async def index_tree(
    client: Client,
    user: str,
    repository: str,
    tree: SourceTree,
    *,
    stored: Mapping[str, str] | None = None,
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
    on_refusal: Callable[[str, str], None] = lambda _path, _reason: None,
) -> IndexSummary:
    """Uploads what differs between a folder and what is stored.

    Args:
        client: To the service.
        user: Id of the user.
        repository: Id of the repository.
        tree: The folder.
        stored: Digests of what is stored, by path; None asks the service.
        on_progress: Told after each batch how many of the changed files are uploaded, of how many.
        on_refusal: Told which file the service refused, and why.
    """
    if stored is None:
        stored = await _stored(client, user, repository)
    files = await asyncio.to_thread(tree.files)
    changed = [file for path, file in files.items() if stored.get(path) != file.digest]
    removed = sorted(set(stored) - set(files))
    slots = asyncio.Semaphore(_UPLOADS)
    done = refused = 0

    async def send(batch: Sequence[TreeFile], gone: Sequence[str]) -> None:
        nonlocal done, refused
        async with slots:
            contents = await asyncio.to_thread(tree.contents, [file.path for file in batch])
            result = await client.index_files(
                user, repository, contents, removed_paths=gone, timeout_seconds=_UPLOAD_SECONDS
            )
        done += len(batch)
        refused += len(result.refused)
        for path, error in result.refused.items():
            on_refusal(path, error.message)
        on_progress(done, len(changed))

    gone = [removed[begin : begin + _REMOVED_MAX] for begin in range(0, len(removed), _REMOVED_MAX)]
    await asyncio.gather(*(send(batch, ()) for batch in _batches(changed)), *(send((), paths) for paths in gone))
    digests = {path: file.digest for path, file in files.items()}
    return IndexSummary(len(changed) - refused, len(removed), digests)


async def _index(state: CliState, user: str, repository: str, tree: SourceTree, *, watch: bool) -> None:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    stored: Mapping[str, str] | None = None
    async with state.connect() as client:
        while True:
            with Progress(*columns, console=state.err, transient=stored is not None) as progress:
                task = progress.add_task(repository, total=None)
                summary = await index_tree(
                    client,
                    user,
                    repository,
                    tree,
                    stored=stored,
                    on_progress=lambda done, total: progress.update(task, completed=done, total=total),  # noqa: B023
                    on_refusal=lambda path, reason: state.err.print(f"{path}: {reason}", style="yellow", markup=False),
                )
            if stored is None or summary.indexed or summary.removed:
                indexed = counted(summary.indexed, "file")
                counts = f"{indexed} indexed, {summary.removed} removed, {len(summary.digests)}"
                state.out.print(f"{counts} in {repository}.", markup=False, highlight=False)
            if not watch:
                return
            stored = summary.digests
            await asyncio.sleep(_WATCH_SECONDS)


async def _stored(client: Client, user: str, repository: str) -> dict[str, str]:
    """Digests of what the service has of a repository; none where it was never indexed."""
    if repository not in [one.repository_id async for one in client.list_repositories(user)]:
        return {}
    return {file.path: file.digest async for file in client.list_files(user, repository)}


def _batches(files: Sequence[TreeFile]) -> Iterator[Sequence[TreeFile]]:
    batch: list[TreeFile] = []
    size = 0
    for file in files:
        if batch and (size + file.size_bytes > _BATCH_BYTES or len(batch) >= _BATCH_FILES):
            yield batch
            batch, size = [], 0
        batch.append(file)
        size += file.size_bytes
    if batch:
        yield batch


async def _node_id(client: Client, user: str, repository: str, node: str) -> str:
    """A symbol id or a path as it is; for a name that of its best definition."""
    if "#" in node or "/" in node or "." in Path(node).name:
        return node
    found = await client.search_symbols(user, repository, node, limit=1)
    return found[0].symbol.symbol_id if found else node


def _show(state: CliState, found: Sequence[object], table: Table, *, json: bool) -> None:
    if json:
        state.out.print(as_json(list(found)), markup=False, highlight=False, soft_wrap=True)
    else:
        state.out.print(table if found else "Nothing.")


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


def _symbol_table(found: Sequence[SymbolMatch]) -> Table:
    table = _table("score", "definition", "kind", "place")
    for one in found:
        place = f"{one.symbol.path}:{one.symbol.start_line}"
        name = plain(one.symbol.qualified_name)
        table.add_row(f"{one.score:.2f}", name, one.symbol.kind.name.lower(), plain(place))
    return table


def _relation_table(found: Sequence[CodeRelation], *, is_incoming: bool) -> Table:
    table = _table("sure", "kind", "definition", "line")
    for one in found:
        end = one.source if is_incoming else one.target
        row = (f"{one.confidence:.2f}", one.kind.name.lower(), plain(_name(end)), f"{one.source.path}:{one.line}")
        table.add_row(*row)
    return table


def _match_table(found: Sequence[CodeMatch]) -> Table:
    table = _table("score", "file", "lines", "definitions", "because")
    for one in found:
        names = ", ".join(symbol.qualified_name for symbol in one.symbols[:3])
        reasons = [name for name in ("definitions", "paths") if one.parts[name] > 0]
        because = ", ".join([*reasons, *one.terms[:4]])
        lines = f"{one.start_line}-{one.end_line}"
        table.add_row(f"{one.score:.2f}", plain(one.file.path), lines, plain(names), plain(because))
    return table


def _name(node: CodeNode) -> str:
    return node.symbol.symbol_id if node.symbol is not None else node.path
