-- An index is compared with the episodes themselves, piece by piece, since counts of an owner hide what cancels out.

-- Of the episodes at these places, in parts found by their tenants: those that an index of the model should hold, with
-- how many pieces where that is known, and those that may be on their way into it. What is archived is left out.
CREATE FUNCTION expected_episodes(model text, tenant_ids text[], user_ids text[], keys bytea[])
RETURNS TABLE (number bigint, episode_id uuid, piece_count integer)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = episodic, pg_temp
AS $$
    SELECT asked.number, found.episode_id, found.piece_count
    FROM unnest(tenant_ids, user_ids, keys) WITH ORDINALITY AS asked (tenant_id, user_id, episode_key, number)
    CROSS JOIN LATERAL (
        SELECT e.episode_id,
            CASE WHEN e.status = 2 AND e.indexed_model = model AND e.piece_count > 0 THEN e.piece_count END
                AS piece_count
        FROM episodes AS e
        WHERE e.tenant_id = asked.tenant_id AND e.user_id = asked.user_id AND e.episode_key = asked.episode_key
            AND e.status IN (1, 2)
        OFFSET 0
    ) AS found
$$;

-- Makes those of the named episodes pending that are active.
CREATE FUNCTION reset_listed(of_tenant text, of_user text, ids uuid[])
RETURNS SETOF uuid
LANGUAGE sql SECURITY DEFINER SET search_path = episodic, pg_temp
AS $$
    -- In the order of their ids, as others do, so that two replicas cannot wait for each other.
    WITH found AS MATERIALIZED (
        SELECT a.episode_id FROM episodes AS a
        WHERE a.tenant_id = of_tenant AND a.user_id = of_user AND a.episode_id = ANY(ids) AND a.status = 2
        ORDER BY a.episode_id
        FOR NO KEY UPDATE
    )
    UPDATE episodes AS e SET status = 1, index_attempts = 0
    FROM found
    WHERE e.tenant_id = of_tenant AND e.user_id = of_user AND e.episode_id = found.episode_id
    RETURNING e.episode_id
$$;
