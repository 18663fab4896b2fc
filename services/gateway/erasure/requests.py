"""From the requests of ErasureService to commands: checks every field and names the wrong ones."""

from __future__ import annotations

from datetime import datetime

from mneme.gateway.v1 import erasure_pb2, tiers_pb2
from services.common.convert import moment, scope_from_proto
from services.common.errors import InvalidArgument
from services.common.idempotency.requests import request_digest
from services.common.scope import Scope
from services.common.validation import Violations
from services.gateway.erasure.forgetting import ForgetCommand
from services.gateway.erasure.model import CorrectCommand, EraseCommand, ErasureSettings, Target, TargetKind
from services.gateway.grants.model import MemoryKind

_KINDS = {
    "memories": TargetKind.MEMORIES,
    "conversation_id": TargetKind.CONVERSATION,
    "scope": TargetKind.SCOPE,
    "all_of_user": TargetKind.USER,
    "all_of_tenant": TargetKind.TENANT,
}


class ErasureRequestReader:
    """Reads requests; raises `InvalidArgument` with all that is wrong in one."""

    def __init__(self, settings: ErasureSettings, *, id_chars_max: int) -> None:
        """Checks against these limits."""
        self._settings = settings
        self._id_chars_max = id_chars_max

    def erase(self, request: erasure_pb2.EraseRequest) -> EraseCommand:
        """What to erase."""
        violations = Violations()
        self._id(violations, "request_id", request.request_id, required=not request.dry_run)
        name = request.WhichOneof("target")
        kind = _KINDS.get(name or "")
        if kind is None:
            violations.add("target", "is required")
        if kind is TargetKind.TENANT:
            if request.user_id:
                violations.add("user_id", "must be empty with all_of_tenant")
        else:
            self._id(violations, "user_id", request.user_id)
        if name in ("all_of_user", "all_of_tenant") and not getattr(request, name):
            violations.add(name, "must be true")
        if kind is TargetKind.CONVERSATION:
            self._id(violations, "conversation_id", request.conversation_id)
        memories = self._memories(violations, request) if kind is TargetKind.MEMORIES else ()
        scope = self._scope(violations, request) if kind is TargetKind.SCOPE else None
        violations.raise_if_any()
        target = Target(
            kind=kind or TargetKind.MEMORIES,
            user_id=request.user_id,
            memories=memories,
            conversation_id=request.conversation_id,
            scope=scope,
            with_nested=request.scope.with_nested,
        )
        return EraseCommand(request.request_id, request_digest(request), target)

    def forget(self, request: erasure_pb2.ForgetRequest) -> ForgetCommand:
        """What is to be forgotten."""
        violations = Violations()
        self._id(violations, "request_id", request.request_id, required=not request.dry_run)
        self._id(violations, "user_id", request.user_id)
        violations.text(
            "query", request.query, chars_max=self._settings.query_chars_max, required=not request.plan_token
        )
        if request.plan_token and (request.query or request.dry_run):
            violations.add("plan_token", "must stand without a query and without dry_run")
        reader = _reader(violations, request)
        violations.raise_if_any()
        return ForgetCommand(
            user_id=request.user_id,
            request_id=request.request_id,
            digest=request_digest(request),
            query=request.query,
            plan_token=request.plan_token,
            dry_run=request.dry_run,
            reader=reader,
        )

    def correct(self, request: erasure_pb2.CorrectRequest, *, now: datetime) -> CorrectCommand:
        """What is wrong, and what is right."""
        violations = Violations()
        self._id(violations, "request_id", request.request_id, required=not request.dry_run)
        self._id(violations, "user_id", request.user_id)
        violations.text("text", request.text, chars_max=self._settings.text_chars_max)
        memory = None
        if request.HasField("memory"):
            violations.uuid("memory.memory_id", request.memory.memory_id)
            if violations.enum("memory.kind", request.memory.kind, MemoryKind):
                memory = (MemoryKind(request.memory.kind), request.memory.memory_id)
        elif request.HasField("query"):
            violations.text("query", request.query, chars_max=self._settings.query_chars_max)
        else:
            violations.add("wrong", "is required")
        if request.whole_turn and request.memory.kind != tiers_pb2.MEMORY_KIND_EPISODE:
            violations.add("whole_turn", "is only for a turn")
        time = now
        if request.HasField("time"):
            try:
                time = moment(request.time, field_path="time")
            except InvalidArgument as error:
                violations.include(error)
        reader = _reader(violations, request)
        violations.raise_if_any()
        return CorrectCommand(
            user_id=request.user_id,
            request_id=request.request_id,
            digest=request_digest(request),
            memory=memory,
            query=request.query,
            text=request.text,
            time=time,
            dry_run=request.dry_run,
            whole_turn=request.whole_turn,
            reader=reader,
        )

    def erasure_id(self, request: erasure_pb2.GetErasureRequest) -> str:
        """The erasure to read."""
        violations = Violations()
        violations.uuid("erasure_id", request.erasure_id)
        violations.raise_if_any()
        return request.erasure_id

    def list_size(self, request: erasure_pb2.ListErasuresRequest) -> int:
        """The page size of a list."""
        violations = Violations()
        self._id(violations, "user_id", request.user_id, required=False)
        chosen = self._settings
        size = violations.page_size(request.page_size, default=chosen.page_size_default, maximum=chosen.page_size_max)
        violations.raise_if_any()
        return size

    def _memories(
        self, violations: Violations, request: erasure_pb2.EraseRequest
    ) -> tuple[tuple[MemoryKind, str], ...]:
        references = request.memories.memories
        limit = self._settings.memories_max
        violations.count("memories.memories", len(references), count_min=1, count_max=limit)
        found: dict[tuple[MemoryKind, str], None] = {}
        for index, reference in enumerate(references[:limit]):
            path = f"memories.memories[{index}]"
            has_id = violations.uuid(f"{path}.memory_id", reference.memory_id)
            if violations.enum(f"{path}.kind", reference.kind, MemoryKind) and has_id:
                found[MemoryKind(reference.kind), reference.memory_id] = None
        return tuple(found)

    @staticmethod
    def _scope(violations: Violations, request: erasure_pb2.EraseRequest) -> Scope | None:
        """The scope; None where it is missing or not valid: an omitted field erases nothing."""
        if not request.scope.HasField("scope"):
            violations.add("scope.scope", "is required")
            return None
        try:
            return scope_from_proto(request.scope.scope, present=True, field_path="scope.scope")
        except InvalidArgument as error:
            violations.include(error)
            return None

    def _id(self, violations: Violations, name: str, value: str, *, required: bool = True) -> None:
        violations.identifier(name, value, chars_max=self._id_chars_max, required=required)


def _reader(violations: Violations, request: erasure_pb2.ForgetRequest | erasure_pb2.CorrectRequest) -> Scope | None:
    """Where the reader stands; None where the request does not say so."""
    if not request.HasField("reader_scope"):
        return None
    try:
        return scope_from_proto(request.reader_scope, present=True, field_path="reader_scope")
    except InvalidArgument as error:
        violations.include(error)
        return None
