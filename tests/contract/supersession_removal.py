"""What every store of statements and supersessions must do where all of a user goes, or some of many turns."""

from __future__ import annotations

from typing import Final

from services.common.owners import Owner
from services.semantic.supersession.store import SupersessionStore
from tests.contract.supersession_samples import ADA, BEN, assertion, at_most, decide, turn

TURNS: Final = 20
PAGE: Final = 4
"""Drivers that remove page by page are made with this one: `TURNS` fill several, the last of them to its end."""
FIRST_KEYS: Final = {ADA: 0, BEN: 10_000}
"""No two users have a key in common."""


async def fill(store: SupersessionStore, owner: Owner) -> int:
    """Adds statements of which every second one supersedes the one before; how many supersessions there are."""
    key = FIRST_KEYS[owner]
    said = [
        assertion(number, f"home{number // 2} {number}", key + number // 2, key + 1_000 + number)
        for number in range(TURNS)
    ]
    return len(await store.add(owner, said, decide, candidates_max=at_most(10)))


async def superseded(store: SupersessionStore, owner: Owner) -> set[str]:
    """The statements that are marked."""
    marks = await store.marks(owner, cached_revision=None, limit=1_000)
    return {one.statement for one in marks.superseded or ()}


async def is_compared(store: SupersessionStore, owner: Owner) -> int:
    """How many stored statements are superseded by later ones that share their words: none of those that are gone."""
    said = [assertion(100 + number, f"home{number} new", FIRST_KEYS[owner] + number) for number in range(TURNS // 2)]
    return len(await store.add(owner, said, decide, candidates_max=at_most(10)))


class SupersessionRemovalContract:
    """Subclass with a fixture `store` that returns a fresh one, with pages of `PAGE` if it has any."""

    async def test_spec_6_6_removal_of_an_owner_with_many_statements_leaves_nothing(
        self, store: SupersessionStore
    ) -> None:
        pairs = [await fill(store, owner) for owner in (ADA, BEN)]
        others = await superseded(store, BEN)
        before = await store.marks(ADA, cached_revision=None, limit=1_000)
        assert await store.remove_owner(ADA) == pairs[0] == TURNS // 2
        after = await store.marks(ADA, cached_revision=before.revision, limit=1_000)
        assert after.revision > before.revision
        assert (await superseded(store, ADA), await superseded(store, BEN)) == (set(), others)
        assert await store.remove_owner(ADA) == 0, "a repeat finds nothing"
        assert await is_compared(store, ADA) == 0
        assert await is_compared(store, BEN) == TURNS

    async def test_spec_6_6_removal_of_some_turns_leaves_the_others(self, store: SupersessionStore) -> None:
        for owner in (ADA, BEN):
            await fill(store, owner)
        gone = [turn(number) for number in range(0, TURNS, 4)]
        assert await store.remove_sources(ADA, gone) == len(gone)
        assert await superseded(store, ADA) == {f"home{number // 2} {number}" for number in range(2, TURNS, 4)}
        assert await is_compared(store, ADA) == TURNS - len(gone)
        assert await is_compared(store, BEN) == TURNS
