-- The activity log of coding agents.
--
-- Partitioned by month, so that old months are dropped as a whole. What has no month yet, such as an import of old records,
-- is in the partition "rest" until a job makes one. Policies are written with "=": partitions are chosen by time, not by tenant.

CREATE TABLE activity_tools (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    record_id text COLLATE "C" NOT NULL,
    time timestamptz NOT NULL,
    conversation_id text NOT NULL,
    task_id text NOT NULL,
    scope_key text NOT NULL,
    tool_name text COLLATE "C" NOT NULL,
    parameters text NOT NULL,
    result text NOT NULL,
    success boolean NOT NULL,
    error_message text NOT NULL,
    -- Microseconds; null where it is not known.
    duration bigint CHECK (duration >= 0),
    context_tokens bigint CHECK (context_tokens >= 0),
    PRIMARY KEY (tenant_id, user_id, record_id, time)
) PARTITION BY RANGE (time);

CREATE INDEX activity_tools_by_time ON activity_tools (tenant_id, user_id, time DESC);
CREATE INDEX activity_tools_by_task ON activity_tools (tenant_id, user_id, task_id) WHERE task_id <> '';

CREATE TABLE activity_files (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    record_id text COLLATE "C" NOT NULL,
    time timestamptz NOT NULL,
    conversation_id text NOT NULL,
    task_id text NOT NULL,
    scope_key text NOT NULL,
    path text COLLATE "C" NOT NULL,
    operation smallint NOT NULL,
    start_line integer NOT NULL,
    end_line integer NOT NULL,
    success boolean NOT NULL,
    reason text NOT NULL,
    changes_summary text NOT NULL,
    previous_path text NOT NULL,
    PRIMARY KEY (tenant_id, user_id, record_id, time)
) PARTITION BY RANGE (time);

CREATE INDEX activity_files_by_time ON activity_files (tenant_id, user_id, time DESC);
CREATE INDEX activity_files_by_path ON activity_files (tenant_id, user_id, path, time DESC);
CREATE INDEX activity_files_by_task ON activity_files (tenant_id, user_id, task_id) WHERE task_id <> '';

-- A task is one row, at the time of its first state.
CREATE TABLE activity_tasks (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    task_id text COLLATE "C" NOT NULL,
    time timestamptz NOT NULL,
    conversation_id text NOT NULL,
    scope_key text NOT NULL,
    description text NOT NULL,
    intent smallint NOT NULL,
    status smallint NOT NULL,
    outcome text NOT NULL,
    update_time timestamptz NOT NULL,
    end_time timestamptz,
    -- Of the description, float16 values one after the other; null until a search needs it.
    embedding bytea,
    embedding_model text,
    PRIMARY KEY (tenant_id, user_id, task_id, time)
) PARTITION BY RANGE (time);

CREATE INDEX activity_tasks_by_time ON activity_tasks (tenant_id, user_id, time DESC);

CREATE TABLE activity_snapshots (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    record_id text COLLATE "C" NOT NULL,
    time timestamptz NOT NULL,
    conversation_id text NOT NULL,
    task_id text NOT NULL,
    scope_key text NOT NULL,
    -- [[item id, kind, tokens, relevance, is pruned], ...]
    items jsonb NOT NULL,
    total_tokens bigint NOT NULL,
    reason text NOT NULL,
    PRIMARY KEY (tenant_id, user_id, record_id, time)
) PARTITION BY RANGE (time);

CREATE INDEX activity_snapshots_by_time ON activity_snapshots (tenant_id, user_id, time DESC);

CREATE TABLE activity_learnings (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    record_id text COLLATE "C" NOT NULL,
    time timestamptz NOT NULL,
    conversation_id text NOT NULL,
    task_id text NOT NULL,
    scope_key text NOT NULL,
    kind smallint NOT NULL,
    learned text NOT NULL,
    path text NOT NULL,
    confidence double precision NOT NULL,
    PRIMARY KEY (tenant_id, user_id, record_id, time)
) PARTITION BY RANGE (time);

CREATE INDEX activity_learnings_by_time ON activity_learnings (tenant_id, user_id, time DESC);

-- What a job learned from the records; few of each user.
CREATE TABLE activity_patterns (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    pattern_id uuid NOT NULL,
    kind smallint NOT NULL,
    scope_key text NOT NULL,
    paths text[] NOT NULL,
    tool_name text NOT NULL,
    error text NOT NULL,
    folder text NOT NULL,
    confidence double precision NOT NULL,
    observed_count integer NOT NULL,
    contrary_count integer NOT NULL,
    first_time timestamptz NOT NULL,
    last_time timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, user_id, pattern_id)
);

-- Users with records. A write raises the revision and so holds the row until it ends: writes of a user follow one another.
CREATE TABLE activity_owners (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    revision bigint NOT NULL,
    -- The revision that patterns were learned at last.
    learned_revision bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, user_id)
)
WITH (fillfactor = 50);

DO $$
DECLARE
    whole text;
