"""What a query may mean: turns of the log with its words, and what Recall finds for it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC

from mneme.agentic.v1 import notes_pb2
from mneme.episodic.v1 import episodic_pb2
from mneme.semantic.v1 import facts_pb2
from services.common.auth import Principal
from services.common.clock import Clock
from services.common.convert import scope_from_proto
from services.common.embedding.embedder import Embedder
from services.common.embedding.serving import pinned
from services.common.scope import GLOBAL_SCOPE, Scope
from services.gateway.erasure import exceptions
from services.gateway.erasure.called import is_said_of, name_of_thing, names_it
from services.gateway.erasure.followups import follow_ups
from services.gateway.erasure.identities import Asked, Identities, Narrowed, without_kept
from services.gateway.erasure.matching import choose, reason_of
from services.gateway.erasure.model import Choice, ErasureSettings, Planned
from services.gateway.erasure.others import is_of_others
from services.gateway.erasure.queries import Wanted, read, read_all
from services.gateway.erasure.roles import name_of_role
from services.gateway.erasure.store import LoggedTurns
from services.gateway.erasure.wording import Chosen
from services.gateway.grants.model import MemoryKind
from services.gateway.recall.answer.assembly import NOTHING
from services.gateway.recall.model import RecallQuery
from services.gateway.recall.pipeline import RecallPipeline


class Candidates:
    """Finds the memories that a query in plain words means."""

    def __init__(
        self,
        turns: LoggedTurns,
        recall: RecallPipeline,
        embedder: Embedder,
        clock: Clock,
        settings: ErasureSettings,
    ) -> None:
        """Reads the log by words, and recalls by similarity."""
        self._turns = turns
        self._recall = recall
        self._embedder = embedder
        self._clock = clock
        self._settings = settings
        self._identities = Identities(turns, settings)

    async def chosen(
        self, principal: Principal, user_id: str, query: str, *, reader: Scope | None = None, seconds_left: float
    ) -> Choice:
        """The memories that the query means, by the rules of `matching`; none where it names nothing.

        With a `reader` only those that belong to its place and to places above it.
        """
        query, kept = exceptions.split(query)
        parts = [Asked(text, wanted, kept) for text, wanted in read_all(query) if not wanted.is_empty]
        if not parts:
            return Choice()
        recalled, is_degraded = await self._recalled(principal, user_id, query, reader, seconds_left=seconds_left)
        choices = [await self._chosen_by(principal, user_id, asked, recalled, reader=reader) for asked in parts]
        memories = _distinct(memory for choice in choices for memory in choice.memories)
        ids = {(memory.kind, memory.memory_id) for memory in memories}
        near = _distinct(memory for choice in choices for memory in choice.near)
        near = [memory for memory in near if (memory.kind, memory.memory_id) not in ids]
        return Choice(memories, near, is_degraded)

    async def _chosen_by(
        self,
        principal: Principal,
        user_id: str,
        asked: Asked,
        recalled: Sequence[Planned],
        *,
        reader: Scope | None,
    ) -> Choice:
        """The memories that one thing named in a query means."""
        query, wanted = asked.text, asked.wanted
        limit = self._settings.memories_max + 1
        logged, told = await asyncio.gather(
            self._turns.turns_with(principal.tenant_id, user_id, wanted.terms, reader=reader, limit=limit),
            self._turns.turns_with(principal.tenant_id, user_id, wanted.told_terms, reader=reader, limit=limit),
        )
        found = _distinct((*recalled, *told, *logged))
        others = [planned for planned in found if is_of_others(wanted, planned.text)]
        found = [planned for planned in found if planned not in others]
        chosen = await self._chosen_of(wanted, query, found)
        by_name = name_of_role(wanted, [planned.text for planned in found])
        if by_name is not None:
            named = await self._turns.turns_with(
                principal.tenant_id, user_id, by_name.terms, reader=reader, limit=limit
            )
            found = _distinct((*found, *named))
            chosen = _distinct((*chosen, *await self._chosen_of(by_name, query, found)))
            asked = replace(asked, wanted=by_name)
        chosen = _distinct((*chosen, *await self._called(principal.tenant_id, user_id, wanted, found, reader)))
        narrowed = await self._identities.narrowed(principal.tenant_id, user_id, asked, found, chosen, reader=reader)
        narrowed = narrowed.beside(others)
        return await self._with_follow_ups(principal.tenant_id, user_id, asked, narrowed, reader)

    async def _called(
        self, tenant_id: str, user_id: str, wanted: Wanted, found: Sequence[Planned], reader: Scope | None
    ) -> Sequence[Planned]:
        """What is said of a thing of the speaker's by its name."""
        by_name = name_of_thing(wanted, [planned.text for planned in found])
        if by_name is None:
            return ()
        named = await self._turns.turns_with(
            tenant_id, user_id, by_name.terms, reader=reader, limit=self._settings.memories_max + 1
        )
        said = [p for p in _distinct((*found, *named)) if is_said_of(by_name, p.text) or names_it(by_name, p.text)]
        return [replace(planned, reason=Chosen.NAME) for planned in said]

    async def _chosen_of(self, wanted: Wanted, query: str, found: Sequence[Planned]) -> list[Planned]:
        if not found:
            return []
        embedder = pinned(self._embedder)
        question = await embedder.embed_query(query)
        similarities = (await embedder.embed_documents([planned.text for planned in found])) @ question
        indices = choose(wanted, [p.text for p in found], similarities.tolist(), self._settings.similarity)
        return [replace(found[index], reason=reason_of(wanted, found[index].text)) for index in indices]

    async def _with_follow_ups(
        self, tenant_id: str, user_id: str, asked: Asked, narrowed: Narrowed, reader: Scope | None
    ) -> Choice:
        """What was chosen, and what goes on about it in its conversations, or all of these where the query says so."""
        wanted, chosen, left = asked.wanted, narrowed.memories, narrowed.left
        ids = [planned.memory_id for planned in chosen if planned.kind is MemoryKind.EPISODE]
        distance = self._settings.conversation_turns_max if wanted.is_talk else self._settings.follow_up_turns
        if not ids or not distance:
            return Choice(chosen, left)
        around = await self._turns.turns_around(
            tenant_id,
            user_id,
            ids,
            before=distance if wanted.is_talk else 0,
            behind=distance,
            reader=reader,
            limit=self._settings.memories_max + 1,
        )
        if wanted.is_talk:
            talked = [replace(planned, reason=Chosen.CONVERSATION) for planned, _ in around]
            whole = without_kept(asked.kept, Narrowed(_distinct((*chosen, *talked)), []))
            return Choice(whole.memories, _distinct((*left, *whole.left)))
        # Where it is only open of which thing a turn is, what it follows decides.
        apart = narrowed.apart | {planned.memory_id for planned in left if planned.reason is not Chosen.UNSURE}
        going_on = set(
            follow_ups(
                frozenset() if wanted.numbers else wanted.topics,
                set(ids),
                [line for _, line in around],
                distance,
                is_of_person=wanted.about_name,
                names={part for name in wanted.names for part in name},
                head="" if wanted.numbers else wanted.head,
                apart=apart,
            )
        )
        going = [replace(p, reason=Chosen.FOLLOW_UP) for p, line in around if line.turn_id in going_on]
        further = without_kept(asked.kept, Narrowed(going, left))
        near = [
            replace(planned, reason=Chosen.OWN_SUBJECT)
            for planned, line in around
            if line.turn_id not in going_on and line.turn_id not in ids
        ]
        return Choice(_distinct((*chosen, *further.memories)), _distinct((*further.left, *near)))

    async def turns(
        self, principal: Principal, user_id: str, query: str, *, reader: Scope | None = None, seconds_left: float
    ) -> list[str]:
        """Ids of turns that may say what a query says; with a `reader` as `chosen`."""
        logged, (recalled, _) = await asyncio.gather(
            self._turns.turns_with(
                principal.tenant_id, user_id, read(query).terms, reader=reader, limit=self._settings.candidates_max
            ),
            self._recalled(principal, user_id, query, reader, seconds_left=seconds_left),
        )
        turns = [planned.memory_id for planned in (*recalled, *logged) if planned.kind is MemoryKind.EPISODE]
        return list(dict.fromkeys(turns))

    async def _recalled(
        self, principal: Principal, user_id: str, query: str, reader: Scope | None, *, seconds_left: float
    ) -> tuple[list[Planned], bool]:
        """What Recall finds for a query, and whether it is degraded; the audit log alone learns of it.

        What is to be forgotten or corrected is no question of the user's: suggestions would bring it up again as a
        gap, and its candidates would count as used together.
        """
        asked = RecallQuery(
            user_id=user_id,
            text=query,
            limit=self._settings.candidates_max,
            as_of=self._clock.now(),
            include_tentative_facts=True,
            scope=reader or GLOBAL_SCOPE,
        )
        recalled = await self._recall.run(principal, asked, deadline_seconds=seconds_left, records=False)
        await self._recall.record(
            principal,
            replace(asked, text=""),
            recalled.recall_id,
            NOTHING,
            (),
            seconds_left=seconds_left,
            also_read=[
                *(memory.memory_id for memory in recalled.memories),
                *(fact.memory_id for fact in recalled.facts),
                *(note.memory_id for note in recalled.notes),
            ],
        )
        turns = [
            Planned(
                MemoryKind.EPISODE,
                memory.memory_id,
                memory.episode.query or memory.episode.response,
                memory.episode.time.ToDatetime(UTC),
            )
            for memory in recalled.memories
            if is_seen(memory.episode, reader)
        ]
        facts = [
            Planned(
                MemoryKind.FACT,
                fact.memory_id,
                fact.fact.text,
                fact.fact.last_confirmed_time.ToDatetime(UTC),
                sources=tuple(fact.fact.derived_from),
            )
            for fact in recalled.facts
            if is_seen(fact.fact, reader)
        ]
        notes = [
            Planned(
                MemoryKind.NOTE,
                note.memory_id,
                note.note.content,
                note.note.time.ToDatetime(UTC),
                sources=tuple(note.note.derived_from),
            )
            for note in recalled.notes
            if is_seen(note.note, reader)
        ]
        return [*turns, *facts, *notes], recalled.is_degraded


def is_seen(memory: episodic_pb2.Episode | facts_pb2.Fact | notes_pb2.Note, reader: Scope | None) -> bool:
    """Whether a memory belongs to the reader's place or to one above it: what was granted to it is not its own."""
    if reader is None:
        return True
    return reader.sees(scope_from_proto(memory.scope, present=memory.HasField("scope"), field_path="scope"))


def _distinct(memories: Iterable[Planned]) -> list[Planned]:
    """Each memory once, as it stands first."""
    found: dict[tuple[MemoryKind, str], Planned] = {}
    for planned in memories:
        found.setdefault((planned.kind, planned.memory_id), planned)
    return list(found.values())
