"""The names of a user's speakers are remembered for a moment."""

from __future__ import annotations

import pytest

from services.gateway.recall.question import speakers
from services.gateway.recall.question.speakers import SpeakerNames
from tests.unit.gateway.tiers import FakeJournal


class Stopwatch:
    """Monotonic seconds that pass when told to."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


async def test_names_are_read_once_for_some_seconds() -> None:
    journal, watch = FakeJournal(names=["Ada"]), Stopwatch()
    names = SpeakerNames(journal.as_journal(), keep_seconds=5.0, monotonic=watch)
    assert await names.of("acme", "ada") == ["Ada"]
    journal.names = ["Ada", "Bob"]
    watch.seconds += 4.9
    assert await names.of("acme", "ada") == ["Ada"]
    watch.seconds += 0.2
    assert await names.of("acme", "ada") == ["Ada", "Bob"]
    assert len(journal.asked) == 2


async def test_spec_7_1_names_are_kept_apart_by_tenant_and_user() -> None:
    journal = FakeJournal(names=["Ada"])
    names = SpeakerNames(journal.as_journal(), keep_seconds=5.0)
    await names.of("acme", "ada")
    journal.names = ["Eve"]
    assert await names.of("globex", "ada") == ["Eve"]
    assert await names.of("acme", "bob") == ["Eve"]
    assert await names.of("acme", "ada") == ["Ada"]


async def test_the_users_asked_for_longest_ago_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speakers, "_USERS_MAX", 2)
    journal = FakeJournal(names=["Ada"])
    names = SpeakerNames(journal.as_journal(), keep_seconds=5.0)
    for user in ("u1", "u2", "u3", "u3", "u2", "u1"):
        await names.of("acme", user)
    assert [user for _, user in journal.asked] == ["u1", "u2", "u3", "u1"]
