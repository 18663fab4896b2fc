"""Statements of the PostgreSQL episode store.

Reads are single statements, which saves three round trips each against a transaction: the setting that
row-level security compares with is made by a common table expression, which runs before the rows are read
because they wait for its result, and ends with the statement. Episodes are found by the parameter itself and not by
that result: it says before the statement runs in which part of the table they are.
"""

from __future__ import annotations

from typing import Final

_EPISODE_FIELDS: Final = """
    e.tenant_id, e.user_id, e.episode_id, e.session_id, e.position, e.role, e.speaker, e.query, e.response,
    e.details, e.confidence, e.feedback, e.importance, e.access_count, e.last_access_time, e.time,
    e.create_time, e.scope_key, e.status
"""

_COLUMN_FIELDS: Final = """
    e.episode_key, uuid_send(e.episode_id) AS id, e.session_id, e.position, e.speaker,
    date_part('epoch', e.time) AS seconds, e.text_chars, e.traits, e.feedback, e.importance
"""


def _read(fields: str, condition: str, tail: str = "", *, table: str = "episodes") -> str:
    return f"""
        WITH tenant AS MATERIALIZED (SELECT set_config('mneme.tenant', $1, true) AS tenant_id)
        SELECT found.* FROM tenant CROSS JOIN LATERAL (
            SELECT {fields} FROM episodic.{table} AS e
            WHERE tenant.tenant_id = $1 AND e.tenant_id = $1 AND e.user_id = $2 AND {condition} {tail} OFFSET 0
        ) AS found
    """  # noqa: S608 - built from constants of this module


INSERT: Final = """
    INSERT INTO episodic.episodes (
        tenant_id, user_id, episode_id, episode_key, session_id, position, role, speaker, query, response,
        details, confidence, importance, time, create_time, scope_key, traits, text_chars, index_after
    )
    SELECT new.tenant_id, new.user_id, new.episode_id, new.episode_key, new.session_id, new.position,
        new.role, new.speaker, new.query, new.response, new.details::jsonb, new.confidence, new.importance,
        new.time, $18, new.scope_key, new.traits, new.text_chars, $18
    FROM unnest(
        $1::text[], $2::text[], $3::uuid[], $4::bytea[], $5::text[], $6::integer[], $7::smallint[],
        $8::text[], $9::text[], $10::text[], $11::text[], $12::float8[], $13::float8[], $14::timestamptz[],
        $15::text[], $16::smallint[], $17::integer[]
    ) AS new (
        tenant_id, user_id, episode_id, episode_key, session_id, position, role, speaker, query, response,
        details, confidence, importance, time, scope_key, traits, text_chars
    )
    ON CONFLICT DO NOTHING
    RETURNING user_id, episode_id
"""

STATUSES_OF_PAIRS: Final = """
    SELECT e.user_id, e.episode_id, e.status
    FROM unnest($1::text[], $2::uuid[]) AS asked (user_id, episode_id)
    JOIN episodic.episodes AS e ON e.tenant_id = current_setting('mneme.tenant')
        AND e.user_id = asked.user_id AND e.episode_id = asked.episode_id
"""

GET: Final = _read(_EPISODE_FIELDS, "e.episode_id = ANY($3::uuid[])")

STATUSES: Final = _read("e.episode_id, e.status", "e.episode_id = ANY($3::uuid[])")

# The first condition on the time is all that an index can be entered by.
_PAGE: Final = """
    ($4::smallint IS NULL OR e.status = $4)
    AND e.time <= coalesce($5::timestamptz, 'infinity')
    AND ($5::timestamptz IS NULL OR (e.time, e.episode_id) < ($5, $6::uuid))
"""
_PAGE_ORDER: Final = "ORDER BY e.time DESC, e.episode_id DESC LIMIT $3"

LIST: Final = _read(_EPISODE_FIELDS, _PAGE, _PAGE_ORDER)

LIST_SESSION: Final = _read(_EPISODE_FIELDS, f"e.episode_key BETWEEN $7::bytea AND $8::bytea AND {_PAGE}", _PAGE_ORDER)

_VISIBLE: Final = "e.status = 2 AND e.scope_key = ANY($3::text[])"

COLUMNS_AT: Final = _read(_COLUMN_FIELDS, f"e.episode_key = ANY($4::bytea[]) AND {_VISIBLE}")

COLUMNS_OF: Final = _read(_COLUMN_FIELDS, f"e.episode_id = ANY($4::uuid[]) AND {_VISIBLE}")

