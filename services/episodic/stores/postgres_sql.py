"""Statements of the PostgreSQL episode store.

Reads are single statements, which saves three round trips each against a transaction: the setting that
row-level security compares with is made by a common table expression, which runs before the rows are read
because they wait for its result, and ends with the statement. Episodes are found by the parameter itself and not by
that result: it says before the statement runs in which part of the table they are.
"""

from __future__ import annotations

from typing import Final

from services.common.postgres.users import users_statement

_EPISODE_FIELDS: Final = """
    e.tenant_id, e.user_id, e.episode_id, e.conversation_id, e.position, e.role, e.speaker, e.query, e.response,
    e.details, e.confidence, e.feedback, e.importance, e.access_count, e.last_access_time, e.time,
    e.create_time, e.scope_key, e.status, e.summary
"""

_COLUMN_FIELDS: Final = """
    e.episode_key, uuid_send(e.episode_id) AS id, e.conversation_id, e.position, e.speaker,
    date_part('epoch', e.time) AS seconds, e.text_chars, e.traits, e.feedback,
    coalesce(e.importance, 0.5) AS importance
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
        tenant_id, user_id, episode_id, episode_key, conversation_id, position, role, speaker, query, response,
        details, confidence, importance, time, create_time, scope_key, traits, text_chars, index_after
    )
    SELECT new.tenant_id, new.user_id, new.episode_id, new.episode_key, new.conversation_id, new.position,
        new.role, new.speaker, new.query, new.response, new.details::jsonb, new.confidence, new.importance,
        new.time, $18, new.scope_key, new.traits, new.text_chars, $18
    FROM unnest(
        $1::text[], $2::text[], $3::uuid[], $4::bytea[], $5::text[], $6::integer[], $7::smallint[],
        $8::text[], $9::text[], $10::text[], $11::text[], $12::float8[], $13::float8[], $14::timestamptz[],
        $15::text[], $16::smallint[], $17::integer[]
    ) AS new (
        tenant_id, user_id, episode_id, episode_key, conversation_id, position, role, speaker, query, response,
        details, confidence, importance, time, scope_key, traits, text_chars
    )
    WHERE NOT EXISTS (
        SELECT FROM episodic.deleted_episodes AS d
        WHERE d.tenant_id = new.tenant_id AND d.user_id = new.user_id AND d.episode_id = new.episode_id
    )
    ON CONFLICT DO NOTHING
    RETURNING user_id, episode_id
"""

# The status is null where the episode was deleted.
STATUSES_OF_PAIRS: Final = """
    SELECT e.user_id, e.episode_id, e.status
    FROM unnest($1::text[], $2::uuid[]) AS named (user_id, episode_id)
    JOIN episodic.episodes AS e ON e.tenant_id = current_setting('mneme.tenant')
        AND e.user_id = named.user_id AND e.episode_id = named.episode_id
    UNION ALL
    SELECT d.user_id, d.episode_id, NULL
    FROM unnest($1::text[], $2::uuid[]) AS named (user_id, episode_id)
    JOIN episodic.deleted_episodes AS d ON d.tenant_id = current_setting('mneme.tenant')
        AND d.user_id = named.user_id AND d.episode_id = named.episode_id
"""

GET: Final = _read(_EPISODE_FIELDS, "e.episode_id = ANY($3::uuid[])")

STATUSES: Final = _read("e.episode_id, e.status", "e.episode_id = ANY($3::uuid[])")

# The first condition on the time is all that an index can be entered by.
_PAGE: Final = """
    ($4::smallint IS NULL OR e.status = $4)
    AND e.time <= coalesce($5::timestamptz, 'infinity')
    AND ($5::timestamptz IS NULL OR (e.time, e.episode_id) < ($5, $6::uuid))
    AND e.time >= coalesce($7::timestamptz, '-infinity') AND e.time < coalesce($8::timestamptz, 'infinity')
    AND ($9::text[] IS NULL OR e.scope_key = ANY($9))
"""
_PAGE_ORDER: Final = "ORDER BY e.time DESC, e.episode_id DESC LIMIT $3"

LIST: Final = _read(_EPISODE_FIELDS, _PAGE, _PAGE_ORDER)

