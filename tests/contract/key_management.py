"""What every key management does with data keys."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace

import pytest

from services.common.encryption.envelope import KEY_BYTES, DecryptionError
from services.common.encryption.hosted import verify
from services.common.encryption.key_management import KeyManagement
from services.common.encryption.postgres import Owner
from services.common.encryption.ring import DataKeyRing

KEY = bytes(range(KEY_BYTES))
ADA: Owner = ("acme", "ada")


@dataclass(frozen=True)
class Keys:
    """Key-encryption keys, and what their operator does to them."""

    open: Callable[[], KeyManagement]
    """Opens them as another process would."""
    open_foreign: Callable[[], KeyManagement]
    """Opens others, whose versions have the same names."""
    rotate: Callable[[], object]
    """Adds a version."""
    retire: Callable[[], object]
    """Takes the first version away."""


class KeyManagementContract:
    """Subclasses have a fixture `keys`."""

    @pytest.fixture
    async def management(self, keys: Keys) -> AsyncIterator[KeyManagement]:
        opened = keys.open()
        yield opened
        await opened.aclose()

    @pytest.fixture
    async def replica(self, keys: Keys) -> AsyncIterator[KeyManagement]:
        opened = keys.open()
        yield opened
        await opened.aclose()

    async def test_spec_7_3_a_wrapped_key_is_unwrapped_by_any_process(
        self, management: KeyManagement, replica: KeyManagement
    ) -> None:
        first, second = await management.wrap(KEY, b"a"), await management.wrap(KEY, b"a")
        assert first.data != second.data
        assert KEY not in first.data
        assert first.version == second.version == await replica.current_version()
        assert await replica.unwrap(first, b"a") == await management.unwrap(second, b"a") == KEY

    async def test_spec_7_3_a_wrapped_key_opens_only_for_what_it_was_wrapped_for(
        self, management: KeyManagement
    ) -> None:
        wrapped = await management.wrap(KEY, b"ada")
        for other in (b"grace", b"adaa", b"\x00"):
            with pytest.raises(DecryptionError):
                await management.unwrap(wrapped, other)
        await verify(management)

    async def test_spec_7_3_a_changed_key_does_not_open(self, management: KeyManagement) -> None:
        wrapped = await management.wrap(KEY, b"a")
        end = wrapped.data[:-2] + (b"AA" if wrapped.data[-2:] != b"AA" else b"BB")
        for data in (b"", b"\xff\x00", wrapped.data[:20], wrapped.data[:-4], end, os.urandom(len(wrapped.data))):
            with pytest.raises(DecryptionError):
                await management.unwrap(replace(wrapped, data=data), b"a")
        assert await management.unwrap(wrapped, b"a") == KEY

    async def test_spec_7_3_a_key_of_other_key_encryption_keys_does_not_open(
        self, management: KeyManagement, keys: Keys
    ) -> None:
        foreign = keys.open_foreign()
        try:
            wrapped = await foreign.wrap(KEY, b"a")
            assert wrapped.version == await management.current_version()
            with pytest.raises(DecryptionError):
                await management.unwrap(wrapped, b"a")
        finally:
            await foreign.aclose()

    async def test_spec_7_3_earlier_versions_open_after_a_rotation(
        self, management: KeyManagement, replica: KeyManagement, keys: Keys
    ) -> None:
        old = await management.wrap(KEY, b"a")
        keys.rotate()
        new = await management.wrap(KEY, b"a")
        assert old.version != new.version == await replica.current_version()
        assert await replica.unwrap(old, b"a") == await replica.unwrap(new, b"a") == KEY

    async def test_spec_7_3_a_version_that_was_taken_away_is_named_and_keys_that_were_wrapped_anew_open(
        self, management: KeyManagement, keys: Keys
    ) -> None:
        ring = DataKeyRing(management)
        old, key = await ring.create(*ADA)
        keys.rotate()
        new = await ring.rewrapped(*ADA, old)
        assert new.wrapped.version == await ring.current_version()
        keys.retire()
        replica = keys.open()
        try:
            with pytest.raises(DecryptionError, match=old.wrapped.version):
                await replica.unwrap(old.wrapped, b"whatever it was wrapped for")
            assert await DataKeyRing(replica).unwrapped(*ADA, new) == key
        finally:
            await replica.aclose()

    async def test_a_version_that_never_was_is_refused(self, management: KeyManagement) -> None:
        wrapped = await management.wrap(KEY, b"a")
        for version in ("v9", "vault:v9", ""):
            data = wrapped.data.replace(b"vault:v1:", b"vault:v9:")
            with pytest.raises(DecryptionError):
                await management.unwrap(replace(wrapped, version=version, data=data), b"a")

    async def test_many_keys_are_wrapped_at_once(self, management: KeyManagement) -> None:
        wrapped = await asyncio.gather(*(management.wrap(KEY, str(number).encode()) for number in range(50)))
        opened = await asyncio.gather(
            *(management.unwrap(each, str(number).encode()) for number, each in enumerate(wrapped))
        )
        assert opened == [KEY] * 50

    async def test_a_cancelled_call_leaves_it_usable(self, management: KeyManagement) -> None:
        calls = [asyncio.create_task(management.wrap(KEY, b"a")) for _ in range(10)]
        await asyncio.sleep(0)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        assert await management.unwrap(await management.wrap(KEY, b"a"), b"a") == KEY
