"""Statements of the activity log."""

from __future__ import annotations

from typing import Final

from services.common.postgres.tenancy import as_tenant

_COMMON: Final = "record_id, time, conversation_id, task_id, scope_key"
_TOOL: Final = "tool_name, parameters, result, success, error_message, duration, context_tokens"
_FILE: Final = "path, operation, start_line, end_line, success, reason, changes_summary, previous_path"
_SNAPSHOT: Final = "items, total_tokens, reason"
_LEARNING: Final = "kind, learned, path, confidence"
_TASK: Final = "task_id, time, conversation_id, scope_key, description, intent, status, outcome, update_time, end_time"
_COMMON_TYPES: Final = "$3::text[], $4::timestamptz[], $5::text[], $6::text[], $7::text[]"

# In the order in which writes and jobs lock them.
TABLES: Final = ("activity_tools", "activity_files", "activity_snapshots", "activity_learnings", "activity_tasks")

# A plan that was made while the table was empty would look for known ids by reading all records of the user.
PLAN_ANEW: Final = """
    SELECT set_config('plan_cache_mode', 'force_custom_plan', true), set_config('enable_seqscan', 'off', true)
"""
# The row stays locked until the transaction ends: writes of a user follow one another.
LOCK_OWNER: Final = """
    INSERT INTO episodic.activity_owners AS o (tenant_id, user_id, revision) VALUES ($1, $2, 1)
    ON CONFLICT (tenant_id, user_id) DO UPDATE SET revision = o.revision + 1
"""
# The same, and what was learned of the records until then is not stored any more.
LOCK_OWNER_TO_ERASE: Final = """
    INSERT INTO episodic.activity_owners AS o (tenant_id, user_id, revision) VALUES ($1, $2, 1)
    ON CONFLICT (tenant_id, user_id) DO UPDATE SET revision = o.revision + 1, erasure_id = gen_random_uuid()
"""


def _insert(table: str, names: str, types: str) -> str:
    """Inserts rows whose id is not stored, at any time."""
    # An array of JSON would be taken for one of several dimensions: it is an array of texts.
    selected = ", ".join(f"n.{name}" for name in f"{_COMMON}, {names}".split(", ")).replace("n.items", "n.items::jsonb")
    return f"""
        INSERT INTO episodic.{table} (tenant_id, user_id, {_COMMON}, {names})
        SELECT $1, $2, {selected}
        FROM unnest({_COMMON_TYPES}, {types}) AS n ({_COMMON}, {names})
        LEFT JOIN LATERAL (
            SELECT true AS is_known FROM episodic.{table} AS t
            WHERE t.tenant_id = $1 AND t.user_id = $2 AND t.record_id = n.record_id LIMIT 1
        ) AS k ON true
        WHERE k.is_known IS NULL
        ON CONFLICT DO NOTHING
        RETURNING 1
    """  # noqa: S608 - names of ours


INSERT_TOOLS: Final = _insert(
    "activity_tools",
    _TOOL,
    "$8::text[], $9::text[], $10::text[], $11::boolean[], $12::text[], $13::bigint[], $14::bigint[]",
)
INSERT_FILES: Final = _insert(
    "activity_files",
    _FILE,
    "$8::text[], $9::smallint[], $10::integer[], $11::integer[], $12::boolean[], $13::text[], $14::text[], $15::text[]",
)
INSERT_SNAPSHOTS: Final = _insert("activity_snapshots", _SNAPSHOT, "$8::text[], $9::bigint[], $10::text[]")
INSERT_LEARNINGS: Final = _insert(
    "activity_learnings", _LEARNING, "$8::smallint[], $9::text[], $10::text[], $11::double precision[]"
)

