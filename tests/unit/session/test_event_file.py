"""Events that wait for the conversation log outlive the process of an embedded session tier."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from services.common.datadir import DataDirLocked
from services.common.encryption.envelope import DecryptionError
from services.common.errors import StoreUnavailable
from services.common.owners import UserId
from services.session.config import EmbeddedSettings
from services.session.model import LogEvent, NewTurn, Report, SettingsChange
from services.session.stores.codec import decode_content, encode_content
from services.session.stores.embedded import EmbeddedSessionStore
from services.session.stores.event_file import EventFile
from tests.contract.session_events import SessionRemovalContract, kinds
from tests.contract.session_samples import ADA, SPEC, STORE_SETTINGS, idempotency_key, key, turn
from tests.contract.session_store import SessionStoreContract
from tests.support.clock import FakeClock
from tests.support.encryption import carried_keys


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[EmbeddedSessionStore]:
    with EventFile(folder) as file:
        yield EmbeddedSessionStore(EmbeddedSettings(), STORE_SETTINGS, file)


class TestEmbeddedSessionStoreWithFile(SessionStoreContract, SessionRemovalContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[EmbeddedSessionStore]:
        with opened(tmp_path) as store:
            yield store


class Disk:
    """An fsync that counts, and fails while the disk is broken."""

    def __init__(self) -> None:
        self.syncs = 0
        self.is_broken = False

    def __call__(self, descriptor: int) -> None:
        if self.is_broken:
            raise OSError(errno.EIO, "broken")
        self.syncs += 1
        os.fsync(descriptor)


async def append(store: EmbeddedSessionStore, *names: str) -> None:
    clock = FakeClock()
    turns = [turn(name) for name in names]
    await store.append(key(), turns, create=SPEC, now=clock.now(), report=Report.BOUNDED)


async def waiting(store: EmbeddedSessionStore) -> list[LogEvent]:
    return await store.log_events(None, limit=100, now=FakeClock().now())


def crashed(folder: Path, copy: Path) -> Path:
    """The folder as a process that is killed now would leave it."""
    copy.mkdir()
    (copy / "events.jsonl").write_bytes((folder / "events.jsonl").read_bytes())
    return copy


async def test_spec_1_5_events_survive_the_death_of_the_process(tmp_path: Path) -> None:
    clock = FakeClock()
    with opened(tmp_path / "a") as store:
        await append(store, "one", "two")
        before = await waiting(store)
        await store.acknowledge(ADA, [before[0].event_id], now=clock.now())
        await store.extend(key(), ttl=SPEC.ttl * 2, now=clock.now(), report=Report.BOUNDED)
        await store.delete(key(), now=clock.now(), report=Report.ALWAYS)
        expected = await waiting(store)
        left = crashed(tmp_path / "a", tmp_path / "b")
    with opened(left) as again:
        found = await waiting(again)
        # The acknowledgement need not be on the disk: an event is listed at least once.
        assert [event for event in found if event != before[0]] == expected
        assert kinds(expected) == ["one", "two", "SettingsChange", "Deletion"]


async def test_spec_1_5_an_identifier_is_not_used_again_after_a_restart(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        await append(store, "one")
        first = await waiting(store)
        await store.acknowledge(ADA, [event.event_id for event in first], now=FakeClock().now())
    with opened(tmp_path) as again:
        assert await waiting(again) == []
        await append(again, "two")
        assert not {event.event_id for event in first} & {event.event_id for event in await waiting(again)}


async def test_a_line_that_a_crash_cut_off_is_dropped(tmp_path: Path) -> None:
    with opened(tmp_path / "a") as store:
        await append(store, "one")
        left = crashed(tmp_path / "a", tmp_path / "b")
    file = left / "events.jsonl"
    file.write_bytes(file.read_bytes() + b'{"next":9,"added":["m8","ac')
    with opened(left) as again:
        assert kinds(await waiting(again)) == ["SettingsChange", "one"]
        await append(again, "two")
    with opened(left) as third:
        assert kinds(await waiting(third)) == ["SettingsChange", "one", "SettingsChange", "two"]


async def test_a_write_is_refused_while_the_disk_is_broken_and_durable_when_it_is_repeated(tmp_path: Path) -> None:
    disk = Disk()
    clock = FakeClock()
    with EventFile(tmp_path / "a", disk) as file:
        store = EmbeddedSessionStore(EmbeddedSettings(), STORE_SETTINGS, file)
        disk.is_broken = True
        for _ in range(2):
            with pytest.raises(StoreUnavailable):
                await store.append(
                    key(), [turn("one")], create=SPEC, now=clock.now(),
                    idempotency_key=idempotency_key("r1"), report=Report.BOUNDED,
                )  # fmt: skip
        disk.is_broken = False
        await store.append(
            key(), [turn("one")], create=SPEC, now=clock.now(),
            idempotency_key=idempotency_key("r1"), report=Report.BOUNDED,
        )  # fmt: skip
        left = crashed(tmp_path / "a", tmp_path / "b")
    with opened(left) as again:
        assert kinds(await waiting(again)) == ["SettingsChange", "one"]


async def test_writes_that_wait_for_the_disk_share_a_sync(tmp_path: Path) -> None:
    disk = Disk()
    with EventFile(tmp_path, disk) as file:
        store = EmbeddedSessionStore(EmbeddedSettings(), STORE_SETTINGS, file)
        await append(store, "first")
        before = disk.syncs
        await asyncio.gather(*(append(store, f"t{number}") for number in range(20)))
        assert disk.syncs - before < 20
        assert len(await waiting(store)) == 22


async def test_the_file_shrinks_when_nothing_waits(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        await append(store, *(f"t{number}" for number in range(20)))
        events = await waiting(store)
        await store.acknowledge(ADA, [event.event_id for event in events], now=FakeClock().now())
        assert (tmp_path / "events.jsonl").stat().st_size < 64


async def test_what_is_removed_of_a_user_leaves_the_file_at_once(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        await append(store, "secret")
        assert b"said in secret" in (tmp_path / "events.jsonl").read_bytes()
        await store.remove_owner(ADA, now=FakeClock().now())
        assert b"secret" not in (tmp_path / "events.jsonl").read_bytes()


async def test_two_processes_cannot_share_a_folder(tmp_path: Path) -> None:
    with opened(tmp_path), pytest.raises(DataDirLocked), opened(tmp_path):
        pass


async def test_turns_keep_their_content_in_the_file(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        said = turn("one", content="Zürich, 09:25 \u2028 \n")
        await store.append(key(), [said], create=SPEC, now=FakeClock().now(), report=Report.BOUNDED)
    with opened(tmp_path) as again:
        assert [event.content for event in await waiting(again) if isinstance(event.content, NewTurn)] == [said]


CANARY = "Miso the cat prefers sardines"


@contextlib.asynccontextmanager
async def encrypted(folder: Path, keys: Path) -> AsyncIterator[EmbeddedSessionStore]:
    with EventFile(folder, keys=carried_keys(keys)) as file:
        await file.unwrap_keys()
        yield EmbeddedSessionStore(EmbeddedSettings(), STORE_SETTINGS, file)


class TestEmbeddedSessionStoreWithEncryptedFile(SessionStoreContract, SessionRemovalContract):
    @pytest.fixture
    async def store(self, tmp_path: Path) -> AsyncIterator[EmbeddedSessionStore]:
        async with encrypted(tmp_path / "events", tmp_path) as store:
            yield store


async def test_spec_7_3_the_file_holds_nothing_of_what_turns_say(tmp_path: Path) -> None:
    folder = tmp_path / "events"
    with opened(folder) as plain:
        await append(plain, f"{CANARY} one")
    file = folder / "events.jsonl"
    assert CANARY in file.read_text("ascii")
    async with encrypted(folder, tmp_path) as store:
        await store.append(
            key(), [turn("two", content=CANARY)], create=SPEC, now=FakeClock().now(), report=Report.ALWAYS
        )
        assert kinds(await waiting(store)) == ["SettingsChange", f"{CANARY} one", "SettingsChange", "two"]
        first = [event.event_id for event in await waiting(store)][:2]
        await store.acknowledge(ADA, first, now=FakeClock().now())
        await store.remove_owner(replace(ADA, user_id=UserId("nobody")), now=FakeClock().now())  # writes the file anew
        assert CANARY not in file.read_text("ascii")
    async with encrypted(folder, tmp_path) as again:
        contents = [event.content for event in await waiting(again)]
        assert [one.turn.content for one in contents if isinstance(one, NewTurn)] == [CANARY]
    with pytest.raises(DecryptionError), opened(folder):
        pass


def test_spec_1_5_settings_that_an_earlier_release_wrote_are_read() -> None:
    change = decode_content("settings", b"10 3600000000 1772366400000000")
    assert change == SettingsChange(SPEC, datetime(2026, 3, 1, 12, 0, tzinfo=UTC))
    made = SettingsChange(SPEC, datetime(2026, 3, 1, 12, 0, tzinfo=UTC), datetime(2026, 3, 1, 11, 0, tzinfo=UTC))
    assert decode_content(*encode_content(made)) == made
