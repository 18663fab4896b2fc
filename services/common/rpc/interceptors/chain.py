"""All interceptors of a server, in their order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from services.common.auth import Authenticator, Role
from services.common.disk import DiskWatch
from services.common.ids import IdSource
from services.common.rates import RateLimiter
from services.common.rpc.interceptors.admission import AdmissionInterceptor, AdmissionSettings
from services.common.rpc.interceptors.auth import AuthInterceptor
from services.common.rpc.interceptors.base import AroundInterceptor
from services.common.rpc.interceptors.deadline import DeadlineInterceptor
from services.common.rpc.interceptors.disk import DiskInterceptor
from services.common.rpc.interceptors.errors import ErrorInterceptor
from services.common.rpc.interceptors.log import LogInterceptor
from services.common.rpc.interceptors.metrics import MetricsInterceptor
from services.common.rpc.interceptors.rates import RateInterceptor
from services.common.rpc.interceptors.request_id import RequestIdInterceptor
from services.common.rpc.interceptors.trace import TraceInterceptor
from services.common.telemetry import state


@dataclass(frozen=True, slots=True)
class InterceptorSettings:
    """Limits of calls."""

    default_deadline_seconds: float = 10.0  # for a call that has none
    max_deadline_seconds: float = 300.0  # a longer one is cut
    admission: AdmissionSettings = field(default_factory=AdmissionSettings)
    method_deadline_seconds: Mapping[str, float] = field(default_factory=dict)  # defaults by full method name


def interceptors(
    settings: InterceptorSettings,
    authenticator: Authenticator,
    roles: Mapping[str, Role],
    ids: IdSource,
    *,
    disk: DiskWatch | None = None,
    rates: RateLimiter | None = None,
) -> list[AroundInterceptor]:
    """The interceptors, outermost first.

    Errors are turned into statuses inside of what records statuses, and outside of what raises them. Telemetry takes
    part only if it is on by now. Writes are refused while `disk`, where one is watched, is nearly full. Calls beyond
    `rates` are refused, where any are set.
    """
    telemetry: list[AroundInterceptor] = [
        *([TraceInterceptor()] if state.is_on() else ()),
        *([MetricsInterceptor()] if state.is_measured() else ()),
    ]
    return [
        RequestIdInterceptor(ids),
        *telemetry,
        LogInterceptor(),
        ErrorInterceptor(),
        DeadlineInterceptor(
            default_seconds=settings.default_deadline_seconds,
            max_seconds=settings.max_deadline_seconds,
            method_seconds=settings.method_deadline_seconds,
        ),
        AuthInterceptor(authenticator, roles),
        *([RateInterceptor(rates, roles)] if rates is not None and rates.settings.limits_any else ()),
        AdmissionInterceptor(settings.admission),
        *([DiskInterceptor(disk, roles)] if disk is not None else ()),
    ]
