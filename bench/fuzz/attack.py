"""Calls every RPC with made-up requests as one tenant, and looks at each answer for what must not be there."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import grpc
from google.protobuf import message_factory
from google.protobuf.message import Message
from google.protobuf.text_format import MessageToString

from bench.fuzz.methods import Metadata, Outcome, Served, answer_of, call
from bench.fuzz.values import Requests

CALL_SECONDS: Final = 60.0
_SHORT_SECONDS: Final = 0.02
"""Deadline of some calls, which it ends in the middle."""
_SHARE_SHORT: Final = 0.03
_SHARE_DAMAGED: Final = 0.05
_MENDS_MAX: Final = 4
"""How often a request that is refused for some of its fields is sent with other ones in their place."""
_SLOWEST: Final = 20
_FINDINGS_MAX: Final = 200
_SHOWN_CHARS: Final = 2_000
_FAULTS: Final = {
    grpc.StatusCode.INTERNAL: "INTERNAL",
    grpc.StatusCode.UNKNOWN: "UNKNOWN",
    grpc.StatusCode.UNIMPLEMENTED: "UNIMPLEMENTED",
    grpc.StatusCode.DATA_LOSS: "DATA_LOSS",
}
"""A caller's request must lead to none of these."""


@dataclass(frozen=True, slots=True)
class Door:
    """A service's address with the credential that is sent there."""

    channel: grpc.aio.Channel
    metadata: Metadata


@dataclass(frozen=True, slots=True)
class Finding:
    """An answer that must not be."""

    what: str
    """A status code, "hang" or "another tenant's data"."""
    method: str
    details: str
    request: str
    """As text, cut."""
    number: int
    """Of the call."""


@dataclass(slots=True)
class Tally:
    """What came back."""

    codes: Counter[str] = field(default_factory=Counter)
    methods: dict[str, Counter[str]] = field(default_factory=dict)
    """Codes of each method."""
    findings: list[Finding] = field(default_factory=list)
    found: int = 0
    """Findings, those beyond the first 200 too."""
    slowest: list[tuple[float, str]] = field(default_factory=list)
    """Seconds and method of the slowest calls, those first."""

    def never_answered(self) -> Sequence[str]:
        """Methods of which no call succeeded."""
        return sorted(name for name, codes in self.methods.items() if not codes["OK"])


class Attack:
    """Calls of one tenant. `canary` is a word that only another tenant has stored."""

    def __init__(self, doors: Mapping[str, Door], targets: Sequence[Served], *, seed: int, canary: str) -> None:
        """Attack the methods, each by the door of its service."""
        self._doors = doors
        self._targets = targets
        self._requests = Requests(seed)
        self._canary = canary.encode()
        self._numbers = iter(range(10**9))
        self.tally = Tally()

    async def run(self, calls: int, *, workers: int) -> None:
        """Make so many calls, some at once."""
        end = next(self._numbers) + calls
        await asyncio.gather(*(self._work(end) for _ in range(workers)))

    async def _work(self, end: int) -> None:
        while (number := next(self._numbers)) <= end:
            target = self._targets[self._requests.count(len(self._targets) - 1)]
            request = self._requests.make(target.method.input_type)
            outcome = await self._send(number, target, request)
            for _ in range(_MENDS_MAX):
                if not outcome.refused_fields or (number := next(self._numbers)) > end:
                    break
                self._requests.mend(request, outcome.refused_fields)
                outcome = await self._send(number, target, request)

    async def _send(self, number: int, target: Served, request: Message) -> Outcome:
        data = request.SerializeToString()
        if is_damaged := self._requests.chance(_SHARE_DAMAGED):
            data = self._requests.damage(data)
        seconds = _SHORT_SECONDS if self._requests.chance(_SHARE_SHORT) else CALL_SECONDS
        door = self._doors[target.at]
        outcome = await call(door.channel, target.method, data, metadata=door.metadata, seconds=seconds)
        for answer in outcome.answers:
            message = answer_of(target.method, answer)
            if message is not None:
                self._requests.learn(message)
        self._count(target, outcome)
        if what := self._fault(outcome, seconds):
            shown = _shown(target, data, is_damaged=is_damaged)
            self._note(Finding(what, target.name, outcome.details[:500], shown, number))
        return outcome

    def _fault(self, outcome: Outcome, seconds: float) -> str:
        if self._canary in outcome.details.encode() or any(self._canary in answer for answer in outcome.answers):
            return "another tenant's data"
        if outcome.code is grpc.StatusCode.DEADLINE_EXCEEDED and seconds == CALL_SECONDS:
            return "hang"
        return _FAULTS.get(outcome.code, "")

    def _count(self, target: Served, outcome: Outcome) -> None:
        self.tally.codes[outcome.code.name] += 1
        self.tally.methods.setdefault(target.name, Counter())[outcome.code.name] += 1
        slowest = sorted([*self.tally.slowest, (round(outcome.seconds, 3), target.name)], reverse=True)
        self.tally.slowest = slowest[:_SLOWEST]

    def _note(self, finding: Finding) -> None:
        self.tally.found += 1
        if len(self.tally.findings) < _FINDINGS_MAX:
            self.tally.findings.append(finding)


def _shown(target: Served, data: bytes, *, is_damaged: bool) -> str:
    if is_damaged:
        return f"damaged bytes: {data[: _SHOWN_CHARS // 2].hex()}"
    message = message_factory.GetMessageClass(target.method.input_type).FromString(data)
    return MessageToString(message, as_one_line=True)[:_SHOWN_CHARS]