TASKS_BY_ID: Final = f"""
    SELECT {_TASK} FROM episodic.activity_tasks WHERE tenant_id = $1 AND user_id = $2 AND task_id = ANY($3)
"""  # noqa: S608 - names of ours
# A vector is of the description, and goes with it.
PUT_TASKS: Final = f"""
    INSERT INTO episodic.activity_tasks AS t (tenant_id, user_id, {_TASK})
    SELECT $1, $2, n.* FROM unnest($3::text[], $4::timestamptz[], $5::text[], $6::text[], $7::text[], $8::smallint[],
        $9::smallint[], $10::text[], $11::timestamptz[], $12::timestamptz[]) AS n
    ON CONFLICT (tenant_id, user_id, task_id, time) DO UPDATE
    SET conversation_id = excluded.conversation_id, scope_key = excluded.scope_key, description = excluded.description,
        intent = excluded.intent, status = excluded.status, outcome = excluded.outcome,
        update_time = excluded.update_time, end_time = excluded.end_time,
        embedding = CASE WHEN t.description = excluded.description THEN t.embedding END,
        embedding_model = CASE WHEN t.description = excluded.description THEN t.embedding_model END
"""  # noqa: S608 - names of ours

_OWN: Final = "tenant_id = $1 AND user_id = $2 AND scope_key = ANY($3)"
# The condition of the indexes that lists are read by.
_LISTED: Final = f"{_OWN} AND record_id <> ''"
_PAGE: Final = "($4::timestamptz IS NULL OR (time, record_id) < ($4, $5)) AND ($7 = '' OR conversation_id = $7)"
_NEWEST: Final = "ORDER BY time DESC, record_id DESC LIMIT $6"

LIST_TOOLS: Final = as_tenant(f"""
    SELECT {_COMMON}, {_TOOL} FROM episodic.activity_tools
    WHERE {_LISTED} AND {_PAGE} AND ($8 = '' OR task_id = $8) AND ($9 = '' OR tool_name = $9)
        AND ($10::boolean IS NULL OR success = $10)
    {_NEWEST}
""")  # noqa: S608 - names of ours
LIST_FILES: Final = as_tenant(f"""
    SELECT {_COMMON}, {_FILE} FROM episodic.activity_files
    WHERE {_LISTED} AND {_PAGE} AND ($8 = '' OR task_id = $8) AND ($9 = '' OR path = $9)
        AND ($10 = '' OR starts_with(path, $10)) AND ($11::smallint IS NULL OR operation = $11)
    {_NEWEST}
""")  # noqa: S608 - names of ours
# A statement of its own, so that its plan is the index of paths.
LIST_FILES_OF_PATH: Final = as_tenant(f"""
    SELECT {_COMMON}, {_FILE} FROM episodic.activity_files
    WHERE {_LISTED} AND path = $9 AND {_PAGE} AND ($8 = '' OR task_id = $8)
        AND ($10 = '' OR starts_with(path, $10)) AND ($11::smallint IS NULL OR operation = $11)
    {_NEWEST}
""")  # noqa: S608 - names of ours
LIST_SNAPSHOTS: Final = as_tenant(f"""
    SELECT {_COMMON}, {_SNAPSHOT} FROM episodic.activity_snapshots
    WHERE {_LISTED} AND {_PAGE} AND ($8 = '' OR task_id = $8)
    {_NEWEST}
""")  # noqa: S608 - names of ours
LIST_LEARNINGS: Final = as_tenant(f"""
    SELECT {_COMMON}, {_LEARNING} FROM episodic.activity_learnings
    WHERE {_LISTED} AND {_PAGE} AND ($8::smallint IS NULL OR kind = $8) AND ($9 = '' OR path = $9) AND confidence >= $10
    {_NEWEST}
""")  # noqa: S608 - names of ours

OPERATIONS_OF_FILE: Final = as_tenant(f"""
    SELECT operation, count(*) AS count, min(time) AS first_time, max(time) AS last_time FROM episodic.activity_files
    WHERE {_LISTED} AND path = $4 GROUP BY operation ORDER BY operation
""")  # noqa: S608 - names of ours
TASKS_OF_FILE: Final = as_tenant(f"""
    SELECT task_id FROM episodic.activity_files WHERE {_LISTED} AND path = $4 AND task_id <> ''
    GROUP BY task_id ORDER BY max(time) DESC, task_id LIMIT $5
""")  # noqa: S608 - names of ours

