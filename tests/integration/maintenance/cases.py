"""All jobs with what they are tried on."""

from __future__ import annotations

from typing import Final

from tests.integration.maintenance.episodic_cases import EPISODIC_CASES
from tests.integration.maintenance.files_case import Purge
from tests.integration.maintenance.graph_cases import AGENTIC_CASES, SEMANTIC_CASES
from tests.integration.maintenance.places import JobCase
from tests.integration.maintenance.queue_case import ResolveQueue

QUEUE_CASE: Final = ResolveQueue("semantic.resolve_supersessions")
PURGE_CASE: Final = Purge("episodic.purge_files")
CASES: Final[dict[str, JobCase]] = {
    case.name: case for case in (*EPISODIC_CASES, PURGE_CASE, *SEMANTIC_CASES, QUEUE_CASE, *AGENTIC_CASES)
}
