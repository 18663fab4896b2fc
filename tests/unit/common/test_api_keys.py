from __future__ import annotations

import json
import stat
from datetime import timedelta
from pathlib import Path

import pytest

from services.common.auth import (
    ApiKeyFileError,
    ApiKeyRing,
    Principal,
    Role,
    create_api_key,
    list_api_keys,
    revoke_api_key,
)
from services.common.errors import Unauthenticated
from tests.support.clock import FakeClock


class Ticks:
    """A monotonic clock that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "keys" / "api-keys.json"


def make(path: Path, clock: FakeClock, *, tenant: str = "acme", **more: timedelta) -> tuple[str, str]:
    expires = clock.now() + more["lifetime"] if "lifetime" in more else None
    text, record = create_api_key(
        path, tenant_id=tenant, principal_id="robot", role=Role.WRITER, now=clock.now(), expires=expires
    )
    return text, record.key_id


def test_a_key_opens_its_own_tenant(path: Path, clock: FakeClock) -> None:
    mine, _ = make(path, clock)
    theirs, _ = make(path, clock, tenant="other")
    ring = ApiKeyRing(path, clock=clock)

    assert ring.authenticate(mine) == Principal("acme", "robot", Role.WRITER)
    assert ring.authenticate(theirs).tenant_id == "other"


def test_a_key_has_32_random_bytes_and_is_not_stored(path: Path, clock: FakeClock) -> None:
    text, key_id = make(path, clock)
    prefix, identifier, secret = text.split("_", 2)

    assert (prefix, identifier) == ("mn", key_id)
    assert len(secret) == 43
    assert secret not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_secret_of_another_key_is_refused(path: Path, clock: FakeClock) -> None:
    mine, key_id = make(path, clock)
    theirs, _ = make(path, clock, tenant="other")
    secret = theirs.split("_", 2)[2]

    with pytest.raises(Unauthenticated):
        ApiKeyRing(path, clock=clock).authenticate(f"mn_{key_id}_{secret}")
    assert mine != theirs


@pytest.mark.parametrize("change", [lambda k: k[:-1], lambda k: k + "A", lambda k: "xx" + k[2:], lambda _k: ""])
def test_a_wrong_key_is_refused(path: Path, clock: FakeClock, change: object) -> None:
    text, _ = make(path, clock)
    assert callable(change)

    with pytest.raises(Unauthenticated):
        ApiKeyRing(path, clock=clock).authenticate(change(text))


@pytest.mark.parametrize("text", ["mn", "mn_", "mn__", "mn_unknown_secret", "\udcff", "mn_é_ü"])
def test_noise_is_refused(path: Path, clock: FakeClock, text: str) -> None:
    make(path, clock)

    with pytest.raises(Unauthenticated):
        ApiKeyRing(path, clock=clock).authenticate(text)


def test_an_expired_key_is_refused(path: Path, clock: FakeClock) -> None:
    text, _ = make(path, clock, lifetime=timedelta(days=1))
    ring = ApiKeyRing(path, clock=clock)
    ring.authenticate(text)
    clock.advance(days=1)

    with pytest.raises(Unauthenticated):
        ring.authenticate(text)


def test_a_running_service_notices_new_and_revoked_keys(path: Path, clock: FakeClock) -> None:
    first, first_id = make(path, clock)
    ticks = Ticks()
    ring = ApiKeyRing(path, check_seconds=1.0, clock=clock, monotonic=ticks)
    second, _ = make(path, clock, tenant="other")
    assert revoke_api_key(path, first_id)

    assert ring.authenticate(first).tenant_id == "acme"  # it has not looked yet
    ticks.now = 1.0
    with pytest.raises(Unauthenticated):
        ring.authenticate(first)
    assert ring.authenticate(second).tenant_id == "other"


def test_keys_stay_in_force_while_the_file_is_broken(path: Path, clock: FakeClock) -> None:
    text, _ = make(path, clock)
    good = path.read_text()
    ticks = Ticks()
    ring = ApiKeyRing(path, check_seconds=1.0, clock=clock, monotonic=ticks)

    for broken in ("{", '{"keys": [{}]}', "[]"):
        path.write_text(broken)
        ticks.now += 1.0
        assert ring.authenticate(text).tenant_id == "acme"
    path.unlink()
    ticks.now += 1.0
    assert ring.authenticate(text).tenant_id == "acme"
    path.write_text(good.replace("acme", "moved"))
    ticks.now += 1.0
    assert ring.authenticate(text).tenant_id == "moved"


@pytest.mark.parametrize(
    "change",
    [
        {"secret_sha256": "abc"},
        {"secret_sha256": "zz" * 32},
        {"role": "emperor"},
        {"tenant_id": ""},
        {"key_id": "a_b"},
        {"expires": "2026-01-01T00:00:00"},
    ],
)
def test_a_malformed_file_is_refused_at_start(path: Path, clock: FakeClock, change: dict[str, str]) -> None:
    make(path, clock)
    document = json.loads(path.read_text())
    document["keys"][0].update(change)
    path.write_text(json.dumps(document))

    with pytest.raises(ApiKeyFileError):
        ApiKeyRing(path, clock=clock)


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (None, "No such file or directory"),
        ("{", "Expecting property name"),
        ("{}", "'keys' is missing"),
        ("[]", "list indices"),
        ('{"keys": [{"key_id": "a"}]}', "'secret_sha256' is missing"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_words(path: Path, content: str | None, cause: str) -> None:
    if content is not None:
        path.parent.mkdir()
        path.write_text(content)
    with pytest.raises(ApiKeyFileError, match=cause) as refused:
        ApiKeyRing(path)
    assert str(path) in str(refused.value)
    assert "Error(" not in str(refused.value)


def test_the_list_shows_revoked_keys_too(path: Path, clock: FakeClock) -> None:
    assert list_api_keys(path) == []
    _, first = make(path, clock)
    _, second = make(path, clock)
    assert revoke_api_key(path, first)

    assert [(r.key_id, r.revoked) for r in list_api_keys(path)] == [(first, True), (second, False)]
    assert not revoke_api_key(path, "unknown")


def test_ids_are_required(path: Path, clock: FakeClock) -> None:
    with pytest.raises(ValueError, match="required"):
        create_api_key(path, tenant_id="", principal_id="robot", role=Role.READER, now=clock.now())
    assert not path.exists()
