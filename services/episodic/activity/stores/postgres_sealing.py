"""What of the activity log is encrypted, where encryption is on.

Paths, folders, tool names and scopes are not: the database filters, counts and sorts by them.
"""

from __future__ import annotations

from typing import Final

from services.common.encryption.rows import Form, SealedTable

TOOLS: Final = SealedTable(
    "activity_tools", ("record_id",), {"parameters": Form.TEXT, "result": Form.TEXT, "error_message": Form.TEXT}
)
FILES: Final = SealedTable("activity_files", ("record_id",), {"reason": Form.TEXT, "changes_summary": Form.TEXT})
TASKS: Final = SealedTable(
    "activity_tasks",
    ("task_id",),
    {
        "description": Form.NAME,  # a vector goes when its description changes
        "outcome": Form.TEXT,
    },
)
SNAPSHOTS: Final = SealedTable("activity_snapshots", ("record_id",), {"reason": Form.TEXT})
LEARNINGS: Final = SealedTable("activity_learnings", ("record_id",), {"learned": Form.TEXT})
PATTERNS: Final = SealedTable("activity_patterns", ("pattern_id",), {"error": Form.TEXT})

SEALED_TABLES: Final = (TOOLS, FILES, TASKS, SNAPSHOTS, LEARNINGS, PATTERNS)
