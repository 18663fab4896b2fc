-- Erasures in the middle of jobs on the activity log.

-- Another value after each removal of records, so that patterns which were learned of records that went meanwhile are not
-- stored. The log of a user who comes back after everything was erased has another one as well.
ALTER TABLE activity_owners ADD COLUMN erasure_id uuid NOT NULL DEFAULT gen_random_uuid();

-- As before, but whole tables are locked, before anything is made. An erasure that waited for "rest" alone had been planned
-- without the new month, and did not see the rows that were moved into it. In the order in which writes and erasures use them.
CREATE OR REPLACE FUNCTION make_activity_partitions(of_month timestamptz)
RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = episodic, pg_temp SET timezone = 'UTC' SET lock_timeout = '5s'
AS $$
DECLARE
    first_time timestamptz := date_trunc('month', of_month);
    end_time timestamptz := date_trunc('month', of_month) + interval '1 month';
    wholes text[] := ARRAY['activity_tools', 'activity_files', 'activity_snapshots', 'activity_learnings', 'activity_tasks'];
    whole text;
    part text;
    made integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('mneme.activity_partitions', 0));
    IF NOT EXISTS (
        SELECT FROM unnest(wholes) AS w (name) WHERE to_regclass(w.name || to_char(first_time, '_YYYYMM')) IS NULL
    ) THEN
        RETURN 0;
    END IF;
    LOCK TABLE activity_tools, activity_files, activity_snapshots, activity_learnings, activity_tasks IN ACCESS EXCLUSIVE MODE;
    FOREACH whole IN ARRAY wholes
    LOOP
        part := whole || to_char(first_time, '_YYYYMM');
        CONTINUE WHEN to_regclass(part) IS NOT NULL;
        EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', part, whole);
        EXECUTE format('WITH moved AS (DELETE FROM %I WHERE time >= $1 AND time < $2 RETURNING *) '
                       'INSERT INTO %I SELECT * FROM moved', whole, part) USING first_time, end_time;
        EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', whole, part, first_time, end_time);
        PERFORM close_activity_partition(part);
        made := made + 1;
    END LOOP;
    RETURN made;
END
$$;

-- As before, in the same order of the tables.
CREATE OR REPLACE FUNCTION delete_activity_before(before_time timestamptz)
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = episodic, pg_temp
AS $$
DECLARE
    whole text;
    found_count bigint;
    deleted bigint := 0;
BEGIN
    FOREACH whole IN ARRAY ARRAY['activity_tools', 'activity_files', 'activity_snapshots', 'activity_learnings', 'activity_tasks']
    LOOP
        EXECUTE format('DELETE FROM %I WHERE time < $1', whole) USING before_time;
        GET DIAGNOSTICS found_count = ROW_COUNT;
        deleted := deleted + found_count;
    END LOOP;
    DELETE FROM activity_erasures AS e WHERE e.erase_time < before_time;
    RETURN deleted;
END
$$;
