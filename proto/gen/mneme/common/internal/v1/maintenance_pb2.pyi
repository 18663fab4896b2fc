from mneme.common.v1 import maintenance_pb2 as _maintenance_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GetJobsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetJobsResponse(_message.Message):
    __slots__ = ("jobs",)
    JOBS_FIELD_NUMBER: _ClassVar[int]
    jobs: _containers.RepeatedCompositeFieldContainer[_maintenance_pb2.MaintenanceJob]
    def __init__(self, jobs: _Optional[_Iterable[_Union[_maintenance_pb2.MaintenanceJob, _Mapping]]] = ...) -> None: ...

class RunJobRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "job", "dry_run", "retired_max")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    JOB_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    RETIRED_MAX_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    job: str
    dry_run: bool
    retired_max: int
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., job: _Optional[str] = ..., dry_run: _Optional[bool] = ..., retired_max: _Optional[int] = ...) -> None: ...

class RunJobResponse(_message.Message):
    __slots__ = ("run", "changes")
    RUN_FIELD_NUMBER: _ClassVar[int]
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    run: _maintenance_pb2.MaintenanceRun
    changes: _containers.RepeatedCompositeFieldContainer[_maintenance_pb2.MaintenanceChange]
    def __init__(self, run: _Optional[_Union[_maintenance_pb2.MaintenanceRun, _Mapping]] = ..., changes: _Optional[_Iterable[_Union[_maintenance_pb2.MaintenanceChange, _Mapping]]] = ...) -> None: ...

class ListRunsRequest(_message.Message):
    __slots__ = ("user_id", "job", "before_run_id", "limit")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    JOB_FIELD_NUMBER: _ClassVar[int]
    BEFORE_RUN_ID_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    job: str
    before_run_id: str
    limit: int
    def __init__(self, user_id: _Optional[str] = ..., job: _Optional[str] = ..., before_run_id: _Optional[str] = ..., limit: _Optional[int] = ...) -> None: ...

class ListRunsResponse(_message.Message):
    __slots__ = ("runs",)
    RUNS_FIELD_NUMBER: _ClassVar[int]
    runs: _containers.RepeatedCompositeFieldContainer[_maintenance_pb2.MaintenanceRun]
    def __init__(self, runs: _Optional[_Iterable[_Union[_maintenance_pb2.MaintenanceRun, _Mapping]]] = ...) -> None: ...

class GetRunRequest(_message.Message):
    __slots__ = ("user_id", "run_id", "first_change", "limit")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    FIRST_CHANGE_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    run_id: str
    first_change: int
    limit: int
    def __init__(self, user_id: _Optional[str] = ..., run_id: _Optional[str] = ..., first_change: _Optional[int] = ..., limit: _Optional[int] = ...) -> None: ...

class GetRunResponse(_message.Message):
    __slots__ = ("run", "changes", "has_more")
    RUN_FIELD_NUMBER: _ClassVar[int]
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    HAS_MORE_FIELD_NUMBER: _ClassVar[int]
    run: _maintenance_pb2.MaintenanceRun
    changes: _containers.RepeatedCompositeFieldContainer[_maintenance_pb2.MaintenanceChange]
    has_more: bool
    def __init__(self, run: _Optional[_Union[_maintenance_pb2.MaintenanceRun, _Mapping]] = ..., changes: _Optional[_Iterable[_Union[_maintenance_pb2.MaintenanceChange, _Mapping]]] = ..., has_more: _Optional[bool] = ...) -> None: ...

class UndoRunRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "run_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    run_id: str
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., run_id: _Optional[str] = ...) -> None: ...

class UndoRunResponse(_message.Message):
    __slots__ = ("undone_count",)
    UNDONE_COUNT_FIELD_NUMBER: _ClassVar[int]
    undone_count: int
    def __init__(self, undone_count: _Optional[int] = ...) -> None: ...

class ResumeJobRequest(_message.Message):
    __slots__ = ("request_id", "job")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    JOB_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    job: str
    def __init__(self, request_id: _Optional[str] = ..., job: _Optional[str] = ...) -> None: ...

class ResumeJobResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
