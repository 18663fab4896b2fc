"""What every driver must do where a reader's scope narrows a list of facts, or of groups of them."""

from __future__ import annotations

from datetime import timedelta

from services.common.scope import GLOBAL_SCOPE, GrantedReader, Reader
from services.semantic.facts.merge_groups import MergeGroup, MergeGroupId, MergePosition, MergeState
from services.semantic.facts.model import Fact, FactId
from services.semantic.facts.store import FactFilter, FactPosition, FactStore, FactWriter
from tests.contract.fact_samples import AGENT, ANN, DAY_ONE, OTHER_PROJECT, PROJECT, enter, likes, new_id, said

PLACES = (GLOBAL_SCOPE, PROJECT, OTHER_PROJECT, AGENT)


class FactScopesContract:
    """A part of `FactStoreContract`."""

    async def test_spec_5_3_lists_hold_what_a_reader_sees_and_pages_are_full(self, store: FactStore) -> None:
        for number in range(12):
            await enter(store, ANN, [said(likes(f"thing {number}"), day=number)], scope=PLACES[number % 4])

        async def listed(reader: Reader | None, subject: str = "") -> list[int]:
            paged: list[Fact] = []
            after, which = None, FactFilter(reader=reader, subject=subject)
            while page := await store.list_facts(ANN, which=which, after=after, limit=2):
                paged += page
                after = FactPosition(page[-1].last_confirmed_time, page[-1].fact_id)
                assert len(page) == 2 or len(paged) % 2
            return [int(fact.object.removeprefix("thing ")) for fact in paged]

        for subject in ("", "ann"):
            assert await listed(None, subject) == list(range(11, -1, -1))
            assert await listed(GLOBAL_SCOPE, subject) == [8, 4, 0]
            assert await listed(PROJECT, subject) == [9, 8, 5, 4, 1, 0]
            assert await listed(AGENT, subject) == [11, 7, 3]
            assert await listed(GrantedReader(GLOBAL_SCOPE, (AGENT,)), subject) == [11, 8, 7, 4, 3, 0]

    async def test_spec_5_3_groups_are_those_of_which_a_reader_sees_every_fact(self, store: FactStore) -> None:
        ids = [(await enter(store, ANN, [said(likes(f"thing {n}"))], scope=PLACES[n % 4]))[0] for n in range(8)]
        pairs = {"global": (0, 4), "project": (1, 5), "other": (2, 6), "agent": (3, 7), "above": (0, 1), "both": (1, 2)}
        groups = {
            name: group_of(number, [ids[one] for one in pair]) for number, (name, pair) in enumerate(pairs.items())
        }

        async def put(writer: FactWriter) -> None:
            for group in groups.values():
                await writer.merge_groups.put(group)

        await store.write(ANN, put)

        async def listed(reader: Reader | None) -> list[str]:
            found: list[MergeGroup] = []
            after = None
            while page := await store.merge_groups(ANN, state=None, after=after, limit=2, reader=reader):
                found += page
                after = MergePosition(page[-1].create_time, page[-1].group_id)
                assert len(page) == 2 or len(found) % 2
            names = {group.group_id: name for name, group in groups.items()}
            return [names[group.group_id] for group in found]

        assert await listed(None) == list(pairs)[::-1]
        assert await listed(GLOBAL_SCOPE) == ["global"]
        assert await listed(PROJECT) == ["above", "project", "global"]
        assert await listed(OTHER_PROJECT) == ["other", "global"]
        assert await listed(AGENT) == ["agent"]
        assert await listed(GrantedReader(PROJECT, (OTHER_PROJECT,))) == ["both", "above", "other", "project", "global"]


def group_of(number: int, fact_ids: list[FactId]) -> MergeGroup:
    """A group that was found so many hours after the first day."""
    return MergeGroup(
        group_id=MergeGroupId(new_id()),
        fact_ids=tuple(fact_ids),
        state=MergeState.WAITING,
        create_time=DAY_ONE + timedelta(hours=number),
    )
