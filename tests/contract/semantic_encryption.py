"""What every driver of the semantic tier must do with encryption at rest."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Protocol

import pytest

from services.common.encryption.envelope import DecryptionError
from services.common.owners import UserId
from services.semantic.facts.store import FactPosition
from services.semantic.profile.model import Preferences
from tests.contract import code_store, supersession_samples
from tests.contract.fact_samples import ANN, enter, lives_in, said
from tests.support.semantic_canaries import CANARY, EVERYTHING, Stores, assertion, write_canaries, write_fact


class World(Protocol):
    """A database of its own."""

    def encrypted(self) -> Stores:
        """A replica that encrypts, with caches of its own."""
        ...

    def plain(self) -> Stores:
        """One without encryption."""
        ...


class SemanticEncryptionContract:
    """Subclass it with a fixture `world`."""

    async def test_spec_7_3_a_replica_reads_what_another_one_encrypted(self, world: World) -> None:
        fact_id = await write_canaries(world.encrypted())
        replica = world.encrypted()
        fact = await replica.facts.get(ANN, fact_id)
        assert (fact.text, fact.subject, fact.object) == (f"{CANARY} (text)", f"{CANARY} (subject)", CANARY)
        assert [version.text for version in fact.versions] == [f"{CANARY} (version)"]
        pairs = await replica.supersessions.list_page(ANN, state=None, after=None, limit=9)
        assert {one.statement for one in pairs} <= {f"{CANARY} 1", f"{CANARY} 2"}
        marks = await replica.supersessions.marks(ANN, cached_revision=None, limit=9)
        assert marks.superseded is not None
        assert {one.statement for one in marks.superseded} <= {f"{CANARY} 1", f"{CANARY} 2"}
        (procedure,) = await replica.procedures.list_page(ANN, kind=None, after=None, limit=9)
        assert procedure.draft.trigger == CANARY
        profile = await replica.profiles.get(ANN)
        assert profile.preferences.language == CANARY
        assert profile.statistics.topics == ((CANARY, 1),)
        with pytest.raises(DecryptionError):
            await world.plain().facts.get(ANN, fact_id)

    async def test_spec_7_3_facts_are_listed_by_encrypted_names_in_any_case_and_by_pages(self, world: World) -> None:
        stores = world.encrypted()
        drafts = [replace(lives_in(f"Town {n}"), subject="Ann" if n % 2 else "Bo") for n in range(6)]
        await enter(stores.facts, ANN, [said(draft, day=n) for n, draft in enumerate(drafts)])
        which = replace(EVERYTHING, subject="aNN", predicate="LIVES_IN")
        first = await stores.facts.list_facts(ANN, which=which, after=None, limit=2)
        after = FactPosition(first[-1].last_confirmed_time, first[-1].fact_id)
        rest = await stores.facts.list_facts(ANN, which=which, after=after, limit=2)
        assert [fact.object for fact in (*first, *rest)] == ["Town 5", "Town 3", "Town 1"]

    async def test_spec_7_3_the_end_of_a_removal_destroys_the_key_and_what_came_meanwhile(self, world: World) -> None:
        first, second = world.encrypted(), world.encrypted()
        await write_canaries(first)
        assert await first.content_keys.users(ANN.tenant_id, after=UserId(""), limit=9) == [ANN.user_id]
        assert await first.content_keys.destroy(ANN) == 1
        assert await first.content_keys.destroy(ANN) == 0
        assert await first.facts.list_facts(ANN, which=EVERYTHING, after=None, limit=9) == []
        assert await first.supersessions.list_page(ANN, state=None, after=None, limit=9) == []
        assert await first.procedures.list_page(ANN, kind=None, after=None, limit=9) == []
        assert await first.code.list_repositories(ANN, after=None, limit=9) == []
        assert (await first.profiles.get(ANN)).preferences == Preferences()
        fact_id = await write_fact(second)
        assert (await first.facts.get(ANN, fact_id)).text == f"{CANARY} (text)"

    async def test_spec_7_3_writers_and_a_destruction_of_the_key_leave_all_readable(self, world: World) -> None:
        async def write() -> None:
            stores = world.encrypted()
            for _ in range(3):
                await enter(stores.facts, ANN, [said(lives_in(CANARY))])
                await stores.supersessions.add(
                    ANN, [assertion(3)], supersession_samples.decide, candidates_max=supersession_samples.at_most(9)
                )

        async def write_code() -> None:
            for number in range(3):
                await code_store.write(world.encrypted().code, code_store.packed(f"{number}.py"), owner=ANN)

        async def destroy() -> None:
            for _ in range(6):
                await world.encrypted().content_keys.destroy(ANN)

        await asyncio.gather(write(), write(), write_code(), destroy())
        stores = world.encrypted()
        facts = await stores.facts.list_facts(ANN, which=EVERYTHING, after=None, limit=99)
        assert {fact.object for fact in facts} <= {CANARY}
        await stores.supersessions.list_page(ANN, state=None, after=None, limit=99)
        for repository in await stores.code.list_repositories(ANN, after=None, limit=9):
            await stores.code.changed(ANN, repository.repository_id, after_revision=0)
