"""What of notes is encrypted in PostgreSQL, where encryption is on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from services.common.encryption.cipher import Cipher
from services.common.encryption.rows import Form, Row, SealedTable

NOTES: Final = SealedTable(
    "notes",
    ("note_id",),
    {
        "content": Form.TEXT,
        "spoken": Form.TEXT,
        "speaker": Form.NAME,
        "keywords": Form.NAMES,
        "tags": Form.NAMES,  # lists are filtered by a tag
        "attachments": Form.JSON,
        "metadata": Form.JSON,
    },
)
VERSIONS: Final = SealedTable("note_versions", ("note_id", "end_microseconds"), {"said": Form.JSON})
PROCESSED: Final = SealedTable(
    "processed_interactions", ("interaction_id",), {"speaker": Form.NAME, "question": Form.TEXT}
)

SEALED_TABLES: Final = (NOTES, VERSIONS, PROCESSED)
"""All of the tier."""


def open_notes(cipher: Cipher, rows: Sequence[Row]) -> Sequence[Row]:
    """Rows of one user's notes, opened."""
    return [NOTES.open(cipher, row) for row in rows]
