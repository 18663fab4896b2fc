-- What the index must hold of each owner is known here, so that a loss is found and repaired behind the scenes.

-- Pieces in the index while the episode is active; 0 where it became active before they were counted.
ALTER TABLE episodes ADD COLUMN piece_count integer NOT NULL DEFAULT 0;

-- Searches ask whether episodes of an owner that were searchable before are indexed again.
CREATE INDEX episodes_indexed_again ON episodes (tenant_id, user_id) WHERE status = 1 AND indexed_model IS NOT NULL;

DROP FUNCTION mark_active(text[], text[], uuid[], text);

CREATE FUNCTION mark_active(
    tenant_ids text[], user_ids text[], ids uuid[], piece_counts integer[], model text,
    importances double precision[], summaries text[]
)
RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = episodic, pg_temp
AS $$
    UPDATE episodes AS e
    SET status = 2, indexed_model = model, index_attempts = 0, piece_count = done.piece_count,
        importance = coalesce(e.importance, done.importance), summary = done.summary
    FROM unnest(tenant_ids, user_ids, ids, piece_counts, importances, summaries)
        AS done (tenant_id, user_id, episode_id, piece_count, importance, summary)
    WHERE e.tenant_id = done.tenant_id AND e.user_id = done.user_id AND e.episode_id = done.episode_id
        AND e.status = 1
$$;

DROP FUNCTION reset_other_models(text);

-- Owners behind the named one, by their key: active episodes of another model, and pieces of this one.
CREATE FUNCTION index_states(model text, after_tenant text, after_user text, batch_limit integer)
RETURNS TABLE (tenant_id text, user_id text, other_episodes bigint, piece_count bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = episodic, pg_temp
AS $$
    SELECT o.tenant_id, o.user_id, counted.other_episodes, counted.piece_count
    FROM (
        SELECT w.tenant_id, w.user_id FROM owners AS w
        WHERE (w.tenant_id, w.user_id) > (after_tenant, after_user)
        ORDER BY w.tenant_id, w.user_id
        LIMIT batch_limit
    ) AS o CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE e.indexed_model IS DISTINCT FROM model) AS other_episodes,
            coalesce(sum(e.piece_count) FILTER (WHERE e.indexed_model = model), 0)::bigint AS piece_count
        FROM episodes AS e
        WHERE e.tenant_id = o.tenant_id AND e.user_id = o.user_id AND e.status = 2
    ) AS counted
    ORDER BY o.tenant_id, o.user_id
$$;

-- Owners behind the named one, by their key, with the number of their active episodes.
CREATE FUNCTION active_counts(after_tenant text, after_user text, batch_limit integer)
RETURNS TABLE (tenant_id text, user_id text, active_episodes bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = episodic, pg_temp
AS $$
    SELECT o.tenant_id, o.user_id, counted.active_episodes
    FROM (
        SELECT w.tenant_id, w.user_id FROM owners AS w
        WHERE (w.tenant_id, w.user_id) > (after_tenant, after_user)
        ORDER BY w.tenant_id, w.user_id
        LIMIT batch_limit
    ) AS o CROSS JOIN LATERAL (
        SELECT count(*) AS active_episodes FROM episodes AS e
        WHERE e.tenant_id = o.tenant_id AND e.user_id = o.user_id AND e.status = 2
    ) AS counted
    ORDER BY o.tenant_id, o.user_id
$$;

-- Makes active episodes behind the named one pending: those of another model than the kept one, or all where it is null.
CREATE FUNCTION reset_episodes(of_tenant text, of_user text, kept_model text, after_id uuid, batch_limit integer)
RETURNS SETOF uuid
LANGUAGE sql SECURITY DEFINER SET search_path = episodic, pg_temp
AS $$
    -- Materialized: a limit that is run once for each row would be none.
    WITH found AS MATERIALIZED (
        SELECT a.episode_id FROM episodes AS a
        WHERE a.tenant_id = of_tenant AND a.user_id = of_user AND a.status = 2
            AND (after_id IS NULL OR a.episode_id > after_id)
            AND (kept_model IS NULL OR a.indexed_model IS DISTINCT FROM kept_model)
        ORDER BY a.episode_id
        LIMIT batch_limit
        FOR NO KEY UPDATE
    )
    UPDATE episodes AS e SET status = 1, index_attempts = 0
    FROM found
    WHERE e.tenant_id = of_tenant AND e.user_id = of_user AND e.episode_id = found.episode_id
    RETURNING e.episode_id
$$;
