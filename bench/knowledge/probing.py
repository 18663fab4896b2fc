"""Puts cases through the gateway and reads what its responses show."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from bench.gateway import Gateway, retried
from bench.knowledge.cases import Case, CaseTurn, Probe, Seen, Shown, holds, matches
from mneme.common.v1 import common_pb2
from mneme.gateway.v1 import context_pb2, memory_pb2, recall_pb2

_ROLES: Final = {
    "user": common_pb2.MESSAGE_ROLE_USER,
    "assistant": common_pb2.MESSAGE_ROLE_ASSISTANT,
    "tool": common_pb2.MESSAGE_ROLE_TOOL,
}
_FIRST: Final = 5
_CONTEXT_TOKENS: Final = 400
_DEEP: Final = 50
_DEEP_TOKENS: Final = 4_000
_SUPERSEDED: Final = "(superseded"
_UNTIL: Final = "until "


class CaseRunner:
    """Runs cases, each of them with users of its own."""

    def __init__(self, gateway: Gateway, run_id: str) -> None:
        """Names users by the run, so that a store may hold earlier runs."""
        self._gateway = gateway
        self._run_id = run_id
        self._ids: dict[tuple[str, int], str] = {}

    def interaction_id(self, case: Case, index: int) -> str:
        """The id of a turn that was remembered."""
        return self._ids[case.case_id, index]

    def user_id(self, case: Case, user: str) -> str:
        """The id of a case's user."""
        return f"{self._run_id}-{case.case_id}-{user}"

    async def remember(self, case: Case, *, after: bool) -> None:
        """Remembers the turns before or after the operation, in order; a repeat sends the same request ids."""
        for part, group in enumerate(_requests(case, after=after)):
            first = group[0][1]
            user_id = self.user_id(case, first.user)
            request = memory_pb2.RememberRequest(
                request_id=f"{user_id}/{'after' if after else 'before'}/{part}",
                user_id=user_id,
                conversation_id=first.conversation,
                turns=[_turn(turn) for _, turn in group],
            )
            response = await retried(lambda request=request: self._gateway.remember(request))  # type: ignore[misc]
            for (index, _), reference in zip(group, response.interactions, strict=True):
                self._ids[case.case_id, index] = reference.interaction_id

    async def failed_probes(self, case: Case) -> list[str]:
        """The questions of the probes that do not hold."""
        return [probe.question for probe in case.probes if not holds(probe, await self._seen(case, probe))]

    async def _seen(self, case: Case, probe: Probe) -> Seen:
        user_id = self.user_id(case, probe.user)
        response, context = await self._asked(user_id, probe, probe.question, _FIRST, _CONTEXT_TOKENS)
        everything: tuple[str, ...] = ()
        if probe.kind == "gone":
            asked = [probe.question, *_own_words(case, probe)]
            for query in asked:
                everything += await self._deep(user_id, probe, query)
        return Seen(
            first=(*_memories(response), *_facts(response), *_notes(response), *_lines(context)),
            facts=tuple(_facts(response)),
            everything=everything,
        )

    async def _deep(self, user_id: str, probe: Probe, query: str) -> tuple[str, ...]:
        response, context = await self._asked(user_id, probe, query, _DEEP, _DEEP_TOKENS)
        return tuple(
            shown.text for shown in (*_memories(response), *_facts(response), *_notes(response), *_lines(context))
        )

    async def _asked(
        self, user_id: str, probe: Probe, query: str, limit: int, token_budget: int
    ) -> tuple[recall_pb2.RecallResponse, context_pb2.BuildContextResponse]:
        recall = recall_pb2.RecallRequest(user_id=user_id, query=query, limit=limit)
        recall.as_of_time.FromDatetime(probe.as_of)
        context = context_pb2.BuildContextRequest(user_id=user_id, query=query, token_budget=token_budget)
        context.as_of_time.FromDatetime(probe.as_of)
        response = await retried(lambda: self._gateway.recall(recall))
        if limit == _FIRST:
            del response.facts[_FIRST:]
            del response.notes[_FIRST:]
        return response, await retried(lambda: self._gateway.build_context(context))


def _requests(case: Case, *, after: bool) -> Iterator[list[tuple[int, CaseTurn]]]:
    said = [(index, turn) for index, turn in enumerate(case.turns) if turn.is_after is after]
    for _, group in itertools.groupby(said, key=lambda item: (item[1].user, item[1].conversation)):
        yield list(group)


def _turn(turn: CaseTurn) -> common_pb2.Turn:
    message = common_pb2.Turn(role=_ROLES[turn.role], speaker=turn.speaker, content=turn.text)
    message.time.FromDatetime(turn.time)
    return message


def _own_words(case: Case, probe: Probe) -> Iterable[str]:
    """The texts of the turns that shall be gone."""
    return [turn.text for turn in case.turns if any(matches(pattern, turn.text) for pattern in probe.must_not)]


def _memories(response: recall_pb2.RecallResponse) -> Iterator[Shown]:
    for memory in response.memories:
        yield Shown(memory.turn.content, bool(memory.superseded_by))


def _facts(response: recall_pb2.RecallResponse) -> Iterator[Shown]:
    for fact in response.facts:
        yield Shown(fact.fact.text, bool(fact.superseded_by) or fact.fact.HasField("valid_to_time"))


def _notes(response: recall_pb2.RecallResponse) -> Iterator[Shown]:
    for note in response.notes:
        yield Shown(note.note.content, bool(note.superseded_by))


def _lines(context: context_pb2.BuildContextResponse) -> Iterator[Shown]:
    """The turns and lines of a context, each marked by the words of the context itself."""
    for section in context.sections:
        bodies = [turn.text for passage in section.passages for turn in passage.turns]
        for place, item in enumerate(section.items):
            body = bodies[place] if bodies else item.text.removeprefix("- ")
            yield Shown(body, _is_marked(item.text))


def _is_marked(line: str) -> bool:
    return _SUPERSEDED in line or ", superseded" in line or f"({_UNTIL}" in line or f", {_UNTIL}" in line


def shown_ids(context: context_pb2.BuildContextResponse) -> tuple[set[str], set[str]]:
    """The interactions that a context shows, and those that it shows only with a mark."""
    unmarked: set[str] = set()
    marked: set[str] = set()
    for section in context.sections:
        items: Sequence[context_pb2.ContextItem] = section.items
        for item in items:
            (marked if _is_marked(item.text) else unmarked).update(item.interaction_ids)
    return unmarked | marked, marked - unmarked