LIST_CONVERSATION: Final = _read(
    _EPISODE_FIELDS, f"e.episode_key BETWEEN $10::bytea AND $11::bytea AND {_PAGE}", _PAGE_ORDER
)

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
    SELECT changed.*, owner.revision, owner.begins_anew, owner.indexing_again
    FROM tenant CROSS JOIN LATERAL (
        SELECT o.revision, ($3 < o.reset_revision OR $3 > o.revision) AS begins_anew,
            {_INDEXING_AGAIN} AS indexing_again
        FROM episodic.owners AS o
        WHERE o.tenant_id = tenant.tenant_id AND o.user_id = $2 OFFSET 0
    ) AS owner LEFT JOIN LATERAL (
        SELECT {_COLUMN_FIELDS}, e.scope_key, e.status FROM episodic.episodes AS e
        WHERE tenant.tenant_id = $1 AND e.tenant_id = $1 AND e.user_id = $2
            AND e.revision > CASE WHEN owner.begins_anew THEN 0 ELSE $3::bigint END
        LIMIT $4
    ) AS changed ON true
"""  # noqa: S608 - built from constants of this module

_VISIBLE_OR_AGAIN: Final = (
    f"({_VISIBLE} OR e.status = 1 AND e.indexed_model IS NOT NULL AND e.scope_key = ANY($3::text[]))"
)

# The texts of visible episodes, for a search by words where the database cannot read them.
TEXTS: Final = _read(
    f"{_COLUMN_FIELDS}, e.episode_id, e.query, e.response", _VISIBLE_OR_AGAIN, "ORDER BY e.time DESC, e.episode_id"
)

COLUMNS_MATCHING: Final = _read(
    f"""{_COLUMN_FIELDS}, ts_rank_cd(
        to_tsvector('english', e.query || ' ' || e.response),
        replace(plainto_tsquery('english', $4)::text, '&', '|')::tsquery
    )::float8 AS word_score""",
    _VISIBLE_OR_AGAIN,
    "ORDER BY word_score DESC, e.time DESC, e.episode_id LIMIT $5",
)

# The texts of archived episodes that happened before $4 and were archived since, or nobody knows when.
TEXTS_ARCHIVED: Final = _read(
    f"{_COLUMN_FIELDS}, e.episode_id, e.query, e.response",
    "e.status = 3 AND e.scope_key = ANY($3::text[]) AND e.time <= $4 AND coalesce(e.archive_time > $4, true)",
    "ORDER BY e.time DESC, e.episode_id LIMIT $5",
)

# Writes below lock their rows in the order of the ids before the first of them changes: the condition that counts them
# is evaluated first. A change of a row raises the owner's revision, and what holds that waits for no row any more.
# Of $3 to $5 either the ids or the keys of a conversation are set; if none is, it is everything of the user.
_SELECTED: Final = """
    e.tenant_id = $1 AND e.user_id = $2
    AND ($3::uuid[] IS NULL OR e.episode_id = ANY($3)) AND ($4::bytea IS NULL OR e.episode_key BETWEEN $4 AND $5)
"""
# An array, since it is read whole, and so every row is locked, before the first one changes; and since a join of 10,000
# rows compares each with each where the server has no statistics of the table yet.
_FOUND: Final = """
    e.tenant_id = $1 AND e.user_id = $2 AND e.episode_id = ANY (ARRAY(SELECT found.episode_id FROM found))
"""

FEEDBACK: Final = f"""
    WITH found AS MATERIALIZED (
        SELECT e.episode_id FROM episodic.episodes AS e
        WHERE e.tenant_id = $1 AND e.user_id = $2 AND e.episode_id = ANY($3::uuid[])
        ORDER BY e.episode_id FOR NO KEY UPDATE
    )
    UPDATE episodic.episodes AS e SET feedback = $4 WHERE {_FOUND}
    RETURNING e.episode_id
"""  # noqa: S608 - built from constants of this module

# Of an episode that has one: others are short, or were not indexed yet.
PUT_SUMMARY: Final = """
    UPDATE episodic.episodes AS e SET summary = $4
    WHERE e.tenant_id = $1 AND e.user_id = $2 AND e.episode_id = $3 AND e.summary <> ''
    RETURNING true
"""

ARCHIVE: Final = f"""
    WITH found AS MATERIALIZED (
        SELECT e.episode_id FROM episodic.episodes AS e WHERE {_SELECTED} AND e.status IN (1, 2)
        ORDER BY e.episode_id FOR NO KEY UPDATE
    ), tokens AS (
        DELETE FROM episodic.token_vectors AS e WHERE {_FOUND}
    )
    UPDATE episodic.episodes AS e SET status = 3, archive_time = $6, indexed_model = NULL, piece_count = 0
    WHERE {_FOUND}
    RETURNING e.episode_key
"""  # noqa: S608 - built from constants of this module

INDEX_STATE: Final = """
    SELECT $1::text AS tenant_id, $2::text AS user_id,
        count(*) FILTER (WHERE e.indexed_model IS DISTINCT FROM $3) AS other_episodes,
        coalesce(sum(e.piece_count) FILTER (WHERE e.indexed_model = $3), 0)::bigint AS piece_count
    FROM episodic.episodes AS e WHERE e.tenant_id = $1 AND e.user_id = $2 AND e.status = 2
