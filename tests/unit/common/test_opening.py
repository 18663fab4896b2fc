"""A service that is started before its engines waits for them."""

import asyncio
import contextlib

import pytest

from services.common import opening
from services.common.errors import DeadlineExceeded, MnemeError, StoreUnavailable
from services.common.opening import opened


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_PAUSE_SECONDS", 0.001)


class Attempts:
    """Fails with the given errors in their order, then succeeds; what was opened and closed is noted."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.notes: list[str] = []

    async def __call__(self, stack: contextlib.AsyncExitStack) -> str:
        self.notes.append("open")
        stack.callback(self.notes.append, "close")
        if self.errors:
            raise self.errors.pop(0)
        return "tier"


async def test_spec_8_5_a_service_waits_at_its_start_for_an_engine_that_does_not_answer_yet() -> None:
    attempts = Attempts(StoreUnavailable("neo4j"), DeadlineExceeded("the graph database did not answer in time"))
    async with opened(attempts, engines={"neo4j"}, wait_seconds=60.0, stop=asyncio.Event()) as tier:
        assert tier == "tier"
        # What a failed attempt had opened was closed before the next one.
        assert attempts.notes == ["open", "close", "open", "close", "open"]
    assert attempts.notes[-1] == "close"


@pytest.mark.parametrize(
    ("error", "engines", "seconds"),
    [
        pytest.param(StoreUnavailable("neo4j"), {"neo4j"}, 0.0, id="no time is left"),
        pytest.param(StoreUnavailable("qdrant"), {"postgres"}, 60.0, id="the engine is inside the process"),
        pytest.param(StoreUnavailable("embedder"), {"postgres"}, 60.0, id="not an engine"),
        pytest.param(DeadlineExceeded("slow"), set[str](), 60.0, id="no server is configured"),
        pytest.param(ValueError("a wrong URL"), {"postgres"}, 60.0, id="waiting does not mend it"),
    ],
)
async def test_what_waiting_does_not_mend_ends_the_start_at_once(
    error: Exception, engines: set[str], seconds: float
) -> None:
    attempts = Attempts(error)
    with pytest.raises(type(error)):
        async with opened(attempts, engines=engines, wait_seconds=seconds, stop=asyncio.Event()):
            pytest.fail("it was opened")
    assert attempts.notes == ["open", "close"]


async def test_a_service_that_is_told_to_stop_waits_no_longer() -> None:
    stop = asyncio.Event()
    stop.set()
    with pytest.raises(MnemeError, match="postgres is unavailable"):
        async with opened(Attempts(StoreUnavailable("postgres")), engines={"postgres"}, wait_seconds=60.0, stop=stop):
            pytest.fail("it was opened")


async def test_an_error_inside_the_block_is_not_taken_for_one_of_the_start() -> None:
    attempts = Attempts()
    with pytest.raises(StoreUnavailable):
        async with opened(attempts, engines={"postgres"}, wait_seconds=60.0, stop=asyncio.Event()):
            raise StoreUnavailable("postgres")
    assert attempts.notes == ["open", "close"]
