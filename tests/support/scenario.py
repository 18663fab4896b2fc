"""Makes the calls of clients/scenario.json for a user and prints a transcript.

Usage: python -m tests.support.scenario host:port scenario.json user
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mneme_client import (
    FactCategory,
    FeedbackValue,
    MnemeClientError,
    NoteKind,
    RecallResult,
    RememberItem,
    RememberResult,
    Role,
    SyncClient,
    Turn,
)
from mneme_client.resources import Fact

Fields = dict[str, Any]


class Scenario:
    """The calls of one user, with what later calls take from earlier responses."""

    def __init__(self, client: SyncClient, user: str) -> None:
        """Begins with the user's name alone."""
        self._client = client
        self._values = {"$user": user}

    def lines(self, step: Fields) -> list[str]:
        """Makes the call of a step and describes its response or failure, a line each."""
        text = json.dumps(step.get("with", {}))
        for name, value in self._values.items():
            text = text.replace(name, value)
        fields = {_snake(name): value for name, value in json.loads(text).items()}
        fields["timeout_seconds"] = step.get("timeoutSeconds", 30.0)
        try:
            made: str | list[str] = getattr(self, f"_{_snake(step['call'])}")(step, fields)
        except MnemeClientError as error:
            return [_describe(error)]
        return [made] if isinstance(made, str) else made

    def _remember(self, _: Fields, fields: Fields) -> str:
        turns = [_turn(turn) for turn in fields.pop("turns")]
        return self._remembered(self._client.remember(turns=turns, **fields))

    def _remember_batch(self, _: Fields, fields: Fields) -> list[str]:
        items = [
            RememberItem(item["userId"], item["conversationId"], [_turn(turn) for turn in item["turns"]])
            for item in fields["items"]
        ]
        outcomes = self._client.remember_batch(items)
        return [
            self._remembered(outcome)
            if isinstance(outcome, RememberResult)
            else f"error {outcome.code.name} {outcome.reason} {outcome.field_path}"
            for outcome in outcomes
        ]

    def _wait_until_visible(self, _: Fields, fields: Fields) -> str:
        self._client.wait_until_visible(self._values["$user"], self._values["$token"], **fields)
        return "visible"

    def _recall(self, _: Fields, fields: Fields) -> list[str]:
        return self._recalled(self._client.recall(**fields))

    def _recall_stream(self, _: Fields, fields: Fields) -> list[str]:
        tiers, whole = [], []
        for part in self._client.recall_stream(**fields):
            if part.result is not None:
                whole = self._recalled(part.result)
            elif part.tier is not None:
                tiers.append(part.tier.tier.name)
        return [" ".join(sorted(tiers)), *whole]

    def _build_context(self, step: Fields, fields: Fields) -> str:
        context = self._client.build_context(**fields)
        is_within = 0 < context.token_count <= fields["token_budget"]
        contained = step["contains"]
        return f"within budget {_bool(is_within)}, contains {contained} {_bool(contained in context.text)}"

    def _list_interactions(self, _: Fields, fields: Fields) -> list[str]:
        found = self._client.list_interactions(**fields)
        return [f"{entry.position} {entry.turn.role.name} {entry.turn.content}" for entry in found]

    def _list_conversations(self, _: Fields, fields: Fields) -> list[str]:
        found = self._client.list_conversations(**fields)
        return [f"{entry.conversation_id} {entry.interaction_count}" for entry in found]

    def _create_fact(self, _: Fields, fields: Fields) -> str:
        category = FactCategory[fields.pop("category").removeprefix("FACT_CATEGORY_")]
        fact = self._client.create_fact(category=category, **fields)
        self._values |= {"$factId": fact.fact_id, "$etag": fact.etag}
        return _fact(fact)

    def _update_fact(self, _: Fields, fields: Fields) -> str:
        return _fact(self._client.update_fact(**fields))

    def _get_fact(self, _: Fields, fields: Fields) -> str:
        return _fact(self._client.get_fact(**fields))

    def _list_facts(self, _: Fields, fields: Fields) -> list[str]:
        return _each(self._client.list_facts(**fields))

    def _delete_fact(self, _: Fields, fields: Fields) -> str:
        self._client.delete_fact(**fields)
        return "done"

    def _create_note(self, _: Fields, fields: Fields) -> str:
        note = self._client.create_note(kind=NoteKind[fields.pop("kind").removeprefix("NOTE_KIND_")], **fields).note
        return f"{note.content} {' '.join(note.tags)}"

    def _search_notes(self, _: Fields, fields: Fields) -> list[str]:
        return [hit.note.content for hit in self._client.search_notes(**fields)]

    def _feedback(self, _: Fields, fields: Fields) -> str:
        value = FeedbackValue[fields.pop("value").removeprefix("FEEDBACK_VALUE_")]
        ids = [memory["memoryId"] for memory in fields.pop("memories")]
        judged = self._client.feedback(value=value, memory_ids=ids, **fields)
        return f"{judged.memory_count} memories"

    def _remembered(self, result: RememberResult) -> str:
        self._values["$token"] = result.consistency_token or self._values["$token"]
        return f"{len(result.interactions)} turns, replayed {_bool(result.replayed)}"

    def _recalled(self, result: RecallResult) -> list[str]:
        for memory in result.memories:
            self._values["$memoryId"] = memory.memory_id
        found = [f"{memory.turn.speaker}: {memory.turn.content}" for memory in result.memories]
        return [f"degraded {_bool(result.degraded)}", *found]


def _snake(name: str) -> str:
    return re.sub("(?=[A-Z])", "_", name).lower()


def _bool(value: bool) -> str:
    return str(value).lower()


def _turn(fields: Fields) -> Turn:
    role = Role[fields["role"].removeprefix("MESSAGE_ROLE_")]
    return Turn(fields["content"], role=role, speaker=fields.get("speaker", ""))


def _fact(fact: Fact) -> str:
    return f"{fact.text} ({fact.subject} {fact.predicate} {fact.object})"


def _each(facts: Iterable[Fact]) -> list[str]:
    return [_fact(fact) for fact in facts]


def _describe(error: MnemeClientError) -> str:
    """Leaves out the reason of a deadline: whether the service or the client notices it first is chance."""
    if error.code.name == "DEADLINE_EXCEEDED":
        return f"error {error.code.name}"
    return " ".join(["error", error.code.name, error.reason, *(violation.field_path for violation in error.violations)])


def main() -> None:
    """Reads the file and makes its calls."""
    target, file, user = sys.argv[1:]
    with SyncClient(target) as client:
        scenario = Scenario(client, user)
        for step in json.loads(Path(file).read_text("utf-8")):
            for line in scenario.lines(step):
                sys.stdout.write(f"{step['call']}: {line}\n")


if __name__ == "__main__":
    main()
