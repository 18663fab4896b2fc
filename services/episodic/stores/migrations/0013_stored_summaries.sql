-- A claim of pending episodes says which summaries are stored: an episode that is indexed again keeps its own.

DROP FUNCTION claim_pending(integer, timestamptz, text);

-- As in 0010, with the summary.
CREATE FUNCTION claim_pending(batch_limit integer, at_time timestamptz, after_tenant text DEFAULT '')
RETURNS TABLE (
    tenant_id text, user_id text, episode_id uuid, episode_key bytea, scope_key text, query text, response text,
    details jsonb, event_time timestamptz, index_attempts smallint, summary text
)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = episodic, pg_temp SET enable_sort = off SET enable_bitmapscan = off
AS $$
#variable_conflict use_column
DECLARE
    steps_max CONSTANT integer := 1000;  -- tenants looked at; what is beyond is the next claim's
    wanted integer := batch_limit;
    claimed integer;
    place text := after_tenant;
    until_tenant text;  -- where the second round ends; NULL in the first
    due timestamptz;
BEGIN
    FOR step IN 1..steps_max LOOP
        EXIT WHEN wanted <= 0;
        SELECT e.tenant_id, e.index_after INTO place, due FROM episodes AS e
        WHERE e.status = 1 AND e.tenant_id > place AND (until_tenant IS NULL OR e.tenant_id <= until_tenant)
        ORDER BY e.tenant_id, e.index_after LIMIT 1;
        IF place IS NULL THEN
            EXIT WHEN until_tenant IS NOT NULL OR after_tenant = '';
            place := '';
            until_tenant := after_tenant;
            CONTINUE;
        END IF;
        CONTINUE WHEN due > at_time;
        RETURN QUERY
            SELECT e.tenant_id, e.user_id, e.episode_id, e.episode_key, e.scope_key, e.query, e.response,
                e.details, e.time, e.index_attempts, e.summary
            FROM episodes AS e
            WHERE e.status = 1 AND e.tenant_id = place AND e.index_after <= at_time
            ORDER BY e.index_after
            LIMIT wanted
            FOR NO KEY UPDATE SKIP LOCKED;
        GET DIAGNOSTICS claimed = ROW_COUNT;
        wanted := wanted - claimed;
    END LOOP;
END $$;
