"""What of the tier is encrypted in PostgreSQL, where encryption is on."""

from __future__ import annotations

from typing import Final

from services.common.encryption.rows import Form, SealedTable

FACTS: Final = SealedTable(
    "facts",
    ("fact_id",),
    {
        "text": Form.TEXT,
        "subject": Form.TEXT,
        "predicate": Form.TEXT,
        "object": Form.TEXT,
        "versions": Form.JSON,
    },
)
STATEMENTS: Final = SealedTable(
    "fact_statements",
    ("fact_id", "statement_id"),
    {"text": Form.TEXT, "subject": Form.TEXT, "predicate": Form.TEXT, "object": Form.TEXT},
)
ASSERTIONS: Final = SealedTable("assertions", ("interaction_id", "number"), {"text": Form.TEXT, "speaker": Form.TEXT})
SUPERSESSIONS: Final = SealedTable(
    "supersessions",
    ("supersession_id",),
    {"statement": Form.TEXT, "standing_statement": Form.TEXT, "premise": Form.TEXT, "decision_reason": Form.TEXT},
)
PROCEDURES: Final = SealedTable("procedures", ("procedure_id",), {"state": Form.JSON})
JUDGED_RECALLS: Final = SealedTable("judged_recalls", ("recall_id",), {"state": Form.JSON})
PROFILES: Final = SealedTable("profiles", ("user_id",), {"preferences": Form.JSON})
OBSERVED: Final = SealedTable(
    "observed_interactions",
    ("interaction_id",),
    {
        "topics": Form.NAMES,  # the database counts them
        "sources": Form.NAMES,
        "stated": Form.JSON,
    },
)
CODE_FILES: Final = SealedTable("code_files", ("repository_id", "path"), {"content": Form.BYTES})

SEALED_TABLES: Final = (
    FACTS,
    STATEMENTS,
    ASSERTIONS,
    SUPERSESSIONS,
    PROCEDURES,
    JUDGED_RECALLS,
    PROFILES,
    OBSERVED,
    CODE_FILES,
)
"""Beside these the responses to requests are encrypted."""