BEGIN
    FOREACH whole IN ARRAY ARRAY['activity_tools', 'activity_files', 'activity_tasks', 'activity_snapshots',
        'activity_learnings', 'activity_patterns', 'activity_owners']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', whole);
        EXECUTE format('CREATE POLICY %I ON %I USING (tenant_id = current_setting(''mneme.tenant'', true)) '
                       'WITH CHECK (tenant_id = current_setting(''mneme.tenant'', true))', whole || '_of_tenant', whole);
    END LOOP;
END $$;

-- Nobody is to name a partition: no role has a privilege on it, and without a policy of its own it shows no row.
CREATE FUNCTION close_activity_partition(part text)
RETURNS void
LANGUAGE plpgsql SET search_path = episodic, pg_temp
AS $$
DECLARE
    grantee text;
BEGIN
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', part);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', part);
    FOR grantee IN
        SELECT DISTINCT g.grantee::regrole::text FROM pg_class AS c, aclexplode(c.relacl) AS g
        WHERE c.oid = part::regclass AND g.grantee NOT IN (0, c.relowner)
    LOOP
        EXECUTE format('REVOKE ALL ON %I FROM %s', part, grantee);
    END LOOP;
END
$$;

DO $$
DECLARE
    whole text;
BEGIN
    FOREACH whole IN ARRAY ARRAY['activity_tools', 'activity_files', 'activity_tasks', 'activity_snapshots', 'activity_learnings']
    LOOP
        EXECUTE format('CREATE TABLE %I PARTITION OF %I DEFAULT', whole || '_rest', whole);
        PERFORM close_activity_partition(whole || '_rest');
    END LOOP;
END $$;

-- The months that there are: names such as activity_tools_202611.
CREATE FUNCTION activity_partitions()
RETURNS TABLE (part text, month timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = episodic, pg_temp SET timezone = 'UTC'
AS $$
    SELECT c.relname::text, to_timestamp(right(c.relname::text, 6), 'YYYYMM')
    FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid JOIN pg_class AS w ON w.oid = i.inhparent
    WHERE w.relnamespace = 'episodic'::regnamespace AND w.relname LIKE 'activity\_%' AND c.relname ~ '_[0-9]{6}$'
        AND c.relkind = 'r'
    ORDER BY 1
$$;

-- Makes the partition of a month for each table, and moves rows into it that came before; returns how many were made.
CREATE FUNCTION make_activity_partitions(of_month timestamptz)
RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = episodic, pg_temp SET timezone = 'UTC' SET lock_timeout = '5s'
AS $$
DECLARE
    first_time timestamptz := date_trunc('month', of_month);
    end_time timestamptz := date_trunc('month', of_month) + interval '1 month';
    whole text;
    part text;
    made integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('mneme.activity_partitions', 0));
    FOREACH whole IN ARRAY ARRAY['activity_tools', 'activity_files', 'activity_tasks', 'activity_snapshots', 'activity_learnings']
    LOOP
        part := whole || to_char(first_time, '_YYYYMM');
        CONTINUE WHEN to_regclass(part) IS NOT NULL;
        EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', part, whole);
        -- Without waiting writers no row comes in between. Through the whole table, since "rest" shows no row by its name.
        EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', whole || '_rest');
        EXECUTE format('WITH moved AS (DELETE FROM %I WHERE time >= $1 AND time < $2 RETURNING *) '
                       'INSERT INTO %I SELECT * FROM moved', whole, part) USING first_time, end_time;
        EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', whole, part, first_time, end_time);
        PERFORM close_activity_partition(part);
        made := made + 1;
    END LOOP;
    RETURN made;
END
$$;

-- Drops a month of one table.
CREATE FUNCTION drop_activity_partition(part_name text)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = episodic, pg_temp SET lock_timeout = '5s'
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM activity_partitions() AS p WHERE p.part = part_name) THEN
        RETURN false;
    END IF;
    EXECUTE format('DROP TABLE %I', part_name);
    RETURN true;
END
$$;

-- Deletes records from before a time that have no month of their own; returns how many.
CREATE FUNCTION delete_activity_before(before_time timestamptz)
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = episodic, pg_temp
AS $$
DECLARE
    whole text;
    found_count bigint;
    deleted bigint := 0;
BEGIN
    FOREACH whole IN ARRAY ARRAY['activity_tools', 'activity_files', 'activity_tasks', 'activity_snapshots', 'activity_learnings']
    LOOP
        EXECUTE format('DELETE FROM %I WHERE time < $1', whole) USING before_time;
        GET DIAGNOSTICS found_count = ROW_COUNT;
        deleted := deleted + found_count;
    END LOOP;
    RETURN deleted;
END
$$;

-- Users after the named one, in the order of their keys, and whether records came since patterns were learned.
CREATE FUNCTION activity_owners_after(after_tenant text, after_user text, batch_limit integer)
RETURNS TABLE (tenant_id text, user_id text, revision bigint, is_changed boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = episodic, pg_temp
AS $$
    SELECT o.tenant_id, o.user_id, o.revision, o.revision > o.learned_revision FROM activity_owners AS o
    WHERE (o.tenant_id, o.user_id) > (after_tenant, after_user)
    ORDER BY o.tenant_id, o.user_id
    LIMIT batch_limit
$$;

SELECT make_activity_partitions(now() + make_interval(months => n)) FROM generate_series(-1, 2) AS n;
