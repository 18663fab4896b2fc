"""Key-encryption keys in a file, and the ring of data keys in front of them."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from services.common.encryption.envelope import DecryptionError, new_data_key
from services.common.encryption.key_file import FileKeyManagement, KeyFileError, add_key, read_key_file
from services.common.encryption.key_management import WrappedKey
from services.common.encryption.ring import DataKeyRing, EncryptionSettings


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "keys"
    add_key(path)
    return path


class _Counting(FileKeyManagement):
    unwrapped = 0

    async def unwrap(self, wrapped: WrappedKey, associated: bytes) -> bytes:
        self.unwrapped += 1
        return await super().unwrap(wrapped, associated)


def test_spec_7_3_a_new_file_is_readable_by_its_owner_alone(file: Path) -> None:
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(read_key_file(file)) == ["v1"]


def test_spec_7_3_versions_are_added_and_earlier_ones_stay(file: Path) -> None:
    first = read_key_file(file)["v1"]
    assert add_key(file) == "v2"
    keys = read_key_file(file)
    assert list(keys) == ["v1", "v2"]
    assert keys["v1"] == first != keys["v2"]


@pytest.mark.parametrize(
    "text", ["", "# nothing\n", "v1 short\n", "v1\n", "v1 " + "A" * 43 + "=\nv1 " + "B" * 43 + "=\n", "\xe9"]
)
def test_a_file_of_another_form_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "keys"
    path.write_text(text, "utf-8")
    with pytest.raises(KeyFileError):
        FileKeyManagement(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KeyFileError):
        FileKeyManagement(tmp_path / "none")


async def test_spec_7_3_data_keys_of_earlier_versions_open_after_a_rotation(file: Path) -> None:
    management = FileKeyManagement(file)
    old = await management.wrap(b"k" * 32, b"a")
    add_key(file)  # the file is read again by itself
    new = await management.wrap(b"k" * 32, b"a")
    assert (old.version, new.version, await management.current_version()) == ("v1", "v2", "v2")
    for wrapped in (old, new):
        assert await management.unwrap(wrapped, b"a") == b"k" * 32


async def test_spec_7_3_a_data_key_of_a_version_that_is_gone_does_not_open(file: Path, tmp_path: Path) -> None:
    wrapped = await FileKeyManagement(file).wrap(b"k" * 32, b"a")
    other = tmp_path / "other"
    add_key(other)
    with pytest.raises(DecryptionError):
        await FileKeyManagement(other).unwrap(wrapped, b"a")  # the same name, another key
    with pytest.raises(DecryptionError):
        await FileKeyManagement(file).unwrap(replace(wrapped, version="v9"), b"a")
    with pytest.raises(DecryptionError):
        await FileKeyManagement(file).unwrap(wrapped, b"another user")


async def test_spec_7_3_a_wrapped_key_of_one_user_is_none_of_another(file: Path) -> None:
    ring = DataKeyRing(FileKeyManagement(file))
    stored, key = await ring.create("acme", "ada")
    assert await ring.unwrapped("acme", "ada", stored) == key
    for owner in (("acme", "grace"), ("globex", "ada")):
        with pytest.raises(DecryptionError):
            await ring.unwrapped(*owner, stored)
    with pytest.raises(DecryptionError):
        await ring.unwrapped("acme", "ada", replace(stored, key_id=new_data_key().key_id))


async def test_spec_7_3_rewrapping_changes_the_version_and_not_the_key(file: Path) -> None:
    ring = DataKeyRing(FileKeyManagement(file))
    stored, key = await ring.create("acme", "ada")
    add_key(file)
    rewrapped = await ring.rewrapped("acme", "ada", stored)
    assert rewrapped.wrapped.version == await ring.current_version() == "v2"
    assert await DataKeyRing(FileKeyManagement(file)).unwrapped("acme", "ada", rewrapped) == key


async def test_the_cache_is_bounded_forgets_and_expires(file: Path) -> None:
    now = [0.0]
    management = _Counting(file)
    settings = EncryptionSettings(cached_keys_max=2, cache_seconds=10.0)
    ring = DataKeyRing(management, settings, monotonic=lambda: now[0])
    keys = {user: (await ring.create("acme", user))[0] for user in ("a", "b", "c")}

    async def unwraps(*users: str) -> int:
        before = management.unwrapped
        for user in users:
            await ring.unwrapped("acme", user, keys[user])
        return management.unwrapped - before

    assert await unwraps("a", "b", "a", "b") == 2
    assert await unwraps("c", "b", "a") == 2  # c took the place of a
    ring.forget("acme", "a")
    assert await unwraps("a", "b") == 1
    now[0] = 10.0
    assert await unwraps("a", "b") == 2
