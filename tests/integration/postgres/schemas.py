"""Every schema of the services, and its partitioned tables."""

from typing import Final

from services.agentic.stores.postgres import MIGRATIONS_FOLDER as AGENTIC
from services.episodic.stores.postgres import MIGRATIONS_FOLDER as EPISODIC
from services.gateway.journal.stores.postgres import MIGRATIONS as GATEWAY
from services.semantic.stores.postgres import MIGRATIONS_FOLDER as SEMANTIC

FOLDERS: Final = {"gateway": GATEWAY, "episodic": EPISODIC, "semantic": SEMANTIC, "agentic": AGENTIC}

PARTITIONED: Final = {
    "gateway": ("conversations", "documents", "feedback", "interactions", "recalls", "requests", "tombstones"),
    "episodic": (
        "activity_files",
        "activity_learnings",
        "activity_snapshots",
        "activity_tasks",
        "activity_tools",
        "episodes",
        "token_vectors",
    ),
    "semantic": (
        "assertion_keys",
        "assertions",
        "code_files",
        "extracted_interactions",
        "fact_statements",
        "fact_supports",
        "facts",
        "judged_recalls",
        "observed_interactions",
        "procedures",
        "supersessions",
    ),
    "agentic": ("processed_interactions",),
}
