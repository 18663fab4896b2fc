from __future__ import annotations

from pathlib import Path

import pytest

from services.cli.local_stack import StackOptions, StackStartError, open_stack
from services.common.hosting import HostSettings
from services.common.main import run_service
from services.common.settings_file import SettingsError

PROBLEM = "MNEME_CONCURRENT_CALLS_MAX: should be a valid integer"


@pytest.fixture
def bad_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEME_CONCURRENT_CALLS_MAX", "s3cret")
    monkeypatch.setenv("MNEME_DRAIN_SECONDS", "61")


@pytest.mark.usefixtures("bad_number")
def test_every_variable_that_cannot_be_used_is_named() -> None:
    with pytest.raises(SettingsError) as caught:
        HostSettings()
    calls, drain = sorted(caught.value.problems)
    assert calls.startswith(PROBLEM)
    assert "s3cret" not in calls
    assert drain == "MNEME_DRAIN_SECONDS: should be less than or equal to 60"


@pytest.mark.usefixtures("bad_number")
async def test_mneme_up_says_so_without_a_traceback(tmp_path: Path) -> None:
    with pytest.raises(StackStartError, match=PROBLEM):
        async with open_stack(StackOptions(data_dir=tmp_path, host="127.0.0.1", port=0)):
            pass


@pytest.mark.usefixtures("bad_number")
def test_a_single_service_says_so_without_a_traceback() -> None:
    def open_nothing(_assembly: object) -> None:
        raise AssertionError("it must not come so far")

    with pytest.raises(SystemExit, match=PROBLEM):
        run_service("tier", "127.0.0.1:0", open_nothing)  # type: ignore[arg-type]


@pytest.mark.parametrize("given", ["tls_certificate", "tls_key", "tls_authority"])
def test_a_part_of_tls_is_an_error_and_not_plain_text(given: str) -> None:
    settings = HostSettings.model_validate({given: Path("some.pem")})
    with pytest.raises(ValueError, match="MNEME_TLS_CERTIFICATE and MNEME_TLS_KEY"):
        _ = settings.tls