# The transaction that wrote the row tells a log apart from an erased one whose revisions began anew.
VERSION: Final = as_tenant("""
    SELECT revision || '.' || xmin::text AS version FROM episodic.activity_owners WHERE tenant_id = $1 AND user_id = $2
""")
_EDITS: Final = "operation IN (2, 3) AND success AND task_id <> '' AND time >= $4"
EDITS: Final = as_tenant(f"""
    SELECT task_id, path, time FROM episodic.activity_files WHERE {_LISTED} AND {_EDITS} ORDER BY time DESC LIMIT $5
""")  # noqa: S608 - names of ours
EDITS_WITH_FILE: Final = as_tenant(f"""
    SELECT task_id, path, time FROM episodic.activity_files
    WHERE {_LISTED} AND {_EDITS} AND task_id IN (
        SELECT w.task_id FROM episodic.activity_files AS w
        WHERE w.tenant_id = $1 AND w.user_id = $2 AND w.scope_key = ANY($3) AND w.record_id <> ''
            AND w.path = $6 AND w.operation IN (2, 3)
            AND w.success AND w.task_id <> '' AND w.time >= $4
    )
    ORDER BY time DESC LIMIT $5
""")  # noqa: S608 - names of ours

_LOOKED_AT: Final = f"WHERE {_LISTED} ORDER BY time DESC LIMIT $5"
SEARCH_FILES: Final = as_tenant(f"""
    SELECT {_COMMON}, {_FILE} FROM (SELECT * FROM episodic.activity_files {_LOOKED_AT}) AS f
    WHERE f.path ILIKE ANY($4) OR f.previous_path ILIKE ANY($4) OR f.reason ILIKE ANY($4)
        OR f.changes_summary ILIKE ANY($4)
    ORDER BY time DESC, record_id DESC LIMIT $6
""")  # noqa: S608 - names of ours
SEARCH_TOOLS: Final = as_tenant(f"""
    SELECT {_COMMON}, {_TOOL} FROM (SELECT * FROM episodic.activity_tools {_LOOKED_AT}) AS f
    WHERE f.tool_name ILIKE ANY($4) OR f.parameters ILIKE ANY($4) OR f.error_message ILIKE ANY($4)
    ORDER BY time DESC, record_id DESC LIMIT $6
""")  # noqa: S608 - names of ours
FILES_OF_TASKS: Final = as_tenant(f"""
    SELECT {_COMMON}, {_FILE} FROM episodic.activity_files WHERE {_LISTED} AND task_id = ANY($4) AND task_id <> ''
    ORDER BY time DESC, record_id DESC LIMIT $5
""")  # noqa: S608 - names of ours
TOOLS_OF_TASKS: Final = as_tenant(f"""
    SELECT {_COMMON}, {_TOOL} FROM episodic.activity_tools WHERE {_LISTED} AND task_id = ANY($4) AND task_id <> ''
    ORDER BY time DESC, record_id DESC LIMIT $5
""")  # noqa: S608 - names of ours

STATISTICS: Final = as_tenant(f"""
    SELECT tool_name, count(*) AS execution_count, count(*) FILTER (WHERE success) AS success_count,
        avg(duration)::float8 AS mean, percentile_cont(0.5) WITHIN GROUP (ORDER BY duration) AS median,
        percentile_cont(0.95) WITHIN GROUP (ORDER BY duration) AS p95, max(time) AS last_time
    FROM episodic.activity_tools WHERE {_LISTED} AND time >= $4 AND ($5::text IS NULL OR tool_name > $5)
    GROUP BY tool_name ORDER BY tool_name LIMIT $6
""")  # noqa: S608 - names of ours

