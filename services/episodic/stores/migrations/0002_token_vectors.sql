-- Token vectors, for late interaction: beside the episodes, so that reading texts does not drag them along.

CREATE TABLE token_vectors (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    episode_id uuid NOT NULL,
    -- Identity of the space that they compare in.
    model text NOT NULL,
    -- All pieces of the episode's text; the service knows the format.
    tokens bytea NOT NULL,
    PRIMARY KEY (tenant_id, user_id, episode_id),
    FOREIGN KEY (tenant_id, user_id, episode_id) REFERENCES episodes (tenant_id, user_id, episode_id)
        ON DELETE CASCADE
) PARTITION BY HASH (tenant_id);

-- In as many partitions as the episodes, for the same reasons; nobody is to name them.
DO $$
DECLARE
    part text;
    grantee text;
BEGIN
    FOR n IN 0..7 LOOP
        part := 'token_vectors_' || n;
        -- Vectors lie in the rows themselves, up to 8 KB, two turns on a page. Above the default of 2 KB they would go to
        -- another table in pieces with an index of their own, and a question for hundreds of turns would read many pages.
        EXECUTE format('CREATE TABLE %I PARTITION OF token_vectors FOR VALUES WITH (MODULUS 8, REMAINDER %s) '
                       'WITH (toast_tuple_target = 8160)', part, n);
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', part);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', part);
        FOR grantee IN
            SELECT DISTINCT g.grantee::regrole::text FROM pg_class AS c, aclexplode(c.relacl) AS g
            WHERE c.oid = part::regclass AND g.grantee NOT IN (0, c.relowner)
        LOOP
            EXECUTE format('REVOKE ALL ON %I FROM %s', part, grantee);
        END LOOP;
    END LOOP;
END $$;

-- Bytes of vectors cannot be compressed: stored as they are.
ALTER TABLE token_vectors ALTER COLUMN tokens SET STORAGE EXTERNAL;

ALTER TABLE token_vectors ENABLE ROW LEVEL SECURITY;
-- Not written with "=", as for episodes.
CREATE POLICY token_vectors_of_tenant ON token_vectors
    USING (tenant_id IS NOT DISTINCT FROM current_setting('mneme.tenant', true))
    WITH CHECK (tenant_id = current_setting('mneme.tenant', true));

CREATE FUNCTION put_token_vectors(tenant_ids text[], user_ids text[], ids uuid[], models text[], packed bytea[])
RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = episodic, pg_temp
AS $$
    INSERT INTO token_vectors AS t (tenant_id, user_id, episode_id, model, tokens)
    SELECT e.tenant_id, e.user_id, e.episode_id, new.model, new.tokens
    FROM unnest(tenant_ids, user_ids, ids, models, packed) AS new (tenant_id, user_id, episode_id, model, tokens)
    -- What is gone meanwhile needs none.
    JOIN episodes AS e ON e.tenant_id = new.tenant_id AND e.user_id = new.user_id AND e.episode_id = new.episode_id
    ON CONFLICT (tenant_id, user_id, episode_id) DO UPDATE SET model = EXCLUDED.model, tokens = EXCLUDED.tokens
    WHERE t.model <> EXCLUDED.model OR t.tokens <> EXCLUDED.tokens
$$;

-- Active episodes without token vectors of the model, among so many behind one, by their keys; then one row with the
-- last one that was looked at and without a text, unless so many were found that there may be more before it.
CREATE FUNCTION untokened(
    of_model text, after_tenant text, after_user text, after_id uuid, scan_limit integer, batch_limit integer
)
RETURNS TABLE (tenant_id text, user_id text, episode_id uuid, query text, response text, details jsonb)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = episodic, pg_temp
AS $$
    WITH looked_at AS MATERIALIZED (
        SELECT a.tenant_id, a.user_id, a.episode_id FROM episodes AS a
        WHERE (a.tenant_id, a.user_id, a.episode_id) > (after_tenant, after_user, after_id) AND a.status = 2
        ORDER BY a.tenant_id, a.user_id, a.episode_id
        LIMIT scan_limit
    ), missing AS MATERIALIZED (
        SELECT l.tenant_id, l.user_id, l.episode_id FROM looked_at AS l
        WHERE NOT EXISTS (
            SELECT FROM token_vectors AS t
            WHERE t.tenant_id = l.tenant_id AND t.user_id = l.user_id AND t.episode_id = l.episode_id
                AND t.model = of_model
        )
        ORDER BY l.tenant_id, l.user_id, l.episode_id
        LIMIT batch_limit
    ), last_one AS (
        SELECT l.tenant_id, l.user_id, l.episode_id FROM looked_at AS l
        WHERE (SELECT count(*) FROM missing) < batch_limit
        ORDER BY l.tenant_id DESC, l.user_id DESC, l.episode_id DESC
        LIMIT 1
    ), found AS (
        SELECT m.tenant_id, m.user_id, m.episode_id, e.query, e.response, e.details
        FROM missing AS m
        JOIN episodes AS e ON e.tenant_id = m.tenant_id AND e.user_id = m.user_id AND e.episode_id = m.episode_id
        UNION ALL
        SELECT o.tenant_id, o.user_id, o.episode_id, NULL, NULL, NULL FROM last_one AS o
    )
    SELECT * FROM found AS f ORDER BY f.tenant_id, f.user_id, f.episode_id, f.query NULLS LAST
$$;

-- By a bitmap of the pages, since the server then asks the disk for many of them at once; an index scan, which it takes
-- for the cheaper way where pages are in memory, waits for one after the other. It runs as who calls it: the policies
-- of the table decide what is seen.
CREATE FUNCTION token_vectors_of(of_tenant text, of_user text, ids uuid[], of_model text)
RETURNS TABLE (episode_id uuid, tokens bytea)
LANGUAGE plpgsql STABLE SECURITY INVOKER
SET search_path = episodic, pg_temp SET enable_indexscan = off SET enable_seqscan = off
AS $$
BEGIN
    RETURN QUERY SELECT e.episode_id, e.tokens FROM token_vectors AS e
    WHERE e.tenant_id = $1 AND e.user_id = $2 AND e.episode_id = ANY($3) AND e.model = $4;
END
$$;
