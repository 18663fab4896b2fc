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
    __slots__ = ("jobs", "unavailable_tiers")
    JOBS_FIELD_NUMBER: _ClassVar[int]
    UNAVAILABLE_TIERS_FIELD_NUMBER: _ClassVar[int]
    jobs: _containers.RepeatedCompositeFieldContainer[_maintenance_pb2.MaintenanceJob]
    unavailable_tiers: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, jobs: _Optional[_Iterable[_Union[_maintenance_pb2.MaintenanceJob, _Mapping]]] = ..., unavailable_tiers: _Optional[_Iterable[str]] = ...) -> None: ...

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
    __slots__ = ("user_id", "job", "page_size", "page_token")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    JOB_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    job: str
    page_size: int
    page_token: str
    def __init__(self, user_id: _Optional[str] = ..., job: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListRunsResponse(_message.Message):
    __slots__ = ("runs", "next_page_token")
    RUNS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    runs: _containers.RepeatedCompositeFieldContainer[_maintenance_pb2.MaintenanceRun]
    next_page_token: str
    def __init__(self, runs: _Optional[_Iterable[_Union[_maintenance_pb2.MaintenanceRun, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetRunRequest(_message.Message):
    __slots__ = ("user_id", "run_id", "page_size", "page_token")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    run_id: str
    page_size: int
    page_token: str
    def __init__(self, user_id: _Optional[str] = ..., run_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class GetRunResponse(_message.Message):
    __slots__ = ("run", "changes", "next_page_token")
    RUN_FIELD_NUMBER: _ClassVar[int]
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    run: _maintenance_pb2.MaintenanceRun
    changes: _containers.RepeatedCompositeFieldContainer[_maintenance_pb2.MaintenanceChange]
    next_page_token: str
    def __init__(self, run: _Optional[_Union[_maintenance_pb2.MaintenanceRun, _Mapping]] = ..., changes: _Optional[_Iterable[_Union[_maintenance_pb2.MaintenanceChange, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

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
