from __future__ import annotations

from structlog.testing import capture_logs

from services.common.log_sampling import LogSampler


class Seconds:
    """A time that tests move."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


async def test_issue_17_10_lines_are_bounded_each_second_and_the_rest_is_counted() -> None:
    seconds = Seconds()
    sampler = LogSampler("call", lines_per_second=3, seconds=seconds)
    with capture_logs() as logs:
        assert [sampler.admits("UNAUTHENTICATED") for _ in range(1_000)].count(True) == 3
        assert sampler.admits("INTERNAL")
        assert logs == []
        seconds.now += 1.0
        assert sampler.admits("UNAUTHENTICATED")
    assert logs == [
        {
            "event": "lines_suppressed",
            "log_level": "warning",
            "suppressed_event": "call",
            "reason": "UNAUTHENTICATED",
            "count": 997,
        }
    ]


async def test_the_count_is_written_once() -> None:
    sampler = LogSampler("call", lines_per_second=1, seconds=Seconds())
    with capture_logs() as logs:
        for _ in range(3):
            sampler.admits("INTERNAL")
        sampler.report()
        sampler.report()
    assert [line["count"] for line in logs] == [2]
