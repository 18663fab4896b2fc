"""`mneme clusters`: groups of a user's episodes that are about the same."""

from __future__ import annotations

from typing import Annotated

import typer

from mneme_client import Client, Cluster, ClusterEpisode, Episode, Scope
from services.cli import options
from services.cli.listing import Listing
from services.cli.rendering import as_json, plain, when
from services.cli.state import CliState, state_of


def clusters(
    context: typer.Context,
    user: options.User,
    cluster_id: Annotated[str, typer.Argument(help="List the episodes of this cluster, the most typical first.")] = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most this many.")] = 50,
    project: options.ReaderProject = "",
    json: options.Json = False,
) -> None:
    """List clusters of a user's episodes, or the episodes of one."""
    state, scope = state_of(context), options.reader_scope(project)
    if cluster_id:
        state.run(_episodes(state, user, cluster_id, scope, limit=limit, json=json))
    else:
        state.run(_clusters(state, user, scope, limit=limit, json=json))


async def _clusters(state: CliState, user: str, scope: Scope | None, *, limit: int, json: bool) -> None:
    async with state.connect() as client:
        found: list[tuple[Cluster, str]] = []
        async for cluster in client.list_clusters(user, scope=scope, page_size=min(limit, 200)):
            typical = "" if json else await _said(client, user, cluster.typical_episode_ids[0])
            found.append((cluster, typical))
            if len(found) == limit:
                break
    if json:
        one = as_json([cluster for cluster, _ in found])
        state.out.print(one, markup=False, highlight=False, soft_wrap=True)
    elif not found:
        command = f"mneme maintain --user {user} --job episodic.cluster_episodes"
        state.out.print(f"No clusters. `{command}` computes them.", markup=False, highlight=False)
    else:
        table = Listing("id", "episodes", "from", "to", texts=["most typical"], right=["episodes"])
        for cluster, typical in found:
            count = str(cluster.episode_count)
            table.add_row(cluster.cluster_id, count, when(cluster.start_time), when(cluster.end_time), plain(typical))
        state.out.print(table)


async def _episodes(
    state: CliState, user: str, cluster_id: str, scope: Scope | None, *, limit: int, json: bool
) -> None:
    async with state.connect() as client:
        found: list[tuple[ClusterEpisode, str]] = []
        async for episode in client.list_cluster_episodes(user, cluster_id, scope=scope, page_size=min(limit, 200)):
            found.append((episode, "" if json else await _said(client, user, episode.episode_id)))
            if len(found) == limit:
                break
    if json:
        one = as_json([episode for episode, _ in found])
        state.out.print(one, markup=False, highlight=False, soft_wrap=True)
        return
    table = Listing("id", "membership", "time", texts=["episode"], right=["membership"])
    for episode, said in found:
        table.add_row(episode.episode_id, f"{episode.membership:.2f}", when(episode.time), plain(said))
    state.out.print(table)


async def _said(client: Client, user: str, episode_id: str) -> str:
    episode: Episode = await client.get_episode(user, episode_id)
    return episode.query or episode.response
