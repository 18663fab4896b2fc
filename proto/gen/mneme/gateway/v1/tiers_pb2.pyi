import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Tier(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TIER_UNSPECIFIED: _ClassVar[Tier]
    TIER_SESSION: _ClassVar[Tier]
    TIER_EPISODIC: _ClassVar[Tier]
    TIER_SEMANTIC: _ClassVar[Tier]
    TIER_AGENTIC: _ClassVar[Tier]
    TIER_PROFILE: _ClassVar[Tier]

class TierState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TIER_STATE_UNSPECIFIED: _ClassVar[TierState]
    TIER_STATE_RESPONDED: _ClassVar[TierState]
    TIER_STATE_SKIPPED: _ClassVar[TierState]
    TIER_STATE_FAILED: _ClassVar[TierState]

class MemoryKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MEMORY_KIND_UNSPECIFIED: _ClassVar[MemoryKind]
    MEMORY_KIND_EPISODE: _ClassVar[MemoryKind]
    MEMORY_KIND_FACT: _ClassVar[MemoryKind]
    MEMORY_KIND_NOTE: _ClassVar[MemoryKind]
TIER_UNSPECIFIED: Tier
TIER_SESSION: Tier
TIER_EPISODIC: Tier
TIER_SEMANTIC: Tier
TIER_AGENTIC: Tier
TIER_PROFILE: Tier
TIER_STATE_UNSPECIFIED: TierState
TIER_STATE_RESPONDED: TierState
TIER_STATE_SKIPPED: TierState
TIER_STATE_FAILED: TierState
MEMORY_KIND_UNSPECIFIED: MemoryKind
MEMORY_KIND_EPISODE: MemoryKind
MEMORY_KIND_FACT: MemoryKind
MEMORY_KIND_NOTE: MemoryKind

class TierReport(_message.Message):
    __slots__ = ("tier", "state", "reason", "duration", "candidate_count")
    TIER_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    DURATION_FIELD_NUMBER: _ClassVar[int]
    CANDIDATE_COUNT_FIELD_NUMBER: _ClassVar[int]
    tier: Tier
    state: TierState
    reason: str
    duration: _duration_pb2.Duration
    candidate_count: int
    def __init__(self, tier: _Optional[_Union[Tier, str]] = ..., state: _Optional[_Union[TierState, str]] = ..., reason: _Optional[str] = ..., duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., candidate_count: _Optional[int] = ...) -> None: ...
