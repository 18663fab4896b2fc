"""Episodes that are kept in memory are those of the store, whatever happens to them."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mneme.episodic.v1 import episodic_pb2 as pb
from services.common.errors import StoreUnavailable
from services.episodic.config import KeptEpisodesSettings
from services.episodic.convert import WholeEpisode
from services.episodic.kept_episodes import KeptEpisodes
from services.episodic.model import Episode, EpisodeId, EpisodeStatus, Owner, TenantId, UserId
from services.episodic.service import EpisodePage, EpisodeService
from services.episodic.snapshots import Snapshot
from services.episodic.store import ColumnChanges, EpisodeColumns, EpisodeCursor, EpisodeFilter
from tests.contract.episode_samples import OWNER, episode_id, new_episode
from tests.support.clock import START

OTHER = Owner(TenantId("acme"), UserId("bob"))
NO_AHEAD = KeptEpisodesSettings(ahead_bytes_max=0)


class MemoryEpisodes:
    """A tier with the episodes 1 to 9 of one owner, each a change of its own, that counts how often it is asked."""

    def __init__(self, count: int = 9) -> None:
        self.stored = {n: self._episode(n) for n in range(1, count + 1)}
        self.number = count
        self.snapshots: dict[Owner, Snapshot] = {}
        self.asked: list[list[int]] = []
        self.pages = 0
        self.pause: asyncio.Event | None = None
        self.error: Exception | None = None

    def _episode(self, number: int) -> Episode:
        return Episode(
            content=new_episode(number),
            feedback=0,
            access_count=0,
            last_access_time=None,
            create_time=START,
            status=EpisodeStatus.ACTIVE,
        )

    def change(self, number: int, **fields: object) -> None:
        self.number += 1
        self.stored[number] = replace(self.stored[number], **fields)  # type: ignore[arg-type]

    def remove(self, number: int) -> None:
        self.number += 1
        del self.stored[number]

    def search(self, owner: Owner = OWNER) -> int:
        """What a search does: the snapshot comes up to date."""
        snapshot = self.snapshots.setdefault(owner, Snapshot())
        episodes = [self.stored[n] for n in sorted(self.stored)] if owner == OWNER else []
        rows = [
            (e.content.key, e.content.episode_id.bytes, "s1", e.content.position, "", e.content.time.timestamp(), 1, 0,
             e.feedback, e.content.importance)
            for e in episodes
        ]  # fmt: skip
        snapshot.apply(
            ColumnChanges(
                number=self.number,
                begins_anew=True,
                columns=EpisodeColumns.of_rows(rows),
                scope_keys=[e.content.scope_key for e in episodes],
                searchable=[e.status is EpisodeStatus.ACTIVE for e in episodes],
                is_complete=True,
            ),
            since=snapshot.number,
        )
        return self.number

    def snapshot(self, owner: Owner, *, since: int = 0) -> Snapshot | None:
        found = self.snapshots.get(owner)
        return found if found is not None and found.number >= since else None

    async def batch_get(self, owner: Owner, episode_ids: Sequence[EpisodeId]) -> list[Episode]:
        self.asked.append([name.int for name in episode_ids])
        if self.error is not None:
            raise self.error
        found = [self.stored[n.int] for n in episode_ids if owner == OWNER and n.int in self.stored]
        if self.pause is not None:
            await self.pause.wait()
        return found

    async def list_episodes(
        self, owner: Owner, query: EpisodeFilter, *, page_size: int, after: EpisodeCursor | None
    ) -> EpisodePage:
        assert query.status is EpisodeStatus.ACTIVE
        self.pages += 1
        assert owner == OWNER
        newest = sorted(self.stored.values(), key=lambda e: e.content.time, reverse=True)
        rest = [e for e in newest if after is None or e.content.time < after.time]
        page = rest[:page_size]
        if self.error is not None:
            raise self.error
        last = page[-1].content if len(rest) > page_size else None
        return EpisodePage(
            episodes=page, next_cursor=None if last is None else EpisodeCursor(last.time, last.episode_id)
        )

    def decay_factors(self, times: Sequence[float]) -> list[float]:
        return [1.0 / time for time in times]


def kept_of(tier: MemoryEpisodes, settings: KeptEpisodesSettings = NO_AHEAD) -> KeptEpisodes:
    return KeptEpisodes(cast("EpisodeService", tier), settings)


async def read(kept: KeptEpisodes, *numbers: int, as_of: int = 1, owner: Owner = OWNER) -> list[pb.Episode]:
    found = await kept.read(owner, [episode_id(number) for number in numbers], as_of=as_of)
    return [message_of(whole) for whole in found]


def message_of(whole: WholeEpisode) -> pb.Episode:
    message = pb.Episode.FromString(whole.message)
    assert message.decay_factor == 0.0
    assert whole.decay_factor == pytest.approx(1.0 / message.time.seconds)
    return message


def numbers_of(messages: Sequence[pb.Episode]) -> list[int]:
    return [message.position for message in messages]


async def test_what_was_read_once_is_not_asked_for_again() -> None:
    tier = MemoryEpisodes()
    kept, seen = kept_of(tier), tier.search()

    first = await read(kept, 3, 1, as_of=seen)
    again = await read(kept, 1, 3, 2, 3, as_of=seen)

    assert [message.query for message in first] == ["turn number 3", "turn number 1"]
    assert numbers_of(again) == [1, 3, 2, 3]
    assert tier.asked == [[3, 1], [2]]
    assert kept.kept_count == 3


async def test_nothing_is_kept_of_whom_no_search_has_left_anything() -> None:
    tier = MemoryEpisodes()
    kept = kept_of(tier)
    assert numbers_of(await read(kept, 1)) == [1]
    assert numbers_of(await read(kept, 1)) == [1]
    assert (tier.asked, kept.kept_count) == ([[1], [1]], 0)


async def test_a_snapshot_from_before_the_search_is_not_enough() -> None:
    """Another replica searched, and saw more than this one has."""
    tier = MemoryEpisodes()
    kept, seen = kept_of(tier), tier.search()
    await read(kept, 1, as_of=seen)
    tier.change(1, feedback=1)

    (message,) = await read(kept, 1, as_of=tier.number)

    assert message.feedback == 1
    assert len(tier.asked) == 2


async def test_what_has_changed_is_read_again_and_what_has_not_is_not() -> None:
    tier = MemoryEpisodes()
    kept, seen = kept_of(tier), tier.search()
    await read(kept, 1, 2, as_of=seen)
    tier.change(2, feedback=-1)
    seen = tier.search()

    messages = await read(kept, 1, 2, as_of=seen)

    assert [message.feedback for message in messages] == [0, -1]
    assert tier.asked == [[1, 2], [2]]


async def test_what_is_gone_or_archived_is_as_the_store_says() -> None:
    tier = MemoryEpisodes()
    kept, seen = kept_of(tier), tier.search()
    await read(kept, 1, 2, as_of=seen)
    tier.remove(1)
    tier.change(2, status=EpisodeStatus.ARCHIVED)
    seen = tier.search()

    (message,) = await read(kept, 1, 2, as_of=seen)

    assert (message.position, message.status) == (2, pb.EPISODE_STATUS_ARCHIVED)
    assert tier.asked[1] == [1, 2]


async def test_nobody_sees_what_was_kept_of_another() -> None:
    tier = MemoryEpisodes()
    kept, seen = kept_of(tier), tier.search()
    await read(kept, 1, as_of=seen)
    tier.search(OTHER)

    assert await read(kept, 1, owner=OTHER) == []
    assert await read(kept, 1, owner=Owner(TenantId("other"), OWNER.user_id)) == []


async def test_what_changes_while_it_is_read_is_not_kept() -> None:
    """The answer is as of the search; what is kept for later must not be older than what later searches know."""
    tier = MemoryEpisodes()
    kept, seen = kept_of(tier), tier.search()
    tier.pause = asyncio.Event()
    reading = asyncio.create_task(read(kept, 1, as_of=seen))
    await asyncio.sleep(0)
    tier.change(1, feedback=1)
    seen = tier.search()
    tier.pause.set()
    assert [message.feedback for message in await reading] == [0]

    assert [message.feedback for message in await read(kept, 1, as_of=seen)] == [1]


async def test_what_changed_and_changed_back_is_as_it_is_now() -> None:
    """Read after a change that the snapshot did not know of, which was taken back before the next search."""
    tier = MemoryEpisodes()
    kept, seen = kept_of(tier), tier.search()
    tier.change(1, feedback=1)
    assert [message.feedback for message in await read(kept, 1, as_of=seen)] == [1]
    tier.change(1, feedback=0)
    seen = tier.search()

    assert [message.feedback for message in await read(kept, 1, as_of=seen)] == [0]


async def test_a_store_that_is_away_does_not_matter_for_what_is_kept() -> None:
    tier = MemoryEpisodes()
    kept, seen = kept_of(tier), tier.search()
    await read(kept, 1, as_of=seen)
    tier.error = StoreUnavailable("postgres")

    assert numbers_of(await read(kept, 1, as_of=seen)) == [1]
    with pytest.raises(StoreUnavailable):
        await read(kept, 2, as_of=seen)


async def test_memory_is_bounded_and_who_asked_least_recently_goes() -> None:
    tier = MemoryEpisodes()
    kept, seen = kept_of(tier), tier.search()
    await read(kept, 1, as_of=seen)
    one = kept.kept_bytes

    bounded = kept_of(tier, KeptEpisodesSettings(bytes_max=3 * one, ahead_bytes_max=0))
    await read(bounded, 1, 2, 3, as_of=seen)
    assert (bounded.kept_count, bounded.kept_bytes) == (3, 3 * one)
    await read(bounded, 4, as_of=seen)
    assert (bounded.kept_count, bounded.kept_bytes) == (0, 0)
    none = kept_of(tier, KeptEpisodesSettings(bytes_max=0, ahead_after_reads=1))
    assert numbers_of(await read(none, 1, as_of=seen)) == [1]
    await none.settle()
    assert (none.kept_count, tier.pages) == (0, 0)


async def test_who_asks_again_and_again_is_read_ahead_newest_first() -> None:
    tier = MemoryEpisodes(120)
    kept, seen = kept_of(tier, KeptEpisodesSettings(ahead_pause_seconds=0.0)), tier.search()
    for number in (1, 2, 3):
        await read(kept, number, as_of=seen)
    await kept.settle()
    assert (kept.kept_count, tier.pages) == (120, 3)

    asked = len(tier.asked)
    assert len(await read(kept, *range(1, 121), as_of=seen)) == 120
    assert len(tier.asked) == asked

    one = kept.kept_bytes // 120
    bounded = kept_of(tier, KeptEpisodesSettings(ahead_bytes_max=70 * one, ahead_pause_seconds=0.0))
    for number in (1, 2, 3):
        await read(bounded, number, as_of=seen)
    await bounded.settle()
    assert bounded.kept_count == 50 + 3  # the newest page, and what was asked for
    await bounded.aclose()
    assert bounded.kept_count == 0


async def test_who_is_being_read_ahead_is_not_read_ahead_once_more() -> None:
    tier = MemoryEpisodes(120)
    kept = kept_of(tier, KeptEpisodesSettings(ahead_after_reads=1, ahead_pause_seconds=0.01))
    seen = tier.search()
    for number in (1, 2, 3, 4):
        await read(kept, number, as_of=seen)
    await kept.settle()
    assert (kept.kept_count, tier.pages) == (120, 3)


async def test_a_store_that_fails_ends_the_reading_ahead_alone() -> None:
    tier = MemoryEpisodes()
    kept, seen = kept_of(tier, KeptEpisodesSettings(ahead_after_reads=1)), tier.search()
    await read(kept, 1, as_of=seen)
    tier.error = StoreUnavailable("postgres")
    await kept.settle()
    assert numbers_of(await read(kept, 1, as_of=seen)) == [1]
    await kept.aclose()


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["read", "search", "good", "bad", "archive", "restore", "remove"]), st.integers(1, 4)
        ),
        max_size=30,
    )
)
def test_an_answer_is_never_older_than_the_search(steps: list[tuple[str, int]]) -> None:
    """Against what each episode has been since the search, whatever is done in which order."""

    async def run() -> None:
        tier = MemoryEpisodes(4)
        kept, seen = kept_of(tier), tier.search()
        since = {n: [state(tier.stored.get(n))] for n in range(1, 5)}
        for step, number in steps:
            if step == "search":
                seen = tier.search()
                since = {n: [state(tier.stored.get(n))] for n in range(1, 5)}
            elif step == "read":
                found = {m.position: m for m in await read(kept, 1, 2, 3, 4, as_of=seen)}
                assert all(state_of(found.get(n)) in since[n] for n in range(1, 5))
            elif number in tier.stored:
                if step == "remove":
                    tier.remove(number)
                elif step in ("archive", "restore"):
                    tier.change(number, status=EpisodeStatus.ARCHIVED if step == "archive" else EpisodeStatus.ACTIVE)
                else:
                    tier.change(number, feedback=1 if step == "good" else -1)
                since[number].append(state(tier.stored.get(number)))

    asyncio.run(run())


def state(episode: Episode | None) -> tuple[int, int] | None:
    return None if episode is None else (episode.feedback, int(episode.status))


def state_of(message: pb.Episode | None) -> tuple[int, int] | None:
    return None if message is None else (message.feedback, int(message.status))
