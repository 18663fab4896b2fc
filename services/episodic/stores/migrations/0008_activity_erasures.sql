-- What was erased from activity logs, and up to when: a record of that which arrives later, or again, is not stored.

CREATE TABLE activity_erasures (
    tenant_id text NOT NULL,
    -- A digest of the user and of the conversation or scope; what was erased cannot be read from it.
    erased_id uuid NOT NULL,
    erase_time timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, erased_id)
);

CREATE INDEX activity_erasures_by_time ON activity_erasures (erase_time);

ALTER TABLE activity_erasures ENABLE ROW LEVEL SECURITY;
CREATE POLICY activity_erasures_of_tenant ON activity_erasures
    USING (tenant_id = current_setting('mneme.tenant', true))
    WITH CHECK (tenant_id = current_setting('mneme.tenant', true));

-- Deletes records from before a time that have no month of their own; returns how many. Records of that age are refused, so
-- that what was erased then need not be remembered.
CREATE OR REPLACE FUNCTION delete_activity_before(before_time timestamptz)
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
    DELETE FROM activity_erasures AS e WHERE e.erase_time < before_time;
    RETURN deleted;
END
$$;
