"""Erasures: what is erased, in which steps, and the receipt. Frozen data and pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum
from typing import Annotated

from annotated_types import Ge, Le

from services.common.scope import Scope
from services.common.settings_types import Count, Duration, DurationOrNone, Seconds
from services.gateway.erasure.matching import Rules
from services.gateway.erasure.wording import Chosen
from services.gateway.grants.model import MemoryKind
from services.gateway.journal.model import Appended, RetryPolicy


class TargetKind(IntEnum):
    """What is erased as a whole."""

    MEMORIES = 1
    CONVERSATION = 2
    SCOPE = 3
    USER = 4
    TENANT = 5


class ItemKind(IntEnum):
    """What the ids of a pending erasure name; those of memories are the numbers of `MemoryKind`."""

    EPISODE = 1
    FACT = 2
    NOTE = 3
    CONVERSATION = 4
    USER = 5
    PROCEDURE = 6
    RECALL = 7  # a judged one that returned what is erased: its query goes


class Store(IntEnum):
    """A part of Mneme that holds memories; the numbers are those of the wire format."""

    JOURNAL = 1
    SESSION = 2
    EPISODIC = 3
    SEMANTIC = 4
    AGENTIC = 5


class Step(IntEnum):
    """The steps of an erasure, in their order.

    The log goes first, so that nothing is delivered any more. Sessions are removed twice: an append that was under way
    may have put a turn back into one.
    """

    COLLECT = 0
    JOURNAL = 1
    SESSION = 2
    EPISODIC = 3
    SEMANTIC = 4
    AGENTIC = 5
    LATE_SESSION = 6
    DONE = 7


STORE_STEPS: Mapping[Store, Step] = {
    Store.JOURNAL: Step.JOURNAL,
    Store.SESSION: Step.LATE_SESSION,
    Store.EPISODIC: Step.EPISODIC,
    Store.SEMANTIC: Step.SEMANTIC,
    Store.AGENTIC: Step.AGENTIC,
}
"""The step after which a store is done."""

_STORE_OF_STEP = {Step.SESSION: Store.SESSION, **{step: store for store, step in STORE_STEPS.items()}}


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that a pending erasure erases."""

    kind: ItemKind
    user_id: str
    item_id: str  # of a memory or a conversation; empty for a user


@dataclass(frozen=True, slots=True)
class Target:
    """What is erased."""

    kind: TargetKind
    user_id: str = ""  # empty for the whole tenant
    memories: tuple[tuple[MemoryKind, str], ...] = ()
    conversation_id: str = ""
    scope: Scope | None = None
    with_nested: bool = False  # scopes below it as well

    def covers(self, scope_key: str) -> bool:
        """Whether a memory of this scope is erased by an erasure of a scope."""
        if self.scope is None:
            return False
        found = Scope.from_key(scope_key)
        return found == self.scope or (self.with_nested and found.sees(self.scope))

    def audited(self, named_max: int) -> tuple[tuple[str, ...], dict[str, object]]:
        """The first memories of the target, and the rest of what an audit entry says of it; no content."""
        about: dict[str, object] = {"kind": self.kind.name.lower()}
        if self.conversation_id:
            about["conversation"] = self.conversation_id
        if self.scope is not None:
            about |= {"scope": self.scope.key, "nested": self.with_nested}
        beyond = len(self.memories) - named_max
        if beyond > 0:
            about["memories_beyond"] = beyond
        return tuple(memory_id for _, memory_id in self.memories[:named_max]), about

    def to_json(self) -> dict[str, object]:
        """What the worker needs of it besides the items."""
        scope_key = self.scope.key if self.scope else ""
        return {"conversation": self.conversation_id, "scope": scope_key, "nested": self.with_nested}

    @classmethod
    def from_json(cls, kind: int, user_id: str, stored: Mapping[str, object]) -> Target:
        """The inverse of `to_json`; without the memories, which are items."""
        scope_key = str(stored.get("scope", ""))
        return cls(
            kind=TargetKind(kind),
            user_id=user_id,
            conversation_id=str(stored.get("conversation", "")),
            scope=Scope.from_key(scope_key) if scope_key else None,
            with_nested=bool(stored.get("nested")),
        )


@dataclass(frozen=True, slots=True)
class EraseCommand:
    """Something to be erased."""

    request_id: str
    digest: bytes  # of the whole request
    target: Target
    method: str = "Erase"


@dataclass(frozen=True, slots=True)
class CorrectCommand:
    """Something wrong, and what is right."""

    user_id: str
    request_id: str
    digest: bytes  # of the whole request
    memory: tuple[MemoryKind, str] | None  # what is wrong; None: what the query says
    query: str
    text: str  # what is right
    time: datetime  # when it was corrected
    dry_run: bool = False
    whole_turn: bool = False  # all that the turn says is wrong
    reader: Scope | None = None  # only what is seen from there is corrected; None: all of the user's


@dataclass(frozen=True, slots=True)
class EarlierCorrection:
    """What an earlier call with a request id of Correct wrote."""

    appended: Appended  # with `replayed`
    metadata: Mapping[str, str] | None  # of the turn that says what is right; None where it was erased since


