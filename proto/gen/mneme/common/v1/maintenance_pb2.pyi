import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class MaintenanceJob(_message.Message):
    __slots__ = ("name", "description", "interval", "for_user", "failure_count", "stopped", "complete_time")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_FIELD_NUMBER: _ClassVar[int]
    FOR_USER_FIELD_NUMBER: _ClassVar[int]
    FAILURE_COUNT_FIELD_NUMBER: _ClassVar[int]
    STOPPED_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_TIME_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    interval: _duration_pb2.Duration
    for_user: bool
    failure_count: int
    stopped: bool
    complete_time: _timestamp_pb2.Timestamp
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., interval: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., for_user: _Optional[bool] = ..., failure_count: _Optional[int] = ..., stopped: _Optional[bool] = ..., complete_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class MaintenanceChange(_message.Message):
    __slots__ = ("action", "target", "facts")
    ACTION_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    FACTS_FIELD_NUMBER: _ClassVar[int]
    action: str
    target: str
    facts: str
    def __init__(self, action: _Optional[str] = ..., target: _Optional[str] = ..., facts: _Optional[str] = ...) -> None: ...

class MaintenanceRun(_message.Message):
    __slots__ = ("run_id", "job", "dry_run", "busy", "planned_count", "over_cap_count", "memory_count", "applied_count", "retired_count", "create_time", "undone")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    JOB_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    BUSY_FIELD_NUMBER: _ClassVar[int]
    PLANNED_COUNT_FIELD_NUMBER: _ClassVar[int]
    OVER_CAP_COUNT_FIELD_NUMBER: _ClassVar[int]
    MEMORY_COUNT_FIELD_NUMBER: _ClassVar[int]
    APPLIED_COUNT_FIELD_NUMBER: _ClassVar[int]
    RETIRED_COUNT_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    UNDONE_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    job: str
    dry_run: bool
    busy: bool
    planned_count: int
    over_cap_count: int
    memory_count: int
    applied_count: int
    retired_count: int
    create_time: _timestamp_pb2.Timestamp
    undone: bool
    def __init__(self, run_id: _Optional[str] = ..., job: _Optional[str] = ..., dry_run: _Optional[bool] = ..., busy: _Optional[bool] = ..., planned_count: _Optional[int] = ..., over_cap_count: _Optional[int] = ..., memory_count: _Optional[int] = ..., applied_count: _Optional[int] = ..., retired_count: _Optional[int] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., undone: _Optional[bool] = ...) -> None: ...
