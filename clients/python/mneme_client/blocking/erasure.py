# Generated from aio/erasure.py by `make client`, not to be edited.
"""Erasing, forgetting and correcting memories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from mneme.gateway.v1 import erasure_pb2
from mneme_client import from_wire_erasure, results_erasure, to_wire
from mneme_client.blocking.operations import Operations
from mneme_client.calls import PAGE_SIZE_MAX, Call, read_one, read_page
from mneme_client.enums import MemoryKind
from mneme_client.types import Scope

_SERVICE = "/mneme.gateway.v1.ErasureService"


class ErasureOperations(Operations):
    """Takes memories away, with a receipt, and corrects them.

    An erasure is durable when the call returns. A large one may be PENDING then: `get_erasure` shows its progress.
    """

    def erase_memories(
        self,
        user_id: str,
        memory_ids: Sequence[str],
        *,
        kind: MemoryKind = MemoryKind.EPISODE,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> results_erasure.Erasure:
        """Erases turns with all that was derived from them alone, or facts or notes by themselves.

        Args:
            user_id: Whose memory.
            memory_ids: The memories, 1 to 1,000.
            kind: What they are.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.
        """
        memories = erasure_pb2.MemoryReferences(memories=to_wire.memory_references(kind, memory_ids))
        return self._erase(request_id, timeout_seconds, user_id=user_id, memories=memories)

    def erase_conversation(
        self,
        user_id: str,
        conversation_id: str,
        *,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> results_erasure.Erasure:
        """Erases a conversation: its turns, what was derived from them alone, and its session."""
        return self._erase(request_id, timeout_seconds, user_id=user_id, conversation_id=conversation_id)

    def erase_scope(
        self,
        user_id: str,
        scope: Scope,
        *,
        with_nested: bool = False,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> results_erasure.Erasure:
        """Erases all that belongs to a scope, with those below it where `with_nested`."""
        target = erasure_pb2.ScopeTarget(scope=to_wire.scope(scope), with_nested=with_nested)
        return self._erase(request_id, timeout_seconds, user_id=user_id, scope=target)

    def erase_user(
        self, user_id: str, *, request_id: str | None = None, timeout_seconds: float | None = None
    ) -> results_erasure.Erasure:
        """Erases all that is the user's."""
        return self._erase(request_id, timeout_seconds, user_id=user_id, all_of_user=True)

    def erase_tenant(
        self, *, request_id: str | None = None, timeout_seconds: float | None = None
    ) -> results_erasure.Erasure:
        """Erases all that is the tenant's. Needs the role of an administrator."""
        return self._erase(request_id, timeout_seconds, all_of_tenant=True)

    def plan_erasure(
        self,
        user_id: str,
        *,
        memory_ids: Sequence[str] = (),
        kind: MemoryKind = MemoryKind.EPISODE,
        conversation_id: str = "",
        timeout_seconds: float | None = None,
    ) -> results_erasure.ErasurePlan:
        """What an erasure of memories, of a conversation, or else of the user would take away; erases nothing."""
        request = erasure_pb2.EraseRequest(user_id=user_id, dry_run=True)
        if memory_ids:
            request.memories.memories.extend(to_wire.memory_references(kind, memory_ids))
        elif conversation_id:
            request.conversation_id = conversation_id
        else:
            request.all_of_user = True
        read = read_one("plan", from_wire_erasure.plan)
        return self._call(Call(f"{_SERVICE}/Erase", request, erasure_pb2.EraseResponse, read), timeout_seconds)

    def get_erasure(self, erasure_id: str, *, timeout_seconds: float | None = None) -> results_erasure.Erasure:
        """An erasure with its receipt as it is now."""
        request = erasure_pb2.GetErasureRequest(erasure_id=erasure_id)
        read = read_one("erasure", from_wire_erasure.erasure)
        call = Call(f"{_SERVICE}/GetErasure", request, erasure_pb2.GetErasureResponse, read)
        return self._call(call, timeout_seconds)

    def list_erasures(
        self, user_id: str = "", *, page_size: int = PAGE_SIZE_MAX, timeout_seconds: float | None = None
    ) -> Iterator[results_erasure.Erasure]:
        """Erasures with their receipts, newest first; pages are fetched as they are needed.

        Args:
            user_id: Whose. Empty: those of all users and of the whole tenant, which takes the role of an administrator.
            page_size: How many each call fetches.
            timeout_seconds: Deadline of each call.
        """
        request = erasure_pb2.ListErasuresRequest(user_id=user_id, page_size=page_size)
        read = read_page("erasures", from_wire_erasure.erasure)
        call = Call(f"{_SERVICE}/ListErasures", request, erasure_pb2.ListErasuresResponse, read)
        return self._pages(call, timeout_seconds)

    def forget(
        self,
        user_id: str,
        query: str = "",
        *,
        dry_run: bool = False,
        plan_token: str = "",
        reader_scope: Scope | None = None,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> results_erasure.ForgetResult:
        """Erases what a query in plain words means, such as "everything about my ex Dana".

        Args:
            user_id: Whose memory.
            query: What is to be forgotten.
            dry_run: Only say what would go.
            plan_token: Of a dry run, in place of a query: exactly its plan is erased.
            reader_scope: Only what belongs to this place and to places above it is chosen, not what was granted to it;
                None means all that is the user's. A plan token needs that of its dry run.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.

        Raises:
            MnemeClientError: With FAILED_PRECONDITION when so many memories would go that a dry run has to come first.
        """
        request = erasure_pb2.ForgetRequest(
            request_id=request_id or to_wire.new_request_id(),
            user_id=user_id,
            query=query,
            dry_run=dry_run,
            plan_token=plan_token,
            reader_scope=to_wire.scope(reader_scope),
        )
        call = Call(f"{_SERVICE}/Forget", request, erasure_pb2.ForgetResponse, from_wire_erasure.forget_result)
        return self._call(call, timeout_seconds)

    def correct(
        self,
        user_id: str,
        text: str,
        *,
        query: str = "",
        memory_id: str = "",
        kind: MemoryKind = MemoryKind.EPISODE,
        whole_turn: bool = False,
        time: datetime | None = None,
        dry_run: bool = False,
        reader_scope: Scope | None = None,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> results_erasure.Correction:
        """Says what is right in place of something wrong, which stays readable and is marked as superseded.

        Args:
            user_id: Whose memory.
            text: What is right.
            query: What is wrong, in words. Either this or `memory_id`.
            memory_id: The wrong turn, fact or note.
            kind: What `memory_id` is.
            whole_turn: All that the turn `memory_id` says is wrong, also what `text` does not speak of.
            time: When it was corrected; None means now.
            dry_run: Only say what would be marked.
            reader_scope: Only what belongs to this place and to places above it is corrected; None means all that is
                the user's.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.

        Raises:
            MnemeClientError: With NOT_FOUND where nothing said so; nothing is written then.
        """
        request = erasure_pb2.CorrectRequest(
            request_id=request_id or to_wire.new_request_id(),
            user_id=user_id,
            text=text,
            whole_turn=whole_turn,
            time=to_wire.optional_timestamp(time),
            dry_run=dry_run,
            reader_scope=to_wire.scope(reader_scope),
        )
        if memory_id:
            (memory,) = to_wire.memory_references(kind, [memory_id])
            request.memory.CopyFrom(memory)
        elif query:
            request.query = query
        call = Call(f"{_SERVICE}/Correct", request, erasure_pb2.CorrectResponse, from_wire_erasure.correction)
        return self._call(call, timeout_seconds)

    def _erase(self, request_id: str | None, timeout_seconds: float | None, **target: Any) -> results_erasure.Erasure:
        request = erasure_pb2.EraseRequest(request_id=request_id or to_wire.new_request_id(), **target)
        read = read_one("erasure", from_wire_erasure.erasure)
        return self._call(Call(f"{_SERVICE}/Erase", request, erasure_pb2.EraseResponse, read), timeout_seconds)