@dataclass(frozen=True, slots=True)
class EarlierErasure:
    """What came of an earlier call with a request id."""

    erasure: Erasure | None  # None where nothing was erased, since nothing fitted the query


@dataclass(frozen=True, slots=True)
class Erasure:
    """An erasure with its receipt."""

    tenant_id: str
    erasure_id: str
    target: Target
    create_time: datetime
    step: Step = Step.COLLECT
    position: str = ""  # the last item of the step that is done; empty: none
    receipt: Mapping[str, Mapping[str, int]] = field(default_factory=dict)  # counts by name, by store
    attempts: int = 0  # failures in a row
    complete_time: datetime | None = None

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to do."""
        return self.complete_time is not None

    def counts(self, store: Store) -> Mapping[str, int]:
        """What a store erased by now."""
        return self.receipt.get(store.name, {})


@dataclass(frozen=True, slots=True)
class Progress:
    """What one chunk of a step did."""

    counts: Mapping[str, int] = field(default_factory=dict)
    position: str | None = None  # where the step resumes; None: the step is done


def advanced(erasure: Erasure, progress: Progress) -> tuple[Step, str, dict[str, dict[str, int]]]:
    """Step, position and receipt after a chunk."""
    receipt = {name: dict(counts) for name, counts in erasure.receipt.items()}
    store = _STORE_OF_STEP.get(erasure.step)
    if store is not None:
        counts = receipt.setdefault(store.name, {})
        for name, count in progress.counts.items():
            if count:
                counts[name] = counts.get(name, 0) + count
    if progress.position is not None:
        return erasure.step, progress.position, receipt
    return Step(erasure.step + 1), "", receipt


@dataclass(frozen=True, slots=True)
class Planned:
    """A memory that would go."""

    kind: MemoryKind
    memory_id: str
    text: str
    time: datetime | None = None
    reason: Chosen = Chosen.UNSPECIFIED  # of Forget
    sources: tuple[str, ...] = ()  # turns that a fact or note was made from


@dataclass(frozen=True, slots=True)
class Choice:
    """What a query means."""

    memories: Sequence[Planned] = ()
    near: Sequence[Planned] = ()  # turns of another one that stay, and those right behind them
    is_degraded: bool = False  # some memories could not be found by their meaning


@dataclass(frozen=True, slots=True)
class Plan:
    """What would go."""

    memories: Sequence[Planned] = ()  # those that are shown
    counts: Mapping[MemoryKind, int] = field(default_factory=dict)  # of all that would go
    near: Sequence[Planned] = ()  # turns of another one, or right behind them, that stay
    is_degraded: bool = False  # as in `Choice`


@dataclass(frozen=True, slots=True)
class ErasureSettings:
    """How erasures are carried out."""

    page_size_default: Count = 50  # erasures of a page where no size is asked for
    page_size_max: Count = 200  # erasures of a page; more is cut to it
    memories_max: Annotated[int, Ge(1), Le(1_000)] = 1_000  # memories named in one Erase or chosen by one Forget
    audited_max: Count = 200  # memories that the audit entry of an erasure names; those beyond it are counted in it
    plan_turns_max: Count = 10_000  # turns of a dry run whose facts and notes are counted
    previews_max: Count = 100  # memories that a plan shows
    preview_chars: Count = 200  # of each of them
    chunk_items: Annotated[int, Ge(1), Le(1_000)] = 1_000  # interactions that one call of a tier names
    response_seconds: Seconds = 2.0  # how long a response waits for the erasure to be complete
    step_timeout_seconds: Seconds = 30.0  # deadline of one call of a tier
    poll_seconds: Seconds = 1.0  # how often erasures that another gateway accepted are looked for
    pending_poll_seconds: Seconds = 0.5  # how often to look for users that other gateways erase: reads hide them
    watch_seconds: Seconds = 0.02  # how often a response that waits looks at its erasure
    concurrent_max: Count = 2  # erasures that one gateway carries out at once; each holds a connection
    retry: RetryPolicy = field(default_factory=RetryPolicy)  # when a failed step is repeated; it is never given up
    backup_retention: DurationOrNone = timedelta(0)  # how long the operator keeps backups; 0: not known
    plan_ttl: Duration = timedelta(hours=1)  # how long the token of a dry run is valid
    unconfirmed_max: Count = 50  # memories that Forget erases without the token of a dry run
    query_chars_max: Count = 1_024  # of a query of Forget or Correct
    text_chars_max: Count = 8_000  # of the right text of Correct
    corrected_max: Annotated[int, Ge(1), Le(20)] = 20  # statements that one Correct marks
    candidates_max: Annotated[int, Ge(10), Le(200)] = 200  # memories that a query is compared with by similarity
    follow_up_turns: Annotated[int, Ge(0), Le(20)] = 4
    """How many turns behind one that Forget takes another may stand that goes on about it; 0: none."""
    conversation_turns_max: Annotated[int, Ge(1), Le(1_000)] = 200  # of a conversation that Forget takes as a whole
    similarity: Rules = field(default_factory=Rules)  # bounds of what similarity may choose
