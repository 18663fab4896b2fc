"""The port of the erasure store."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Protocol

from services.common.scope import Scope
from services.gateway.erasure.followups import Line
from services.gateway.erasure.model import (
    EarlierCorrection,
    EarlierErasure,
    EraseCommand,
    Erasure,
    Item,
    ItemKind,
    Planned,
    Progress,
    Target,
)
from services.gateway.grants.model import MemoryKind
from services.gateway.journal.model import Caller, Feedback, Removed


class ErasureStore(Protocol):
    """Keeps erasures, beside the journal that they erase from."""

    async def begin(self, caller: Caller, command: EraseCommand) -> tuple[Erasure, bool]:
        """Makes an erasure durable, to be carried out, and returns whether an earlier call did.

        Raises:
            InvalidArgument: The request id was used before with another request.
        """
        ...

    async def earlier(self, caller: Caller, command: EraseCommand) -> EarlierErasure | None:
        """What came of an earlier call with this request id; None where there was none.

        Raises:
            InvalidArgument: It was used with another request.
        """
        ...

    async def settle_nothing(self, caller: Caller, command: EraseCommand) -> EarlierErasure:
        """Records that a call erases nothing, so that its repeats erase nothing either.

        Returns:
            What came of the first call with this request id.

        Raises:
            InvalidArgument: The request id was used before with another request.
        """
        ...

    async def get(self, tenant_id: str, erasure_id: str) -> Erasure:
        """An erasure.

        Raises:
            NotFound: There is none.
        """
        ...

    async def list_erasures(
        self, tenant_id: str, user_id: str | None, *, before: str | None, limit: int
    ) -> Sequence[Erasure]:
        """Erasures of a user, or of a tenant where None, newest first; those made before the one with id `before`."""
        ...

    def claim(self) -> AbstractAsyncContextManager[ErasureClaim | None]:
        """Takes the erasure that is due for the longest time for the length of the block; None where none is due.

        Nobody else must get it meanwhile. When the block ends by an error or by the death of the process, nothing that
        was written through the claim stays, and the erasure is due as before.
        """
        ...

    async def preview(self, tenant_id: str, target: Target, *, limit: int) -> tuple[int, Sequence[Planned]]:
        """How many turns of the log a target has, and the first of them."""
        ...


class EarlierCorrections(Protocol):
    """Knows corrections by their request ids."""

    async def earlier_correction(self, caller: Caller, request_id: str, digest: bytes) -> EarlierCorrection | None:
        """What an earlier call with this request id wrote; None where there was none.

        Raises:
            InvalidArgument: It was used with another request.
        """
        ...


class LoggedTurns(Protocol):
    """Finds turns in the log by their words."""

    async def turns_with(
        self, tenant_id: str, user_id: str, beginnings: Collection[str], *, reader: Scope | None = None, limit: int
    ) -> Sequence[Planned]:
        """A user's turns that hold a word with one of the beginnings, in any spelling; the newest first.

        The beginnings are in small letters and have no accents.
        With a `reader` only turns that are seen from its place.
        """
        ...

    async def turns_around(
        self,
        tenant_id: str,
        user_id: str,
        turn_ids: Collection[str],
        *,
        before: int,
        behind: int,
        reader: Scope | None = None,
        limit: int,
    ) -> Sequence[tuple[Planned, Line]]:
        """Turns of a user, and those of their conversations up to so many places before and behind them, in order.

        With a `reader` only those that are seen from its place.
        """
        ...


class DerivedCounts(Protocol):
    """Counts what is derived from turns."""

    async def counts(
        self, tenant_id: str, user_id: str, *, turns: Collection[str] | None, named: Collection[str]
    ) -> dict[MemoryKind, int]:
        """How many facts and notes go with turns.

        Args:
            tenant_id: Whose.
            user_id: Whose.
            turns: Ids of the turns; None for all of the user, which takes every fact and note.
            named: Ids of facts and notes that go anyway, and are not counted here.
        """
        ...


class ErasureClaim(Protocol):
    """A claimed erasure, and its part of the journal; all of it is one transaction."""

    @property
    def erasure(self) -> Erasure:
        """The erasure as it was claimed."""
        ...

    async def collect(self) -> None:
        """Writes the items of the target that the log knows.

        Those of a conversation and of scopes are their turns; those of a user or a tenant are the users and the turns
        that are on their way to a tier. The conversations of turns are items as well.
        """
        ...

    async def add_items(self, items: Sequence[Item]) -> None:
        """Writes further items; those that are there already are left."""
        ...

    async def items(self, *kinds: ItemKind, after: str, limit: int) -> tuple[Sequence[Item], str]:
        """Items of one user, in a fixed order, and the position behind them; none at the end."""
        ...

    async def remove_interactions(self, user_id: str, interaction_ids: Sequence[str]) -> Removed:
        """See `JournalRemoval.remove_interactions`."""
        ...

    async def forget_recalls(self, user_id: str, memory_ids: Sequence[str]) -> None:
        """Removes the queries of recalls that returned one of the memories; judged ones become items for the tiers."""
        ...

    async def judgements(self, user_id: str, recall_ids: Sequence[str]) -> Sequence[Feedback]:
        """The latest judgement of each of these recalls as a whole; without a query."""
        ...

    async def remove_user(self, user_id: str, *, limit: int) -> tuple[Removed, bool]:
        """See `JournalRemoval.remove_user`; turns first, at most `limit`. Returns whether nothing is left."""
        ...

    async def remove_conversation_record(self, user_id: str, conversation_id: str) -> None:
        """Takes an empty conversation out of the list; one that has turns stays."""
        ...

    async def forget_queries(self, target: Target) -> int:
        """Removes the queries of recalls by readers in the target's scopes; how many."""
        ...

    async def save(self, progress: Progress) -> Erasure:
        """Writes how far it is; an erasure whose last step is done loses its items and its target."""
        ...

    async def postpone(self, until: datetime) -> None:
        """Counts a failure: the erasure is due again at a time."""
        ...