LIST_TASKS: Final = as_tenant(f"""
    SELECT {_TASK} FROM episodic.activity_tasks
    WHERE {_OWN} AND ($4::timestamptz IS NULL OR (time, task_id) < ($4, $5))
        AND ($7 = '' OR conversation_id = $7) AND ($8::smallint[] IS NULL OR status = ANY($8))
    ORDER BY time DESC, task_id DESC LIMIT $6
""")  # noqa: S608 - names of ours
GET_TASK: Final = as_tenant(f"SELECT {_TASK} FROM episodic.activity_tasks WHERE {_OWN} AND task_id = $4")  # noqa: S608
# A value of its own for each task, so that one that used everything costs no more than it shows.
FILES_TOUCHED: Final = as_tenant("""
    SELECT n.task_id, u.path AS name, u.count FROM unnest($4::text[]) AS n (task_id) CROSS JOIN LATERAL (
        SELECT f.path, count(*) AS count FROM episodic.activity_files AS f
        WHERE f.tenant_id = $1 AND f.user_id = $2 AND f.scope_key = ANY($3) AND f.task_id = n.task_id
            AND f.task_id <> ''
        GROUP BY f.path ORDER BY count(*) DESC, f.path LIMIT $5
    ) AS u
""")
TOOLS_USED: Final = as_tenant("""
    SELECT n.task_id, u.tool_name AS name, u.count FROM unnest($4::text[]) AS n (task_id) CROSS JOIN LATERAL (
        SELECT f.tool_name, count(*) AS count FROM episodic.activity_tools AS f
        WHERE f.tenant_id = $1 AND f.user_id = $2 AND f.scope_key = ANY($3) AND f.task_id = n.task_id
            AND f.task_id <> ''
        GROUP BY f.tool_name ORDER BY count(*) DESC, f.tool_name LIMIT $5
    ) AS u
""")
COMPARED_TASKS: Final = as_tenant(f"""
    SELECT {_TASK}, CASE WHEN embedding_model = $5 THEN embedding END AS embedding FROM episodic.activity_tasks
    WHERE {_OWN} AND ($4::smallint[] IS NULL OR status = ANY($4)) ORDER BY time DESC, task_id DESC LIMIT $6
""")  # noqa: S608 - names of ours
PUT_VECTORS: Final = """
    UPDATE episodic.activity_tasks AS t SET embedding = n.embedding, embedding_model = $7
    FROM unnest($3::text[], $4::timestamptz[], $5::text[], $6::bytea[]) AS n (task_id, time, description, embedding)
    WHERE t.tenant_id = $1 AND t.user_id = $2 AND t.task_id = n.task_id AND t.time = n.time
        AND t.description = n.description
"""

