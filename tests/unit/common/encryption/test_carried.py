"""Values that carry their data key."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from services.common.encryption.carried import CarriedKeys
from services.common.encryption.envelope import DecryptionError
from services.common.encryption.key_file import FileKeyManagement, add_key
from services.common.encryption.ring import EncryptionSettings
from services.common.owners import Owner, TenantId, UserId

ADA = Owner(TenantId("acme"), UserId("ada"))
BEN = Owner(TenantId("acme"), UserId("ben"))
TEXT = "Miso prefers \x02 sardines \ud800"


def keys(folder: Path, **settings: float) -> CarriedKeys:
    file = folder / "keys"
    if not file.exists():
        add_key(file)
    return CarriedKeys(FileKeyManagement(file), EncryptionSettings(**settings))  # type: ignore[arg-type]


async def opened(made: CarriedKeys, sealed: str, owner: Owner = ADA, record: str = "r", field: str = "f") -> str:
    return (await made.for_reading(owner, [sealed])).open(record, field, sealed)


async def test_spec_7_3_another_process_opens_a_value(tmp_path: Path) -> None:
    sealed = (await keys(tmp_path).for_writing(ADA)).seal("r", "f", TEXT)
    assert await opened(keys(tmp_path), sealed) == TEXT
    assert "sardines" not in base64.b64decode(sealed).decode("latin-1")


async def test_spec_7_3_a_value_opens_only_where_it_belongs(tmp_path: Path) -> None:
    made = keys(tmp_path)
    sealed = (await made.for_writing(ADA)).seal("r", "f", TEXT)
    for wrong in ({"owner": BEN}, {"record": "other"}, {"field": "other"}):
        with pytest.raises(DecryptionError):
            await opened(made, sealed, **wrong)


@pytest.mark.parametrize("place", [0, 1, 2, 5, 40, 80, -1])
async def test_spec_7_3_a_changed_value_does_not_open(tmp_path: Path, place: int) -> None:
    data = bytearray(base64.b64decode((await keys(tmp_path).for_writing(ADA)).seal("r", "f", TEXT)))
    data[place] ^= 1
    with pytest.raises(DecryptionError):
        await opened(keys(tmp_path), base64.b64encode(data).decode("ascii"))


@pytest.mark.parametrize("sealed", ["", "AQ==", "AQI=", "no base64", "AQFh"])
async def test_what_is_no_value_is_refused(tmp_path: Path, sealed: str) -> None:
    with pytest.raises(DecryptionError):
        await opened(keys(tmp_path), sealed)


async def test_a_key_is_used_for_a_while_and_by_one_user(tmp_path: Path) -> None:
    now = 0.0
    add_key(tmp_path / "keys")
    made = CarriedKeys(
        FileKeyManagement(tmp_path / "keys"), EncryptionSettings(cache_seconds=10.0), monotonic=lambda: now
    )

    async def header(owner: Owner) -> bytes:
        sealed = base64.b64decode((await made.for_writing(owner)).seal("r", "f", ""))
        return sealed[:60]

    first = await header(ADA)
    now = 9.0
    assert await header(ADA) == first
    assert await header(BEN) != first
    now = 10.0
    assert await header(ADA) != first


async def test_keys_in_memory_are_bounded(tmp_path: Path) -> None:
    made = keys(tmp_path, cached_keys_max=2)
    sealed = {}
    for name in ("a", "b", "c"):
        owner = Owner(TenantId("acme"), UserId(name))
        sealed[owner] = (await made.for_writing(owner)).seal("r", "f", name)
    assert [await opened(made, value, owner) for owner, value in sealed.items()] == ["a", "b", "c"]
    assert len(made._made) == len(made._unwrapped) == 2
