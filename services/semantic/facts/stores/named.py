"""Lists of facts by names that the engine cannot compare, since they are encrypted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final, TypeAlias

from services.semantic.facts.model import Fact
from services.semantic.facts.store import FactFilter, FactPosition

_NAMED_AT_ONCE: Final = 500
"""Facts in one page of those that are looked through."""

Page: TypeAlias = Callable[[FactFilter, FactPosition | None, int], Awaitable[list[Fact]]]
"""Reads a page of facts, decrypted."""


async def named_facts(page: Page, which: FactFilter, after: FactPosition | None, limit: int) -> list[Fact]:
    """A page of facts by subject or predicate: all facts are read that the other filters choose, until it is full."""
    whole, size = replace(which, subject="", predicate=""), max(limit, _NAMED_AT_ONCE)
    found: list[Fact] = []
    while len(found) < limit:
        facts = await page(whole, after, size)
        found += [fact for fact in facts if _is_named(fact, which)]
        if len(facts) < size:
            break
        after = FactPosition(facts[-1].last_confirmed_time, facts[-1].fact_id)
    return found[:limit]


def _is_named(fact: Fact, which: FactFilter) -> bool:
    """Whether a fact has the subject and the predicate that are asked for, in whatever case."""
    return all(
        not wanted or wanted.lower() == name.lower()
        for wanted, name in ((which.subject, fact.subject), (which.predicate, fact.predicate))
    )
