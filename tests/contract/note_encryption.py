"""What every driver of notes must do with encryption at rest."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Protocol

import pytest

from services.agentic.store import NoteFilter, NoteStore, TurnKey
from services.common.encryption.envelope import DecryptionError
from tests.contract.note_samples import ANN, NOW, add, note_id
from tests.support.note_canaries import CANARY, FORMER, canary, former_content, respond, write_canaries


class World(Protocol):
    """A database of its own."""

    def store(self) -> NoteStore:
        """A replica that encrypts, with a cache of its own."""
        ...

    def plain(self) -> NoteStore:
        """One without encryption."""
        ...


class NoteEncryptionContract:
    """Subclass it with a fixture `world`."""

    async def test_spec_7_3_a_replica_reads_what_another_one_encrypted(self, world: World) -> None:
        await write_canaries(world.store())
        replica = world.store()
        assert (await replica.get(ANN, note_id(1), links_max=0)).note == canary()
        assert await former_content(replica) == FORMER
        for tag, expected in ((f"{CANARY} (tag)", [canary()]), ("pets", [canary()]), ("dogs", [])):
            assert await replica.list_notes(ANN, NoteFilter(tag=tag), after=None, limit=9) == expected
        questions = await replica.questions(ANN, [TurnKey("c1", 1)])
        assert [(found.text, found.speaker) for found in questions.values()] == [(f"{CANARY}?", f"{CANARY} (asks)")]
        assert (await replica.write(ANN, lambda writer: respond(writer, 1))).text == f"{CANARY} (response)"
        with pytest.raises(DecryptionError):
            await world.plain().get(ANN, note_id(1), links_max=0)

    async def test_spec_7_3_notes_from_before_are_found_by_their_tags(self, world: World) -> None:
        await add(world.plain(), {0.0: canary(1)})
        later = replace(canary(2), create_time=NOW + timedelta(minutes=1))
        await add(world.store(), {10.0: later})
        assert await world.store().list_notes(ANN, NoteFilter(tag="pets"), after=None, limit=9) == [later, canary(1)]

    async def test_spec_7_3_erasing_a_user_destroys_the_key_whatever_replicas_have_cached(self, world: World) -> None:
        first, second = world.store(), world.store()
        await add(first, {0.0: canary(1)})
        await add(second, {10.0: canary(2)})
        assert (await first.write(ANN, lambda writer: writer.delete_all())).data_keys == 1
        assert (await first.write(ANN, lambda writer: writer.delete_all())).data_keys == 0
        await add(second, {20.0: canary(3)})
        assert (await first.get(ANN, note_id(3), links_max=0)).note == canary(3)
