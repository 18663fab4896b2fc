"""Tests on a real control plane, which `make helm-e2e` and `make lease-e2e` start; without one there are none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.programs import tools_folder
from tools.cluster.control_plane import ControlPlane

FOLDER = os.environ.get("MNEME_TEST_CLUSTER", "")

collect_ignore_glob = [] if FOLDER else ["test_*.py"]


@pytest.fixture(scope="session")
def cluster() -> ControlPlane:
    """The control plane that runs."""
    return ControlPlane(Path(FOLDER), tools_folder() / "bin")
