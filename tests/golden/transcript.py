"""Calls and their answers, written down once and replayed on every set of engines.

`transcript.json` holds the calls, `answers.json` what they answered. Ids become numbers by first appearance, and what
differs from run to run (clocks, tokens, durations) is left out. `python -m tests.golden.record` writes them anew.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import grpc
from google.protobuf import descriptor_pool, json_format, message_factory
from google.protobuf.message import Message
from grpc_status import rpc_status

from bench.settling import settled
from mneme.gateway.v1 import conversations_pb2_grpc, deliveries_pb2_grpc, grants_pb2_grpc, memory_pb2_grpc
from mneme.semantic.v1 import profile_pb2_grpc
from mneme.session.v1 import session_pb2_grpc
from mneme_client import Client
from services.cli.demo_data import demo_entries
from services.cli.importers.load import import_entries

FOLDER: Final = Path(__file__).parent
ANSWERS: Final = FOLDER / "answers.json"
TOLERANCE: Final = 0.002
"""Scores may differ by so much: vectors are compared in float32, in another order of additions by each engine."""

_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_POLL_SECONDS: Final = 0.25
_CALL_SECONDS: Final = 120.0
"""Deadline of each call: of its time the gateway gives each tier a share, and reports one that was late."""
_ATTEMPTS_MAX: Final = 5
"""Of a call that only reads, while its answer is degraded: a busy machine may stop an engine for a while."""
_DEGRADED_SECONDS: Final = 5.0
_LEFT_OUT: Final = frozenset(
    {
        "consistency_token",
        "create_time",
        "decay",  # by the time since the last access
        "duration",
        "etag",
        "expire_time",
        "last_access_time",
        "last_active_time",
        "next_page_token",
        "oldest_age",
        "rank",  # of a retriever: turns of equal scores come in any order
        "access_count",
        "recall_id",
        "stages",
        "update_time",
    }
)


_STUBS: Final[dict[str, Callable[[grpc.aio.Channel], Any]]] = {
    "ConversationService": conversations_pb2_grpc.ConversationServiceStub,
    "DeliveryService": deliveries_pb2_grpc.DeliveryServiceStub,
    "GrantService": grants_pb2_grpc.GrantServiceStub,
    "MemoryService": memory_pb2_grpc.MemoryServiceStub,
    "ProfileService": profile_pb2_grpc.ProfileServiceStub,
    "SessionService": session_pb2_grpc.SessionServiceStub,
}
_PACKAGES: Final = {"ProfileService": "mneme.semantic.v1", "SessionService": "mneme.session.v1"}
"""Of services that are not the gateway's own."""


class Transcript:
    """The calls of `transcript.json` for one user of one gateway."""

    def __init__(self, target: str, user_id: str) -> None:
        """Calls the gateway at `target` for a user who has no memories yet."""
        self._target = target
        self._user_id = user_id
        self._numbers: dict[str, str] = {}

    async def replay(self) -> list[dict[str, Any]]:
        """Makes the calls one after the other, and returns the answers that depend on nothing but the calls."""
        steps = json.loads((FOLDER / "transcript.json").read_text("utf-8"))
        answers: list[dict[str, Any]] = []
        spread = [("grpc.lb_policy_name", "round_robin")]  # over all addresses, where a target has several
        async with (
            Client(self._target, default_timeout_seconds=_CALL_SECONDS) as client,
            grpc.aio.insecure_channel(self._target, options=spread) as channel,
        ):
            for step in steps:
                if "import" in step:
                    await import_entries(client, demo_entries(), user_id=self._user_id, on_progress=lambda _: None)
                elif "settle" in step:
                    await settled(client, poll_seconds=_POLL_SECONDS)
                else:
                    answers.append({"name": step["name"], **await self._call(channel, step)})
        return answers

    async def _call(self, channel: grpc.aio.Channel, step: dict[str, Any]) -> dict[str, Any]:
        service, method = step["call"].split("/")
        stub = _STUBS[service](channel)
        package = _PACKAGES.get(service, "mneme.gateway.v1")
        descriptor = descriptor_pool.Default().FindMessageTypeByName(f"{package}.{method}Request")
        request: Message = message_factory.GetMessageClass(descriptor)()
        json_format.ParseDict(self._filled(step["request"]), request)
        try:
            answer = await getattr(stub, method)(request, timeout=_CALL_SECONDS)
            for _ in range(_ATTEMPTS_MAX - 1):
                if not getattr(answer, "degraded", False):
                    break
                await asyncio.sleep(_DEGRADED_SECONDS)
                answer = await getattr(stub, method)(request, timeout=_CALL_SECONDS)
        except grpc.aio.AioRpcError as error:
            status = rpc_status.from_call(error)  # type: ignore[arg-type]  # an AioRpcError has what it reads
            details = [json_format.MessageToDict(detail) for detail in status.details] if status else []
            return {"code": error.code().name, "details": self._normal(details)}
        found = json_format.MessageToDict(answer, preserving_proto_field_name=True)
        return {"code": "OK", "answer": self._normal(found)}

    def _filled(self, value: Any) -> Any:
        """A request with the user and the ids that earlier answers gave."""
        if isinstance(value, dict):
            return {key: self._filled(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._filled(item) for item in value]
        if isinstance(value, str):
            ids = {f"$id:{number.removeprefix('#')}": identifier for identifier, number in self._numbers.items()}
            return ids.get(value, value.replace("$user", self._user_id))
        return value

    def _normal(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._normal(item) for key, item in sorted(value.items()) if key not in _LEFT_OUT}
        if isinstance(value, list):
            return [self._normal(item) for item in value]
        if isinstance(value, str):
            without_user = value.replace(self._user_id, "$user")
            return _UUID.sub(
                lambda found: self._numbers.setdefault(found[0], f"#{len(self._numbers) + 1}"), without_user
            )
        if isinstance(value, float):
            return round(value, 4)
        return value


def differences(found: Any, expected: Any, path: str = "") -> list[str]:
    """Where two answers differ by more than `TOLERANCE`."""
    if isinstance(found, dict) and isinstance(expected, dict):
        keys = sorted(found.keys() | expected.keys())
        return [d for key in keys for d in differences(found.get(key), expected.get(key), f"{path}.{key}")]
    if isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        pairs = enumerate(zip(found, expected, strict=True))
        return [d for index, (one, other) in pairs for d in differences(one, other, f"{path}[{index}]")]
    if isinstance(found, float | int) and isinstance(expected, float | int) and not isinstance(found, bool):
        return [] if abs(found - expected) <= TOLERANCE else [f"{path}: {found} instead of {expected}"]
    return [] if found == expected else [f"{path}: {found!r} instead of {expected!r}"]


def recorded() -> list[dict[str, Any]]:
    """The answers that were written down."""
    answers: list[dict[str, Any]] = json.loads(ANSWERS.read_text("utf-8"))
    return answers