"""
HOLD: Final = """
    SELECT e.episode_id FROM episodic.episodes AS e
    WHERE e.tenant_id = $1 AND e.user_id = $2 AND e.episode_id = ANY($3::uuid[]) AND e.status IN (1, 2)
    ORDER BY e.episode_id FOR SHARE
"""

RESTORE: Final = f"""
    WITH found AS MATERIALIZED (
        SELECT e.episode_id FROM episodic.episodes AS e WHERE {_SELECTED} AND e.status = 3
        ORDER BY e.episode_id FOR NO KEY UPDATE
    )
    UPDATE episodic.episodes AS e SET status = 1, archive_time = NULL, index_attempts = 0, index_after = $6
    WHERE {_FOUND}
    RETURNING e.episode_id
"""  # noqa: S608 - built from constants of this module

# Inserts of a tenant hold the lock together, and a deletion alone, each until its transaction ends.
SHARE_INSERTS: Final = "SELECT pg_advisory_xact_lock_shared(hashtextextended('mneme.episodic.insert' || $1, 0))"

EXCLUDE_INSERTS: Final = "SELECT pg_advisory_xact_lock(hashtextextended('mneme.episodic.insert' || $1, 0))"

MARK_DELETED: Final = """
    INSERT INTO episodic.deleted_episodes (tenant_id, user_id, episode_id, delete_time)
    SELECT DISTINCT $1, $2, named.episode_id, $4::timestamptz FROM unnest($3::uuid[]) AS named (episode_id)
    ON CONFLICT DO NOTHING
"""

DELETE: Final = f"""
    WITH found AS MATERIALIZED (
        SELECT e.episode_id, e.episode_key FROM episodic.episodes AS e WHERE {_SELECTED}
        ORDER BY e.episode_id FOR UPDATE
    ), marked AS (
        INSERT INTO episodic.deleted_episodes AS d (tenant_id, user_id, episode_id, episode_key, delete_time)
        SELECT $1, $2, found.episode_id, found.episode_key, $6::timestamptz FROM found
        ON CONFLICT (tenant_id, user_id, episode_id) DO UPDATE SET episode_key = EXCLUDED.episode_key
    )
    DELETE FROM episodic.episodes AS e WHERE {_FOUND}
    RETURNING e.episode_id
"""  # noqa: S608 - built from constants of this module

USERS: Final = f"""
    ({users_statement("episodic.episodes")}) UNION ({users_statement("episodic.data_keys")}) ORDER BY user_id LIMIT $3
"""

# How far the deletion of a tenant is, among the idempotency records: as long as no response is stored.
PUT_PROGRESS: Final = """
    INSERT INTO episodic.idempotency_records (
        tenant_id, principal_id, request_id, digest, user_id, resource_id, response, create_time
    ) VALUES ($1, 'progress of ' || $2, $3, $4, '', '', $5, $6)
    ON CONFLICT (tenant_id, principal_id, request_id)
        DO UPDATE SET digest = EXCLUDED.digest, response = EXCLUDED.response, create_time = EXCLUDED.create_time
"""
TAKE_PROGRESS: Final = """
    DELETE FROM episodic.idempotency_records
    WHERE tenant_id = $1 AND principal_id = 'progress of ' || $2 AND request_id = $3 AND digest = $4
    RETURNING response
"""

DELETED_KEYS: Final = _read(
    "e.episode_key",
    """e.episode_key IS NOT NULL
    AND ($3::uuid[] IS NULL OR e.episode_id = ANY($3)) AND ($4::bytea IS NULL OR e.episode_key BETWEEN $4 AND $5)
    AND NOT EXISTS (
        SELECT FROM episodic.episodes AS n
        WHERE tenant.tenant_id = $1 AND n.tenant_id = $1 AND n.user_id = $2 AND n.episode_key = e.episode_key
    )""",
    table="deleted_episodes",
)

DELETED_OWNERS: Final = """
    WITH tenant AS MATERIALIZED (SELECT set_config('mneme.tenant', $1, true) AS tenant_id)
    SELECT found.* FROM tenant CROSS JOIN LATERAL (
        SELECT d.user_id FROM episodic.deleted_episodes AS d
        WHERE tenant.tenant_id = $1 AND d.tenant_id = $1 GROUP BY d.user_id ORDER BY d.user_id OFFSET 0
    ) AS found
"""

LOCK_REQUEST: Final = """
    SELECT pg_advisory_xact_lock(
        hashtextextended(concat_ws(chr(31), 'mneme.episodic.request', $1::text, $2::text, $3::text), 0)
    )
"""
