"""Archive, restore, delete and lists by time, over a real gRPC server."""

from datetime import timedelta
from typing import Any

import pytest

from mneme.episodic.internal.v1 import episodic_internal_pb2 as internal_pb
from mneme.episodic.v1 import episodic_pb2 as pb
from services.common.convert import timestamp
from tests.servicer.episodic.calls import candidates, new, refused, store, uid
from tests.servicer.episodic.conftest import Client
from tests.support.clock import START


async def listed(client: Client, **fields: Any) -> list[str]:
    response: Any = await client.call("ListEpisodes", pb.ListEpisodesRequest(user_id="ann", **fields))
    return [episode.episode_id for episode in response.episodes]


async def test_spec_2_8_archived_episodes_can_be_read_listed_and_restored(client: Client) -> None:
    await store(client, *(new(number, "harbour ships") for number in range(1, 4)))
    archive = pb.ArchiveEpisodesRequest(request_id="a", user_id="ann", episode_ids=[uid(1), uid(3), uid(9)])

    archived: Any = await client.call("ArchiveEpisodes", archive)
    again: Any = await client.call("ArchiveEpisodes", archive)

    assert (archived.archived_count, again.archived_count) == (2, 2)
    assert set(await candidates(client, "harbour")) == {2}
    assert await listed(client, status=pb.EPISODE_STATUS_ARCHIVED) == [uid(3), uid(1)]
    got: Any = await client.call("GetEpisode", pb.GetEpisodeRequest(user_id="ann", episode_id=uid(1)))
    assert got.episode.status == pb.EPISODE_STATUS_ARCHIVED

    restore = pb.RestoreEpisodesRequest(request_id="b", user_id="ann", conversation_id="s1")
    restored: Any = await client.call("RestoreEpisodes", restore)
    assert restored.restored_count == 2
    await store(client, new(1), new(3))  # waits until both are active
    assert set(await candidates(client, "harbour")) == {1, 2, 3}


async def test_spec_6_6_a_late_delivery_of_a_deleted_episode_counts_as_done(client: Client) -> None:
    await store(client, new(1), new(2))
    request = internal_pb.DeleteEpisodesRequest(request_id="d", user_id="ann", episode_ids=[uid(1)])
    deleted: Any = await client.call("DeleteEpisodes", request)

    (late,) = await store(client, new(1))

    assert deleted.deleted_count == 1
    assert late.response == internal_pb.StoredEpisode(episode_id=uid(1), deleted=True)
    assert await listed(client) == [uid(2)]
    gone = pb.GetEpisodeRequest(user_id="ann", episode_id=uid(1))
    assert (await refused(client, "GetEpisode", gone))[:2] == ("NOT_FOUND", "NOT_FOUND")


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"user_id": "ann"}, "episode_ids"),
        ({"user_id": "ann", "episode_ids": [uid(1)], "all_of_user": True}, "episode_ids"),
        ({"user_id": "ann", "all_of_tenant": True}, "user_id"),
        ({"all_of_user": True}, "user_id"),
        ({"user_id": "ann", "all_of_tenant": True, "conversation_id": "s1"}, "episode_ids"),
    ],
)
async def test_a_deletion_names_exactly_one_thing(client: Client, fields: dict[str, Any], path: str) -> None:
    await store(client, new(1))
    request = internal_pb.DeleteEpisodesRequest(request_id="d", **fields)
    assert await refused(client, "DeleteEpisodes", request) == ("INVALID_ARGUMENT", "INVALID_FIELD", [path])
    assert await listed(client) == [uid(1)]


async def test_lists_hold_what_happened_from_the_start_until_before_the_end(client: Client) -> None:
    hours = {number: timestamp(START + timedelta(hours=number)) for number in range(1, 6)}
    await store(client, *(new(number, time=time) for number, time in hours.items()))

    assert await listed(client, start_time=hours[2], end_time=hours[4]) == [uid(3), uid(2)]
    assert await listed(client, start_time=hours[4]) == [uid(5), uid(4)]
    assert await listed(client, end_time=hours[2], conversation_id="s1") == [uid(1)]
    request = pb.ListEpisodesRequest(user_id="ann", start_time=hours[1], page_size=1)
    first: Any = await client.call("ListEpisodes", request)
    request.page_token = first.next_page_token
    request.start_time.CopyFrom(hours[2])
    assert (await refused(client, "ListEpisodes", request))[1] == "INVALID_PAGE_TOKEN"