USES: Final = _read(
    "e.episode_key, e.access_count, date_part('epoch', e.last_access_time) AS last_access_seconds, e.confidence",
    "e.episode_key = ANY($3::bytea[])",
)

TOKENS: Final = """
    WITH tenant AS MATERIALIZED (SELECT set_config('mneme.tenant', $1, true) AS tenant_id)
    SELECT found.* FROM tenant CROSS JOIN LATERAL (
        SELECT * FROM episodic.token_vectors_of(tenant.tenant_id, $2, $3::uuid[], $4) OFFSET 0
    ) AS found
"""

NEWEST_TOKENS: Final = _read(
    "e.episode_id, e.tokens",
    "e.model = $3 AND e.episode_id < $4",
    "ORDER BY e.episode_id DESC LIMIT $5",
    table="token_vectors",
)

# Held until the transaction ends.
UNTOKENED_CLAIM: Final = "SELECT pg_try_advisory_xact_lock(hashtextextended('mneme.episodic.token_vectors', 0))"

_INDEXING_AGAIN: Final = """
    EXISTS (
        SELECT 1 FROM episodic.episodes AS p
        WHERE tenant.tenant_id = $1 AND p.tenant_id = $1 AND p.user_id = $2 AND p.status = 1
            AND p.indexed_model IS NOT NULL
    )
"""

INDEXING_AGAIN: Final = f"""
    WITH tenant AS MATERIALIZED (SELECT set_config('mneme.tenant', $1, true) AS tenant_id)
    SELECT {_INDEXING_AGAIN} FROM tenant
"""  # noqa: S608 - built from constants of this module

# One row at least where the owner is known, with nulls when nothing has changed. A reader that knows more
# than the database, which was restored from a backup then, begins anew as well.
CHANGES: Final = f"""
    WITH tenant AS MATERIALIZED (SELECT set_config('mneme.tenant', $1, true) AS tenant_id)
    SELECT changed.*, owner.change_number, owner.begins_anew, owner.indexing_again
    FROM tenant CROSS JOIN LATERAL (
        SELECT o.change_number, ($3 < o.reset_number OR $3 > o.change_number) AS begins_anew,
            {_INDEXING_AGAIN} AS indexing_again
        FROM episodic.owners AS o
        WHERE o.tenant_id = tenant.tenant_id AND o.user_id = $2 OFFSET 0
    ) AS owner LEFT JOIN LATERAL (
        SELECT {_COLUMN_FIELDS}, e.scope_key, e.status FROM episodic.episodes AS e
        WHERE tenant.tenant_id = $1 AND e.tenant_id = $1 AND e.user_id = $2
            AND e.change_number > CASE WHEN owner.begins_anew THEN 0 ELSE $3::bigint END
        LIMIT $4
    ) AS changed ON true
"""  # noqa: S608 - built from constants of this module

COLUMNS_MATCHING: Final = _read(
    f"""{_COLUMN_FIELDS}, ts_rank_cd(
        to_tsvector('english', e.query || ' ' || e.response),
        replace(plainto_tsquery('english', $4)::text, '&', '|')::tsquery
    )::float8 AS word_score""",
    f"({_VISIBLE} OR e.status = 1 AND e.indexed_model IS NOT NULL AND e.scope_key = ANY($3::text[]))",
    "ORDER BY word_score DESC, e.time DESC, e.episode_id LIMIT $5",
)

FEEDBACK: Final = """
    UPDATE episodic.episodes SET feedback = $4
    WHERE tenant_id = $1 AND user_id = $2 AND episode_id = ANY($3::uuid[])
    RETURNING episode_id
"""

FEEDBACK_REQUEST_INSERT: Final = """
    INSERT INTO episodic.feedback_requests (tenant_id, user_id, request_id, digest, episode_ids, create_time)
    VALUES ($1, $2, $3, $4, '{}', $5)
    ON CONFLICT DO NOTHING
    RETURNING true
"""

FEEDBACK_REQUEST: Final = """
    SELECT digest, episode_ids FROM episodic.feedback_requests
    WHERE tenant_id = $1 AND user_id = $2 AND request_id = $3
"""

FEEDBACK_REQUEST_ANSWER: Final = """
    UPDATE episodic.feedback_requests SET episode_ids = $4
    WHERE tenant_id = $1 AND user_id = $2 AND request_id = $3
"""

FEEDBACK_REQUEST_EXPIRE: Final = """
    DELETE FROM episodic.feedback_requests WHERE tenant_id = $1 AND user_id = $2 AND create_time < $3
"""
