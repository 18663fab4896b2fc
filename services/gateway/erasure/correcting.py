"""Correcting: what is right becomes a turn of its own, and what said otherwise is marked."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

from mneme.agentic.v1 import notes_pb2
from mneme.common.v1 import common_pb2
from mneme.episodic.v1 import episodic_pb2
from mneme.semantic.v1 import facts_pb2
from services.common.auth import Principal
from services.common.convert import scope_from_proto
from services.common.embedding.embedder import Embedder
from services.common.embedding.serving import pinned
from services.common.errors import AlreadyExists, NotFound
from services.common.scope import Scope
from services.common.text import split_sentences
from services.common.turns import MessageRole, Turn
from services.common.values.beside import says_more
from services.gateway.erasure.candidates import Candidates, is_seen
from services.gateway.erasure.marking import Corrected, called_wrong, corrected_by, mark, metadata_of, text_of
from services.gateway.erasure.model import CorrectCommand, EarlierCorrection, ErasureSettings
from services.gateway.erasure.statements import (
    Statement,
    is_covered,
    nearest_statements,
    stated_in,
    wrong_statements,
)
from services.gateway.erasure.store import EarlierCorrections
from services.gateway.grants.model import MemoryKind
from services.gateway.journal.model import Appended, Caller, RememberCommand
from services.gateway.remembering import Remembering
from services.gateway.upstream import Upstream
from services.gateway.worker import worker_principal

_IMPORTANCE = 0.8
"""Of a correction: the user cared to make it."""


@dataclass(frozen=True, slots=True)
class WrongStatement:
    """A statement that is marked, or would be."""

    corrected: Corrected
    text: str


@dataclass(frozen=True, slots=True)
class Correction:
    """What came of a correction."""

    statements: Sequence[WrongStatement]
    appended: Appended | None = None  # None for a dry run


@dataclass(frozen=True, slots=True)
class _Found:
    """What is wrong."""

    episodes: Sequence[episodic_pb2.Episode]
    said_wrong: str  # the wrong statement in words; empty: the turns as wholes, as far as the right text goes
    fact: facts_pb2.Fact | None = None  # that is named
    note: notes_pb2.Note | None = None  # that is named

    def words(self, statement: str) -> tuple[int, ...] | None:
        """Which words of a statement are called wrong; None where none are: a note may say more than what is wrong.

        Of a fact that is its object, where it has one: "lives in Leeds with their dog Rex" is not wrong about the dog.
        """
        if not self.said_wrong or self.note is not None:
            return None
        of_object = called_wrong(statement, self.fact.object) if self.fact is not None else ()
        return of_object or called_wrong(statement, self.said_wrong)


class Correcting:
    """Finds what is wrong, remembers what is right, and marks the former."""

    def __init__(
        self,
        upstream: Upstream,
        remembering: Remembering,
        candidates: Candidates,
        earlier: EarlierCorrections,
        embedder: Embedder,
        settings: ErasureSettings,
    ) -> None:
        """The right text goes the way of all turns; `earlier` knows what was corrected."""
        self._earlier = earlier
        self._upstream = upstream
        self._remembering = remembering
        self._candidates = candidates
        self._embedder = embedder
        self._settings = settings

    async def correct(self, principal: Principal, command: CorrectCommand, *, seconds_left: float) -> Correction:
        """Makes the right text durable and marks what said otherwise.

        Raises:
            NotFound: Nothing said so; nothing is written.
            InvalidArgument: The request id was used before with another request.
        """
        caller = Caller(principal.tenant_id, principal.principal_id)
        if not command.dry_run:
            earlier = await self._earlier.earlier_correction(caller, command.request_id, command.digest)
            if earlier is not None:
                return await self._repeated(principal, command, earlier, seconds_left=seconds_left)
        found = await self._found(principal, command, seconds_left=seconds_left / 2)
        wrong = await self._wrong(found, command)
        if not wrong and found.fact is None and found.note is None:
            raise NotFound("statement", "")
        if command.dry_run:
            return Correction(wrong)
        corrected = [one.corrected for one in wrong]
        appended = await self._remembering.remember(principal, caller, _turn(command, found, corrected))
        if appended.replayed:  # an equal call at the same time was faster, and may have found other statements
            earlier = await self._earlier.earlier_correction(caller, command.request_id, command.digest)
            if earlier is not None:
                return await self._repeated(principal, command, earlier, seconds_left=seconds_left / 2)
        own = worker_principal(principal.tenant_id)
        await self._mark(own, command, appended, corrected, timeout_seconds=seconds_left / 2)
        await self._update(own, command, found, is_marked=bool(corrected), timeout_seconds=seconds_left / 2)
        return Correction(wrong, appended)

    async def _repeated(
        self, principal: Principal, command: CorrectCommand, earlier: EarlierCorrection, *, seconds_left: float
    ) -> Correction:
        """Completes what a crash interrupted: what was chosen then, and nothing that was said since."""
        if earlier.metadata is None:
            return Correction((), earlier.appended)
        own, corrected = worker_principal(principal.tenant_id), corrected_by(earlier.metadata)
        await self._mark(own, command, earlier.appended, corrected, timeout_seconds=seconds_left / 2)
        if command.memory is not None and command.memory[0] is not MemoryKind.EPISODE:
            with contextlib.suppress(NotFound):  # it was erased since
                named = await self._found(principal, command, seconds_left=seconds_left / 2)
                await self._update(own, command, named, is_marked=bool(corrected), timeout_seconds=seconds_left / 2)
        return Correction((), earlier.appended)

    async def _mark(
        self,
        own: Principal,
        command: CorrectCommand,
        appended: Appended,
        corrected: Sequence[Corrected],
        *,
        timeout_seconds: float,
    ) -> None:
        if not corrected:
            return
        (standing_id,) = appended.interaction_ids
        await mark(
            self._upstream,
            own,
            command.user_id,
            standing_id,
            corrected,
            right=command.text,
            timeout_seconds=timeout_seconds,
        )

    async def _found(self, principal: Principal, command: CorrectCommand, *, seconds_left: float) -> _Found:
        own, user_id = worker_principal(principal.tenant_id), command.user_id
        if command.memory is None:
            ids = await self._candidates.turns(
                principal, user_id, command.query, reader=command.reader, seconds_left=seconds_left
            )
            return _Found(await self._episodes(own, command, ids, seconds_left), command.query)
        kind, memory_id = command.memory
        if kind is MemoryKind.FACT:
            fact = await self._upstream.facts.get(
                own, facts_pb2.GetFactRequest(user_id=user_id, fact_id=memory_id), timeout_seconds=seconds_left
            )
            _check_seen(fact, memory_id, command.reader)
            episodes = await self._episodes(own, command, fact.derived_from, seconds_left)
            return _Found(episodes, _wrong_text(fact, command.text), fact=fact)
        if kind is MemoryKind.NOTE:
            note = await self._upstream.notes.get(
                own, notes_pb2.GetNoteRequest(user_id=user_id, note_id=memory_id), timeout_seconds=seconds_left
            )
            _check_seen(note, memory_id, command.reader)
            # One that says what is right already was corrected by an earlier use of the request.
            derived_from = () if note.content == command.text else note.derived_from
            episodes = await self._episodes(own, command, derived_from, seconds_left)
            return _Found(episodes, note.content, note=note)
        episodes = await self._episodes(own, command, [memory_id], seconds_left)
        if not episodes:
            raise NotFound("memory", memory_id)
        return _Found(episodes, "")

    async def _episodes(
        self, own: Principal, command: CorrectCommand, ids: Sequence[str], timeout_seconds: float
    ) -> Sequence[episodic_pb2.Episode]:
        if not ids:
            return ()
        request = episodic_pb2.BatchGetEpisodesRequest(user_id=command.user_id, episode_ids=ids)
        found = await self._upstream.episodic.batch_get(own, request, timeout_seconds=timeout_seconds)
        return [episode for episode in found.episodes if is_seen(episode, command.reader)]

    async def _wrong(self, found: _Found, command: CorrectCommand) -> list[WrongStatement]:
        """The statements to mark, the most recent turns first where there are too many."""
        texts = [text_of(episode) for episode in found.episodes]
        if command.whole_turn:
            return [WrongStatement(Corrected(found.episodes[0].episode_id), texts[0])]
        statements = [
            Statement(turn, number, text, _person(found, turn, text))
            for turn, said in enumerate(texts)
            for number, text in enumerate(split_sentences(said))
        ]
        if not statements:
            return []
        chosen = await self._chosen(found, command, statements)
        wrong = []
        said_wrong = found.said_wrong or command.text
        for one in chosen[: self._settings.corrected_max]:
            is_only = sum(other.turn == one.turn for other in statements) == 1
            said, words = f"{said_wrong} {command.text}", found.words(one.text)
            is_whole = is_only and is_covered(one.text, said) and (words is None or not says_more(one.text, said))
            interaction_id = found.episodes[one.turn].episode_id
            part = Corrected(interaction_id, one.number, words)
            wrong.append(WrongStatement(Corrected(interaction_id) if is_whole else part, one.text))
        return wrong

    async def _chosen(
        self, found: _Found, command: CorrectCommand, statements: Sequence[Statement]
    ) -> Sequence[Statement]:
        """The wrong ones among the statements of turns."""
        rules = self._settings.similarity
        # A turn or a note may say more than what is wrong: of that, what is most like the right text.
        of_memory = statements if not found.said_wrong else []
        if found.note is not None:
            of_memory = stated_in(found.said_wrong, statements)
        if of_memory:
            similarities = await self._similarities(command.text, [one.text for one in of_memory])
            return nearest_statements(of_memory, similarities, rules)
        similarities = await self._similarities(found.said_wrong, [one.text for one in statements])
        return wrong_statements(found.said_wrong, command.text, statements, similarities, rules)

    async def _similarities(self, query: str, texts: Sequence[str]) -> list[float]:
        embedder = pinned(self._embedder)
        question = await embedder.embed_query(query)
        similarities: list[float] = ((await embedder.embed_documents(texts)) @ question).tolist()
        return similarities

    async def _update(
        self, own: Principal, command: CorrectCommand, found: _Found, *, is_marked: bool, timeout_seconds: float
    ) -> None:
        """Has a named fact or note say what is right itself where no mark of a turn reaches it."""
        request_id = f"correct {command.request_id}"[:128]
        fact = found.fact
        if fact is not None and (is_marked or fact.merged_into_fact_id):
            fact = await self._unmarked(own, command.user_id, fact, timeout_seconds=timeout_seconds)
        if fact is not None:
            await self._update_fact(own, command, fact, request_id, timeout_seconds=timeout_seconds)
        if found.note is not None and not is_marked:
            await self._upstream.notes.update(
                own,
                notes_pb2.UpdateNoteRequest(
                    request_id=request_id,
                    user_id=command.user_id,
                    note_id=found.note.note_id,
                    content=command.text,
                    correction=True,
                ),
                timeout_seconds=timeout_seconds,
            )

    async def _unmarked(
        self, own: Principal, user_id: str, fact: facts_pb2.Fact, *, timeout_seconds: float
    ) -> facts_pb2.Fact | None:
        """A fact that the marks of its turns did not end, or what it was merged into; None where they did.

        They end a fact that was read in a sentence. Of one that a caller stated no sentence is known.
        """
        while True:
            request = facts_pb2.GetFactRequest(user_id=user_id, fact_id=fact.merged_into_fact_id or fact.fact_id)
            fact = await self._upstream.facts.get(own, request, timeout_seconds=timeout_seconds)
            if not fact.merged_into_fact_id:
                return None if fact.superseded_by else fact

    async def _update_fact(
        self, own: Principal, command: CorrectCommand, fact: facts_pb2.Fact, request_id: str, *, timeout_seconds: float
    ) -> None:
        """Has a fact say what is right; where another fact says that already, this one has never held."""
        request = facts_pb2.UpdateFactRequest(
            request_id=request_id, user_id=command.user_id, fact_id=fact.fact_id, text=command.text
        )
        request.update_mask.paths.extend(("text", "object"))  # the wrong value goes; the right one is read in the turn
        try:
            await self._upstream.facts.update(own, request, timeout_seconds=timeout_seconds)
        except AlreadyExists:
            begin = fact.valid_from_time if fact.HasField("valid_from_time") else fact.first_observed_time
            request = facts_pb2.UpdateFactRequest(
                request_id=f"{request_id[:124]} end", user_id=command.user_id, fact_id=fact.fact_id, valid_to_time=begin
            )
            await self._upstream.facts.update(own, request, timeout_seconds=timeout_seconds)


def _wrong_text(fact: facts_pb2.Fact, right: str) -> str:
    """What a fact says, or said before an earlier use of the request corrected it."""
    corrected = [v.text for v in fact.versions if v.reason == facts_pb2.FACT_VERSION_REASON_CORRECTED]
    return corrected[-1] if fact.text == right and corrected else fact.text


def _person(found: _Found, turn: int, statement: str) -> str:
    """Who said a statement; nobody where that was an assistant or a tool.

    A fact that is named says "the user lives in Leeds" of a speaker without a name who says "I live in Leeds".
    """
    episode = found.episodes[turn]
    if episode.role != common_pb2.MESSAGE_ROLE_USER:
        return ""
    is_named = found.fact is None or found.fact.subject.casefold() in statement.casefold()
    return episode.speaker or ("" if found.fact is None or is_named else found.fact.subject)


def _check_seen(memory: facts_pb2.Fact | notes_pb2.Note, memory_id: str, reader: Scope | None) -> None:
    if not is_seen(memory, reader):
        raise NotFound("memory", memory_id)


def _turn(command: CorrectCommand, found: _Found, corrected: Sequence[Corrected]) -> RememberCommand:
    """The right text, as said where the first wrong statement was said, by the same person."""
    first = next((e for e in found.episodes if corrected and e.episode_id == corrected[0].interaction_id), None)
    is_person = first is not None and first.role == common_pb2.MESSAGE_ROLE_USER
    turn = Turn(
        role=MessageRole.USER,
        content=command.text,
        time=command.time,
        speaker=first.speaker if first is not None and is_person else "",
        importance=_IMPORTANCE,
        metadata=metadata_of(corrected) if corrected else {},
    )
    place = first if first is not None else (found.fact or found.note)
    has_scope = place is not None and place.HasField("scope")
    return RememberCommand(
        user_id=command.user_id,
        conversation_id=first.conversation_id if first is not None else "corrections",
        turns=(turn,),
        scope=scope_from_proto(
            place.scope if place is not None else common_pb2.Scope(), present=has_scope, field_path="scope"
        ),
        request_id=command.request_id,
        digest=command.digest,
    )
