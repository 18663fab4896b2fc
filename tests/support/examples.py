"""How many examples Hypothesis tries: all of them with `--ci`, fewer without."""

from typing import Final

import hypothesis
import pytest

_ALL: Final = 100
_FEW: Final = 25
_FEWEST: Final = 10

# How fast examples are made and run, a busy machine decides.
for name, count in (("few", _FEW), ("all", _ALL)):
    hypothesis.settings.register_profile(
        name, max_examples=count, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
    )


def pytest_configure(config: pytest.Config) -> None:
    """Chooses before test modules are imported: their properties take over what holds then."""
    hypothesis.settings.load_profile("all" if config.getoption("--ci") else "few")


def share_of(count: int) -> int:
    """So many examples with `--ci`; without it the share of them that other properties try too, and at least ten."""
    return min(count, max(_FEWEST, count * hypothesis.settings().max_examples // _ALL))
