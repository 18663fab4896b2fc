"""The port of the queue: pairs of statements that wait for a decision, for those who decide instead of the user.

`tests/contract/supersession_queue.py` is the suite every driver passes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol, TypeAlias

from services.common.owners import Owner
from services.semantic.supersession.model import QueuedPair, Supersession, SupersessionPosition, Verdict

Judge: TypeAlias = Callable[[QueuedPair], Verdict | None]
"""What somebody says about a pair as it stands now; None: it goes on waiting."""


class SupersessionQueueStore(Protocol):
    """What every driver must do. A pair is queued while it is pending and nobody has left it to the user.

    Writes are one transaction under the user's lock, and refuse a void claim.
    """

    async def queued_owners(self, *, recorded_before: datetime, after: Owner | None, limit: int) -> Sequence[Owner]:
        """Users with queued pairs that old, of all tenants, in the order of tenant and user, behind the one named."""
        ...

    async def queued(
        self, owner: Owner, *, recorded_before: datetime, after: SupersessionPosition | None, limit: int
    ) -> Sequence[QueuedPair]:
        """Queued pairs that old, the oldest first, ties by id, with what is known of the facts of both sides."""
        ...

    async def decide_queued(
        self, owner: Owner, supersession_ids: Sequence[str], judge: Judge
    ) -> Sequence[Supersession]:
        """Decides about those of the pairs that are still queued, each read again with its facts.

        A decision that was taken meanwhile stands.

        Returns:
            The pairs about which `judge` said something, as they are now.
        """
        ...

    async def reopen(self, owner: Owner, supersession_ids: Sequence[str]) -> int:
        """Has pairs wait for the user again about which a policy or a language model decided last; how many.

        They are queued no more: only the user decides about them.
        """
        ...
