"""Every schema of the services, as it is and as it was before its tables were divided."""

import shutil
from pathlib import Path
from typing import Final

from services.agentic.stores.postgres import MIGRATIONS_FOLDER as AGENTIC
from services.episodic.stores.postgres import MIGRATIONS_FOLDER as EPISODIC
from services.gateway.journal.stores.postgres import MIGRATIONS as GATEWAY
from services.semantic.stores.postgres import MIGRATIONS_FOLDER as SEMANTIC

FOLDERS: Final = {"gateway": GATEWAY, "episodic": EPISODIC, "semantic": SEMANTIC, "agentic": AGENTIC}
UNDIVIDED_VERSIONS: Final = {"episodic": 2, "agentic": 1}
"""The last version without parts of each schema that had one."""

DIVIDED: Final = {
    "episodic": ("episodes",),
    "agentic": ("processed_interactions",),
}
BORN_DIVIDED: Final = {
    "gateway": ("conversations", "feedback", "interactions", "recalls", "requests", "tombstones"),
    "episodic": ("token_vectors",),
    "semantic": (
        "assertions",
        "extracted_interactions",
        "fact_statements",
        "facts",
        "observed_interactions",
        "supersessions",
    ),
}
"""Tables that never were without parts."""
NEVER_DIVIDED: Final[dict[str, tuple[str, ...]]] = {}
"""Younger tables without parts."""


def undivided_folder(schema: str, folder: Path) -> Path:
    """The migrations of a schema up to the last version without parts, copied into a new sub-folder."""
    return _folder_up_to(UNDIVIDED_VERSIONS[schema], schema, folder)


def just_divided_folder(schema: str, folder: Path) -> Path:
    """The same up to the first version with parts."""
    return _folder_up_to(UNDIVIDED_VERSIONS[schema] + 1, schema, folder)


def _folder_up_to(version: int, schema: str, folder: Path) -> Path:
    copy = folder / f"{schema}-{version}"
    copy.mkdir()
    for file in sorted(FOLDERS[schema].glob("*.sql"))[:version]:
        shutil.copy(file, copy)
    return copy