_PATTERN: Final = (
    "pattern_id, kind, scope_key, paths, tool_name, error, folder, "
    "observed_count, contrary_count, first_time, last_time"
)
LIST_PATTERNS: Final = as_tenant(f"""
    SELECT {_PATTERN}, confidence FROM episodic.activity_patterns
    WHERE {_OWN} AND ($4::double precision IS NULL OR confidence < $4 OR (confidence = $4 AND pattern_id > $5::uuid))
        AND ($7::smallint IS NULL OR kind = $7) AND ($8 = '' OR $8 = ANY(paths)) AND confidence >= $9
    ORDER BY confidence DESC, pattern_id LIMIT $6
""")  # noqa: S608 - names of ours
PATTERN_COUNTS: Final = as_tenant("""
    SELECT pattern_id, observed_count, contrary_count FROM episodic.activity_patterns
    WHERE tenant_id = $1 AND user_id = $2
""")
PUT_PATTERNS: Final = f"""
    INSERT INTO episodic.activity_patterns AS p (tenant_id, user_id, {_PATTERN}, confidence)
    SELECT $1, $2, n.pattern_id, n.kind, n.scope_key, string_to_array(n.paths, chr(30)), n.tool_name, n.error, n.folder,
        n.observed_count, n.contrary_count, n.first_time, n.last_time, n.confidence
    FROM unnest($3::uuid[], $4::smallint[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::integer[],
        $11::integer[], $12::timestamptz[], $13::timestamptz[], $14::double precision[])
        AS n ({_PATTERN}, confidence)
    ON CONFLICT (tenant_id, user_id, pattern_id) DO UPDATE
    SET observed_count = excluded.observed_count, contrary_count = excluded.contrary_count,
        first_time = excluded.first_time, last_time = excluded.last_time, confidence = excluded.confidence
"""  # noqa: S608 - names of ours
REMOVE_PATTERNS: Final = """
    DELETE FROM episodic.activity_patterns
    WHERE tenant_id = $1 AND user_id = $2 AND ($3::uuid[] IS NULL OR pattern_id = ANY($3))
"""
LEARNED: Final = """
    UPDATE episodic.activity_owners SET learned_revision = greatest(learned_revision, $3)
    WHERE tenant_id = $1 AND user_id = $2 AND erasure_id = $4
    RETURNING true
"""
LOG_STATE: Final = as_tenant("""
    SELECT revision, erasure_id FROM episodic.activity_owners WHERE tenant_id = $1 AND user_id = $2
""")
OUTCOMES: Final = as_tenant("""
    SELECT record_id, task_id, scope_key, tool_name, success, error_message, time FROM episodic.activity_tools
    WHERE tenant_id = $1 AND user_id = $2 AND record_id <> '' AND task_id <> '' AND time >= $3
    ORDER BY time DESC, record_id LIMIT $4
""")
CHANGES: Final = as_tenant("""
    SELECT task_id, scope_key, path, operation, previous_path, time FROM episodic.activity_files
    WHERE tenant_id = $1 AND user_id = $2 AND record_id <> '' AND operation IN (2, 3, 6, 7) AND success
        AND task_id <> '' AND time >= $3
    ORDER BY time DESC, record_id LIMIT $4
""")

_DELETE: Final = """
    WITH gone AS (
        DELETE FROM episodic.{table}
        WHERE tenant_id = $1 AND user_id = $2 AND ($3 = '' OR conversation_id = $3)
            AND ($4::text[] IS NULL OR scope_key = ANY($4))
        RETURNING time
    )
    SELECT count(*) AS count, max(time) AS last_time FROM gone
"""
DELETE: Final = tuple(_DELETE.format(table=table) for table in TABLES)
PUT_ERASURE: Final = """
    INSERT INTO episodic.activity_erasures AS e (tenant_id, erased_id, erase_time) VALUES ($1, $2, $3)
    ON CONFLICT (tenant_id, erased_id) DO UPDATE SET erase_time = greatest(e.erase_time, excluded.erase_time)
"""
ERASURES: Final = """
    SELECT erased_id, erase_time FROM episodic.activity_erasures WHERE tenant_id = $1 AND erased_id = ANY($2)
"""
DELETE_OWNER: Final = "DELETE FROM episodic.activity_owners WHERE tenant_id = $1 AND user_id = $2"
DELETE_OWNERS: Final = "DELETE FROM episodic.activity_owners WHERE tenant_id = $1"
DELETE_TENANT: Final = tuple(
    f"DELETE FROM episodic.{table} WHERE tenant_id = $1"  # noqa: S608 - names of ours
    for table in TABLES
)
DELETE_TENANT_REST: Final = tuple(
    f"DELETE FROM episodic.{table} WHERE tenant_id = $1"  # noqa: S608 - names of ours
    for table in ("activity_patterns", "activity_erasures")
)
SCOPE_KEYS: Final = as_tenant(
    " UNION ".join(
        f"SELECT scope_key FROM episodic.{table} WHERE tenant_id = $1 AND user_id = $2"  # noqa: S608 - names of ours
        for table in TABLES
    )
)
